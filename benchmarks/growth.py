"""Time per event as subscriptions grow tenfold, beside the candidates an event has.

On P the time is to grow no faster than the candidates. On L with equalities only it is to grow
little at all, as in figure 11 of the Le Subscribe paper; but matches grow with the subscriptions
there, and writing them out is most of the time, so it is also told beside those.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.engines import candidates, engine_of_workload, only_segment
from benchmarks.measure import micros_per_event, use_cores
from benchmarks.report import Report
from boolfilter.arrow import batches, columns_of, encode_batch
from boolfilter.workloads import LeSubscribe, Pairs, Workload

MOST_GROWTH_OF_EQUALITIES = 1.5
_SAMPLE = 200


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--sizes", type=int, nargs="+", default=[100_000, 200_000, 500_000, 1_000_000]
    )
    command.add_argument("--events", type=int, default=32_768)
    command.add_argument("--repeats", type=int, default=5)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    series = {}
    workloads = {"P": Pairs(), "L, equalities": LeSubscribe(equality=1.0)}
    for label, workload in workloads.items():
        rows = _grow(workload, options)
        for row in rows:
            report.add(workload=label, **row)
        sizes = [row["subscriptions"] for row in rows]
        series[f"{label}: microseconds"] = sizes, [row["match_arrow"] for row in rows]
        series[f"{label}: candidates"] = sizes, [max(1, row["candidates"]) for row in rows]
        time = rows[-1]["match_arrow"] / rows[0]["match_arrow"]
        if label == "P":
            work = rows[-1]["candidates"] / rows[0]["candidates"]
            report.at_most("P: growth of time over growth of candidates", time / work, 1.0)
        else:
            output = rows[-1]["matches"] / rows[0]["matches"]
            report.at_most("L, equalities: growth of time", time, MOST_GROWTH_OF_EQUALITIES)
            report.at_most("L, equalities: growth of time over that of matches", time / output, 1.0)
    report.note("match_arrow in microseconds an event; candidates and matches an event")
    report.plot(
        name="growth",
        title="Growth with the subscriptions",
        x="subscriptions",
        y="microseconds, candidates an event",
        series=series,
    )


def _grow(workload: Workload, options: argparse.Namespace) -> list[dict[str, Any]]:
    table = workload.event_table(0, options.events, options.seed)
    engines = {
        str(size): engine_of_workload(workload, size, options.seed) for size in options.sizes
    }
    sides = {
        size: (lambda count, engine=engine: engine.match_arrow(table.slice(0, count)), len(table))
        for size, engine in engines.items()
    }
    micros = micros_per_event(sides, options.repeats)
    (batch,) = batches(table.slice(0, _SAMPLE))
    rows = []
    for size, engine in engines.items():
        segment = only_segment(engine)
        visited = candidates(segment, encode_batch(segment.encoder, columns_of(batch)))
        rows.append(
            {
                "subscriptions": int(size),
                "match_arrow": micros[size],
                "candidates": visited / _SAMPLE,
                "matches": engine.match_arrow(batch).num_rows / _SAMPLE,
            }
        )
    return rows
