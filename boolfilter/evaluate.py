"""The oracle: one event against one expression, done the obvious way.

Every faster path of this library is tested against :func:`evaluate`. It knows nothing of normal
forms or indexes: it takes the expression as written and three truth values, True, False and (only
with SQL nulls) None for unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from boolfilter.errors import BoolFilterError, ExpressionError
from boolfilter.events import FlatEvent, flatten
from boolfilter.expressions import (
    NEEDS_SCHEMA,
    POSITIVE_OF,
    And,
    Constant,
    Expression,
    Not,
    Operator,
    Pattern,
    Predicate,
    Xor,
    compiled_regex,
    postorder,
)
from boolfilter.patterns import canonical_pattern, like
from boolfilter.values import Value, format_value, kind_of

Nulls = Literal["false", "sql"]
Truth = bool | None


def evaluate(expression: Expression, event: Mapping[str, Any], *, nulls: Nulls = "false") -> bool:
    """Whether the event satisfies the expression.

    >>> import boolfilter as bf
    >>> evaluate(bf.parse("NOT brand = 'Acme'"), {"price": 5})
    True
    >>> evaluate(bf.parse("NOT brand = 'Acme'"), {"price": 5}, nulls="sql")
    False
    """
    flat = flatten(event)
    absent: Truth = None if check_nulls(nulls) == "sql" else False
    truths: list[Truth] = []
    for node in postorder(expression):
        count = len(node.children)
        operands = truths[len(truths) - count :]
        del truths[len(truths) - count :]
        truths.append(combine(node, operands) if count else leaf_truth(node, flat, absent))
    return truths[0] is True


def check_nulls(nulls: str) -> Nulls:
    if nulls not in ("false", "sql"):
        raise BoolFilterError(f'nulls is "false" or "sql", not {nulls!r}')
    return nulls  # type: ignore[return-value]


def holds(predicate: Predicate, event: FlatEvent, absent: Truth = False) -> Truth:
    """The truth of one predicate; `absent` is what it is where its attribute is absent."""
    present = predicate.attribute in event
    if predicate.operator is Operator.EXISTS:
        return present
    if predicate.operator is Operator.IS_NULL:
        return not present
    if not present:
        return absent
    found = event[predicate.attribute]
    several = isinstance(found, tuple)
    values = found if isinstance(found, tuple) else (found,)
    positive = POSITIVE_OF.get(predicate.operator)
    if positive is not None:
        return not any(_TESTS[positive](value, predicate.operand) for value in values)
    if predicate.operator is Operator.CONTAINS and several:
        return any(_equal(value, predicate.operand) for value in values)
    return any(_TESTS[predicate.operator](value, predicate.operand) for value in values)


def leaf_truth(node: Expression, event: FlatEvent, absent: Truth) -> Truth:
    """The truth of a predicate or a constant."""
    if isinstance(node, Constant):
        return node.value
    assert isinstance(node, Predicate)
    return holds(node, event, absent)


def combine(node: Expression, operands: list[Truth]) -> Truth:
    """Kleene's three-valued logic, which on True and False alone is the ordinary one."""
    if isinstance(node, Not):
        return None if operands[0] is None else not operands[0]
    if isinstance(node, Xor):
        return None if None in operands else operands.count(True) % 2 == 1
    decisive = not isinstance(node, And)
    if decisive in operands:
        return decisive
    return None if None in operands else not decisive


def _same_kind(value: Value, operand: Any) -> bool:
    return kind_of(value) == kind_of(operand)


def _equal(value: Value, operand: Any) -> bool:
    return _same_kind(value, operand) and value == operand


def _contains(value: Value, operand: Any) -> bool:
    if isinstance(value, str) and isinstance(operand, str):
        return operand in value
    return _equal(value, operand)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Value, Any], bool]:
    return lambda value, operand: _same_kind(value, operand) and compare(value, operand)


def _needs_schema(value: Value, operand: Any) -> bool:
    raise ExpressionError(f"IS A {format_value(operand)} {NEEDS_SCHEMA}")


def _on_string(test: Callable[[str, Any], bool]) -> Callable[[Value, Any], bool]:
    return lambda value, operand: isinstance(value, str) and test(value, operand)


def _ilike(value: str, pattern: Pattern) -> bool:
    return like(value.lower(), canonical_pattern(pattern, fold=True))


def search_regex(value: str, pattern: str) -> bool:
    """RE2 works on UTF-8; a lone surrogate, which has none, goes in as its three raw bytes."""
    return compiled_regex(pattern).search(value.encode("utf-8", "surrogatepass")) is not None


_TESTS: dict[Operator, Callable[[Value, Any], bool]] = {
    Operator.EQUAL: _equal,
    Operator.LESS: _ordered(lambda value, operand: value < operand),
    Operator.LESS_OR_EQUAL: _ordered(lambda value, operand: value <= operand),
    Operator.GREATER: _ordered(lambda value, operand: value > operand),
    Operator.GREATER_OR_EQUAL: _ordered(lambda value, operand: value >= operand),
    Operator.IN: lambda value, operand: any(_equal(value, item) for item in operand),
    Operator.BETWEEN: lambda value, operand: (
        _same_kind(value, operand[0]) and operand[0] <= value <= operand[1]
    ),
    Operator.LIKE: _on_string(like),
    Operator.ILIKE: _on_string(_ilike),
    Operator.STARTS_WITH: _on_string(str.startswith),
    Operator.ENDS_WITH: _on_string(str.endswith),
    Operator.CONTAINS: _contains,
    Operator.MATCHES: _on_string(search_regex),
    Operator.IS_A: _needs_schema,
}
