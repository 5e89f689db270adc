"""``boolfilter build`` and ``boolfilter stats``: subscription files as engines."""

from __future__ import annotations

import argparse
import json
import os

from boolfilter.cli.problems import EXIT_BAD_DATA, EXIT_OK, say
from boolfilter.cli.subscriptions import load, report


def run_build(options: argparse.Namespace) -> int:
    """Write the engine; the bad subscriptions are reported, and left out unless --strict."""
    engine, problems = load(options.file, options.format, options.nulls)
    report(options.file, problems)
    if problems and options.strict:
        say(f"{options.output} is not written")
        return EXIT_BAD_DATA
    engine.save(options.output)
    megabytes = os.path.getsize(options.output) / 1e6
    say(f"{options.output}: {len(engine):,} subscriptions, {megabytes:,.1f} MB")
    return EXIT_BAD_DATA if problems else EXIT_OK


def run_stats(options: argparse.Namespace) -> int:
    """Print what the engine says of itself."""
    engine, problems = load(options.file, options.format, options.nulls)
    report(options.file, problems)
    stats = engine.stats()
    print(json.dumps(stats.to_dict(), indent=2) if options.json else stats)
    return EXIT_BAD_DATA if problems else EXIT_OK
