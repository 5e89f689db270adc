from __future__ import annotations

import copy
import json
import pickle
import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.evaluate import Truth, combine
from boolfilter.explain import Explanation, explain
from boolfilter.expressions import postorder
from tests.strategies import events, expressions, leaves, nulls

EVENT = {"price": 5, "category": "Toy", "brand": "Acme", "tags": ["new", "red"]}


def parts(explanation: Explanation) -> list[Explanation]:
    """All parts, children before parents, as postorder goes through an expression."""
    found: list[Explanation] = []
    todo = [explanation]
    while todo:
        part = todo.pop()
        found.append(part)
        todo.extend(part.children)
    return found[::-1]


def leaves_of(explanation: Explanation) -> list[Explanation]:
    return [part for part in parts(explanation) if not part.children]


def truth_with(expression: bf.Expression, leaf_truths: list[Truth]) -> Truth:
    """The truth of an expression whose leaves, left to right, are given theirs."""
    given_truths = iter(leaf_truths)
    truths: list[Truth] = []
    for node in postorder(expression):
        first = len(truths) - len(node.children)
        operands = truths[first:]
        del truths[first:]
        truths.append(combine(node, operands) if operands else next(given_truths))
    return truths[0]


def decisive_texts(text: str, event: dict[str, object], nulls: str = "false") -> list[str]:
    explanation = explain(bf.parse(text), event, nulls=nulls)
    return [str(leaf.expression) for leaf in leaves_of(explanation) if leaf.decisive]


# -- properties -------------------------------------------------------------------------------


@given(expressions, events, nulls)
def test_it_matches_just_where_evaluate_says_so(expression, event, nulls):
    explanation = explain(expression, event, nulls=nulls)
    assert explanation.matches == bf.evaluate(expression, event, nulls=nulls)
    for part in parts(explanation):
        assert part.matches == bf.evaluate(part.expression, event, nulls=nulls)


@given(expressions, events, nulls)
def test_the_parts_are_those_of_the_expression_as_given(expression, event, nulls):
    explanation = explain(expression, event, nulls=nulls)
    nodes = [part.expression for part in parts(explanation)]
    assert all(one is other for one, other in zip(nodes, postorder(expression), strict=True))


@given(expressions, events, nulls, st.data())
def test_leaves_that_do_not_decide_may_become_anything(expression, event, nulls, draw):
    explanation = explain(expression, event, nulls=nulls)
    changed = [
        leaf.truth if leaf.decisive else draw.draw(st.sampled_from([True, False, None]))
        for leaf in leaves_of(explanation)
    ]
    truth = truth_with(expression, changed)
    if explanation.truth is None:
        assert truth is not True
    else:
        assert truth is explanation.truth


def _without_xor(children: st.SearchStrategy[bf.Expression]) -> st.SearchStrategy[bf.Expression]:
    several = st.lists(children, min_size=2, max_size=4)
    return st.one_of(several.map(bf.all_of), several.map(bf.any_of), children.map(bf.Not))


# With XOR two changes may cancel each other.
expressions_without_xor = st.recursive(leaves, _without_xor, max_leaves=12)


@given(expressions_without_xor, events)
def test_the_result_turns_with_all_the_leaves_that_decide_it(expression, event):
    explanation = explain(expression, event)
    turned = [leaf.truth is not leaf.decisive for leaf in leaves_of(explanation)]
    assert truth_with(expression, turned) is not explanation.truth


@given(expressions_without_xor, events)
def test_an_unknown_result_is_decided_by_an_unknown_leaf(expression, event):
    explanation = explain(expression, event, nulls="sql")
    if explanation.truth is None:
        deciding = [leaf for leaf in leaves_of(explanation) if leaf.decisive]
        assert any(leaf.truth is None for leaf in deciding)


@given(expressions, events, nulls)
def test_what_decides_hangs_together_from_the_root(expression, event, nulls):
    explanation = explain(expression, event, nulls=nulls)
    assert explanation.decisive
    for part in parts(explanation):
        if part.children:
            assert any(child.decisive for child in part.children) == part.decisive


@given(expressions, events, nulls)
def test_a_predicate_has_a_value_or_is_absent(expression, event, nulls):
    for part in parts(explain(expression, event, nulls=nulls)):
        if isinstance(part.expression, bf.Predicate):
            assert part.absent == (part.value is None)
            present = bf.Predicate(part.expression.attribute, bf.Operator.EXISTS)
            assert part.absent != bf.evaluate(present, event)
        else:
            assert part.value is None
            assert not part.absent


@given(expressions, events, nulls)
def test_data_are_strict_json_and_have_every_part(expression, event, nulls):
    explanation = explain(expression, event, nulls=nulls)
    data = explanation.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    todo = [(explanation, data)]
    while todo:
        part, found = todo.pop()
        assert found["truth"] is part.truth
        assert found["decisive"] is part.decisive
        todo.extend(zip(part.children, found.get("children", []), strict=True))


@given(expressions, events, nulls)
def test_text_has_a_printable_line_for_each_leaf(expression, event, nulls):
    explanation = explain(expression, event, nulls=nulls)
    lines = str(explanation).split("\n")
    assert all(line.isprintable() for line in lines)
    shared = sum(
        isinstance(part.expression, bf.Not) and not part.children[0].children
        for part in parts(explanation)
    )
    assert len(lines) == len(parts(explanation)) - shared


