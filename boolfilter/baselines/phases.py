"""Matching in the two phases of the papers: the predicates that events fulfil, and from these alone
the subscriptions.

The first, *predicate matching*, is the same in all of them: it asks the one-dimensional indexes.
The second, *subscription matching*, is what an algorithm is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boolfilter.baselines.predicates import PredicateIndex
from boolfilter.items import Encoder, Items
from boolfilter.kernels.predicates import find_fulfilled

_FULFILLED_AT_ONCE = 1 << 18

Pairs = tuple[NDArray[np.int64], NDArray[np.uint32]]


@dataclass(frozen=True, slots=True, eq=False)
class Fulfilled:
    """The predicates that some events fulfil, each once: those of event e are
    ``predicates[start[e]:start[e + 1]]``."""

    start: NDArray[np.int64]
    predicates: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.start) - 1


class Matches:
    """Room for the matching (event, ordinal) pairs that a kernel writes."""

    __slots__ = ("out_event", "out_ordinal")

    def __init__(self) -> None:
        self.out_event = np.empty(1024, np.int64)
        self.out_ordinal = np.empty(1024, np.uint32)

    def grow(self, count: int, needed: int) -> None:
        room = 2 * needed + 1024
        event, ordinal = np.empty(room, np.int64), np.empty(room, np.uint32)
        event[:count] = self.out_event[:count]
        ordinal[:count] = self.out_ordinal[:count]
        self.out_event, self.out_ordinal = event, ordinal


class Scratch(Matches):
    """The predicate bit vector, which every kernel leaves as it found it, and lists of matches."""

    __slots__ = ("events", "fulfilled", "truth", "visited")

    def __init__(self, predicates: int) -> None:
        super().__init__()
        self.truth = bits(predicates)
        self.fulfilled = self.events = 0
        self.visited = np.zeros(1, np.int64)


class TwoPhase(ABC):
    """Compiled tables of an algorithm. For one thread at a time: the bit vectors are its own."""

    __slots__ = ()

    index: PredicateIndex
    _scratch: Scratch

    @abstractmethod
    def _match_subscriptions(self, fulfilled: Fulfilled, first: int, count: int) -> tuple[int, ...]:
        """Add the matches of the events from `first` on to the `count` ones in the scratch.

        Returns the next event, how many matches there are now, and the room that is needed.
        """

    @property
    def encoder(self) -> Encoder:
        return self.index.encoder

    def match(self, items: Items) -> Pairs:
        """The matching (event, ordinal) pairs in order, as of a segment."""
        found = []
        for first, fulfilled in self.fulfilled(items):
            event, ordinal = self.match_fulfilled(fulfilled)
            found.append((event + first if first else event, ordinal))
        if len(found) == 1:
            return found[0]
        none: Pairs = np.empty(0, np.int64), np.empty(0, np.uint32)
        events, ordinals = zip(none, *found, strict=True)
        return np.concatenate(events), np.concatenate(ordinals)

    def fulfilled(self, items: Items) -> Iterator[tuple[int, Fulfilled]]:
        """Step one: the predicates that events fulfil, of many events at once; and the first of
        these events."""
        events = len(items.start) - 1
        event = 0
        while event < events:
            start = np.empty(events - event + 1, np.int64)
            predicates = np.empty(len(self.index) + _FULFILLED_AT_ONCE, np.uint32)
            after = find_fulfilled(
                event, items.start, items.domain, items.position, items.hit_start, items.hits,
                *self.index.tables(), self._scratch.truth, start, predicates,
            )  # fmt: skip
            start = start[: after - event + 1]
            yield event, Fulfilled(start, predicates[: start[-1]])
            event = after

    def match_fulfilled(self, fulfilled: Fulfilled) -> Pairs:
        """Step two: the matching (event, ordinal) pairs of events that fulfil these predicates."""
        scratch = self._scratch
        event = count = 0
        while True:
            event, count, needed = self._match_subscriptions(fulfilled, event, count)
            if event == len(fulfilled):
                scratch.events += event
                scratch.fulfilled += len(fulfilled.predicates)
                return scratch.out_event[:count].copy(), scratch.out_ordinal[:count].copy()
            scratch.grow(count, needed)

    def work_per_event(self) -> tuple[float, float]:
        """Fulfilled predicates and candidates, over all events matched so far."""
        scratch = self._scratch
        events = max(1, scratch.events)
        return scratch.fulfilled / events, float(scratch.visited[0]) / events


def bits(count: int) -> NDArray[np.uint64]:
    return np.zeros(count // 64 + 1, np.uint64)
