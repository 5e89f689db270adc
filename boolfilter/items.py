"""Events in the terms of a segment: positions of their values, and hits of string searches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.events import FlatEvent
from boolfilter.expressions import Predicate
from boolfilter.forest import DomainKind, exact_number
from boolfilter.indexes.domains import Domains
from boolfilter.indexes.searches import Searches


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What some events say to one segment.

    The items of event e are ``start[e]:start[e + 1]``, those of one domain beside each other; the
    hits of its string searches are ``hit_start[e]:hit_start[e + 1]``.
    """

    start: NDArray[np.int64]
    domain: NDArray[np.int32]
    position: NDArray[np.uint32]
    hit_start: NDArray[np.int64]
    hits: NDArray[np.uint32]


class Plan:
    """What a segment wants to know of one attribute: the number of its domain of each kind (-1
    where it has none), and the searches in its strings."""

    __slots__ = ("domain_of", "plain", "searches")

    def __init__(self) -> None:
        self.domain_of = [-1] * len(DomainKind)
        self.searches: Searches | None = None
        self.plain = -1  # the number domain, where that is all there is


_NO_HITS = np.empty(0, np.uint32)
_NO_HIT_STARTS = np.zeros(2, np.int64)
_LARGEST_FLOAT_INTEGER = 2**53
_MOST_SHAPES = 1_024

PlainNumbers = tuple[tuple[str, ...], NDArray[np.float64]]
_PlainDomains = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]
_NUMBER_TYPES = frozenset({int, float})


def plain_numbers(event: FlatEvent) -> PlainNumbers | None:
    """The names and values of an event of numbers only, all of which floats hold exactly."""
    if not event or not _NUMBER_TYPES.issuperset(map(type, event.values())):
        return None
    try:
        high = np.array(list(event.values()), np.float64)
    except OverflowError:
        return None
    # Past 2**53 a float no longer tells an integer from its neighbours.
    return (tuple(event), high) if np.abs(high).max() < _LARGEST_FLOAT_INTEGER else None


class Encoder:
    """Translates events for one segment; immutable but for what its searches remember."""

    def __init__(self, domains: Domains, searches: list[Predicate], first_search: int) -> None:
        """`first_search` is the number of the first search among the members of the set slot."""
        self.domains = domains
        self.plans: dict[str, Plan] = {}
        self._by_names: dict[tuple[str, ...], Any] = {}
        for number, (attribute, kind) in enumerate(domains.keys):
            self.plans.setdefault(attribute, Plan()).domain_of[kind] = number
        by_attribute: dict[str, list[tuple[int, Predicate]]] = {}
        for number, predicate in enumerate(searches, first_search):
            by_attribute.setdefault(predicate.attribute, []).append((number, predicate))
        for attribute, found in by_attribute.items():
            self.plans.setdefault(attribute, Plan()).searches = Searches(found)
        for plan in self.plans.values():
            others = [*plan.domain_of]
            others[DomainKind.NUMBER] = -1
            if plan.searches is None and max(others) < 0:
                plan.plain = plan.domain_of[DomainKind.NUMBER]

    def encode_numbers(self, numbers: PlainNumbers) -> Items | None:
        """The items of one event of plain numbers; None if the segment asks more of them.

        Which domains an event's names lead to is remembered, since events repeat in shape: so no
        Python runs for single attributes.
        """
        names, high = numbers
        known = self._by_names.get(names, False)
        if known is False:
            if len(self._by_names) >= _MOST_SHAPES:
                self._by_names.clear()
            known = self._by_names[names] = self._plain_domains(names)
        if known is None:
            return None
        domain, start, low = known
        position = self.domains.rank_numbers(domain, high, low)
        return Items(start, domain, position, _NO_HIT_STARTS, _NO_HITS)

    def _plain_domains(self, names: tuple[str, ...]) -> _PlainDomains | None:
        plans = [self.plans.get(name) for name in names]
        if any(plan is not None and plan.plain < 0 for plan in plans):
            return None
        domain = np.array([-1 if plan is None else plan.plain for plan in plans], np.int32)
        start = np.array([0, len(names)], np.int64)
        return domain, start, np.zeros(len(names), np.int32)

    def encode(self, events: Iterable[FlatEvent]) -> Items:
        """The items of flat events. About a tenth of a microsecond for a number."""
        batch = _Batch(self.domains)
        for event in events:
            for name, value in event.items():
                plan = self.plans.get(name)
                if plan is None:
                    continue
                kind = type(value)
                if plan.plain >= 0 and (
                    kind is float
                    or (
                        kind is int and -_LARGEST_FLOAT_INTEGER <= value <= _LARGEST_FLOAT_INTEGER  # type: ignore[operator]
                    )
                ):
                    batch.domain.append(plan.plain)
                    batch.high.append(value)  # type: ignore[arg-type]
                else:
                    batch.add(plan, value)
            batch.end_event()
        return batch.finish()


