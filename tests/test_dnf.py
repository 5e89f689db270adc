from __future__ import annotations

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.dnf import ConjunctionCountError, dnf, dnf_size
from boolfilter.workloads import get
from tests.strategies import events, expressions, nulls


def equal(attribute):
    return bf.attr(attribute) == 1


def pairs(count):
    return bf.all_of(equal(f"a{n}") | equal(f"b{n}") for n in range(count))


def texts(conjunctions):
    return [sorted(map(str, conjunction)) for conjunction in conjunctions]


@given(expressions, st.lists(events, min_size=1, max_size=5), nulls)
def test_a_normal_form_and_its_conjunctions_are_true_of_the_same_events(expression, batch, nulls):
    normal = bf.normalise(expression, nulls=nulls)
    try:
        conjunctions = dnf(normal, limit=2_000)
    except ConjunctionCountError as error:
        assert error.actual == dnf_size(normal) > 2_000
        return
    assert len(conjunctions) <= dnf_size(normal)
    for event in batch:
        expected = bf.evaluate(expression, event, nulls=nulls)
        assert expected == any(
            all(bf.evaluate(literal, event) for literal in conjunction)
            for conjunction in conjunctions
        )


@pytest.mark.parametrize("predicates", [6, 8, 10])
def test_a_subscription_of_the_paper_has_the_conjunctions_that_the_paper_says(predicates):
    (text,) = get("noncanonical", predicates=predicates).texts(0, 1)
    expression = bf.normalise(bf.parse(text))
    conjunctions = dnf(expression)
    assert len(conjunctions) == dnf_size(expression) == 2 ** (predicates // 2)
    assert {len(conjunction) for conjunction in conjunctions} == {predicates // 2}


def test_an_in_list_is_the_or_of_its_values_and_not_in_the_and_of_their_negations():
    assert dnf_size(bf.parse("a IN (1, 2, 3)")) == 3
    assert texts(dnf(bf.parse("a IN (1, 2)"))) == [["a = 1"], ["a = 2"]]
    assert texts(dnf(bf.normalise(bf.parse("NOT a IN (1, 2)")))) == [["NOT a = 1", "NOT a = 2"]]


def test_longer_conjunctions_contradictions_and_repetitions_are_left_out():
    a, b, c = map(equal, "abc")
    assert texts(dnf((a & b) | a | (b & c & a))) == [["a = 1"]]
    assert dnf(bf.And([a, bf.Not(a)])) == ()
    assert texts(dnf(bf.And([bf.Or([a, b]), bf.Or([a, b])]))) == [["a = 1"], ["b = 1"]]


def test_constants_are_the_empty_disjunction_and_the_empty_conjunction():
    assert dnf(bf.FALSE) == ()
    assert dnf(bf.TRUE) == (frozenset(),)
    assert (dnf_size(bf.FALSE), dnf_size(bf.TRUE)) == (0, 1)


def test_the_error_has_the_exact_size_and_survives_pickling():
    with pytest.raises(ConjunctionCountError) as caught:
        dnf(pairs(14))
    assert (caught.value.actual, caught.value.limit) == (2**14, 10_000)
    assert "16,384" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("count", [35, 1_000, 20_000])
def test_sizes_beyond_any_memory_are_counted_and_refused_at_once(count):
    expression = pairs(count)
    start = time.perf_counter()
    assert dnf_size(expression) == 2**count
    with pytest.raises(ConjunctionCountError) as caught:
        dnf(expression)
    assert caught.value.actual == 2**count
    assert len(str(caught.value)) < 100
    assert time.perf_counter() - start < 5


def test_trees_deeper_than_the_stack_are_counted_and_expanded():
    levels = 1_200
    expression = equal("x")
    for n in range(levels):
        expression = (bf.And if n % 2 else bf.Or)([equal(f"a{n}"), expression])
    conjunctions = dnf(expression)
    assert len(conjunctions) == dnf_size(expression) == 1 + levels // 2
    assert max(map(len, conjunctions)) == 1 + levels // 2
    with pytest.raises(ConjunctionCountError):
        dnf(expression, limit=levels // 2)


def test_a_false_inside_does_not_hide_how_large_its_siblings_are():
    expression = bf.And([bf.Or([pairs(14), equal("z")]), bf.FALSE])
    assert dnf_size(expression) == 0
    with pytest.raises(ConjunctionCountError) as caught:
        dnf(expression)
    assert caught.value.actual == 2**14 + 1
    assert dnf(bf.And([*pairs(14).children, bf.FALSE])) == ()


def test_what_is_no_normal_form_is_refused():
    a, b = equal("a"), equal("b")
    for expression in (a ^ b, bf.Not(bf.And([a, b]))):
        with pytest.raises(bf.ExpressionError):
            dnf_size(expression)
