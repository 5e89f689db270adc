from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.schema import hierarchical
from boolfilter.schema.hierarchy import ancestors, parents_of


@st.composite
def hierarchies(draw: st.DrawFn) -> dict[str, list[str]]:
    """Values with parents among the values before them, so without cycles."""
    size = draw(st.integers(1, 8))
    return {
        str(number): [str(draw(st.integers(0, number - 1))) for _ in range(draw(st.integers(0, 2)))]
        if number
        else []
        for number in range(size)
    }


def is_proper_kind(kinds: dict[str, list[str]], value: str, other: str) -> bool:
    return any(parent == other or is_proper_kind(kinds, parent, other) for parent in kinds[value])


@given(hierarchies())
def test_ancestors_are_all_that_a_value_is_a_proper_kind_of(kinds: dict[str, list[str]]) -> None:
    parents = parents_of(kinds)
    for value in kinds:
        found = ancestors(parents, value)
        assert len(found) == len(set(found))
        assert set(found) == {other for other in kinds if is_proper_kind(kinds, value, other)}


@given(hierarchies(), st.data())
def test_an_edge_that_closes_a_cycle_is_refused_with_the_cycle(
    kinds: dict[str, list[str]], data: st.DataObject
) -> None:
    low = data.draw(st.sampled_from(sorted(kinds)))
    top = data.draw(st.sampled_from([low, *ancestors(parents_of(kinds), low)]))
    with pytest.raises(bf.SchemaError) as caught:
        hierarchical({**kinds, top: [*kinds[top], low]})
    cycle = caught.value.cycle
    assert cycle[0] == cycle[-1]
    edges = {**kinds, top: [*kinds[top], low]}
    assert all(above in edges[below] for below, above in pairwise(cycle))


def test_a_long_cycle_is_told_in_short() -> None:
    with pytest.raises(bf.SchemaError) as caught:
        hierarchical({str(n): str((n + 1) % 1000) for n in range(1000)})
    assert len(caught.value.cycle) == 1001
    assert len(str(caught.value)) < 600


def test_a_hierarchy_of_100_000_nodes_is_made_and_asked_in_no_time() -> None:
    rng = random.Random(1)
    kinds = {str(n): str(rng.randrange(n)) if n else None for n in range(100_000)}
    before = time.process_time()
    domain = hierarchical(kinds)
    made = time.process_time() - before
    before = time.process_time()
    depth = [len(ancestors(domain.values, str(n))) for n in range(99_000, 100_000)]
    asked = (time.process_time() - before) / 1000
    assert max(depth) > 10
    assert made < 5, f"{made} s"
    assert asked < 1e-3, f"{asked} s a value"


def test_a_chain_of_100_000_nodes_does_not_recurse() -> None:
    domain = hierarchical({str(n): str(n + 1) for n in range(100_000)})
    assert len(ancestors(domain.values, "0")) == 100_000


@pytest.mark.parametrize(
    ("kinds", "problem"),
    [
        ({}, "at least one value"),
        ({"": None}, "non-empty string"),
        ({"a": [""]}, "non-empty string"),
        ({"a": 5}, "the parents of 'a'"),
        ({"a": "a"}, "'a' is a kind of 'a'"),
    ],
)
def test_what_is_no_hierarchy_is_refused(kinds: dict[str, object], problem: str) -> None:
    with pytest.raises(bf.SchemaError, match=problem):
        hierarchical(kinds)  # type: ignore[arg-type]
