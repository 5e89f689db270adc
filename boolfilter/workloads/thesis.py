"""Workload T: the schema of the thesis (paper 001, appendix A) and its generators (chapter 8).

A subscription names one of five types of events, all equally likely, and asks for each of its five
attributes; operators and values are uniform over what the attribute's domain allows. Numbers are 0
to 2000, with all six comparisons; strings have 150 values and are asked for by ``contains`` only;
enumerations have the values of the schema and are asked for by ``=`` and ``<>``. An event has one
type, drawn likewise, with its four mandatory attributes and its optional one, all uniform.

The thesis does not say how often the optional attribute is there: here in half of the events. No
string contains another, so ``CONTAINS`` finds one of 150. The event type of the thesis has several
values and is asked for by ``contains``, which is ``=`` on such an attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

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


class Domain(NamedTuple):
    """What an attribute may be asked for; without ``values`` it holds numbers."""

    operators: tuple[str, ...]
    values: tuple[str, ...] = ()


NUMERIC = Domain((">", "<", ">=", "<=", "=", "<>"))
STRING = Domain(("CONTAINS",), tuple(f"v{value:03}" for value in range(150)))
ROOM = Domain(("=", "<>"), ("bed-room", "living-room", "dining-room"))
MATERIAL = Domain(("=", "<>"), ("wood", "carbon", "epox", "polyester", "paper", "glass"))
BRAND = Domain(("=", "<>"), ("opel", "volvo", "bmw", "seat", "renault", "mazda", "mini"))

DOMAINS = {
    "price": NUMERIC,
    "period": STRING,
    "quantity": NUMERIC,
    "furniture_category": ROOM,
    "material": MATERIAL,
    "year": NUMERIC,
    "volume": NUMERIC,
    "brand": BRAND,
    "cc": NUMERIC,
    "size": NUMERIC,
}


class EventType(NamedTuple):
    attributes: tuple[str, ...]
    optional: str


EVENT_TYPES = {
    "antique": EventType(("price", "period", "quantity", "material", "size"), "material"),
    "furniture": EventType(
        ("price", "quantity", "furniture_category", "material", "size"), "furniture_category"
    ),
    "surf-board": EventType(("price", "quantity", "year", "material", "volume"), "material"),
    "car": EventType(("price", "quantity", "year", "brand", "cc"), "brand"),
    "painting": EventType(("price", "quantity", "period", "material", "size"), "period"),
}
_TYPES = tuple(EVENT_TYPES.values())
_MOST_OPERATORS = max(len(domain.operators) for domain in DOMAINS.values())


@dataclass(frozen=True, slots=True)
class Thesis(TemplatedWorkload):
    """T(n): see the module; ``largest`` is the largest number.

    >>> print(Thesis(largest=9).texts(4, 5)[0])
    event_type = 'car' AND price < 0 AND quantity <> 0 AND year = 6 AND brand <> 'seat' AND cc < 9
    """

    name: ClassVar[str] = "thesis"

    largest: int = 2000
    optional: float = 0.5

    def __post_init__(self) -> None:
        require(0 <= self.largest < 1 << 53, "0 <= largest < 2**53", self)
        require(0 <= self.optional <= 1, "0 <= optional <= 1", self)

    def templates(self, start: int, stop: int, seed: int = 0) -> Iterator[Template]:
        """The subscriptions by shape, of which there are at most 6,912.

        >>> next(Thesis().templates(4, 5)).text
        'event_type = ? AND price < ? AND quantity <> ? AND year = ? AND brand <> ? AND cc < ?'
        """
        rows = counters.row_numbers(start, stop)
        types = self._types(rows, seed, "subscription")
        shapes = types.copy()
        for position in range(len(_TYPES[0].attributes)):
            choices = np.array([len(_domain(kind, position).operators) for kind in _TYPES])
            drawn = counters.uniform(rows, self.name, seed, "operator", position)
            # The type and the operators of a row as the digits of one number.
            shapes *= _MOST_OPERATORS
            shapes += (drawn * choices[types]).astype(np.int64)
        for _, places in groups(shapes):
            members = rows[places]
            shape, digits = int(shapes[places[0]]), []
            for _ in _TYPES[0].attributes:
                shape, digit = divmod(shape, _MOST_OPERATORS)
                digits.append(digit)
            attributes = _TYPES[shape].attributes
            asked = [
                f"{attribute} {DOMAINS[attribute].operators[digit]} ?"
                for attribute, digit in zip(attributes, reversed(digits), strict=True)
            ]
            names = np.full(members.size, list(EVENT_TYPES)[shape])
            columns = [self._values(members, seed, "value", attribute) for attribute in attributes]
            text = " AND ".join(["event_type = ?", *asked])
            yield Template(text, members.astype(np.int64), [names, *columns])

    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, an attribute a column.

        >>> list(Thesis().event_columns(0, 1))[:4]
        ['event_type', 'price', 'period', 'quantity']
        """
        rows = counters.row_numbers(start, stop)
        types = self._types(rows, seed, "event")
        optional = counters.uniform(rows, self.name, seed, "optional") < self.optional
        columns = {"event_type": EventColumn(np.array(list(EVENT_TYPES))[types])}
        for attribute in DOMAINS:
            bound = np.zeros(rows.size, dtype=np.bool_)
            for number, kind in enumerate(_TYPES):
                if attribute in kind.attributes:
                    always = attribute != kind.optional
                    bound |= (types == number) & (optional | always)
            columns[attribute] = EventColumn(self._values(rows, seed, "event", attribute), bound)
        return columns

    def _types(self, rows: counters.Rows, seed: int, use: str) -> NDArray[np.int64]:
        return counters.below(rows, len(_TYPES), self.name, seed, "type", use)

    def _values(self, rows: counters.Rows, seed: int, use: str, attribute: str) -> NDArray[Any]:
        values = DOMAINS[attribute].values
        size = len(values) if values else self.largest + 1
        drawn = counters.below(rows, size, self.name, seed, use, attribute)
        return np.array(values)[drawn] if values else drawn


def _domain(kind: EventType, position: int) -> Domain:
    return DOMAINS[kind.attributes[position]]
