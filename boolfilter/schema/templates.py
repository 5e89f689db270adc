"""Templates against a schema: their text once, their columns value by distinct value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boolfilter.errors import BadSubscriptionError, BoolFilterError, ExpressionError
from boolfilter.expressions import Operator, Pattern, predicates, rebuilt
from boolfilter.schema.derived import indexed, moment_or_text
from boolfilter.schema.domains import Domain, DomainType
from boolfilter.schema.subscriptions import admitted
from boolfilter.templates import Template, holes_of
from boolfilter.values import literal

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema

_TEXT_OPERATORS = frozenset({Operator.MATCHES, Operator.STARTS_WITH, Operator.ENDS_WITH})


def admitted_template(
    schema: Schema, template: Template, ids: Sequence[Any], columns: Sequence[Any]
) -> tuple[Template, Sequence[Any]]:
    """A template and its columns in index terms; BadSubscriptionError for the first row that does
    not fit the schema. Some tenths of a microsecond a value, nothing for arrays of numbers."""
    if not len(ids) or len(columns) != template.holes:
        return template, columns  # which the template refuses, or has nothing to do with
    values = [_values(column) for column in columns]
    if any(len(column) != len(ids) for column in values):
        return template, columns
    _check_row(schema, template, ids, values, 0)
    leaves = list(predicates(template.expression))
    bad: list[int] = []
    for leaf in leaves:
        domain = schema.domain(leaf.attribute)
        if isinstance(leaf.operand, Pattern) or leaf.operator in _TEXT_OPERATORS:
            continue
        for hole in holes_of(leaf):
            if domain.type is DomainType.TIMESTAMP:
                values[hole] = _moments(values[hole])
            bad.extend(_first_outside(domain, values[hole]))
    if bad:
        _check_row(schema, template, ids, [_values(column) for column in columns], min(bad))
    changed = [indexed(schema.domain(leaf.attribute), leaf) for leaf in leaves]
    return replace(template, expression=rebuilt(template.expression, changed)), values


def _check_row(
    schema: Schema, template: Template, ids: Sequence[Any], values: list[Any], row: int
) -> None:
    try:
        admitted(schema, template.bound(values, row), template.limits)
    except BoolFilterError as error:
        raise BadSubscriptionError(row, ids[row], error) from error


def _values(column: Any) -> Any:
    for convert in ("to_pylist", "to_numpy"):
        if hasattr(column, convert) and not isinstance(column, np.ndarray):
            return getattr(column, convert)()
    return column


def _moments(column: Any) -> Any:
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        return column
    return [moment_or_text(value) for value in column]


def _first_outside(domain: Domain, column: Any) -> Iterable[int]:
    """The row of the first value that is not in the domain, if there is one."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "iuf" and domain.type is DomainType.NUMERIC:
            return ()
        column = column.astype("datetime64[us]") if column.dtype.kind == "M" else column
        column = column.tolist()
    first: dict[tuple[type, Any], int] = {}
    for row, value in enumerate(column):
        first.setdefault((type(value), value), row)
    for (_, value), row in first.items():
        try:
            if not domain.holds(literal(value)):
                return (row,)
        except ExpressionError:  # which the template tells better
            return ()
    return ()
