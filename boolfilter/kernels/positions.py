"""Kernels that find the positions of values among the sorted constants of their domains."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import NO_POSITION, helper, kernel


@kernel(
    "void(int32[::1], float64[::1], int32[::1], float64[::1], int32[::1], int64[::1], int64[::1],"
    "uint32[::1], float64[::1], float64[::1], uint32[::1])"
)
def rank_numbers(
    item_domain, item_high, item_low, high, low, domain_start, bucket_start, bucket, base, scale, q
):
    """Positions of numbers given as (largest float not above, exact rest) among sorted constants.

    Buckets over the value range leave about four constants to search; skewed constants make some
    buckets long, which costs a binary search and never more. `low` is empty where all rests are 0.
    """
    has_low = len(low) > 0
    for i in range(len(item_domain)):
        domain = item_domain[i]
        if domain < 0:
            q[i] = NO_POSITION
            continue
        value = item_high[i]
        rest = item_low[i]
        start = domain_start[domain]
        first = bucket_start[domain]
        last = bucket_start[domain + 1] - first - 2
        place = (value - base[domain]) * scale[domain]
        b = np.int64(0)
        if place >= last:
            b = last
        elif place > 0.0:
            b = np.int64(place)
        a = start + bucket[first + b]
        z = start + bucket[first + b + 1]
        end = domain_start[domain + 1]
        while a < z:
            m = (a + z) >> 1
            c = high[m]
            if c < value or (c == value and has_low and low[m] < rest):
                a = m + 1
            else:
                z = m
        exact = a < end and high[a] == value and (rest == 0 if not has_low else low[a] == rest)
        if not has_low and rest != 0 and a < end and high[a] == value:
            a += 1  # the constant is the float below the value
        q[i] = np.uint32(2 * (a - start) + (1 if exact else 0))


@helper
def _compare(blob, a, a_end, other, b, b_end):
    while a < a_end and b < b_end:
        if blob[a] != other[b]:
            return -1 if blob[a] < other[b] else 1
        a += 1
        b += 1
    if a < a_end:
        return 1
    return -1 if b < b_end else 0


@kernel("void(int32[::1], uint8[::1], int64[::1], uint8[::1], int64[::1], int64[::1], uint32[::1])")
def rank_strings(item_domain, values, value_start, blob, string_start, domain_start, q):
    """Positions of UTF-8 strings among the sorted string constants of their domains."""
    for i in range(len(item_domain)):
        domain = item_domain[i]
        if domain < 0:
            q[i] = NO_POSITION
            continue
        start = domain_start[domain]
        end = domain_start[domain + 1]
        a = start
        z = end
        exact = 0
        while a < z:
            m = (a + z) >> 1
            order = _compare(
                blob, string_start[m], string_start[m + 1], values, value_start[i],
                value_start[i + 1],
            )  # fmt: skip
            if order < 0:
                a = m + 1
            else:
                z = m
                if order == 0:
                    exact = 1
        q[i] = np.uint32(2 * (a - start) + exact)


@kernel("void(int64[::1], int64[::1], int32[::1], int32[::1], int64[::1])")
def gather_ranks(rank, start, domain, place, out):
    """The rank of the constant at each place of a domain; 0 where there is none."""
    for i in range(len(place)):
        if domain[i] >= 0 and place[i] >= 0:
            out[i] = rank[start[domain[i]] + place[i]]
        else:
            out[i] = 0
