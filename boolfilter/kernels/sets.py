"""Sets of small numbers as bitmaps."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import helper, kernel


@helper
def _ones(word):
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel("Tuple((int64[::1], int64[::1]))(int64[::1], int64)")
def distinct_numbers(values, bound):
    """The distinct values in order, and the place of each value among them; all are below bound.

    A bit for each possible value: far less memory to visit at random than a number for each.
    """
    one = np.uint64(1)
    bits = np.zeros(bound // 64 + 1, np.uint64)
    for value in values:
        bits[value >> 6] |= one << np.uint64(value & 63)
    before = np.empty(len(bits), np.int64)
    count = np.int64(0)
    for word in range(len(bits)):
        before[word] = count
        count += np.int64(_ones(bits[word]))
    place = np.empty(len(values), np.int64)
    distinct = np.empty(count, np.int64)
    for i in range(len(values)):
        value = values[i]
        below = bits[value >> 6] & ((one << np.uint64(value & 63)) - one)
        place[i] = before[value >> 6] + np.int64(_ones(below))
        distinct[place[i]] = value
    return distinct, place
