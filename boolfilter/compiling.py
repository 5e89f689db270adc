"""From a forest to a segment: predicate ids, entries by access predicate, residual code."""

from __future__ import annotations

from typing import Any

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
)
from boolfilter.kernels.jit import ALWAYS_TRUE
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
    words, starts, member_start, member = _share_equal_trees(forest.words, forest.starts, ids)
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


def _share_equal_trees(
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
    sizes = np.empty(len(starts) - 1, np.int64)
    nowhere = np.empty(0, np.int64)
    encode_trees(words, starts, ids, sizes, nowhere, np.empty(0, np.uint8))
    tree_start = np.concatenate(([0], np.cumsum(sizes)))
    if tree_start[-1] >= 2**32:
        raise BoolFilterError("the subscriptions are too large for one segment")
    out = np.empty(tree_start[-1], np.uint8)
    encode_trees(words, starts, ids, sizes, tree_start, out)
    return tree_start.astype(np.uint32), out


def _compile(
    words: NDArray[np.int32],
    starts: NDArray[np.int64],
    ids: NDArray[np.uint32],
    slots: NDArray[np.int32],
    probability: NDArray[np.float32],
    slot_count: int,
) -> dict[str, Any]:
    def run(emit: bool, sizes: Any) -> tuple[Any, dict[str, Any]]:
        entries, coded, listed = (int(size) for size in sizes)
        arrays = {
            "entry_key": np.empty(entries, np.uint32),
            "entry_row": np.empty(entries, np.uint32),
            "entry_code": np.empty(entries, np.uint32),
            "guard_id": np.empty(2 * entries, np.uint32),
            "guard_slot": np.empty(2 * entries, np.uint16),
            "code": np.empty(coded, np.uint32),
            "lists": np.empty(listed, np.uint32),
        }
        counted = compile_trees(
            words, starts, ids, slots, probability, slot_count, emit, *arrays.values()
        )
        return counted, arrays

    counted, _ = run(False, (0, 0, 0))
    if 2 * counted[1] >= ALWAYS_TRUE:
        raise BoolFilterError("the subscriptions are too large for one segment")
    _, arrays = run(True, counted)
    order = np.argsort(arrays["entry_key"], kind="stable")
    # One record an entry, so that a scan of a range of them is one stream of memory.
    entry = np.empty((len(order), 5), np.uint32)
    entry[:, :2] = arrays.pop("guard_id").reshape(-1, 2)[order]
    slots_pair = arrays.pop("guard_slot").reshape(-1, 2)[order].astype(np.uint32)
    entry[:, 2] = slots_pair[:, 0] | slots_pair[:, 1] << 16
    entry[:, 3] = arrays.pop("entry_code")[order]
    entry[:, 4] = arrays.pop("entry_row")[order]
    arrays["entry"] = entry.reshape(-1)
    arrays["entry_key"] = arrays["entry_key"][order]
    return arrays


def _coarse(entry_key: NDArray[np.uint32], id_count: int) -> tuple[int, NDArray[np.uint32]]:
    """A table of where the entries of every 2**shift ids start, about half as long as they are."""
    shift = 0
    while (id_count >> shift) > len(entry_key) // 2 + 16:
        shift += 1
    blocks = np.arange((id_count >> shift) + 2, dtype=np.uint64) << shift
    keys = np.minimum(blocks, 0xFFFFFFFF).astype(np.uint32)
    return shift, np.searchsorted(entry_key, keys).astype(np.uint32)
