from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import boolfilter as bf
from boolfilter.expressions import And, Predicate
from boolfilter.workloads import Thesis
from boolfilter.workloads.thesis import DOMAINS, EVENT_TYPES


@pytest.fixture(scope="module")
def subscriptions() -> list[dict[str, Predicate]]:
    found = []
    for text in Thesis().texts(0, 3_000):
        tree = bf.parse(text)
        assert isinstance(tree, And)
        found.append({child.attribute: child for child in tree.children})
    return found


def test_a_subscription_asks_for_all_attributes_of_its_type(
    subscriptions: list[dict[str, Predicate]],
) -> None:
    types = Counter()
    for asked in subscriptions:
        event_type = asked["event_type"].operand
        types[event_type] += 1
        assert set(asked) == {"event_type", *EVENT_TYPES[event_type].attributes}
    assert all(abs(types[name] / 3_000 - 0.2) < 0.03 for name in EVENT_TYPES)


def test_operators_and_values_are_those_of_the_domain(
    subscriptions: list[dict[str, Predicate]],
) -> None:
    operators: dict[str, Counter[str]] = {attribute: Counter() for attribute in DOMAINS}
    for asked in subscriptions:
        for attribute, predicate in asked.items():
            if attribute == "event_type":
                continue
            operators[attribute][str(predicate.operator)] += 1
            if DOMAINS[attribute].values:
                assert predicate.operand in DOMAINS[attribute].values
            else:
                assert 0 <= predicate.operand <= 2000
    for attribute, found in operators.items():
        assert set(found) == set(DOMAINS[attribute].operators)
        assert min(found.values()) > 0.6 * found.total() / len(found)


def test_there_are_at_most_6912_templates() -> None:
    assert len(list(Thesis().templates(0, 40_000))) <= 6_912


def test_events_have_one_type_its_attributes_and_half_of_the_optional_ones() -> None:
    events = Thesis().events(0, 3_000)
    with_optional = 0
    for event in events:
        kind = EVENT_TYPES[event["event_type"]]
        mandatory = {"event_type", *kind.attributes} - {kind.optional}
        assert mandatory <= set(event) <= mandatory | {kind.optional}
        with_optional += kind.optional in event
    assert abs(with_optional / len(events) - 0.5) < 0.03


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_optional_attribute_is_a_parameter(share: float) -> None:
    sizes = {len(event) for event in Thesis(optional=share).events(0, 200)}
    assert sizes == {5 + int(share)}


def test_values_of_events_are_uniform() -> None:
    columns = Thesis().event_columns(0, 20_000)
    assert abs(columns["price"].values.mean() - 1000) < 15
    assert columns["price"].values.max() == 2000
    assert len(np.unique(columns["period"].values)) == 150


def test_a_few_in_a_hundred_match() -> None:
    engine = bf.Engine()
    engine.subscribe_many(enumerate(Thesis().texts(0, 5_000)))
    matched = np.mean([len(found) for found in engine.match_many(Thesis().events(0, 300, seed=1))])
    assert 0.001 < matched / 5_000 < 0.02
