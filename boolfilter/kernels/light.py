"""Kernels of TreeMatch and RAPIDMatch: search trees over {0, 1, *}, built and searched.

Imported by :mod:`boolfilter.baselines.light` alone, so that nobody else compiles them.

A tree is a run of int32 words, in depth-first order. The head of a node is ``what << 3 | branches``
with a bit for each branch there is: 1 for the value 0, 2 for the value 1, 4 for ``*``; ``what`` is
the property it tests. A node with one branch is its head alone, and what it leads to follows. One
with more has three words after its head: where the branches lead to. A leaf has no branch:
``what`` is how many subscriptions it has, and they follow.
"""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import helper, kernel

NO_KEY = 2**31 - 1
_ZERO, _ONE, _STAR = 1, 2, 4


@helper
def _put(out, at, word):
    """Write a word, if this pass writes."""
    if at < len(out):
        out[at] = word
    return at + 1


@kernel("int64(int32[:, ::1], int32[::1], int32[::1], int64, int64, int32[::1])")
def grow_tree(keys, properties, ordinals, kept, first, out):
    """The words of one tree into `out` from `first` on; returns where it ends.

    Row r of `keys` is a subscription: ``2 * level + value`` of what it asks for, rising, then
    NO_KEY; rows are sorted, which makes each subtree a run of rows. `properties` are those that
    the levels test. A test is trivial where all subscriptions below have ``*``; those of levels
    below `kept` are kept. An `out` that is too short is left as it is beyond its end, so that an
    empty one gives the size.
    """
    rows, width = keys.shape
    at = first
    # Frames: rows from and to, keys already told, level, and where the parent keeps the address.
    stack = np.empty((2 * len(properties) + 4, 5), np.int64)
    stack[0] = (0, rows, 0, 0, -1)
    depth = 1
    while depth:
        depth -= 1
        begin, end, told, level, parent = stack[depth]
        if parent >= 0 and parent < len(out):
            out[parent] = at
        key = NO_KEY
        if begin < end and told < width:
            key = keys[begin, told]
        tested = key >> 1 if key != NO_KEY else len(properties) if begin < end else 0
        for trivial in range(level, min(tested, kept)):
            at = _put(out, at, (properties[trivial] << 3) | _STAR)
        if key == NO_KEY:
            at = _put(out, at, (end - begin) << 3)
            for row in range(begin, end):
                at = _put(out, at, ordinals[row])
            continue
        ones = begin
        while ones < end and keys[ones, told] == 2 * tested:
            ones += 1
        stars = ones
        while stars < end and keys[stars, told] == 2 * tested + 1:
            stars += 1
        branches = (
            (_ZERO if ones > begin else 0) | (_ONE if stars > ones else 0)
            | (_STAR if end > stars else 0)
        )  # fmt: skip
        at = _put(out, at, (properties[tested] << 3) | branches)
        several = branches & (branches - 1) != 0
        place = at
        if several:
            for _ in range(3):
                at = _put(out, at, 0)
        if end > stars:
            stack[depth] = (stars, end, told, tested + 1, place + 2 if several else -1)
            depth += 1
        if stars > ones:
            stack[depth] = (ones, stars, told + 1, tested + 1, place + 1 if several else -1)
            depth += 1
        if ones > begin:
            stack[depth] = (begin, ones, told + 1, tested + 1, place if several else -1)
            depth += 1
    return at


@helper
def _choose(event, most_ones, roots):
    """The root of the tree that RAPIDMatch searches for an event.

    Trees of exactly-t-light events stand from ``t * (t + 1) / 2`` on, one for each block that may
    be all 0; the last tree is that of all other events.
    """
    last = len(roots) - 1
    if most_ones < 0:
        return roots[last]
    properties = len(event)
    ones = 0
    for p in range(properties):
        ones += event[p]
    if ones > most_ones:
        return roots[last]
    first = ones * (ones + 1) // 2
    for block in range(ones + 1):
        clean = True
        for p in range(block * properties // (ones + 1), (block + 1) * properties // (ones + 1)):
            if event[p]:
                clean = False
                break
        if clean:
            return roots[first + block]
    return roots[last]  # never: of ones + 1 blocks, one has no 1


@helper
def _search(event, at, words, stack, out, count):
    """Search one tree; returns the count of matches and how many nodes were visited."""
    visited = 0
    depth = 0
    while True:
        head = words[at]
        branches = head & 7
        visited += 1
        if branches == _STAR:
            at += 1
            continue
        following = np.int64(0)
        if branches == 0:
            for k in range(head >> 3):
                if count < len(out):
                    out[count] = words[at + 1 + k]
                count += 1
        else:
            value = event[head >> 3]
            if branches & (branches - 1) == 0:
                following = at + 1 if branches == 1 << value else np.int64(0)
            else:
                following = np.int64(words[at + 1 + value])
                star = np.int64(words[at + 3])
                if following == 0:
                    following = star
                elif star != 0:
                    stack[depth] = star
                    depth += 1
        if following == 0:
            if depth == 0:
                return count, visited
            depth -= 1
            following = stack[depth]
        at = following


@kernel(
    "UniTuple(int64, 3)(int64, uint8[:, ::1], int64, int64[::1], int32[::1], int64[::1],"
    "int64[::1], int64[::1], int32[::1], int64)"
)
def search_trees(first, events, most_ones, roots, words, stack, visited, out_event, out, count):
    """Match events from `first` on; stops before an event whose matches do not fit any more.

    `most_ones` below 0 always searches the last tree. Returns the next event, the number of
    matches written so far, and the room that is needed.
    """
    for number in range(first, len(events)):
        event = events[number]
        root = _choose(event, most_ones, roots)
        before = count
        count, nodes = _search(event, root, words, stack, out, count)
        if count > len(out):
            return number, before, count
        visited[number] = nodes
        for k in range(before, count):
            out_event[k] = number
    return len(events), count, count
