"""The disjunctive normal forms of a whole forest, as arrays.

Most subscriptions differ from others in their predicates only. So the trees of one *shape*, with
their predicates numbered 0, 1, 2, ... as they come, are expanded once, and what that gives applies
to all of them; a predicate that a tree has twice has one number there too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boolfilter.compiling import share_equal_trees
from boolfilter.dnf import MOST_CONJUNCTIONS, Conjunction, dnf
from boolfilter.errors import BoolFilterError, LimitError
from boolfilter.expressions import Not, Predicate
from boolfilter.forest import DomainKind, Forest, Operation, expression_of
from boolfilter.kernels.counting import associate, count_literals, number_leaves

MOST_LITERALS = 255
_MOST = 2**32 - 2  # conjunctions and places of association tables are numbers of 32 bits

Association = tuple[NDArray[np.uint32], NDArray[np.uint32]]


class LiteralCountError(LimitError):
    """A conjunction with more predicates than a byte counts."""

    what = "the number of predicates in a conjunction"


@dataclass(frozen=True, slots=True, eq=False)
class Literals:
    """The positive, or the negative, literals of the conjunctions of all shapes: conjunction j has
    the leaves ``leaf[start[j]:start[j + 1]]``."""

    start: NDArray[np.int64]
    leaf: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class NormalForms:
    """The conjunctions of a forest. Those of tree t are numbered ``first_conjunction[t]`` up to the
    next, and its predicates, each once, are ``leaves[leaf_start[t]:leaf_start[t + 1]]``."""

    predicates: int
    leaf_start: NDArray[np.int64]
    leaves: NDArray[np.uint32]
    shape: NDArray[np.uint32]
    first_conjunction: NDArray[np.uint32]
    shape_start: NDArray[np.int64]
    positive: Literals
    negative: Literals

    def __len__(self) -> int:
        return int(self.first_conjunction[-1])

    def counts(self, room: int) -> NDArray[np.uint8]:
        """How many positive literals each conjunction has; what is left of the room is 0."""
        found = np.zeros(room, np.uint8)
        count_literals(
            self.shape, self.first_conjunction, self.shape_start, self.positive.start, found
        )
        return found

    def association(self, literals: Literals) -> Association:
        """Which conjunctions have a predicate among these literals: those of predicate p are
        ``association[start[p]:start[p + 1]]``, in order. Nothing at all if there are none."""
        each = np.diff(literals.start[self.shape_start])
        total = int(each[self.shape].sum()) if len(each) else 0
        if total > _MOST:
            raise BoolFilterError("too many literals for one association table")
        start, association = np.zeros(self.predicates + 1, np.uint32), np.empty(total, np.uint32)
        if total == 0:
            return start[:0], association
        tables = (
            self.leaf_start, self.leaves, self.shape, self.first_conjunction, self.shape_start,
            literals.start, literals.leaf, start,
        )  # fmt: skip
        associate(*tables, association[:0])
        np.cumsum(start, out=start)
        associate(*tables, association)
        return start, association


def check_conjunctions(conjunctions: Iterable[Conjunction]) -> None:
    """Raise LiteralCountError if any of them is too long to be counted in a byte."""
    longest = max(map(len, conjunctions), default=0)
    if longest > MOST_LITERALS:
        raise LiteralCountError(longest, MOST_LITERALS)


def normal_forms(
    forest: Forest,
    numbers: NDArray[np.uint32],
    predicates: int,
    *,
    most_conjunctions: int = MOST_CONJUNCTIONS,
) -> NormalForms:
    """The normal forms of a forest whose predicates have these numbers, all below `predicates`.

    Raises ConjunctionCountError for a tree with too many conjunctions, LiteralCountError for one
    with too long a conjunction. Beyond an expansion for each shape, linear in the trees.
    """
    words = np.empty_like(forest.words)
    leaf_start = np.empty(len(forest) + 1, np.int64)
    leaves = np.empty(int(np.count_nonzero(forest.words >= 0)), np.uint32)
    seen_in, place = np.full(predicates, -1, np.int64), np.empty(predicates, np.uint32)
    most = number_leaves(
        forest.words, forest.starts, numbers, seen_in, place, words, leaf_start, leaves
    )
    del seen_in, place
    shapes, shape = _shapes(words, forest.starts, int(most))
    expanded = [
        dnf(expression_of(shapes, each), limit=most_conjunctions) for each in range(len(shapes))
    ]
    conjunctions = [conjunction for one in expanded for conjunction in one]
    check_conjunctions(conjunctions)
    shape_start = np.cumsum([0, *map(len, expanded)], dtype=np.int64)
    ends = np.cumsum(np.diff(shape_start)[shape])
    if len(ends) and ends[-1] > _MOST:
        raise BoolFilterError("too many conjunctions for one table")
    return NormalForms(
        predicates=predicates,
        leaf_start=leaf_start,
        leaves=leaves[: leaf_start[-1]].copy(),
        shape=shape,
        first_conjunction=np.concatenate(([0], ends)).astype(np.uint32),
        shape_start=shape_start,
        positive=_literals(conjunctions, Predicate),
        negative=_literals(conjunctions, Not),
    )


def _shapes(
    words: NDArray[np.int32], starts: NDArray[np.int64], most: int
) -> tuple[Forest, NDArray[np.uint32]]:
    """The distinct shapes, as a forest whose predicate k is ``leaf = k``, and that of each tree."""
    leaves = np.arange(most)
    words, starts, member_start, member = share_equal_trees(words, starts, leaves.astype(np.uint32))
    count = len(starts) - 1
    shape = np.arange(count, dtype=np.uint32)
    if len(member):
        shape = np.empty(len(member), np.uint32)
        shape[member] = np.repeat(np.arange(count, dtype=np.uint32), np.diff(member_start))
    forest = Forest(
        words=words,
        starts=starts,
        operation=np.full(most, Operation.EQUAL, np.uint8),
        domain=np.zeros(most, np.int32),
        first=leaves.astype(np.int32),
        second=np.full(most, -1, np.int32),
        domains=[("leaf", DomainKind.NUMBER)],
        constants=[leaves],
        searches=[],
    )
    return forest, shape


def _literals(conjunctions: list[Conjunction], kind: type[Predicate | Not]) -> Literals:
    start, leaf = [0], []
    for conjunction in conjunctions:
        leaf += sorted(_leaf(literal) for literal in conjunction if isinstance(literal, kind))
        start.append(len(leaf))
    return Literals(np.array(start, np.int64), np.array(leaf, np.int32))


def _leaf(literal: object) -> int:
    predicate = literal.child if isinstance(literal, Not) else literal
    assert isinstance(predicate, Predicate)
    assert isinstance(predicate.operand, int)
    return predicate.operand
