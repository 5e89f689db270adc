"""The counting algorithm over disjunctive normal forms, and the variant of Bittner and Hinze.

Both know conjunctions only, which are numbered; those of one subscription stand together. Step two
adds a hit to every conjunction that the predicate subscription association table names for a
fulfilled predicate. A conjunction is true if it has as many hits as predicates: the counting
algorithm compares the whole hit vector with the count vector, the variant only what it has hit.
As in the paper, an entry of these vectors is a byte.

Where the paper is silent, this is added:

- NOT of a predicate. The hits of a conjunction with P positive and N negative literals are the p
  positive ones fulfilled less the n negative ones fulfilled, modulo 256, and its count is P. They
  are equal just if 256 divides (P - p) + n, which is from 0 to P + N: with at most 255 literals,
  just if p = P and n = 0. Longer conjunctions are refused. A conjunction with no positive literal
  is a candidate of every event in the variant.
- The whole vectors are compared many bytes at once, which is what they are bytes for.
- Unsubscription: the predicates of each subscription, by which its conjunctions are found in the
  association table without a scan. Its memory is listed for itself: the paper leaves it out.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from boolfilter.baselines.conjunctions import CompiledConjunctionMatcher
from boolfilter.baselines.normal_forms import normal_forms
from boolfilter.baselines.phases import Fulfilled, Scratch, TwoPhase, bits
from boolfilter.baselines.predicates import PredicateIndex, index_predicates
from boolfilter.dnf import MOST_CONJUNCTIONS
from boolfilter.forest import Forest
from boolfilter.kernels.counting import BLOCK_WORDS, GONE, match_counting, match_counting_variant

_BLOCK = 8 * BLOCK_WORDS
_NEVER = 255  # the count of what is removed, which is never hit again


@dataclass(frozen=True, slots=True, eq=False)
class Counting(TwoPhase):
    """Subscriptions as conjunctions to count the hits of.

    >>> import boolfilter as bf
    >>> from boolfilter.forest import forest_of
    >>> matcher = Counting.from_forest(forest_of([bf.parse("a = 1 AND (b > 1 OR NOT c = 1)")]))
    >>> event, ordinal = matcher.match(matcher.encoder.encode([{"a": 1}, {"a": 1, "c": 1}]))
    >>> event.tolist(), ordinal.tolist(), matcher.conjunctions
    ([0], [0], 2)
    """

    index: PredicateIndex
    first_conjunction: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    association_start: NDArray[np.uint32]
    association: NDArray[np.uint32]
    negative_start: NDArray[np.uint32]
    negative: NDArray[np.uint32]
    predicate_start: NDArray[np.uint32]
    predicates: NDArray[np.uint32]
    _scratch: _Scratch = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_scratch", _Scratch(len(self.index), len(self), self.counts))

    def __len__(self) -> int:
        return len(self.first_conjunction) - 1

    @property
    def conjunctions(self) -> int:
        """How many conjunctions the subscriptions have become."""
        return int(self.first_conjunction[-1])

    @classmethod
    def from_forest(cls, forest: Forest, *, most_conjunctions: int = MOST_CONJUNCTIONS) -> Self:
        """The tables of a forest's subscriptions; equal ones are kept apart.

        Raises ConjunctionCountError for a subscription with too many conjunctions, and
        LiteralCountError for one with a conjunction of over 255 predicates.
        """
        index, numbers = index_predicates(forest)
        return cls.from_index(index, numbers, forest, most_conjunctions=most_conjunctions)

    @classmethod
    def from_index(
        cls,
        index: PredicateIndex,
        numbers: NDArray[np.uint32],
        forest: Forest,
        *,
        most_conjunctions: int = MOST_CONJUNCTIONS,
    ) -> Self:
        """The same for an index of the forest's predicates, which several algorithms can share."""
        forms = normal_forms(forest, numbers, len(index), most_conjunctions=most_conjunctions)
        counts = forms.counts(-len(forms) // _BLOCK * -_BLOCK)
        counts[len(forms) :] = _NEVER
        association_start, association = forms.association(forms.positive)
        if not len(association_start):
            association_start = np.zeros(len(index) + 1, np.uint32)
        negative_start, negative = forms.association(forms.negative)
        return cls(
            index=index,
            first_conjunction=forms.first_conjunction,
            counts=counts,
            association_start=association_start,
            association=association,
            negative_start=negative_start,
            negative=negative,
            predicate_start=forms.leaf_start.astype(np.uint32),
            predicates=forms.leaves,
        )

    def variant(self) -> CountingVariant:
        """The variant on the same tables; what is removed from one is removed from both."""
        tables = (each.name for each in fields(Counting) if each.init)
        return CountingVariant(**{name: getattr(self, name) for name in tables})

    def remove(self, ordinal: int) -> None:
        """Forget a subscription; the ordinals of the others stay. Linear in the association lists
        of its predicates."""
        first, last = self.first_conjunction[ordinal : ordinal + 2].tolist()
        start, end = self.predicate_start[ordinal : ordinal + 2].tolist()
        for predicate in self.predicates[start:end].tolist():
            _drop(self.association_start, self.association, predicate, first, last)
            if len(self.negative):
                _drop(self.negative_start, self.negative, predicate, first, last)
        self.counts[first:last] = _NEVER

    def bytes_used(self) -> dict[str, int]:
        """The size of each structure of the paper; the indexes are those of the domains."""
        tables = (self.association_start, self.association, self.negative_start, self.negative)
        return {
            "predicate bit vector": self._scratch.truth.nbytes,
            "hit vector": self._scratch.hits.nbytes,
            "count vector": self.counts.nbytes,
            "association table": sum(table.nbytes for table in tables),
            "subscriptions of conjunctions": self.first_conjunction.nbytes,
            "unsubscription": self.predicate_start.nbytes + self.predicates.nbytes,
            "indexes": self.index.bytes_used(),
        }

    def _tables(self) -> tuple[NDArray[np.generic], ...]:
        """What the kernels want first, in their order."""
        return (
            self.association_start, self.association, self.negative_start, self.negative,
            self._scratch.hits, self.counts.view(np.uint64), self.first_conjunction,
        )  # fmt: skip

    def _match_subscriptions(self, fulfilled: Fulfilled, first: int, count: int) -> tuple[int, ...]:
        scratch = self._scratch
        found: tuple[int, ...] = match_counting(
            first, fulfilled.start, fulfilled.predicates, *self._tables(), scratch.visited,
            scratch.out_event, scratch.out_ordinal, count,
        )  # fmt: skip
        return found


class CountingVariant(Counting):
    """The variant: only conjunctions that were hit are compared.

    >>> import boolfilter as bf
    >>> from boolfilter.forest import forest_of
    >>> matcher = CountingVariant.from_forest(forest_of([bf.parse("a = 1"), bf.parse("b = 1")]))
    >>> matcher.match(matcher.encoder.encode([{"b": 1}]))[1].tolist(), matcher.work_per_event()
    ([1], (1.0, 1.0))
    """

    __slots__ = ()

    def bytes_used(self) -> dict[str, int]:
        """As of the counting algorithm, and the lists of the variant."""
        lists = (self._scratch.candidates, self._scratch.seen, self._scratch.always)
        return super().bytes_used() | {"candidates": sum(each.nbytes for each in lists)}

    def _match_subscriptions(self, fulfilled: Fulfilled, first: int, count: int) -> tuple[int, ...]:
        scratch = self._scratch
        while True:
            first, count, needed, candidates = match_counting_variant(
                first, fulfilled.start, fulfilled.predicates, *self._tables(), scratch.always,
                scratch.candidates, scratch.seen, scratch.visited, scratch.out_event,
                scratch.out_ordinal, count,
            )  # fmt: skip
            if candidates <= len(scratch.candidates):
                return first, count, needed
            scratch.candidates = np.empty(candidates + candidates // 4, np.uint32)


class CountingMatcher(CompiledConjunctionMatcher):
    """The algorithm behind the Matcher protocol; `tables` gives what it compiled."""

    _algorithm = Counting

    def _compile(self, forest: Forest) -> Counting:
        return self._algorithm.from_forest(forest, most_conjunctions=self.most_conjunctions)

    def _remove(self, number: int) -> None:
        compiled = self._compiled
        super()._remove(number)
        if compiled is not None:
            tables, numbers = compiled
            assert isinstance(tables, Counting)
            tables.remove(bisect_left(numbers, number))
            self._compiled = compiled


class CountingVariantMatcher(CountingMatcher):
    """The variant behind the Matcher protocol."""

    _algorithm = CountingVariant


class _Scratch(Scratch):
    """The hit vector, a byte each in words of eight, and what only the variant needs."""

    __slots__ = ("always", "candidates", "hits", "seen")

    def __init__(self, predicates: int, subscriptions: int, counts: NDArray[np.uint8]) -> None:
        super().__init__(predicates)
        self.hits = np.zeros(len(counts) // 8, np.uint64)
        self.always = np.flatnonzero(counts == 0).astype(np.uint32)
        self.candidates = np.empty(1024, np.uint32)
        self.seen = bits(subscriptions)


def _drop(
    start: NDArray[np.uint32], table: NDArray[np.uint32], predicate: int, first: int, last: int
) -> None:
    """Take the conjunctions from `first` to `last` out of the list of a predicate."""
    part = table[start[predicate] : start[predicate + 1]]
    kept = part[(part < first) | (part >= last)]
    part[: len(kept)] = kept
    part[len(kept) :] = GONE
