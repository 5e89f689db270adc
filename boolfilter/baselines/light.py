"""TreeMatch and RAPIDMatch of Kale, Hazan, Cao and Singh (paper 003): matching of light events.

A subscription is a pattern over {0, 1, *}, an event a row of bits, one for each of k properties.
*TreeMatch* is a search tree: level i tests property i, a node has a branch for each of 0, 1 and *
that subscriptions below it have, and an event follows its own value and ``*``. *RAPIDMatch* makes
use of events being light, having few 1s. It keeps, for each t up to c (``most_ones``), the set S_t
of the subscriptions that an event of exactly t 1s may satisfy; and since t 1s leave at least one
of t + 1 blocks of properties without any, it splits S_t by blocks into T^1 ... T^(t+1), trees of
the subscriptions that ask for no 1 in the block, which leave out the tests of that block. Events
with more than c 1s go to an ordinary tree, that of S_(c+1).

Where the paper contradicts itself, this follows its proofs: S_(c+1) takes the subscriptions with
at least c + 1 properties that may be 1 (the formula says c); and the T^j are not disjoint, as one
sentence says, but overlap, as the next one does.

Both are made of the same trees. These keep *trivial* tests, of a property for which all
subscriptions below a node have ``*``, as the paper's trees of depth k do; or leave them out
(``trivial_tests=False``), as the tree of Aguilera et al. does, from which TreeMatch is taken.

General predicates become properties as section 4 proposes: a predicate is the part of the content
space in which it holds, and an event has 1 for the parts that it falls into. A conjunction then
asks for a 1 for each of its predicates and for a 0 for each negated one. Which predicates hold is
told by the engine's own indexes, as with the other baselines. So only what is too large as a
normal form is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.baselines.conjunctions import CompiledConjunctionMatcher
from boolfilter.baselines.normal_forms import normal_forms
from boolfilter.baselines.phases import Fulfilled, Scratch, TwoPhase
from boolfilter.baselines.predicates import PredicateIndex, index_predicates
from boolfilter.dnf import MOST_CONJUNCTIONS
from boolfilter.errors import UnsupportedError
from boolfilter.forest import Forest
from boolfilter.kernels.light import NO_KEY, grow_tree, search_trees

_NO_WORDS = np.empty(0, np.int32)
_EVENTS_AT_ONCE = 256


class TreeMatcher(CompiledConjunctionMatcher):
    """TreeMatch behind the Matcher protocol; trees leave out trivial tests, of which there would be
    one for each predicate of any subscription."""

    def _compile(self, forest: Forest) -> Properties:
        index, patterns, first = patterns_of(forest, self.most_conjunctions)
        return Properties(index, first, self._grow(patterns))

    def _grow(self, patterns: Patterns) -> LightTrees:
        return tree_match(patterns, trivial_tests=False)


class RapidMatcher(TreeMatcher):
    """RAPIDMatch behind the Matcher protocol, with c = ``most_ones``."""

    def __init__(self, *, most_ones: int = 3, **options: Any) -> None:
        super().__init__(**options)
        self.most_ones = most_ones

    def _grow(self, patterns: Patterns) -> LightTrees:
        return rapid_match(patterns, self.most_ones, trivial_tests=False)


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Subscriptions over {0, 1, *}: row r of ``keys`` has ``2 * property + value`` for each 0 and
    1 of subscription r, rising, then NO_KEY."""

    properties: int
    keys: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Patterns:
        """The patterns as the paper writes them, all of one length.

        >>> Patterns.parse(["1*0", "***"]).keys.tolist()
        [[1, 4], [2147483647, 2147483647]]
        """
        wanted = np.array([["01*".index(value) for value in text] for text in texts], np.uint8)
        return cls.of_matrix(wanted.reshape(len(texts), -1))

    @classmethod
    def of_matrix(cls, wanted: NDArray[np.uint8]) -> Patterns:
        """A row a subscription, a column a property: 0, 1, or 2 for ``*``."""
        properties = wanted.shape[1]
        keys = np.where(wanted < 2, 2 * np.arange(properties) + wanted, NO_KEY)
        keys.sort(axis=1)
        width = int((keys < NO_KEY).sum(axis=1).max(initial=0))
        return cls(properties, np.ascontiguousarray(keys[:, :width], np.int32))

    @property
    def ones(self) -> NDArray[np.int64]:
        """How many 1s each asks for, n_1 of the paper."""
        ones: NDArray[np.int64] = ((self.keys & 1 == 1) & (self.keys < NO_KEY)).sum(axis=1)
        return ones

    @property
    def zeros(self) -> NDArray[np.int64]:
        """How many 0s each asks for."""
        zeros: NDArray[np.int64] = (self.keys & 1 == 0).sum(axis=1)
        return zeros


