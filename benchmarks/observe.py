"""What knowing the distribution of events gains the engine, on a skewed workload.

The same subscriptions compiled by estimates from themselves alone, and after `optimise` with
samples of events (paper 004 orders its trees by the same knowledge). Events matched are not among
those sampled. Candidates are entries visited, which depend on no machine.
"""

from __future__ import annotations

import argparse

from benchmarks.engines import candidates, engine_of_forest, only_segment
from benchmarks.forests import forest_of_workload
from benchmarks.measure import micros_per_event, use_cores
from benchmarks.report import Report
from boolfilter.arrow import batches, columns_of, encode_batch
from boolfilter.workloads import Skewed

_COUNTED = 512
_ALONE = "subscriptions alone"


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=50_000)
    command.add_argument("--samples", type=int, nargs="+", default=[100, 1_000])
    command.add_argument("--events", type=int, default=8_192)
    command.add_argument("--repeats", type=int, default=5)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    workload = Skewed()
    forest = forest_of_workload(workload, options.subscriptions, options.seed)
    sampled = workload.events(0, max(options.samples), options.seed)
    first = len(sampled)
    table = workload.event_table(first, first + options.events, options.seed)
    engines = {_ALONE: engine_of_forest(forest)}
    for count in options.samples:
        engine = engines[f"{count:,} events"] = engine_of_forest(forest)
        engine.optimise(sampled[:count])
    micros = micros_per_event(
        {
            name: (lambda n, engine=engine: engine.match_arrow(table.slice(0, n)), len(table))
            for name, engine in engines.items()
        },
        options.repeats,
    )
    (batch,) = batches(table.slice(0, _COUNTED))
    for name, engine in engines.items():
        segment = only_segment(engine)
        visited = candidates(segment, encode_batch(segment.encoder, columns_of(batch)))
        report.add(
            estimates_by=name,
            subscriptions=options.subscriptions,
            candidates=visited / batch.num_rows,
            micros=micros[name],
            matches=engine.match_arrow(batch).num_rows / batch.num_rows,
        )
    alone, *others = report.rows
    assert all(row["matches"] == alone["matches"] for row in others), "engines differ"
    for row in others:
        for what in ("candidates", "micros"):
            report.claim(
                f"a sample of {row['estimates_by']} saves {what}",
                row[what] < alone[what],
                f"{row[what]:,.1f} against {alone[what]:,.1f}: {alone[what] / row[what]:.2f} times",
            )
    report.note("candidates (entries visited), match_arrow in microseconds, and matches an event")
    report.plot(
        name="observe",
        title="Estimates by a sample of events",
        x="events in the sample",
        y="an event",
        x_scale="linear",
        series={
            what: ([0, *options.samples], [row[what] for row in report.rows])
            for what in ("candidates", "micros", "matches")
        },
    )
