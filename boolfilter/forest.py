"""Forests: many normal-form trees as flat columns, ready to be compiled into a segment.

A tree is a run of int32 words in prefix order. A leaf is ``predicate << 1 | negated``, an inner
word ``-(4 * (children + 1) + kind)`` with kind AND, OR, IN or NOT IN (an IN list stays one node,
since it is one lookup). Predicates are rows of columns: an operation, a domain, and places of
constants in that domain. A *domain* is one attribute seen as one kind of value; each has its own
constants. All ways to register subscriptions meet here.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.expressions import (
    And,
    Constant,
    Expression,
    Not,
    Operator,
    Or,
    Pattern,
    Predicate,
    all_of,
    any_of,
)
from boolfilter.patterns import PatternShape, literal_pattern, shape_of

AND, OR, IN, NOT_IN = range(4)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DomainKind(IntEnum):
    """The kinds of values, the lower-cased strings of ILIKE, and whether there is a value."""

    BOOLEAN = 0
    NUMBER = 1
    STRING = 2
    TIMESTAMP = 3
    FOLDED = 4
    PRESENCE = 5


class Operation(IntEnum):
    """What a predicate does with its domain; EQUAL to GREATER_OR_EQUAL are told by position."""

    EQUAL = 0
    LESS = 1
    LESS_OR_EQUAL = 2
    GREATER = 3
    GREATER_OR_EQUAL = 4
    BETWEEN = 5
    SEARCH = 6  # a search in a string: `first` is a place in Forest.searches


OPERATION_OF = {
    Operator.EQUAL: Operation.EQUAL,
    Operator.LESS: Operation.LESS,
    Operator.LESS_OR_EQUAL: Operation.LESS_OR_EQUAL,
    Operator.GREATER: Operation.GREATER,
    Operator.GREATER_OR_EQUAL: Operation.GREATER_OR_EQUAL,
}
_OPERATOR_OF = {operation: operator for operator, operation in OPERATION_OF.items()}
DomainKey = tuple[str, DomainKind]


@dataclass(slots=True)
class Forest:
    """Trees and the predicates they are made of.

    ``constants[d]`` are the constants of domain ``d`` as exact Python values (numbers, with
    timestamps as microseconds since 1970 and booleans as 0 and 1; or strings), or a numpy array
    of plain numbers; in no order, and not necessarily distinct.
    """

    words: NDArray[np.int32]
    starts: NDArray[np.int64]
    operation: NDArray[np.uint8]
    domain: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    domains: list[DomainKey]
    constants: list[Any]
    searches: list[Predicate]

    def __len__(self) -> int:
        return len(self.starts) - 1


def inner_word(kind: int, children: int) -> int:
    return -(4 * (children + 1) + kind)


def exact_number(value: Any) -> Any:
    """A boolean, number or timestamp as the number it is ordered by."""
    if isinstance(value, datetime):
        since = value - _EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return int(value) if isinstance(value, bool) else value


def value_of_number(kind: DomainKind, number: Any) -> Any:
    """The value of this kind that is ordered by this number; strings are themselves."""
    if kind is DomainKind.TIMESTAMP:
        return _EPOCH + timedelta(microseconds=int(number))
    if kind is DomainKind.BOOLEAN:
        return bool(number)
    return int(number) if isinstance(number, float) and number.is_integer() else number


@dataclass(slots=True)
class ForestBuilder:
    """Grows a forest from normal-form expressions, giving equal predicates one number."""

    _words: array[int] = field(default_factory=lambda: array("i"))
    _starts: array[int] = field(default_factory=lambda: array("q", [0]))
    _columns: tuple[array[int], ...] = field(
        default_factory=lambda: (array("B"), array("i"), array("i"), array("i"))
    )
    _predicates: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _domains: dict[DomainKey, int] = field(default_factory=dict)
    _constants: list[dict[Any, int]] = field(default_factory=list)
    _searches: list[Predicate] = field(default_factory=list)

    def add(self, expression: Expression) -> None:
        """One tree more. Linear in its size, with no recursion."""
        words = self._words
        todo = [expression]
        while todo:
            node = todo.pop()
            if isinstance(node, Predicate):
                self._add_leaf(node, negated=False)
            elif isinstance(node, Not):
                assert isinstance(node.child, Predicate)
                self._add_leaf(node.child, negated=True)
            elif isinstance(node, Constant):
                words.append(inner_word(AND if node.value else OR, 0))
            else:
                assert isinstance(node, (And, Or))
                kind = AND if isinstance(node, And) else OR
                words.append(inner_word(kind, len(node.children)))
                todo.extend(reversed(node.children))
        self._starts.append(len(words))

    def finish(self) -> Forest:
        operation, domain, first, second = self._columns
        return Forest(
            words=np.array(self._words, np.int32),
            starts=np.array(self._starts, np.int64),
            operation=np.array(operation, np.uint8),
            domain=np.array(domain, np.int32),
            first=np.array(first, np.int32),
            second=np.array(second, np.int32),
            domains=list(self._domains),
            constants=[list(constants) for constants in self._constants],
            searches=self._searches,
        )

    def _add_leaf(self, leaf: Predicate, negated: bool) -> None:
        operand: Any = leaf.operand
        if leaf.operator is Operator.IN:
            self._add_list(leaf.attribute, operand, negated)
            return
        if leaf.operator in OPERATION_OF:
            number = self._comparison(leaf.attribute, leaf.operator, operand)
        else:
            number = self._other(leaf)
        self._words.append(number << 1 | negated)

    def _add_list(self, attribute: str, values: tuple[Any, ...], negated: bool) -> None:
        """An IN list, as one node for each kind of value in it; the values come in order."""
        kinds: dict[DomainKind, list[int]] = {}
        for value in values:
            number = self._comparison(attribute, Operator.EQUAL, value)
            kinds.setdefault(_DOMAIN_OF_TYPE[type(value)], []).append(number)
        if len(kinds) > 1:
            self._words.append(inner_word(AND if negated else OR, len(kinds)))
        for numbers in kinds.values():
            if len(numbers) == 1:
                self._words.append(numbers[0] << 1 | negated)
            else:
                self._words.append(inner_word(NOT_IN if negated else IN, len(numbers)))
                self._words.extend([number << 1 for number in numbers])

    def _comparison(self, attribute: str, operator: Operator, value: Any) -> int:
        key = (attribute, operator, value, type(value))
        known = self._predicates.get(key)
        if known is None:
            domain = self._domain(attribute, _DOMAIN_OF_TYPE[type(value)])
            place = self._constant(domain, value)
            known = self._predicates[key] = self._row(OPERATION_OF[operator], domain, place)
        return known

    def _other(self, leaf: Predicate) -> int:
        key = (leaf.attribute, leaf.operator, leaf._key())
        known = self._predicates.get(key)
        if known is None:
            known = self._predicates[key] = self._other_row(leaf)
        return known

    def _other_row(self, leaf: Predicate) -> int:
        operand: Any = leaf.operand
        if leaf.operator is Operator.EXISTS:
            domain = self._domain(leaf.attribute, DomainKind.PRESENCE)
            return self._row(Operation.EQUAL, domain, self._constant(domain, 1))
        if leaf.operator is Operator.BETWEEN:
            domain = self._domain(leaf.attribute, _DOMAIN_OF_TYPE[type(operand[0])])
            bounds = (self._constant(domain, value) for value in operand)
            return self._row(Operation.BETWEEN, domain, *bounds)
        if isinstance(operand, Pattern) and leaf.operator is Operator.ILIKE:
            shape, text = shape_of(operand)
            if shape is PatternShape.EQUAL:
                domain = self._domain(leaf.attribute, DomainKind.FOLDED)
                return self._row(Operation.EQUAL, domain, self._constant(domain, text))
        self._searches.append(leaf)
        return self._row(Operation.SEARCH, -1, len(self._searches) - 1)

    def _domain(self, attribute: str, kind: DomainKind) -> int:
        known = self._domains.setdefault((attribute, kind), len(self._domains))
        if known == len(self._constants):
            self._constants.append({})
        return known

    def _constant(self, domain: int, value: Any) -> int:
        constants = self._constants[domain]
        return constants.setdefault(exact_number(value), len(constants))

    def _row(self, operation: Operation, domain: int, first: int, second: int = -1) -> int:
        for column, value in zip(self._columns, (operation, domain, first, second), strict=True):
            column.append(value)
        return len(self._columns[0]) - 1


_DOMAIN_OF_TYPE: dict[type, DomainKind] = {
    bool: DomainKind.BOOLEAN,
    int: DomainKind.NUMBER,
    float: DomainKind.NUMBER,
    str: DomainKind.STRING,
    datetime: DomainKind.TIMESTAMP,
}


def forest_of(expressions: Iterable[Expression]) -> Forest:
    """The forest of some normal-form expressions, one tree each.

    >>> import boolfilter as bf
    >>> forest = forest_of([bf.normalise(bf.parse("a = 1 AND (b = 2 OR c IN ('x', 'y'))"))])
    >>> len(forest), forest.words.tolist(), forest.domains[0]
    (1, [-12, 0, -13, 2, -14, 4, 6], ('a', <DomainKind.NUMBER: 1>))
    """
    builder = ForestBuilder()
    for expression in expressions:
        builder.add(expression)
    return builder.finish()


def expression_of(forest: Forest, tree: int = 0) -> Expression:
    """One tree of a forest back as an expression.

    >>> import boolfilter as bf
    >>> print(expression_of(forest_of([bf.parse("a = 1 AND NOT b IN (2, 3)")])))
    a = 1 AND NOT b IN (2, 3)
    """
    done: list[Expression] = []
    words = forest.words[forest.starts[tree] : forest.starts[tree + 1]].tolist()
    for word in reversed(words):
        if word >= 0:
            predicate = _predicate(forest, word >> 1)
            done.append(Not(predicate) if word & 1 else predicate)
            continue
        kind, count = -word & 3, (-word >> 2) - 1
        children = tuple(reversed(done[len(done) - count :]))
        del done[len(done) - count :]
        if kind in (IN, NOT_IN):
            leaves: Any = children
            values = [leaf.operand for leaf in leaves]
            listed = Predicate(leaves[0].attribute, Operator.IN, values)
            done.append(Not(listed) if kind == NOT_IN else listed)
        else:
            done.append((all_of if kind == AND else any_of)(children))
    return done[0]


def _predicate(forest: Forest, number: int) -> Predicate:
    operation = Operation(int(forest.operation[number]))
    first, second = int(forest.first[number]), int(forest.second[number])
    if operation is Operation.SEARCH:
        return forest.searches[first]
    domain = int(forest.domain[number])
    attribute, kind = forest.domains[domain]
    if kind is DomainKind.PRESENCE:
        return Predicate(attribute, Operator.EXISTS)
    constants = [forest.constants[domain][place] for place in (first, second) if place >= 0]
    if kind is DomainKind.FOLDED:
        return Predicate(attribute, Operator.ILIKE, literal_pattern(constants[0]))
    values = [value_of_number(kind, constant) for constant in constants]
    if operation is Operation.BETWEEN:
        return Predicate(attribute, Operator.BETWEEN, values)
    return Predicate(attribute, _OPERATOR_OF[operation], values[0])


def merge_forests(forests: Sequence[Forest]) -> Forest:
    """The trees of several forests, one after the other, over common domains and searches."""
    if len(forests) == 1:
        return forests[0]
    domains: dict[DomainKey, int] = {}
    constants: list[list[Any]] = []
    held: list[int] = []  # how many constants a domain has so far
    searches: dict[Predicate, int] = {}
    columns: list[tuple[Any, ...]] = []
    first_predicate = first_word = 0
    for forest in forests:
        place = np.zeros(len(forest.domains) + 1, np.int32)
        shift = np.zeros(len(forest.domains) + 1, np.int32)
        for number, key in enumerate(forest.domains):
            place[number] = domains.setdefault(key, len(domains))
            if place[number] == len(constants):
                constants.append([])
                held.append(0)
            shift[number] = held[place[number]]
            held[place[number]] += len(forest.constants[number])
            constants[place[number]].append(forest.constants[number])
        is_search = forest.operation == Operation.SEARCH
        first = forest.first + shift[forest.domain]
        moved = [searches.setdefault(search, len(searches)) for search in forest.searches]
        first[is_search] = np.array([*moved, 0], np.int32)[forest.first[is_search]]
        second = np.where(forest.second >= 0, forest.second + shift[forest.domain], -1)
        words = forest.words.copy()
        words[words >= 0] += 2 * first_predicate
        columns.append(
            (
                words,
                forest.starts[:-1] + first_word,
                forest.operation,
                np.where(forest.domain >= 0, place[forest.domain], -1).astype(np.int32),
                first.astype(np.int32),
                second.astype(np.int32),
            )
        )
        first_predicate += len(forest.operation)
        first_word += len(words)
    joined: list[Any] = [np.concatenate(column) for column in zip(*columns, strict=True)]
    return Forest(
        words=joined[0],
        starts=np.append(joined[1], first_word),
        operation=joined[2],
        domain=joined[3],
        first=joined[4],
        second=joined[5],
        domains=list(domains),
        constants=[joined_constants(parts) for parts in constants],
        searches=list(searches),
    )


def take_trees(
    words: NDArray[np.int32], starts: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The words and starts of chosen trees, in the order given."""
    lengths = starts[rows + 1] - starts[rows]
    new_starts = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(new_starts[-1]) + np.repeat(starts[rows] - new_starts[:-1], lengths)
    return words[places], new_starts


def joined_constants(parts: list[Any]) -> Any:
    """The constants of one domain from several sources: an array if all of them are."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [value for part in parts for value in part]
