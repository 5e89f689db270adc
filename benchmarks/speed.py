"""Time per event of the engine and of the paper's algorithm, on three workloads.

Both match the same Arrow tables of events, encoding included, and take turns on one core. A dict
is matched alone, as `match` does it.
"""

from __future__ import annotations

import argparse
from typing import Any

import boolfilter as bf
from benchmarks.engines import candidates, engine_of_forest, only_segment
from benchmarks.forests import forest_of_workload
from benchmarks.measure import micros_per_event, use_cores
from benchmarks.report import Report
from boolfilter.arrow import batches, columns_of, encode_batch
from boolfilter.baselines.noncanonical import NonCanonical
from boolfilter.workloads import Workload, get

MILLION = 1_000_000  # the targets are for so many subscriptions
LEAST_RATIO = 50
MOST_MICROS_OF_A_DICT = 25
_SAMPLE = 100
_LETTERS = {"pairs": "P", "lesubscribe": "L", "skewed": "S"}


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    command.add_argument("--workloads", nargs="+", default=list(_LETTERS), choices=list(_LETTERS))
    command.add_argument(
        "--most-skewed", type=int, default=100_000, help="S is parsed from texts, 1 ms each"
    )
    command.add_argument("--pairs", type=int, default=4, help="OR pairs of a P subscription")
    command.add_argument("--events", type=int, default=32_768)
    command.add_argument("--repeats", type=int, default=5)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    series: dict[str, tuple[list[float], list[float]]] = {}
    for name in options.workloads:
        workload = get(name, **({"pairs": options.pairs} if name == "pairs" else {}))
        for size in options.sizes:
            if name == "skewed" and size > options.most_skewed:
                continue
            row = _compare(workload, size, options)
            report.add(workload=_LETTERS[name], subscriptions=size, **row)
            for side in ("match_arrow", "noncanonical"):
                xs, ys = series.setdefault(f"{_LETTERS[name]}: {side}", ([], []))
                xs.append(size)
                ys.append(row[side])
            if name == "pairs" and size >= MILLION:
                label = f"P({size:,}, {options.pairs})"
                report.at_least(f"{label}: noncanonical : match_arrow", row["ratio"], LEAST_RATIO)
                report.at_most(
                    f"{label}: microseconds of match beyond match_arrow",
                    row["match"] - row["match_arrow"],
                    MOST_MICROS_OF_A_DICT,
                )
    report.note("times in microseconds an event; candidates and matches an event")
    report.plot(
        name="speed", title="Time per event", x="subscriptions", y="microseconds", series=series
    )


def _compare(workload: Workload, size: int, options: argparse.Namespace) -> dict[str, Any]:
    forest = forest_of_workload(workload, size, options.seed)
    engine = engine_of_forest(forest)
    baseline = NonCanonical.from_forest(forest)
    del forest
    table = workload.event_table(0, options.events, options.seed)
    events = workload.events(0, min(options.events, 4096), options.seed)

    def match_noncanonical(count: int) -> int:
        found = 0
        for batch in batches(table.slice(0, count)):
            found += len(baseline.match(encode_batch(baseline.encoder, columns_of(batch)))[0])
        return found

    sides = {
        "match_arrow": (lambda count: engine.match_arrow(table.slice(0, count)), len(table)),
        "match": (lambda count: [engine.match(event) for event in events[:count]], len(events)),
        "noncanonical": (match_noncanonical, len(table)),
    }
    micros = micros_per_event(sides, options.repeats)
    matches = engine.match_arrow(table.slice(0, _SAMPLE)).num_rows
    assert matches == match_noncanonical(_SAMPLE), "the two do not find the same"
    fulfilled, led_to = baseline.work_per_event()
    return {
        **micros,
        "ratio": micros["noncanonical"] / micros["match_arrow"],
        "candidates": _candidates(engine, table) / _SAMPLE,
        "fulfilled_predicates": fulfilled,
        "noncanonical_candidates": led_to,
        "matches": matches / _SAMPLE,
    }


def _candidates(engine: bf.Engine, table: Any) -> int:
    segment = only_segment(engine)
    (batch,) = batches(table.slice(0, _SAMPLE))
    return candidates(segment, encode_batch(segment.encoder, columns_of(batch)))
