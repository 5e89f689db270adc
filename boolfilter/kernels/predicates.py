"""Step one of the papers' algorithms, predicate matching: the predicates that events fulfil."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import NO_POSITION, helper, kernel


@helper
def first_not_below(used, a, z, g):
    """Where `g` stands, or would stand, in what is sorted from `a` to before `z`."""
    while a < z:
        m = (a + z) >> 1
        if used[m] < g:
            a = m + 1
        else:
            z = m
    return a


@helper
def _fulfil(first, last, truth, fulfilled, count):
    """Set the bits of predicates and list those that were not listed yet."""
    for g in range(first, last):
        bit = np.uint64(1) << np.uint64(g & 63)
        if truth[g >> 6] & bit == 0:
            truth[g >> 6] |= bit
            fulfilled[count] = g
            count += 1
    return count


@helper
def _match_predicates(
    begin, end, item_domain, item_q, first_hit, last_hit, hits, slot_base, used, slot_first,
    group_of_domain, group_start, group_span, between_low, between_high, truth, fulfilled,
    count,
):  # fmt: skip
    """The predicates that an event fulfils, as bits and, from place `count` on, as a list; returns
    where the list ends."""
    sets = np.int64(slot_first[len(slot_base) - 2])
    i = begin
    while i < end:
        domain = item_domain[i]
        if item_q[i] == NO_POSITION or domain < 0:
            i += 1
            continue
        s = 1 + 3 * domain
        smallest = item_q[i]
        largest = item_q[i]
        j = i
        while j < end and item_domain[j] == domain:
            q = item_q[j]
            smallest = min(smallest, q)
            largest = max(largest, q)
            if q & 1:
                wanted = np.int64(slot_base[s]) + (q >> 1)
                a = first_not_below(used, slot_first[s], slot_first[s + 1], wanted)
                if a < slot_first[s + 1] and used[a] == wanted:
                    count = _fulfil(a, a + 1, truth, fulfilled, count)
            for group in range(group_of_domain[domain], group_of_domain[domain + 1]):
                group_end = np.int64(group_start[group + 1])
                span = group_span[group]
                least = q - span if q > span else np.uint32(0)
                a = first_not_below(between_low, np.int64(group_start[group]), group_end, least)
                while a < group_end and between_low[a] <= q:
                    if between_high[a] >= q:
                        count = _fulfil(sets + a, sets + a + 1, truth, fulfilled, count)
                    a += 1
            j += 1
        a = slot_first[s + 1]
        z = slot_first[s + 2]
        a = first_not_below(used, a, z, np.int64(slot_base[s + 1]) + smallest)
        count = _fulfil(a, z, truth, fulfilled, count)
        a = slot_first[s + 2]
        z = slot_first[s + 3]
        z = first_not_below(used, a, z, np.int64(slot_base[s + 2]) + largest)
        count = _fulfil(a, z, truth, fulfilled, count)
        i = j
    for h in range(first_hit, last_hit):
        a = sets + np.int64(hits[h])
        count = _fulfil(a, a + 1, truth, fulfilled, count)
    return count


@kernel(
    "int64(int64, int64[::1], int32[::1], uint32[::1], int64[::1], uint32[::1],"
    "uint32[::1], uint32[::1], int64[::1], int32[::1], int32[::1], uint32[::1], uint32[::1],"
    "uint32[::1], uint64[::1], int64[::1], uint32[::1])"
)
def find_fulfilled(
    first, item_start, item_domain, item_q, hit_start, hits,
    slot_base, used, slot_first, group_of_domain, group_start, group_span, between_low,
    between_high, truth, start, fulfilled,
):  # fmt: skip
    """List the predicates that the events from `first` on fulfil; returns the next event.

    Those of event ``first + i`` are ``fulfilled[start[i]:start[i + 1]]``, each once. Stops where
    one more event might not fit, for it might fulfil all. Leaves the bits of `truth` clean.
    """
    events = len(item_start) - 1
    start[0] = 0
    count = np.int64(0)
    event = first
    while event < events and len(fulfilled) - count >= len(used):
        before = count
        count = _match_predicates(
            item_start[event], item_start[event + 1], item_domain, item_q, hit_start[event],
            hit_start[event + 1], hits, slot_base, used, slot_first, group_of_domain, group_start,
            group_span, between_low, between_high, truth, fulfilled, count,
        )  # fmt: skip
        for k in range(before, count):
            truth[fulfilled[k] >> 6] = 0
        event += 1
        start[event - first] = count
    return event
