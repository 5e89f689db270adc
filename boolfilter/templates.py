"""Templates: one text with ``?`` for values that come in columns, for loads by the million."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.columns import (
    RANGES,
    UNARY,
    LeafColumn,
    all_below,
    forest_of_columns,
    stand_in_name,
    words_of,
)
from boolfilter.errors import BadSubscriptionError, BoolFilterError, ExpressionError
from boolfilter.evaluate import Nulls
from boolfilter.expressions import (
    COMPARISONS,
    POSITIVE_OF,
    Expression,
    Operator,
    Pattern,
    Predicate,
    predicates,
    rebuilt,
)
from boolfilter.forest import (
    OPERATION_OF,
    DomainKind,
    Forest,
    ForestBuilder,
    Operation,
    exact_number,
)
from boolfilter.language import parse
from boolfilter.limits import Limits
from boolfilter.normalise import normalise
from boolfilter.values import KIND_OF_TYPE, Value, literal

_MARKS = re.compile(r"""('[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|--[^\n]*)|\?""")


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template; ``holes`` is the number of its question marks."""

    expression: Expression
    holes: int
    nulls: Nulls
    limits: Limits

    def forest(self, ids: Sequence[Any], columns: Sequence[Any]) -> Forest:
        """The forest of its rows; about a microsecond a row where all holes are compared with.

        Values in lists and patterns are bound row by row instead.
        """
        if len(columns) != self.holes:
            raise ExpressionError(f"the template has {self.holes} ?, not {len(columns)}")
        values = [_Column.of(column, number) for number, column in enumerate(columns)]
        for number, column in enumerate(values):
            if len(column) != len(ids):
                raise ExpressionError(
                    f"column {number} has {len(column)} values for {len(ids)} ids"
                )
        leaves = list(predicates(self.expression))
        operands = [_operands(leaf, values, len(ids)) for leaf in leaves]
        if all(map(_is_plain, operands)):
            return self._by_column(leaves, operands, len(ids))
        return self._by_row(ids, values)

    def bound(self, columns: list[Any], row: int) -> Expression:
        """The expression with the values of one row in its holes."""
        return rebuilt(
            self.expression,
            [
                Predicate(leaf.attribute, leaf.operator, _bound(leaf.operand, columns, row))
                for leaf in predicates(self.expression)
            ],
        )

    def _by_column(
        self, leaves: list[Predicate], operands: list[list[_Column]], rows: int
    ) -> Forest:
        stand_ins = []
        for number, leaf in enumerate(leaves):
            operator = Operator.EQUAL
            if leaf.operator in UNARY:
                operator = leaf.operator
            elif leaf.operator in POSITIVE_OF:
                operator = Operator.NOT_EQUAL
            operand = None if leaf.operator in UNARY else number
            stand_ins.append(Predicate(stand_in_name(number), operator, operand))
        normal = normalise(
            rebuilt(self.expression, stand_ins), nulls=self.nulls, limits=self.limits
        )
        columns = list(map(_leaf_column, leaves, operands))
        return forest_of_columns(words_of(normal), columns, rows)

    def _by_row(self, ids: Sequence[Any], columns: list[_Column]) -> Forest:
        builder = ForestBuilder()
        rows = [column.values() for column in columns]
        for row in range(len(ids)):
            try:
                expression = self.bound(rows, row)
                builder.add(normalise(expression, nulls=self.nulls, limits=self.limits))
            except BoolFilterError as error:
                raise BadSubscriptionError(row, ids[row], error) from error
        return builder.finish()


def parse_template(text: str, nulls: Nulls, limits: Limits) -> Template:
    """A template from its text.

    >>> template = parse_template("price < ? AND brand = ?", "false", Limits())
    >>> template.holes, len(template.forest([1, 2], [[5, 10], ["Acme", "Bolt"]]))
    (2, 2)
    """
    holes = 0

    def mark(match: re.Match[str]) -> str:
        nonlocal holes
        if match[1] is not None:  # a string, a quoted name or a comment
            return match[0]
        holes += 1
        return f"'{_placeholder(holes - 1)}'"

    return Template(parse(_MARKS.sub(mark, text), limits=limits), holes, nulls, limits)


def _placeholder(number: int) -> str:
    return f"\0?{number}"


def holes_of(leaf: Predicate) -> list[int]:
    """The numbers of the holes of a leaf, wherever in its operand they stand."""
    operand: Any = leaf.operand
    parts = operand if isinstance(operand, tuple) else (operand,)
    return [hole for part in parts if (hole := _hole_of(part)) is not None]


def _hole_of(operand: Any) -> int | None:
    if isinstance(operand, str) and operand.startswith("\0?"):
        return int(operand[2:])
    return None


def _bound(operand: Any, rows: list[Any], row: int) -> Any:
    """An operand with the values of one row in its holes."""
    if isinstance(operand, Pattern):
        return Pattern(_bound(operand.text, rows, row), operand.escape)
    if isinstance(operand, tuple):
        return tuple(_bound(value, rows, row) for value in operand)
    hole = _hole_of(operand)
    return operand if hole is None else rows[hole][row]


def _operands(leaf: Predicate, columns: list[_Column], rows: int) -> list[_Column]:
    """What a leaf compares with, as columns: a value, or the two bounds of a range."""
    if leaf.operator in UNARY:
        return [_Column.of([True] * rows, 0)]
    if leaf.operator not in COMPARISONS | RANGES:
        return []
    found = leaf.operand if isinstance(leaf.operand, tuple) else (leaf.operand,)
    holes = map(_hole_of, found)
    return [
        _Column.of([value] * rows, 0) if hole is None else columns[hole]
        for value, hole in zip(found, holes, strict=True)
    ]


def _is_plain(operands: list[_Column]) -> bool:
    kinds = {operand.kind for operand in operands}
    if len(kinds) != 1 or None in kinds:
        return False
    # A range that is empty, or of one value, normalises to something else.
    return len(operands) == 1 or all_below(*(bound.numbers for bound in operands))


def _leaf_column(leaf: Predicate, operands: list[_Column]) -> LeafColumn:
    value, *upper = operands
    assert value.kind is not None
    rows = len(value)
    operation = Operation.BETWEEN if upper else OPERATION_OF.get(leaf.operator, Operation.EQUAL)
    return LeafColumn(
        [leaf.attribute],
        np.zeros(rows, np.int32),
        np.full(rows, operation, np.uint8),
        value.kind,
        value.numbers,
        upper[0].numbers if upper else None,
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of one hole: numbers or texts if all are of one ``kind``, else only ``raw``."""

    kind: DomainKind | None
    numbers: Any
    raw: Any

    def __len__(self) -> int:
        return len(self.raw)

    def values(self) -> list[Value]:
        return self.raw.tolist() if isinstance(self.raw, np.ndarray) else list(self.raw)

    @staticmethod
    def of(values: Any, number: int) -> _Column:
        if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
            values = values.to_pylist() if hasattr(values, "to_pylist") else values.to_numpy()
        if isinstance(values, np.ndarray) and values.ndim == 1:
            if values.dtype.kind in "iuf" and values.dtype != np.uint64:
                return _of_numbers(values, number)
            if values.dtype.kind == "b":
                return _Column(DomainKind.BOOLEAN, values.astype(np.float64), values)
            if values.dtype.kind == "M":
                values = values.astype("datetime64[us]")
            values = values.tolist()
        try:
            checked = [literal(value) for value in values]
        except (ExpressionError, TypeError) as error:
            raise ExpressionError(f"column {number}: {error}") from None
        kinds = {KIND_OF_TYPE[type(value)] for value in checked}
        if len(kinds) != 1:
            return _Column(None, None, checked)
        kind = DomainKind[kinds.pop().name]
        if kind is DomainKind.STRING:
            return _Column(kind, checked, checked)
        return _Column(kind, _exact_numbers(checked), checked)


def _of_numbers(values: NDArray[Any], number: int) -> _Column:
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ExpressionError(f"column {number}: NaN cannot be compared with")
    return _Column(DomainKind.NUMBER, values, values)


def _exact_numbers(values: list[Any]) -> Any:
    """An array where floats or 64-bit integers hold the values exactly, else a list."""
    numbers = [exact_number(value) for value in values]
    types = set(map(type, numbers))
    if types == {float} or (types == {int} and all(-(2**63) <= n < 2**63 for n in numbers)):
        return np.array(numbers)
    return numbers