class _Batch:
    """Items as they are found; numbers are ranked together at the end, and so are strings."""

    __slots__ = ("domain", "domains", "high", "hit_start", "hits", "low", "start", "strings")

    def __init__(self, domains: Domains) -> None:
        self.domains = domains
        self.domain: list[int] = []
        self.high: list[float] = []
        self.low: dict[int, int] = {}  # rests, by item: nearly all are 0
        self.strings: list[tuple[int, bytes]] = []
        self.start = [0]
        self.hits: list[int] = []
        self.hit_start = [0]

    def add(self, plan: Plan, value: Any) -> None:
        """The items of one attribute, kind by kind, so that those of a domain are together."""
        domain_of = plan.domain_of
        several = type(value) is tuple
        values = value if several else (value,)
        if domain_of[DomainKind.PRESENCE] >= 0:
            self._add_number(domain_of[DomainKind.PRESENCE], 1)
        for types, kind in _NUMBER_KINDS:
            domain = domain_of[kind]
            if domain >= 0:
                for one in values:
                    if type(one) in types:
                        self._add_number(domain, exact_number(one))
        if domain_of[DomainKind.STRING] >= 0:
            for one in values:
                if type(one) is str:
                    self._add_string(domain_of[DomainKind.STRING], one)
        if domain_of[DomainKind.FOLDED] >= 0:
            for one in values:
                if type(one) is str:
                    self._add_string(domain_of[DomainKind.FOLDED], one.lower())
        if plan.searches is not None:
            for one in values:
                if type(one) is str:
                    self.hits.extend(plan.searches.satisfied(one, several))

    def end_event(self) -> None:
        self.start.append(len(self.domain))
        self.hit_start.append(len(self.hits))

    def finish(self) -> Items:
        domain = np.array(self.domain, np.int32)
        low = np.zeros(len(domain), np.int32)
        for place, rest in self.low.items():
            low[place] = rest
        number_domain = domain
        if self.strings:
            number_domain = domain.copy()
            number_domain[[place for place, _ in self.strings]] = -1
        position = self.domains.rank_numbers(number_domain, np.array(self.high, np.float64), low)
        if self.strings:
            places = np.array([place for place, _ in self.strings])
            data = [text for _, text in self.strings]
            start = np.zeros(len(data) + 1, np.int64)
            np.cumsum([len(text) for text in data], out=start[1:])
            blob = np.frombuffer(bytearray(b"".join(data)), np.uint8)
            position[places] = self.domains.rank_strings(domain[places], blob, start)
        return Items(
            np.array(self.start, np.int64),
            domain,
            position,
            np.array(self.hit_start, np.int64)
            if self.hits or len(self.start) > 2
            else _NO_HIT_STARTS,
            np.array(self.hits, np.uint32) if self.hits else _NO_HITS,
        )

    def _add_number(self, domain: int, number: Any) -> None:
        high, rest = self.domains.split(domain, number)
        if rest:
            self.low[len(self.domain)] = rest
        self.domain.append(domain)
        self.high.append(high)

    def _add_string(self, domain: int, text: str) -> None:
        self.strings.append((len(self.domain), text.encode("utf-8", "surrogatepass")))
        self.domain.append(domain)
        self.high.append(0.0)


_NUMBER_KINDS = (
    (frozenset({bool}), DomainKind.BOOLEAN),
    (frozenset({int, float}), DomainKind.NUMBER),
    (frozenset({datetime}), DomainKind.TIMESTAMP),
)
