"""A schema read the obvious way: what the indexed paths are tested against.

It asks the schema for the type and the values of a domain only; parents are followed one by one,
and no derived attribute exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import boolfilter as bf
from boolfilter import Operator
from boolfilter.evaluate import Nulls, Truth, combine, holds
from boolfilter.events import FlatEvent, flatten
from boolfilter.expressions import bound_predicate, postorder
from boolfilter.schema import Domain, DomainType
from boolfilter.values import parse_timestamp


def satisfies(
    schema: bf.Schema, expression: bf.Expression, event: Mapping[str, Any], nulls: Nulls
) -> bool:
    flat = {name: read(schema, name, value) for name, value in flatten(event).items()}
    if schema.default_type is not None:
        flat.setdefault(schema.type_attribute, schema.default_type)
    truths: list[Truth] = []
    for node in postorder(expression):
        count = len(node.children)
        operands = truths[len(truths) - count :]
        del truths[len(truths) - count :]
        truths.append(combine(node, operands) if count else leaf_truth(schema, node, flat, nulls))
    return truths[0] is True


def is_kind(domain: Domain, value: Any, other: Any) -> bool:
    return value == other or is_proper_kind(domain, value, other)


def is_proper_kind(domain: Domain, value: Any, other: Any) -> bool:
    return any(is_kind(domain, parent, other) for parent in domain.values.get(value, ()))


def leaf_truth(schema: bf.Schema, leaf: bf.Expression, event: FlatEvent, nulls: Nulls) -> Truth:
    if isinstance(leaf, bf.Constant):
        return leaf.value
    assert isinstance(leaf, bf.Predicate)
    absent: Truth = None if nulls == "sql" else False
    domain = schema.domain(leaf.attribute)
    found = event.get(leaf.attribute)
    if found is not None and domain.type in (DomainType.HIERARCHICAL, DomainType.ENUMERATED):
        values = found if isinstance(found, tuple) else (found,)
        if leaf.operator in (Operator.LESS_OR_EQUAL, Operator.IS_A):
            return any(is_kind(domain, value, leaf.operand) for value in values)
        if leaf.operator is Operator.LESS:
            return any(is_proper_kind(domain, value, leaf.operand) for value in values)
        if leaf.operator is Operator.CONTAINS:
            return leaf.operand in [value for value in values if isinstance(value, str)]
    elif found is None and leaf.operator is Operator.IS_A:
        return absent
    operand: Any = leaf.operand
    if domain.type is DomainType.TIMESTAMP:
        several = isinstance(operand, tuple)
        operand = tuple(map(moment, operand)) if several else moment(operand)
    return holds(bound_predicate(leaf.attribute, leaf.operator, operand), event, absent)


def read(schema: bf.Schema, name: str, value: Any) -> Any:
    if name not in schema.names or schema.domain(name).type is not DomainType.TIMESTAMP:
        return value
    return tuple(map(moment, value)) if isinstance(value, tuple) else moment(value)


def moment(value: Any) -> Any:
    try:
        return parse_timestamp(value) if isinstance(value, str) else value
    except bf.ExpressionError:
        return value
