"""Kernels of the counting algorithm: association tables, and hits counted and compared.

Imported by :mod:`boolfilter.baselines.counting` alone, so that nobody else compiles them.
"""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import helper, kernel
from boolfilter.kernels.matching import sort_distinct

GONE = 0xFFFFFFFF  # in an association list: it ends here, for conjunctions were removed
BLOCK_WORDS = 32  # of eight hits each
_LOW_BITS = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)


@kernel(
    "int64(int32[::1], int64[::1], uint32[::1], int64[::1], uint32[::1], int32[::1], int64[::1],"
    "uint32[::1])"
)
def number_leaves(words, starts, numbers, seen_in, place, out_words, leaf_start, leaves):
    """Trees with their predicates numbered 0, 1, ... as they come, and what these predicates are.

    Returns the most of a tree. `seen_in` is all -1, and has room, as `place`, for all predicates.
    """
    total = np.int64(0)
    most = np.int64(0)
    for row in range(len(starts) - 1):
        first = total
        leaf_start[row] = first
        for i in range(starts[row], starts[row + 1]):
            word = words[i]
            if word < 0:
                out_words[i] = word
                continue
            g = numbers[word >> 1]
            if seen_in[g] != row:
                seen_in[g] = row
                place[g] = total - first
                leaves[total] = g
                total += 1
            out_words[i] = np.int32(place[g] << 1) | (word & 1)
        most = max(most, total - first)
    leaf_start[len(starts) - 1] = total
    return most


@kernel(
    "void(int64[::1], uint32[::1], uint32[::1], uint32[::1], int64[::1], int64[::1], int32[::1],"
    "uint32[::1], uint32[::1])"
)
def associate(
    leaf_start, leaves, shape, first_conjunction, shape_start, literal_start, literal, start,
    association,
):  # fmt: skip
    """Counting sort of the conjunctions by predicate: first, without `association`, the length of
    each list into `start`; then, given where lists end, the lists, and where they start."""
    writing = len(association) > 0
    for row in range(len(shape) - 1, -1, -1):
        conjunction = np.int64(first_conjunction[row + 1])
        s = shape[row]
        for j in range(shape_start[s + 1] - 1, shape_start[s] - 1, -1):
            conjunction -= 1
            for k in range(literal_start[j], literal_start[j + 1]):
                g = leaves[leaf_start[row] + literal[k]]
                if writing:
                    start[g] -= np.uint32(1)
                    association[start[g]] = conjunction
                else:
                    start[g] += np.uint32(1)


@kernel("void(uint32[::1], uint32[::1], int64[::1], int64[::1], uint8[::1])")
def count_literals(shape, first_conjunction, shape_start, literal_start, counts):
    """How many literals each conjunction has."""
    for row in range(len(shape)):
        shift = shape_start[shape[row]] - np.int64(first_conjunction[row])
        for conjunction in range(first_conjunction[row], first_conjunction[row + 1]):
            j = np.int64(conjunction) + shift
            counts[conjunction] = literal_start[j + 1] - literal_start[j]


@helper
def _owner(first_conjunction, conjunction, least):
    """The subscription of a conjunction, not before `least`: the last that starts no later."""
    a = np.int64(least) + 1
    z = np.int64(len(first_conjunction)) - 1
    while a < z:
        m = (a + z) >> 1
        if first_conjunction[m] <= conjunction:
            a = m + 1
        else:
            z = m
    return a - 1


@helper
def _take_off(fulfilled, begin, end, negative_start, negative, hits):
    """A hit less for each conjunction that wants a predicate not to be fulfilled."""
    for k in range(begin, end):
        g = fulfilled[k]
        for place in range(negative_start[g], negative_start[g + 1]):
            conjunction = negative[place]
            if conjunction == GONE:
                break
            hits[conjunction] -= np.uint8(1)


