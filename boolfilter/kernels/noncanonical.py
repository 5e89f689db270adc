"""Kernels of the non-canonical algorithm: trees in the paper's bytes, written and evaluated.

Imported by :mod:`boolfilter.baselines.noncanonical` alone, so that nobody else compiles them.
"""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import IN, NOT_IN, helper, kernel, prefetch
from boolfilter.kernels.matching import sort_distinct

AND_BYTE, OR_BYTE, NOT_BYTE = 1, 2, 3
MOST_CHILDREN = 255
GREATEST_WIDTH = 65_535
_LEAF_WIDTH = 4
_AHEAD = 8


@helper
def _put(out, at, value, size):
    for k in range(size):
        out[at + k] = (value >> (8 * (size - 1 - k))) & 255


@helper
def _put_list(out, at, words, i, count, ids):
    """An OR of the `count` leaves after word `i`."""
    out[at] = OR_BYTE
    out[at + 1] = count
    for k in range(count):
        _put(out, at + 2 + 2 * k, _LEAF_WIDTH, 2)
        _put(out, at + 2 + 2 * count + 4 * k, np.int64(ids[words[i + 1 + k] >> 1]), 4)


@kernel(
    "UniTuple(int64, 2)(int32[::1], int64[::1], uint32[::1], int64[::1], int64[::1], uint8[::1])"
)
def encode_paper_trees(words, starts, ids, sizes, byte_starts, out):
    """The length of each tree's bytes into `sizes`; or, given `byte_starts`, the bytes themselves.

    Returns the greatest number of children of a node and the greatest width of a child, by which
    the caller knows, before anything is written, whether the format has room for them.
    """
    writing = len(byte_starts) > 0
    longest = np.int64(1)
    for row in range(len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    width = np.empty(longest + 1, np.int64)
    listed = np.zeros(longest + 1, np.uint8)
    most = np.int64(0)
    widest = np.int64(0)
    for row in range(len(starts) - 1):
        start = starts[row]
        i = start
        while i < starts[row + 1]:
            listed[i - start] = 0
            if words[i] < 0 and (-words[i]) & 3 >= IN:
                count = np.int64((-words[i]) >> 2) - 1
                listed[i - start + 1 : i - start + 1 + count] = 1
                i += count
            i += 1
        # Back to front, since the header of a node holds the widths of its children.
        top = 0
        at = byte_starts[row + 1] if writing else np.int64(0)
        for i in range(starts[row + 1] - 1, start - 1, -1):
            word = words[i]
            if word >= 0:
                if listed[i - start]:
                    continue
                size = np.int64(8 if word & 1 else 4)
                at -= size
                if writing:
                    if word & 1:
                        out[at] = NOT_BYTE
                        out[at + 1] = 1
                        _put(out, at + 2, _LEAF_WIDTH, 2)
                    _put(out, at + size - 4, np.int64(ids[word >> 1]), 4)
                width[top] = size
                top += 1
                continue
            kind = (-word) & 3
            count = np.int64((-word) >> 2) - 1
            most = max(most, count)
            if kind >= IN:
                body = 2 + 6 * count
                size = body + (4 if kind == NOT_IN else 0)
                at -= size
                if kind == NOT_IN:
                    widest = max(widest, body)
                if writing:
                    if kind == NOT_IN:
                        out[at] = NOT_BYTE
                        out[at + 1] = 1
                        _put(out, at + 2, body, 2)
                    _put_list(out, at + size - body, words, i, count, ids)
            else:
                size = 2 + 2 * count
                at -= size
                if writing:
                    out[at] = kind + AND_BYTE
                    out[at + 1] = count
                for k in range(count):
                    top -= 1
                    widest = max(widest, width[top])
                    size += width[top]
                    if writing:
                        _put(out, at + 2 + 2 * k, width[top], 2)
            width[top] = size
            top += 1
        if not writing:
            sizes[row] = width[0]
    return most, widest


@kernel("int64(int32[::1], int64[::1])")
def levels(words, starts):
    """More than the levels of any tree's bytes: no tree has more than it has inner nodes, but for
    a leaf and the NOT over a leaf or a list, which is no word of its own."""
    most = 2
    for row in range(len(starts) - 1):
        inner = 2
        for i in range(starts[row], starts[row + 1]):
            inner += words[i] < 0
        most = max(most, inner)
    return most


@helper
def _evaluate(data, at, width, truth, stack):
    """Whether a tree of bytes is true: children in order, until one decides.

    `stack` has a row for each open node: operator, children left, where its next width is, where
    the child after it starts. No recursion, which here costs more than it does elsewhere (see
    `_run_queued` in the engine's kernel).
    """
    top = 0
    while True:
        if width == _LEAF_WIDTH:
            g = (
                np.int64(data[at]) << 24
                | np.int64(data[at + 1]) << 16
                | np.int64(data[at + 2]) << 8
                | np.int64(data[at + 3])
            )
            true = (truth[g >> 6] >> np.uint64(g & 63)) & np.uint64(1) != 0
        else:
            count = np.int64(data[at + 1])
            true = data[at] == AND_BYTE
            if count > 0:
                width = np.int64(data[at + 2]) << 8 | np.int64(data[at + 3])
                stack[top, 0] = data[at]
                stack[top, 1] = count - 1
                stack[top, 2] = at + 4
                at += 2 + 2 * count
                stack[top, 3] = at + width
                top += 1
                continue
        while top > 0:
            operator = stack[top - 1, 0]
            if operator == NOT_BYTE:
                true = not true
            elif true == (operator == AND_BYTE) and stack[top - 1, 1] > 0:
                break
            top -= 1
        if top == 0:
            return true
        place = stack[top - 1, 2]
        width = np.int64(data[place]) << 8 | np.int64(data[place + 1])
        at = stack[top - 1, 3]
        stack[top - 1, 1] -= 1
        stack[top - 1, 2] = place + 2
        stack[top - 1, 3] = at + width


@kernel("void(uint8[::1], int64[::1], uint64[::1], int64, boolean[::1])")
def evaluate_trees(data, location, truth, levels, out):
    """The truth of every tree under one predicate bit vector."""
    stack = np.empty((levels, 4), np.int64)
    for row in range(len(out)):
        at = location[row]
        out[row] = _evaluate(data, at, location[row + 1] - at, truth, stack)


@kernel(
    "UniTuple(int64, 3)(int64, int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1],"
    "int64[::1], uint8[::1], int64, uint64[::1], uint64[::1], uint32[::1], int64[::1],"
    "int64[::1], uint32[::1], int64)"
)
def match_noncanonical(
    first, start, fulfilled, association_start, association, always, location, data, levels,
    truth, candidate_bits, candidates, visited, out_event, out_ordinal, out_count,
):  # fmt: skip
    """Step two for events from `first` on: the candidates of fulfilled predicates, each once, and
    which of them are true. Stops before an event whose matches do not fit any more.

    Returns the next event, the number of matches written so far, and the room that is needed.
    Leaves both bit vectors clean.
    """
    events = len(start) - 1
    count = out_count
    stack = np.empty((levels, 4), np.int64)
    for event in range(first, events):
        before = count
        found = 0
        for k in range(len(always)):
            row = always[k]
            candidate_bits[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
            candidates[found] = row
            found += 1
        for k in range(start[event], start[event + 1]):
            g = fulfilled[k]
            truth[g >> 6] |= np.uint64(1) << np.uint64(g & 63)
            for place in range(association_start[g], association_start[g + 1]):
                row = association[place]
                bit = np.uint64(1) << np.uint64(row & 63)
                if candidate_bits[row >> 6] & bit == 0:
                    candidate_bits[row >> 6] |= bit
                    candidates[found] = row
                    found += 1
        for k in range(found):
            # The trees lie anywhere: without fetching them ahead, as the engine does with its
            # code, this would compare memory latencies.
            if k + 2 * _AHEAD < found:
                prefetch(location, np.int64(candidates[k + 2 * _AHEAD]))
            if k + _AHEAD < found:
                at = location[candidates[k + _AHEAD]]
                prefetch(data, at)
                prefetch(data, at + 64)
            row = candidates[k]
            at = location[row]
            if _evaluate(data, at, location[row + 1] - at, truth, stack):
                if count < len(out_ordinal):
                    out_ordinal[count] = row
                count += 1
        for k in range(found):
            candidate_bits[candidates[k] >> 6] = 0
        for k in range(start[event], start[event + 1]):
            truth[fulfilled[k] >> 6] = 0
        if count > len(out_ordinal):
            return event, before, count
        visited[0] += found
        sort_distinct(out_ordinal, before, count, candidate_bits)
        for k in range(before, count):
            out_event[k] = event
    return events, count, count