@given(expressions, events, nulls)
def test_pickle_gives_it_back(expression, event, nulls):
    explanation = explain(expression, event, nulls=nulls)
    again = pickle.loads(pickle.dumps(explanation))
    assert again.to_dict() == explanation.to_dict()
    assert again.expression == expression


# -- examples ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("price < 10 AND category = 'Toy'", ["price < 10", "category = 'Toy'"]),
        ("price > 10 AND category = 'Toy'", ["price > 10"]),
        ("price > 10 AND category = 'Tin'", ["price > 10", "category = 'Tin'"]),
        ("price < 10 OR category = 'Tin'", ["price < 10"]),
        ("price > 10 OR category = 'Tin'", ["price > 10", "category = 'Tin'"]),
        ("NOT (price > 10 AND category = 'Toy')", ["price > 10"]),
        ("price < 10 XOR category = 'Tin'", ["price < 10", "category = 'Tin'"]),
        ("FALSE AND price < 10", ["FALSE"]),
        ("price > 9 AND (brand = 'Acme' OR tags = 'new')", ["price > 9"]),
    ],
)
def test_leaves_that_decide(text, expected):
    assert decisive_texts(text, EVENT) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Unknown: the true child cannot make it match.
        ("gone = 1 AND price < 10", ["gone = 1"]),
        # It can here: were price < 10 false, the whole would be true.
        ("NOT (gone = 1 AND price < 10)", ["gone = 1", "price < 10"]),
        ("gone = 1 OR price > 10", ["gone = 1", "price > 10"]),
        ("NOT (gone = 1 OR price > 10)", ["gone = 1"]),
        ("gone = 1 XOR price < 10", ["gone = 1"]),
        ("gone = 1 AND price > 10", ["price > 10"]),
        ("gone = 1 OR price < 10", ["price < 10"]),
        ("(gone = 1 AND price < 10) XOR brand = 'Acme'", ["gone = 1", "price < 10"]),
    ],
)
def test_leaves_that_decide_with_sql_nulls(text, expected):
    assert decisive_texts(text, EVENT, "sql") == expected


def test_values_are_those_of_the_flattened_event():
    event = {"user": {"country": "NZ"}, "tags": ["a", "b"], "at": datetime(2024, 5, 1)}
    text = "user.country = 'NZ' AND tags = 'a' AND at > DATE '2024-01-01' AND gone IS NULL"
    country, tags, at, gone = explain(bf.parse(text), event).children
    assert country.value == "NZ"
    assert tags.value == ("a", "b")
    assert at.value == datetime(2024, 5, 1, tzinfo=UTC)
    assert at.to_dict()["value"] == {"timestamp": "2024-05-01T00:00:00+00:00"}
    assert (gone.value, gone.absent, gone.truth) == (None, True, True)


def test_text_is_an_indented_tree():
    text = (
        "price < 10 AND (tags CONTAINS 'blue' OR NOT brand IN ('Bolt') OR NOT (gone = 1 XOR TRUE))"
    )
    assert str(explain(bf.parse(text), EVENT)).split("\n") == [
        "* true    AND",
        "* true      price < 10               price = 5",
        "* true      OR",
        "  false       tags CONTAINS 'blue'   tags = ['new', 'red']",
        "* true        NOT brand IN ('Bolt')  brand = 'Acme'",
        "  false       NOT",
        "  true          XOR",
        "  false           gone = 1           gone absent",
        "  true            TRUE",
    ]


def test_text_stays_bounded_and_on_its_lines():
    many = bf.attr("name").is_in([f"name {number}" for number in range(10_000)])
    odd = bf.attr("name").contains("\x1b[2J\n")
    text = str(explain(many | odd, {"name": "x" * 100_000}))
    assert len(text) < 2_000
    assert "\\x1b[2J\\n" in text
    assert text.count("\n") == 2


def test_deep_expressions_do_not_recurse():
    # Built level by level, as the parser has a bound on depth.
    expression: bf.Expression = bf.attr("price") < 10
    for level in range(20_000):
        join = bf.all_of if level % 2 else bf.any_of
        expression = join([bf.Not(expression), bf.attr("gone") == level])
    explanation = explain(expression, EVENT)
    assert explanation.matches == bf.evaluate(expression, EVENT)
    assert len(str(explanation)) < 10_000_000
    assert explanation.to_dict()["kind"] == "AND"
    assert pickle.loads(pickle.dumps(explanation)).truth == explanation.truth
    assert copy.deepcopy(explanation).truth == explanation.truth
    assert repr(explanation).startswith("<Explanation: ")


def test_it_is_frozen():
    explanation = explain(bf.TRUE, {})
    with pytest.raises(AttributeError):
        explanation.truth = False


def test_bad_nulls_and_events_are_refused_as_by_evaluate():
    with pytest.raises(bf.BoolFilterError, match="nulls"):
        explain(bf.TRUE, {}, nulls="none")
    with pytest.raises(bf.EventError):
        explain(bf.TRUE, ["price"])


def test_large_expressions_take_linear_time():
    chance = random.Random(1)
    wide = bf.any_of(bf.attr("a") == chance.randrange(10**6) for _ in range(20_000))
    explanation = explain(wide, {"a": -1})
    assert len(leaves_of(explanation)) == 20_000
    assert all(part.decisive for part in explanation.children)
