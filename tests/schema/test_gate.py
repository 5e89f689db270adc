"""Engines with a schema against the naive reading of it, by every way of matching."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.evaluate import Nulls
from tests.schema.naive import satisfies
from tests.schema.strategies import (
    ATTRIBUTES,
    MOMENTS,
    PREDICATES,
    SCHEMA,
    events,
    expressions,
    types,
)
from tests.strategies import nulls

ALL = [*PREDICATES, *map(bf.Not, PREDICATES)]
quickly = settings(max_examples=30, deadline=None)


def expected(subscriptions: list[bf.Expression], event: dict[str, Any], nulls: Nulls) -> list[int]:
    return [
        number
        for number, expression in enumerate(subscriptions)
        if satisfies(SCHEMA, expression, event, nulls)
    ]


def is_instance(event: dict[str, Any]) -> bool:
    try:
        SCHEMA.check(event)
    except bf.EventRuleError:
        return False
    return True


@pytest.fixture(scope="module", params=["false", "sql"])
def every(request: pytest.FixtureRequest) -> bf.Engine:
    """An engine with every predicate and its negation."""
    engine = bf.Engine(schema=SCHEMA, nulls=request.param)
    for number, expression in enumerate(ALL):
        engine.subscribe(number, str(expression) if number % 2 else expression)
    return engine


@quickly
@given(st.lists(events(), max_size=4))
def test_every_predicate_matches_as_the_schema_reads(
    every: bf.Engine, batch: list[dict[str, Any]]
) -> None:
    found = [expected(ALL, event, every.nulls) for event in batch]
    assert [every.match(event) for event in batch] == found
    assert every.match_many(batch) == found


@settings(max_examples=25, deadline=None)
@given(st.lists(expressions, min_size=1, max_size=5), st.lists(events(), max_size=4), nulls)
def test_an_engine_with_a_schema_matches_as_the_schema_reads(
    subscriptions: list[bf.Expression], batch: list[dict[str, Any]], nulls: Nulls
) -> None:
    engine = bf.Engine(schema=SCHEMA, nulls=nulls)
    for number, expression in enumerate(subscriptions):
        engine.subscribe(number, str(expression) if number % 2 else expression)
    found = [expected(subscriptions, event, nulls) for event in batch]
    for number, expression in enumerate(subscriptions):
        for event, matches in zip(batch, found, strict=True):
            assert SCHEMA.evaluate(expression, event, nulls=nulls) == (number in matches)
            assert engine.explain(number, event).matches == (number in matches)
    assert [engine.match(event) for event in batch] == found  # from the buffer
    engine.optimise()
    assert engine.match_many(batch) == found


@settings(max_examples=20, deadline=None)
@given(st.lists(expressions, min_size=1, max_size=4), st.lists(events(), max_size=4), nulls)
def test_what_an_engine_gives_back_can_be_subscribed_again(
    subscriptions: list[bf.Expression], batch: list[dict[str, Any]], nulls: Nulls
) -> None:
    engine = bf.Engine(schema=SCHEMA, nulls=nulls)
    engine.subscribe_many(list(enumerate(subscriptions)))
    again = bf.Engine(schema=SCHEMA)  # a normal form is two-valued
    again.subscribe_many([(number, str(engine[number])) for number in engine])
    assert again.match_many(batch) == engine.match_many(batch)


@pytest.fixture(scope="module")
def checking() -> dict[str, bf.Engine]:
    """An engine for each way to treat events that break a rule."""
    engines = {how: bf.Engine(schema=SCHEMA, validate=how) for how in ("raise", "drop", "off")}
    for engine in engines.values():
        engine.subscribe_many([("not", "NOT price = 1"), ("any", "TRUE")])
    return engines


@quickly
@given(st.lists(events(), max_size=6))
def test_events_that_break_a_rule_raise_or_are_dropped(
    checking: dict[str, bf.Engine], batch: list[dict[str, Any]]
) -> None:
    raising, dropping, taking = (checking[how] for how in ("raise", "drop", "off"))
    before = dropping.dropped
    for event in batch:
        if is_instance(event):
            matches = taking.match(event)
            assert raising.match(event) == matches
        else:
            matches = []
            with pytest.raises(bf.EventRuleError):
                raising.match(event)
        assert dropping.match(event) == matches
    broken = sum(not is_instance(event) for event in batch)
    assert dropping.dropped - before == broken
    assert dropping.match_many(batch) == [dropping.match(event) for event in batch]
    assert dropping.dropped - before == 3 * broken
    assert taking.dropped == raising.dropped == 0


# -- Arrow ------------------------------------------------------------------------------------

texts = st.sampled_from(["seat", "chair", "stool", "swing", "outdoor", "sofa", "red", "green"])
COLUMNS: dict[str, list[tuple[pa.DataType, st.SearchStrategy[Any]]]] = {
    "price": [
        (pa.int64(), st.integers(0, 3)),
        (pa.float64(), st.sampled_from([0.0, 2.5, float("nan")])),
        (pa.list_(pa.int64()), st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=3)),
        (pa.string(), texts),
    ],
    "category": [
        (pa.string(), texts),
        (pa.dictionary(pa.int8(), pa.string()), texts),
        (pa.list_(pa.string()), st.lists(st.one_of(st.none(), texts), max_size=3)),
        (pa.int64(), st.integers(0, 3)),
    ],
    "other": [(pa.large_string(), texts)],
    "colour": [(pa.string(), texts), (pa.list_(pa.string()), st.lists(texts, max_size=2))],
    "at": [
        (pa.string(), st.sampled_from([*MOMENTS, "never"])),
        (pa.list_(pa.string()), st.lists(st.sampled_from([*MOMENTS, "never"]), max_size=3)),
        (pa.timestamp("us", "UTC"), st.integers(1_714_521_600_000_000, 1_714_521_600_000_002)),
        (pa.date32(), st.integers(19_843, 19_845)),
    ],
    "size": [(pa.struct([("width", pa.int64())]), st.just({"width": 2}))],
    "sold": [(pa.bool_(), st.booleans()), (pa.list_(pa.bool_()), st.lists(st.booleans()))],
    "name": [(pa.string(), texts)],
    "unheard": [(pa.int64(), st.just(1)), (pa.binary(), st.none())],
    "event_type": [
        (pa.string(), st.sampled_from(["toy", "seat", "thing", "thing", "thin"])),
        (pa.list_(pa.string()), types),
    ],
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Rows of one type of events mostly, so that each rule is the one that is broken."""
    rows = draw(st.integers(0, 6))
    kind = draw(st.sampled_from(sorted(SCHEMA.event_types)))
    known = {name.split(".")[0] for name in SCHEMA.event_types[kind]}
    more = draw(st.lists(st.sampled_from(sorted(COLUMNS)), max_size=2))
    chosen = {"event_type", *known, *more} - set(draw(st.lists(st.sampled_from(sorted(known)))))
    columns = {}
    for name in sorted(chosen):
        type, values = COLUMNS[name][draw(st.sampled_from([0, 0, 1, 2, 3])) % len(COLUMNS[name])]
        if name == "event_type" and draw(st.integers(0, 4)):
            type, values = pa.string(), st.just(kind)
        nullable = st.one_of(st.none(), values) if not draw(st.integers(0, 2)) else values
        column = draw(st.lists(nullable, min_size=rows, max_size=rows))
        columns[name] = pa.array(column, type)
    return pa.table(columns)


