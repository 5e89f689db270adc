"""The algorithm of NEONRules, as paper 000 tells it (section 3.1, figure 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.literals import is_true, predicate_of
from boolfilter.dnf import Conjunction
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Not, Operator

# Attribute, comparison, and whether it is negated.
_Operation = tuple[str, Operator, bool]


class Neon(ConjunctionMatcher):
    """Three tables. *predicates* has those of every subscription, equal ones as often as they are
    asked for, with an index over attribute and comparison, whose keys are the *operations* table;
    *n_predicates* has how many each subscription has. An event is put to every predicate of the
    operations on its attributes, one at a time, and the satisfied ones are counted.

    The paper's product has several event types, each with predicates of its own; events here have
    none, so there is one. Insertion and removal are updates of the tables. What was added:
    negations, whose operations are looked at whether the event has their attribute or not, and
    subscriptions with no predicate, which are always true. All subscriptions and events are
    accepted.

    >>> matcher = Neon()
    >>> matcher.subscribe_many([("alice", "price < 10 AND category = 'Toy'"), ("bob", "price > 5")])
    >>> matcher.match({"price": 7, "category": "Toy"})
    ['alice', 'bob']
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._predicates: dict[_Operation, dict[tuple[int, Expression], None]] = {}
        self._counts: dict[int, int] = {}
        self._empty: dict[int, None] = {}

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        if not conjunction:
            self._empty[number] = None
        for literal in conjunction:
            rows = self._predicates.setdefault(_operation(literal), {})
            rows[number, literal] = None
        self._counts[number] = len(conjunction)

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        self._empty.pop(number, None)
        for literal in conjunction:
            operation = _operation(literal)
            del self._predicates[operation][number, literal]
            if not self._predicates[operation]:
                del self._predicates[operation]
        del self._counts[number]

    def _find_conjunctions(self, event: FlatEvent) -> Iterator[int]:
        yield from self._empty
        satisfied: Counter[int] = Counter()
        for (attribute, _, negated), rows in self._predicates.items():
            if negated or attribute in event:
                satisfied.update(number for number, each in rows if is_true(each, event))
        yield from (n for n, count in satisfied.items() if count == self._counts[n])


def _operation(literal: Expression) -> _Operation:
    predicate = predicate_of(literal)
    return predicate.attribute, predicate.operator, isinstance(literal, Not)
