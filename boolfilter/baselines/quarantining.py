"""Equality-preferred with nonequality quarantining, of Le Subscribe (paper 000, section 3.1,
figure 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.equality_clusters import EqualityClusters
from boolfilter.baselines.fair_predicate import FairPredicate
from boolfilter.baselines.literals import all_true, split_equalities
from boolfilter.dnf import Conjunction
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression


class Quarantining(ConjunctionMatcher):
    """Clusters give the subscriptions whose equalities an event satisfies; the other predicates of
    these are stored with each of them and evaluated one after the other. Only subscriptions with no
    equality are put apart, and counted by the fair predicate algorithm.

    Insertion and removal are incremental, as in the paper. Every subscription and event is
    accepted: an operator that the paper lacks is one more that is no equality.

    >>> matcher = Quarantining()
    >>> matcher.subscribe_many([("alice", "price < 10 AND category = 'Toy'"), ("bob", "price > 5")])
    >>> matcher.match({"price": 7, "category": "Toy"})
    ['alice', 'bob']
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._equalities = EqualityClusters()
        self._others: dict[int, tuple[Expression, ...]] = {}
        self._quarantined = FairPredicate(**options)

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        equalities, others = split_equalities(conjunction)
        if equalities:
            self._equalities.insert(number, equalities)
            self._others[number] = others
        else:
            self._quarantined._insert_conjunction(number, conjunction)

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        equalities, _ = split_equalities(conjunction)
        if equalities:
            self._equalities.remove(number, equalities)
            del self._others[number]
        else:
            self._quarantined._remove_conjunction(number, conjunction)

    def _find_conjunctions(self, event: FlatEvent) -> Iterator[int]:
        for number in self._equalities.satisfied(event):
            if all_true(self._others[number], event):
                yield number
        yield from self._quarantined._find_conjunctions(event)
