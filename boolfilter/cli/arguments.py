"""The commands and their options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any, NoReturn

from boolfilter import workloads
from boolfilter.cli.bench import run_bench
from boolfilter.cli.building import run_build, run_stats
from boolfilter.cli.checking import run_check
from boolfilter.cli.explaining import run_explain
from boolfilter.cli.files import EVENT_FORMATS, SUBSCRIPTION_FORMATS
from boolfilter.cli.matching import run_match
from boolfilter.cli.problems import EXIT_UNUSABLE

_SUBSCRIPTION_FILES = """\
subscription files:
  text     one a line: the id, a tab and the subscription; or the subscription alone, whose id is
           then its line number. Blank lines and lines that start with # or -- are skipped.
  jsonl    {"id": "alice", "expression": "price < 10"} a line; without an id the line number is it
  csv      with the columns id and expression
  parquet  with the columns id and expression (needs pyarrow)
  saved    what `boolfilter build` wrote; recognised by itself, and by far the quickest to load
The format goes by the file's ending (.txt, .jsonl, .csv, .parquet), or is text.
"""
_EVENT_FILES = """\
event files:
  jsonl    a JSON object a line; nested objects are reached by dotted names, lists are multi-valued
  csv      a header with the attribute names. A value that looks like a number is one (but 007 is a
           string), TRUE and FALSE in any case are booleans, nothing at all is absent
  text     name=value pairs a line, values as in CSV: price=5 title="Fluent Python" tag=a tag=b;
           what stands in double quotes is a string, a name alone is TRUE
  parquet  columns as they are typed, structs by dotted names, lists multi-valued (needs pyarrow)
The format goes by the file's ending (.jsonl, .csv, .txt, .parquet), or is jsonl.
"""
_EXIT_CODES = """\
exit codes:
  0  all went well       1  some data had errors, which were reported       2  could not run
"""


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The options of a command; its ``run`` takes them and returns an exit code."""
    parser = _Parser(
        prog="boolfilter",
        description="Which of many Boolean subscriptions does an event satisfy?",
        epilog=f"{_EXIT_CODES}\nexample:\n"
        "  boolfilter match --subscriptions alerts.txt --events listings.jsonl",
    )
    parser.add_argument("--version", action="version", version=f"boolfilter {_version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for add in (_add_match, _add_check, _add_explain, _add_build, _add_stats, _add_bench):
        add(commands)
    options = parser.parse_args(argv)
    if not hasattr(options, "run"):
        parser.print_help(sys.stderr)
        parser.exit(EXIT_UNUSABLE)
    return options


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        plain = argparse.RawDescriptionHelpFormatter
        super().__init__(formatter_class=plain, allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_UNUSABLE, f"boolfilter: {message} (try {self.prog} --help)\n")


_Commands = argparse._SubParsersAction  # the only name that argparse has for it


def _version() -> str:
    try:
        return metadata.version("boolfilter")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "of a checkout"


def _add_match(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "match",
        help="which subscriptions each event satisfies, as JSON lines",
        description="Prints a JSON line for each event: its number (the line of the file, in "
        "Parquet the row, from 1)\nor its --id, and the ids of the subscriptions it satisfies. "
        "Reads a pipe as it is filled and writes\neach result at once.",
        epilog=f"{_EVENT_FILES}\n{_SUBSCRIPTION_FILES}\n{_EXIT_CODES}\nexamples:\n"
        "  boolfilter match --subscriptions alerts.txt --events listings.jsonl --only-matched\n"
        "  tail -f listings.jsonl | boolfilter match --subscriptions alerts.bf --events - --id sku",
    )
    _add_subscriptions(parser)
    parser.add_argument("--events", metavar="FILE", required=True, help="a file, or - for stdin")
    parser.add_argument("--format", choices=EVENT_FORMATS, help="the format of the events")
    _add_nulls(parser)
    parser.add_argument(
        "--id", metavar="FIELD", help="name events by this attribute, not by their number"
    )
    _add_kinds(parser)
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--only-matched", action="store_true", help="leave out events without matches"
    )
    output.add_argument(
        "--count", action="store_true", help="print the totals only, when all is read"
    )
    _add_strict(parser, "stop at the first bad subscription or event")
    parser.set_defaults(run=run_match)


