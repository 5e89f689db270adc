"""The profile tree behind the Matcher protocol: which values are which cells of its axes.

An axis is an attribute. Its cells are: absent; of each kind of value that predicates compare with,
the constants and the gaps before, between and after them; and values of other kinds. A comparison
is a run of cells, several on one attribute are what the runs have in common, and NOT is the rest:
so ``NOT a = 1`` holds where ``a`` is absent as well.

Refused: predicates that are no comparison of order (LIKE, MATCHES, ...), when subscribed; and
events with several values of an attribute that a profile asks for, when matched, since "some value
below 3 and some value above 5" is no run of cells.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.profile_tree import AttributeOrder, Axis, ProfileTree, ValueOrder
from boolfilter.dnf import Conjunction
from boolfilter.errors import UnsupportedError
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Not, Operator, Predicate
from boolfilter.values import kind_of

_SUPPORTED = {
    Operator.EQUAL,
    Operator.LESS,
    Operator.LESS_OR_EQUAL,
    Operator.GREATER,
    Operator.GREATER_OR_EQUAL,
    Operator.BETWEEN,
    Operator.EXISTS,
}
_MOST_CELLS = 20_000_000  # of a tree before it is begun anew: some 200 MB


class ProfileMatcher(ConjunctionMatcher):
    """A profile a conjunction. The tree is begun anew at the first match after a change, and grows
    as events visit it.

    The measures by the distribution of events are for :class:`ProfileTree`: a matcher knows none.

    >>> matcher = ProfileMatcher()
    >>> matcher.subscribe("alice", "price < 10 AND NOT brand = 'Acme'")
    >>> matcher.match({"price": 5}), matcher.match({"price": 5, "brand": "Acme"})
    (['alice'], [])
    """

    def __init__(
        self,
        *,
        values: ValueOrder = "binary",
        attributes: AttributeOrder = "A1",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.values: ValueOrder = values
        self.attributes: AttributeOrder = attributes
        self._conjunctions: dict[int, Conjunction] = {}
        self._profiles: _Profiles | None = None

    def _check(self, conjunction: Conjunction) -> None:
        for literal in conjunction:
            predicate = _predicate(literal)
            if predicate.operator not in _SUPPORTED:
                raise UnsupportedError(f"a profile tree has no subranges for {predicate}")

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        self._conjunctions[number] = conjunction
        self._profiles = None

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        del self._conjunctions[number]
        self._profiles = None

    def _find_conjunctions(self, event: FlatEvent) -> Iterable[int]:
        if self._profiles is None:
            self._profiles = _Profiles(self._conjunctions, self.values, self.attributes)
        return self._profiles.find(event)


class _Profiles:
    """The conjunctions as profiles, and their tree."""

    def __init__(
        self,
        conjunctions: dict[int, Conjunction],
        values: ValueOrder,
        attributes: AttributeOrder,
    ) -> None:
        self.numbers = list(conjunctions)
        by_attribute: dict[str, dict[int, list[Expression]]] = {}
        for profile, conjunction in enumerate(conjunctions.values()):
            for literal in conjunction:
                asked = by_attribute.setdefault(_predicate(literal).attribute, {})
                asked.setdefault(profile, []).append(literal)
        self.cells = {
            attribute: Cells(chain.from_iterable(asked.values()))
            for attribute, asked in by_attribute.items()
        }
        self.axes = [
            self.cells[attribute].axis([asked.get(n) for n in range(len(conjunctions))])
            for attribute, asked in by_attribute.items()
        ]
        self.values: ValueOrder = values
        self.attributes: AttributeOrder = attributes
        self.tree = self._new_tree()

    def find(self, event: FlatEvent) -> Iterable[int]:
        cells = [of.cell(event.get(attribute)) for attribute, of in self.cells.items()]
        if self.tree is None:
            return self.numbers  # no profile asks for anything
        if self.tree.cells_kept > _MOST_CELLS:
            self.tree = self._new_tree()
            assert self.tree is not None
        return [self.numbers[profile] for profile in self.tree.match(cells)[0]]

    def _new_tree(self) -> ProfileTree | None:
        return ProfileTree(self.axes, self.values, self.attributes) if self.axes else None


class Cells:
    """The cells of one attribute, by the constants of some literals.

    >>> import boolfilter as bf
    >>> cells = Cells([bf.parse("a < 5"), bf.parse("a = 'x'")])
    >>> [cells.cell(value) for value in (None, 4, 5, 6, "w", "x", "y", True)]
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> cells.runs([bf.parse("a >= 5")]), cells.runs([bf.parse("NOT a = 'x'")])
    ([(2, 4)], [(0, 5), (6, 8)])
    """

    def __init__(self, literals: Iterable[Expression]) -> None:
        constants: dict[Any, set[Any]] = {}
        for literal in literals:
            for value in _operands(_predicate(literal)):
                constants.setdefault(kind_of(value), set()).add(value)
        self._constants = {kind: sorted(values) for kind, values in constants.items()}
        self._first: dict[Any, int] = {}
        self.count = 1  # absent
        for kind, values in self._constants.items():
            self._first[kind] = self.count
            self.count += 2 * len(values) + 1
        self.count += 1  # of no kind that is asked for

    def axis(self, asked: list[list[Expression] | None]) -> Axis:
        """The axis of profiles, by what literals each has on the attribute."""
        runs = [None if literals is None else self.runs(literals) for literals in asked]
        return Axis([1.0] * self.count, runs)

    def cell(self, value: Any) -> int:
        if value is None:
            return 0
        if isinstance(value, tuple):
            raise UnsupportedError("an event has one cell of an attribute, not several values")
        first = self._first.get(kind_of(value))
        if first is None:
            return self.count - 1
        constants = self._constants[kind_of(value)]
        place = bisect_left(constants, value)
        return first + 2 * place + (place < len(constants) and constants[place] == value)

    def runs(self, literals: Iterable[Expression]) -> list[tuple[int, int]]:
        """The cells in which all the literals hold."""
        common = [(0, self.count)]
        for literal in literals:
            first, last = self._run(_predicate(literal))
            holding = [(0, first), (last, self.count)] if isinstance(literal, Not) else [
                (first, last)
            ]  # fmt: skip
            common = [
                (max(a, c), min(b, d)) for a, b in common for c, d in holding
                if max(a, c) < min(b, d)
            ]  # fmt: skip
        return common

    def _run(self, predicate: Predicate) -> tuple[int, int]:
        if predicate.operator is Operator.EXISTS:
            return 1, self.count
        operands = _operands(predicate)
        kind = kind_of(operands[0])
        first, last = self._first[kind], self._first[kind] + 2 * len(self._constants[kind]) + 1
        low, high = self.cell(operands[0]), self.cell(operands[-1]) + 1
        return {
            Operator.EQUAL: (low, high),
            Operator.BETWEEN: (low, max(low, high)),
            Operator.LESS: (first, low),
            Operator.LESS_OR_EQUAL: (first, high),
            Operator.GREATER: (high, last),
            Operator.GREATER_OR_EQUAL: (low, last),
        }[predicate.operator]


def _predicate(literal: Expression) -> Predicate:
    predicate = literal.child if isinstance(literal, Not) else literal
    assert isinstance(predicate, Predicate)
    return predicate


def _operands(predicate: Predicate) -> tuple[Any, ...]:
    operand = predicate.operand
    if operand is None:
        return ()
    return operand if isinstance(operand, tuple) else (operand,)
