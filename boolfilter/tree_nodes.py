"""Subscription trees: subscriptions in negation normal form in which a predicate is only its id.

What the byte formats hold (:mod:`boolfilter.trees`, :mod:`boolfilter.paper_trees`). Trees may be
very deep, so equality, hashing, printing and pickling all walk with a stack of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from boolfilter.errors import BoolFilterError

LARGEST_ID = 2**32 - 1


class TreeError(BoolFilterError, ValueError):
    """A tree that cannot be: an id out of range, or members that do not ascend."""


class TreeFormatError(TreeError):
    """Bytes that are not a tree: ``problem`` says why, ``position`` at which byte."""

    def __init__(self, problem: str, position: int) -> None:
        self.problem = problem
        self.position = position
        super().__init__(problem, position)

    def __str__(self) -> str:
        return f"not an encoded tree: {self.problem} at byte {self.position}"


class Kind(Enum):
    """What joins the children of a node: AND of none is true, OR of none is false."""

    AND = "AND"
    OR = "OR"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A predicate by its id, or its negation."""

    id: int
    negated: bool = False

    def __post_init__(self) -> None:
        _check_id(self.id)


@dataclass(frozen=True, slots=True)
class Members:
    """Any one of several predicates of one attribute, an IN list; negated, none of them."""

    ids: tuple[int, ...]
    negated: bool = False

    def __post_init__(self) -> None:
        for number in self.ids:
            _check_id(number)
        if any(low >= high for low, high in pairwise(self.ids)):
            raise TreeError("the ids of an IN list must ascend")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node:
    """An AND or OR of any number of trees.

    >>> Node(Kind.AND, (Leaf(1), Members((2, 3))))
    Node(Kind.AND, (Leaf(id=1, negated=False), Members(ids=(2, 3), negated=False),))
    """

    kind: Kind
    children: tuple[Tree, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and list(_prefix(self)) == list(_prefix(other))

    def __hash__(self) -> int:
        return hash(tuple(_prefix(self)))

    def __repr__(self) -> str:
        pieces: list[str] = []
        todo: list[Tree | str] = [self]
        while todo:
            item = todo.pop()
            if isinstance(item, Node):
                pieces.append(f"Node({item.kind}, (")
                todo.append("))")
                for place, child in enumerate(reversed(item.children)):
                    todo += [", " if place else ",", child]
            else:
                pieces.append(item if isinstance(item, str) else repr(item))
        return "".join(pieces)

    def __reduce__(self) -> tuple[object, ...]:
        # Pickling and copying would otherwise recurse as deep as the tree.
        return (_from_prefix, (list(_prefix(self)),))


Tree = Leaf | Members | Node
# A leaf, or an inner node as its kind and number of children.
_Step = Leaf | Members | tuple[Kind, int]


def _prefix(tree: Tree) -> Iterator[_Step]:
    """The nodes in prefix order, which tells any two trees apart."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, Node):
            yield node.kind, len(node.children)
            todo.extend(reversed(node.children))
        else:
            yield node


def _from_prefix(steps: list[_Step]) -> Tree:
    done: list[Tree] = []
    for step in reversed(steps):
        if isinstance(step, tuple):
            kind, count = step
            first = len(done) - count
            children = tuple(reversed(done[first:]))
            del done[first:]
            done.append(Node(kind, children))
        else:
            done.append(step)
    return done[0]


def _check_id(number: int) -> None:
    if not isinstance(number, int) or not 0 <= number <= LARGEST_ID:
        raise TreeError(f"a predicate id is an integer from 0 to {LARGEST_ID:,}, not {number!r}")
