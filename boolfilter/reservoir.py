"""A small, fair sample of the events that the engine has matched."""

from __future__ import annotations

import math
import random

from boolfilter.events import FlatEvent


class Reservoir:
    """A uniform sample of all events offered, of bounded size (algorithm L).

    An offer costs a comparison: how many events to skip is drawn ahead. Offers from several
    threads may lose a count now and then, which a sample can bear.
    """

    __slots__ = ("_events", "_next", "_random", "_weight", "offered", "size")

    def __init__(self, size: int, seed: int = 0) -> None:
        self.size = size
        self.offered = 0
        self._events: list[FlatEvent] = []
        self._random = random.Random(seed)
        self._weight = 1.0
        self._next = 0 if size else math.inf

    def offer(self, event: FlatEvent) -> None:
        number = self.offered
        self.offered = number + 1
        if number >= self._next:
            self._take(event, number)

    @property
    def sample(self) -> tuple[FlatEvent, ...]:
        """The events as they are now; a copy, which later offers do not change."""
        return tuple(self._events)

    def _take(self, event: FlatEvent, number: int) -> None:
        if len(self._events) < self.size:
            self._events.append(event)
            if len(self._events) < self.size:
                return
        else:
            self._events[self._random.randrange(self.size)] = event
        self._weight *= math.exp(math.log(1.0 - self._random.random()) / self.size)
        skipped = math.log(1.0 - self._random.random()) / math.log1p(-self._weight)
        self._next = number + 1 + math.floor(skipped)
