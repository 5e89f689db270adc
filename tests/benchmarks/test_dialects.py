from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from benchmarks.dialects import CEL, PYTHON, RULE_ENGINE, SQL
from benchmarks.peers import ATTRIBUTES, PEERS, make_events, make_subscriptions
from boolfilter.expressions import And, Expression, Not, Operator, Or, Predicate

comparisons = st.builds(
    Predicate,
    st.sampled_from(ATTRIBUTES),
    st.sampled_from([Operator.EQUAL, Operator.NOT_EQUAL, Operator.LESS, Operator.GREATER_OR_EQUAL]),
    st.integers(0, 9),
)


def operators(children: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(children, min_size=2, max_size=3)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, children))


trees = st.recursive(comparisons, operators, max_leaves=8)
events = st.fixed_dictionaries({name: st.integers(0, 9) for name in ATTRIBUTES})


@given(trees, events)
def test_python_and_sql_texts_mean_what_the_expression_means(tree, event) -> None:  # type: ignore[no-untyped-def]
    expected = bf.evaluate(tree, event)
    assert eval(PYTHON.text(tree), {"e": event}) is expected
    assert bf.evaluate(bf.parse(SQL.text(tree)), event) is expected


def test_each_language_has_its_signs() -> None:
    tree = bf.parse("NOT (a = 1 OR b <> 2) AND c <= 3")
    assert CEL.text(tree) == "!(a == 1 || b != 2) && c <= 3"
    assert RULE_ENGINE.text(tree) == "not (a == 1 or b != 2) and c <= 3"
    assert SQL.text(tree) == "NOT (a = 1 OR b <> 2) AND c <= 3"


@pytest.mark.parametrize("text", ["a = 'x'", "a IN (1, 2)", "a = 1 XOR b = 1", "a IS NULL"])
def test_what_a_language_lacks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not in every language"):
        CEL.text(bf.parse(text))


@pytest.mark.parametrize("peer", PEERS, ids=[peer.name for peer in PEERS])
def test_peers_find_what_the_oracle_finds(peer) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip(peer.module)
    expressions, sample = make_subscriptions(200, seed=3), make_events(100, seed=3)
    expected = {
        (row, id)
        for row, event in enumerate(sample)
        for id, each in enumerate(expressions)
        if bf.evaluate(each, event)
    }
    assert expected
    assert peer.compile(expressions)(sample) == expected
