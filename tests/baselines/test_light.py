from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.baselines.light import (
    LightTrees,
    Patterns,
    block_set,
    light_set,
    rapid_match,
    tree_match,
)


def bits(*texts: str) -> np.ndarray:
    return np.array([list(map(int, text)) for text in texts], np.uint8)


def matches(pattern: str, event: str) -> bool:
    """The definition of the paper: 0 and 1 match themselves, * matches either."""
    return all(asked in ("*", value) for asked, value in zip(pattern, event, strict=True))


def found(trees: LightTrees, *events: str) -> list[list[int]]:
    event, ordinal = trees.match(bits(*events))
    return [ordinal[event == number].tolist() for number in range(len(events))]


def kinds(patterns: Patterns, most_ones: int) -> list[LightTrees]:
    return [
        grown
        for trivial in (True, False)
        for grown in (
            tree_match(patterns, trivial_tests=trivial),
            rapid_match(patterns, most_ones, trivial_tests=trivial),
        )
    ]


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[str], list[str], int]:
    length = draw(st.integers(1, 9))
    exactly = {"min_size": length, "max_size": length}
    patterns = draw(st.lists(st.text("01***", **exactly), min_size=1, max_size=8))
    events = draw(st.lists(st.text("001", **exactly), min_size=1, max_size=6))
    return patterns, events, draw(st.integers(0, length + 1))


@given(problems())
def test_trees_find_what_the_definition_says(problem):
    patterns, events, most_ones = problem
    expected = [
        [number for number, pattern in enumerate(patterns) if matches(pattern, event)]
        for event in events
    ]
    for trees in kinds(Patterns.parse(patterns), most_ones):
        assert found(trees, *events) == expected


@given(problems())
def test_a_light_set_and_one_of_its_block_sets_hold_all_that_match(problem):
    """Propositions 1 and 2."""
    texts, events, _ = problem
    patterns = Patterns.parse(texts)
    for event in events:
        ones = event.count("1")
        expected = {number for number, text in enumerate(texts) if matches(text, event)}
        assert expected <= set(light_set(patterns, ones).tolist())
        length = len(event)
        clean = [
            block
            for block in range(ones + 1)
            if "1" not in event[block * length // (ones + 1) : (block + 1) * length // (ones + 1)]
        ]
        assert clean
        for block in clean:
            assert expected <= set(block_set(patterns, ones, block).tolist())


def test_the_newspaper_of_section_2():
    """Sports, politics, arts: interest in sports without politics; an article on the last two."""
    for trees in kinds(Patterns.parse(["10*", "*1*", "0**"]), 2):
        assert found(trees, "011", "100") == [[1, 2], [0]]


@given(st.lists(st.text("01", min_size=4, max_size=4), max_size=6), st.text("01*", min_size=4,
       max_size=4))  # fmt: skip
def test_partial_match_reduces_to_matching(data, query):
    """Section 2.1: tuples become subscriptions, a partly specified query becomes an event."""
    subscriptions = ["".join({"0": "0*", "1": "*0"}[bit] for bit in each) for each in data]
    event = "".join({"0": "01", "1": "10", "*": "00"}[value] for value in query)
    expected = [number for number, each in enumerate(data) if matches(query, each)]
    patterns = Patterns.parse(subscriptions or ["1" * 8])
    for trees in kinds(patterns, 4):
        assert found(trees, event) == [expected]


def test_one_branch_where_counting_would_count_each_subscription():
    """Section 3: N subscriptions with * for k - 1 properties and 1 for the last, an event of 0s.

    The paper has counting update kN counters; it is (k - 1) N, for the last predicate does not
    hold. The tree has one path for all of them, far below the bound of 2 N that the paper gives.
    """
    count, length = 1000, 20
    trees = tree_match(Patterns.parse(["*" * (length - 1) + "1"] * count))
    assert found(trees, "0" * length) == [[]]
    assert trees.visited().tolist() == [length]
    assert len(trees.words) == length + 1 + count < 2 * count


def test_an_exactly_5_light_event_has_two_clean_blocks_in_figure_1():
    """Six blocks, of which the event has no 1 in the third and the fifth: T3 or T5 will do."""
    event = "0100" + "1000" + "0000" + "0110" + "0000" + "0001"
    asks_first, asks_third, asks_fifth = (
        "".join("*1**" if block == place else "****" for block in range(6)) for place in (0, 2, 4)
    )
    patterns = Patterns.parse([asks_first, asks_third, asks_fifth])
    assert [block_set(patterns, 5, block).tolist() for block in (2, 4)] == [[0, 2], [0, 1]]
    assert found(rapid_match(patterns, 5), event) == [[0]]


def test_a_light_event_visits_fewer_nodes_than_in_the_tree():
    rng = np.random.default_rng(3)
    wanted = rng.choice(3, size=(500, 40), p=[0.05, 0.05, 0.9]).astype(np.uint8)
    events = np.zeros((40, 40), np.uint8)
    events[np.arange(40), np.arange(40)] = 1
    patterns = Patterns.of_matrix(wanted)
    tree, rapid = tree_match(patterns), rapid_match(patterns, 1)
    tree.match(events)
    rapid.match(events)
    assert (rapid.visited() < tree.visited()).all()


def test_an_event_with_other_properties_is_refused():
    with pytest.raises(bf.UnsupportedError, match="3 properties"):
        tree_match(Patterns.parse(["01*"])).match(bits("0101"))


def test_general_predicates_become_properties_and_not_asks_for_0():
    for name in ("treematch", "rapidmatch"):
        matcher = bf.matcher(name)
        matcher.subscribe("alice", "price < 10 AND NOT brand LIKE 'A%'")
        matcher.subscribe("bob", "price < 10 OR tags CONTAINS 'x'")
        assert matcher.match({"price": 5, "brand": "Acme"}) == ["bob"]
        assert matcher.match({"price": 5, "tags": ["x", "y"]}) == ["alice", "bob"]
