"""The fair predicate algorithm of Le Subscribe (paper 000, section 3.1, figure 2).

It counts, as the counting algorithm does; what sets it apart from a compiled counting matcher is
that its tables take and lose subscriptions one at a time, which is what the paper measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.predicate_clusters import PredicateClusters
from boolfilter.dnf import Conjunction
from boolfilter.events import FlatEvent


class FairPredicate(ConjunctionMatcher):
    """Step one finds the satisfied predicates, each stored and evaluated once; step two counts
    them for each subscription and compares all subscriptions with the numbers of their predicates.

    Insertion and removal touch the predicates of one subscription, as in the paper. Every
    subscription and event is accepted; see :class:`PredicateClusters` for what was added.

    >>> matcher = FairPredicate()
    >>> matcher.subscribe_many([("alice", "price < 10 AND category = 'Toy'"), ("bob", "price > 5")])
    >>> matcher.match({"price": 7, "category": "Toy"})
    ['alice', 'bob']
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._predicates = PredicateClusters()
        self._counts: dict[int, int] = {}

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        self._predicates.insert(number, conjunction)
        self._counts[number] = len(conjunction)

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        self._predicates.remove(number, conjunction)
        del self._counts[number]

    def _find_conjunctions(self, event: FlatEvent) -> Iterator[int]:
        hits = self._predicates.hits(event)
        return (n for n, count in self._counts.items() if hits.get(n, 0) == count)
