"""The workload of paper 002, section 4: unique predicates, and events that fulfil so many of them.

A subscription is an AND of OR pairs of ``predicates`` predicates, which its disjunctive normal form
turns into ``2 ** (predicates / 2)`` conjunctions of half as many predicates. No predicate is shared
by two subscriptions. Each event fulfils exactly ``fulfilled`` predicates of all subscriptions.

The paper chooses the fulfilled predicates and skips the events. To have real events that do the
same, predicate j of every subscription is a window on attribute j, ``aj BETWEEN v AND v + w - 1``,
and its ``v`` is the subscription's place in a random permutation of ``range(subscriptions)``. So no
two windows on one attribute are equal, and a value x lies in just the w windows that begin at
x - w + 1 to x. The widths of all attributes add up to ``fulfilled``; events draw each x uniformly
where all of these windows exist. Thresholds (``aj < v``) would give the same number, but every
event would then fulfil nearly the same predicates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boolfilter.workloads import counters
from boolfilter.workloads.workload import (
    EventColumn,
    Template,
    TemplatedWorkload,
    joined,
    require,
)


@dataclass(frozen=True, slots=True)
class NonCanonical(TemplatedWorkload):
    """The load of paper 002 for so many ``subscriptions``: rows beyond them do not exist.

    The paper has 6, 8 and 10 predicates, 5,000 and 10,000 of them fulfilled an event, and 2,000 to
    5,000,000 subscriptions. The exact number of fulfilled predicates holds when all of the
    subscriptions are loaded.

    >>> NonCanonical(predicates=2).texts(0, 1)
    ['(a0 BETWEEN 332624 AND 335123 OR a1 BETWEEN 347233 AND 349732)']
    """

    name: ClassVar[str] = "noncanonical"

    predicates: int = 8
    subscriptions: int = 1_000_000
    fulfilled: int = 5_000

    def __post_init__(self) -> None:
        require(
            self.predicates > 0 and self.predicates % 2 == 0, "predicates is even, positive", self
        )
        require(0 < self.subscriptions <= 1 << 53, "0 < subscriptions <= 2**53", self)
        require(
            self.predicates <= self.fulfilled <= self.predicates * self.subscriptions,
            "predicates <= fulfilled <= predicates * subscriptions",
            self,
        )

    def templates(self, start: int, stop: int, seed: int = 0) -> Iterator[Template]:
        """All of the subscriptions in one template.

        >>> next(NonCanonical(predicates=2).templates(0, 1)).text
        '(a0 BETWEEN ? AND ? OR a1 BETWEEN ? AND ?)'
        """
        rows = self._rows(start, stop)
        columns: list[NDArray[Any]] = []
        for position, width in enumerate(self._widths()):
            places = counters.permuted(rows, self.subscriptions, self.name, seed, position)
            columns += [places, places + (width - 1)]
        windows = [f"a{position} BETWEEN ? AND ?" for position in range(self.predicates)]
        yield Template(joined(windows), rows.astype(np.int64), columns)

    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, an attribute a column; all are bound.

        >>> list(NonCanonical(predicates=6).event_columns(0, 1))
        ['a0', 'a1', 'a2', 'a3', 'a4', 'a5']
        """
        rows = counters.row_numbers(start, stop)
        columns = {}
        for position, width in enumerate(self._widths()):
            choices = self.subscriptions - width + 1
            values = counters.below(rows, choices, self.name, seed, "event", position)
            columns[f"a{position}"] = EventColumn(values + (width - 1))
        return columns

    def _rows(self, start: int, stop: int) -> counters.Rows:
        if stop > self.subscriptions:
            raise ValueError(f"{self}: there is no subscription {stop - 1}")
        return counters.row_numbers(start, stop)

    def _widths(self) -> list[int]:
        share, rest = divmod(self.fulfilled, self.predicates)
        return [share + (position < rest) for position in range(self.predicates)]
