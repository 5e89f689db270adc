"""What a schema costs and gives: kinds of kinds by probes, checks, events of another type.

Three questions. Does matching by a hierarchy depend on its size? What do a schema, and checking
events by its rules, add to a match? What do subscriptions of one type of events cost an event of
another type, against an engine without them?
"""

from __future__ import annotations

import argparse
from typing import Any

import boolfilter as bf
from benchmarks.measure import micros_per_event, seconds_of
from benchmarks.report import Report
from boolfilter.schema import hierarchical, numeric
from boolfilter.workloads import counters

BRANCHES = 8  # so that 100,000 values are some six levels
ATTRIBUTES = ("price", "quantity", "size")
LARGEST = 2_000
MOST_GROWTH = 2.0  # of a match by kinds, from a hundredth of the hierarchy's values to all
MOST_FOREIGN = 1.1


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--values", type=int, default=100_000, help="of the hierarchy")
    command.add_argument("--subscriptions", type=int, default=200_000, help="of each event type")
    command.add_argument("--events", type=int, default=2_000)


def run(options: argparse.Namespace, report: Report) -> None:
    _by_kinds(options, report)
    _by_types(options, report)


def _by_kinds(options: argparse.Namespace, report: Report) -> None:
    """A subscription to each value of a hierarchy, small and large."""
    sides: dict[str, Any] = {}
    for values in (max(2, options.values // 100), options.values):
        kinds = {str(n): str((n - 1) // BRANCHES) if n else None for n in range(values)}
        schema = bf.Schema(
            {"kinds": hierarchical(kinds)}, {"it": "kinds"}, {"thing": {"it": "optional"}},
            default_type="thing",
        )  # fmt: skip
        engine = bf.Engine(schema=schema, background=False)
        engine.subscribe_template("it IS A ?", range(values), [list(kinds)])
        # The deepest values, so that both sizes differ in depth by what they must only.
        drawn = _drawn("kinds", values // BRANCHES, options.events, options.seed)
        events = [{"it": str(values - 1 - number)} for number in drawn]
        sides[f"{values:,} values"] = (_matching(engine, events), len(events))
    found = micros_per_event(sides)
    for name, micros in found.items():
        report.add(side=f"IS A, {name}", micros=micros)
    small, large = found.values()
    report.at_most("IS A, all values : a hundredth of them", large / small, MOST_GROWTH)


def _by_types(options: argparse.Namespace, report: Report) -> None:
    """Subscriptions of two types of events that share all attributes; events of one."""
    schema = bf.Schema(
        {"amount": numeric()},
        dict.fromkeys(ATTRIBUTES, "amount"),
        {kind: dict.fromkeys(ATTRIBUTES, "mandatory") for kind in ("car", "toy")},
    )
    cars, toys = (_subscriptions(kind, options) for kind in ("car", "toy"))
    drawn = [_drawn(name, LARGEST, options.events, options.seed, "event") for name in ATTRIBUTES]
    events = [
        {"event_type": "toy", **dict(zip(ATTRIBUTES, row, strict=True))}
        for row in zip(*drawn, strict=True)
    ]
    engines = {
        "no schema": (bf.Engine(background=False), toys),
        "schema": (bf.Engine(schema=schema, background=False), toys),
        "schema, events checked": (
            bf.Engine(schema=schema, validate="raise", background=False),
            toys,
        ),
        "schema, and as many of the other type": (
            bf.Engine(schema=schema, background=False),
            cars + toys,
        ),
        "schema, only the other type": (bf.Engine(schema=schema, background=False), cars),
        "schema, one that never matches": (
            bf.Engine(schema=schema, background=False),
            ["event_type = 'car' AND price = -1"],
        ),
    }
    sides: dict[str, Any] = {}
    for name, (engine, texts) in engines.items():
        seconds = seconds_of(lambda: engine.subscribe_many(enumerate(texts)))  # noqa: B023
        engine.optimise()
        report.add(side=f"load, {name}", subscriptions_a_second=len(texts) / seconds)
        sides[name] = (_matching(engine, events), len(events))
    found = micros_per_event(sides)
    for name, micros in found.items():
        report.add(side=f"match, {name}", micros=micros)
    foreign = found["schema, only the other type"] / found["schema, one that never matches"]
    report.at_most("only the other type : one that never matches", foreign, MOST_FOREIGN)


def _subscriptions(kind: str, options: argparse.Namespace) -> list[str]:
    count = options.subscriptions
    columns = []
    for name in ATTRIBUTES:
        operators = _drawn(name, 3, count, options.seed, kind, "operator")
        values = _drawn(name, LARGEST, count, options.seed, kind, "value")
        columns.append([f"{name} {'=<>'[o]} {v}" for o, v in zip(operators, values, strict=True)])
    return [f"event_type = '{kind}' AND {' AND '.join(row)}" for row in zip(*columns, strict=True)]


def _drawn(name: str, size: int, count: int, seed: int, *uses: str) -> list[int]:
    return counters.below(counters.row_numbers(0, count), size, name, seed, *uses).tolist()


def _matching(engine: bf.Engine, events: list[dict[str, Any]]) -> Any:
    def match(count: int) -> None:
        for event in events[:count]:
            engine.match(event)

    return match
