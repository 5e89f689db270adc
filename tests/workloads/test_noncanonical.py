from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boolfilter.workloads import NonCanonical


@pytest.mark.parametrize("predicates", [6, 8, 10])
def test_a_subscription_is_an_and_of_or_pairs(read: Callable[[str], Any], predicates: int) -> None:
    for text in NonCanonical(predicates=predicates).texts(0, 20):
        tree = read(text).tree.body
        assert isinstance(tree.op, ast.And)
        assert len(tree.values) == predicates // 2
        assert all(isinstance(pair.op, ast.Or) and len(pair.values) == 2 for pair in tree.values)


def test_no_predicate_is_shared(read: Callable[[str], Any]) -> None:
    workload = NonCanonical(predicates=6, subscriptions=2_000, fulfilled=5_000)
    predicates = [p for text in workload.texts(0, 2_000) for p in read(text).predicates]
    assert len(set(predicates)) == len(predicates) == 12_000


@pytest.mark.parametrize("fulfilled", [5_000, 10_000, 9_999])
def test_every_event_fulfils_exactly_so_many_predicates(
    read: Callable[[str], Any], fulfilled: int
) -> None:
    workload = NonCanonical(predicates=6, subscriptions=2_000, fulfilled=fulfilled)
    subscriptions = [read(text) for text in workload.texts(0, 2_000)]
    for event in workload.events(0, 3, seed=5):
        held = [s.fulfilled(event, position) for s in subscriptions for position in range(6)]
        assert sum(held) == fulfilled


@pytest.mark.parametrize(("predicates", "fulfilled"), [(8, 5_000), (10, 10_000), (10, 10_007)])
def test_many_subscriptions_are_fulfilled_as_exactly(predicates: int, fulfilled: int) -> None:
    workload = NonCanonical(predicates, subscriptions=200_000, fulfilled=fulfilled)
    [template] = workload.templates(0, 200_000, seed=3)
    for event in workload.events(0, 20, seed=4):
        held = sum(
            np.count_nonzero((lower <= value) & (value <= upper))
            for value, lower, upper in zip(
                event.values(), template.columns[::2], template.columns[1::2], strict=True
            )
        )
        assert held == fulfilled


def test_events_fulfil_different_predicates() -> None:
    workload = NonCanonical(subscriptions=100_000, fulfilled=800)
    [template] = workload.templates(0, 100_000)
    candidates: set[int] = set()
    for event in workload.events(0, 50):
        lower, upper = template.columns[:2]
        candidates.update(np.flatnonzero((lower <= event["a0"]) & (event["a0"] <= upper)).tolist())
    assert len(candidates) > 4_500


def test_a_subscription_beyond_the_last_does_not_exist() -> None:
    workload = NonCanonical(subscriptions=2_000)
    assert len(workload.texts(1_999, 2_000)) == 1
    with pytest.raises(ValueError, match="there is no subscription 2000"):
        workload.texts(1_999, 2_001)
