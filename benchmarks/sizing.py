"""How large a cluster has to be: an estimate from figures measured by `scale-subscriptions`.

The time that a core spends on an event is taken to be a straight line in the subscriptions that a
task looks at, fitted to the measured indexes whose tasks take all shards. All arithmetic is shown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, NamedTuple

from benchmarks.report import RESULTS, Report

GIGABYTE = 10**9
MILLION = 1_000_000


class Measured(NamedTuple):
    """What `scale-subscriptions` found, as far as an estimate needs it."""

    bytes_a_subscription: float
    micros_fixed: float
    """Of a core, for an event, whatever the subscriptions."""
    micros_a_million: float
    """Of a core, for an event, for each million of subscriptions."""
    worker_mib: float
    """What a Python worker has for itself, beyond the mapped shards."""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=100 * MILLION)
    command.add_argument("--events-a-second", type=int, default=MILLION)
    command.add_argument("--cores-a-host", type=int, default=64)
    command.add_argument("--use", type=float, default=0.7, help="share of the cores to plan with")
    command.add_argument("--shard", type=int, default=MILLION, help="subscriptions of a shard")
    command.add_argument("--measured", default=str(RESULTS / "scale-subscriptions.json"))


def run(options: argparse.Namespace, report: Report) -> None:
    with open(options.measured) as file:
        content = json.load(file)
    measured = measured_in(content["rows"])
    for row in steps(
        measured, options.subscriptions, options.events_a_second, options.cores_a_host,
        options.use, options.shard,
    ):  # fmt: skip
        report.add(**row)
    report.note(f"measured by: {content['command']}, on {content['machine']['processor']}")
    report.notes += [f"of that run: {note}" for note in content["notes"]]


def measured_in(rows: Sequence[dict[str, Any]]) -> Measured:
    """The figures of `scale-subscriptions` from its rows: of each size, that of fewest shards."""
    whole: dict[int, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: -row["shards"]):
        if row["shards_per_task"] == "all":
            whole[row["subscriptions"]] = row
    largest = whole[max(whole)]
    fixed, slope = fitted(
        (size / MILLION, row["core_micros_an_event"]) for size, row in whole.items()
    )
    return Measured(largest["disk_bytes_a_subscription"], fixed, slope, largest["worker_mib"])


def steps(
    measured: Measured,
    subscriptions: int,
    events_a_second: int,
    cores_a_host: int,
    use: float,
    shard: int,
) -> list[dict[str, Any]]:
    """The estimate, a quantity a row, each with its arithmetic."""
    storage = subscriptions * measured.bytes_a_subscription / GIGABYTE
    micros = measured.micros_fixed + measured.micros_a_million * subscriptions / MILLION
    busy = events_a_second * micros / MILLION
    cores = ceil(busy / use)
    hosts = ceil(cores / cores_a_host)
    workers = cores_a_host * measured.worker_mib * 2**20 / GIGABYTE
    return [
        _step("storage, GB", storage, f"{subscriptions:,} x {measured.bytes_a_subscription:.0f} B"),
        _step("shards", ceil(subscriptions / shard), f"{subscriptions:,} / {shard:,}"),
        _step(
            "core time an event, microseconds", micros,
            f"{measured.micros_fixed:.1f} + {measured.micros_a_million:.1f} x "
            f"{subscriptions / MILLION:g} million",
        ),
        _step("events a second of a core", MILLION / micros, f"1,000,000 / {micros:,.0f}"),
        _step("cores busy", busy, f"{events_a_second:,} x {micros:,.0f} / 1,000,000"),
        _step("cores", cores, f"{busy:,.0f} / {use:g}"),
        _step("hosts", hosts, f"{cores:,} / {cores_a_host}"),
        _step(
            "memory of a host for matching, GB", storage + workers,
            f"{storage:.1f} mapped once + {cores_a_host} workers x {measured.worker_mib:.0f} MiB",
        ),
    ]  # fmt: skip


def fitted(points: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The straight line of least squares: its value at 0, not below 0, and its slope.

    >>> tuple(round(part, 6) for part in fitted([(1, 12.0), (2, 22.0), (5, 52.0)]))
    (2.0, 10.0)
    """
    xs, ys = zip(*points, strict=True)
    if len(xs) == 1:
        return 0.0, ys[0] / xs[0]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    at_zero = mean_y - slope * mean_x
    if at_zero < 0:  # then the line through 0
        return 0.0, sum(x * y for x, y in zip(xs, ys, strict=True)) / sum(x * x for x in xs)
    return at_zero, slope


def _step(quantity: str, value: float, arithmetic: str) -> dict[str, Any]:
    return {"quantity": quantity, "estimate": value, "arithmetic": arithmetic}
