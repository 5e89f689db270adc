"""Columns of values: split into exact pairs for ranking, and turned into rows of items.

The splitting is numpy, which is as fast as compiled code here and needs no compiling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.kernels.jit import kernel

Plain = tuple[int, NDArray[np.uint32]]
"""A domain, and its position in every row."""
Loose = tuple[int, NDArray[np.int64], NDArray[np.uint32]]
"""A domain, and some items of it: their rows and their positions."""


def by_row(
    rows: int, plain: list[Plain], loose: list[Loose]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint32]]:
    """Where the items of each row start, their domains and their positions.

    A row has the plain ones first, then the loose ones in the order given.

    >>> loose = [(7, np.array([1, 1]), np.array([30, 40], np.uint32))]
    >>> [a.tolist() for a in by_row(2, [(5, np.array([10, 20], np.uint32))], loose)]
    [[0, 1, 4], [5, 5, 7, 7], [10, 20, 30, 40]]
    """
    columns = np.empty((len(plain), rows), np.uint32)
    for place, (_, column) in enumerate(plain):
        columns[place] = column
    loose_row = np.concatenate([np.empty(0, np.int64), *(row for _, row, _ in loose)])
    size = columns.size + len(loose_row)
    made = np.empty(rows + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.uint32)
    lay_out(
        np.array([domain for domain, _ in plain], np.int32),
        columns,
        loose_row,
        np.repeat(
            np.array([domain for domain, _, _ in loose], np.int32),
            np.array([len(row) for _, row, _ in loose], np.int64),
        ),
        np.concatenate([np.empty(0, np.uint32), *(position for _, _, position in loose)]),
        *made,
    )
    return made


@kernel(
    "void(int32[::1], uint32[:, ::1], int64[::1], int32[::1], uint32[::1],"
    "int64[::1], int32[::1], uint32[::1])"
)
def lay_out(
    column_domain, columns, loose_row, loose_domain, loose_position, start, domain, position
):
    """Items by row: first one of each column, then the loose items of the row in their order."""
    rows = len(start) - 1
    width = len(column_domain)
    start[:] = 0
    for row in loose_row:
        start[row + 1] += 1
    for row in range(rows):
        start[row + 1] += start[row] + width
    # Column by column: reading 40 columns abreast, 2**15 bytes apart, would thrash the cache.
    for column in range(width):
        for row in range(rows):
            domain[start[row] + column] = column_domain[column]
            position[start[row] + column] = columns[column, row]
    free = start[:-1] + width
    for i in range(len(loose_row)):
        place = free[loose_row[i]]
        free[loose_row[i]] += 1
        domain[place] = loose_domain[i]
        position[place] = loose_position[i]


def correct_floats(values: NDArray[Any], high: NDArray[np.float64]) -> NDArray[np.int32] | None:
    """Corrects `high`, the floats nearest to some numbers, to the largest that are not above; and
    what these are short of the numbers, or None if all are exact.

    >>> high = np.array([2**53 + 3], np.float64)
    >>> correct_floats(np.array([2**53 + 3]), high), high - 2**53
    (array([1], dtype=int32), array([2.]))
    """
    if values.dtype.kind == "f" or values.itemsize < 8 or not len(values):
        return None
    if values.min() >= -(2**53) and values.max() <= 2**53:
        return None
    end = 2.0**63 if values.dtype.kind == "i" else 2.0**64
    np.minimum(high, np.nextafter(end, 0.0), out=high)
    above = high.astype(values.dtype) > values
    high[above] = np.nextafter(high[above], -np.inf)
    rests: NDArray[np.int32] = (values - high.astype(values.dtype)).astype(np.int32)
    return rests


def giant_rests(
    values: NDArray[np.uint64], high: NDArray[np.float64], low: NDArray[np.int32], giants: list[int]
) -> NDArray[np.int32]:
    """The rests `low`, but those of values past 2**63 numbered as ``Domains.split`` does."""
    constants = np.array([giant for giant in giants if 2**63 <= giant < 2**64], np.uint64)
    place = np.searchsorted(constants, values)
    is_constant = np.searchsorted(constants, values, side="right") - place
    number = place - np.searchsorted(constants, high.astype(np.uint64))
    is_giant = (values >= 2**63) & (low != 0)
    return np.where(is_giant, 2 * number + 1 + is_constant, low).astype(np.int32)
