"""The algorithm of Gough and Smith, as paper 000 tells it (section 3.1, figure 3)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.literals import interval_of, predicate_of
from boolfilter.dnf import Conjunction
from boolfilter.errors import LimitError, UnsupportedError
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Not, Operator
from boolfilter.ids import Id
from boolfilter.prepared import Subscription
from boolfilter.values import Kind, Value, kind_of

MOST_NODES = 100_000


class TreeSizeError(LimitError):
    """Subscriptions whose tree is too large; it stops growing at the limit."""

    what = "the number of nodes of the tree"


class Gough(ConjunctionMatcher):
    """A tree with a level for each attribute, in the order in which subscriptions first name them.
    The values of an attribute are cut at the constants of the subscriptions that are still
    possible, one edge for each piece, and one for an event without the attribute. So an event takes
    a single path, one binary search a level, to the subscriptions it satisfies; and subscriptions
    that do not name an attribute are repeated below all of its edges. Where no subscription is
    possible a path ends; edges of a node to equal sets of subscriptions share their subtree, and a
    node that no subscription cares about is left out.

    There is no insertion: as the paper has it, the tree is built from scratch after a change, once
    for a `subscribe_many`. It grows exponentially; over ``most_nodes`` the subscriptions are
    refused with TreeSizeError.

    A level must be one value, and its edges comparisons: so an attribute with several values is
    refused in an event, and LIKE, searches and regular expressions in a subscription, with
    UnsupportedError. Negations and IS NULL are pieces like any other.

    >>> matcher = Gough()
    >>> matcher.subscribe_many([("alice", "price < 10 AND category = 'Toy'"), ("bob", "price > 5")])
    >>> matcher.match({"price": 7, "category": "Toy"})
    ['alice', 'bob']
    """

    def __init__(self, *, most_nodes: int = MOST_NODES, **options: Any) -> None:
        super().__init__(**options)
        self.most_nodes = most_nodes
        self._conditions: dict[int, _Conditions] = {}
        self._tree: _Tree | None = None

    def subscribe(self, id: Id, subscription: Subscription) -> None:
        super().subscribe(id, subscription)
        self._built_or_without([id])

    def subscribe_many(self, subscriptions: Iterable[tuple[Id, Subscription]]) -> None:
        taken: list[Id] = []
        try:
            for id, subscription in subscriptions:
                super().subscribe(id, subscription)
                taken.append(id)
        finally:  # those before a bad one stay
            self._built_or_without(taken)

    def nodes(self) -> int:
        """The size of the tree, leaves not counted."""
        return self._current().nodes

    def _check(self, conjunction: Conjunction) -> None:
        for literal in conjunction:
            predicate = predicate_of(literal)
            if interval_of(predicate) is None and predicate.operator is not Operator.EXISTS:
                problem = f"{predicate.operator.value} makes no edge of a tree: {literal}"
                raise UnsupportedError(problem)

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        conditions: _Conditions = {}
        for literal in sorted(conjunction, key=str):
            conditions.setdefault(predicate_of(literal).attribute, []).append(literal)
        self._conditions[number] = conditions
        self._tree = None

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        del self._conditions[number]
        self._tree = None

    def _find_conjunctions(self, event: FlatEvent) -> Iterable[int]:
        return self._current().find(event)

    def _current(self) -> _Tree:
        if self._tree is None:
            self._tree = _Tree(self._conditions, self.most_nodes)
        return self._tree

    def _built_or_without(self, ids: list[Id]) -> None:
        """Build the tree; if it is too large, forget the subscriptions that made it so."""
        try:
            self._current()
        except TreeSizeError:
            for id in ids:
                self.unsubscribe(id)
            raise


# The literals of one subscription, by attribute.
_Conditions = dict[str, list[Expression]]
_Alive = frozenset[int]  # subscriptions that are still possible
_ABSENT, _OTHER = 0, 1  # edges of every node: no value, and a value of a kind with no constants


@dataclass(slots=True)
class _Node:
    """``targets`` are subtrees or sets of subscriptions, each once; ``edges`` are places in it. The
    pieces of a kind of value with n sorted constants are 2n + 1 edges from ``first`` on, those of
    odd number the constants themselves."""

    attribute: str
    constants: dict[Kind, list[Any]]
    first: dict[Kind, int]
    edges: list[int]
    targets: list[_Node | _Alive]

    def next(self, event: FlatEvent) -> _Node | _Alive:
        value = event.get(self.attribute)
        if value is None:
            return self.targets[self.edges[_ABSENT]]
        assert not isinstance(value, tuple)
        constants = self.constants.get(kind_of(value))
        if constants is None:
            return self.targets[self.edges[_OTHER]]
        place = self.first[kind_of(value)] + _piece(value, constants)
        return self.targets[self.edges[place]]


class _Tree:
    """The tree of some subscriptions."""

    def __init__(self, conditions: dict[int, _Conditions], most_nodes: int) -> None:
        self.levels = list(dict.fromkeys(name for each in conditions.values() for name in each))
        self.nodes = 0
        # A worklist and not recursion, since there may be more attributes than stack.
        root: list[_Node | _Alive] = [frozenset(conditions)]
        todo = [(root, 0, 0)]
        while todo:
            targets, place, level = todo.pop()
            alive = targets[place]
            assert isinstance(alive, frozenset)
            below = self._next_level(conditions, alive, level)
            if below is None:
                continue
            self.nodes += 1
            if self.nodes > most_nodes:
                raise TreeSizeError(self.nodes, most_nodes)
            node = targets[place] = _node(self.levels[below], conditions, alive)
            todo += ((node.targets, each, below + 1) for each in range(len(node.targets)))
        self.root = root[0]

    def find(self, event: FlatEvent) -> _Alive:
        single = dict(event)
        for attribute in self.levels:
            found = event.get(attribute)
            if isinstance(found, tuple):
                if len(found) > 1:
                    raise UnsupportedError(f"{attribute!r} has several values: a tree takes one")
                single[attribute] = found[0]
        node = self.root
        while isinstance(node, _Node):
            node = node.next(single)
        return node

    def _next_level(
        self, conditions: dict[int, _Conditions], alive: _Alive, level: int
    ) -> int | None:
        """The first level from here on that one of the subscriptions cares about."""
        named = set().union(*(conditions[number] for number in alive))
        return next((i for i in range(level, len(self.levels)) if self.levels[i] in named), None)


def _node(attribute: str, conditions: dict[int, _Conditions], alive: _Alive) -> _Node:
    asking = {n: conditions[n][attribute] for n in alive if attribute in conditions[n]}
    indifferent = alive.difference(asking)
    constants = _constants(literal for literals in asking.values() for literal in literals)
    node = _Node(attribute, constants, {}, [], [])
    places: dict[_Alive, int] = {}

    def add_edge(kind: Kind | None, piece: int) -> None:
        passing = (n for n, all_of in asking.items() if _all_hold(all_of, kind, piece, constants))
        target = indifferent.union(passing)
        node.edges.append(places.setdefault(target, len(places)))

    add_edge(None, _NOWHERE)
    add_edge(None, _ANYWHERE)
    for kind, values in constants.items():
        node.first[kind] = len(node.edges)
        for piece in range(2 * len(values) + 1):
            add_edge(kind, piece)
    node.targets.extend(places)
    return node


_NOWHERE, _ANYWHERE = -1, 0  # pieces of an event without the attribute, or with another kind


def _constants(literals: Iterable[Expression]) -> dict[Kind, list[Any]]:
    found: dict[Kind, set[Any]] = {}
    for literal in literals:
        for value in _values(literal):
            found.setdefault(kind_of(value), set()).add(value)
    return {kind: sorted(values) for kind, values in found.items()}


def _values(literal: Expression) -> Iterator[Value]:
    interval = interval_of(predicate_of(literal))
    if interval is not None:
        yield from (bound[1] for bound in (interval.low, interval.high) if len(bound) > 1)


def _piece(value: Any, constants: list[Any]) -> int:
    """Where a value falls: ``2 * p`` before constant p, ``2 * p + 1`` on it."""
    place = bisect_left(constants, value)
    return 2 * place + (place < len(constants) and constants[place] == value)


def _all_hold(
    literals: list[Expression], kind: Kind | None, piece: int, constants: dict[Kind, list[Any]]
) -> bool:
    return all(_holds(literal, kind, piece, constants) for literal in literals)


def _holds(
    literal: Expression, kind: Kind | None, piece: int, constants: dict[Kind, list[Any]]
) -> bool:
    """Whether a literal is true of the values in a piece."""
    if isinstance(literal, Not):
        return not _holds(literal.child, kind, piece, constants)
    interval = interval_of(literal)
    if interval is None:  # it asks for any value
        return piece != _NOWHERE
    if kind is not interval.kind:
        return False
    values = constants[kind]
    low, high = interval.low, interval.high
    above = len(low) == 1 or piece > 2 * bisect_left(values, low[1]) + low[2]
    below = len(high) == 1 or piece <= 2 * bisect_left(values, high[1]) + high[2]
    return above and below
