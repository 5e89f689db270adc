from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given

import boolfilter as bf
from boolfilter import attr
from tests.strategies import expressions


@given(expressions)
def test_printed_text_parses_back_to_an_equal_expression(expression):
    assert bf.parse(str(expression)) == expression


@given(expressions)
def test_pickle_and_copy_give_an_equal_expression_of_equal_hash(expression):
    for other in (pickle.loads(pickle.dumps(expression)), copy.deepcopy(expression)):
        assert other == expression
        assert hash(other) == hash(expression)
        assert (other.depth, other.leaves) == (expression.depth, expression.leaves)


def test_builder_makes_what_the_text_makes():
    pairs = [
        (attr("a") == 1, "a = 1"),
        (attr("a") != 1, "a <> 1"),
        (attr("a") < 1.5, "a < 1.5"),
        (attr("a") <= 1, "a <= 1"),
        (attr("a") > "x", "a > 'x'"),
        (attr("a") >= True, "a >= TRUE"),
        (attr("a").is_in([1, "b"]), "a IN (1, 'b')"),
        (attr("a").not_in([1]), "a NOT IN (1)"),
        (attr("a").between(1, 2), "a BETWEEN 1 AND 2"),
        (attr("a").not_between(1, 2), "a NOT BETWEEN 1 AND 2"),
        (attr("a").like("x%"), "a LIKE 'x%'"),
        (attr("a").not_like("x!%", escape="!"), "a NOT LIKE 'x!%' ESCAPE '!'"),
        (attr("a").ilike("x%"), "a ILIKE 'x%'"),
        (attr("a").not_ilike("x%"), "a NOT ILIKE 'x%'"),
        (attr("a").starts_with("x"), "a STARTS WITH 'x'"),
        (attr("a").ends_with("x"), "a ENDS WITH 'x'"),
        (attr("a").contains(5), "a CONTAINS 5"),
        (attr("a").matches("x+"), "a MATCHES 'x+'"),
        (attr("a").is_null(), "a IS NULL"),
        (attr("a").exists(), "EXISTS a"),
        ((attr("a") == 1) & (attr("b") == 2) | ~(attr("c") == 3), "a = 1 AND b = 2 OR NOT c = 3"),
        ((attr("a") == 1) ^ (attr("in") == 2), 'a = 1 XOR "in" = 2'),
    ]
    for built, text in pairs:
        assert built == bf.parse(text)
        assert bf.parse(str(built)) == built


def test_minimal_parentheses():
    for text in [
        "a = 1 AND b = 2 OR c = 3 XOR d = 4",
        "(a = 1 OR b = 2) AND NOT (c = 3 XOR d = 4)",
        "NOT NOT a = 1",
        "NOT (a = 1 AND b = 2) AND c BETWEEN 1 AND 2",
    ]:
        assert str(bf.parse(text)) == text


def test_numbers_booleans_and_floats_are_told_apart():
    assert len({bf.parse(f"a = {value}") for value in ("1", "1.0", "TRUE", "'1'")}) == 4
    assert bf.parse("a IN (1, TRUE)") != bf.parse("a IN (1, 1)")


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: bool(attr("a") == 1),
        lambda: 1 < attr("a") < 5,
        lambda: (attr("a") == 1) and (attr("b") == 2),
        lambda: bool(attr("a")),
        lambda: attr("a") == None,  # noqa: E711
        lambda: attr("a") == float("nan"),
        lambda: attr("a") == [1],
        lambda: attr("a") == attr("b"),
        lambda: (attr("a") == 1) & True,
        lambda: bf.Not(1),
        lambda: bf.all_of([1]),
        lambda: attr(""),
        lambda: attr(5),
        lambda: attr("a").is_in([]),
        lambda: attr("a").is_in("abc"),
        lambda: attr("a").between(1, "b"),
        lambda: attr("a").starts_with(1),
        lambda: attr("a").matches("("),
        lambda: attr("a").like("a!", escape="!"),
        lambda: attr("a").like("a", escape="!!"),
    ],
)
def test_misuse_of_the_builder_is_an_expression_error(misuse):
    with pytest.raises(bf.ExpressionError):
        misuse()


def test_expressions_are_frozen():
    expression = attr("a") == 1
    with pytest.raises(AttributeError, match="frozen"):
        expression.operand = 2
    with pytest.raises(AttributeError, match="frozen"):
        del expression.operand


def test_nothing_recurses_over_a_deep_expression():
    def deep():
        expression = attr("a") == 1
        for number in range(50_000):
            expression = ~expression if number % 2 else expression & (attr("b") == number)
        return expression

    one, two = deep(), deep()
    assert one == two
    assert one != ~two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one
    assert str(one).count("AND") == 25_000
    assert bf.evaluate(one, {"a": 1, "b": 7}) in (True, False)
    with pytest.raises(bf.NestingDepthError) as caught:
        bf.normalise(one)
    assert caught.value.limit == bf.Limits().depth
    unlimited = bf.Limits(depth=10**6)
    assert bf.parse(str(one), limits=unlimited) == one
    normal = bf.normalise(one, limits=unlimited)
    assert bf.evaluate(normal, {"a": 1, "b": 7}) == bf.evaluate(one, {"a": 1, "b": 7})
