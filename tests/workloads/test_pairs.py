from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boolfilter.workloads import Pairs
from boolfilter.workloads.pairs import OPERATORS

LARGEST = 1_000_000


@pytest.mark.parametrize("pairs", [3, 4, 5])
def test_a_subscription_is_an_and_of_or_pairs(read: Callable[[str], Any], pairs: int) -> None:
    for text in Pairs(pairs=pairs).texts(0, 50):
        tree = read(text).tree.body
        assert isinstance(tree.op, ast.And)
        assert len(tree.values) == pairs
        assert all(isinstance(pair.op, ast.Or) and len(pair.values) == 2 for pair in tree.values)


def test_texts_and_predicate_columns_agree(read: Callable[[str], Any]) -> None:
    workload = Pairs(pairs=3)
    columns = workload.predicates(100, 150, seed=4)
    for row, text in enumerate(workload.texts(100, 150, seed=4)):
        assert read(text).predicates == [
            (f"a{attribute}", OPERATORS[operator], value)
            for attribute, operator, value in zip(
                *(column[:, row].tolist() for column in columns), strict=True
            )
        ]


def test_predicate_columns_do_not_depend_on_internal_batches() -> None:
    workload = Pairs()
    whole = workload.predicates(0, 70_000)
    part = workload.predicates(32_000, 33_500)
    for together, alone in zip(whole, part, strict=True):
        assert np.array_equal(together[:, 32_000:33_500], alone)


def test_half_of_the_predicates_are_equalities_and_the_rest_less_or_greater() -> None:
    shares = np.bincount(Pairs().predicates(0, 50_000).operators.ravel()) / 400_000
    assert np.allclose(shares, [0.5, 0.25, 0.25], atol=0.005)


def test_inequalities_hold_for_one_to_five_percent_of_values() -> None:
    _, operators, values = Pairs().predicates(0, 50_000)
    less = values[operators == OPERATORS.index("<")] / (LARGEST + 1)
    greater = (LARGEST - values[operators == OPERATORS.index(">")]) / (LARGEST + 1)
    for held in (less, greater):
        assert held.min() >= 0.01
        assert held.max() <= 0.05
        assert abs(held.mean() - 0.03) < 0.0005


def test_equalities_ask_for_any_value_of_the_domain() -> None:
    _, operators, values = Pairs().predicates(0, 50_000)
    asked = values[operators == OPERATORS.index("=")]
    assert asked.min() >= 0
    assert asked.max() <= LARGEST
    assert abs(asked.mean() / LARGEST - 0.5) < 0.005


def test_attributes_of_a_subscription_differ_and_all_are_used() -> None:
    attributes = Pairs().predicates(0, 10_000).attributes
    assert all(len(set(row)) == 8 for row in attributes.T.tolist())
    assert np.bincount(attributes.ravel(), minlength=40).min() > 1_800


def test_events_bind_all_attributes_uniformly() -> None:
    columns = Pairs().event_columns(0, 20_000)
    assert list(columns) == [f"a{attribute}" for attribute in range(40)]
    for values, bound in columns.values():
        assert bound is None
        assert values.min() >= 0
        assert values.max() <= LARGEST
        assert abs(values.mean() / LARGEST - 0.5) < 0.01


def test_shapes_limit_the_number_of_templates() -> None:
    templates = list(Pairs(shapes=10).templates(0, 5_000))
    assert len(templates) == 10
    assert sum(template.rows.size for template in templates) == 5_000
    assert min(template.rows.size for template in templates) > 300