@kernel(
    "UniTuple(int64, 3)(int64, int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1],"
    "uint32[::1], uint64[::1], uint64[::1], uint32[::1], int64[::1], int64[::1], uint32[::1],"
    "int64)"
)
def match_counting(
    first, start, fulfilled, association_start, association, negative_start, negative, hit_words,
    count_words, first_conjunction, visited, out_event, out_ordinal, out_count,
):  # fmt: skip
    """Step two for events from `first` on: hits counted, then all of them compared with the counts,
    many at once, and cleared. Stops before an event whose matches do not fit any more.

    Returns the next event, the number of matches written so far, and the room that is needed.
    """
    hits = hit_words.view(np.uint8)
    counts = count_words.view(np.uint8)
    events = len(start) - 1
    count = out_count
    for event in range(first, events):
        before = count
        for k in range(start[event], start[event + 1]):
            g = fulfilled[k]
            for place in range(association_start[g], association_start[g + 1]):
                conjunction = association[place]
                if conjunction == GONE:
                    break
                hits[conjunction] += np.uint8(1)
        if len(negative) > 0:
            _take_off(fulfilled, start[event], start[event + 1], negative_start, negative, hits)
        last = np.int64(-1)
        # Blocks of fixed length, in which nothing branches, become vector instructions.
        for block in range(0, len(hit_words), BLOCK_WORDS):
            block_hits = hit_words[block : block + BLOCK_WORDS]
            block_counts = count_words[block : block + BLOCK_WORDS]
            equal = np.uint64(0)
            hit = np.uint64(0)
            for word in range(BLOCK_WORDS):
                # A byte of the difference is zero just if this leaves a high bit.
                difference = block_hits[word] ^ block_counts[word]
                equal |= (difference - _LOW_BITS) & ~difference & _HIGH_BITS
                hit |= block_hits[word]
            if equal != 0:
                for conjunction in range(8 * block, 8 * (block + BLOCK_WORDS)):
                    if hits[conjunction] == counts[conjunction]:
                        ordinal = _owner(first_conjunction, conjunction, max(last, 0))
                        if ordinal != last:
                            if count < len(out_ordinal):
                                out_ordinal[count] = ordinal
                                out_event[count] = event
                            count += 1
                            last = ordinal
            if hit != 0:
                for word in range(BLOCK_WORDS):
                    block_hits[word] = 0
        if count > len(out_ordinal):
            return event, before, count
        visited[0] += np.int64(first_conjunction[len(first_conjunction) - 1])
    return events, count, count


@kernel(
    "UniTuple(int64, 4)(int64, int64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1],"
    "uint32[::1], uint64[::1], uint64[::1], uint32[::1], uint32[::1], uint32[::1], uint64[::1],"
    "int64[::1], int64[::1], uint32[::1], int64)"
)
def match_counting_variant(
    first, start, fulfilled, association_start, association, negative_start, negative, hit_words,
    count_words, first_conjunction, always, candidates, seen, visited, out_event, out_ordinal,
    out_count,
):  # fmt: skip
    """As `match_counting`, but conjunctions are listed when they are hit first, and only these are
    compared and cleared; `always` are those that want no predicate.

    Stops before an event that might have more candidates than there is room for as well, which is
    the last that it returns.
    """
    hits = hit_words.view(np.uint8)
    counts = count_words.view(np.uint8)
    events = len(start) - 1
    count = out_count
    for event in range(first, events):
        before = count
        room = len(always)
        for k in range(start[event], start[event + 1]):
            g = fulfilled[k]
            room += np.int64(association_start[g + 1]) - np.int64(association_start[g])
        if room > len(candidates):
            return event, count, count, room
        found = 0
        for k in range(len(always)):
            candidates[found] = always[k]
            found += 1
        for k in range(start[event], start[event + 1]):
            g = fulfilled[k]
            for place in range(association_start[g], association_start[g + 1]):
                conjunction = association[place]
                if conjunction == GONE:
                    break
                # No conjunction is hit 256 times, so none is listed twice.
                if hits[conjunction] == 0:
                    candidates[found] = conjunction
                    found += 1
                hits[conjunction] += np.uint8(1)
        if len(negative) > 0:
            _take_off(fulfilled, start[event], start[event + 1], negative_start, negative, hits)
        for k in range(found):
            conjunction = candidates[k]
            if hits[conjunction] == counts[conjunction]:
                ordinal = _owner(first_conjunction, conjunction, 0)
                bit = np.uint64(1) << np.uint64(ordinal & 63)
                if seen[ordinal >> 6] & bit == 0:
                    seen[ordinal >> 6] |= bit
                    if count < len(out_ordinal):
                        out_ordinal[count] = ordinal
                        out_event[count] = event
                    count += 1
        for k in range(found):
            hits[candidates[k]] = 0
        if len(negative) > 0:
            for k in range(start[event], start[event + 1]):
                g = fulfilled[k]
                for place in range(negative_start[g], negative_start[g + 1]):
                    if negative[place] == GONE:
                        break
                    hits[negative[place]] = 0
        if count > len(out_ordinal):
            seen[:] = 0  # those past the room are not listed
            return event, before, count, 0
        for k in range(before, count):
            seen[out_ordinal[k] >> 6] = 0
        visited[0] += found
        sort_distinct(out_ordinal, before, count, seen)
    return events, count, count, 0
