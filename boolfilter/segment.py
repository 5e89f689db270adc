"""A segment: an immutable, compiled set of subscriptions in flat arrays.

``compiling.compile_segment`` makes one from a forest: entries sorted by access predicate, each
with a guard and the code of its residual; docs/how-it-works.md says why. A segment knows its
subscriptions by *ordinal*, their place in order of subscription; ids are not its business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression, Predicate
from boolfilter.forest import Forest, Operation, expression_of
from boolfilter.indexes.betweens import Betweens
from boolfilter.indexes.domains import Domains
from boolfilter.items import Encoder, Items
from boolfilter.kernels import decode_trees, distinct_numbers, match_events
from boolfilter.kernels.jit import EVERYTHING, IS_SET, TRUE_SLOT

NONE_DEAD = np.empty(0, np.uint64)
# By the part of a domain (=, < <=, > >=) and whether the number inside the slot is odd.
_OPERATION_OF_PART = np.array(
    [
        Operation.EQUAL,
        Operation.EQUAL,
        Operation.LESS,
        Operation.LESS_OR_EQUAL,
        Operation.GREATER_OR_EQUAL,
        Operation.GREATER,
    ],
    np.int64,
)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Compiled subscriptions.

    Immutable, so any number of threads may match at once; each has scratch arrays of its own,
    made at its first match and kept for the next.
    """

    domains: Domains
    betweens: Betweens
    searches: list[Predicate]
    slot_base: NDArray[np.uint32]
    slot_entry: NDArray[np.uint32]
    entry_key: NDArray[np.uint32]
    coarse: NDArray[np.uint32]
    shift: int
    entry: NDArray[np.uint32]
    code: NDArray[np.uint32]
    lists: NDArray[np.uint32]
    tree_start: NDArray[np.uint32]
    tree_bytes: NDArray[np.uint8]
    member_start: NDArray[np.uint32]
    member: NDArray[np.uint32]
    encoder: Encoder = field(init=False, compare=False)
    _local: local = field(init=False, compare=False, default_factory=local)

    def __post_init__(self) -> None:
        encoder = Encoder(self.domains, self.searches, len(self.betweens))
        object.__setattr__(self, "encoder", encoder)

    def __len__(self) -> int:
        return len(self.member) or self.rows

    @property
    def rows(self) -> int:
        """Distinct trees; equal subscriptions share one."""
        return len(self.tree_start) - 1

    @property
    def always_evaluated(self) -> int:
        """Trees that no access predicate leads to, so that every event runs them."""
        return int(self.slot_entry[TRUE_SLOT + 1])

    def match(
        self, items: Items, dead: NDArray[np.uint64] = NONE_DEAD
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The matching (event, ordinal) pairs in order; `dead` has a bit for each removed one."""
        scratch = self._scratch()
        events = len(items.start) - 1
        event = count = 0
        while True:
            event, count, needed = match_events(
                event, items.start, items.domain, items.position, items.hit_start, items.hits,
                self.slot_base, self.slot_entry, self.entry_key, self.coarse, self.shift,
                self.entry, self.code, self.lists, self.member_start, self.member, dead,
                self.betweens.group_of_domain, self.betweens.group_start,
                self.betweens.group_span, self.betweens.low, self.betweens.high,
                scratch.low, scratch.width, scratch.special, scratch.bitmap, scratch.seen,
                scratch.marked, scratch.out_event, scratch.out_ordinal, count,
            )  # fmt: skip
            if event == events:
                return scratch.out_event[:count].copy(), scratch.out_ordinal[:count].copy()
            scratch.grow(count, needed)

    def match_one(self, event: FlatEvent, dead: NDArray[np.uint64] = NONE_DEAD) -> list[int]:
        """The ordinals that one flat event satisfies, in order."""
        return self.match(self.encoder.encode((event,)), dead)[1].tolist()  # type: ignore[no-any-return]

    def rows_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """The trees of subscriptions; equal ones have one row."""
        if not len(self.member):
            return ordinals
        row = np.empty(len(self.member), np.int64)
        row[self.member] = np.repeat(np.arange(self.rows), np.diff(self.member_start))
        return row[ordinals]

    def expression(self, ordinal: int) -> Expression:
        """A subscription back as an expression in normal form."""
        return expression_of(self.forest(self.rows_of(np.array([ordinal]))))

    def forest(self, rows: NDArray[np.int64]) -> Forest:
        """The trees of some rows, with just the predicates and constants that they use."""
        words, starts, occurrences = self._decode(rows)
        ids, number = _distinct(occurrences, int(self.slot_base[-1]))
        leaves = words >= 0
        words[leaves] = (number.astype(np.int32)[words[leaves] >> 1] << 1) | (words[leaves] & 1)
        operation, domain, first, second = self._columns(ids)
        is_search = operation == Operation.SEARCH
        searches, first[is_search] = np.unique(first[is_search], return_inverse=True)
        constants, first[~is_search], second[~is_search] = self._used_constants(
            domain[~is_search], first[~is_search], second[~is_search]
        )
        return Forest(
            words=words,
            starts=starts,
            operation=operation.astype(np.uint8),
            domain=domain.astype(np.int32),
            first=first.astype(np.int32),
            second=second.astype(np.int32),
            domains=self.domains.keys,
            constants=constants,
            searches=[self.searches[place] for place in searches.tolist()],
        )

    def _used_constants(
        self, domain: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]:
        """The constants of these ranks by domain, and the places of the ranks among them."""
        start = np.concatenate(([0], np.cumsum(self.domains.sizes())))
        has_second = second >= 0
        wanted = np.concatenate((start[domain] + first, start[domain] + second))
        wanted[len(first) :][~has_second] = wanted[0] if len(first) else 0
        used, places = _distinct(wanted, int(start[-1]))
        cut = np.searchsorted(used, start)
        constants = [
            self.domains.constants(number, used[cut[number] : cut[number + 1]] - start[number])
            for number in range(len(self.domains.keys))
        ]
        base = cut[domain]
        new_second = np.where(has_second, places[len(first) :] - base, -1)
        return constants, places[: len(first)] - base, new_second

    def _decode(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint32]]:
        byte_start = self.tree_start.astype(np.int64)
        rows = rows.astype(np.int64)
        starts = np.zeros(len(rows) + 1, np.int64)
        nothing = np.empty(0, np.int32), np.empty(0, np.uint32)
        size = decode_trees(self.tree_bytes, byte_start, rows, False, *nothing, starts)
        words, ids = np.empty(size, np.int32), np.empty(size, np.uint32)
        decode_trees(self.tree_bytes, byte_start, rows, True, words, ids, starts)
        return words, starts, ids[: int((words >= 0).sum())]

    def _columns(
        self, ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """What each predicate id means: operation, domain, and ranks or the place of a search."""
        slot = np.searchsorted(self.slot_base, ids, side="right") - 1
        inside = (ids - self.slot_base[slot]).astype(np.int64)
        domain, part = np.divmod(slot - 1, 3)
        in_set = slot == len(self.slot_base) - 2
        is_between = in_set & (inside < len(self.betweens))
        is_search = in_set & ~is_between
        # By a table: np.choose and np.repeat keep the GIL, a tenth of a second for a million.
        operation = _OPERATION_OF_PART[2 * part + (inside & 1)]
        operation[is_between] = Operation.BETWEEN
        operation[is_search] = Operation.SEARCH
        first = np.where(part == 0, inside, inside >> 1)
        second = np.full(len(ids), -1)
        place = inside[is_between]
        domain[is_between] = self.betweens.domain[place]
        first[is_between] = self.betweens.low[place] >> 1
        second[is_between] = self.betweens.high[place] >> 1
        domain[is_search] = -1
        first[is_search] = inside[is_search] - len(self.betweens)
        return operation, domain, first, second

    def _scratch(self) -> _Scratch:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = _Scratch(self)
        return scratch


def _distinct(values: NDArray[Any], bound: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct values in order, and the place of each value among them; all are below bound."""
    if bound > 512 * len(values) + 1024:
        return np.unique(values, return_inverse=True)
    return distinct_numbers(values.astype(np.int64), bound)  # type: ignore[no-any-return]


class _Scratch:
    """The arrays in which one thread works; the kernel leaves them as it found them."""

    __slots__ = (
        "bitmap", "low", "marked", "out_event", "out_ordinal", "seen", "special", "width",
    )  # fmt: skip

    def __init__(self, segment: Segment) -> None:
        slots = len(segment.slot_base) - 1
        members = int(segment.slot_base[-1] - segment.slot_base[-2])
        self.low = np.zeros(slots, np.uint32)
        self.width = np.zeros(slots, np.uint32)
        self.special = np.zeros(slots, np.int32)
        self.width[TRUE_SLOT] = self.width[-1] = EVERYTHING
        self.special[-1] = IS_SET
        self.bitmap = np.zeros(members // 64 + 1, np.uint64)
        self.marked = np.empty(max(1, members), np.uint32)
        self.seen = np.zeros(len(segment) // 64 + 1, np.uint64)  # of rows, then of ordinals
        self.out_event = np.empty(1024, np.int64)
        self.out_ordinal = np.empty(1024, np.uint32)

    def grow(self, count: int, needed: int) -> None:
        room = 2 * needed + 1024
        for name in ("out_event", "out_ordinal"):
            old = getattr(self, name)
            new = np.empty(room, old.dtype)
            new[:count] = old[:count]
            setattr(self, name, new)


def dead_bits(ordinals: Iterable[int], count: int) -> NDArray[np.uint64]:
    """A bitmap of `count` subscriptions with these marked."""
    bits = np.zeros(count // 64 + 1, np.uint64)
    for ordinal in ordinals:
        bits[ordinal >> 6] |= np.uint64(1 << (ordinal & 63))
    return bits
