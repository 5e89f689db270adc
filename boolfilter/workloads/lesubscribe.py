"""Workload L: the simulated load of Le Subscribe (paper 000, section 4).

One type of event with six optional attributes: ``s0`` to ``s2`` are strings of 200 values, asked
for by equality only, ``n0`` to ``n2`` are numbers of 5000 values. An attribute is in a subscription
with probability 0.5, and in an event with probability 0.5. A predicate on a number is an equality
with probability ``equality``, which the paper varies. Values are uniform.

The paper does not say what becomes of a subscription that drew no attribute at all (one in 64):
here it is drawn again. Nor does it name the other operators: here they are ``<`` and ``>``, which
its algorithms index, each in half of the cases.
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
    groups,
    require,
)

STRINGS = ("s0", "s1", "s2")
NUMBERS = ("n0", "n1", "n2")
ATTRIBUTES = STRINGS + NUMBERS

_ABSENT, _EQUAL, _LESS, _GREATER = range(4)
_OPERATORS = ("", "=", "<", ">")


@dataclass(frozen=True, slots=True)
class LeSubscribe(TemplatedWorkload):
    """L(n): see the module; ``equality=1`` gives the equality-only load of the paper's figure 11.

    >>> LeSubscribe().texts(0, 2)
    ["s0 = 'v150' AND s1 = 'v99' AND s2 = 'v192' AND n2 < 2684", 'n0 = 1867 AND n2 = 3264']
    """

    name: ClassVar[str] = "lesubscribe"

    equality: float = 0.5
    string_values: int = 200
    number_values: int = 5000

    def __post_init__(self) -> None:
        require(0 <= self.equality <= 1, "0 <= equality <= 1", self)
        require(self.string_values > 0, "0 < string_values", self)
        require(self.number_values > 0, "0 < number_values", self)

    def templates(self, start: int, stop: int, seed: int = 0) -> Iterator[Template]:
        """The subscriptions by shape, of which there are at most 511.

        >>> next(LeSubscribe().templates(0, 1)).text
        's0 = ? AND s1 = ? AND s2 = ? AND n2 < ?'
        """
        rows = counters.row_numbers(start, stop)
        operators = self._operators(rows, seed)
        # The operators of a row as the digits of one number.
        digits = 4 ** np.arange(len(ATTRIBUTES))
        for _, places in groups(digits @ operators):
            shape = operators[:, places[0]].tolist()
            present = [index for index, operator in enumerate(shape) if operator != _ABSENT]
            text = " AND ".join(f"{ATTRIBUTES[i]} {_OPERATORS[shape[i]]} ?" for i in present)
            columns = [self._values(rows[places], seed, "subscription", i) for i in present]
            yield Template(text, rows[places].astype(np.int64), columns)

    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, an attribute a column.

        >>> list(LeSubscribe().event_columns(0, 1))
        ['s0', 's1', 's2', 'n0', 'n1', 'n2']
        """
        rows = counters.row_numbers(start, stop)
        return {
            attribute: EventColumn(
                self._values(rows, seed, "event", index),
                counters.below(rows, 2, self.name, seed, "bound", index).astype(np.bool_),
            )
            for index, attribute in enumerate(ATTRIBUTES)
        }

    def _operators(self, rows: counters.Rows, seed: int) -> NDArray[np.int64]:
        """The operator of each attribute, ``array[attribute, row]``, 0 where it is absent."""
        # At probability 0.5 each subset is as likely as another, so that leaving out the empty
        # one is the same as drawing again.
        subset = 1 + counters.below(rows, 2 ** len(ATTRIBUTES) - 1, self.name, seed, "present")
        operators = np.full((len(ATTRIBUTES), rows.size), _EQUAL)
        for index in range(len(STRINGS), len(ATTRIBUTES)):
            equal = counters.uniform(rows, self.name, seed, "equality", index) < self.equality
            side = _LESS + counters.below(rows, 2, self.name, seed, "side", index)
            operators[index] = np.where(equal, _EQUAL, side)
        for index in range(len(ATTRIBUTES)):
            operators[index, (subset >> index & 1) == 0] = _ABSENT
        return operators

    def _values(self, rows: counters.Rows, seed: int, use: str, index: int) -> NDArray[Any]:
        if index >= len(STRINGS):
            return counters.below(rows, self.number_values, self.name, seed, use, index)
        domain = np.array([f"v{value}" for value in range(self.string_values)])
        return domain[counters.below(rows, self.string_values, self.name, seed, use, index)]
