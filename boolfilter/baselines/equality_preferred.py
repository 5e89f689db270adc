"""The equality-preferred algorithm of Le Subscribe (paper 000, section 3.1, figure 4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.equality_clusters import EqualityClusters
from boolfilter.baselines.literals import split_equalities
from boolfilter.baselines.predicate_clusters import PredicateClusters
from boolfilter.dnf import Conjunction
from boolfilter.events import FlatEvent


class EqualityPreferred(ConjunctionMatcher):
    """Clusters give the subscriptions whose equalities an event satisfies. The other predicates are
    counted as in the fair predicate algorithm, and the counts compared for those subscriptions and
    for the ones that have no equality (the paper's `neqsub`).

    Insertion and removal are incremental, as in the paper. Every subscription and event is
    accepted: an operator that the paper lacks is one more that is no equality.

    >>> matcher = EqualityPreferred()
    >>> matcher.subscribe_many([("alice", "price < 10 AND category = 'Toy'"), ("bob", "price > 5")])
    >>> matcher.match({"price": 7, "category": "Toy"})
    ['alice', 'bob']
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._equalities = EqualityClusters()
        self._others = PredicateClusters()
        self._counts: dict[int, int] = {}
        self._without_equality: dict[int, None] = {}

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        equalities, others = split_equalities(conjunction)
        if equalities:
            self._equalities.insert(number, equalities)
        else:
            self._without_equality[number] = None
        self._others.insert(number, others)
        self._counts[number] = len(others)

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        equalities, others = split_equalities(conjunction)
        if equalities:
            self._equalities.remove(number, equalities)
        else:
            del self._without_equality[number]
        self._others.remove(number, others)
        del self._counts[number]

    def _find_conjunctions(self, event: FlatEvent) -> Iterator[int]:
        hits, counts = self._others.hits(event), self._counts
        partial = chain(self._equalities.satisfied(event), self._without_equality)
        return (number for number in partial if hits.get(number, 0) == counts[number])
