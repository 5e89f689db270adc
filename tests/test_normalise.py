from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.expressions import NEGATIVE_OF, postorder
from tests.strategies import events, expressions, nulls


@given(expressions, events, nulls)
def test_normal_form_has_the_same_truth(expression, event, nulls):
    normal = bf.normalise(expression, nulls=nulls)
    expected = bf.evaluate(expression, event, nulls=nulls)
    # After normalisation nothing is unknown: both null semantics agree on what is true.
    assert bf.evaluate(normal, event, nulls="false") == expected


@given(expressions, nulls)
def test_normal_form_has_only_what_it_promises(expression, nulls):
    normal = bf.normalise(expression, nulls=nulls)
    nodes = list(postorder(normal))
    for node in nodes:
        assert not isinstance(node, bf.Xor)
        if isinstance(node, bf.Not):
            assert isinstance(node.child, bf.Predicate)
        if isinstance(node, bf.Predicate):
            assert node.operator not in NEGATIVE_OF.values()
            assert node.operator is not bf.Operator.IS_NULL
        if isinstance(node, bf.Constant):
            assert node is normal
        assert len(set(node.children)) == len(node.children)
    assert bf.normalise(bf.parse(str(normal))).leaves <= normal.leaves


@given(st.lists(expressions, min_size=2, max_size=4), st.randoms(use_true_random=False), nulls)
def test_the_order_of_children_does_not_matter(children, random, nulls):
    shuffled = list(children)
    random.shuffle(shuffled)
    for join in (bf.all_of, bf.any_of):
        assert bf.normalise(join(children), nulls=nulls) == bf.normalise(
            join(shuffled), nulls=nulls
        )


@given(expressions, events, nulls)
def test_unique_attributes_keep_the_truth_for_single_values(expression, event, nulls):
    single = {
        name: next(iter(value), None) if isinstance(value, (list, frozenset)) else value
        for name, value in event.items()
    }
    if "user" in single:
        country = single["user"]["country"]
        if isinstance(country, (list, frozenset)):
            single["user"] = {"country": next(iter(country), None)}
    normal = bf.normalise(
        expression, nulls=nulls, unique={"a", "b", "c", "user.country", "odd name"}
    )
    assert bf.evaluate(normal, single) == bf.evaluate(expression, single, nulls=nulls)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("a LIKE 'abc'", "a = 'abc'"),
        ("a LIKE 'abc%'", "a STARTS WITH 'abc'"),
        ("a LIKE '%abc'", "a ENDS WITH 'abc'"),
        ("a LIKE '%abc%%'", "a LIKE '%abc%'"),
        ("a LIKE '%'", "a STARTS WITH ''"),
        ("a LIKE '10!%%' ESCAPE '!'", "a STARTS WITH '10%'"),
        ("a LIKE 'x!_%y' ESCAPE '!'", "a LIKE 'x\\_%y' ESCAPE '\\'"),
        ("a ILIKE 'AbC%'", "a ILIKE 'abc%'"),
        ("a BETWEEN 3 AND 3.0", "a = 3"),
        ("a BETWEEN 5 AND 3", "FALSE"),
        ("a NOT BETWEEN 5 AND 3", "a IS NOT NULL"),
        ("a NOT IN (2, 1, 2.0)", "a IS NOT NULL AND NOT a IN (1, 2)"),
        ("a = 1 OR a = 2 OR a IN (3, 1)", "a IN (1, 2, 3)"),
        ("NOT a = 1 AND NOT a = 2", "NOT a IN (1, 2)"),
        ("a > 5 AND a > 3 AND a >= 5", "a > 5"),
        ("a > 5 OR a > 3 OR a < 9 OR a <= 9", "a <= 9 OR a > 3"),
        ("a > 5 AND a < 3", "a < 3 AND a > 5"),
        ("a = 1 AND NOT a = 1", "FALSE"),
        ("a = 1 OR NOT a = 1", "TRUE"),
        ("a = 1 AND EXISTS a", "a = 1"),
        ("a = 1 AND a IS NULL", "FALSE"),
        ("a = 1 OR EXISTS a", "a IS NOT NULL"),
        ("NOT a = 1 OR a IS NULL", "NOT a = 1"),
        ("a = 1 AND (a = 1 OR b = 2)", "a = 1"),
        ("a = 1 OR a = 1 AND b = 2", "a = 1"),
        ("b = 2 AND (a = 1 AND TRUE)", "a = 1 AND b = 2"),
        ("a = 1 XOR TRUE", "NOT a = 1"),
        ("a = 1 XOR a = 1", "FALSE"),
        ("a CONTAINS 5", "a = 5"),
    ],
)
def test_simplification(text, normal):
    assert str(bf.normalise(bf.parse(text))) == normal


@pytest.mark.parametrize(
    ("text", "contradictory"),
    [
        ("a > 5 AND a < 3", True),
        ("a > 5 AND a < 5", True),
        ("a >= 5 AND a <= 5", False),
        ("a > 5 AND a <= 5", True),
        ("a = 1 AND a = 2", True),
        ("a IN (1, 2) AND a IN (2, 3)", False),
        ("a IN (1, 2) AND a > 1", False),
        ("a IN (1, 2) AND a > 2", True),
        ("a = 'x' AND a > 2", True),
        ("a > 'x' AND a > 2", True),
        ("a BETWEEN 1 AND 3 AND a > 3", True),
        ("a BETWEEN 1 AND 3 AND a >= 3", False),
    ],
)
def test_contradictions_are_folded_only_on_unique_attributes(text, contradictory):
    expression = bf.parse(text)
    assert bf.normalise(expression) is not bf.FALSE
    assert (bf.normalise(expression, unique={"a"}) is bf.FALSE) == contradictory


def test_xor_chains_expand_to_the_square_of_their_length():
    chain = bf.odd_of(bf.attr(f"a{number}") == 1 for number in range(64))
    normal = bf.normalise(chain)
    assert normal.leaves == 64**2
    for ones in (0, 1, 2, 63, 64):
        event = {f"a{number}": 1 for number in range(ones)}
        assert bf.evaluate(normal, event) == (ones % 2 == 1)


def test_a_xor_too_long_to_expand_is_refused_at_once():
    chain = bf.odd_of(bf.attr(f"a{number}") == 1 for number in range(100_000))
    with pytest.raises(bf.LeafCountError) as caught:
        bf.normalise(chain)
    assert caught.value.actual > 10**9
    nested = bf.attr("a") == 0
    for number in range(400):
        nested = (nested | (bf.attr("b") == number)) ^ (bf.attr("c") == number)
    with pytest.raises(bf.LeafCountError):
        bf.normalise(nested)


def test_unknown_null_semantics_are_refused():
    with pytest.raises(bf.BoolFilterError, match="nulls"):
        bf.normalise(bf.attr("a") == 1, nulls="true")
