"""For the algorithms that know only conjunctions: subscriptions as their disjunctive normal forms.

A conjunction is a subscription of its own to them, as the papers propose; what matched is traced
back to the subscription that it comes from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from boolfilter.baselines.normal_forms import check_conjunctions
from boolfilter.baselines.subscribed import CompiledMatcher, Subscribed
from boolfilter.dnf import MOST_CONJUNCTIONS, Conjunction, dnf
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression


class CompiledConjunctionMatcher(CompiledMatcher):
    """Tables of conjunctions, compiled from all subscriptions at the first match after a change."""

    def __init__(self, *, most_conjunctions: int = MOST_CONJUNCTIONS, **options: Any) -> None:
        super().__init__(**options)
        self.most_conjunctions = most_conjunctions

    def _insert(self, number: int, expression: Expression) -> None:
        check_conjunctions(dnf(expression, limit=self.most_conjunctions))
        super()._insert(number, expression)


class ConjunctionMatcher(Subscribed):
    """Subscriptions are registered as conjunctions, which have numbers of their own; a conjunction
    is a set of literals (a predicate, or the NOT of one; IN is gone). ``most_conjunctions`` bounds
    those of one subscription: over it, ConjunctionCountError."""

    def __init__(self, *, most_conjunctions: int = MOST_CONJUNCTIONS, **options: Any) -> None:
        super().__init__(**options)
        self.most_conjunctions = most_conjunctions
        self._owner: dict[int, int] = {}
        self._owned: dict[int, dict[int, Conjunction]] = {}
        self._next_conjunction = 0

    def _check(self, conjunction: Conjunction) -> None:
        """Raise UnsupportedError for a conjunction that the algorithm has no room for; most have
        room for all."""

    @abstractmethod
    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        """Take a conjunction that was checked; it may be empty, which is always true."""

    @abstractmethod
    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        """Forget a conjunction."""

    @abstractmethod
    def _find_conjunctions(self, event: FlatEvent) -> Iterable[int]:
        """The numbers of the conjunctions that the event satisfies."""

    def conjunctions(self) -> int:
        """How many conjunctions the subscriptions have become."""
        return len(self._owner)

    def _insert(self, number: int, expression: Expression) -> None:
        conjunctions = dnf(expression, limit=self.most_conjunctions)
        for conjunction in conjunctions:
            self._check(conjunction)
        owned = self._owned[number] = {}
        for conjunction in conjunctions:
            self._insert_conjunction(self._next_conjunction, conjunction)
            owned[self._next_conjunction] = conjunction
            self._owner[self._next_conjunction] = number
            self._next_conjunction += 1

    def _remove(self, number: int) -> None:
        for each, conjunction in self._owned.pop(number).items():
            del self._owner[each]
            self._remove_conjunction(each, conjunction)

    def _find(self, event: FlatEvent) -> Iterable[int]:
        return {self._owner[each] for each in self._find_conjunctions(event)}
