"""Kernels over strings laid end to end in ``data``; string i starts at ``start[i]``."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import kernel


@kernel("void(uint8[::1], int64[::1], uint32[::1])")
def hash_strings(data, start, out):
    """A hash of each string (FNV-1a, finished), the same in every process."""
    for row in range(len(start) - 1):
        h = np.uint64(14695981039346656037)
        for i in range(start[row], start[row + 1]):
            h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(32)
        out[row] = (h * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)


@kernel("void(uint8[::1], int64[::1], int64[::1], uint8[::1])")
def gather_strings(data, start, chosen, out):
    """Some of the strings, one after the other."""
    at = 0
    for row in chosen:
        for i in range(start[row], start[row + 1]):
            out[at] = data[i]
            at += 1
