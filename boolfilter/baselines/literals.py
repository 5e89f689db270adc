"""Literals, as the algorithms of Le Subscribe look at them: equalities, intervals, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from boolfilter.dnf import Conjunction
from boolfilter.evaluate import holds
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Not, Operator, Predicate
from boolfilter.values import Kind, Value, kind_of

# The least and the greatest value of an interval; a second member of 1 puts a bound just above its
# value, so that `> 5` starts at (1, 5, 1) and `< 5` ends at (1, 5, 0).
Bound = tuple[Any, ...]
BELOW_ALL: Bound = (0,)
ABOVE_ALL: Bound = (2,)

Field = tuple[str, Kind]  # an attribute, seen as one kind of value
Equalities = dict[Field, Value]


@dataclass(frozen=True, slots=True)
class Interval:
    """The values of one kind that satisfy a predicate, from ``low`` up to before ``high``.

    >>> import boolfilter as bf
    >>> interval_of(bf.parse("price <= 10"))
    Interval(kind=<Kind.NUMBER: 1>, low=(0,), high=(1, 10, 1))
    """

    kind: Kind
    low: Bound
    high: Bound


def point(value: Value) -> Interval:
    """The interval of one value."""
    return Interval(kind_of(value), (1, value, 0), (1, value, 1))


def interval_of(literal: Expression) -> Interval | None:
    """The interval of a positive comparison or BETWEEN; None for every other literal."""
    if not isinstance(literal, Predicate):
        return None
    operand: Any = literal.operand
    match literal.operator:
        case Operator.EQUAL:
            return point(operand)
        case Operator.LESS | Operator.LESS_OR_EQUAL as operator:
            above = int(operator is Operator.LESS_OR_EQUAL)
            return Interval(kind_of(operand), BELOW_ALL, (1, operand, above))
        case Operator.GREATER | Operator.GREATER_OR_EQUAL as operator:
            above = int(operator is Operator.GREATER)
            return Interval(kind_of(operand), (1, operand, above), ABOVE_ALL)
        case Operator.BETWEEN:
            return Interval(kind_of(operand[0]), (1, operand[0], 0), (1, operand[1], 1))
    return None


def predicate_of(literal: Expression) -> Predicate:
    """The predicate of a literal, which may be negated."""
    predicate = literal.child if isinstance(literal, Not) else literal
    assert isinstance(predicate, Predicate)
    return predicate


def is_true(literal: Expression, event: FlatEvent) -> bool:
    """The papers' `predmatch`, for negated predicates as well."""
    if isinstance(literal, Not):
        return not holds(predicate_of(literal), event)
    assert isinstance(literal, Predicate)
    return bool(holds(literal, event))


def all_true(literals: Iterable[Expression], event: FlatEvent) -> bool:
    return all(is_true(literal, event) for literal in literals)


def values_by_kind(event: FlatEvent) -> Iterator[tuple[Field, list[Value]]]:
    """The distinct values of each attribute, by their kinds.

    >>> dict(values_by_kind({"a": (1, "x", 1), "b": True}))  # doctest: +NORMALIZE_WHITESPACE
    {('a', <Kind.NUMBER: 1>): [1], ('a', <Kind.STRING: 2>): ['x'],
     ('b', <Kind.BOOLEAN: 0>): [True]}
    """
    for attribute, found in event.items():
        if not isinstance(found, tuple):
            yield (attribute, kind_of(found)), [found]
            continue
        kinds: dict[Kind, dict[Value, None]] = {}
        for value in found:
            kinds.setdefault(kind_of(value), {})[value] = None
        for kind, values in kinds.items():
            yield (attribute, kind), list(values)


def split_equalities(conjunction: Conjunction) -> tuple[Equalities, tuple[Expression, ...]]:
    """One equality for each attribute and kind of value, and all other literals.

    Two equalities on one attribute can both be true where an event has several values; the lesser
    one counts as the equality then.
    """
    equalities: Equalities = {}
    others: list[Expression] = []
    for literal in conjunction:
        if not isinstance(literal, Predicate) or literal.operator is not Operator.EQUAL:
            others.append(literal)
            continue
        value: Any = literal.operand
        field = literal.attribute, kind_of(value)
        kept: Any = equalities.setdefault(field, value)
        if kept != value:
            equalities[field] = min(kept, value)
            others.append(_equality(field, max(kept, value)))
    return equalities, tuple(others)


def _equality(field: Field, value: Value) -> Predicate:
    return Predicate(field[0], Operator.EQUAL, value)
