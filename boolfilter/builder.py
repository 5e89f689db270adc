"""Expressions from Python: ``attr("price") < 10`` and its relatives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from boolfilter.errors import ExpressionError
from boolfilter.expressions import Operator, Pattern, Predicate


class Attribute:
    """An attribute by name, to be compared with values; see :func:`attr`."""

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]  # == builds a predicate, so there is no equality

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ExpressionError(f"an attribute name is a non-empty string, not {name!r}")
        self.name = name

    def __eq__(self, value: Any) -> Predicate:  # type: ignore[override]
        return Predicate(self.name, Operator.EQUAL, value)

    def __ne__(self, value: Any) -> Predicate:  # type: ignore[override]
        return Predicate(self.name, Operator.NOT_EQUAL, value)

    def __lt__(self, value: Any) -> Predicate:
        return Predicate(self.name, Operator.LESS, value)

    def __le__(self, value: Any) -> Predicate:
        return Predicate(self.name, Operator.LESS_OR_EQUAL, value)

    def __gt__(self, value: Any) -> Predicate:
        return Predicate(self.name, Operator.GREATER, value)

    def __ge__(self, value: Any) -> Predicate:
        return Predicate(self.name, Operator.GREATER_OR_EQUAL, value)

    def is_in(self, values: Iterable[Any]) -> Predicate:
        return Predicate(self.name, Operator.IN, values)

    def not_in(self, values: Iterable[Any]) -> Predicate:
        return Predicate(self.name, Operator.NOT_IN, values)

    def between(self, low: Any, high: Any) -> Predicate:
        """Both bounds included."""
        return Predicate(self.name, Operator.BETWEEN, (low, high))

    def not_between(self, low: Any, high: Any) -> Predicate:
        return Predicate(self.name, Operator.NOT_BETWEEN, (low, high))

    def like(self, pattern: str, escape: str | None = None) -> Predicate:
        return Predicate(self.name, Operator.LIKE, Pattern(pattern, escape))

    def not_like(self, pattern: str, escape: str | None = None) -> Predicate:
        return Predicate(self.name, Operator.NOT_LIKE, Pattern(pattern, escape))

    def ilike(self, pattern: str, escape: str | None = None) -> Predicate:
        return Predicate(self.name, Operator.ILIKE, Pattern(pattern, escape))

    def not_ilike(self, pattern: str, escape: str | None = None) -> Predicate:
        return Predicate(self.name, Operator.NOT_ILIKE, Pattern(pattern, escape))

    def starts_with(self, prefix: str) -> Predicate:
        return Predicate(self.name, Operator.STARTS_WITH, prefix)

    def ends_with(self, suffix: str) -> Predicate:
        return Predicate(self.name, Operator.ENDS_WITH, suffix)

    def contains(self, value: Any) -> Predicate:
        """Membership in a multi-valued attribute, substring of a plain string."""
        return Predicate(self.name, Operator.CONTAINS, value)

    def matches(self, regex: str) -> Predicate:
        """An unanchored search for a regular expression in RE2 syntax."""
        return Predicate(self.name, Operator.MATCHES, regex)

    def is_a(self, kind: str) -> Predicate:
        """Is this kind, or one of its kinds: for attributes that a schema calls hierarchical."""
        return Predicate(self.name, Operator.IS_A, kind)

    def is_null(self) -> Predicate:
        return Predicate(self.name, Operator.IS_NULL)

    def exists(self) -> Predicate:
        return Predicate(self.name, Operator.EXISTS)

    def __bool__(self) -> NoReturn:
        raise ExpressionError(
            f"attribute {self.name!r} is not a condition: for a boolean attribute write "
            f"attr({self.name!r}) == True"
        )

    def __repr__(self) -> str:
        return f"attr({self.name!r})"


def attr(name: str) -> Attribute:
    """An attribute to build predicates from; a dotted name reaches into nested events.

    >>> print((attr("price") < 10) | attr("user.country").is_in(["NZ", "AU"]))
    price < 10 OR user.country IN ('NZ', 'AU')
    >>> 1 < attr("price") < 10  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    boolfilter.errors.ExpressionError: an expression has no truth value of its own: ...
    """
    return Attribute(name)
