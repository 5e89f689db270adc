"""Predicates clustered by attribute and comparison operator, for conjunctions that come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from sortedcontainers import SortedDict

from boolfilter.baselines.literals import Field, is_true, predicate_of, values_by_kind
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Not, Operator, Predicate
from boolfilter.values import kind_of

Numbers = set[int]

_UPPER = {Operator.LESS: 0, Operator.LESS_OR_EQUAL: 1}
_LOWER = {Operator.GREATER_OR_EQUAL: 0, Operator.GREATER: 1}


class PredicateClusters:
    """Each distinct literal once, with the numbers of the conjunctions it stands in (the paper's
    `pred_to_subs`).

    Equalities are in a hash table for each attribute; ``<`` with ``<=``, and ``>`` with ``>=``, are
    in order of their constants, so that those an event satisfies are the ones on one side of its
    value. The paper has no other operators; here they are, with negations, evaluated one at a time
    (those that need their attribute only where it is present).

    >>> import boolfilter as bf
    >>> clusters = PredicateClusters()
    >>> clusters.insert(7, [bf.parse("price < 10"), bf.parse("category = 'Toy'")])
    >>> clusters.insert(8, [bf.parse("price < 10"), bf.parse("price >= 5")])
    >>> sorted(clusters.hits({"price": 6, "category": "Toy"}).items())
    [(7, 2), (8, 2)]
    >>> len(clusters)
    3
    """

    def __init__(self) -> None:
        self._equal: dict[Field, dict[Any, Numbers]] = {}
        self._upper: dict[Field, SortedDict] = {}
        self._lower: dict[Field, SortedDict] = {}
        self._others: dict[str, dict[Expression, Numbers]] = {}
        self._negated: dict[Expression, Numbers] = {}

    def __len__(self) -> int:
        """The distinct predicates."""
        ordered = chain(self._upper.values(), self._lower.values())
        plain = chain(self._equal.values(), self._others.values(), (self._negated,))
        return sum(map(len, ordered)) + sum(map(len, plain))

    def insert(self, number: int, literals: Iterable[Expression]) -> None:
        """Add a conjunction. A new constant costs O(log n) in its cluster, a known one O(1)."""
        for literal in literals:
            cluster, key = self._place(literal)
            numbers = cluster.get(key)
            if numbers is None:
                numbers = cluster[key] = set()
            numbers.add(number)

    def remove(self, number: int, literals: Iterable[Expression]) -> None:
        """Take a conjunction out, with the predicates that no other one has."""
        for literal in literals:
            cluster, key = self._place(literal)
            cluster[key].remove(number)
            if not cluster[key]:
                del cluster[key]

    def hits(self, event: FlatEvent) -> Counter[int]:
        """How many literals of each conjunction the event satisfies; those with none are out."""
        return Counter(chain.from_iterable(self._satisfied(event)))

    def _place(self, literal: Expression) -> tuple[Any, Any]:
        """The cluster of a literal, and its key there."""
        if isinstance(literal, Not):
            return self._negated, literal
        predicate = predicate_of(literal)
        attribute, operator, operand = predicate.attribute, predicate.operator, predicate.operand
        if operator is Operator.EQUAL:
            return self._equal.setdefault(_field(predicate), {}), operand
        if operator in _UPPER:
            return _ordered(self._upper, _field(predicate)), (operand, _UPPER[operator])
        if operator in _LOWER:
            return _ordered(self._lower, _field(predicate)), (operand, _LOWER[operator])
        return self._others.setdefault(attribute, {}), literal

    def _satisfied(self, event: FlatEvent) -> Iterator[Numbers]:
        for field, values in values_by_kind(event):
            equal = self._equal.get(field)
            if equal:
                yield from (equal[value] for value in values if value in equal)
            upper, lower = self._upper.get(field), self._lower.get(field)
            if upper:
                yield from map(upper.__getitem__, upper.irange(minimum=(min(values), 1)))
            if lower:
                yield from map(lower.__getitem__, lower.irange(maximum=(max(values), 0)))
        scanned = [self._others[attribute] for attribute in event if attribute in self._others]
        for cluster in (*scanned, self._negated):
            yield from (numbers for each, numbers in cluster.items() if is_true(each, event))


def _field(predicate: Predicate) -> Field:
    operand: Any = predicate.operand
    return predicate.attribute, kind_of(operand)


def _ordered(clusters: dict[Field, SortedDict], field: Field) -> SortedDict:
    known = clusters.get(field)
    if known is None:
        known = clusters[field] = SortedDict()
    return known
