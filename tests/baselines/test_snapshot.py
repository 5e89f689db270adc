"""The snapshot of section 7.5 of the thesis (paper 001), figures 7.3 to 7.7, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import boolfilter as bf
from boolfilter.baselines.counting import Counting, CountingVariant
from boolfilter.forest import forest_of

P1, P2, P3, P4, P5 = predicates = [
    bf.parse(text) for text in ("a > 6", "b = 6", "c < 12", "d = 7", "e < 3")
]
SUBSCRIPTIONS = {"s1": [P1, P2, P3], "s2": [P1, P4], "s3": [P4, P5]}
EVENT = {"c": 8, "e": 0, "d": 9}


def tables(kind: type[Counting]) -> Counting:
    return kind.from_forest(forest_of(bf.all_of(each) for each in SUBSCRIPTIONS.values()))


def number_of(predicate: bf.Expression) -> int:
    """The number of a predicate in the tables: the only one that this event fulfils."""
    value = {"a > 6": {"a": 7}, "b = 6": {"b": 6}, "c < 12": {"c": 11}, "d = 7": {"d": 7},
             "e < 3": {"e": 2}}[str(predicate)]  # fmt: skip
    (number,) = fulfilled_by(tables(Counting), value)
    return number


def fulfilled_by(counting: Counting, event: dict[str, int]) -> list[int]:
    ((_, fulfilled),) = counting.fulfilled(counting.encoder.encode([event]))
    return sorted(fulfilled.predicates.tolist())


def test_figures_7_3_and_7_4_each_predicate_is_kept_once_with_its_subscriptions():
    counting = tables(Counting)
    assert len(counting.index) == 5
    start = counting.association_start
    names = list(SUBSCRIPTIONS)
    found = {
        str(each): [
            names[place]
            for place in counting.association[start[number_of(each)] : start[number_of(each) + 1]]
        ]
        for each in predicates
    }
    assert found == {
        "a > 6": ["s1", "s2"], "b = 6": ["s1"], "c < 12": ["s1"], "d = 7": ["s2", "s3"],
        "e < 3": ["s3"],
    }  # fmt: skip


def test_figure_7_5_the_event_satisfies_p3_and_p5():
    assert fulfilled_by(tables(Counting), EVENT) == sorted([number_of(P3), number_of(P5)])


def test_figure_7_7_s1_and_s3_have_a_hit_each_of_three_and_two():
    counting = tables(CountingVariant)
    start = counting.association_start
    hits = np.zeros(len(SUBSCRIPTIONS), np.int64)
    for number in fulfilled_by(counting, EVENT):
        np.add.at(hits, counting.association[start[number] : start[number + 1]], 1)
    assert hits.tolist() == [1, 0, 1]
    assert counting.counts[:3].tolist() == [3, 2, 2]
    counting.match(counting.encoder.encode([EVENT]))
    assert counting.work_per_event() == (2.0, 2.0)  # two predicates, two subscriptions looked at


@pytest.mark.parametrize("name", ["counting", "counting-variant", "naive", "engine"])
def test_no_subscription_is_satisfied_and_each_would_be_by_its_own_values(name):
    matcher = bf.matcher(name)
    matcher.subscribe_many((id, bf.all_of(each)) for id, each in SUBSCRIPTIONS.items())
    assert matcher.match(EVENT) == []
    assert matcher.match({"a": 7, "b": 6, **EVENT}) == ["s1"]
    assert matcher.match({**EVENT, "d": 7}) == ["s3"]
    assert matcher.match({**EVENT, "a": 7, "d": 7}) == ["s2", "s3"]
