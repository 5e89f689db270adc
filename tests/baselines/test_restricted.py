"""The matchers of papers 003 and 004 on what they accept, with hardly a refusal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from tests.baselines.accepted import ordered_subscriptions, single_valued_events
from tests.strategies import nulls

NAMES = ("treematch", "rapidmatch", "profile-tree")
steps = st.lists(st.tuples(st.integers(0, 5), st.none() | ordered_subscriptions), max_size=8)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(steps=steps, batch=st.lists(single_valued_events, max_size=4), nulls=nulls)
def test_what_is_accepted_is_matched_as_by_the_oracle_and_never_refused(name, steps, batch, nulls):
    matcher = bf.matcher(name, nulls=nulls)
    live: dict[int, bf.Expression] = {}
    for id, expression in steps:
        if expression is None:
            if live.pop(id, None) is not None:
                matcher.unsubscribe(id)
        elif id not in live:
            matcher.subscribe(id, expression)
            live[id] = expression
        expected = [
            [id for id, each in live.items() if bf.evaluate(each, event, nulls=nulls)]
            for event in batch
        ]
        assert matcher.match_many(batch) == expected


@given(st.lists(ordered_subscriptions, min_size=1, max_size=4), single_valued_events)
def test_the_orders_of_a_profile_tree_match_alike(subscriptions, event):
    found = []
    for values in ("natural", "V2", "binary"):
        for attributes in ("natural", "A1"):
            matcher = bf.matcher("profile-tree", values=values, attributes=attributes)
            matcher.subscribe_many(enumerate(subscriptions))
            found.append(matcher.match(event))
    assert found == [found[0]] * len(found)


def test_a_profile_tree_refuses_predicates_that_are_no_range():
    matcher = bf.matcher("profile-tree")
    with pytest.raises(bf.UnsupportedError, match="no subranges for name LIKE 'a%b'"):
        matcher.subscribe("alice", "price < 10 AND name LIKE 'a%b'")
    assert len(matcher) == 0


def test_a_profile_tree_refuses_events_with_several_values_of_an_asked_attribute():
    matcher = bf.matcher("profile-tree")
    matcher.subscribe("alice", "price < 10")
    with pytest.raises(bf.UnsupportedError, match="not several values"):
        matcher.match({"price": [5, 20]})
    assert matcher.match({"price": 5, "tags": ["x", "y"]}) == ["alice"]


def test_all_others_here_take_such_events():
    for name in ("engine", "naive", "noncanonical", "counting", "counting-variant", *NAMES[:2]):
        matcher = bf.matcher(name)
        matcher.subscribe("alice", "price < 10 AND price > 15")
        assert matcher.match({"price": [5, 20]}) == ["alice"]


def test_a_profile_tree_is_begun_anew_when_it_has_grown_too_large(monkeypatch):
    monkeypatch.setattr("boolfilter.baselines.profile_matcher._MOST_CELLS", 40)
    matcher = bf.matcher("profile-tree")
    matcher.subscribe_many((n, f"a = {n} AND b > {n}") for n in range(5))
    for _ in range(2):
        for n in range(5):
            assert matcher.match({"a": n, "b": n + 1}) == [n]
    assert matcher._profiles.tree.cells_kept < 200
