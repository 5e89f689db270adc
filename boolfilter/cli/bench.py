"""``boolfilter bench``: a quick measurement of this machine."""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from typing import Any

import numpy as np

from boolfilter import workloads
from boolfilter.cli.problems import EXIT_OK
from boolfilter.cli.progress import progress
from boolfilter.engine import Engine
from boolfilter.workloads import Workload

_PERCENTILES = (50, 90, 99, 100)


def run_bench(options: argparse.Namespace) -> int:
    """Load, match one by one, match in bulk; print the rates."""
    workload = workloads.get(options.workload)
    engine = Engine(nulls=options.nulls or "false")
    measured: dict[str, Any] = {
        "workload": options.workload,
        "subscriptions": options.subscriptions,
        "events": options.events,
    }
    measured |= _load(engine, workload, options)
    measured |= _match(engine, workload, options)
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        width = max(map(len, measured))
        for name, value in measured.items():
            print(f"{name.replace('_', ' '):<{width}}  {_shown(value):>12}")
    return EXIT_OK


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _load(engine: Engine, workload: Workload, options: argparse.Namespace) -> dict[str, float]:
    texts = workload.texts(0, options.subscriptions, options.seed)
    with progress("loading") as line:
        started = time.perf_counter()
        engine.subscribe_many(list(enumerate(texts)), progress=line)
        seconds = time.perf_counter() - started
    return {"subscriptions_per_second": len(texts) / seconds}


def _match(engine: Engine, workload: Workload, options: argparse.Namespace) -> dict[str, float]:
    events = workload.events(0, options.events, options.seed)
    engine.match(events[0])  # the first one pays for what the others find ready
    matches = 0
    micros = np.empty(len(events))
    with progress("matching") as line:
        for place, event in enumerate(events):
            started = time.perf_counter_ns()
            matches += len(engine.match(event))
            micros[place] = (time.perf_counter_ns() - started) / 1e3
            line(place + 1, len(events))
    measured = {
        "matches_per_event": matches / len(events),
        "match_events_per_second": 1e6 / float(micros.mean()),
    }
    for percent in _PERCENTILES:
        name = "max" if percent == 100 else f"p{percent}"
        measured[f"match_{name}_micros"] = float(np.percentile(micros, percent))
    started_many = time.perf_counter()
    engine.match_many(events)
    seconds = time.perf_counter() - started_many
    measured["match_many_events_per_second"] = len(events) / seconds
    if importlib.util.find_spec("pyarrow") is not None:
        table = workload.event_table(0, options.events, options.seed)
        engine.match_arrow(table.slice(0, 1))
        started_arrow = time.perf_counter()
        engine.match_arrow(table)
        seconds = time.perf_counter() - started_arrow
        measured["match_arrow_events_per_second"] = len(events) / seconds
    return measured
