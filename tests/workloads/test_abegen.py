from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import boolfilter as bf
from boolfilter.evaluate import evaluate
from boolfilter.expressions import And, Expression, Not, Or, Predicate, Xor, postorder
from boolfilter.workloads import AbeGen
from boolfilter.workloads.abegen import COMPARISON_SHARES, OPERATOR_SHARES
from boolfilter.workloads.abegen_forms import COMPARISONS


def operator(node: Expression) -> str:
    if isinstance(node, Not):
        return "XNOR" if isinstance(node.child, Xor) else "NOT"
    return type(node).__name__.upper()


def predicates(trees: list[Expression]) -> list[Predicate]:
    return [node for tree in trees for node in postorder(tree) if isinstance(node, Predicate)]


def test_texts_and_expressions_agree() -> None:
    workload = AbeGen(depth=4, children=3, dimensions=50, pool=500)
    parsed = [bf.parse(text) for text in workload.texts(100, 300, seed=4)]
    assert parsed == workload.expressions(100, 300, seed=4)


def test_operators_have_their_shares() -> None:
    trees = AbeGen(depth=2).expressions(0, 20_000)
    found = Counter(map(operator, trees))
    for name, share in zip("AND OR NOT XOR XNOR".split(), OPERATOR_SHARES, strict=True):
        assert abs(found[name] / len(trees) - share) < 0.012


def test_comparisons_have_their_shares() -> None:
    trees = AbeGen(depth=1).expressions(0, 20_000)
    found = Counter(str(predicate.operator) for predicate in predicates(trees))
    for name, share in zip(COMPARISONS, COMPARISON_SHARES, strict=True):
        # A list that drew one value twice is still a list.
        assert abs(found[name] / len(trees) - share) < 0.012


@pytest.mark.parametrize("children", [2, 4, 12])
def test_and_and_or_have_the_children_asked_for_not_one_and_xor_two(children: int) -> None:
    for tree in AbeGen(depth=2, children=children).expressions(0, 300):
        if isinstance(tree, (And, Or)):
            assert len(tree.children) == children
        elif isinstance(tree, Xor):
            assert len(tree.children) == 2


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_depth_counts_the_predicates_level(depth: int) -> None:
    workload = AbeGen(depth=depth, children=3, pool=1000)
    leaves = [tree.leaves for tree in workload.expressions(0, 200)]
    assert max(leaves) == 3 ** (depth - 1)


def test_even_deep_trees_of_xor_stay_small_in_normal_form() -> None:
    workload = AbeGen(depth=6, children=2, pool=1000)
    trees = workload.expressions(0, 200)
    grown = [bf.normalise(tree, nulls="sql").leaves / tree.leaves for tree in trees]
    assert max(grown) <= 2 * 2 ** (6 - 1)


def test_members_of_the_pool_are_shared_as_zipf_says() -> None:
    workload = AbeGen(depth=3, alpha=1.0, pool=1000)
    members = Counter[Expression]()
    for tree in workload.expressions(0, 5_000):
        if isinstance(tree, And):
            members.update({child for child in tree.children if isinstance(child, (Or, Xor))})
    weights = 1 / np.arange(1, 1001)
    ordered = [count for _, count in members.most_common()]
    # The most popular of them, among the half of the members that an AND does not splice.
    assert ordered[0] > 20 * np.median(ordered)
    assert ordered[0] < 5_000 * 0.45 * 4 * weights[0] / weights.sum()


def test_without_skew_no_member_is_popular() -> None:
    workload = AbeGen(depth=3, alpha=0.0, pool=100_000)
    members = Counter[Expression]()
    for tree in workload.expressions(0, 5_000):
        members.update(child for child in tree.children if not isinstance(child, Predicate))
    assert max(members.values()) < 10


def test_dimensions_and_values_are_uniform() -> None:
    found = predicates(AbeGen(depth=1, dimensions=30, cardinality=3).expressions(0, 6_000))
    attributes = Counter(predicate.attribute for predicate in found)
    assert set(attributes) == {f"a{attribute}" for attribute in range(30)}
    assert min(attributes.values()) > 130
    values = Counter(predicate.operand for predicate in found if predicate.operator == "=")
    assert set(values) == {0, 1, 2}


@pytest.mark.parametrize("size", [5, 30])
def test_events_bind_as_many_attributes_as_asked_for(size: int) -> None:
    columns = AbeGen(dimensions=30, event_size=size).event_columns(0, 500)
    bound = np.stack([column.bound for column in columns.values()])
    assert (bound.sum(axis=0) == size).all()
    assert np.allclose(bound.mean(axis=1), size / 30, atol=0.08)
    assert max(int(column.values.max()) for column in columns.values()) == 99


def test_about_one_in_a_hundred_matches_under_sql_nulls() -> None:
    workload = AbeGen()
    trees = workload.expressions(0, 2_000)
    events = workload.events(0, 10, seed=1)
    matched = np.mean([[evaluate(tree, e, nulls="sql") is True for tree in trees] for e in events])
    assert 0.002 < matched < 0.05
