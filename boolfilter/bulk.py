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

from boolfilter.errors import BoolFilterError
from boolfilter.evaluate import Nulls
from boolfilter.expressions import (
    Expression,
    Operator,
    Predicate,
    bound_node,
)
from boolfilter.forest import (
    DomainKey,
    DomainKind,
    Forest,
    ForestBuilder,
    Operation,
    forest_of,
    joined_constants,
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
_OPERATIONS = {
    Operator.EQUAL: Operation.EQUAL,
    Operator.NOT_EQUAL: Operation.EQUAL,  # its negation is in the shape
    Operator.LESS: Operation.LESS,
    Operator.LESS_OR_EQUAL: Operation.LESS_OR_EQUAL,
    Operator.GREATER: Operation.GREATER,
    Operator.GREATER_OR_EQUAL: Operation.GREATER_OR_EQUAL,
}
_OPERATION_OF_SYMBOL = {
    symbol: int(_OPERATIONS[operator]) for symbol, operator in COMPARISON_OF.items()
}
_NEGATIVE_SYMBOLS = frozenset({"<>", "!="})


class LeafColumn(NamedTuple):
    """One leaf of many subscriptions: names and where they are used, operations, values."""

    names: list[str]
    attribute: NDArray[np.int32]
    operation: NDArray[np.uint8]
    values: NDArray[Any] | list[str]  # numbers, or texts


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
        return _words_of(normalise(self.expression, nulls=self.nulls))

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
                operation = np.array([_plain_operation(s) for s in holes[place]], np.uint8)
                place += 1
            else:
                operation = np.full(len(members), _OPERATIONS.get(leaf.operator, 0), np.uint8)
            values: Any = np.full(len(members), leaf.value is True, np.float64)
            if leaf.value is None and leaf.operator not in _UNARY:
                read = _texts if next(texts) else _numbers
                values = read(holes[place])
                place += 1
            elif leaf.value is not None:
                values = values.astype(np.bool_)
            result.append(LeafColumn(names, attribute, operation, values))
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
        stand_ins.append(Predicate(f"\0{number}", operator, operand))
        fixed = True if leaf.literals == 0 and leaf.operand is True else None
        leaves.append(_FormLeaf(leaf.operator, fixed))
    return Form(_assembled(shape, stand_ins), tuple(leaves), nulls)


def _assembled(shape: Shape, leaves: list[Expression]) -> Expression:
    stack: list[Expression] = []
    following = iter(leaves)
    for node in shape.nodes:
        if node is None:
            stack.append(next(following))
        else:
            node_class, count, depth, size = node
            children = tuple(stack[-count:])
            del stack[-count:]
            stack.append(bound_node(node_class, children, depth, size))
    return stack[0]


def _plain_operation(symbol: str) -> int:
    if symbol in _NEGATIVE_SYMBOLS:
        raise ValueError("normalises otherwise")
    return _OPERATION_OF_SYMBOL[symbol]


def _words_of(normal: Expression) -> NDArray[np.int32]:
    """The words of a normal form over stand-ins."""
    forest = forest_of((normal,))
    words = forest.words.copy()
    number = np.zeros(len(forest.operation), np.int32)
    for predicate, domain in enumerate(forest.domain.tolist()):
        name, kind = forest.domains[domain]
        number[predicate] = 2 * int(name[1:]) + (kind is DomainKind.PRESENCE)
    leaves = words >= 0
    words[leaves] = number[words[leaves] >> 1] << 1 | (words[leaves] & 1)
    return words


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


def forest_of_columns(words: NDArray[np.int32], columns: Sequence[LeafColumn], rows: int) -> Forest:
    """The forest of rows that share the words of one tree, each with its own leaves.

    Leaf ``2 * i`` of the words is comparison i, leaf ``2 * i + 1`` the presence of its attribute.
    """
    is_leaf = words >= 0
    used = np.unique(words[is_leaf] >> 1)
    predicates = len(used)
    new_words = np.tile(words, (rows, 1))
    place = np.searchsorted(used, words[is_leaf] >> 1)
    new_words[:, is_leaf] = (
        (np.arange(rows, dtype=np.int32)[:, None] * predicates + place.astype(np.int32)) << 1
    ) | (words[is_leaf] & 1)
    operation = np.empty((rows, predicates), np.uint8)
    domain = np.empty((rows, predicates), np.int32)
    first = np.empty((rows, predicates), np.int32)
    domains: dict[DomainKey, int] = {}
    constants: list[list[Any]] = []
    for column, leaf in enumerate(used.tolist()):
        data = columns[leaf >> 1]
        presence = bool(leaf & 1)
        operation[:, column] = Operation.EQUAL if presence else data.operation
        kind = DomainKind.PRESENCE if presence else _kind_of(data.values)
        numbers = np.empty(len(data.names), np.int32)
        for number, name in enumerate(data.names):
            numbers[number] = domains.setdefault((name, kind), len(domains))
            if numbers[number] == len(constants):
                constants.append([])
        domain[:, column] = numbers[data.attribute]
        values = np.ones(rows) if presence else data.values
        first[:, column] = _distribute(values, data.attribute, numbers, constants)
    return Forest(
        words=new_words.reshape(-1),
        starts=np.arange(rows + 1, dtype=np.int64) * len(words),
        operation=operation.reshape(-1),
        domain=domain.reshape(-1),
        first=first.reshape(-1),
        second=np.full(rows * predicates, -1, np.int32),
        domains=list(domains),
        constants=[joined_constants(parts) for parts in constants],
        searches=[],
    )


def _kind_of(values: Any) -> DomainKind:
    if isinstance(values, list):
        return DomainKind.STRING
    return DomainKind.BOOLEAN if values.dtype == np.bool_ else DomainKind.NUMBER


def _distribute(
    values: Any,
    attribute: NDArray[np.int32],
    numbers: NDArray[np.int32],
    constants: list[list[Any]],
) -> NDArray[np.int32]:
    """Append values to the constants of their domains; returns their places there."""
    first = np.empty(len(attribute), np.int32)
    order = np.argsort(attribute, kind="stable")
    cuts = np.searchsorted(attribute[order], np.arange(len(numbers) + 1)).tolist()
    for number, domain in enumerate(numbers.tolist()):
        chosen = order[cuts[number] : cuts[number + 1]]
        start = sum(map(len, constants[domain]))
        first[chosen] = np.arange(start, start + len(chosen))
        if isinstance(values, list):
            constants[domain].append([values[row] for row in chosen.tolist()])
        elif values.dtype == np.bool_:
            constants[domain].append(values[chosen].astype(np.float64))
        else:
            constants[domain].append(values[chosen])
    return first
