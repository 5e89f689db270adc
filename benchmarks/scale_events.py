"""Batches of events on Spark against two threads of one local engine, in turns.

Spark reads the events from Parquet and matches them into the noop sink, or counts the pairs; the
threads match the same events with `match_arrow`, already in memory.
"""

from __future__ import annotations

import argparse
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import boolfilter as bf
from benchmarks.engines import engine_of_workload
from benchmarks.measure import in_child, seconds_in_turns
from benchmarks.report import Report
from benchmarks.sessions import local_session, run_through
from benchmarks.spark_inputs import TASKS, events_folder, index_folder, store_events
from boolfilter import spark as bfs
from boolfilter.workloads import Pairs

MILLION = 1_000_000  # the target is for so many events and subscriptions
LEAST_SHARE = 0.6
_CHECKED = 5_000  # events whose pairs are compared one by one


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=MILLION)
    command.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, MILLION])
    command.add_argument("--shards", type=int, default=2)
    command.add_argument("--turns", type=int, default=2)


def run(options: argparse.Namespace, report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        in_child(
            "spark_inputs", "prepare", folder=folder, subscriptions=options.subscriptions,
            events=_CHECKED, seed=options.seed, shards=options.shards,
        )  # fmt: skip
        engine = engine_of_workload(Pairs(), options.subscriptions, options.seed)
        with local_session(TASKS) as session:
            index = bfs.open(session, index_folder(folder))
            _check_pairs(session, index, engine, folder)
            rows = [_compare(session, index, engine, size, options) for size in options.sizes]
    for row in rows:
        report.add(subscriptions=options.subscriptions, **row)
        if min(row["events"], options.subscriptions) >= MILLION:
            report.at_least(
                f"index.match on {row['events']:,} events : two threads of match_arrow",
                row["share"],
                LEAST_SHARE,
            )
    report.note("rates in events a second")
    report.note(f"all pairs equal on {_CHECKED:,} events, and as many pairs on all others")
    report.plot(
        name="scale-events",
        title=f"{options.subscriptions:,} subscriptions on two cores",
        x="events of a batch",
        y="events a second",
        series={
            side: (options.sizes, [row[side] for row in rows])
            for side in ("two_threads", "spark_match", "spark_count")
        },
    )


def _check_pairs(session: SparkSession, index: bfs.Index, engine: bf.Engine, folder: str) -> None:
    place = events_folder(folder)
    found = index.match(session.read.parquet(place)).toArrow()
    table = pq.read_table(place)
    local = engine.match_arrow(table)
    numbers = table["event_id"].take(local["event"]).to_pylist()
    expected = set(zip(numbers, local["subscription"].to_pylist(), strict=True))
    assert set(zip(*(column.to_pylist() for column in found), strict=True)) == expected
    assert found.num_rows == len(expected)


def _compare(
    session: SparkSession,
    index: bfs.Index,
    engine: bf.Engine,
    size: int,
    options: argparse.Namespace,
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store_events(session, folder, size, options.seed)
        events = session.read.parquet(events_folder(folder))
        table = pq.read_table(events_folder(folder)).drop_columns(["event_id"])
        halves = [table.slice(0, size // 2), table.slice(size // 2)]
        pairs: dict[str, int] = {}

        def match_locally(pool: ThreadPoolExecutor) -> None:
            found: list[pa.Table] = list(pool.map(engine.match_arrow, halves))
            pairs["two_threads"] = sum(map(len, found))

        with ThreadPoolExecutor(2) as pool:
            seconds = seconds_in_turns(
                {
                    "two_threads": lambda: match_locally(pool),
                    "spark_match": lambda: run_through(index.match(events)),
                    "spark_count": lambda: pairs.update(spark=index.match(events).count()),
                },
                options.turns,
            )
        assert pairs["spark"] == pairs["two_threads"], "the two do not find the same"
        return {
            "events": size,
            "partitions": events.rdd.getNumPartitions(),
            **{side: size / taken for side, taken in seconds.items()},
            "share": seconds["two_threads"] / seconds["spark_match"],
            "pairs": pairs["spark"],
        }
