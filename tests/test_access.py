from __future__ import annotations

import math

import pytest
from hypothesis import given

import boolfilter as bf
from boolfilter.access import (
    accepts,
    access_leaves,
    compiled,
    default_cost,
    residual,
    scalar_test,
)
from boolfilter.evaluate import holds
from boolfilter.events import flatten
from boolfilter.expressions import predicates
from tests.strategies import events, expressions, nulls, values
from tests.strategies import predicates as predicate_strategy


def normal(text: str) -> bf.Expression:
    return bf.normalise(bf.parse(text))


def access_texts(text: str) -> list[str] | None:
    leaves = access_leaves(normal(text))
    return None if leaves is None else [str(leaf) for leaf in leaves]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1", ["a = 1"]),
        ("a < 1 AND b = 2", ["b = 2"]),
        ("a < 1 OR b = 2", ["a < 1", "b = 2"]),
        ("a = 1 AND (b = 2 OR c = 3)", ["a = 1"]),
        ("a < 1 AND (b = 2 OR c = 3)", ["b = 2", "c = 3"]),
        ("(a = 1 AND b < 2) OR (a = 1 AND c < 3)", ["a = 1"]),
        ("a = 1 AND NOT b = 2", ["a = 1"]),
        ("a <> 1", ["a IS NOT NULL"]),
        ("FALSE", []),
        ("TRUE", None),
        ("NOT a = 1", None),
        ("a = 1 OR NOT b = 2", None),
        ("NOT a = 1 AND NOT b = 2", None),
        ("c = 3 AND (a = 1 OR NOT b = 2)", ["c = 3"]),
    ],
)
def test_access_leaves_of_small_trees(text, expected):
    assert access_texts(text) == expected


def test_operators_from_the_cheapest_to_the_dearest():
    texts = [
        "a = 1",
        "a IN (1, 2)",
        "a STARTS WITH 'x'",
        "a CONTAINS 'x'",
        "a MATCHES 'x'",
        "a BETWEEN 1 AND 2",
        "a < 1",
        "a = TRUE",
        "EXISTS a",
    ]
    costs = [default_cost(normal(text)) for text in texts]
    assert costs == sorted(set(costs))


def test_a_long_list_still_costs_less_than_any_value():
    long = default_cost(bf.attr("a").is_in(range(10_000)))
    assert default_cost(normal("a < 1")) < long < default_cost(normal("EXISTS a"))


def test_a_cost_function_decides():
    expression = normal("a = 1 AND b < 2")
    leaves = access_leaves(expression, lambda predicate: predicate.attribute == "a")
    assert [leaf.attribute for leaf in leaves] == ["b"]


def test_an_infinite_cost_is_still_better_than_no_access_set():
    leaves = access_leaves(normal("a = 1 AND NOT b = 2"), lambda _: math.inf)
    assert [leaf.attribute for leaf in leaves] == ["a"]


@given(expressions, events, nulls)
def test_what_is_true_has_a_true_access_leaf(expression, event, nulls):
    expression = bf.normalise(expression, nulls=nulls)
    leaves = access_leaves(expression)
    flat = flatten(event)
    if leaves is None:
        return
    assert set(leaves) <= set(predicates(expression))
    assert len(set(leaves)) == len(leaves)
    if bf.evaluate(expression, event):
        assert any(holds(leaf, flat) for leaf in leaves)


@given(expressions, nulls)
def test_no_access_set_means_true_with_all_predicates_false(expression, nulls):
    expression = bf.normalise(expression, nulls=nulls)
    assert (access_leaves(expression) is None) is bf.evaluate(expression, {})


@given(expressions, events, nulls)
def test_a_residual_is_all_that_a_true_access_leaf_leaves_open(expression, event, nulls):
    expression = bf.normalise(expression, nulls=nulls)
    leaves = access_leaves(expression) or []
    rest = residual(expression, leaves)
    if any(holds(leaf, flatten(event)) for leaf in leaves):
        assert bf.evaluate(rest, event) == bf.evaluate(expression, event)
    if not leaves:
        assert rest == expression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1", "TRUE"),
        ("a = 1 OR b = 2", "TRUE"),
        ("a = 1 AND b < 2", "b < 2"),
        ("(a = 1 AND b < 2) OR c = 3", "c = 3 OR a = 1 AND b < 2"),
    ],
)
def test_residuals_of_small_trees(text, expected):
    expression = normal(text)
    assert str(residual(expression, access_leaves(expression))) == expected


@given(expressions, events, nulls)
def test_a_program_has_the_truth_of_its_expression(expression, event, nulls):
    expression = bf.normalise(expression, nulls=nulls)
    assert accepts(compiled(expression), flatten(event)) is bf.evaluate(expression, event)


@given(predicate_strategy(), values)
def test_a_scalar_test_has_the_truth_of_its_predicate(predicate, value):
    for leaf in predicates(bf.normalise(predicate)):
        types, test = scalar_test(leaf)
        assert (type(value) in types and test(value)) == holds(leaf, {leaf.attribute: value})


@pytest.mark.parametrize("conjunction", [True, False])
def test_deep_and_long_trees_need_no_recursion(conjunction):
    deep = bf.attr("a") == 0
    for number in range(1, 20_000):
        leaf = bf.attr(f"a{number}") == number
        deep = bf.Or((leaf, deep)) if (number % 2 == 0) is conjunction else bf.And((leaf, deep))
    assert access_leaves(deep)
    assert accepts(compiled(deep), {"a": 0, **{f"a{n}": n for n in range(20_000)}})
    assert not accepts(compiled(deep), {})


def test_shared_parts_are_walked_once():
    expression = bf.normalise(bf.odd_of(bf.attr(f"a{n}") == n for n in range(512)))
    assert expression.leaves > 200_000
    visits = []
    assert access_leaves(expression, lambda predicate: visits.append(predicate) or 1.0)
    assert len(visits) < 5_000
