"""Kernels of Le Subscribe's algorithms: literals counted, clusters looked up, literals verified.

A *literal* is a code and a key. The code is ``domain << 2 | class`` with class EQUAL, UPPER or
LOWER; the key is comparable with the position of a value (see :mod:`boolfilter.kernels`). Imported
by :mod:`boolfilter.baselines.conjunction_tables` alone, so that nobody else compiles them.
"""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import NO_POSITION, helper, kernel
from boolfilter.kernels.predicates import first_not_below

EQUAL, UPPER, LOWER = 0, 1, 2
SEVERAL_VALUES = -1
_NONE = np.uint32(0xFFFFFFFF)


@helper
def _count_between(a, z, posting_start, posting, hits):
    """One hit for each conjunction of the literals a to z, which are beside each other."""
    for place in range(posting_start[a], posting_start[z]):
        hits[posting[place]] += 1
    return posting_start[z] - posting_start[a]


@helper
def _count(domain, q, code_start, keys, posting_start, posting, hits):
    """Count what a value satisfies; returns how many hits that was."""
    code = domain << 2
    a, z = code_start[code], code_start[code + 1]
    place = first_not_below(keys, a, z, q)
    found = 0
    if place < z and keys[place] == q:
        found += _count_between(place, place + 1, posting_start, posting, hits)
    a, z = z, code_start[code + 2]
    place = first_not_below(keys, a, z, q)
    found += _count_between(place, z, posting_start, posting, hits)
    a, z = z, code_start[code + 3]
    place = first_not_below(keys, a, z, q)
    return found + _count_between(a, place, posting_start, posting, hits)


@helper
def _mix(value, key):
    value = (value ^ np.uint64(key)) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(29))


@helper
def _same(keys, start, wanted, size):
    k = 0
    while k < size and keys[start + k] == wanted[k]:
        k += 1
    return k == size


@helper
def _find(cluster, wanted, size, table, bucket_cluster, bucket_key_start, bucket_key):
    """The bucket of a combination of values in a cluster, or -1."""
    mask = np.uint64(len(table) - 1)
    value = np.uint64(cluster)
    for k in range(size):
        value = _mix(value, wanted[k])
    place = value & mask
    while table[place] >= 0:
        bucket = table[place]
        if bucket_cluster[bucket] == cluster and _same(
            bucket_key, bucket_key_start[bucket], wanted, size
        ):
            return bucket
        place = (place + np.uint64(1)) & mask
    return -1


@kernel("void(int32[::1], int32[::1], int64[::1], uint32[::1])")
def fill_table(table, bucket_cluster, bucket_key_start, bucket_key):
    """Put every bucket into the hash table, which is full of -1 and has a power of 2 of places."""
    mask = np.uint64(len(table) - 1)
    for bucket in range(len(bucket_cluster)):
        value = np.uint64(bucket_cluster[bucket])
        for k in range(bucket_key_start[bucket], bucket_key_start[bucket + 1]):
            value = _mix(value, bucket_key[k])
        place = value & mask
        while table[place] >= 0:
            place = (place + np.uint64(1)) & mask
        table[place] = bucket


@helper
def _accept(
    first, last, needed, hits, test_start, test_code, test_key, positions, out_entry, count
):  # fmt: skip
    """The entries from first to last that have the hits they need, and whose other literals are all
    true. A loop here, and not a call an entry: a call with so many arrays takes 20 ns."""
    for entry in range(first, last):
        if hits[entry] != needed[entry]:
            continue
        true = True
        for place in range(test_start[entry], test_start[entry + 1]):
            code, key = test_code[place], test_key[place]
            q = positions[code >> 2]
            if code & 3 == EQUAL:
                true = key == q
            elif code & 3 == UPPER:
                true = key >= q
            else:
                true = key < q
            if not true or q == _NONE:
                true = False
                break
        if true:
            if count < len(out_entry):
                out_entry[count] = entry
            count += 1
    return count


@kernel(
    "UniTuple(int64, 3)(int64, int64[::1], int32[::1], uint32[::1], int64[::1], uint32[::1],"
    "int64[::1], uint32[::1], uint8[::1], int64, int64, int64[::1], uint32[::1], uint32[::1],"
    "int64[::1], int32[::1], int32[::1], int32[::1], int64[::1], uint32[::1], int64[::1],"
    "uint8[::1], uint32[::1], uint32[::1], int64[::1], uint32[::1], int64)"
)
def match_conjunctions(
    first, item_start, item_domain, item_q, code_start, keys, posting_start, posting, needed,
    with_counts, unclustered, test_start, test_code, test_key, cluster_start, cluster_domain, table,
    bucket_cluster, bucket_key_start, bucket_key, bucket_start, hits, positions, wanted,
    out_event, out_entry, out_count,
):  # fmt: skip
    """Match events from `first` on; stops before an event whose matches do not fit any more.

    Returns the next event, the number of matches written so far, and the room that is needed, which
    is SEVERAL_VALUES if that event has several values for an attribute. Only the first
    `with_counts` entries have literals to count. `hits` and `positions` are left as they were.
    """
    count = out_count
    for event in range(first, len(item_start) - 1):
        before = count
        counted = 0
        single = True
        for i in range(item_start[event], item_start[event + 1]):
            domain, q = item_domain[i], item_q[i]
            if domain >= 0 and q != NO_POSITION:
                single &= positions[domain] == _NONE
                positions[domain] = q
                counted += _count(domain, q, code_start, keys, posting_start, posting, hits)
        count = _accept(
            0, unclustered, needed, hits, test_start, test_code, test_key, positions, out_entry,
            count,
        )  # fmt: skip
        for cluster in range(len(cluster_start) - 1):
            size = 0
            for k in range(cluster_start[cluster], cluster_start[cluster + 1]):
                q = positions[cluster_domain[k]]
                if q == _NONE or q & 1 == 0:
                    size = -1
                    break
                wanted[size] = q
                size += 1
            if size < 0:
                continue
            bucket = _find(
                cluster, wanted, size, table, bucket_cluster, bucket_key_start, bucket_key
            )
            if bucket < 0:
                continue
            count = _accept(
                bucket_start[bucket], bucket_start[bucket + 1], needed, hits, test_start,
                test_code, test_key, positions, out_entry, count,
            )  # fmt: skip
        if counted > 0:
            hits[:with_counts] = 0
        for i in range(item_start[event], item_start[event + 1]):
            if item_domain[i] >= 0:
                positions[item_domain[i]] = _NONE
        if not single:
            return event, before, SEVERAL_VALUES
        if count > len(out_entry):
            return event, before, count
        for k in range(before, count):
            out_event[k] = event
    return len(item_start) - 1, count, count
