from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter import language
from boolfilter.language import parse_plain
from tests.strategies import expressions

WORDS = """a b "q n" = <> < ( ) , AND OR NOT XOR IN BETWEEN LIKE ESCAPE IS NULL EXISTS TRUE 1 -2.5
'x' 'it''s' '' ' " -- TIMESTAMP DATE '2024-01-01' STARTS WITH CONTAINS MATCHES ILIKE . 5e 1.2.3
\n \x00 \ud800 ; & | ! # { ? ' '""".split(" ")


@given(st.text())
@example("(" * 500)
@example("a = 'x\ny")
@example('"')
@example("a = " + "9" * 5000)
@example("a = 1e99999")
def test_no_text_raises_anything_outside_the_family(text):
    try:
        assert isinstance(bf.parse(text), bf.Expression)
    except bf.BoolFilterError as error:
        assert str(error)


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_no_jumble_of_tokens_raises_anything_outside_the_family(text):
    try:
        expression = bf.parse(text)
    except bf.SubscriptionSyntaxError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        assert 0 <= error.position <= len(text)
        assert error.excerpt.rstrip().endswith("^")
    else:
        assert bf.parse(str(expression)) == expression


# -- shapes ---------------------------------------------------------------------------------------


@given(expressions, expressions)
def test_binding_into_a_shape_gives_what_the_parser_gives(one, other):
    for text in (str(one), str(other), str(one), str(one).replace("1", "7").replace("a", "b")):
        try:
            expected = parse_plain(text)
        except bf.SubscriptionSyntaxError as error:
            with pytest.raises(bf.SubscriptionSyntaxError) as caught:
                bf.parse(text)
            assert str(caught.value) == str(error)
        else:
            assert bf.parse(text) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a = 1", "a = 'x'"),
        ("a LIKE 'x'", "a LIKE 5"),
        ("a = DATE '2024-01-01'", "a = DATE '2024-13-01'"),
        ("a = DATE '2024-01-01'", "a = DATE '2024-01-01T10:00'"),
        ("a = TIMESTAMP '2024-01-01'", "a = TIMESTAMP '2025-01-01T10:00:00+01:00'"),
        ("a BETWEEN 1 AND 2", "a BETWEEN 1 AND 'x'"),
        ("a IN (1, 1)", "a IN (1, 2)"),
        ("a IN (1, TRUE, 2)", "a IN (3, TRUE, 4)"),
        ("\" '5'\" STARTS WITH'5'", "\" '6'\" STARTS WITH'5'"),
        ('"a 1" = 2', '"a 3" = 2'),
        ("a = 1 -- 5\n", "a = 1 -- 6\n"),
        ("a MATCHES 'x'", "a MATCHES '('"),
        ("a LIKE 'x!%' ESCAPE '!'", "a LIKE 'x!' ESCAPE '!'"),
        ("a = 1 AND b", "a = 2 AND b"),
        ("TRUE OR a = 1", "TRUE OR a = 2"),
        ("a = -1", "a = +2"),
        ("a = 1", "5 = a"),
        ("a = 1", "a = nan"),
        ("a = 1", "b <> 'x'"),
        ("a = b1", "a = 5"),
        ("a = 1", '"" = 1'),
        ("a = 1", '"q" = 1'),
        ("date = 1", "date < 2"),
        ("a STARTS WITH 'x'", "starts STARTS WITH 'y'"),
        ("a CONTAINS 1", "a matches 1"),
        ("a.b = 1 AND c", "x = 1 AND y.z"),
        ("a = TRUE", "a <> TRUE"),
        ("a", "b"),
        ("a IS NULL", "b IS NULL"),
        ("EXISTS a", "EXISTS 'a'"),
    ],
)
def test_texts_of_one_shape_are_not_confused(first, second):
    language._shapes.clear()
    with contextlib.suppress(bf.SubscriptionSyntaxError):
        assert bf.parse(first) == parse_plain(first)
    try:
        expected = parse_plain(second)
    except bf.SubscriptionSyntaxError as error:
        with pytest.raises(bf.SubscriptionSyntaxError) as caught:
            bf.parse(second)
        assert str(caught.value) == str(error)
    else:
        assert bf.parse(second) == expected


def test_the_cache_of_shapes_is_bounded(monkeypatch):
    monkeypatch.setattr(language, "_MOST_SHAPES", 10)
    language._shapes.clear()
    for number in range(100):
        bf.parse(" AND ".join(["a"] * (number + 1)))
    assert len(language._shapes) <= 10


# -- size -----------------------------------------------------------------------------------------


def test_long_flat_texts_simply_work():
    chain = bf.parse(" OR ".join(f"a{number % 50} > {number}" for number in range(100_000)))
    assert chain.leaves == 100_000
    assert len(bf.normalise(chain).children) == 50
    listed = bf.parse(f"a IN ({', '.join(map(str, range(100_000)))})")
    assert len(listed.operand) == 100_000
    assert bf.evaluate(bf.normalise(listed), {"a": 99_999})
    assert bf.parse("(" * 100_000 + "a" + ")" * 100_000) == bf.parse("a")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("NOT " * 100_000 + "a", bf.NestingDepthError),
        ("(a OR b AND " * 2_000 + "c" + ")" * 2_000, bf.NestingDepthError),
        ("(" * 100_000, bf.SubscriptionSyntaxError),
        (")" * 100_000, bf.SubscriptionSyntaxError),
        ("x" * 10_000_001, bf.TextLengthError),
        ("a = '" + "''" * 500_000, bf.SubscriptionSyntaxError),
        ("a = 1 \x00", bf.SubscriptionSyntaxError),
        ("a = 1 " * 100_000, bf.SubscriptionSyntaxError),
    ],
)
def test_monstrous_texts_are_refused_quickly(text, error):
    with pytest.raises(error) as caught:
        bf.parse(text)
    assert len(str(caught.value)) < 1_000


def test_limits_can_be_set():
    with pytest.raises(bf.LeafCountError) as caught:
        bf.parse("a AND b AND c", limits=bf.Limits(leaves=2))
    assert (caught.value.actual, caught.value.limit) == (3, 2)
    with pytest.raises(bf.TextLengthError):
        bf.parse("a AND b", limits=bf.Limits(text_length=3))
    with pytest.raises(bf.NestingDepthError):
        bf.parse("a AND NOT b", limits=bf.Limits(depth=2))


def test_parsing_something_else_than_a_text_says_so():
    with pytest.raises(bf.ExpressionError, match="not <class 'int'>"):
        bf.parse(5)