@dataclass(frozen=True, slots=True, eq=False)
class LightTrees:
    """The search trees of TreeMatch (``most_ones`` is -1) or RAPIDMatch, compiled; see
    :mod:`boolfilter.kernels.light` for their words. For one thread at a time.

    >>> patterns = Patterns.parse(["1*0", "*1*", "***"])
    >>> events = np.array([[1, 0, 0], [0, 1, 1]], np.uint8)
    >>> for trees in (tree_match(patterns), rapid_match(patterns, most_ones=1)):
    ...     event, ordinal = trees.match(events)
    ...     print(list(zip(event.tolist(), ordinal.tolist())))
    [(0, 0), (0, 2), (1, 1), (1, 2)]
    [(0, 0), (0, 2), (1, 1), (1, 2)]
    """

    properties: int
    most_ones: int
    words: NDArray[np.int32]
    roots: NDArray[np.int64]
    _found: _Found = field(default_factory=lambda: _Found())

    def match(self, events: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The matching (event, ordinal) pairs, ordinals in order; a row of bits an event."""
        event, ordinal = self.search(events)
        order = np.lexsort((ordinal, event))
        return event[order], ordinal[order]

    def search(self, events: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """As `match`, in the order that the tree gives and only until the next call."""
        if events.shape[1:] != (self.properties,):
            raise UnsupportedError(
                f"an event has {self.properties} properties here, not {events.shape[1:]}"
            )
        found = self._found
        visited = found.visited = np.zeros(len(events), np.int64)
        stack = np.empty(self.properties + 1, np.int64)
        number = count = 0
        while True:
            number, count, needed = search_trees(
                number, events, self.most_ones, self.roots, self.words, stack, visited,
                found.event, found.ordinal, count,
            )  # fmt: skip
            if number == len(events):
                return found.event[:count], found.ordinal[:count]
            found.grow(count, needed)

    def visited(self) -> NDArray[np.int64]:
        """How many nodes each event of the last search visited."""
        return self._found.visited

    def bytes_used(self) -> int:
        return self.words.nbytes + self.roots.nbytes


def tree_match(patterns: Patterns, *, trivial_tests: bool = True) -> LightTrees:
    """TreeMatch: one tree of all subscriptions."""
    return _grow(patterns, -1, [_plan(patterns, np.arange(len(patterns)), 0, 0)], trivial_tests)


def rapid_match(patterns: Patterns, most_ones: int, *, trivial_tests: bool = True) -> LightTrees:
    """RAPIDMatch with c = ``most_ones``. Takes about c**2 / 2 times the memory of TreeMatch."""
    trees = []
    for ones in range(most_ones + 1):
        for block in range(ones + 1):
            trees.append(_plan(patterns, block_set(patterns, ones, block), *_bounds(
                patterns.properties, ones, block)))  # fmt: skip
    may_be_one = patterns.properties - patterns.zeros
    trees.append(_plan(patterns, np.flatnonzero(may_be_one > most_ones), 0, 0))
    return _grow(patterns, most_ones, trees, trivial_tests)


def light_set(patterns: Patterns, ones: int) -> NDArray[np.int64]:
    """S_t: those that an event with exactly t 1s may satisfy.

    >>> light_set(Patterns.parse(["11*", "1**", "000"]), 1).tolist()
    [1]
    """
    may_be_one = patterns.properties - patterns.zeros
    return np.flatnonzero((patterns.ones <= ones) & (may_be_one >= ones))


def block_set(patterns: Patterns, ones: int, block: int) -> NDArray[np.int64]:
    """T^(block + 1) of S_t: those that ask for no 1 in a block, one of t + 1.

    >>> patterns = Patterns.parse(["1***", "**1*", "0***"])
    >>> [block_set(patterns, 1, block).tolist() for block in (0, 1)]
    [[1, 2], [0, 2]]
    """
    members = light_set(patterns, ones)
    first, last = _bounds(patterns.properties, ones, block)
    keys = patterns.keys[members]
    asks = (keys & 1 == 1) & (keys >= 2 * first) & (keys < 2 * last)
    found: NDArray[np.int64] = members[~asks.any(axis=1)]
    return found


def _bounds(properties: int, ones: int, block: int) -> tuple[int, int]:
    """The properties from and to of a block of t + 1 nearly equal ones."""
    return block * properties // (ones + 1), (block + 1) * properties // (ones + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Properties(TwoPhase):
    """Trees over predicates as properties: conjunctions ``first_conjunction[s]`` up to the next are
    those of subscription s."""

    index: PredicateIndex
    first_conjunction: NDArray[np.uint32]
    trees: LightTrees
    _scratch: Scratch = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_scratch", Scratch(len(self.index)))

    def bytes_used(self) -> int:
        tables = self.first_conjunction.nbytes + self.index.bytes_used()
        return tables + self.trees.bytes_used()

    def _match_subscriptions(self, fulfilled: Fulfilled, first: int, count: int) -> tuple[int, ...]:
        last = min(len(fulfilled), first + _EVENTS_AT_ONCE)
        start = fulfilled.start[first : last + 1]
        bits = np.zeros((last - first, len(self.index)), np.uint8)
        row = np.repeat(np.arange(last - first), np.diff(start))
        bits[row, fulfilled.predicates[start[0] : start[-1]]] = 1
        event, conjunction = self.trees.search(bits)
        owner = np.searchsorted(self.first_conjunction, conjunction, side="right") - 1
        found = np.unique(event << 32 | owner)
        scratch, needed = self._scratch, count + len(found)
        if needed > len(scratch.out_event):
            return first, count, needed
        scratch.out_event[count:needed] = first + (found >> 32)
        scratch.out_ordinal[count:needed] = found & 0xFFFFFFFF
        return last, needed, needed


def patterns_of(
    forest: Forest, most_conjunctions: int = MOST_CONJUNCTIONS
) -> tuple[PredicateIndex, Patterns, NDArray[np.uint32]]:
    """The conjunctions of a forest as patterns over its predicates, the index that numbers these,
    and the first conjunction of each tree.

    >>> import boolfilter as bf
    >>> from boolfilter.forest import forest_of
    >>> patterns_of(forest_of([bf.parse("a < 5 AND NOT b = 1"), bf.TRUE]))[1].keys.tolist()
    [[1, 2], [2147483647, 2147483647]]
    """
    index, numbers = index_predicates(forest)
    forms = normal_forms(forest, numbers, len(index), most_conjunctions=most_conjunctions)
    rows, keys = [], []
    for value, literals in enumerate((forms.negative, forms.positive)):
        start, conjunctions = forms.association(literals)
        if len(start):
            predicates = np.repeat(np.arange(len(index)), start[1:] - start[:-1])
            rows.append(conjunctions.astype(np.int64))
            keys.append(2 * predicates + value)
    none = np.empty(0, np.int64)
    row, key = np.concatenate((none, *rows)), np.concatenate((none, *keys))
    order = np.lexsort((key, row))
    row, key = row[order], key[order]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    table = np.full((len(forms), int(place.max(initial=-1)) + 1), NO_KEY, np.int32)
    table[row, place] = key
    return index, Patterns(len(index), table), forms.first_conjunction


class _Tree:
    """What one tree is grown from: sorted keys by level, the rows' ordinals, levels' properties."""

    __slots__ = ("keys", "levels", "ordinals")

    def __init__(
        self, keys: NDArray[np.int32], ordinals: NDArray[np.int32], levels: NDArray[np.int32]
    ) -> None:
        self.keys = keys
        self.ordinals = ordinals
        self.levels = levels

    def grow(self, kept: int, first: int, out: NDArray[np.int32]) -> int:
        end: int = grow_tree(self.keys, self.levels, self.ordinals, kept, first, out)
        return end


def _plan(patterns: Patterns, members: NDArray[np.int64], first: int, last: int) -> _Tree:
    """A tree that tests the properties in cyclic order from `last` on and leaves out the block
    from `first` to `last`."""
    count = patterns.properties
    levels = (last + np.arange(count - (last - first))) % max(1, count)
    keys = patterns.keys[members].astype(np.int64)
    level = (keys // 2 - last) % max(1, count)
    keys = np.where((keys < NO_KEY) & (level < len(levels)), 2 * level + (keys & 1), NO_KEY)
    keys.sort(axis=1)
    # By all columns at once: big-endian bytes compare as the numbers do.
    rows = np.ascontiguousarray(keys.astype(">u4"))
    order = np.arange(len(rows))
    if rows.shape[1]:
        order = np.argsort(rows.view(f"V{4 * rows.shape[1]}").ravel(), kind="stable")
    return _Tree(
        np.ascontiguousarray(keys[order], np.int32),
        members[order].astype(np.int32),
        levels.astype(np.int32),
    )


def _grow(
    patterns: Patterns, most_ones: int, trees: list[_Tree], trivial_tests: bool
) -> LightTrees:
    kept = patterns.properties if trivial_tests else 0
    roots = np.cumsum([0, *(tree.grow(kept, 0, _NO_WORDS) for tree in trees)])
    if roots[-1] >= NO_KEY:
        raise UnsupportedError(f"the search trees have {roots[-1]:,} words, over 2**31")
    words = np.empty(roots[-1], np.int32)
    for tree, root in zip(trees, roots.tolist(), strict=False):
        tree.grow(kept, root, words)
    return LightTrees(patterns.properties, most_ones, words, roots[:-1].astype(np.int64))


class _Found:
    """What a search writes, kept for the next one."""

    __slots__ = ("event", "ordinal", "visited")

    def __init__(self) -> None:
        self.event = np.empty(1024, np.int64)
        self.ordinal = np.empty(1024, np.int32)
        self.visited = np.empty(0, np.int64)

    def grow(self, count: int, needed: int) -> None:
        event, ordinal = np.empty(2 * needed, np.int64), np.empty(2 * needed, np.int32)
        event[:count] = self.event[:count]
        ordinal[:count] = self.ordinal[:count]
        self.event, self.ordinal = event, ordinal