def _add_check(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "check",
        help="all errors of a subscription file",
        description="Prints every error of a subscription file as file:line:column, with an "
        "excerpt and a hint.",
        epilog=f"{_SUBSCRIPTION_FILES}\n{_EXIT_CODES}\nexample:\n  boolfilter check alerts.txt",
    )
    _add_file(parser)
    _add_nulls(parser)
    parser.add_argument("--json", action="store_true", help="the errors as one JSON object")
    parser.set_defaults(run=run_check)


def _add_explain(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "explain",
        help="why an event satisfies a subscription, or why not",
        description="Prints the subscription as a tree with the truth of each part; * marks the "
        "parts that decided.",
        epilog=f"{_SUBSCRIPTION_FILES}\nexample:\n"
        "  boolfilter explain --subscriptions alerts.txt --id alice "
        '--event \'{"price": 5, "tags": ["sale"]}\'',
    )
    _add_subscriptions(parser)
    parser.add_argument("--id", required=True, help="which subscription")
    parser.add_argument(
        "--event", metavar="JSON", required=True, help="a JSON object, or @FILE that holds one"
    )
    _add_nulls(parser)
    _add_kinds(parser)
    parser.add_argument("--json", action="store_true", help="the tree as data")
    parser.set_defaults(run=run_explain)


def _add_build(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "build",
        help="compile a subscription file, to load it in no time",
        description="Writes the compiled subscriptions to a file that every command takes.",
        epilog=f"{_SUBSCRIPTION_FILES}\n{_EXIT_CODES}\nexample:\n"
        "  boolfilter build alerts.txt -o alerts.bf",
    )
    _add_file(parser)
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="as in alerts.bf")
    _add_nulls(parser)
    _add_strict(parser, "write nothing if a subscription is bad")
    parser.set_defaults(run=run_build)


def _add_stats(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "stats",
        help="how many subscriptions, of what, in how many bytes",
        description="Prints what an engine with these subscriptions holds.",
        epilog=f"{_SUBSCRIPTION_FILES}\nexample:\n  boolfilter stats alerts.bf --json",
    )
    _add_file(parser)
    _add_nulls(parser)
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(run=run_stats)


def _add_bench(commands: _Commands[_Parser]) -> None:
    parser = commands.add_parser(
        "bench",
        help="how fast this machine is, in a few seconds",
        description="Registers subscriptions of a workload, matches its events, and prints rates "
        "and latencies.",
        epilog="example:\n  boolfilter bench --workload lesubscribe --subscriptions 200000",
    )
    parser.add_argument("--workload", choices=workloads.names(), default="pairs")
    parser.add_argument("--subscriptions", metavar="N", type=_count, default=50_000)
    parser.add_argument("--events", metavar="N", type=_count, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    _add_nulls(parser)
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(run=run_bench)


def _add_file(parser: _Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="subscriptions; - for stdin")
    parser.add_argument("--format", choices=SUBSCRIPTION_FORMATS)


def _add_subscriptions(parser: _Parser) -> None:
    parser.add_argument(
        "--subscriptions", metavar="FILE", required=True, help="a file, or - for stdin"
    )
    parser.add_argument(
        "--subscriptions-format", choices=SUBSCRIPTION_FORMATS, help="and its format"
    )


def _add_nulls(parser: _Parser) -> None:
    parser.add_argument(
        "--nulls",
        choices=["false", "sql"],
        help="NOT of a predicate on an absent attribute is true (false, the default), or unknown "
        "as in SQL (sql); a saved engine knows its own",
    )


def _add_kinds(parser: _Parser) -> None:
    for kind in ("strings", "timestamps"):
        parser.add_argument(
            f"--{kind}",
            metavar="FIELDS",
            type=lambda names: frozenset(name.strip() for name in names.split(",")),
            default=frozenset(),
            help=f"take these attributes, separated by commas, as {kind}"
            + (" (ISO 8601)" if kind == "timestamps" else " even if they look like numbers"),
        )


def _add_strict(parser: _Parser, what: str) -> None:
    parser.add_argument("--strict", action="store_true", help=f"{what}; otherwise they are skipped")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"at least 1 is needed, not {number}")
    return number
