"""The profile tree of Hinze and Bittner (paper 004), and the orders in which it is searched.

A profile asks of some attributes that their values be in certain subranges. The domain of an
attribute is a row of *cells*, in natural order: the subranges that the profiles' bounds cut it into
(single values, where it is discrete). Level j of the tree tests one attribute. A node has an edge
for each cell that a profile still possible asks for; if one of these profiles does not ask for the
attribute, all other cells lead on as well, by the edge ``(*)``. So an event follows one path.

What is counted is *comparison steps*: edges looked at. Linear search goes through a node's edges in
the order of their *rank*, the place of the cell in the order of the whole domain, and stops at an
edge of a higher rank than the value's (example 5 of the paper). The orders are natural, or by
falling probability: of events (V1), of profiles (V2) or of both (V3); cells that no profile asks
for are one element then, x0. Binary search uses the natural order. The edge ``(*)`` is what is left
when the search fails, and costs what that costs, a step at least.

Attributes are ordered by how much of them rejects, first the most: the share of cells that no
profile asks for (A1), the same times the probability of events to fall there (A2), or by
conditional probabilities (A3): the paper gives no formula, but asks for the greatest sum of
rejecting parts, so this takes the order with the greatest sum, over the levels, of the probability
that an event is rejected by then. That depends on which attributes are tested, not on their order,
so 2**n sums are made in place of n!.

Nodes are made when first visited, so that a tree of many attributes can be used at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

ValueOrder = Literal["natural", "V1", "V2", "V3", "binary"]
AttributeOrder = Literal["natural", "A1", "A2", "A3"]
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

Runs = Sequence[tuple[int, int]]
"""Cells from (included) to (excluded); the runs of one profile are apart from each other."""


class Axis:
    """One attribute: its cells, and which of them each profile asks for.

    >>> axis = Axis([10, 50, 5, 15], [[(2, 4)], [(3, 4)], [(0, 1)]], events=[1, 7, 1, 1])
    >>> axis.profile_shares.tolist(), axis.chances.tolist()
    ([0.25, 0.0, 0.25, 0.5], [0.1, 0.7, 0.1, 0.1])
    >>> axis.size_rejected, axis.chance_rejected
    (0.625, 0.7)
    """

    def __init__(
        self,
        sizes: ArrayLike,
        asked: Sequence[Runs | None],
        events: ArrayLike | None = None,
    ) -> None:
        """``sizes``: how large each cell is; ``asked``: the cells each profile asks for, None if it
        does not care; ``events``: how likely the cells are, by default as they are large."""
        size = np.asarray(sizes, np.float64)
        chances = size if events is None else np.asarray(events, np.float64)
        self.size = size
        self.chances: Floats = chances / chances.sum()
        self.cares = np.array([runs is not None for runs in asked], np.bool_)
        counts = [len(runs or ()) for runs in asked]
        self._start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        flat = [run for runs in asked for run in runs or ()]
        self._runs = np.array(flat, np.int64).reshape(-1, 2)
        self._owner = np.repeat(np.arange(len(counts)), counts)
        self.profile_counts = self._covering(self._runs)
        self.zero: NDArray[np.bool_] = (self.profile_counts == 0) & bool(self.cares.all())

    @property
    def profile_shares(self) -> Floats:
        """Pp: how often profiles refer to each cell."""
        shares: Floats = self.profile_counts / max(1, self.profile_counts.sum())
        return shares

    @property
    def size_rejected(self) -> float:
        """d0 / d: A1."""
        return float(self.size[self.zero].sum() / self.size.sum())

    @property
    def chance_rejected(self) -> float:
        """Pe(D0)."""
        return float(self.chances[self.zero].sum())

    def asked_by(self, alive: Numbers) -> NDArray[np.bool_]:
        """Which cells some of these profiles ask for."""
        return self._covering(self._runs[self._places(alive)]) > 0

    def following(self, alive: Numbers, cell: int) -> Numbers:
        """Those of these profiles that a value in the cell leaves possible."""
        places = self._places(alive)
        runs = self._runs[places]
        asking = self._owner[places[(runs[:, 0] <= cell) & (cell < runs[:, 1])]]
        return np.sort(np.concatenate((alive[~self.cares[alive]], asking)))

    def ranks(self, order: ValueOrder) -> Numbers:
        """The place of each cell in the order; for all but the natural one, x0 is one element."""
        if order in ("natural", "binary"):
            return np.arange(len(self.size))
        elements = [*np.flatnonzero(~self.zero).tolist(), -1]
        chance = np.append(self.chances[~self.zero], self.chance_rejected)
        share = np.append(self.profile_shares[~self.zero], 0.0)
        weight = {"V1": chance, "V2": share, "V3": chance * share}[order]
        ranks = np.empty(len(self.size) + 1, np.int64)
        ranks[np.array(elements)[np.argsort(-weight, kind="stable")]] = np.arange(len(elements))
        return np.where(self.zero, ranks[-1], ranks[:-1])

    def _covering(self, runs: Numbers) -> Numbers:
        """How many of the runs hold each cell."""
        count = len(self.size) + 1
        begun, ended = (np.bincount(bounds, minlength=count) for bounds in runs.T)
        covering: Numbers = np.cumsum(begun - ended)[:-1]
        return covering

    def _places(self, alive: Numbers) -> Numbers:
        """The places of the runs of these profiles."""
        counts = self._start[alive + 1] - self._start[alive]
        shift = np.repeat(self._start[alive] - np.cumsum(counts) + counts, counts)
        places: Numbers = np.arange(counts.sum()) + shift
        return places


class Expected(NamedTuple):
    """Comparison steps an event, expected, at each level: of edges followed, and of rejections."""

    followed: list[float]
    rejected: list[float]

    @property
    def response(self) -> float:
        """R of the paper."""
        return sum(self.followed) + sum(self.rejected)


class Fork(NamedTuple):
    """Where some profiles are still possible and an attribute is tested: which cells have an edge,
    and whether all others lead on, by ``(*)``."""

    alive: Numbers
    has_edge: NDArray[np.bool_]
    has_rest: bool


@dataclass(slots=True, eq=False)
class Node:
    """A fork, what a search for each cell costs there, and what has been visited below."""

    fork: Fork
    steps: Numbers
    children: dict[int, Node | Numbers]


class ProfileTree:
    """Profiles over the axes, searched level by level. For one thread at a time.

    >>> temperature = Axis([10, 50, 5, 15], [[(2, 4)], [(3, 4)]])
    >>> humidity = Axis([80, 10, 10], [[(2, 3)], None])
    >>> tree = ProfileTree([temperature, humidity])
    >>> tree.match([3, 2])  # both, in 2 steps and 1
    ([0, 1], 3)
    >>> tree.match([2, 0])
    ([], 2)
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        values: ValueOrder = "natural",
        attributes: AttributeOrder | Sequence[int] = "natural",
    ) -> None:
        """``attributes``: a measure, or the axes' numbers in the order to test them."""
        self.axes = axes
        self.values: ValueOrder = values
        self.order: list[int] = (
            attribute_order(axes, attributes) if isinstance(attributes, str) else list(attributes)
        )
        self.cells_kept = 0  # of all nodes made so far, their memory
        self._ranks = [axis.ranks(values) for axis in axes]
        self._root = self._node(_fork(axes[self.order[0]], _all_profiles(axes)), 0)

    def match(self, cells: Sequence[int]) -> tuple[list[int], int]:
        """The profiles that an event matches, which falls into these cells, and the steps taken."""
        steps = 0
        node = self._root
        for level, number in enumerate(self.order):
            cell = cells[number]
            steps += int(node.steps[cell])
            if not (node.fork.has_edge[cell] or node.fork.has_rest):
                break
            child = self._follow(node, level, cell)
            if not isinstance(child, Node):
                return child.tolist(), steps
            node = child
        return [], steps

    def expected(self) -> Expected:
        """Exactly, by the axes' chances, which are independent of each other."""
        levels = len(self.order)
        result = Expected([0.0] * levels, [0.0] * levels)
        reached = {_all_profiles(self.axes).tobytes(): 1.0}
        for level, number in enumerate(self.order):
            axis = self.axes[number]
            forks = _forks(axis, reached)
            for fork, chance in forks:
                leads_on = fork.has_edge | fork.has_rest
                cost = chance * axis.chances * self._steps(fork, number)
                result.followed[level] += float(cost[leads_on].sum())
                result.rejected[level] += float(cost[~leads_on].sum())
            reached = _next_reached(axis, forks)
        return result

    def _follow(self, node: Node, level: int, cell: int) -> Node | Numbers:
        """The node that a cell leads to, or, at the last level, the profiles."""
        edge = cell if node.fork.has_edge[cell] else -1  # those that have none go by (*)
        child = node.children.get(edge)
        if child is None:
            alive = self.axes[self.order[level]].following(node.fork.alive, cell)
            child = alive
            if level + 1 < len(self.order):
                child = self._node(_fork(self.axes[self.order[level + 1]], alive), level + 1)
            node.children[edge] = child
        return child

    def _node(self, fork: Fork, level: int) -> Node:
        steps = self._steps(fork, self.order[level])
        self.cells_kept += len(steps)
        return Node(fork, steps, {})

    def _steps(self, fork: Fork, number: int) -> Numbers:
        search = _binary_steps if self.values == "binary" else _linear_steps
        return np.maximum(1, search(fork.has_edge, self._ranks[number]))


