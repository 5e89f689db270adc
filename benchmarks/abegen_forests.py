"""Workload A as a forest, from its columns: a million subscriptions in seconds, not in a quarter of
an hour of parsing and normalising.

A forest under SQL nulls, with negations pushed to the leaves, XOR written out and operators of one
kind under each other joined, as `normalise` does it. Each level of n nodes is made of the one below
in both signs: tree i says that node i is true, tree n + i that it is false.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boolfilter.forest import AND, IN, NOT_IN, OR, DomainKind, Forest, Operation, inner_word
from boolfilter.workloads import AbeGen
from boolfilter.workloads.abegen_forms import COMPARISONS, Level, Predicates
from boolfilter.workloads.abegen_forms import NOT as NOT_NODE
from boolfilter.workloads.abegen_forms import OR as OR_NODE
from boolfilter.workloads.abegen_forms import XOR as XOR_NODE

Integers = NDArray[np.int64]

_OPERATIONS = np.array(
    [
        Operation.EQUAL,
        Operation.EQUAL,
        Operation.LESS,
        Operation.LESS_OR_EQUAL,
        Operation.GREATER,
        Operation.GREATER_OR_EQUAL,
        Operation.BETWEEN,
        Operation.EQUAL,
    ],
    np.uint8,
)
_NOT_EQUAL, _BETWEEN, _IN = map(COMPARISONS.index, ("<>", "BETWEEN", "IN"))


_NO_KIND = -1


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees as the words of a forest."""

    words: NDArray[np.int32]
    starts: Integers

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def none(cls) -> Trees:
        return cls(np.empty(0, np.int32), np.zeros(1, np.int64))

    def with_more(self, more: Trees) -> Trees:
        starts = np.concatenate([self.starts, self.starts[-1] + more.starts[1:]])
        return Trees(np.concatenate([self.words, more.words]), starts)


def forest_of_abegen(workload: AbeGen, count: int, seed: int) -> Forest:
    """The first `count` subscriptions of workload A, SQL nulls."""
    drawn = workload.drawn(0, count, seed)
    forest, trees = _leaves(drawn.predicates, workload)
    for number in reversed(range(len(drawn.levels))):
        trees = _grown(trees, drawn.levels[number], signs=range(2 if number else 1))
    forest.starts = trees.starts[: count + 1]
    forest.words = trees.words[: forest.starts[-1]]
    return forest


def _leaves(predicates: Predicates, workload: AbeGen) -> tuple[Forest, Trees]:
    """A forest without trees, and the trees of its predicates; first are those of presence."""
    attributes, comparisons, values, sizes = predicates
    distinct, count = _distinct_values(values, comparisons, sizes)
    operation = _OPERATIONS[comparisons]
    operation[(comparisons == _BETWEEN) & (count == 1)] = Operation.EQUAL
    is_window = operation == Operation.BETWEEN
    leaves = np.where(comparisons == _IN, count, 1)
    owner, place = _spread(leaves)
    second = np.where(is_window, distinct[1], distinct[0])[owner]
    first, second, constants = _places(workload, attributes[owner], distinct[place, owner], second)
    second[~is_window[owner]] = -1
    presence = np.arange(workload.dimensions)
    names = [f"a{attribute}" for attribute in range(workload.dimensions)]
    forest = Forest(
        words=np.empty(0, np.int32),
        starts=np.zeros(1, np.int64),
        operation=np.concatenate(
            [np.full(len(presence), Operation.EQUAL), operation[owner]]
        ).astype(np.uint8),
        domain=np.concatenate([presence, len(presence) + attributes[owner]]).astype(np.int32),
        first=np.concatenate([np.zeros_like(presence), first]).astype(np.int32),
        second=np.concatenate([np.full_like(presence, -1), second]).astype(np.int32),
        domains=[
            (name, kind) for kind in (DomainKind.PRESENCE, DomainKind.NUMBER) for name in names
        ],
        constants=[*([1] for _ in names), *constants],
        searches=[],
    )
    numbers = len(presence) + np.cumsum(leaves) - leaves
    return forest, _literals(attributes, comparisons == _NOT_EQUAL, numbers, leaves)


def _distinct_values(
    values: Integers, comparisons: Integers, sizes: Integers
) -> tuple[Integers, Integers]:
    """The distinct values of each predicate in order, in the first rows, and how many."""
    width = np.where(comparisons == _IN, sizes, np.where(comparisons == _BETWEEN, 2, 1))
    beyond = np.iinfo(np.int64).max
    kept = np.sort(np.where(np.arange(len(values))[:, None] < width, values, beyond), axis=0)
    kept[1:][kept[1:] == kept[:-1]] = beyond
    kept.sort(axis=0)
    return kept, (kept != beyond).sum(axis=0)


