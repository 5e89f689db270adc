"""Subscriptions by id, as every baseline keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boolfilter.errors import SubscriptionIdError, UnknownSubscriptionError
from boolfilter.evaluate import Nulls, check_nulls
from boolfilter.events import Event, FlatEvent, flatten
from boolfilter.expressions import Expression
from boolfilter.forest import Forest, forest_of
from boolfilter.ids import Id, check_id
from boolfilter.items import Encoder, Items
from boolfilter.limits import DEFAULT_LIMITS, Limits
from boolfilter.prepared import Subscription, normal_form

_EVENTS_A_BATCH = 512


class Subscribed(ABC):
    """The part of the Matcher protocol that does not depend on the algorithm.

    A subscription has a *number*, which only grows: the order of numbers is that of subscription.
    An algorithm says what it does with a new one, a removed one, and an event.
    """

    def __init__(self, *, nulls: Nulls = "false", limits: Limits = DEFAULT_LIMITS) -> None:
        self.nulls = check_nulls(nulls)
        self.limits = limits
        self._number: dict[Id, int] = {}
        self._id: dict[int, Id] = {}
        self._next = 0

    @abstractmethod
    def _insert(self, number: int, expression: Expression) -> None:
        """Take a subscription in normal form; raises, with nothing changed, if it cannot."""

    @abstractmethod
    def _remove(self, number: int) -> None:
        """Forget a subscription."""

    @abstractmethod
    def _find(self, event: FlatEvent) -> Iterable[int]:
        """The numbers of the subscriptions that the event satisfies, each once, in any order."""

    def subscribe(self, id: Id, subscription: Subscription) -> None:
        id = check_id(id)
        if id in self._number:
            raise SubscriptionIdError(id, f"the id {id!r} is in use")
        expression = normal_form(subscription, nulls=self.nulls, limits=self.limits)
        self._insert(self._next, expression)
        self._number[id] = self._next
        self._id[self._next] = id
        self._next += 1

    def subscribe_many(self, subscriptions: Iterable[tuple[Id, Subscription]]) -> None:
        for id, subscription in subscriptions:
            self.subscribe(id, subscription)

    def unsubscribe(self, id: Id) -> None:
        number = self._number.pop(id, None)
        if number is None:
            raise UnknownSubscriptionError(id)
        del self._id[number]
        self._remove(number)

    def match(self, event: Event) -> list[Id]:
        return [self._id[number] for number in sorted(self._find(flatten(event)))]

    def match_many(self, events: Iterable[Event]) -> list[list[Id]]:
        return [self.match(event) for event in events]

    def __contains__(self, id: object) -> bool:
        return id in self._number

    def __len__(self) -> int:
        return len(self._number)


class Tables(Protocol):
    """Subscriptions of a forest, compiled to tables."""

    @property
    def encoder(self) -> Encoder: ...

    def match(self, items: Items) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The matching (event, ordinal) pairs in order."""


class CompiledMatcher(Subscribed):
    """An algorithm whose tables are compiled from all subscriptions at the first match after a
    change."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._expressions: dict[int, Expression] = {}
        self._compiled: tuple[Tables, list[int]] | None = None

    @abstractmethod
    def _compile(self, forest: Forest) -> Tables:
        """The tables of all subscriptions."""

    def tables(self) -> Tables:
        """The tables, compiled if need be."""
        return self._current()[0]

    def _insert(self, number: int, expression: Expression) -> None:
        self._expressions[number] = expression
        self._compiled = None

    def _remove(self, number: int) -> None:
        del self._expressions[number]
        self._compiled = None

    def _find(self, event: FlatEvent) -> Iterable[int]:
        tables, numbers = self._current()
        ordinals = tables.match(tables.encoder.encode((event,)))[1]
        return [numbers[ordinal] for ordinal in ordinals.tolist()]

    def match_many(self, events: Iterable[Event]) -> list[list[Id]]:
        tables, numbers = self._current()
        found: list[list[Id]] = []
        flat = map(flatten, events)
        while batch := tuple(islice(flat, _EVENTS_A_BATCH)):
            event, ordinals = tables.match(tables.encoder.encode(batch))
            found += ([] for _ in batch)
            place = len(found) - len(batch)
            for one, ordinal in zip(event.tolist(), ordinals.tolist(), strict=True):
                found[place + one].append(self._id[numbers[ordinal]])
        return found

    def _current(self) -> tuple[Tables, list[int]]:
        if self._compiled is None:
            forest = forest_of(self._expressions.values())
            self._compiled = self._compile(forest), list(self._expressions)
        return self._compiled