def attribute_order(axes: Sequence[Axis], measure: AttributeOrder) -> list[int]:
    """The axes' numbers, the most selective first; equal ones stay in natural order."""
    numbers = range(len(axes))
    if measure == "natural":
        return list(numbers)
    if measure == "A3":
        best: tuple[int, ...] = max(permutations(numbers), key=_RejectedEarly(axes))
        return list(best)
    weights = [axis.size_rejected for axis in axes]
    if measure == "A2":
        weights = [axis.size_rejected * axis.chance_rejected for axis in axes]
    return sorted(numbers, key=lambda number: -weights[number])


class _RejectedEarly:
    """The sum, over the levels of an order, of the probability to be rejected by then."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        numbers = range(len(axes))
        self._rejected = {
            frozenset(tested): 1.0 - surviving(axes, tested)
            for count in numbers
            for tested in combinations(numbers, count + 1)
        }

    def __call__(self, order: Sequence[int]) -> float:
        return sum(self._rejected[frozenset(order[: n + 1])] for n in range(len(order)))


def surviving(axes: Sequence[Axis], tested: Iterable[int]) -> float:
    """The probability that some profile is still possible after the tests of these attributes."""
    reached = {_all_profiles(axes).tobytes(): 1.0}
    for number in tested:
        reached = _next_reached(axes[number], _forks(axes[number], reached))
    return math.fsum(reached.values())


def _all_profiles(axes: Sequence[Axis]) -> Numbers:
    return np.arange(len(axes[0].cares))


def _fork(axis: Axis, alive: Numbers) -> Fork:
    return Fork(alive, axis.asked_by(alive), bool((~axis.cares[alive]).any()))


def _forks(axis: Axis, reached: dict[bytes, float]) -> list[tuple[Fork, float]]:
    """The forks of one level and how likely each is; profiles come as the bytes of their array."""
    return [
        (_fork(axis, np.frombuffer(alive, np.int64)), chance) for alive, chance in reached.items()
    ]


def _next_reached(axis: Axis, forks: list[tuple[Fork, float]]) -> dict[bytes, float]:
    """Which profiles are possible after a level, and how likely that is."""
    reached: dict[bytes, float] = {}
    for fork, chance in forks:
        for cell in np.flatnonzero(fork.has_edge).tolist():
            alive = axis.following(fork.alive, cell).tobytes()
            reached[alive] = reached.get(alive, 0.0) + chance * float(axis.chances[cell])
        if fork.has_rest:
            alive = fork.alive[~axis.cares[fork.alive]].tobytes()
            rest = float(axis.chances[~fork.has_edge].sum())
            reached[alive] = reached.get(alive, 0.0) + chance * rest
    return reached


def _linear_steps(has_edge: NDArray[np.bool_], ranks: Numbers) -> Numbers:
    """Edges up to the cell's own; or up to the first of a higher rank, or all of them."""
    ordered = np.sort(ranks[has_edge])
    return np.minimum(np.searchsorted(ordered, ranks, side="left") + 1, len(ordered))


def _binary_steps(has_edge: NDArray[np.bool_], ranks: Numbers) -> Numbers:
    """The ranks are natural: cells stand in their order."""
    hits, misses = _probes(int(has_edge.sum()))
    before: Numbers = np.cumsum(has_edge) - has_edge
    return np.where(has_edge, hits[np.minimum(before, len(hits) - 1)], misses[before])


@lru_cache(maxsize=256)
def _probes(count: int) -> tuple[Numbers, Numbers]:
    """How many of `count` sorted edges a binary search looks at: for each edge, and for a value
    before each edge or after the last."""
    hits, misses = np.zeros(max(1, count), np.int64), np.zeros(count + 1, np.int64)
    todo = [(0, count, 0)]
    while todo:
        first, last, probes = todo.pop()
        if first == last:
            misses[first] = probes
            continue
        middle = (first + last - 1) // 2
        hits[middle] = probes + 1
        todo += [(first, middle, probes + 1), (middle + 1, last, probes + 1)]
    return hits, misses
