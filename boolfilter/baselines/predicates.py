"""Step one of the papers' algorithms, predicate matching: the engine's own one-dimensional indexes,
with predicates renumbered 0, 1, 2, ... so that a table can have a row for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boolfilter.compiling import number_predicates, ranks_of_places, slot_bases
from boolfilter.forest import Forest
from boolfilter.indexes.betweens import Betweens, build_betweens
from boolfilter.indexes.domains import Domains, build_domains
from boolfilter.items import Encoder


@dataclass(frozen=True, slots=True, eq=False)
class PredicateIndex:
    """Predicates have numbers in the order of a segment's predicate ids, which are ``used``; those
    of slot s start at ``slot_first[s]``."""

    domains: Domains
    betweens: Betweens
    slot_base: NDArray[np.uint32]
    used: NDArray[np.uint32]
    slot_first: NDArray[np.int64]
    encoder: Encoder

    def __len__(self) -> int:
        return len(self.used)

    def tables(self) -> tuple[NDArray[np.generic], ...]:
        """What the kernels want of it, in their order."""
        between = self.betweens
        return (
            self.slot_base, self.used, self.slot_first, between.group_of_domain,
            between.group_start, between.group_span, between.low, between.high,
        )  # fmt: skip

    def bytes_used(self) -> int:
        owners = (self, self.domains, self.betweens)
        values = [getattr(owner, name) for owner in owners for name in owner.__slots__]
        return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def index_predicates(forest: Forest) -> tuple[PredicateIndex, NDArray[np.uint32]]:
    """The index of a forest's predicates, and the number of each of them in it."""
    domains, ranks = build_domains(forest.domains, forest.constants)
    first = ranks_of_places(forest, ranks, forest.first)
    second = ranks_of_places(forest, ranks, forest.second)
    betweens, place = build_betweens(forest, first, second, len(forest.domains))
    slot_base = slot_bases(domains.sizes(), len(place), len(forest.searches))
    ids, _ = number_predicates(forest, first, slot_base, place)
    used, numbers = _renumber(ids, slot_base)
    encoder = Encoder(domains, forest.searches, len(betweens))
    slot_first = np.searchsorted(used, slot_base)
    return PredicateIndex(domains, betweens, slot_base, used, slot_first, encoder), numbers


def _renumber(
    ids: NDArray[np.uint32], slot_base: NDArray[np.uint32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The ids in use, and the number of each id given; all members of sets are in use."""
    is_used = np.zeros(slot_base[-1], np.bool_)
    is_used[ids] = True
    is_used[slot_base[-2] :] = True
    number = np.cumsum(is_used.astype(np.uint32), dtype=np.uint32)
    return np.flatnonzero(is_used).astype(np.uint32), number[ids] - np.uint32(1)
