"""Random numbers by counter: each is a hash of what it is for and of the row it belongs to.

There is no generator state, so any slice of a workload can be made anywhere, in any order, and in
any number of batches, and its rows come out the same. The labels of a number (workload, seed,
field) are hashed once to a 64-bit key; the key is the start of a SplitMix64 sequence and the row
number is the position in it.

>>> bits(row_numbers(0, 4), "example", 1)[2:] == bits(row_numbers(2, 4), "example", 1)
array([ True,  True])
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.uint64]
Label = str | int

_MASK = (1 << 64) - 1
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def row_numbers(start: int, stop: int) -> Rows:
    """The row numbers of ``range(start, stop)``.

    >>> row_numbers(3, 6)
    array([3, 4, 5], dtype=uint64)
    """
    if not 0 <= start <= stop:
        raise ValueError(f"rows need 0 <= start <= stop, got start={start} and stop={stop}")
    return np.arange(start, stop, dtype=np.uint64)


def bits(rows: Rows, *labels: Label) -> NDArray[np.uint64]:
    """64 random bits a row.

    >>> bits(row_numbers(0, 2), "example")
    array([9274827035715321581, 7234022723131501352], dtype=uint64)
    """
    mixed = rows * _STEP
    mixed += np.uint64(_key(labels))
    shifted = mixed >> np.uint64(30)
    mixed ^= shifted
    mixed *= _FIRST
    np.right_shift(mixed, np.uint64(27), out=shifted)
    mixed ^= shifted
    mixed *= _SECOND
    np.right_shift(mixed, np.uint64(31), out=shifted)
    mixed ^= shifted
    return mixed


def uniform(rows: Rows, *labels: Label) -> NDArray[np.float64]:
    """A float in [0, 1) a row, a multiple of 2**-53.

    >>> bool((uniform(row_numbers(0, 1000), "example") < 1).all())
    True
    """
    drawn = bits(rows, *labels)
    drawn >>= np.uint64(11)
    return drawn.astype(np.float64) * 2.0**-53


def below(rows: Rows, limit: int, *labels: Label) -> NDArray[np.int64]:
    """An integer in ``range(limit)`` a row, all equally likely; ``limit`` is at most 2**53.

    >>> np.unique(below(row_numbers(0, 1000), 4, "example"))
    array([0, 1, 2, 3])
    """
    drawn = uniform(rows, *labels)
    drawn *= limit
    return drawn.astype(np.int64)


def cumulative(weights: ArrayLike) -> NDArray[np.float64]:
    """The distribution function of a finite choice, for :func:`choose`.

    >>> cumulative([2, 1, 1])
    array([0.5 , 0.75, 1.  ])
    """
    sums = np.cumsum(np.asarray(weights, dtype=np.float64))
    sums /= sums[-1]
    sums.flags.writeable = False
    return sums


@lru_cache(maxsize=64)
def zipf(size: int, skew: float) -> NDArray[np.float64]:
    """The distribution function of Zipf's law: rank r of ``size`` weighs ``(r + 1) ** -skew``.

    >>> zipf(2, 1.0).round(3)
    array([0.667, 1.   ])
    """
    return cumulative(_zipf_weights(size, skew))


def choose(rows: Rows, distribution: NDArray[np.float64], *labels: Label) -> NDArray[np.int64]:
    """An index into ``distribution`` a row, as likely as it says, by inverting it.

    >>> np.bincount(choose(row_numbers(0, 1000), cumulative([2, 1, 1]), "example"))
    array([507, 250, 243])
    """
    return np.searchsorted(distribution, uniform(rows, *labels), side="right").astype(np.int64)


def distinct(rows: Rows, size: int, count: int, *labels: Label) -> NDArray[np.uint16]:
    """``count`` different integers of ``range(size)`` a row, in random order, a column a row.

    >>> distinct(row_numbers(0, 3), 5, 5, "example").sum(axis=0)
    array([10, 10, 10], dtype=uint64)
    """
    if not 0 <= count <= size <= 1 << 16:
        raise ValueError(f"cannot choose {count} of {size}")
    # A shuffle of each row's own pool (Fisher-Yates), stopped after `count` steps.
    pool = np.tile(np.arange(size, dtype=np.uint16), rows.size)
    first = np.arange(rows.size, dtype=np.int64) * size
    chosen = np.empty((count, rows.size), dtype=np.uint16)
    for step in range(count):
        place = below(rows, size - step, *labels, step)
        place += first
        place += step
        chosen[step] = pool[place]
        pool[place] = pool[step::size]
    return chosen


def distinct_zipf(
    rows: Rows, size: int, count: int, skew: float, *labels: Label
) -> NDArray[np.bool_]:
    """Which ``count`` ranks of ``range(size)`` a row chose, one after the other by Zipf's law.

    The answer is a mask, a column a row.

    >>> distinct_zipf(row_numbers(0, 4), 50, 7, 1.0, "example").sum(axis=0)
    array([7, 7, 7, 7])
    """
    if not 0 < count <= size:
        raise ValueError(f"cannot choose {count} of {size}")
    # The first `count` arrivals of exponential clocks are a choice without replacement.
    arrivals = np.empty((size, rows.size))
    for rank, weight in enumerate(_zipf_weights(size, skew)):
        arrivals[rank] = np.log1p(-uniform(rows, *labels, rank)) / -weight
    order = np.argsort(arrivals, axis=0, kind="stable")
    mask = np.zeros((size, rows.size), dtype=np.bool_)
    np.put_along_axis(mask, order[:count], True, axis=0)
    return mask


def permuted(rows: Rows, size: int, *labels: Label) -> NDArray[np.int64]:
    """Where a random permutation of ``range(size)`` puts each row: no two in one place.

    >>> np.sort(permuted(row_numbers(0, 6), 6, "example"))
    array([0, 1, 2, 3, 4, 5])
    """
    if not 0 < size <= 1 << 62:
        raise ValueError(f"cannot permute {size} rows")
    if rows.size and int(rows.max()) >= size:
        raise ValueError(f"row {int(rows.max())} is outside of the {size} rows permuted")
    # A permutation of the next power of two, followed until it comes back below `size`.
    width = max(2, (size - 1).bit_length())
    limit = np.uint64(size)
    places = _scrambled(rows, width, labels)
    outside = np.flatnonzero(places >= limit)
    while outside.size:
        again = _scrambled(places[outside], width, labels)
        places[outside] = again
        outside = outside[again >= limit]
    return places.astype(np.int64)


def _scrambled(numbers: Rows, width: int, labels: tuple[Label, ...]) -> Rows:
    """A keyed bijection of the ``width``-bit numbers: each step of a round can be undone."""
    mask = np.uint64((1 << width) - 1)
    shift = np.uint64((width + 1) // 2)
    scrambled = numbers.copy()
    for turn in range(4):
        key = _key((*labels, turn))
        scrambled += np.uint64(key >> 32)
        scrambled *= np.uint64(key | 1)
        scrambled &= mask
        scrambled ^= scrambled >> shift
    return scrambled


def _zipf_weights(size: int, skew: float) -> Any:
    return np.arange(1, size + 1, dtype=np.float64) ** -skew


@lru_cache(maxsize=4096)
def _key(labels: tuple[Label, ...]) -> int:
    digest = hashlib.blake2b(repr(labels).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") & _MASK
