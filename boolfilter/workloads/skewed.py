"""Workload S: random AND/OR/NOT trees over attributes and values of Zipf's law.

A tree has 3 to 20 predicates and at most 4 operators on any path, NOT counted; AND and OR take
turns. Every fourth attribute holds strings, the others integers, both from a domain of ``values``
ranks; how popular a value is says nothing about where it stands in the order, and each attribute
has its own popular values. Events bind 20 of the 100 attributes, the popular ones more often, and
satisfy about 4% of the subscriptions under two-valued nulls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolfilter.workloads import counters
from boolfilter.workloads.workload import EventColumn, Workload, require

OPERATORS = ("=", "<", "<=", ">", ">=", "<>", "BETWEEN", "IN")
OPERATOR_SHARES = (0.40, 0.08, 0.06, 0.08, 0.06, 0.04, 0.10, 0.18)
MOST_IN_A_LIST = 6
STRINGS_EVERY = 4
NOT_BEFORE_PREDICATE = 0.05
NOT_BEFORE_GROUP = 0.02
AND_AT_ROOT = 0.95
MOST_CHILDREN = 5

_BETWEEN = OPERATORS.index("BETWEEN")
_IN = OPERATORS.index("IN")


@dataclass(frozen=True, slots=True)
class Skewed(Workload):
    """S(n): see the module.

    The trees' outlines (operators and number of predicates) are drawn from ``outlines`` random
    ones; attributes, comparisons and values are drawn by each subscription.

    >>> Skewed(most_predicates=3).texts(0, 1)
    ["(a2 = 562 OR a99 BETWEEN 'v06290' AND 'v06488') AND a0 < 9670"]
    """

    name: ClassVar[str] = "skewed"

    attributes: int = 100
    bound: int = 20
    values: int = 10_000
    attribute_skew: float = 1.0
    value_skew: float = 1.0
    depth: int = 4
    fewest_predicates: int = 3
    most_predicates: int = 20
    outlines: int = 4096

    def __post_init__(self) -> None:
        require(0 < self.bound <= self.attributes, "0 < bound <= attributes", self)
        require(self.values >= 10, "10 <= values", self)
        require(self.depth > 0, "0 < depth", self)
        require(
            2 <= self.fewest_predicates <= self.most_predicates,
            "2 <= fewest_predicates <= most_predicates",
            self,
        )
        require(self.outlines > 0, "0 < outlines", self)

    def texts(self, start: int, stop: int, seed: int = 0) -> list[str]:
        """The texts of the subscriptions ``start`` to ``stop - 1``.

        >>> Skewed().texts(5, 7) == Skewed().texts(0, 7)[5:]
        True
        """
        rows = counters.row_numbers(start, stop)
        drawn = counters.below(rows, self.outlines, self.name, seed, "outline")
        outlines = [_outline(self, seed, number) for number in drawn.tolist()]
        counts = np.array([outline.predicates for outline in outlines], dtype=np.int64)
        ends = np.cumsum(counts)
        # A predicate's number is its subscription's row and its position there.
        positions = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
        numbers = np.repeat(rows, counts) * np.uint64(self.most_predicates)
        predicates = self._predicates(numbers + positions.astype(np.uint64), seed)
        return [
            outline.pattern % tuple(predicates[end - outline.predicates : end])
            for outline, end in zip(outlines, ends.tolist(), strict=True)
        ]

    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, an attribute a column.

        >>> sum(int(column.bound.sum()) for column in Skewed().event_columns(0, 1).values())
        20
        """
        rows = counters.row_numbers(start, stop)
        bound = counters.distinct_zipf(
            rows, self.attributes, self.bound, self.attribute_skew, self.name, seed, "bound"
        )
        ranks = counters.zipf(self.values, self.value_skew)
        strings = np.array([_string(self.values, value) for value in range(self.values)])
        columns = {}
        for attribute in range(self.attributes):
            drawn = counters.choose(rows, ranks, self.name, seed, "event", attribute)
            values: NDArray[Any] = self._placed(drawn, np.int64(attribute))
            if attribute % STRINGS_EVERY == STRINGS_EVERY - 1:
                values = strings[values]
            columns[f"a{attribute}"] = EventColumn(values, bound[attribute])
        return columns

    def _predicates(self, numbers: counters.Rows, seed: int) -> list[str]:
        """The texts of predicates, each of which depends on its number alone."""
        attributes = counters.choose(
            numbers, counters.zipf(self.attributes, self.attribute_skew),
            self.name, seed, "attribute",
        )  # fmt: skip
        operators = counters.choose(
            numbers, counters.cumulative(OPERATOR_SHARES), self.name, seed, "operator"
        )
        texts = _heads(self.attributes)[attributes, operators]
        texts += self._literals(attributes, self._values(numbers, attributes, seed, 0))

        windows = np.flatnonzero(operators == _BETWEEN)
        if windows.size:
            lower = self._values(numbers[windows], attributes[windows], seed, 0)
            widths = counters.below(numbers[windows], self.values // 10, self.name, seed, "width")
            texts[windows] += " AND " + self._literals(attributes[windows], lower + 1 + widths)

        lists = np.flatnonzero(operators == _IN)
        sizes = 2 + counters.below(numbers[lists], MOST_IN_A_LIST - 1, self.name, seed, "size")
        items = np.empty((MOST_IN_A_LIST, lists.size), dtype=np.int64)
        for item in range(MOST_IN_A_LIST):
            items[item] = self._values(numbers[lists], attributes[lists], seed, item)
            fresh = (sizes > item) & (items[:item] != items[item]).all(axis=0)
            if item and fresh.any():
                literals = self._literals(attributes[lists[fresh]], items[item, fresh])
                texts[lists[fresh]] += ", " + literals
        if lists.size:
            texts[lists] += ")"
        return texts.tolist()  # type: ignore[no-any-return]

    def _values(
        self, numbers: counters.Rows, attributes: NDArray[np.int64], seed: int, item: int
    ) -> NDArray[np.int64]:
        ranks = counters.zipf(self.values, self.value_skew)
        drawn = counters.choose(numbers, ranks, self.name, seed, "value", item)
        return self._placed(drawn, attributes)

    def _placed(
        self, ranks: NDArray[np.int64], attributes: NDArray[np.int64] | np.int64
    ) -> NDArray[np.int64]:
        """The values of ranks: a permutation of the domain, another for each attribute."""
        return (ranks * _stride(self.values) + attributes * 7919) % self.values

    def _literals(
        self, attributes: NDArray[np.int64], values: NDArray[np.int64]
    ) -> NDArray[np.object_]:
        table = _literal_table(self.values)
        literals: NDArray[np.object_] = table[
            (attributes % STRINGS_EVERY == STRINGS_EVERY - 1).astype(np.intp), values
        ]
        return literals


class _Outline(NamedTuple):
    pattern: str
    predicates: int


@lru_cache(maxsize=1 << 16)
def _outline(workload: Skewed, seed: int, number: int) -> _Outline:
    """A tree with ``%s`` for each predicate."""
    draws = _draws(workload, seed, number)
    more = workload.most_predicates - workload.fewest_predicates + 1
    predicates = workload.fewest_predicates + int(next(draws) * more)
    operator = "AND" if next(draws) < AND_AT_ROOT else "OR"
    return _Outline(_group(draws, predicates, workload.depth, operator), predicates)


def _group(draws: Iterator[float], predicates: int, depth: int, operator: str) -> str:
    """An AND or OR of so many predicates, with at most ``depth`` operators on a path."""
    other = "OR" if operator == "AND" else "AND"
    sizes = _split(draws, predicates) if depth > 1 else [1] * predicates
    return f" {operator} ".join(_child(draws, size, depth - 1, other) for size in sizes)


def _child(draws: Iterator[float], predicates: int, depth: int, operator: str) -> str:
    if predicates == 1:
        return "NOT %s" if next(draws) < NOT_BEFORE_PREDICATE and depth > 0 else "%s"
    if next(draws) < NOT_BEFORE_GROUP and depth > 1:
        return f"NOT ({_group(draws, predicates, depth - 1, operator)})"
    return f"({_group(draws, predicates, depth, operator)})"


def _split(draws: Iterator[float], predicates: int) -> list[int]:
    """How many predicates each child gets: at least one each."""
    children = 2 + int(next(draws) * (min(predicates, MOST_CHILDREN) - 1))
    sizes = [1] * children
    for _ in range(predicates - children):
        sizes[int(next(draws) * children)] += 1
    return sizes


def _draws(workload: Skewed, seed: int, number: int) -> Iterator[float]:
    start = 0
    while True:
        block = counters.row_numbers(start, start + 128)
        yield from counters.uniform(block, workload.name, seed, "tree", number).tolist()
        start += 128


def _string(values: int, value: int) -> str:
    # Padded, so that strings are in the order of their numbers.
    return f"v{value:0{len(str(2 * values))}d}"


@lru_cache(maxsize=16)
def _literal_table(values: int) -> NDArray[np.object_]:
    """How a value stands in a text, ``array[does the attribute hold strings, value]``."""
    reach = range(values + values // 10 + 1)
    strings = [f"'{_string(values, value)}'" for value in reach]
    return np.array([[str(value) for value in reach], strings], dtype=object)


@lru_cache(maxsize=16)
def _heads(attributes: int) -> NDArray[np.object_]:
    """How a predicate begins, ``array[attribute, operator]``."""
    begins = [*(f" {operator} " for operator in OPERATORS[:_IN]), " IN ("]
    return np.array([[f"a{i}{begin}" for begin in begins] for i in range(attributes)], dtype=object)


@lru_cache(maxsize=16)
def _stride(values: int) -> int:
    """A step about 0.618 of the domain that visits all of it before it repeats."""
    stride = int(values * 0.618)
    while np.gcd(stride, values) != 1:
        stride += 1
    return stride
