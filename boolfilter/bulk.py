"""Bulk loads: subscriptions of one shape as columns, turned into a forest without a loop over rows.

A load is mostly a few shapes with many fillings. A shape is normalised once, with placeholders for
its leaves, and then each leaf is a column: attributes, comparisons and values. What depends on the
values of one row only (an equality asked for twice, a contradiction) is left as it is: it is still
right, and the compiler of segments does not need it. Shapes with other leaves than comparisons,
and rows with odd literals, go the way of single subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolfilter.columns import LeafColumn, forest_of_columns, stand_in_name, words_of
from boolfilter.errors import BoolFilterError
from boolfilter.evaluate import Nulls
from boolfilter.expressions import (
    Expression,
    Operator,
    Predicate,
)
from boolfilter.forest import (
    OPERATION_OF,
    DomainKind,
    Forest,
    ForestBuilder,
    forest_of,
    merge_forests,
    take_trees,
)
from boolfilter.language import (
    COMPARISON_OF,
    Shape,
    ShapeLeaf,
    literal_in,
    name_in,
    shape_of_text,
)
from boolfilter.limits import Limits
from boolfilter.normalise import normalise

_ROWS_A_CHUNK = 20_000
_MOST_EXACT_DIGITS = 15  # an integer of so many digits is a float exactly
_OPERATION_OF_SYMBOL = {
    symbol: int(OPERATION_OF[operator])
    for symbol, operator in COMPARISON_OF.items()
    if operator is not Operator.NOT_EQUAL  # which normalises otherwise
}


@dataclass(slots=True)
class Loader:
    """Gathers subscriptions by position and makes one forest of them, in order of position."""

    normal: Callable[[Any], Expression]
    nulls: Nulls
    limits: Limits
    failures: list[tuple[int, BoolFilterError]] = field(default_factory=list)
    _groups: dict[int, _Group] = field(default_factory=dict)
    _parts: list[Forest] = field(default_factory=list)
    _positions: list[NDArray[np.int64]] = field(default_factory=list)
    _single: ForestBuilder = field(default_factory=ForestBuilder)
    _single_positions: list[int] = field(default_factory=list)

    def add(self, position: int, subscription: Any) -> None:
        """Take in one subscription. What is wrong with it may come out only at the next flush."""
        if type(subscription) is str and len(subscription) <= self.limits.text_length:
            try:
                shape, holes = shape_of_text(subscription)
            except BoolFilterError as error:
                self.failures.append((position, error))
                return
            group = self._groups.get(id(shape))
            if group is None:
                group = self._groups[id(shape)] = _Group(shape, _form_of(shape, self.nulls))
            if group.form is not None and group.form.fits(self.limits):
                group.texts.append(subscription)
                group.holes.append(holes)
                group.positions.append(position)
                if len(group.positions) == _ROWS_A_CHUNK:
                    self._flush_group(group)
                return
        self._add_single(position, subscription)

    def flush(self) -> None:
        """Work up what is pending, so that all failures are known."""
        for group in self._groups.values():
            self._flush_group(group)

    def finish(self) -> Forest:
        """The forest of all that was taken in, but for the failures."""
        self.flush()
        if self._single_positions:
            self._parts.append(self._single.finish())
            self._positions.append(np.array(self._single_positions, np.int64))
        if not self._parts:
            return forest_of(())
        forest = merge_forests(self._parts)
        order = np.argsort(np.concatenate(self._positions), kind="stable")
        forest.words, forest.starts = take_trees(forest.words, forest.starts, order)
        return forest

    def _add_single(self, position: int, subscription: Any) -> None:
        try:
            self._single.add(self.normal(subscription))
        except BoolFilterError as error:
            self.failures.append((position, error))
        else:
            self._single_positions.append(position)

    def _flush_group(self, group: _Group) -> None:
        if not group.positions:
            return
        assert group.form is not None
        left: list[int] = []
        for chosen, columns in group.form.columns(group.holes, left):
            self._parts.append(group.form.forest(columns, len(chosen)))
            self._positions.append(np.array(group.positions, np.int64)[chosen])
        for row in left:
            self._add_single(group.positions[row], group.texts[row])
        group.clear()


@dataclass(slots=True)
class _Group:
    """Texts of one shape that wait to be turned into columns."""

    shape: Shape  # kept alive: groups are found by its identity
    form: Form | None
    texts: list[str] = field(default_factory=list)
    holes: list[list[str]] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)

    def clear(self) -> None:
        self.texts, self.holes, self.positions = [], [], []


class _FormLeaf(NamedTuple):
    """A leaf of a form: which comparison it makes if that is fixed, and a fixed value if any."""

    operator: Operator | None
    value: Any  # of a leaf without a literal: TRUE for a bare attribute


@dataclass(frozen=True, slots=True)
class Form:
    """A normalised shape: tree words in which leaf ``2 * i`` is the comparison of leaf i, and
    ``2 * i + 1`` the presence of its attribute.

    A row with a negative comparison (<>) is not of this form: it normalises otherwise.
    """

    expression: Expression
    leaves: tuple[_FormLeaf, ...]
    nulls: Nulls

    def fits(self, limits: Limits) -> bool:
        return self.expression.depth <= limits.depth and self.expression.leaves <= limits.leaves

    def columns(
        self, rows: list[list[str]], left: list[int]
    ) -> Iterable[tuple[NDArray[np.int64], list[LeafColumn]]]:
        """The rows of holes as columns, in groups of one kind of value and one set of negative
        comparisons; rows that need a real parse are appended to `left`."""
        by_kind: dict[tuple[bool, ...], list[int]] = {}
        places = self._literal_places()
        for row, holes in enumerate(rows):
            by_kind.setdefault(tuple([holes[place][0] == "'" for place in places]), []).append(row)
        for kinds, members in by_kind.items():
            try:
                yield np.array(members), self._columns(rows, members, kinds)
            except (ValueError, KeyError):
                # One of them is odd. Find out which, one by one; the others stay together.
                good = [row for row in members if self._is_plain(rows[row], kinds)]
                left.extend(sorted(set(members) - set(good)))
                if good:
                    yield np.array(good), self._columns(rows, good, kinds)

    def forest(self, columns: list[LeafColumn], rows: int) -> Forest:
        """The forest of these rows."""
        return forest_of_columns(self.words(), columns, rows)

    def words(self) -> NDArray[np.int32]:
        """The normal form as words; see the class for their leaf numbers."""
        return words_of(normalise(self.expression, nulls=self.nulls))

    def _literal_places(self) -> list[int]:
        places, place = [], 0
        for leaf in self.leaves:
            place += 1 + (leaf.operator is None)
            if leaf.value is None and leaf.operator not in _UNARY:
                places.append(place)
                place += 1
        return places

    def _columns(
        self, rows: list[list[str]], members: list[int], kinds: tuple[bool, ...]
    ) -> list[LeafColumn]:
        holes = list(zip(*[rows[row] for row in members], strict=True))
        texts = iter(kinds)
        place = 0
        result = []
        for leaf in self.leaves:
            names, attribute = _numbered(holes[place])
            place += 1
            if leaf.operator is None:
                operation = np.array(
                    [_OPERATION_OF_SYMBOL[symbol] for symbol in holes[place]], np.uint8
                )
                place += 1
            else:
                operation = np.full(len(members), OPERATION_OF.get(leaf.operator, 0), np.uint8)
            kind = DomainKind.BOOLEAN
            values: Any = np.ones(len(members))  # TRUE
            if leaf.value is None and leaf.operator not in _UNARY:
                is_text = next(texts)
                kind = DomainKind.STRING if is_text else DomainKind.NUMBER
                values = (_texts if is_text else _numbers)(holes[place])
                place += 1
            result.append(LeafColumn(names, attribute, operation, kind, values))
        return result

    def _is_plain(self, holes: list[str], kinds: tuple[bool, ...]) -> bool:
        try:
            self._columns([holes], [0], kinds)
        except (ValueError, KeyError):
            return False
        return True


_UNARY = frozenset({Operator.EXISTS, Operator.IS_NULL})


def _form_of(shape: Shape, nulls: Nulls) -> Form | None:
    """The form of a shape, or None if a leaf is no plain comparison."""
    if not shape.leaves:
        return None
    leaves: list[_FormLeaf] = []
    stand_ins: list[Expression] = []
    for leaf in shape.leaves:
        if not isinstance(leaf, ShapeLeaf):
            stand_ins.append(leaf)
            continue
        comparison = leaf.operator is None and leaf.read is None
        if not comparison and leaf.operator not in _UNARY and leaf.operand is not True:
            return None
        if leaf.literals == 0 and leaf.operand is False:
            return None
        number = len(leaves)
        operator = leaf.operator if leaf.operator in _UNARY else Operator.EQUAL
        operand = None if operator in _UNARY else number
        stand_ins.append(Predicate(stand_in_name(number), operator, operand))
        fixed = True if leaf.literals == 0 and leaf.operand is True else None
        leaves.append(_FormLeaf(leaf.operator, fixed))
    return Form(shape.assembled(stand_ins), tuple(leaves), nulls)


def _numbered(holes: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    distinct = {hole: place for place, hole in enumerate(dict.fromkeys(holes))}
    names = [name_in(hole) for hole in distinct]
    if len(distinct) == 1:
        return names, np.zeros(len(holes), np.int32)
    return names, np.array([distinct[hole] for hole in holes], np.int32)


def _numbers(holes: Sequence[str]) -> NDArray[Any]:
    """Number literals that floats hold exactly; ValueError if one is not."""
    if "".join(holes).isdigit() and "".join(holes).isascii():
        if max(map(len, holes)) > _MOST_EXACT_DIGITS:
            raise ValueError("a long integer")
        return np.array(list(map(int, holes)), np.float64)
    values: list[Any] = [literal_in(hole) for hole in holes]
    if any(isinstance(value, int) and abs(value) > 2**53 for value in values):
        raise ValueError("a long integer")
    return np.array(values, np.float64)


def _texts(holes: Sequence[str]) -> list[str]:
    return [str(literal_in(hole)) for hole in holes]
