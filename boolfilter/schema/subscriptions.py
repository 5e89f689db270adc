"""Subscriptions against a schema: names, operators and values that it lacks are refused."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, NamedTuple

from boolfilter.errors import ExpressionError, SubscriptionSchemaError
from boolfilter.expressions import (
    Expression,
    Operator,
    Pattern,
    Predicate,
    format_name,
    predicates,
    rebuilt,
)
from boolfilter.language import parse, shape_of_text
from boolfilter.limits import DEFAULT_LIMITS, Limits
from boolfilter.schema.derived import indexed
from boolfilter.schema.domains import KIND_OF, Domain, DomainType, in_order
from boolfilter.schema.names import did_you_mean
from boolfilter.schema.places import places_of
from boolfilter.values import Kind, Value, format_value, kind_of, parse_timestamp

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema

_TEXT_OPERATORS = frozenset({Operator.MATCHES, Operator.STARTS_WITH, Operator.ENDS_WITH})
_CALLED = {
    Kind.BOOLEAN: "TRUE or FALSE",
    Kind.NUMBER: "numbers",
    Kind.STRING: "strings",
    Kind.TIMESTAMP: "timestamps",
}
_MOST_VALUES_TOLD = 10


def admitted(
    schema: Schema, subscription: str | Expression, limits: Limits = DEFAULT_LIMITS
) -> str | Expression:
    """A subscription that fits the schema, in the terms of the indexes; a text that needs no
    change stays the text it is. SubscriptionSchemaError if it does not fit.

    A few microseconds a predicate for a text of a shape seen before.

    >>> import boolfilter as bf
    >>> from boolfilter.schema import Schema, hierarchical, numeric
    >>> domains = {"amount": numeric(), "furniture": hierarchical({"chair": "seat"})}
    >>> schema = Schema(domains, {"price": "amount", "category": "furniture"})
    >>> admitted(schema, "price < 10")
    'price < 10'
    >>> print(admitted(schema, "price < 10 AND category IS A 'seat'"))
    price < 10 AND "category (is a)" = 'seat'
    >>> admitted(schema, "prise < 10")
    Traceback (most recent call last):
        ...
    boolfilter.errors.SubscriptionSchemaError: line 1, column 1: the schema has no attribute 'prise'
      prise < 10
      ^
    hint: did you mean 'price'?
    """
    leaves, assembled = _taken_apart(subscription, limits)
    changed: list[Expression] = []
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, Predicate):
            domain = schema.domain_or_none(leaf.attribute)
            if domain is None or not _fits(domain, leaf):
                number = sum(isinstance(before, Predicate) for before in leaves[:place])
                raise _error(schema, subscription, number, leaf)
            leaf = indexed(domain, leaf)
        changed.append(leaf)
    same = all(map(is_, leaves, changed))
    return subscription if same else assembled(changed)


def _taken_apart(
    subscription: str | Expression, limits: Limits
) -> tuple[list[Expression], Callable[[list[Expression]], Expression]]:
    """The leaves of a subscription, and what puts others in their place."""
    if isinstance(subscription, str):
        limits.check_text(subscription)
        shape, holes = shape_of_text(subscription)
        bound = shape.bind_leaves(holes)
        if bound is not None:
            return bound, shape.assembled
        subscription = parse(subscription, limits=limits)
    expression = subscription
    return list(predicates(expression)), lambda leaves: rebuilt(expression, leaves)


def _fits(domain: Domain, leaf: Predicate) -> bool:
    return leaf.operator in domain.allowed and _wrong_value(domain, leaf) is None


def _wrong_value(domain: Domain, leaf: Predicate) -> int | None:
    """Which value of the operand, if any, is not in the domain."""
    operand = leaf.operand
    if operand is None or isinstance(operand, Pattern) or leaf.operator in _TEXT_OPERATORS:
        return None
    values = operand if isinstance(operand, tuple) else (operand,)
    for place, value in enumerate(values):
        assert value is not None
        if not domain.holds(value) and not _is_moment(domain, value):
            return place
    return None


def _is_moment(domain: Domain, value: Value) -> bool:
    """Whether a text stands for a timestamp, where one is needed."""
    if domain.type is not DomainType.TIMESTAMP or not isinstance(value, str):
        return False
    try:
        parse_timestamp(value)
    except ExpressionError:
        return False
    return True


class _Problem(NamedTuple):
    words: str
    hint: str | None
    position: int


def _error(
    schema: Schema, subscription: str | Expression, number: int, leaf: Predicate
) -> SubscriptionSchemaError:
    text = subscription if isinstance(subscription, str) else str(subscription)
    places = places_of(text)[number]
    problem = _problem(schema, leaf)
    positions = (places.attribute, places.operator, *places.values)
    # A bare attribute has no operator and no value to point at.
    position = positions[problem.position] if problem.position < len(positions) else positions[0]
    return SubscriptionSchemaError(problem.words, text=text, position=position, hint=problem.hint)


def _problem(schema: Schema, leaf: Predicate) -> _Problem:
    """What is wrong with a predicate, and where: 0 its attribute, 1 its operator, 2 a value..."""
    name = format_name(leaf.attribute)
    domain = schema.domain_or_none(leaf.attribute)
    if domain is None:
        hint = did_you_mean(leaf.attribute, schema.names)
        return _Problem(f"the schema has no attribute {leaf.attribute!r}", hint, 0)
    if leaf.operator not in domain.allowed:
        words = f"{name} is {domain.type}, without the operator {leaf.operator.value}"
        return _Problem(words, f"it has {in_order(domain.allowed)}", 1)
    place = _wrong_value(domain, leaf)
    assert place is not None
    value = leaf.operand[place] if isinstance(leaf.operand, tuple) else leaf.operand
    shown = format_value(value)  # type: ignore[arg-type]
    if kind_of(value) is not KIND_OF[domain.type]:  # type: ignore[arg-type]
        words = f"{name} is {domain.type}: its values are {_CALLED[domain.kind]}, not {shown}"
        return _Problem(words, None, place + 2)
    words = f"{shown} is not a value of {name}, which is {domain.type}"
    hint = did_you_mean(value, tuple(domain.values))
    if hint is None and len(domain.values) <= _MOST_VALUES_TOLD:
        hint = "its values are " + ", ".join(map(format_value, domain.values))
    return _Problem(words, hint, place + 2)
