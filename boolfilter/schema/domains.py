"""Domains: what values an attribute can have, and what it may be asked for.

>>> brand = enumerated(["opel", "mini"])
>>> brand.holds("mini"), brand.holds("fiat"), brand.holds(7)
(True, False, False)
>>> in_order(numeric(["<=", ">="]).allowed)
'<= >= BETWEEN NOT BETWEEN IS NULL IS NOT NULL'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from boolfilter.errors import SchemaError
from boolfilter.expressions import COMPARISONS, Operator
from boolfilter.schema.hierarchy import parents_of
from boolfilter.schema.names import checked_name
from boolfilter.values import Kind, Value, kind_of


class DomainType(StrEnum):
    NUMERIC = "numeric"
    STRING = "string"
    ENUMERATED = "enumerated"
    HIERARCHICAL = "hierarchical"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"


KIND_OF = {
    DomainType.NUMERIC: Kind.NUMBER,
    DomainType.STRING: Kind.STRING,
    DomainType.ENUMERATED: Kind.STRING,
    DomainType.HIERARCHICAL: Kind.STRING,
    DomainType.BOOLEAN: Kind.BOOLEAN,
    DomainType.TIMESTAMP: Kind.TIMESTAMP,
}
_EQUALITY = frozenset({Operator.EQUAL, Operator.NOT_EQUAL, Operator.CONTAINS})
_KIND_OF = frozenset({Operator.LESS, Operator.LESS_OR_EQUAL})
_PATTERNS = frozenset(
    {
        Operator.LIKE,
        Operator.NOT_LIKE,
        Operator.ILIKE,
        Operator.NOT_ILIKE,
        Operator.STARTS_WITH,
        Operator.ENDS_WITH,
        Operator.MATCHES,
    }
)
OPERATORS_OF = {
    DomainType.NUMERIC: COMPARISONS | _EQUALITY,
    DomainType.STRING: COMPARISONS | _EQUALITY | _PATTERNS,
    DomainType.ENUMERATED: _EQUALITY,
    DomainType.HIERARCHICAL: _EQUALITY | _KIND_OF,
    DomainType.BOOLEAN: _EQUALITY,
    DomainType.TIMESTAMP: COMPARISONS | _EQUALITY,
}
# Operators that say in one what others say: they are allowed where all of those are.
_IMPLIED_BY = {
    Operator.IN: frozenset({Operator.EQUAL}),
    Operator.NOT_IN: frozenset({Operator.NOT_EQUAL}),
    Operator.BETWEEN: frozenset({Operator.LESS_OR_EQUAL, Operator.GREATER_OR_EQUAL}),
    Operator.NOT_BETWEEN: frozenset({Operator.LESS_OR_EQUAL, Operator.GREATER_OR_EQUAL}),
}
_ALWAYS = frozenset({Operator.EXISTS, Operator.IS_NULL})
_WITH_VALUES = frozenset({DomainType.ENUMERATED, DomainType.HIERARCHICAL})


@dataclass(frozen=True, slots=True)
class Domain:
    """A type of values, the operators over them, and for an enumerated or hierarchical one the
    values themselves, each with its parents. Made by the functions of this module.

    ``allowed`` are the operators that subscriptions may use: those and what they imply.
    """

    type: DomainType
    operators: frozenset[Operator]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    allowed: frozenset[Operator] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        listed = self.type in _WITH_VALUES
        if listed and not self.values:
            raise SchemaError(f"a domain of type {self.type} needs at least one value")
        if self.values and not listed:
            raise SchemaError(f"a domain of type {self.type} lists no values")
        for value in self.values:
            checked_name(value, "a value")
        foreign = self.operators - OPERATORS_OF[self.type]
        if foreign:
            raise SchemaError(
                f"a domain of type {self.type} has no operator {min(foreign)}: "
                f"it has {in_order(OPERATORS_OF[self.type])}"
            )
        if not self.operators:
            raise SchemaError("a domain needs at least one operator")
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))
        object.__setattr__(self, "allowed", _allowed(self.type, self.operators))

    @property
    def kind(self) -> Kind:
        return KIND_OF[self.type]

    def holds(self, value: Value) -> bool:
        """Whether a value is one of the domain."""
        if kind_of(value) is not KIND_OF[self.type]:
            return False
        return not self.values or value in self.values

    def __reduce__(self) -> tuple[Any, ...]:
        return (Domain, (self.type, self.operators, dict(self.values)))

    def __hash__(self) -> int:
        return hash((self.type, self.operators, tuple(self.values)))


def numeric(operators: Iterable[str] | None = None) -> Domain:
    """Integers and floating-point numbers."""
    return _domain(DomainType.NUMERIC, operators)


def string(operators: Iterable[str] | None = None) -> Domain:
    """Any text."""
    return _domain(DomainType.STRING, operators)


def boolean(operators: Iterable[str] | None = None) -> Domain:
    """TRUE and FALSE."""
    return _domain(DomainType.BOOLEAN, operators)


def timestamp(operators: Iterable[str] | None = None) -> Domain:
    """Instants; a string in ISO 8601 stands for one, in events and subscriptions."""
    return _domain(DomainType.TIMESTAMP, operators)


def enumerated(values: Iterable[str], operators: Iterable[str] | None = None) -> Domain:
    """One of these strings."""
    if isinstance(values, str):
        raise SchemaError(f"the values of an enumerated domain are a list, not {values!r}")
    return _domain(DomainType.ENUMERATED, operators, dict.fromkeys(values, ()))


def hierarchical(
    kinds: Mapping[str, str | Iterable[str] | None], operators: Iterable[str] | None = None
) -> Domain:
    """Strings that are kinds of others: each with its parent, or a list of them, or None.

    ``<=`` and ``IS A`` then mean *is a kind of*, and ``<`` *is a proper kind of*.

    >>> sorted(hierarchical({"table": "dining room", "chair": "dining room"}).values)
    ['chair', 'dining room', 'table']
    """
    return _domain(DomainType.HIERARCHICAL, operators, parents_of(kinds))


def in_order(operators: Iterable[Operator]) -> str:
    """Operators in the order of the language.

    >>> in_order({Operator.LESS, Operator.EQUAL})
    '= <'
    """
    known = set(operators)
    return " ".join(operator for operator in Operator if operator in known)


def _allowed(type: DomainType, operators: frozenset[Operator]) -> frozenset[Operator]:
    implied = {operator for operator, needed in _IMPLIED_BY.items() if needed <= operators}
    if type is DomainType.HIERARCHICAL and Operator.LESS_OR_EQUAL in operators:
        implied.add(Operator.IS_A)
    return operators | implied | _ALWAYS


def _domain(
    type: DomainType,
    operators: Iterable[str] | None,
    values: Mapping[str, tuple[str, ...]] | None = None,
) -> Domain:
    if operators is None:
        return Domain(type, OPERATORS_OF[type], values or {})
    try:
        return Domain(type, frozenset(map(Operator, operators)), values or {})
    except ValueError as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"{str(error).split(' is not')[0]} is not an operator") from None
