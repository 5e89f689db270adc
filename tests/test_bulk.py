from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter import bulk
from tests.strategies import ATTRIBUTES, events, nulls, values

comparisons = st.builds(
    "{} {} {}".format,
    st.sampled_from([*map(bf.expressions.format_name, ATTRIBUTES), "date", "İ"]),
    st.sampled_from(["=", "==", "<", "<=", ">", ">=", "<>", "!="]),
    st.one_of(
        st.sampled_from(
            ["1", "1.0", "-1", "+2", "9007199254740993", "1e400", "TRUE", "FALSE", ".5"]
        ),
        st.sampled_from(["'a'", "'it''s'", "''", "DATE '2024-01-01'"]),
    ),
)
leaves = st.one_of(
    comparisons, comparisons, comparisons,
    st.sampled_from(
        ["a BETWEEN 1 AND 2", "a BETWEEN -1 AND 1.5", "b NOT BETWEEN 1 AND 3", "b BETWEEN 2 AND 2",
         "a BETWEEN 2 AND 1", "b NOT BETWEEN 'a' AND 'b'", "a BETWEEN 'b' AND 'a'",
         "a BETWEEN 1 AND 9007199254740993"]
    ),
    st.sampled_from(
        ["a", "EXISTS b", "c IS NULL", "a IN (1, 2)", "b LIKE 'a%'", "TRUE", "a CONTAINS TRUE"]
    ),
)  # fmt: skip
outlines = st.sampled_from(
    ["{}", "NOT {}", "{} AND {}", "({} OR {}) AND ({} OR {})", "{} XOR {}", "NOT ({} OR {} AND {})"]
)


@st.composite
def texts(draw):
    outline = draw(outlines)
    return outline.format(*(draw(leaves) for _ in range(outline.count("{}"))))


@given(st.lists(texts(), min_size=1, max_size=12), st.lists(events, max_size=4), nulls)
def test_a_load_of_texts_matches_as_the_oracle_does(load, batch, nulls):
    engine = bf.Engine(nulls=nulls)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "_LEAST_WORTH_COLUMNS", 1)
        engine.subscribe_many(enumerate(load))
    for event in batch:
        assert engine.match(event) == [
            number
            for number, text in enumerate(load)
            if bf.evaluate(bf.parse(text), event, nulls=nulls)
        ]


def test_chunks_and_single_subscriptions_keep_their_order(monkeypatch):
    monkeypatch.setattr(bulk, "_ROWS_A_CHUNK", 7)
    load = [
        (n, ["a = {}", "a > {} OR b = 'x'", "b LIKE '{}%'", "a IN ({}, 5)"][n % 4].format(n))
        for n in range(100)
    ]
    engine = bf.Engine()
    engine.subscribe_many(load)
    assert list(engine) == list(range(100))
    assert engine.match({"a": 8, "b": "2"}) == [
        n for n, text in load if bf.evaluate(bf.parse(text), {"a": 8, "b": "2"})
    ]


def test_the_first_bad_text_of_a_load_is_named_wherever_it_hides():
    good = [(n, f"a = {n}") for n in range(50)]
    with pytest.raises(bf.BadSubscriptionError) as caught:
        bf.Engine().subscribe_many([*good, ("x", "a = nan"), ("y", "a ="), *good])
    assert (caught.value.position, caught.value.id) == (50, "x")
    with pytest.raises(bf.BadSubscriptionError) as caught:
        bf.Engine(limits=bf.Limits(leaves=1)).subscribe_many([*good, ("x", "a = 1 AND b = 2")])
    assert isinstance(caught.value.reason, bf.LeafCountError)


# -- templates ------------------------------------------------------------------------------------


@given(
    st.sampled_from(
        [
            "a = ?", "NOT a < ?", "a <> ? OR b = 1", "a = ? AND (b > ? OR c IS NULL)",
            "a BETWEEN ? AND ?", "NOT a BETWEEN ? AND ?", "a NOT BETWEEN ? AND ? OR b = ?",
            "a IN (?, 1)", "a CONTAINS ?", "a = ? XOR b = ?",
        ]
    ),
    st.data(),
    nulls,
)  # fmt: skip
def test_a_template_is_its_texts(template, data, nulls):
    rows = data.draw(st.integers(1, 4))
    columns = [
        data.draw(st.lists(values, min_size=rows, max_size=rows))
        for _ in range(template.count("?"))
    ]
    whole = [template.replace("?", "{}").format(*row) for row in _literals(columns)]
    engine = bf.Engine(nulls=nulls)
    try:
        engine.subscribe_template(template, list(range(rows)), columns)
    except bf.BadSubscriptionError:
        assert "BETWEEN" in template  # bounds of two kinds
        return
    for event in data.draw(st.lists(events, max_size=3)):
        assert engine.match(event) == [
            number
            for number, text in enumerate(whole)
            if bf.evaluate(bf.parse(text), event, nulls=nulls)
        ]


def _literals(columns):
    return [[bf.values.format_value(value) for value in row] for row in zip(*columns, strict=True)]


def test_columns_of_a_template_may_be_arrays():
    engine = bf.Engine()
    moments = np.array(["2024-01-01", "2024-06-01"], "datetime64[ns]")
    engine.subscribe_template("n > ? AND t >= ?", ["x", "y"], [np.array([2**53, 5]), moments])
    engine.subscribe_template("s = ? AND b = ?", [1, 2], [np.array(["u", "v"]), [True, False]])
    assert engine.match({"n": 2**53 + 1, "t": datetime(2024, 7, 1, tzinfo=UTC)}) == ["x", "y"]
    assert engine.match({"n": 2**53, "t": datetime(2024, 7, 1, tzinfo=UTC)}) == ["y"]
    assert engine.match({"s": "v", "b": False}) == [2]


@pytest.mark.parametrize(
    ("template", "ids", "columns"),
    [
        ("a = ?", [1, 2], [[1]]),
        ("a = ?", [1], []),
        ("a = ?", [1, 1], [[1, 2]]),
        ("a = ?", [1], [[None]]),
        ("a = ?", [1], [np.array([np.nan])]),
        ("a = ? AND", [1], [[1]]),
        ("a LIKE ?", [1], [[5]]),
        ("a = ?", ["taken"], [[1]]),
    ],
)
def test_a_bad_template_changes_nothing(template, ids, columns):
    engine = bf.Engine()
    engine.subscribe("taken", "a = 1")
    with pytest.raises(bf.BoolFilterError):
        engine.subscribe_template(template, ids, columns)
    assert list(engine) == ["taken"]


def test_question_marks_in_strings_and_names_are_no_holes():
    engine = bf.Engine()
    engine.subscribe_template("a = '?' AND \"b?\" = ? -- ?", [1], [[5]])
    assert engine.match({"a": "?", "b?": 5}) == [1]
