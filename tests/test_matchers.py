from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.matchers import MATCHERS
from tests.strategies import events, expressions, nulls

# Those that have no room for some events, such as ones with several values of an attribute.
REFUSE_EVENTS = {"gough", "profile-tree"}

ids = st.integers(0, 9) | st.sampled_from(["alice", "bob"])
steps = st.lists(st.tuples(ids, st.none() | expressions), max_size=8)


@pytest.mark.parametrize("name", MATCHERS)
@settings(max_examples=40)
@given(steps=steps, batch=st.lists(events, max_size=4), nulls=nulls)
def test_every_matcher_agrees_with_the_oracle_as_subscriptions_come_and_go(
    name, steps, batch, nulls
):
    matcher = bf.matcher(name, nulls=nulls)
    live: dict[object, bf.Expression] = {}
    for id, expression in steps:
        if expression is None:
            if id in live:
                matcher.unsubscribe(id)
                del live[id]
        elif id not in live:
            try:
                matcher.subscribe(id, expression)
            except (bf.UnsupportedError, bf.LimitError):
                assert id not in matcher
            else:
                live[id] = expression
        accepted = [event for event in batch if takes(name, matcher, event)]
        expected = [
            [id for id, each in live.items() if bf.evaluate(each, event, nulls=nulls)]
            for event in accepted
        ]
        assert matcher.match_many(accepted) == expected
        assert [matcher.match(event) for event in accepted] == expected
        assert len(matcher) == len(live)


def takes(matcher_name, matcher, event):
    try:
        matcher.match(event)
    except bf.UnsupportedError:
        assert matcher_name in REFUSE_EVENTS
        return False
    return True


@pytest.mark.parametrize("name", MATCHERS)
def test_a_bad_id_is_refused_by_every_matcher_and_changes_nothing(name):
    matcher = bf.matcher(name)
    matcher.subscribe("alice", "a = 1")
    with pytest.raises(bf.SubscriptionIdError, match="in use"):
        matcher.subscribe("alice", "a = 2")
    with pytest.raises(bf.UnknownSubscriptionError):
        matcher.unsubscribe("bob")
    with pytest.raises(bf.SubscriptionSyntaxError):
        matcher.subscribe("bob", "a = ")
    assert "alice" in matcher
    assert "bob" not in matcher
    assert matcher.match({"a": 1}) == ["alice"]
    assert matcher.match({"a": 2}) == []


def test_an_unknown_name_is_an_error_that_lists_the_known_ones():
    with pytest.raises(bf.BoolFilterError, match=r"no matcher 'magic'; there are engine, naive"):
        bf.matcher("magic")
