"""Workload P: conjunctions of OR pairs over many integer attributes, matched by rare events.

A subscription is an AND of OR pairs. Its predicates stand on different attributes; half of them
are equalities, a quarter ``<`` and a quarter ``>``, with constants that make them true for 1 to 5%
of the events. Events bind every attribute to a uniform integer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

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

OPERATORS = ("=", "<", ">")
_BATCH = 1 << 15


class PairPredicates(NamedTuple):
    """The predicates of many subscriptions: ``array[position, row]``, two positions a pair."""

    attributes: NDArray[np.uint16]
    operators: NDArray[np.uint8]
    """Indexes into :data:`OPERATORS`."""
    values: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairs(TemplatedWorkload):
    """P(n, pairs): see the module.

    Values are the integers 0 to ``largest``. With ``shapes`` the attributes and operators of a
    subscription are one of so many random combinations, as if filled into as many forms; without
    it each subscription draws its own, and a template holds one row.

    >>> Pairs(pairs=2).texts(0, 1)
    ['(a37 > 976840 OR a24 = 129783) AND (a38 = 325332 OR a11 < 14936)']
    """

    name: ClassVar[str] = "pairs"

    pairs: int = 4
    attributes: int = 40
    largest: int = 1_000_000
    shapes: int | None = None

    def __post_init__(self) -> None:
        require(0 < 2 * self.pairs <= self.attributes, "0 < 2 * pairs <= attributes", self)
        require(self.attributes <= 1 << 16, "attributes <= 65536", self)
        require(99 <= self.largest < 1 << 53, "99 <= largest < 2**53", self)
        require(self.shapes is None or self.shapes > 0, "shapes is None or positive", self)

    def texts(self, start: int, stop: int, seed: int = 0) -> list[str]:
        """The texts of the subscriptions ``start`` to ``stop - 1``.

        >>> Pairs(pairs=3).texts(5, 7) == Pairs(pairs=3).texts(0, 7)[5:]
        True
        """
        attributes, operators, values = self.predicates(start, stop, seed)
        heads = self._heads()[attributes, operators]
        parts = [
            column.tolist()
            for head, value in zip(heads, values, strict=True)
            for column in (head, value)
        ]
        pattern = joined(["%s%d"] * (2 * self.pairs))
        return [pattern % row for row in zip(*parts, strict=True)]

    def templates(self, start: int, stop: int, seed: int = 0) -> Iterator[Template]:
        """The subscriptions by shape; ``shapes`` says how many there are."""
        rows = counters.row_numbers(start, stop)
        shapes, members = np.unique(self._shape_numbers(rows, seed), return_inverse=True)
        attributes, operators = self._shapes(shapes, seed)
        heads = self._heads()[attributes, operators]
        order = np.argsort(members, kind="stable")
        values = self._values(rows, operators[:, members], seed)[:, order]
        arranged_rows = rows[order].astype(np.int64)
        first = 0
        for shape, last in enumerate(np.cumsum(np.bincount(members)).tolist()):
            text = joined([head + "?" for head in heads[:, shape]])
            yield Template(text, arranged_rows[first:last], list(values[:, first:last]))
            first = last

    def predicates(self, start: int, stop: int, seed: int = 0) -> PairPredicates:
        """The subscriptions ``start`` to ``stop - 1`` as columns, for loads that skip the text.

        >>> Pairs(pairs=3).predicates(0, 1).attributes.shape
        (6, 1)
        """
        rows = counters.row_numbers(start, stop)
        made = PairPredicates(
            np.empty((2 * self.pairs, rows.size), dtype=np.uint16),
            np.empty((2 * self.pairs, rows.size), dtype=np.uint8),
            np.empty((2 * self.pairs, rows.size), dtype=np.int64),
        )
        # Batches that stay in the cache: twice as fast as whole columns.
        for first in range(0, rows.size, _BATCH):
            batch = slice(first, first + _BATCH)
            attributes, operators = self._shapes(self._shape_numbers(rows[batch], seed), seed)
            made.attributes[:, batch] = attributes
            made.operators[:, batch] = operators
            made.values[:, batch] = self._values(rows[batch], operators, seed)
        return made

    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, an attribute a column; all are bound.

        >>> Pairs().event_columns(0, 1)["a39"].values
        array([348964])
        """
        rows = counters.row_numbers(start, stop)
        return {
            f"a{attribute}": EventColumn(
                counters.below(rows, self.largest + 1, self.name, seed, "event", attribute)
            )
            for attribute in range(self.attributes)
        }

    def _shape_numbers(self, rows: counters.Rows, seed: int) -> counters.Rows:
        if self.shapes is None:
            return rows
        return counters.below(rows, self.shapes, self.name, seed, "shape").astype(np.uint64)

    def _shapes(
        self, shapes: counters.Rows, seed: int
    ) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        count = 2 * self.pairs
        attributes = counters.distinct(shapes, self.attributes, count, self.name, seed, "attribute")
        operators = np.empty((count, shapes.size), dtype=np.uint8)
        for position in range(count):
            quarter = counters.below(shapes, 4, self.name, seed, "operator", position)
            operators[position] = np.maximum(quarter - 1, 0)
        return attributes, operators

    def _values(
        self, rows: counters.Rows, operators: NDArray[np.uint8], seed: int
    ) -> NDArray[np.int64]:
        size = self.largest + 1
        fewest, most = -(-size // 100), size * 5 // 100
        # By operator: `< c` holds for c values, `> c` for largest - c.
        choices = np.array([size, most - fewest + 1, most - fewest + 1], dtype=np.float64)
        offsets = np.array([0, fewest, self.largest - most], dtype=np.int64)
        values = np.empty(operators.shape, dtype=np.int64)
        for position, operator in enumerate(operators):
            drawn = counters.uniform(rows, self.name, seed, "value", position)
            drawn *= choices[operator]
            values[position] = drawn
            values[position] += offsets[operator]
        return values

    def _heads(self) -> NDArray[np.object_]:
        return np.array(
            [[f"a{attribute} {operator} " for operator in OPERATORS]
             for attribute in range(self.attributes)],
            dtype=object,
        )  # fmt: skip
