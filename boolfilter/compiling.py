"""From a forest to a segment: predicate ids, entries by access predicate, residual code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from boolfilter.errors import BoolFilterError
from boolfilter.estimates import Sample, estimate
from boolfilter.forest import Forest, Operation, take_trees
from boolfilter.indexes.betweens import build_betweens
from boolfilter.indexes.domains import build_domains
from boolfilter.kernels import (
    compile_trees,
    encode_trees,
    equal_trees,
    gather_ranks,
    hash_trees,
    order_code,
)
from boolfilter.kernels.jit import ENTRY_WORDS, GUARD_DENIES
from boolfilter.segment import Segment

_MOST_IDS = 2**32 - 2


def compile_segment(forest: Forest, sample: Sample | None = None) -> Segment:
    """The segment of a forest.

    Access predicates and the order of tests follow what the sample of events tells, and without
    one what the subscriptions themselves do. Linear but for the sorting of constants and entries.

    >>> import boolfilter as bf
    >>> from boolfilter.forest import forest_of
    >>> segment = compile_segment(forest_of([bf.parse("a = 1 AND b = 2"), bf.parse("b > 1")]))
    >>> [segment.match_one(event) for event in ({"a": 1, "b": 2}, {"b": 5}, {"a": 1})]
    [[0, 1], [1], []]
    """
    domains, ranks = build_domains(forest.domains, forest.constants)
    sizes = domains.sizes()
    first = ranks_of_places(forest, ranks, forest.first)
    second = ranks_of_places(forest, ranks, forest.second)
    betweens, between_place = build_betweens(forest, first, second, len(sizes))
    slot_base = slot_bases(sizes, len(between_place), len(forest.searches))
    ids, slots = number_predicates(forest, first, slot_base, between_place)
    probability = estimate(forest, domains, first, second, sample)
    words, starts, member_start, member = share_equal_trees(forest.words, forest.starts, ids)
    compiled = _compile(words, starts, ids, slots, probability, len(slot_base) - 1)
    shift, coarse = _coarse(compiled["entry_key"], int(slot_base[-1]))
    tree_start, tree_bytes = _tree_bytes(words, starts, ids)
    return Segment(
        domains=domains,
        slot_base=slot_base,
        betweens=betweens,
        searches=forest.searches,
        tree_start=tree_start,
        tree_bytes=tree_bytes,
        slot_entry=np.searchsorted(compiled["entry_key"], slot_base).astype(np.uint32),
        coarse=coarse,
        shift=shift,
        member_start=member_start,
        member=member,
        **compiled,
    )


def slot_bases(sizes: NDArray[np.int64], betweens: int, searches: int) -> NDArray[np.uint32]:
    """Where the ids of each slot start: always true; = then < <= then > >= of domains; sets."""
    lengths = np.concatenate(
        ([1], (sizes[:, None] * np.array([1, 2, 2])).ravel(), [betweens + searches])
    )
    base = np.concatenate(([0], np.cumsum(lengths)))
    if base[-1] > _MOST_IDS:
        raise BoolFilterError("too many distinct predicates for one segment")
    return base.astype(np.uint32)


_SLOT_OF_OPERATION = np.array([0, 1, 1, 2, 2, 0, 0])
_STEP_OF_OPERATION = np.array([1, 2, 2, 2, 2, 0, 0])
_ADD_OF_OPERATION = np.array([0, 0, 1, 1, 0, 0, 0])


def number_predicates(
    forest: Forest,
    rank: NDArray[np.int64],
    slot_base: NDArray[np.uint32],
    between_place: NDArray[np.int64],
) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The id and the slot of each predicate of the forest."""
    operation = forest.operation
    slot = (1 + 3 * forest.domain + _SLOT_OF_OPERATION[operation]).astype(np.int32)
    inside = rank * _STEP_OF_OPERATION[operation] + _ADD_OF_OPERATION[operation]
    is_between = operation == Operation.BETWEEN
    is_search = operation == Operation.SEARCH
    set_slot = len(slot_base) - 2
    slot[is_between | is_search] = set_slot
    inside[is_between] = between_place
    inside[is_search] = len(between_place) + forest.first[is_search]
    return (slot_base[slot] + inside).astype(np.uint32), slot


