"""The buffer: the newest subscriptions, in plain Python that may change at any time.

This is the paper's algorithm as a person would write it. One-dimensional indexes lead from the
values of an event to the predicates they satisfy and on to candidates, whose trees are then
evaluated directly. Unlike the paper's, the indexes hold only the *access predicates* of a
subscription (:mod:`boolfilter.access`), and what those imply is not evaluated again.
"""

from __future__ import annotations

import math
import operator
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sortedcontainers import SortedDict

from boolfilter.access import Program, Test, accepts, access_leaves, compiled, residual, scalar_test
from boolfilter.evaluate import holds
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Operator, Predicate
from boolfilter.values import KIND_OF_TYPE, Kind, kind_of

Key = str | int
_NEVER = sys.maxsize  # a version that no change will have


class Buffer:
    """Subscriptions in normal form under their ids, matched as of a version.

    Concurrency: writers give each change a version that no reader has yet, and tell readers of it
    when it is made. An item added at version a and removed at version r is seen by the versions
    a <= v < r, so a reader that keeps its version sees one state, whatever is written meanwhile.
    A lock keeps the indexes whole. It is held while candidates are looked up, not while they are
    evaluated: of an item only the end of its life ever changes, and that beyond any reader's time.

    >>> import boolfilter as bf
    >>> buffer = Buffer()
    >>> buffer.add("alice", bf.normalise(bf.parse("price < 10 AND brand = 'Acme'")), version=1)
    >>> buffer.add("bob", bf.normalise(bf.parse("NOT colour = 'red'")), version=2)
    >>> buffer.remove("alice", version=3)
    True
    >>> event = {"price": 5, "brand": "Acme"}
    >>> [buffer.match(event, version) for version in (1, 2, 3)]
    [['alice'], ['alice', 'bob'], ['bob']]
    >>> buffer.forget(3)
    >>> buffer.items(3), buffer.held
    ([('bob', parse("NOT colour = 'red'"))], 1)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: dict[int, _Item] = {}  # by place, in order of addition; removed ones too
        self._live: dict[Key, _Item] = {}
        self._removed: deque[_Item] = deque()
        self._indexes = _Indexes()
        self._version = 0
        self._next_place = 0

    def __len__(self) -> int:
        """How many are live now."""
        return len(self._live)

    def __contains__(self, key: Key) -> bool:
        return key in self._live

    @property
    def held(self) -> int:
        """How many are kept, those included that only older versions see."""
        return len(self._items)

    def get(self, key: Key) -> Expression | None:
        """The expression of a key that is live now."""
        item = self._live.get(key)
        return None if item is None else item.expression

    def add(self, key: Key, expression: Expression, version: int) -> None:
        """Keep a normal form, to be seen by this version and later ones; the key must be free.

        Linear in the tree, and a binary search for each range among the access predicates.
        """
        access = access_leaves(expression)
        program = compiled(residual(expression, access or []))
        with self._lock:
            if key in self._live:
                raise ValueError(f"{key!r} is in the buffer already")
            self._advance(version)
            item = _Item(self._next_place, key, expression, access, program, version)
            self._next_place += 1
            self._items[item.place] = self._live[key] = item
            self._indexes.add(item)

    def remove(self, key: Key, version: int) -> bool:
        """Hide a key from this version and later ones; whether it was there. Constant time."""
        with self._lock:
            if key not in self._live:
                return False
            self._advance(version)
            item = self._live.pop(key)
            item.removed = version
            self._removed.append(item)
            return True

    def forget(self, version: int) -> None:
        """Drop what no version from this one on can see. Linear in what is dropped.

        Call it once no reader has an earlier version; until then what is removed stays.
        """
        with self._lock:
            while self._removed and self._removed[0].removed <= version:
                item = self._removed.popleft()
                del self._items[item.place]
                self._indexes.discard(item)

    def match(self, event: FlatEvent, version: int) -> list[Key]:
        """The keys whose expressions the event satisfies, in order of addition.

        A few lookups for each attribute of the event, then the trees of the candidates.
        """
        with self._lock:
            found = self._indexes.candidates(event)
        seen = [item for item in found if item.added <= version < item.removed]
        matched = [item for item in seen if accepts(item.program, event)]
        if len(matched) > 1:
            matched.sort(key=_place_of)
        return [item.key for item in matched]

    def items(self, version: int) -> list[tuple[Key, Expression]]:
        """The keys and expressions that the version sees, in order of addition. Linear."""
        with self._lock:
            return [
                (item.key, item.expression)
                for item in self._items.values()
                if item.added <= version < item.removed
            ]

    def check(self) -> None:
        """Verify every invariant, making the indexes anew to compare them. For tests."""
        with self._lock:
            items = list(self._items.values())
            assert [item.place for item in items] == sorted(self._items)
            assert self._live == {item.key: item for item in items if item.removed == _NEVER}
            assert set(self._removed) == {item for item in items if item.removed != _NEVER}
            ends = [item.removed for item in self._removed]
            assert ends == sorted(ends)
            assert all(item.added <= min(item.removed, self._version) for item in items)
            anew = _Indexes()
            for item in items:
                anew.add(item)
            assert self._indexes.contents() == anew.contents()

    def _advance(self, version: int) -> None:
        if not self._version <= version < _NEVER:
            raise ValueError(f"version {version} cannot follow version {self._version}")
        self._version = version


@dataclass(slots=True, eq=False)
class _Item:
    """A subscription of the buffer; two are never equal."""

    place: int
    key: Key
    expression: Expression
    access: list[Predicate] | None
    program: Program
    added: int
    removed: int = _NEVER


_Items = set[_Item]
_place_of = operator.attrgetter("place")


# -- one-dimensional indexes ------------------------------------------------------------------


class _Indexes:
    """From the values of an event to the items that one of them makes candidates."""

    def __init__(self) -> None:
        self.always: _Items = set()
        self.exists: dict[str, _Items] = {}
        by_kind: dict[Kind, dict[str, _Index]] = {kind: {} for kind in Kind}
        # By type, because asking for it is cheap; int and float share, being one kind.
        self.by_type = {each: by_kind[kind] for each, kind in KIND_OF_TYPE.items()}
        self.by_type[tuple] = {}

    def candidates(self, event: FlatEvent) -> _Items:
        found = set(self.always)
        by_type = self.by_type
        value: Any
        for attribute, value in event.items():
            index = by_type[type(value)].get(attribute)
            if index is not None:
                if value in index.equal:
                    found |= index.equal[value]
                if value <= index.top or value >= index.bottom:
                    index.find_ranges(value, found)
                if index.tested:
                    index.find_tested(value, found)
            elif type(value) is tuple:
                self._find_several(attribute, event, found)
        if self.exists:
            for attribute in self.exists.keys() & event.keys():
                found |= self.exists[attribute]
        return found

    def _find_several(self, attribute: str, event: FlatEvent, found: _Items) -> None:
        values: Any = event[attribute]
        used: dict[int, _Index] = {}
        for value in values:
            index = self.by_type[type(value)].get(attribute)
            if index is not None:
                used[id(index)] = index
                found |= index.equal.get(value, set())
                index.find_ranges(value, found)
        for index in used.values():
            # Not by its tests: CONTAINS asks of several values what it does not ask of one.
            for predicate, items in index.tested.items():
                if holds(predicate, event):
                    found |= items

    def add(self, item: _Item) -> None:
        if item.access is None:
            self.always.add(item)
        for table, key in self._places(item):
            table.setdefault(key, set()).add(item)

    def discard(self, item: _Item) -> None:
        self.always.discard(item)
        for table, key in self._places(item):
            items = table.setdefault(key, set())  # gone already where access predicates overlap
            items.discard(item)
            if not items:
                del table[key]

    def contents(self) -> dict[object, object]:
        """What is in the tables, in a form to compare."""
        found: dict[object, object] = {"always": self.always, "exists": self.exists}
        for each, indexes in self.by_type.items():
            for attribute, index in indexes.items():
                if any(tables := index.contents()):
                    found[each, attribute] = tables
        return found

    def _places(self, item: _Item) -> Iterator[tuple[Any, Any]]:
        """The tables that an item stands in, and the key in each."""
        for predicate in item.access or ():
            if predicate.operator is Operator.EXISTS:
                yield self.exists, predicate.attribute
                continue
            operand: Any = predicate.operand
            if not isinstance(operand, tuple):
                operand = (operand,)
            elif predicate.operator is not Operator.IN:
                operand = operand[:1]  # a pattern's text or a lower bound: enough to tell the kind
            for value in operand:
                indexes = self.by_type[type(value)]
                if predicate.attribute not in indexes:
                    indexes[predicate.attribute] = _Index(kind_of(value))
                yield indexes[predicate.attribute].place(predicate, value)


class _Index:
    """What access predicates ask of the values of one attribute and kind, and who asks it.

    `top` and `bottom` spare most values a look at the ranges: a value above all upper bounds and
    below all lower ones satisfies none. They may be too wide, which only costs a look in vain.
    """

    __slots__ = ("bottom", "equal", "ranges", "tested", "top")

    def __init__(self, kind: Kind) -> None:
        self.equal: dict[Any, _Items] = {}
        self.ranges: dict[Operator, Any] = {}  # sorted, from bounds to items
        self.tested: dict[Predicate, _TestedItems] = {}
        self.top, self.bottom = _IDLE_BOUNDS[kind]

    def find_ranges(self, value: Any, found: _Items) -> None:
        for comparison, table in self.ranges.items():
            from_widest, fails = _RANGES[comparison]
            # The bounds that hold stand together at one end of the table.
            for bound in from_widest(table):
                if fails(bound, value):
                    break
                found |= table[bound]

    def find_tested(self, value: Any, found: _Items) -> None:
        for items in self.tested.values():
            test = items.test  # a call in place would look for a method first
            if test(value):
                found |= items

    def place(self, predicate: Predicate, value: Any) -> tuple[Any, Any]:
        """The table and the key for a predicate, made ready to take items."""
        comparison = predicate.operator
        if comparison in (Operator.EQUAL, Operator.IN):
            return self.equal, value
        if comparison not in _RANGES:
            if predicate not in self.tested:
                self.tested[predicate] = _TestedItems(scalar_test(predicate)[1])
            return self.tested, predicate
        if comparison not in self.ranges:
            self.ranges[comparison] = SortedDict()
        if comparison in _UPPER:
            self.top = max(self.top, value)
        else:
            self.bottom = min(self.bottom, value)
        return self.ranges[comparison], value

    def contents(self) -> tuple[object, ...]:
        for comparison, table in self.ranges.items():
            for bound in table:
                assert bound <= self.top if comparison in _UPPER else bound >= self.bottom
        ranges = {each: dict(table) for each, table in self.ranges.items() if table}
        return self.equal, ranges, self.tested


class _TestedItems(set[_Item]):
    """Items under a predicate that no table can look up, with the test to try instead."""

    __slots__ = ("test",)

    def __init__(self, test: Test) -> None:
        self.test = test


_UPPER = (Operator.LESS, Operator.LESS_OR_EQUAL)
# How to walk the bounds from the one that most values satisfy, and where to stop.
_RANGES: dict[Operator, tuple[Callable[[Any], Iterator[Any]], Callable[[Any, Any], bool]]] = {
    Operator.LESS: (reversed, operator.le),
    Operator.LESS_OR_EQUAL: (reversed, operator.lt),
    Operator.GREATER: (iter, operator.ge),
    Operator.GREATER_OR_EQUAL: (iter, operator.gt),
}
# `top` and `bottom` where there is no range: few values are beyond them.
_IDLE_BOUNDS: dict[Kind, tuple[Any, Any]] = {
    Kind.BOOLEAN: (False, True),
    Kind.NUMBER: (-math.inf, math.inf),
    Kind.STRING: ("", chr(sys.maxunicode)),
    Kind.TIMESTAMP: (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),
}
