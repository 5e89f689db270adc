"""The non-canonical algorithm of Bittner and Hinze, as published (sections 3.1 to 3.3).

Step one, *predicate matching*, finds the fulfilled predicates by the one-dimensional indexes, and
sets their bits in the predicate bit vector. Step two, *subscription matching*, looks them up in
the predicate subscription association table, which gives the candidates, each once; the
subscription location table gives their trees, which are evaluated on their bytes.

Where the paper is silent, or the comparison would be unfair without, this is added:

- A subscription that is true when none of its predicates is fulfilled (``NOT a = 1``) is a
  candidate of every event; the paper would miss it. These are found by evaluating each tree once
  with a bit vector of zeros.
- Children are evaluated in order until one decides; the widths that the format stores are for
  nothing else.
- Trees of candidates are fetched ahead of their evaluation, as the engine does with its entries.
- The predicate indexes are the engine's own, so step one costs the same in both. Fulfilled ranges
  are runs of predicate ids, as from the leaves of a B+ tree.

What the byte format has no room for is refused: over 255 children of a node (an IN list is an OR
of its values), or a child of over 65,535 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from boolfilter.baselines.phases import Fulfilled, Scratch, TwoPhase, bits
from boolfilter.baselines.predicates import PredicateIndex, index_predicates
from boolfilter.baselines.subscribed import CompiledMatcher
from boolfilter.errors import BoolFilterError
from boolfilter.forest import Forest
from boolfilter.kernels.noncanonical import (
    GREATEST_WIDTH,
    MOST_CHILDREN,
    encode_paper_trees,
    evaluate_trees,
    levels,
    match_noncanonical,
)
from boolfilter.paper_trees import ChildCountError, ChildWidthError


class NonCanonicalMatcher(CompiledMatcher):
    """The algorithm behind the Matcher protocol; `tables` gives what it compiled."""

    def _compile(self, forest: Forest) -> NonCanonical:
        return NonCanonical.from_forest(forest)


@dataclass(frozen=True, slots=True, eq=False)
class NonCanonical(TwoPhase):
    """Subscriptions as the paper keeps them.

    >>> import boolfilter as bf
    >>> from boolfilter.forest import forest_of
    >>> matcher = NonCanonical.from_forest(forest_of([bf.parse("a = 1 OR b > 1"), bf.parse("c")]))
    >>> event, ordinal = matcher.match(matcher.encoder.encode([{"a": 1}, {"b": 2, "c": True}]))
    >>> event.tolist(), ordinal.tolist()
    ([0, 1, 1], [0, 0, 1])
    """

    index: PredicateIndex
    association_start: NDArray[np.uint32]
    association: NDArray[np.uint32]
    location: NDArray[np.int64]
    data: NDArray[np.uint8]
    always: NDArray[np.uint32]
    levels: int
    _scratch: _Scratch = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_scratch", _Scratch(len(self.index), len(self)))

    def __len__(self) -> int:
        return len(self.location) - 1

    @classmethod
    def from_forest(cls, forest: Forest) -> NonCanonical:
        """The tables of a forest's subscriptions; equal ones are kept apart, as in the paper.

        Raises ChildCountError or ChildWidthError for trees that the byte format has no room for.
        """
        return cls.from_index(*index_predicates(forest), forest)

    @classmethod
    def from_index(
        cls, index: PredicateIndex, numbers: NDArray[np.uint32], forest: Forest
    ) -> NonCanonical:
        """The same for an index of the forest's predicates, which several algorithms can share."""
        location, data = _encode(forest, numbers)
        depth = int(levels(forest.words, forest.starts))
        true_of_nothing = np.empty(len(forest), np.bool_)
        evaluate_trees(data, location, bits(len(index)), depth, true_of_nothing)
        association_start, association = _associate(forest, numbers, len(index))
        return cls(
            index=index,
            association_start=association_start,
            association=association,
            location=location,
            data=data,
            always=np.flatnonzero(true_of_nothing).astype(np.uint32),
            levels=depth,
        )

    def _match_subscriptions(self, fulfilled: Fulfilled, first: int, count: int) -> tuple[int, ...]:
        scratch = self._scratch
        found: tuple[int, ...] = match_noncanonical(
            first, fulfilled.start, fulfilled.predicates, self.association_start,
            self.association, self.always, self.location, self.data, self.levels, scratch.truth,
            scratch.candidate_bits, scratch.candidates, scratch.visited, scratch.out_event,
            scratch.out_ordinal, count,
        )  # fmt: skip
        return found

    def bytes_used(self) -> dict[str, int]:
        """The size of each structure of the paper; the indexes are those of the domains."""
        return {
            "predicate bit vector": self._scratch.truth.nbytes,
            "association table": self.association_start.nbytes + self.association.nbytes,
            "location table": self.location.nbytes,
            "trees": self.data.nbytes,
            "candidates": self._scratch.candidate_bits.nbytes + self._scratch.candidates.nbytes,
            "indexes": self.index.bytes_used(),
        }


class _Scratch(Scratch):
    __slots__ = ("candidate_bits", "candidates")

    def __init__(self, predicates: int, subscriptions: int) -> None:
        super().__init__(predicates)
        self.candidate_bits = bits(subscriptions)
        self.candidates = np.empty(subscriptions, np.uint32)


def _encode(
    forest: Forest, numbers: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The subscription location table, and the trees of all subscriptions."""
    sizes = np.empty(len(forest), np.int64)
    nowhere, nothing = np.empty(0, np.int64), np.empty(0, np.uint8)
    most, widest = encode_paper_trees(forest.words, forest.starts, numbers, sizes, nowhere, nothing)
    if most > MOST_CHILDREN:
        raise ChildCountError(most, MOST_CHILDREN)
    if widest > GREATEST_WIDTH:
        raise ChildWidthError(widest, GREATEST_WIDTH)
    location = np.concatenate(([0], np.cumsum(sizes)))
    data = np.empty(location[-1], np.uint8)
    encode_paper_trees(forest.words, forest.starts, numbers, sizes, location, data)
    return location, data


def _associate(
    forest: Forest, numbers: NDArray[np.uint32], predicates: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The predicate subscription association table: those of predicate p are
    ``association[start[p]:start[p + 1]]``, each once."""
    leaves = forest.words >= 0
    row = np.repeat(np.arange(len(forest), dtype=np.uint64), np.diff(forest.starts))[leaves]
    predicate = numbers[forest.words[leaves] >> 1].astype(np.uint64)
    pairs = np.unique(predicate << np.uint64(32) | row)
    if len(pairs) >= 2**32:
        raise BoolFilterError("too many predicates for one association table")
    start = np.zeros(predicates + 1, np.uint32)
    np.cumsum(np.bincount(pairs >> np.uint64(32), minlength=predicates), out=start[1:])
    return start, (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32)
