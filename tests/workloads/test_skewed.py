from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from boolfilter.workloads import Skewed
from boolfilter.workloads.skewed import OPERATOR_SHARES, OPERATORS


@pytest.fixture(scope="module")
def subscriptions(read: Callable[[str], Any]) -> list[Any]:
    return [read(text) for text in Skewed().texts(0, 3_000)]


def depth(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return 1 + max(map(depth, node.values))
    return 1 + depth(node.operand) if isinstance(node, ast.UnaryOp) else 0


def operators(node: ast.AST) -> set[str]:
    return {type(inner.op).__name__ for inner in ast.walk(node) if hasattr(inner, "op")}


def test_trees_are_of_the_size_and_depth_asked_for(subscriptions: list[Any]) -> None:
    sizes = Counter(len(subscription.predicates) for subscription in subscriptions)
    assert set(sizes) == set(range(3, 21))
    depths = Counter(depth(subscription.tree.body) for subscription in subscriptions)
    assert set(depths) <= {1, 2, 3, 4}
    assert depths[4] > 1_000


def test_and_or_and_not_all_occur(subscriptions: list[Any]) -> None:
    used = Counter(name for subscription in subscriptions for name in operators(subscription.tree))
    assert all(used[name] > 1_000 for name in ("And", "Or", "Not"))


def test_and_and_or_take_turns(subscriptions: list[Any]) -> None:
    for subscription in subscriptions:
        for node in ast.walk(subscription.tree):
            if isinstance(node, ast.BoolOp):
                children = [child for child in node.values if isinstance(child, ast.BoolOp)]
                assert all(type(child.op) is not type(node.op) for child in children)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_depth_is_a_parameter(read: Callable[[str], Any], limit: int) -> None:
    texts = Skewed(depth=limit).texts(0, 300)
    assert max(depth(read(text).tree.body) for text in texts) == limit


def test_operators_have_their_shares(subscriptions: list[Any]) -> None:
    used = Counter(p[1] for subscription in subscriptions for p in subscription.predicates)
    total = sum(used.values())
    for operator, share in zip(OPERATORS, OPERATOR_SHARES, strict=True):
        assert abs(used[operator] / total - share) < 0.01


def test_lists_hold_distinct_values_and_windows_are_not_empty(subscriptions: list[Any]) -> None:
    for subscription in subscriptions:
        for _, operator, *values in subscription.predicates:
            if operator == "IN":
                assert len(set(values)) == len(values)
                assert len(values) <= 6
            if operator == "BETWEEN":
                assert values[0] < values[1]


def test_neighbouring_subscriptions_do_not_share_their_predicates(
    subscriptions: list[Any],
) -> None:
    for shift in range(-2, 3):
        shared = compared = 0
        for left, right in pairwise(subscriptions):
            moved = left.predicates[max(shift, 0) :]
            for one, other in zip(moved, right.predicates[max(-shift, 0) :], strict=False):
                shared += one == other
                compared += 1
        assert shared < 0.01 * compared


def test_attributes_and_values_follow_zipf(subscriptions: list[Any]) -> None:
    predicates = [p for subscription in subscriptions for p in subscription.predicates]
    attributes = Counter(attribute for attribute, *_ in predicates)
    harmonic = sum(1 / rank for rank in range(1, 101))
    assert abs(attributes["a0"] / len(predicates) - 1 / harmonic) < 0.01
    assert abs(attributes["a9"] / len(predicates) - 0.1 / harmonic) < 0.005
    values = Counter(p[2] for p in predicates if p[0] == "a0")
    harmonic = sum(1 / rank for rank in range(1, 10_001))
    [(_, most)] = values.most_common(1)
    assert abs(most / values.total() - 1 / harmonic) < 0.02


def test_an_attribute_holds_one_kind_in_subscriptions_and_events(subscriptions: list[Any]) -> None:
    kinds: dict[str, set[type]] = {}
    for subscription in subscriptions:
        for attribute, _, *values in subscription.predicates:
            kinds.setdefault(attribute, set()).update(map(type, values))
    for event in Skewed().events(0, 300):
        for attribute, value in event.items():
            kinds.setdefault(attribute, set()).add(type(value))
    assert all(kinds[f"a{i}"] == ({str} if i % 4 == 3 else {int}) for i in range(100))


def test_popular_values_are_popular_in_events_too(subscriptions: list[Any]) -> None:
    asked = Counter(p[2] for s in subscriptions for p in s.predicates if p[:2] == ("a0", "="))
    bound = Counter(event["a0"] for event in Skewed().events(0, 3_000) if "a0" in event)
    assert asked.most_common(1)[0][0] == bound.most_common(1)[0][0]


def test_events_bind_twenty_attributes_the_popular_ones_more_often() -> None:
    bound = np.stack([column.bound for column in Skewed().event_columns(0, 5_000).values()])
    assert (bound.sum(axis=0) == 20).all()
    shares = bound.mean(axis=1)
    assert shares[0] > 0.95
    assert shares[:10].mean() > 2 * shares[10:50].mean() > 2 * shares[50:].mean() > 0


def test_a_few_percent_of_subscriptions_match(subscriptions: list[Any]) -> None:
    events = Skewed().events(0, 20, seed=1)
    matched = np.mean([[s.matches(event) for s in subscriptions] for event in events])
    assert 0.02 < matched < 0.06
