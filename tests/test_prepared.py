"""Texts by shape: the same normal form, and the same refusals, as by parsing and normalising."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.expressions import Predicate, predicates, rebuilt
from boolfilter.prepared import normal_form
from tests.strategies import expressions, nulls


@given(expressions, nulls)
def test_a_text_has_the_normal_form_of_its_expression(expression, null_semantics):
    expected = bf.normalise(bf.parse(str(expression)), nulls=null_semantics)
    for _ in range(2):  # the second time by what is remembered of the first
        assert normal_form(str(expression), nulls=null_semantics) == expected


@given(expressions, nulls, st.randoms(use_true_random=False))
def test_a_text_whose_attributes_all_differ_has_it_too(expression, null_semantics, chance):
    leaves = list(predicates(expression))
    names = [f"a{number}" for number in range(len(leaves))]
    for _ in range(3):  # one shape with its names in several orders
        chance.shuffle(names)
        renamed = [
            Predicate(name, leaf.operator, leaf.operand)
            for name, leaf in zip(names, leaves, strict=True)
        ]
        text = str(rebuilt(expression, renamed))
        expected = bf.normalise(bf.parse(text), nulls=null_semantics)
        assert normal_form(text, nulls=null_semantics) == expected


@pytest.mark.parametrize("null_semantics", ["false", "sql"])
@pytest.mark.parametrize(
    "texts",
    [
        ["b = 1 AND (d < 2 OR c > 3)", "x = 'u' AND (a < 2 OR y > 3)"],
        ["b <> 1 OR NOT c <> 2", "b = 1 OR NOT c <> 2", "c <> 1 OR NOT b = 2"],
        ["b BETWEEN 1 AND 2 OR c IN (1, 2)", "c BETWEEN 2 AND 2 OR b IN (1.0)"],
        ["b BETWEEN 1 AND 2 OR c = 1", "b BETWEEN 2 AND 1 OR c = 1"],
        ["b = 1 AND c = 1", "b = 1 AND b = 1", "b = 1 AND b = 2", "c = 1 AND b = 1"],
        ["(b = 1 OR c = 2) AND (a = 1 OR d = 3)", "(d = 1 OR b = 2) AND (c = 1 OR a = 3)"],
        ["b IS NULL OR NOT EXISTS c", "c IS NULL OR NOT EXISTS b"],
        ["b = 1 XOR c = 2 XOR a", "c = 1 XOR a = 2 XOR b"],
        ["b LIKE 'x%' AND NOT c ILIKE 'Y'", "b LIKE 'x' AND NOT c ILIKE '%z'"],
    ],
)
def test_texts_of_one_shape_with_other_leaves(texts, null_semantics):
    for text in texts:
        expected = bf.normalise(bf.parse(text), nulls=null_semantics)
        assert normal_form(text, nulls=null_semantics) == expected


def test_limits_hold_for_a_remembered_shape():
    text = "b = 1 AND (c = 2 OR d = 3)"
    normal_form(text)
    with pytest.raises(bf.LimitError):
        normal_form(text, limits=bf.Limits(leaves=2))
    with pytest.raises(bf.LimitError):
        normal_form(text, limits=bf.Limits(text_length=5))
