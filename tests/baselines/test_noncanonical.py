from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.baselines.noncanonical import NonCanonical
from boolfilter.compiling import compile_segment
from boolfilter.events import flatten
from boolfilter.forest import forest_of
from boolfilter.trees import (
    ChildCountError,
    ChildWidthError,
    Members,
    Node,
    decode,
    encode_paper,
)
from boolfilter.workloads import get
from tests.strategies import events, expressions, nulls


def matcher_of(texts):
    return NonCanonical.from_forest(forest_of(bf.normalise(bf.parse(text)) for text in texts))


def found(matcher, *batch):
    event, ordinal = matcher.match(matcher.encoder.encode([flatten(one) for one in batch]))
    return list(zip(event.tolist(), ordinal.tolist(), strict=True))


@given(st.lists(expressions, max_size=8), st.lists(events, max_size=5), nulls)
def test_the_papers_algorithm_matches_as_the_oracle_does(subscriptions, batch, nulls):
    normal = [bf.normalise(expression, nulls=nulls) for expression in subscriptions]
    matcher = NonCanonical.from_forest(forest_of(normal))
    expected = [
        (place, number)
        for place, event in enumerate(batch)
        for number, expression in enumerate(subscriptions)
        if bf.evaluate(expression, event, nulls=nulls)
    ]
    assert found(matcher, *batch) == expected
    assert found(matcher, *batch) == expected  # the bit vectors were left clean


@given(st.lists(expressions, min_size=1, max_size=6), nulls)
def test_trees_have_the_bytes_of_the_papers_format(subscriptions, nulls):
    forest = forest_of(bf.normalise(expression, nulls=nulls) for expression in subscriptions)
    segment, matcher = compile_segment(forest), NonCanonical.from_forest(forest)
    for ordinal, row in enumerate(segment.rows_of(np.arange(len(forest))).tolist()):
        ours = segment.tree_bytes[segment.tree_start[row] : segment.tree_start[row + 1]]
        data = matcher.data[matcher.location[ordinal] : matcher.location[ordinal + 1]]
        tree = renumbered(decode(ours.tobytes()), matcher.index.used.tolist())
        assert encode_paper(tree) == data.tobytes()


def renumbered(tree, used):
    if isinstance(tree, Node):
        return replace(tree, children=tuple(renumbered(child, used) for child in tree.children))
    if isinstance(tree, Members):
        return replace(tree, ids=tuple(map(used.index, tree.ids)))
    return replace(tree, id=used.index(tree.id))


def test_what_is_true_of_nothing_is_always_a_candidate():
    matcher = matcher_of(["NOT a = 1", "NOT a = 1 AND b = 2", "TRUE", "FALSE", "a IS NULL"])
    assert matcher.always.tolist() == [0, 2, 4]
    assert found(matcher, {}, {"a": 1}, {"b": 2}) == [
        (0, 0), (0, 2), (0, 4), (1, 2), (2, 0), (2, 1), (2, 2), (2, 4),
    ]  # fmt: skip


def test_every_fulfilled_predicate_leads_to_candidates():
    matcher = matcher_of(["a = 1 AND b = 1", "a = 1 AND b = 1", "b = 1 AND c = 1", "c = 2"])
    assert found(matcher, {"a": 1, "b": 1}) == [(0, 0), (0, 1)]
    assert matcher.work_per_event() == (2.0, 3.0)


def test_more_matches_than_expected_are_all_returned():
    matcher = matcher_of([f"a > {n}" for n in range(5000)])
    pairs = found(matcher, {"a": 10**6}, {"a": 0}, {"a": 4000})
    assert pairs == [(0, n) for n in range(5000)] + [(2, n) for n in range(4000)]


def test_what_the_byte_format_has_no_room_for_is_refused():
    many = ", ".join(map(str, range(256)))
    with pytest.raises(ChildCountError):
        matcher_of([f"x IN ({many})"])
    block = " OR ".join(f"a{n} = 1 AND b{n} = 1" for n in range(250))
    wide = " OR ".join(f"c{n} = {n} AND ({block})" for n in range(20))
    with pytest.raises(ChildWidthError):
        matcher_of([f"d = 1 AND ({wide})"])


@pytest.mark.parametrize("name", ["pairs", "lesubscribe", "skewed"])
def test_it_finds_what_a_segment_finds(name):
    workload = get(name)
    forest = forest_of(bf.normalise(bf.parse(text)) for text in workload.texts(0, 2_000))
    segment, matcher = compile_segment(forest), NonCanonical.from_forest(forest)
    batch = workload.events(0, 20)
    items = segment.encoder.encode([flatten(event) for event in batch])
    assert found(matcher, *batch) == list(
        zip(*(part.tolist() for part in segment.match(items)), strict=True)
    )
