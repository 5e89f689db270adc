"""Matching on Spark with two cores against one, each a session in a process of its own.

One core means that all of it, the Java process and the Python workers, is kept on one; a session
of one task on two cores is beside it, as there reading events and matching them overlap.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile

from benchmarks.measure import in_child, seconds_of, use_cores
from benchmarks.report import Report
from benchmarks.sessions import local_session, run_through
from benchmarks.spark_inputs import events_folder, index_folder
from boolfilter import spark as bfs

LEAST_GAIN = 1.6
_SESSIONS = ((1, 1), (1, 2), (2, 2))  # tasks at a time, cores


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=1_000_000)
    command.add_argument("--events", type=int, default=200_000)
    command.add_argument("--turns", type=int, default=2, help="sessions of each kind")
    command.add_argument("--repeats", type=int, default=2, help="of each session")


def run(options: argparse.Namespace, report: Report) -> None:
    found: dict[tuple[int, int], list[float]] = {kind: [] for kind in _SESSIONS}
    with tempfile.TemporaryDirectory() as folder:
        in_child(
            "spark_inputs", "prepare", folder=folder, subscriptions=options.subscriptions,
            events=options.events, seed=options.seed,
        )  # fmt: skip
        for _ in range(options.turns):
            for tasks, cores in _SESSIONS:
                found[tasks, cores] += in_child(
                    "scale_cores", "match_seconds",
                    folder=folder, tasks=tasks, cores=cores, repeats=options.repeats,
                )  # fmt: skip
    rates = {kind: options.events / statistics.median(seconds) for kind, seconds in found.items()}
    for (tasks, cores), rate in rates.items():
        report.add(
            session=f"local[{tasks}]",
            cores=cores,
            events_a_second=rate,
            of_one_core=rate / rates[1, 1],
            runs=len(found[tasks, cores]),
        )
    report.at_least("two cores : one core", rates[2, 2] / rates[1, 1], LEAST_GAIN)
    report.note(f"{options.subscriptions:,} subscriptions, {options.events:,} events of P")
    report.plot(
        name="scale-cores",
        title="index.match by cores",
        x="cores",
        y="events a second",
        series={
            "a task a core": ([1, 2], [rates[1, 1], rates[2, 2]]),
            "as fast as cores": ([1, 2], [rates[1, 1], 2 * rates[1, 1]]),
        },
        x_scale="linear",
        y_scale="linear",
    )


def match_seconds(folder: str, tasks: int, cores: int, repeats: int) -> list[float]:
    """How long each of several matches takes, once the workers are warm; for :func:`in_child`."""
    use_cores(cores)
    with local_session(tasks) as session:
        index = bfs.open(session, index_folder(folder))
        events = session.read.parquet(events_folder(folder))
        run_through(index.match(events))
        return [seconds_of(lambda: run_through(index.match(events))) for _ in range(repeats)]
