"""The algorithm of Hanson and others, as paper 000 tells it (section 3.1, figure 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.interval_index import IntervalIndex
from boolfilter.baselines.literals import (
    ABOVE_ALL,
    BELOW_ALL,
    Field,
    Interval,
    all_true,
    interval_of,
    point,
    predicate_of,
    values_by_kind,
)
from boolfilter.dnf import Conjunction
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression

_Indexed = tuple[Field, Interval]


class Hanson(ConjunctionMatcher):
    """The most selective predicate of a subscription is in the interval index of its attribute;
    where that is satisfied, the others are evaluated one after the other. Insertion and removal are
    incremental, as in the paper.

    The paper does not say how selectivity is known. Here an equality counts as the most selective,
    then BETWEEN, then a range; among equals, the one whose attribute (and kind of value) has the
    most different intervals indexed so far. A subscription with nothing but predicates that are no
    interval (LIKE, negations) is evaluated for every event. All subscriptions and events are
    accepted.

    >>> matcher = Hanson()
    >>> matcher.subscribe_many([("alice", "price < 10 AND category = 'Toy'"), ("bob", "price > 5")])
    >>> matcher.match({"price": 7, "category": "Toy"})
    ['alice', 'bob']
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._indexes: dict[Field, IntervalIndex] = {}
        self._indexed: dict[int, _Indexed] = {}
        self._others: dict[int, tuple[Expression, ...]] = {}
        self._not_indexed: dict[int, None] = {}

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        chosen = max(filter(interval_of, conjunction), key=self._selectivity, default=None)
        self._others[number] = tuple(each for each in conjunction if each is not chosen)
        if chosen is None:
            self._not_indexed[number] = None
            return
        interval = interval_of(chosen)
        assert interval is not None
        field = predicate_of(chosen).attribute, interval.kind
        self._indexed[number] = field, interval
        self._indexes.setdefault(field, IntervalIndex()).insert(interval, number)

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        del self._others[number]
        if number in self._not_indexed:
            del self._not_indexed[number]
        else:
            field, interval = self._indexed.pop(number)
            self._indexes[field].remove(interval, number)

    def _find_conjunctions(self, event: FlatEvent) -> Iterator[int]:
        partial = set(self._not_indexed)
        for field, values in values_by_kind(event):
            if field in self._indexes:
                for value in values:
                    partial.update(self._indexes[field].holding(value))
        return (number for number in partial if all_true(self._others[number], event))

    def _selectivity(self, literal: Expression) -> tuple[int, int, str]:
        """The greater, the fewer values; ends in the text, so that it does not depend on hashes."""
        interval = interval_of(literal)
        assert interval is not None
        bounded = (interval.low != BELOW_ALL) + (interval.high != ABOVE_ALL)
        is_point = bounded == 2 and interval == point(interval.low[1])
        index = self._indexes.get((predicate_of(literal).attribute, interval.kind), ())
        return bounded + is_point, len(index), str(literal)
