"""The conformance cases under grammar/cases: what any implementation of the language must do.

The formats are described in grammar/README.md. Nothing here is derived from the code under test.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import boolfilter as bf
from boolfilter import Operator
from boolfilter.evaluate import Nulls
from boolfilter.language import parse_plain
from boolfilter.schema import hierarchical

CASES = Path(__file__).parent.parent / "grammar" / "cases"
SEMANTICS: tuple[Nulls, ...] = ("false", "sql")


def cases(*names: str) -> list[Any]:
    return [
        pytest.param(case, id=readable_id(name, number, case))
        for name in names
        for number, case in enumerate(read(name), start=1)
    ]


def read(name: str) -> list[dict[str, Any]]:
    # Not splitlines: a text may hold U+2028 and other separators that JSON leaves as they are.
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line, object_hook=timestamp_or_object) for line in lines if line]


def timestamp_or_object(found: dict[str, Any]) -> Any:
    if found.keys() == {"timestamp"} and isinstance(found["timestamp"], str):
        return datetime.fromisoformat(found["timestamp"])
    return found


def readable_id(name: str, number: int, case: dict[str, Any]) -> str:
    event = f" on {json.dumps(case['event'], default=str)}" if "event" in case else ""
    return f"{name}:{number} {case['text']}{event}"


@pytest.mark.parametrize("case", cases("parse"))
def test_text_parses_to_the_tree(case: dict[str, Any]) -> None:
    assert bf.parse(case["text"]) == expression_of(case["tree"])
    assert parse_plain(case["text"]) == expression_of(case["tree"])


@pytest.mark.parametrize("case", cases("parse", "truth", "nulls"))
def test_printed_expression_parses_back_to_an_equal_one(case: dict[str, Any]) -> None:
    expression = bf.parse(case["text"])
    assert bf.parse(str(expression)) == expression


@pytest.mark.parametrize("case", cases("errors"))
def test_error_tells_the_place_and_what_was_expected(case: dict[str, Any]) -> None:
    with pytest.raises(bf.SubscriptionSyntaxError) as caught:
        bf.parse(case["text"])
    error = caught.value
    assert (error.line, error.column) == (case["line"], case["column"])
    start = f"line {case['line']}, column {case['column']}: {case['message']}"
    assert str(error).split("\n", 1)[0] == start
    assert case.get("hint", "") in (error.hint or "")


@pytest.mark.parametrize("nulls", SEMANTICS)
@pytest.mark.parametrize("case", cases("truth", "nulls"))
def test_event_satisfies_the_text_or_not(case: dict[str, Any], nulls: Nulls) -> None:
    expression = bf.parse(case["text"])
    assert bf.evaluate(expression, case["event"], nulls=nulls) is case[nulls]


@pytest.mark.parametrize("nulls", SEMANTICS)
@pytest.mark.parametrize("case", cases("truth", "nulls"))
def test_normal_form_is_satisfied_by_the_same_events(case: dict[str, Any], nulls: Nulls) -> None:
    normal = bf.normalise(bf.parse(case["text"]), nulls=nulls)
    # A normal form is two-valued: it says of itself where an attribute must be present.
    for reading in SEMANTICS if nulls == "sql" else ("false",):
        assert bf.evaluate(normal, case["event"], nulls=reading) is case[nulls]


@pytest.mark.parametrize("nulls", SEMANTICS)
@pytest.mark.parametrize("case", cases("hierarchies"))
def test_kinds_of_kinds_satisfy_the_text(case: dict[str, Any], nulls: Nulls) -> None:
    schema = bf.Schema({"kinds": hierarchical(case["hierarchy"])}, {"c": "kinds"})
    assert schema.evaluate(case["text"], case["event"], nulls=nulls) is case[nulls]


def test_is_a_without_a_schema_is_refused() -> None:
    expression = bf.parse("c IS A 'seat'")
    with pytest.raises(bf.ExpressionError, match="only a schema with a hierarchical domain"):
        bf.evaluate(expression, {"c": "chair"})
    with pytest.raises(bf.ExpressionError, match="only a schema with a hierarchical domain"):
        bf.normalise(expression)
    with pytest.raises(bf.ExpressionError, match="only a schema with a hierarchical domain"):
        bf.Engine().subscribe("alice", "c IS A 'seat'")
    with pytest.raises(bf.BadSubscriptionError, match="only a schema with a hierarchical domain"):
        bf.Engine().subscribe_many([("alice", "c IS A 'seat'")])
    with pytest.raises(bf.BadSubscriptionError, match="only a schema with a hierarchical domain"):
        bf.Engine().subscribe_template("c IS A ?", ["alice"], [["seat"]])


def test_the_cases_cover_every_operator() -> None:
    used = {
        leaf.operator
        for name in ("truth", "nulls", "hierarchies")
        for case in read(name)
        for leaf in leaves(bf.parse(case["text"]))
    }
    assert used == set(Operator)


def leaves(expression: bf.Expression) -> list[bf.Predicate]:
    if isinstance(expression, bf.Predicate):
        return [expression]
    return [leaf for child in expression.children for leaf in leaves(child)]


JUNCTIONS = {"and": bf.And, "or": bf.Or, "xor": bf.Xor}
OPERATORS = {operator.value.lower(): operator for operator in Operator} | {
    "exists": Operator.EXISTS
}


def expression_of(tree: Any) -> bf.Expression:
    """The expression that a tree of parse.jsonl stands for."""
    if isinstance(tree, bool):
        return bf.TRUE if tree else bf.FALSE
    head, *rest = tree
    if head == "not":
        return bf.Not(expression_of(rest[0]))
    if head in JUNCTIONS:
        return JUNCTIONS[head](map(expression_of, rest))
    attribute, *operands = rest
    operator = OPERATORS[head]
    if operator in (Operator.IS_NULL, Operator.EXISTS):
        return bf.Predicate(attribute, operator)
    if "like" in head:
        return bf.Predicate(attribute, operator, bf.Pattern(*operands))
    return bf.Predicate(attribute, operator, operands[0] if len(operands) == 1 else operands)
