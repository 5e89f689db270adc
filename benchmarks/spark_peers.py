"""The engine on Spark against the ways that need no engine, on the same subscriptions and events.

For each way: `fixed_seconds` is what a job takes before its first event (planning, compiling), and
`micros_an_event` what each event adds, both from two runs of as many events as the way can take.
So plain ways that plan for long are compared by what they do best.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks import spark_ways
from benchmarks.measure import seconds_in_turns
from benchmarks.report import Report
from benchmarks.sessions import local_session, run_through
from benchmarks.spark_inputs import TASKS, events_folder, store_events
from boolfilter import spark as bfs
from boolfilter.workloads import Pairs

LEAST_RATIO = 100
_FEW = 10  # a run of so many times fewer events tells what is fixed

Way = Callable[[DataFrame], DataFrame]
BASELINES = {
    "noncanonical": "noncanonical",
    "DNF + counting": "counting",
    "DNF + counting, variant": "counting-variant",
}
PLAIN = {
    "expressions as columns": spark_ways.expressions_as_columns,
    "broadcast loop": spark_ways.broadcast_loop,
    "cross join with UDF": spark_ways.cross_join,
}


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=10_000)
    command.add_argument("--events", type=int, default=400_000, help="for the engine")
    command.add_argument("--baseline-events", type=int, default=40_000)
    command.add_argument("--column-events", type=int, default=20_000, help="for expressions")
    command.add_argument("--loop-events", type=int, default=4_000, help="for the broadcast loop")
    command.add_argument("--join-events", type=int, default=400, help="for the cross join")
    command.add_argument("--pairs", type=int, default=3, help="OR pairs of a P subscription")
    command.add_argument("--checked", type=int, default=300, help="events with all pairs compared")
    command.add_argument("--turns", type=int, default=2)


def run(options: argparse.Namespace, report: Report) -> None:
    texts = Pairs(pairs=options.pairs).texts(0, options.subscriptions, options.seed)
    plain_events = (options.column_events, options.loop_events, options.join_events)
    with local_session(TASKS) as session, tempfile.TemporaryDirectory() as folder:
        rows = list(enumerate(texts))
        subscriptions = session.createDataFrame(rows, "id bigint, expression string")
        index = bfs.build(subscriptions, path=f"{folder}/index")
        ways: dict[str, tuple[Way, int]] = {"engine": (index.match, options.events)}
        for label, name in BASELINES.items():
            way = partial(spark_ways.baseline, texts=texts, name=name)
            ways[label] = way, options.baseline_events
        for (label, plain), count in zip(PLAIN.items(), plain_events, strict=True):
            ways[label] = partial(plain, texts=texts), count
        events = partial(_events, session, folder, options.seed)
        pairs = _check({name: way for name, (way, _) in ways.items()}, events(options.checked))
        found = {name: _measure(way, events, most, options.turns)
                 for name, (way, most) in ways.items()}  # fmt: skip
    micros = {name: row["micros_an_event"] for name, row in found.items()}
    for name, row in found.items():
        report.add(way=name, **row, of_the_engine=micros[name] / micros["engine"])
        if name in PLAIN:
            report.at_least(f"{name} : engine", micros[name] / micros["engine"], LEAST_RATIO)
    report.note(f"P({options.subscriptions:,}, {options.pairs}) on two cores")
    report.note(f"the same {pairs:,} pairs from all, on {options.checked:,} events")
    report.plot(
        name="spark-peers", title="Ways to match on Spark", x="way", y="microseconds an event",
        series={name: ([place], [micros[name]]) for place, name in enumerate(micros)},
        x_scale="linear",
    )  # fmt: skip


def _events(session: SparkSession, folder: str, seed: int, count: int) -> DataFrame:
    """So many events, in Parquet, so that all ways read the same."""
    place = f"{folder}/{count}"
    if not Path(place).exists():
        store_events(session, place, count, seed)
    return session.read.parquet(events_folder(place))


def _check(ways: dict[str, Way], events: DataFrame) -> int:
    """How many pairs each way finds; fails unless all find the same."""
    expected: list[tuple[Any, ...]] | None = None
    for name, way in ways.items():
        found = sorted(map(tuple, way(events).collect()))
        assert expected is None or found == expected, f"{name} does not find what the engine finds"
        expected = found
    return len(expected or ())


def _measure(
    way: Way, events: Callable[[int], DataFrame], most: int, turns: int
) -> dict[str, float]:
    few = max(1, most // _FEW)
    some, all_of_them = events(few), events(most)
    seconds = seconds_in_turns(
        {"few": lambda: run_through(way(some)), "most": lambda: run_through(way(all_of_them))},
        turns,
    )
    fixed, each = line(few, seconds["few"], most, seconds["most"])
    return {
        "events": most,
        "seconds": seconds["most"],
        "fixed_seconds": fixed,
        "micros_an_event": each * 1e6,
    }


def line(few: int, seconds_of_few: float, most: int, seconds_of_most: float) -> tuple[float, float]:
    """What is fixed and what each event adds, of two runs.

    >>> line(10, 1.5, 110, 6.5)
    (1.0, 0.05)
    """
    each = (seconds_of_most - seconds_of_few) / (most - few)
    return seconds_of_few - few * each, each
