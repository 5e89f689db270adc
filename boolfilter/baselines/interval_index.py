"""Intervals of one attribute, and which of them hold a value: for Hanson's algorithm.

The paper uses an interval binary search tree. This is a treap by lower bound in which every node
knows the greatest upper bound below it: expected O(log n) to insert or remove, against its
O(log**2 n), with nothing to move when it is rebalanced; a search skips every subtree that ends
before the value or starts after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from boolfilter.baselines.literals import Bound, Interval
from boolfilter.values import Value


class IntervalIndex:
    """Numbers by intervals of values of one kind.

    >>> import boolfilter as bf
    >>> from boolfilter.baselines.literals import interval_of
    >>> index = IntervalIndex()
    >>> for number, text in enumerate(["a < 5", "a BETWEEN 3 AND 9", "a = 9"]):
    ...     index.insert(interval_of(bf.parse(text)), number)
    >>> [sorted(index.holding(value)) for value in (2, 4, 9)]
    [[0], [0, 1], [1, 2]]
    """

    def __init__(self) -> None:
        self._root: _Node | None = None
        self._random = Random(0)
        self._nodes = 0

    def __len__(self) -> int:
        """The different intervals."""
        return self._nodes

    def insert(self, interval: Interval, number: int) -> None:
        known = self._node(interval)
        if known is None:
            node = _Node(interval, self._random.random())
            node.numbers.add(number)
            self._root = _inserted(self._root, node)
            self._nodes += 1
        else:
            known.numbers.add(number)

    def remove(self, interval: Interval, number: int) -> None:
        node = self._node(interval)
        assert node is not None
        node.numbers.remove(number)
        if not node.numbers:
            self._root = _removed(self._root, node)
            self._nodes -= 1

    def holding(self, value: Value) -> Iterator[int]:
        """The numbers whose interval holds the value."""
        low, high = (1, value, 0), (1, value, 1)
        todo = [self._root]
        while todo:
            node = todo.pop()
            if node is None or node.highest < high:
                continue
            todo.append(node.left)
            if node.low <= low:
                todo.append(node.right)
                if node.high >= high:
                    yield from node.numbers

    def check(self) -> None:
        """Assert the invariants; for tests."""
        assert len(_check(self._root)) == len(self)

    def _node(self, interval: Interval) -> _Node | None:
        key = interval.low, interval.high
        node = self._root
        while node is not None and node.key() != key:
            node = node.left if key < node.key() else node.right
        return node


class _Node:
    """An interval; equal ones share a node."""

    __slots__ = ("high", "highest", "left", "low", "numbers", "priority", "right")

    def __init__(self, interval: Interval, priority: float) -> None:
        self.low = interval.low
        self.high = self.highest = interval.high
        self.numbers: set[int] = set()
        self.priority = priority
        self.left: _Node | None = None
        self.right: _Node | None = None

    def key(self) -> tuple[Bound, Bound]:
        return self.low, self.high

    def update(self) -> _Node:
        self.highest = self.high
        for child in (self.left, self.right):
            if child is not None and child.highest > self.highest:
                self.highest = child.highest
        return self


def _inserted(root: _Node | None, node: _Node) -> _Node:
    if root is None:
        return node
    if node.priority > root.priority:
        node.left, node.right = _split(root, node.key())
        return node.update()
    if node.key() < root.key():
        root.left = _inserted(root.left, node)
    else:
        root.right = _inserted(root.right, node)
    return root.update()


def _removed(root: _Node | None, node: _Node) -> _Node | None:
    assert root is not None
    if root is node:
        return _merged(root.left, root.right)
    if node.key() < root.key():
        root.left = _removed(root.left, node)
    else:
        root.right = _removed(root.right, node)
    return root.update()


def _split(root: _Node | None, key: tuple[Bound, Bound]) -> tuple[_Node | None, _Node | None]:
    """The nodes before a key, and those after it."""
    if root is None:
        return None, None
    if root.key() < key:
        root.right, after = _split(root.right, key)
        return root.update(), after
    before, root.left = _split(root.left, key)
    return before, root.update()


def _merged(left: _Node | None, right: _Node | None) -> _Node | None:
    if left is None or right is None:
        return left or right
    if left.priority > right.priority:
        left.right = _merged(left.right, right)
        return left.update()
    right.left = _merged(left, right.left)
    return right.update()


def _check(node: _Node | None) -> list[tuple[Bound, Bound]]:
    if node is None:
        return []
    children = [child for child in (node.left, node.right) if child is not None]
    keys = [*_check(node.left), node.key(), *_check(node.right)]
    assert keys == sorted(set(keys))
    assert node.numbers
    assert node.highest == max(high for _, high in keys)
    assert all(child.priority <= node.priority for child in children)
    return keys
