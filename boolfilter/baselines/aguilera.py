"""The algorithm of Aguilera and others, as paper 000 tells it (section 3.1, figure 7)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from boolfilter.baselines.conjunctions import ConjunctionMatcher
from boolfilter.baselines.literals import is_true, predicate_of
from boolfilter.dnf import Conjunction
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Operator, Predicate
from boolfilter.values import kind_of


class Aguilera(ConjunctionMatcher):
    """A tree of tests: an inner node tests an attribute of the event and has an edge for each
    result that some subscription asks for, and a *-edge for those that do not care. A test is *the
    value of the attribute*, with an edge for each equality, or a single other predicate, with one
    edge. All paths that an event opens are followed.

    Insertion and removal are incremental, as in the paper. It is silent on the order of tests, and
    calls its own ordering an optimisation that depends on the order of subscriptions. Here a new
    subscription follows the tests that it meets; where the path ends, its remaining predicates go
    on it, equalities first, then by attribute. A subscription with no predicate left stays at the
    node it has reached, where the paper goes on to a leaf over *-edges. All subscriptions and
    events are accepted: where an event has several values for an attribute, the edge of each is
    followed.

    >>> matcher = Aguilera()
    >>> matcher.subscribe_many([("alice", "price < 10 AND category = 'Toy'"), ("bob", "price > 5")])
    >>> matcher.match({"price": 7, "category": "Toy"})
    ['alice', 'bob']
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._root = _Node()

    def nodes(self) -> int:
        """The size of the tree."""
        return sum(1 for _ in _walk(self._root))

    def _insert_conjunction(self, number: int, conjunction: Conjunction) -> None:
        node = self._root
        left = _in_order(conjunction)
        while left:
            if node.test is None:
                node.test = _test(left[0])
            chosen = _answering(left, node.test)
            if chosen is not None:
                left.remove(chosen)
            edge = None if chosen is None else _result(chosen)
            node = node.edges.setdefault(edge, _Node())
        node.numbers.add(number)

    def _remove_conjunction(self, number: int, conjunction: Conjunction) -> None:
        path: list[tuple[_Node, Hashable]] = []
        node = self._root
        left = _in_order(conjunction)
        while left:
            chosen = _answering(left, node.test)
            if chosen is not None:
                left.remove(chosen)
            path.append((node, None if chosen is None else _result(chosen)))
            node = node.edges[path[-1][1]]
        node.numbers.remove(number)
        while path and not node.numbers and not node.edges:
            node, edge = path.pop()
            del node.edges[edge]
            if not node.edges:
                node.test = None

    def _find_conjunctions(self, event: FlatEvent) -> Iterator[int]:
        todo = [self._root]
        while todo:
            node = todo.pop()
            yield from node.numbers
            if node.test is None:
                continue
            results = _results(node.test, event)
            # No result is None: that is the *-edge.
            todo += [node.edges[each] for each in (*results, None) if each in node.edges]


# The attribute whose value is asked for, or a literal that is true or not.
_Test = str | Expression


class _Node:
    """A test, the nodes that its results lead to (None: the *-edge), and the subscriptions that
    have no predicate left here."""

    __slots__ = ("edges", "numbers", "test")

    def __init__(self) -> None:
        self.test: _Test | None = None
        self.edges: dict[Hashable, _Node] = {}
        self.numbers: set[int] = set()


def _in_order(conjunction: Conjunction) -> list[Expression]:
    return sorted(conjunction, key=lambda each: (not _is_equality(each), str(each)))


def _is_equality(literal: Expression) -> bool:
    return isinstance(literal, Predicate) and literal.operator is Operator.EQUAL


def _test(literal: Expression) -> _Test:
    return predicate_of(literal).attribute if _is_equality(literal) else literal


def _result(literal: Expression) -> Hashable:
    """The result of its test that makes a literal true."""
    if not _is_equality(literal):
        return True
    operand: Any = predicate_of(literal).operand
    return kind_of(operand), operand


def _answering(literals: list[Expression], test: _Test | None) -> Expression | None:
    """The first literal that is decided by the test."""
    return next((each for each in literals if _test(each) == test), None)


def _results(test: _Test, event: FlatEvent) -> Iterable[Hashable]:
    if isinstance(test, Expression):
        return (True,) if is_true(test, event) else ()
    found = event.get(test, ())
    values = found if isinstance(found, tuple) else (found,)
    return {(kind_of(value), value) for value in values}


def _walk(root: _Node) -> Iterator[_Node]:
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += node.edges.values()
