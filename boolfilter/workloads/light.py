"""Workload R: light events, on which paper 003 measures RAPIDMatch.

Subscriptions and events have ``properties`` binary properties. A subscription asks of each that it
be 0, that it be 1, or nothing, in about 5%, 5% and 90%; the paper draws these shares "around" their
means, which here is between half and one and a half of them, a share a property. Events bind all
properties and are *light*: few of them are 1. How few is told by the Light Query Model, in which an
event has t ones with probability proportional to ``t ** -alpha`` (t from 1 to ``properties``, and
all events with t ones are equally likely), or by the exponential one, in which each property is 1
with probability ``ones``. With the paper's parameters these are 3 and 10 ones an event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from boolfilter.workloads import counters
from boolfilter.workloads.workload import EventColumn, Workload, require


@dataclass(frozen=True, slots=True)
class Light(Workload):
    """R(n): see the module; ``model`` is "zipf" or "exponential".

    >>> Light(properties=20).texts(0, 3)
    ['a0 = 0 AND a2 = 0', 'a10 = 1', 'a1 = 1 AND a9 = 1']
    """

    name: ClassVar[str] = "light"

    model: Literal["zipf", "exponential"] = "zipf"
    alpha: float = 2.0
    ones: float = 0.1
    properties: int = 100
    asked_for_0: float = 0.05
    asked_for_1: float = 0.05

    def __post_init__(self) -> None:
        require(self.model in ("zipf", "exponential"), "model is zipf or exponential", self)
        require(self.alpha >= 0, "0 <= alpha", self)
        require(0 <= self.ones <= 1, "0 <= ones <= 1", self)
        require(self.properties > 0, "0 < properties", self)
        require(min(self.asked_for_0, self.asked_for_1) >= 0, "0 <= asked_for_0, asked_for_1", self)
        require(
            1.5 * (self.asked_for_0 + self.asked_for_1) <= 1,
            "asked_for_0 + asked_for_1 <= 2/3",
            self,
        )

    def texts(self, start: int, stop: int, seed: int = 0) -> list[str]:
        """The texts of the subscriptions ``start`` to ``stop - 1``; TRUE asks for nothing.

        >>> Light().texts(5, 7) == Light().texts(0, 7)[5:]
        True
        """
        wanted = self.patterns(start, stop, seed)
        pieces = [(f"a{place} = 0", f"a{place} = 1") for place in range(self.properties)]
        predicates: list[list[str]] = [[] for _ in range(stop - start)]
        # By row, then by property within it.
        row_of, place_of = np.nonzero(wanted < 2)
        values = wanted[row_of, place_of]
        for row, place, value in zip(
            row_of.tolist(), place_of.tolist(), values.tolist(), strict=True
        ):
            predicates[row].append(pieces[place][value])
        return [" AND ".join(found) or "TRUE" for found in predicates]

    def patterns(self, start: int, stop: int, seed: int = 0) -> NDArray[np.uint8]:
        """The same subscriptions, a row each: what each property is asked to be, 2 for ``*``.

        >>> Light(properties=20).patterns(0, 1).tolist()
        [[0, 2, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]]
        """
        rows = counters.row_numbers(start, stop)
        wanted = np.full((rows.size, self.properties), 2, dtype=np.uint8)
        for place, (zero, one) in enumerate(self._shares(seed).tolist()):
            drawn = counters.uniform(rows, self.name, seed, "asked", place)
            wanted[drawn < zero + one, place] = 1
            wanted[drawn < zero, place] = 0
        return wanted

    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, a property a column; all are bound.

        >>> int(Light().event_columns(0, 1)["a7"].values[0])
        1
        """
        rows = counters.row_numbers(start, stop)
        drawn = np.empty((self.properties, rows.size))
        for place in range(self.properties):
            drawn[place] = counters.uniform(rows, self.name, seed, "event", place)
        if self.model == "exponential":
            values = drawn < self.ones
        else:
            law = counters.zipf(self.properties, self.alpha)
            count = 1 + counters.choose(rows, law, self.name, seed, "light")
            # The properties in random order, the first `count` of which are 1.
            values = np.argsort(np.argsort(drawn, axis=0), axis=0) < count
        return {
            f"a{place}": EventColumn(column) for place, column in enumerate(values.astype(np.int64))
        }

    def _shares(self, seed: int) -> NDArray[np.float64]:
        """How often each property is asked to be 0 and 1, ``array[property, value]``."""
        places = counters.row_numbers(0, self.properties)
        means = (self.asked_for_0, self.asked_for_1)
        return np.stack(
            [
                mean * (0.5 + counters.uniform(places, self.name, seed, "share", value))
                for value, mean in enumerate(means)
            ],
            axis=1,
        )
