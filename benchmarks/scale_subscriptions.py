"""Subscriptions by the million on Spark: what an index costs to build, to keep and to match with.

Each row is an index of its own, built in one process and matched with in another, whose Python
workers then say what they hold: `mapped_mib` are pages of the shards, which all workers of a host
share and the system can drop; `worker_mib` is each worker's own, Python and its packages included.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import boolfilter as bf
from benchmarks.forests import forest_of_workload
from benchmarks.measure import in_child, seconds_of
from benchmarks.plots import Panel
from benchmarks.report import Report
from benchmarks.sessions import local_session, run_through
from benchmarks.spark_inputs import TASKS, encoded, events_folder, index_folder
from benchmarks.workers import memory_of_workers
from boolfilter import spark as bfs
from boolfilter.ids import ids_of
from boolfilter.layers import new_layer
from boolfilter.workloads import Pairs

MEBIBYTE = 1 << 20
_SLICE = 20_000  # subscriptions of each sample that the local engine matches as well
_CHECKED = 10_000  # events of that sample
_SMALL = 1_000  # subscriptions of the index that a worker holds before


class Setting(NamedTuple):
    subscriptions: int
    shards: int
    shards_per_task: int | None = None


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--sizes", type=int, nargs="+", default=[500_000, 1_000_000, 2_000_000, 5_000_000]
    )
    command.add_argument("--shard", type=int, default=1_000_000, help="subscriptions of a shard")
    command.add_argument(
        "--split", type=int, nargs="*", default=[2, 4, 8], help="shards, instead, of --split-size"
    )
    command.add_argument("--split-size", type=int, default=1_000_000)
    command.add_argument("--events", type=int, default=100_000)
    command.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace, report: Report) -> None:
    rows: dict[Setting, dict[str, Any]] = {}
    for subscriptions, shards, ways in _indexes(options):
        with tempfile.TemporaryDirectory() as folder:
            built = in_child(
                "spark_inputs", "prepare", folder=folder, subscriptions=subscriptions,
                events=options.events, seed=options.seed, shards=shards,
            )  # fmt: skip
            for shards_per_task in ways:
                found = in_child(
                    "scale_subscriptions", "measure", folder=folder, seed=options.seed,
                    shards_per_task=shards_per_task, repeats=options.repeats,
                )  # fmt: skip
                row = {"subscriptions": subscriptions, **built, **found}
                rows[Setting(subscriptions, shards, shards_per_task)] = row
                report.add(shards_per_task=shards_per_task or "all", **row)
    _conclude(rows, options, report)


def measure(folder: str, seed: int, shards_per_task: int | None, repeats: int) -> dict[str, Any]:
    """Match in a new session and look into its workers; for :func:`in_child`."""
    with local_session(TASKS) as session, tempfile.TemporaryDirectory() as small:
        events = session.read.parquet(events_folder(folder))
        count = events.count()
        chunks = encoded(session, Pairs(), _SMALL, seed)
        run_through(bfs.build(chunks, expression="chunk", path=small).match(events))
        before = memory_of_workers(session, TASKS)
        index = bfs.open(session, index_folder(folder))

        def match() -> None:
            run_through(index.match(events, shards_per_task=shards_per_task))

        match()
        seconds = statistics.median(seconds_of(match) for _ in range(repeats))
        after = memory_of_workers(session, TASKS)
        return {
            "micros_an_event": seconds / count * 1e6,
            "core_micros_an_event": TASKS * seconds / count * 1e6,
            "mapped_mib": after["mapped"] / MEBIBYTE,
            "worker_mib": after["private"] / MEBIBYTE,
            "of_it_for_the_index": (after["private"] - before["private"]) / MEBIBYTE,
            "resident_bytes_a_subscription": after["mapped"] / len(index),
            "pairs_checked": _checked_pairs(session, index, folder, seed),
        }


def _indexes(options: argparse.Namespace) -> Iterator[tuple[int, int, list[int | None]]]:
    """Subscriptions and shards of each index, and with how many shards a task it is matched."""
    for size in options.sizes:
        shards = -(-size // options.shard)
        with_one = size == max(options.sizes) and shards > 1
        yield size, shards, [None, 1] if with_one else [None]
    for shards in options.split:
        yield options.split_size, shards, [None]


def _checked_pairs(session: SparkSession, index: bfs.Index, folder: str, seed: int) -> int:
    """How many pairs of a sample are the same as the local engine's; fails if they are not."""
    slices = _slices(len(index))
    engine = bf.Engine()
    for start, stop in slices:
        forest = forest_of_workload(Pairs(), stop - start, seed, start)
        engine._append(new_layer(ids_of(np.arange(start, stop)), forest))
    place = events_folder(folder)
    table = pq.read_table(place, filters=[("event_id", "<", _CHECKED)])
    local = engine.match_arrow(table)
    numbers = table["event_id"].take(local["event"]).to_pylist()
    expected = sorted(zip(numbers, local["subscription"].to_pylist(), strict=True))
    events = session.read.parquet(place).where(f"event_id < {_CHECKED}")
    sampled = " OR ".join(f"subscription_id BETWEEN {a} AND {b - 1}" for a, b in slices)
    found = index.match(events).where(sampled)
    assert sorted(map(tuple, found.collect())) == expected, "not what the local engine finds"
    return len(expected)


def _slices(size: int) -> list[tuple[int, int]]:
    """The first, middle and last few subscriptions: from where to where, none in two."""
    width = min(_SLICE, size // 3)
    return [(start, start + width) for start in (0, (size - width) // 2, size - width)]


def _conclude(
    rows: dict[Setting, dict[str, Any]], options: argparse.Namespace, report: Report
) -> None:
    by_size = {size: rows[Setting(size, -(-size // options.shard))] for size in options.sizes}
    small, large = min(by_size), max(by_size)
    for name, what in (("build_seconds", "building"), ("micros_an_event", "matching an event")):
        growth = by_size[large][name] / by_size[small][name]
        report.claim(
            f"{what} takes time at most linear in the subscriptions",
            growth <= large / small,
            f"{growth:.1f} times for {large / small:g} times the subscriptions",
        )
    _compare_groups(rows, large, by_size[large], report)
    report.note("the pairs of a sample of subscriptions and events equal the local engine's")
    panels = [
        Panel(title, "subscriptions", unit, {name: (list(by_size), _column(by_size, name))})
        for title, unit, name in (
            ("Matching", "microseconds an event", "micros_an_event"),
            ("Building", "seconds", "build_seconds"),
            ("Storage", "bytes a subscription", "disk_bytes_a_subscription"),
            ("Mapped by a worker", "MiB", "mapped_mib"),
        )
    ]
    report.grid("scale-subscriptions", "Subscriptions on Spark, two cores", panels, columns=2)


def _column(rows: dict[int, dict[str, Any]], name: str) -> list[float]:
    return [row[name] for row in rows.values()]


def _compare_groups(
    rows: dict[Setting, dict[str, Any]], size: int, whole: dict[str, Any], report: Report
) -> None:
    """Whether tasks of one shard each let a worker do with less memory than the index takes."""
    for setting, row in rows.items():
        if setting.subscriptions == size and setting.shards_per_task:
            report.claim(
                "tasks of one shard hold less than tasks of all shards",
                row["mapped_mib"] < 0.9 * whole["mapped_mib"],
                f"{row['mapped_mib']:,.0f} against {whole['mapped_mib']:,.0f} MiB mapped; "
                f"{row['micros_an_event']:.0f} against {whole['micros_an_event']:.0f} us an event",
            )
