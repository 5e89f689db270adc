"""The engine against what else evaluates conditions in Python: the same subscriptions, translated,
and the same events.

Subscriptions are `a = ? AND (b < ? OR c > ?) AND NOT d = ?` over ten integer attributes which every
event binds, so that no language's idea of a missing value matters. Each peer compiles its
conditions once and is timed without that. `rule-engine`, CEL and Python's lambdas look at one event
after the other; Polars and DuckDB evaluate each subscription over all events at once, a few hundred
columns a query. A peer that is not installed is skipped (`pip install 'boolfilter[peers]'`), as is
one with more subscriptions than it gets through in bounded time.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import boolfilter as bf
from benchmarks.dialects import CEL, PYTHON, RULE_ENGINE, SQL
from benchmarks.measure import Run, micros_per_event, seconds_of, use_cores
from benchmarks.report import Report
from boolfilter.expressions import And, Expression

ATTRIBUTES = tuple(f"a{number}" for number in range(10))
_VALUES = 1_000
_COLUMNS = 250  # subscriptions in one query of a table engine
_CHECKED = 20

Event = dict[str, int]
Pairs = set[tuple[int, int]]  # of event and subscription
Matching = Callable[[Sequence[Event]], Pairs]


class Peer(NamedTuple):
    """How a package matches, and how many subscriptions it is asked to match at most."""

    name: str
    module: str
    compile: Callable[[Sequence[Expression]], Matching]
    most: int
    all_at_once: bool = False


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    command.add_argument("--events", type=int, default=500)
    command.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    present = [peer for peer in PEERS if _is_installed(peer, report)]
    events = make_events(options.events, options.seed)
    for size in options.sizes:
        expressions = make_subscriptions(size, options.seed)
        engine = _engine(expressions)
        micros = _micros(PEERS[0], engine, events, options.repeats)
        expected = engine(events[:_CHECKED])
        assert expected, "nothing matches"
        for peer in present:
            if size > peer.most:
                continue
            row = {"subscriptions": size, "peer": peer.name}
            if peer is not PEERS[0]:
                matching = peer.compile(expressions)
                found = matching(events[:_CHECKED])
                assert found == expected, f"{peer.name} does not find the same"
                taken = _micros(peer, matching, events, options.repeats)
                report.add(**row, micros=taken, events_a_second=1e6 / taken, ratio=taken / micros)
            else:
                report.add(**row, micros=micros, events_a_second=1e6 / micros, ratio=1.0)
    report.note("micros: an event; ratio: to the engine; every peer found the same matches")


def make_subscriptions(count: int, seed: int) -> list[Expression]:
    """Conditions in the subset of all languages.

    >>> print(make_subscriptions(1, seed=1)[0])
    a8 = 273 AND (a4 < 413 OR a7 > 871) AND NOT a0 = 409
    """
    random = np.random.default_rng(seed)
    names = random.permuted(np.tile(np.array(ATTRIBUTES), (count, 1)), axis=1)[:, :4].tolist()
    values = random.integers(_VALUES, size=(count, 4)) // (1, 2, 2, 1)
    return [
        And(
            [
                bf.attr(a) == w,
                (bf.attr(b) < x) | (bf.attr(c) > _VALUES - 1 - y),
                ~(bf.attr(d) == z),
            ]
        )
        for (a, b, c, d), (w, x, y, z) in zip(names, values.tolist(), strict=True)
    ]


def make_events(count: int, seed: int) -> list[Event]:
    values = np.random.default_rng([seed, 1]).integers(_VALUES, size=(count, len(ATTRIBUTES)))
    return [dict(zip(ATTRIBUTES, row, strict=True)) for row in values.tolist()]


def _is_installed(peer: Peer, report: Report) -> bool:
    try:
        importlib.import_module(peer.module)
    except ImportError:
        report.note(f"skipped {peer.name}: {peer.module} is not installed")
        return False
    return True


def _micros(peer: Peer, matching: Matching, events: list[Event], repeats: int) -> float:
    if peer.all_at_once:
        seconds = [seconds_of(lambda: matching(events)) for _ in range(repeats)]
        return float(np.median(seconds)) / len(events) * 1e6
    run: Run = lambda count: matching(events[:count])  # noqa: E731
    return micros_per_event({peer.name: (run, len(events))}, repeats)[peer.name]


def _engine(expressions: Sequence[Expression]) -> Matching:
    engine = bf.Engine()
    engine.subscribe_many(enumerate(expressions))

    def match(events: Sequence[Event]) -> Pairs:
        found: Any = enumerate(engine.match_many(events))
        return {(row, id) for row, ids in found for id in ids}

    return match


def _one_by_one(tests: Sequence[Callable[[Event], Any]]) -> Matching:
    def match(events: Sequence[Event]) -> Pairs:
        return {
            (row, id) for row, event in enumerate(events) for id, test in enumerate(tests)
            if test(event)
        }  # fmt: skip

    return match


def _lambdas(expressions: Sequence[Expression]) -> Matching:
    return _one_by_one([eval(f"lambda e: {PYTHON.text(each)}") for each in expressions])


def _rule_engine(expressions: Sequence[Expression]) -> Matching:
    import rule_engine

    return _one_by_one([rule_engine.Rule(RULE_ENGINE.text(each)).matches for each in expressions])


def _cel(expressions: Sequence[Expression]) -> Matching:
    import cel

    return _one_by_one([cel.compile(CEL.text(each)).execute for each in expressions])


def _polars(expressions: Sequence[Expression]) -> Matching:
    import polars as pl

    conditions = [pl.sql_expr(SQL.text(each)).alias(str(id)) for id, each in enumerate(expressions)]

    def match(events: Sequence[Event]) -> Pairs:
        frame = pl.DataFrame(list(events))
        return _pairs(
            frame.select(conditions[first : first + _COLUMNS]).to_numpy()
            for first in range(0, len(conditions), _COLUMNS)
        )

    return match


def _duckdb(expressions: Sequence[Expression]) -> Matching:
    import duckdb
    import pyarrow as pa

    conditions = [f"{SQL.text(each)} AS s{id}" for id, each in enumerate(expressions)]
    connection = duckdb.connect(config={"threads": 1})

    def match(events: Sequence[Event]) -> Pairs:
        connection.register("events", pa.Table.from_pylist(list(events)))
        queries = (
            f"SELECT {', '.join(conditions[first : first + _COLUMNS])} FROM events"
            for first in range(0, len(conditions), _COLUMNS)
        )
        return _pairs(
            np.stack([*connection.execute(query).fetchnumpy().values()], axis=1)
            for query in queries
        )

    return match


def _pairs(parts: Any) -> Pairs:
    found: Pairs = set()
    for number, part in enumerate(parts):
        truth: NDArray[np.bool_] = part
        rows, columns = np.nonzero(truth)
        found.update(zip(rows.tolist(), (columns + number * _COLUMNS).tolist(), strict=True))
    return found


PEERS = (
    Peer("boolfilter", "boolfilter", _engine, most=10**9),
    Peer("Python lambdas", "builtins", _lambdas, most=100_000),
    Peer("common-expression-language", "cel", _cel, most=10_000),
    Peer("rule-engine", "rule_engine", _rule_engine, most=10_000),
    Peer("Polars", "polars", _polars, most=10_000, all_at_once=True),
    Peer("DuckDB", "duckdb", _duckdb, most=10_000, all_at_once=True),
)
