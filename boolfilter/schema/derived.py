"""Events and subscriptions in the terms of the indexes: what a schema adds to both.

*Is a kind of* becomes an equality. Beside a hierarchical attribute an event gets two derived ones:
its values with all they are kinds of, and all they are proper kinds of. ``category <= 'seat'`` then
asks whether ``'seat'`` is among the former, ``category < 'seat'`` whether it is among the latter:
a probe of a hash for each ancestor, however large the hierarchy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from boolfilter.errors import ExpressionError
from boolfilter.events import FlatEvent
from boolfilter.expressions import (
    Expression,
    Operator,
    Predicate,
    any_of,
    bound_predicate,
    predicates,
    rebuilt,
)
from boolfilter.schema.domains import Domain, DomainType
from boolfilter.schema.hierarchy import ancestors
from boolfilter.schema.names import KINDS, PROPER_KINDS
from boolfilter.values import Value, parse_timestamp

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema

# Beside the proper kinds of every present value, so that a root's are not absent: no name is empty.
ROOT = ""
_MEMBERSHIP = frozenset({DomainType.ENUMERATED, DomainType.HIERARCHICAL})


def as_read(schema: Schema, event: FlatEvent) -> FlatEvent:
    """The event with its timestamps read from ISO 8601 texts, and with its type.

    >>> from boolfilter.schema import Schema, timestamp
    >>> schema = Schema({"moment": timestamp()}, {"sold": "moment"})
    >>> as_read(schema, {"sold": "2024-05-01"})["sold"].year
    2024
    """
    read = dict(event)
    for attribute in schema.moments:
        if attribute in read:
            read[attribute] = _each(moment_or_text, read[attribute])
    if schema.default_type is not None:
        read.setdefault(schema.type_attribute, schema.default_type)
    return read


def widened(schema: Schema, event: FlatEvent) -> FlatEvent:
    """An event as read, with what its hierarchical attributes are kinds of.

    A new dict; about a microsecond, and a tenth for each ancestor.

    >>> from boolfilter.schema import Schema, hierarchical
    >>> furniture = hierarchical({"stool": "chair", "chair": "seat"})
    >>> schema = Schema({"furniture": furniture}, {"category": "furniture"})
    >>> widened(schema, {"category": "chair"})["category (is a)"]
    ('chair', 'seat')
    """
    for attribute in schema.hierarchies:
        found = event.get(attribute)
        if found is None:
            event.pop(attribute + KINDS, None)
            event.pop(attribute + PROPER_KINDS, None)
            continue
        values = found if isinstance(found, tuple) else (found,)
        proper = proper_kinds(schema.domain(attribute), values)
        event[attribute + KINDS] = tuple(dict.fromkeys((*values, *proper)))
        event[attribute + PROPER_KINDS] = (ROOT, *proper)
    return event


def proper_kinds(domain: Domain, values: tuple[Value, ...]) -> tuple[str, ...]:
    """What any of the values is a proper kind of."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == 1:
        return tuple(ancestors(domain.values, texts[0]))
    return tuple(dict.fromkeys(a for text in texts for a in ancestors(domain.values, text)))


def moment_or_text(value: Value) -> Value:
    """The timestamp that a text stands for, or the value as it is."""
    try:
        return parse_timestamp(value) if isinstance(value, str) else value
    except ExpressionError:
        return value


def indexed(domain: Domain, leaf: Predicate) -> Predicate:
    """A predicate as it is indexed: probes for hierarchies and members, timestamps read.

    >>> from boolfilter.schema import hierarchical
    >>> furniture = hierarchical({"chair": "seat"})
    >>> print(indexed(furniture, Predicate("category", Operator.LESS, "seat")))
    "category (is a proper)" = 'seat'
    """
    name, operator, operand = leaf.attribute, leaf.operator, leaf.operand
    if domain.type is DomainType.TIMESTAMP and operand is not None:
        return bound_predicate(name, operator, _each(moment_or_text, operand))  # type: ignore[arg-type]
    if operator is Operator.CONTAINS and domain.type in _MEMBERSHIP:
        return bound_predicate(name, Operator.EQUAL, operand)
    suffix = _SUFFIX_OF.get(operator) if domain.type is DomainType.HIERARCHICAL else None
    return leaf if suffix is None else bound_predicate(name + suffix, Operator.EQUAL, operand)


_SUFFIX_OF = {
    Operator.LESS: PROPER_KINDS,
    Operator.LESS_OR_EQUAL: KINDS,
    Operator.IS_A: KINDS,
}
_OPERATOR_OF = {PROPER_KINDS: Operator.LESS, KINDS: Operator.IS_A}


def restored(expression: Expression) -> Expression:
    """An indexed expression in the terms of the schema: it can be subscribed to again.

    >>> from boolfilter import parse
    >>> print(restored(parse('''NOT "category (is a)" IN ('seat', 'bed')''')))
    NOT (category IS A 'seat' OR category IS A 'bed')
    """
    leaves = list(predicates(expression))
    before = [_restored_leaf(leaf) for leaf in leaves]
    if all(old is new for old, new in zip(leaves, before, strict=True)):
        return expression
    return rebuilt(expression, before)


def _restored_leaf(leaf: Predicate) -> Expression:
    for suffix, operator in _OPERATOR_OF.items():
        if leaf.attribute.endswith(suffix):
            name = leaf.attribute.removesuffix(suffix)
            if leaf.operator is Operator.EXISTS:
                return bound_predicate(name, Operator.EXISTS, None)
            operand = leaf.operand
            values = operand if isinstance(operand, tuple) else (operand,)
            return any_of(bound_predicate(name, operator, value) for value in values)
    return leaf


def _each(
    change: Callable[[Value], Value], found: Value | tuple[Value, ...]
) -> Value | tuple[Value, ...]:
    return tuple(map(change, found)) if isinstance(found, tuple) else change(found)
