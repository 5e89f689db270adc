"""Bulk loads: subscriptions of one shape as columns, turned into a forest without a loop over rows.

A load is mostly a few shapes with many fillings. A shape is normalised once, with placeholders for
its leaves, and then each leaf is a column: attributes, comparisons and values. What depends on the
values of one row only (an equality asked for twice, a contradiction) is left as it is: it is still
right, and the compiler of segments does not need it. Shapes with other leaves than comparisons and
ranges, and rows with odd literals, go the way of single subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
from boolfilter.errors import BoolFilterError
from boolfilter.evaluate import Nulls
from boolfilter.expressions import POSITIVE_OF, Expression, Operator, Predicate
from boolfilter.forest import (
    OPERATION_OF,
    DomainKind,
    Forest,
    ForestBuilder,
    Operation,
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
_LEAST_WORTH_COLUMNS = 8
_MOST_EXACT_DIGITS = 15  # an integer of so many digits is a float exactly
_OPERATION_OF_SYMBOL = {
    symbol: int(OPERATION_OF.get(operator, Operation.EQUAL))
    for symbol, operator in COMPARISON_OF.items()
}
_NEGATIVE_SYMBOLS = frozenset(
    symbol for symbol, operator in COMPARISON_OF.items() if operator is Operator.NOT_EQUAL
)


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
                form = _form_of(shape, self.nulls)
                if form is not None and not form.fits(self.limits):
                    form = None  # told what is wrong as a single one
                group = self._groups[id(shape)] = _Group(shape, form)
            if group.form is not None:
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
        for chosen, words, columns in group.form.columns(group.holes, left):
            self._parts.append(forest_of_columns(words, columns, len(chosen)))
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
    """A leaf of a form: its operator (None: each row says), and how many literals a row has for
    it; with none it is a bare attribute or asks for presence."""

    operator: Operator | None
    literals: int


class _Kinds(NamedTuple):
    """What rows must have in common to share a tree and columns."""

    texts: tuple[bool, ...]  # of each literal, whether it is a string
    negative: tuple[bool, ...]  # of each leaf, whether its comparison is a negative one


@dataclass(frozen=True, slots=True)
class Form:
    """A shape whose leaves are comparisons and ranges, to be filled by columns.

    ``fixed`` has the leaves of the shape that are finished, and None in the place of ``leaves``.
    """

    shape: Shape
    fixed: tuple[Expression | None, ...]
    leaves: tuple[_FormLeaf, ...]
    nulls: Nulls

    def fits(self, limits: Limits) -> bool:
        expression = self._expression((False,) * len(self.leaves))
        return expression.depth <= limits.depth and expression.leaves <= limits.leaves

    def columns(
        self, rows: list[list[str]], left: list[int]
    ) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int32], list[LeafColumn]]]:
        """The rows of holes in groups that share a tree: which rows, the words of the tree (see
        `words_of`), and its leaves as columns. Rows that need a real parse, and those that are too
        few to be worth columns, are appended to `left`."""
        groups: dict[_Kinds, list[int]] = {}
        for row, holes in enumerate(rows):
            groups.setdefault(self._kinds(holes), []).append(row)
        for kinds, members in groups.items():
            if len(members) < _LEAST_WORTH_COLUMNS:
                left.extend(members)
                continue
            try:
                columns = self._columns(rows, members, kinds)
            except (ValueError, KeyError):
                # One of them is odd. Find out which, one by one; the others stay together.
                good = [row for row in members if self._is_plain(rows[row], kinds)]
                left.extend(sorted(set(members) - set(good)))
                if not good:
                    continue
                members, columns = good, self._columns(rows, good, kinds)
            words = words_of(normalise(self._expression(kinds.negative), nulls=self.nulls))
            yield np.array(members), words, columns

    def _expression(self, negative: Sequence[bool]) -> Expression:
        """The shape with a stand-in for each leaf; the operator says all that matters to NOT."""
        stand_ins = []
        for number, (leaf, is_negative) in enumerate(zip(self.leaves, negative, strict=True)):
            operator = Operator.NOT_EQUAL if is_negative else Operator.EQUAL
            if leaf.operator in UNARY:
                stand_ins.append(Predicate(stand_in_name(number), leaf.operator))
            else:
                stand_ins.append(Predicate(stand_in_name(number), operator, number))
        following = iter(stand_ins)
        return self.shape.assembled(
            next(following) if leaf is None else leaf for leaf in self.fixed
        )

    def _kinds(self, holes: list[str]) -> _Kinds:
        texts, negative = [], []
        place = 0
        for leaf in self.leaves:
            place += 1
            if leaf.operator is None:
                negative.append(holes[place] in _NEGATIVE_SYMBOLS)
                place += 1
            else:
                negative.append(leaf.operator in POSITIVE_OF)
            texts += [hole[0] == "'" for hole in holes[place : place + leaf.literals]]
            place += leaf.literals
        return _Kinds(tuple(texts), tuple(negative))

    def _columns(
        self, rows: list[list[str]], members: list[int], kinds: _Kinds
    ) -> list[LeafColumn]:
        """ValueError or KeyError if a row does not go with the others."""
        holes = iter(list(zip(*[rows[row] for row in members], strict=True)))
        texts = iter(kinds.texts)
        result = []
        for leaf in self.leaves:
            names, attribute = _numbered(next(holes))
            operation = _operations(leaf, next(holes) if leaf.operator is None else (), members)
            is_text = [next(texts) for _ in range(leaf.literals)]
            if len(set(is_text)) > 1:
                raise ValueError("bounds of two kinds")
            read = _texts if any(is_text) else _numbers
            bounds = [read(next(holes)) for _ in is_text]
            if len(bounds) == 2 and not all_below(*bounds):
                raise ValueError("an empty range, or of one value")
            if not bounds:
                result.append(_bare(names, attribute, operation))
                continue
            kind = DomainKind.STRING if any(is_text) else DomainKind.NUMBER
            result.append(LeafColumn(names, attribute, operation, kind, *bounds))
        return result

    def _is_plain(self, holes: list[str], kinds: _Kinds) -> bool:
        try:
            self._columns([holes], [0], kinds)
        except (ValueError, KeyError):
            return False
        return True


def _form_of(shape: Shape, nulls: Nulls) -> Form | None:
    """The form of a shape, or None if a leaf is no plain comparison or range."""
    if not shape.leaves:
        return None
    leaves: list[_FormLeaf] = []
    fixed: list[Expression | None] = []
    for leaf in shape.leaves:
        if not isinstance(leaf, ShapeLeaf):
            fixed.append(leaf)
            continue
        compares = leaf.operator is None and leaf.read is None and leaf.operand is not False
        is_range = leaf.operator in RANGES and leaf.literals == 2
        bare = leaf.literals == 0 and (leaf.operator in UNARY or leaf.operand is True)
        if not (compares or is_range or bare):
            return None
        fixed.append(None)
        leaves.append(_FormLeaf(leaf.operator, leaf.literals))
    return Form(shape, tuple(fixed), tuple(leaves), nulls)


def _operations(
    leaf: _FormLeaf, symbols: Sequence[str], members: Sequence[int]
) -> NDArray[np.uint8]:
    if leaf.operator is None:
        return np.array([_OPERATION_OF_SYMBOL[symbol] for symbol in symbols], np.uint8)
    operation = Operation.BETWEEN if leaf.operator in RANGES else Operation.EQUAL
    return np.full(len(members), operation, np.uint8)


def _bare(
    names: list[str], attribute: NDArray[np.int32], operation: NDArray[np.uint8]
) -> LeafColumn:
    return LeafColumn(names, attribute, operation, DomainKind.BOOLEAN, np.ones(len(attribute)))


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
