"""Workload A: arbitrary Boolean expressions after the generator of A-Tree (SIGMOD 2021).

An expression is a full tree of ``depth`` levels, the predicates being the last: depth 1 is a
predicate alone, depth 3 an operator over operators over predicates. Operators are AND and OR in 40%
each, NOT in 10%, XOR and XNOR in 5% each. AND and OR have ``children`` children, NOT has one. XOR
and XNOR have two whatever ``children`` says, since a chain of k of them is k**2 predicates when it
is written with AND, OR and NOT; so a level of them doubles what is below it and no more. XNOR is
written as NOT of XOR.

Children that are expressions themselves are shared: each level has a pool of ``pool`` members, of
which children are drawn by Zipf's law of exponent ``alpha``; a member depends on its level and rank
only. With ``alpha=0`` all members are drawn as often, with ``alpha=1`` the first of a million is in
every fourteenth place. Predicates and whole expressions are drawn without regard to others.

Events bind ``event_size`` of the ``dimensions`` attributes, and values are uniform in
``range(cardinality)``, in events and predicates alike. The mix of comparisons is ours, as are the
defaults of ``cardinality``, ``event_size`` and ``alpha``, which lie inside the published ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from boolfilter.expressions import Expression
from boolfilter.workloads import counters
from boolfilter.workloads.abegen_forms import (
    AS_EXPRESSIONS,
    AS_TEXTS,
    COMPARISONS,
    MOST_IN_A_LIST,
    NOT,
    XNOR,
    XOR,
    Drawn,
    Level,
    Predicates,
    grown,
)
from boolfilter.workloads.workload import EventColumn, Workload, require

OPERATOR_SHARES = (0.40, 0.40, 0.10, 0.05, 0.05)
"""Of AND, OR, NOT, XOR and XNOR."""
COMPARISON_SHARES = (0.40, 0.06, 0.06, 0.06, 0.06, 0.06, 0.10, 0.20)
"""Of the comparisons in :data:`COMPARISONS`."""


@dataclass(frozen=True, slots=True)
class AbeGen(Workload):
    """A(n): see the module.

    >>> AbeGen(depth=2, children=3).texts(4, 6)
    ['a866 <> 92 XOR a320 BETWEEN 60 AND 96', 'a525 = 70 AND a804 = 8 AND a321 = 18']
    """

    name: ClassVar[str] = "abegen"

    depth: int = 3
    children: int = 4
    dimensions: int = 1_000
    cardinality: int = 100
    event_size: int = 15
    alpha: float = 0.5
    pool: int = 1_000_000

    def __post_init__(self) -> None:
        require(0 < self.depth <= 12, "0 < depth <= 12", self)
        require(2 <= self.children <= 64, "2 <= children <= 64", self)
        require(0 < self.event_size <= self.dimensions, "0 < event_size <= dimensions", self)
        require(self.dimensions <= 1 << 16, "dimensions <= 65536", self)
        require(2 <= self.cardinality <= 1 << 31, "2 <= cardinality <= 2**31", self)
        require(self.alpha >= 0, "0 <= alpha", self)
        require(0 < self.pool <= 1 << 27, "0 < pool <= 2**27", self)

    def texts(self, start: int, stop: int, seed: int = 0) -> list[str]:
        """The texts of the subscriptions ``start`` to ``stop - 1``.

        >>> AbeGen().texts(5, 7) == AbeGen().texts(0, 7)[5:]
        True
        """
        return list(map(AS_TEXTS.whole, grown(self.drawn(start, stop, seed), AS_TEXTS)))

    def expressions(self, start: int, stop: int, seed: int = 0) -> list[Expression]:
        """The same subscriptions as objects, for loads that skip the text.

        >>> print(AbeGen(depth=2, children=3).expressions(4, 5)[0])
        a866 <> 92 XOR a320 BETWEEN 60 AND 96
        """
        return grown(self.drawn(start, stop, seed), AS_EXPRESSIONS)

    def events(self, start: int, stop: int, seed: int = 0) -> list[dict[str, Any]]:
        """The events ``start`` to ``stop - 1`` as dicts that hold the bound attributes.

        >>> AbeGen(event_size=2).events(0, 1)
        [{'a617': 33, 'a774': 2}]
        """
        attributes, values = self._bound(counters.row_numbers(start, stop), seed)
        names = np.array([f"a{attribute}" for attribute in range(self.dimensions)], dtype=object)
        return [
            dict(zip(row_names, row_values, strict=True))
            for row_names, row_values in zip(
                names[attributes].T.tolist(), values.T.tolist(), strict=True
            )
        ]

    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, an attribute a column.

        >>> sum(int(column.bound.sum()) for column in AbeGen().event_columns(0, 1).values())
        15
        """
        rows = counters.row_numbers(start, stop)
        attributes, drawn = self._bound(rows, seed)
        values = np.zeros((self.dimensions, rows.size), dtype=np.int64)
        bound = np.zeros((self.dimensions, rows.size), dtype=np.bool_)
        np.put_along_axis(values, attributes.astype(np.intp), drawn, axis=0)
        np.put_along_axis(bound, attributes.astype(np.intp), True, axis=0)
        return {
            f"a{attribute}": EventColumn(values[attribute], bound[attribute])
            for attribute in range(self.dimensions)
        }

    def _bound(
        self, rows: counters.Rows, seed: int
    ) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """The attributes that events bind and their values, ``array[position, row]``."""
        attributes = counters.distinct(
            rows, self.dimensions, self.event_size, self.name, seed, "bound"
        )
        values = np.empty(attributes.shape, dtype=np.int64)
        for position in range(self.event_size):
            values[position] = counters.below(
                rows, self.cardinality, self.name, seed, "event", position
            )
        return attributes, values

    def drawn(self, start: int, stop: int, seed: int = 0) -> Drawn:
        """The subscriptions ``start`` to ``stop - 1`` as columns, for loads without a loop.

        >>> drawn = AbeGen(depth=3).drawn(0, 1000)
        >>> [len(level.operators) for level in drawn.levels], len(drawn.predicates.sizes)
        ([1000, 3520], 12259)
        """
        numbers: counters.Rows = counters.row_numbers(start, stop)
        pool: str | int = "row"
        levels: list[Level] = []
        for below in range(self.depth - 1, 0, -1):
            operators = counters.choose(
                numbers, counters.cumulative(OPERATOR_SHARES), self.name, seed, "operator", pool
            )
            counts = np.full(numbers.size, self.children)
            counts[operators == NOT] = 1
            counts[(operators == XOR) | (operators == XNOR)] = 2
            # A child's number is its parent's and its position there.
            positions = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            places = np.repeat(numbers, counts) * np.uint64(self.children)
            places += positions.astype(np.uint64)
            if below == 1:
                levels.append(Level(operators, counts, np.arange(places.size)))
                numbers = places
            else:
                shared = counters.zipf(self.pool, self.alpha)
                ranks = counters.choose(places, shared, self.name, seed, "member", pool)
                distinct, members = np.unique(ranks, return_inverse=True)
                levels.append(Level(operators, counts, members))
                numbers, pool = distinct.astype(np.uint64), below
        return Drawn(levels, self._predicates(numbers, pool, seed))

    def _predicates(self, numbers: counters.Rows, pool: str | int, seed: int) -> Predicates:
        labels = (self.name, seed, "predicate", pool)
        comparisons = counters.choose(
            numbers, counters.cumulative(COMPARISON_SHARES), *labels, "comparison"
        )
        drawn = np.empty((MOST_IN_A_LIST, numbers.size), dtype=np.int64)
        for item in range(MOST_IN_A_LIST):
            drawn[item] = counters.below(numbers, self.cardinality, *labels, "value", item)
        windows = comparisons == COMPARISONS.index("BETWEEN")
        drawn[:2, windows] = np.sort(drawn[:2, windows], axis=0)
        return Predicates(
            counters.below(numbers, self.dimensions, *labels, "attribute"),
            comparisons,
            drawn,
            2 + counters.below(numbers, MOST_IN_A_LIST - 1, *labels, "size"),
        )
