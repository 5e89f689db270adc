"""Two threads against one, each with its own tables of events, on one engine."""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ThreadPoolExecutor

from benchmarks.engines import engine_of_workload
from benchmarks.measure import seconds_of
from benchmarks.report import Report
from boolfilter.workloads import Pairs

LEAST_GAIN = 1.7


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=1_000_000)
    command.add_argument("--events", type=int, default=32_768, help="of each thread and turn")
    command.add_argument("--repeats", type=int, default=7)


def run(options: argparse.Namespace, report: Report) -> None:
    workload = Pairs()
    engine = engine_of_workload(workload, options.subscriptions, options.seed)
    size = options.events
    tables = [workload.event_table(n * size, (n + 1) * size, options.seed) for n in range(2)]
    gains, rates = [], {1: [], 2: []}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(engine.match_arrow, tables))  # each thread makes its scratch arrays
        for _ in range(options.repeats):
            for threads in rates:
                work = tables[:threads]
                seconds = seconds_of(lambda: list(pool.map(engine.match_arrow, work)))  # noqa: B023
                rates[threads].append(threads * size / seconds)
            gains.append(rates[2][-1] / rates[1][-1])
    for threads, found in rates.items():
        report.add(threads=threads, events_a_second=statistics.median(found))
    report.at_least("two threads : one", statistics.median(gains), LEAST_GAIN)
    report.note(f"least and greatest of {len(gains)} turns: {min(gains):.2f}, {max(gains):.2f}")