def _places(
    workload: AbeGen, attributes: Integers, first: Integers, second: Integers
) -> tuple[Integers, Integers, list[Integers]]:
    """The constants of each attribute, and where in them the values of predicates stand."""
    keys = attributes * workload.cardinality
    used, place = np.unique(np.concatenate([keys + first, keys + second]), return_inverse=True)
    base = np.arange(workload.dimensions) * workload.cardinality
    start = np.searchsorted(used, base)
    constants = [
        part - low for part, low in zip(np.split(used, start[1:]), base.tolist(), strict=True)
    ]
    inside = place - np.tile(start[attributes], 2)
    return inside[: len(first)], inside[len(first) :], constants


def _literals(
    attributes: Integers, is_unequal: NDArray[np.bool_], numbers: Integers, leaves: Integers
) -> Trees:
    """Both literals of each predicate; a negative one also wants its attribute present."""
    negative = np.concatenate([is_unequal, ~is_unequal])
    attributes, numbers, leaves = (np.tile(each, 2) for each in (attributes, numbers, leaves))
    listed = leaves > 1
    starts = np.concatenate(([0], np.cumsum(leaves + listed + 2 * negative)))
    words = np.empty(starts[-1], np.int32)
    at = starts[:-1]
    words[at[negative]] = inner_word(AND, 2)
    words[at[negative] + 1] = attributes[negative] << 1
    at = at + 2 * negative
    words[at[~listed]] = numbers[~listed] << 1 | negative[~listed]
    words[at[listed]] = -(4 * (leaves + 1) + np.where(negative, NOT_IN, IN))[listed]
    owner, place = _spread(leaves[listed])
    owner = np.flatnonzero(listed)[owner]
    words[at[owner] + 1 + place] = (numbers[owner] + place) << 1
    return Trees(words, starts)


def _grown(trees: Trees, level: Level, signs: Iterable[int]) -> Trees:
    """The trees of a level, of those below it."""
    below, is_xor = len(trees) // 2, level.operators >= XOR_NODE
    first = (np.cumsum(level.counts) - level.counts)[is_xor]
    left, right = level.children[first], level.children[first + 1]
    trees = trees.with_more(_pairs(trees, left, right, below))
    sign_of_child = np.repeat(level.operators == NOT_NODE, level.counts)
    same = np.where(is_xor & (level.operators != XOR_NODE), 1, 0)[is_xor]
    grown = Trees.none()
    for sign in signs:
        children = level.children + below * (sign_of_child ^ bool(sign))
        # Of its four pairs, XOR wants the last two and XNOR the first two.
        children[first] = 2 * below + 4 * np.arange(len(first)) + 2 * (same ^ sign ^ 1)
        children[first + 1] = children[first] + 1
        kind = np.where(level.operators == OR_NODE, OR ^ sign, AND ^ sign)
        kind[is_xor] = OR
        kind[level.operators == NOT_NODE] = _NO_KIND
        grown = grown.with_more(_joined(trees, kind, level.counts, children))
    return grown


def _pairs(trees: Trees, left: Integers, right: Integers, below: int) -> Trees:
    """The ANDs of which XOR is made: both true, neither, left alone, right alone."""
    no_left, no_right = left + below, right + below
    members = np.stack([left, right, no_left, no_right, left, no_right, no_left, right], axis=1)
    ands = np.full(4 * len(left), AND)
    return _joined(trees, ands, np.full(len(ands), 2), members.reshape(-1))


def _joined(trees: Trees, kind: Integers, counts: Integers, children: Integers) -> Trees:
    """New trees, of so many children each. One with no kind is its child; a child of its parent's
    kind gives its own children."""
    owner, _ = _spread(counts)
    root = trees.words[trees.starts[children]].astype(np.int64)
    spliced = (root < 0) & ((-root & 3) == kind[owner])
    begin = trees.starts[children] + spliced
    length = trees.starts[children + 1] - begin
    arity = np.bincount(owner, np.where(spliced, (-root >> 2) - 1, 1), len(kind)).astype(np.int64)
    headed = (kind != _NO_KIND).astype(np.int64)
    starts = np.concatenate(([0], headed + np.bincount(owner, length, len(kind)))).cumsum()
    starts = starts.astype(np.int64)
    words = np.empty(starts[-1], np.int32)
    words[starts[:-1][headed == 1]] = -(4 * (arity + 1) + kind)[headed == 1]
    piece, place = _spread(length)
    target = np.cumsum(length) - length + np.cumsum(headed)[owner]
    words[target[piece] + place] = trees.words[begin[piece] + place]
    return Trees(words, starts)


def _spread(counts: Integers) -> tuple[Integers, Integers]:
    """For each of `counts[i]` members of i: i, and its place among them."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