def ranks_of_places(
    forest: Forest, ranks: list[NDArray[np.int64]], places: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The ranks of constants given by their places in the constants of their domains."""
    start = np.concatenate(([0], np.cumsum([len(part) for part in ranks]))).astype(np.int64)
    result = np.empty(len(places), np.int64)
    everything = np.concatenate([np.empty(0, np.int64), *ranks])
    gather_ranks(everything, start, forest.domain, places, result)
    return result


def share_equal_trees(
    words: NDArray[np.int32], starts: NDArray[np.int64], ids: NDArray[np.uint32]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Each distinct tree once, and who the members of each are (nothing if all are distinct)."""
    count = len(starts) - 1
    hashes = np.empty(count, np.uint64)
    hash_trees(words, starts, ids, hashes)
    order = np.argsort(hashes, kind="stable")
    same = np.zeros(count, np.bool_)  # same[k]: order[k] is equal to order[k - 1]
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]]) + 1
    if len(alike):
        equal = np.empty(len(alike), np.bool_)
        equal_trees(words, starts, ids, order[alike - 1], order[alike], equal)
        same[alike] = equal
    if not same.any():
        return words, starts, np.empty(0, np.uint32), np.empty(0, np.uint32)
    # Each run of equal trees keeps its first, which is its oldest: the sort is stable.
    run = np.cumsum(~same) - 1
    keeper = order[~same]
    row_of_run = np.empty(len(keeper), np.int64)
    row_of_run[np.argsort(keeper)] = np.arange(len(keeper))
    row = np.empty(count, np.int64)
    row[order] = row_of_run[run]
    member = np.argsort(row, kind="stable").astype(np.uint32)
    member_start = np.searchsorted(row[member], np.arange(len(keeper) + 1)).astype(np.uint32)
    kept = np.sort(keeper)
    return *take_trees(words, starts, kept), member_start, member


def _tree_bytes(
    words: NDArray[np.int32], starts: NDArray[np.int64], ids: NDArray[np.uint32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    tree_start = np.zeros(len(starts), np.int64)
    out = np.empty(_more_room(2 * len(words)), np.uint8)
    row = 0
    while (row := encode_trees(row, words, starts, ids, tree_start, out)) < len(starts) - 1:
        out.resize(_more_room(len(out)), refcheck=False)
    if tree_start[-1] >= 2**32:
        raise BoolFilterError("the subscriptions are too large for one segment")
    out.resize(tree_start[-1], refcheck=False)
    return tree_start.astype(np.uint32), out


def _compile(
    words: NDArray[np.int32],
    starts: NDArray[np.int64],
    ids: NDArray[np.uint32],
    slots: NDArray[np.int32],
    probability: NDArray[np.float32],
    slot_count: int,
) -> dict[str, NDArray[np.uint32]]:
    # A fair guess at the sizes; what runs out of room grows.
    entry_key = np.empty(_more_room(len(words) // 6), np.uint32)
    entry = np.empty(ENTRY_WORDS * len(entry_key), np.uint32)
    code = np.empty(_more_room(len(words) // 2), np.uint32)
    lists = np.empty(_more_room(0), np.uint32)
    written, needed = np.zeros(3, np.int64), np.zeros(3, np.int64)
    row = 0
    while True:
        row = compile_trees(
            row, words, starts, ids, slots, probability, slot_count,
            entry_key, entry, code, lists, written, needed,
        )  # fmt: skip
        if row == len(starts) - 1:
            break
        for array, least in zip((entry_key, code, lists), needed.tolist(), strict=True):
            if least > len(array):
                array.resize(max(least, _more_room(len(array))), refcheck=False)
        entry.resize(ENTRY_WORDS * len(entry_key), refcheck=False)
    entries, coded, listed = written.tolist()
    if 2 * coded >= GUARD_DENIES:
        raise BoolFilterError("the subscriptions are too large for one segment")
    order = np.argsort(entry_key[:entries], kind="stable")
    entry = entry.reshape(-1, ENTRY_WORDS)[order].reshape(-1)
    ordered_code, ordered_lists = np.empty(coded, np.uint32), np.empty(listed, np.uint32)
    order_code(entry, code[:coded], lists[:listed], ordered_code, ordered_lists)
    return {
        "entry_key": entry_key[order],
        "entry": entry,
        "code": ordered_code,
        "lists": ordered_lists,
    }


def _more_room(room: int) -> int:
    return room + room // 2 + 4_096


def _coarse(entry_key: NDArray[np.uint32], id_count: int) -> tuple[int, NDArray[np.uint32]]:
    """A table of where the entries of every 2**shift ids start, about half as long as they are."""
    shift = 0
    while (id_count >> shift) > len(entry_key) // 2 + 16:
        shift += 1
    blocks = np.arange((id_count >> shift) + 2, dtype=np.uint64) << shift
    keys = np.minimum(blocks, 0xFFFFFFFF).astype(np.uint32)
    return shift, np.searchsorted(entry_key, keys).astype(np.uint32)
