from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.compiling import compile_segment
from boolfilter.events import flatten
from boolfilter.forest import forest_of
from boolfilter.segment import dead_bits
from boolfilter.trees import decode, encode
from tests.strategies import events, expressions, nulls


def compiled(texts, sample=None):
    return compile_segment(forest_of(bf.normalise(bf.parse(text)) for text in texts), sample)


@given(st.lists(expressions, max_size=8), st.lists(events, max_size=5), nulls, st.booleans())
def test_a_segment_matches_as_the_oracle_does(subscriptions, batch, nulls, observed):
    normal = [bf.normalise(expression, nulls=nulls) for expression in subscriptions]
    flat = [flatten(event) for event in batch]
    segment = compile_segment(forest_of(normal), flat if observed else None)
    event, ordinal = segment.match(segment.encoder.encode(flat))
    assert list(zip(event.tolist(), ordinal.tolist(), strict=True)) == [
        (place, number)
        for place, event in enumerate(batch)
        for number, expression in enumerate(subscriptions)
        if bf.evaluate(expression, event, nulls=nulls)
    ]


@given(st.lists(expressions, min_size=1, max_size=6), nulls)
def test_expressions_come_back_from_a_segment(subscriptions, nulls):
    normal = [bf.normalise(expression, nulls=nulls) for expression in subscriptions]
    segment = compile_segment(forest_of(normal))
    assert len(segment) == len(normal)
    for ordinal, expression in enumerate(normal):
        assert bf.normalise(segment.expression(ordinal)) == bf.normalise(expression)


@given(st.lists(expressions, min_size=1, max_size=6))
def test_stored_trees_are_in_the_format_of_the_specification(subscriptions):
    segment = compile_segment(forest_of(bf.normalise(e) for e in subscriptions))
    for row in range(segment.rows):
        data = segment.tree_bytes[segment.tree_start[row] : segment.tree_start[row + 1]]
        assert encode(decode(data.tobytes())) == data.tobytes()


def test_long_lists_and_wide_trees_are_coded():
    many = ", ".join(str(number) for number in range(0, 2000, 2))
    wide = " AND ".join(f"(a{n} = {n} OR b{n} > {n} AND NOT c = {n})" for n in range(300))
    segment = compiled([f"x IN ({many}) AND y = 1", f"NOT x IN ({many})", wide, wide + " AND z"])
    assert segment.match_one({"x": 4, "y": 1}) == [0]
    assert segment.match_one({"x": 5, "y": 1}) == [1]
    assert segment.match_one({"x": (5, 6), "y": 1}) == [0]
    event = {f"a{n}": n for n in range(300)} | {"x": 4}
    assert segment.match_one(event) == [2]
    assert segment.match_one(event | {"z": True}) == [2, 3]
    assert segment.match_one(event | {"a7": 8}) == []


def test_residuals_that_would_repeat_too_much_use_the_whole_tree():
    branches = " OR ".join(f"a{n} = 1 AND b{n} = 1" for n in range(50))
    common = " AND ".join(f"(c{n} = 1 OR d{n} = 1)" for n in range(50))
    segment = compiled([f"({branches}) AND {common}"])
    everything = {f"d{n}": 1 for n in range(50)}
    assert segment.match_one(everything | {"a7": 1, "b7": 1}) == [0]
    assert segment.match_one(everything | {"a7": 1, "b8": 1}) == []
    assert len(segment.code) < 10 * 2 * 200


def test_equal_subscriptions_share_a_row():
    segment = compiled(["a = 1 AND b = 2", "c = 1", "b = 2 AND a = 1.0", "c = 1", "d = 1"])
    assert (len(segment), segment.rows) == (5, 3)
    assert segment.match_one({"a": 1, "b": 2, "c": 1}) == [0, 1, 2, 3]
    assert segment.match_one({"a": 1, "b": 2, "c": 1}, dead_bits([0, 3], 5)) == [1, 2]
    assert [str(segment.expression(n)) for n in (0, 2, 3)] == [
        "a = 1 AND b = 2", "a = 1 AND b = 2", "c = 1",
    ]  # fmt: skip


def test_more_matches_than_expected_are_all_returned():
    segment = compiled([f"a > {n}" for n in range(5000)])
    found = segment.match(segment.encoder.encode([{"a": 10**6}, {"a": 0}, {"a": 4000}]))
    assert np.bincount(found[0], minlength=3).tolist() == [5000, 0, 4000]
    assert segment.match_one({"a": 10**6}, dead_bits(range(10, 5000), 5000)) == list(range(10))


def test_only_what_can_be_true_of_nothing_is_always_evaluated():
    segment = compiled(["NOT a = 1", "NOT a = 1 AND b = 2", "TRUE", "FALSE", "a IS NULL"])
    assert segment.always_evaluated == 3
    assert segment.match_one({}) == [0, 2, 4]


@pytest.mark.parametrize("count", [0, 1])
def test_tiny_segments(count):
    segment = compiled(["a = 1"] * count)
    assert segment.match_one({"a": 1}) == list(range(count))


def test_entries_code_and_lists_of_any_size_find_room():
    many = ", ".join(str(number) for number in range(50))
    lists = [f"x IN ({many}) AND y = {n}" for n in range(500)]
    pairs = [f"a = {n} OR b = {n}" for n in range(10_000)]
    chains = ["z = 1 AND (" + " OR ".join(f"c{n} = 1 AND d = {n}" for n in range(200)) + ")"] * 3
    segment = compiled([*lists, *pairs, *chains])
    assert segment.match_one({"x": 49, "y": 499}) == [499]
    assert segment.match_one({"x": 50, "y": 499}) == []
    assert segment.match_one({"a": 9_999, "b": 0}) == [500, 10_499]
    assert segment.match_one({"z": 1, "c199": 1, "d": 199}) == [10_500, 10_501, 10_502]
    assert str(segment.expression(10_499)) == "a = 9999 OR b = 9999"