@quickly
@given(tables())
def test_arrow_rows_match_as_dicts_do(every: bf.Engine, table: pa.Table) -> None:
    found = every.match_arrow(table)
    rows = [
        (row, number)
        for row, event in enumerate(table.to_pylist())
        for number in expected(ALL, event, every.nulls)
    ]
    pairs = zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True)
    assert list(pairs) == rows


@settings(max_examples=80, deadline=None)
@given(tables())
def test_arrow_rows_break_the_rules_that_dicts_break(
    checking: dict[str, bf.Engine], table: pa.Table
) -> None:
    dropping, raising = checking["drop"], checking["raise"]
    before = dropping.dropped
    good = [row for row, event in enumerate(table.to_pylist()) if is_instance(event)]
    assert rows_of(dropping.match_arrow(table)) == good
    assert dropping.dropped - before == table.num_rows - len(good)
    if len(good) == table.num_rows:
        assert rows_of(raising.match_arrow(table)) == good
        return
    first = next(row for row in range(table.num_rows) if row not in good)
    with pytest.raises(bf.EventRuleError) as caught:
        raising.match_arrow(table)
    assert caught.value.__notes__ == [f"in row {first} of the table"]
    with pytest.raises(bf.EventRuleError) as single:
        SCHEMA.check(table.to_pylist()[first])
    assert caught.value.args == single.value.args


def test_an_event_cannot_say_itself_what_it_is_a_kind_of(every: bf.Engine) -> None:
    forged = {"category (is a)": ["seat"], "category (is a proper)": ["seat"], "price": 1}
    matches = expected(ALL, {"price": 1}, every.nulls)
    assert every.match(forged) == matches
    assert every.match_arrow(pa.Table.from_pylist([forged]))["subscription"].to_pylist() == matches


def rows_of(found: pa.Table) -> list[int]:
    return list(dict.fromkeys(found["event"].to_pylist()))


def test_attributes_are_covered() -> None:
    assert {name.split(".")[0] for name in ATTRIBUTES} < COLUMNS.keys()
