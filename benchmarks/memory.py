"""Resident bytes per subscription of a P engine, everything included.

Each figure comes from a fresh process: its resident memory once the kernels are loaded and a small
engine has matched, and again with the large engine loaded, matched, and all garbage returned.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import boolfilter as bf
from benchmarks.measure import in_child, resident_bytes, use_cores
from benchmarks.report import Report
from boolfilter.workloads import Pairs

MOST_BYTES = 250
_BATCH = 20_000


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=1_000_000)
    command.add_argument("--pairs", type=int, default=4)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    for kind in ("integer", "text"):
        row = in_child(
            "memory", "measure",
            count=options.subscriptions, pairs=options.pairs, seed=options.seed, kind=kind,
        )  # fmt: skip
        report.add(kind_of_ids=kind, subscriptions=options.subscriptions, **row)
        report.at_most(
            f"P({options.subscriptions:,}, {options.pairs}), {kind} ids: bytes a subscription",
            row["resident"],
            MOST_BYTES,
        )
    report.note("bytes a subscription: resident growth, and what stats() counts in all and by part")


def measure(count: int, pairs: int, seed: int, kind: str) -> dict[str, float]:
    workload = Pairs(pairs=pairs)
    events = workload.events(0, 100, seed)
    small = bf.Engine()
    small.subscribe_many(_subscriptions(workload, 1_000, seed, kind))
    small.match_many(events)
    before = resident_bytes()
    engine = bf.Engine()
    engine.subscribe_many(_subscriptions(workload, count, seed, kind))
    engine.match_many(events)
    resident = resident_bytes() - before
    statistics = engine.stats()
    parts = {f"of {part}": size / count for part, size in statistics.bytes.items()}
    return {"resident": resident / count, "counted": statistics.bytes_per_subscription, **parts}


def _subscriptions(
    workload: Pairs, count: int, seed: int, kind: str
) -> Iterator[tuple[int | str, str]]:
    for first in range(0, count, _BATCH):
        texts = workload.texts(first, min(count, first + _BATCH), seed)
        for number, text in enumerate(texts, first):
            yield (number if kind == "integer" else f"subscriber-{number:07}"), text
