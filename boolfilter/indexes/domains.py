"""The sorted constants of every domain: equality and order predicates, told by one search.

Numbers are exact whatever their size: each is split into the largest float that is not above it
and the rest, and the pairs compare as the numbers do. The rest is 0 for all floats and for
integers up to 2**53. Integers beyond 64 bits, whose rest may be astronomic, are *giants*: their
rests only number the giants above one float.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.forest import DomainKey, DomainKind
from boolfilter.kernels import rank_numbers, rank_strings

TEXT_KINDS = frozenset({DomainKind.STRING, DomainKind.FOLDED})
_CONSTANTS_A_BUCKET = 4


@dataclass(frozen=True, slots=True, eq=False)
class Domains:
    """Constants by domain, in flat arrays; a domain has numbers or strings, and is empty in the
    other table. ``giants`` are the constants beyond 64 bits that are no floats, by domain."""

    keys: list[DomainKey]
    number_start: NDArray[np.int64]
    high: NDArray[np.float64]
    low: NDArray[np.int32]
    bucket_start: NDArray[np.int64]
    bucket: NDArray[np.uint32]
    base: NDArray[np.float64]
    scale: NDArray[np.float64]
    text_start: NDArray[np.int64]
    string_start: NDArray[np.int64]
    blob: NDArray[np.uint8]
    giants: dict[int, list[int]]

    def sizes(self) -> NDArray[np.int64]:
        """The number of constants of each domain."""
        return np.diff(self.number_start) + np.diff(self.text_start)

    def constant(self, domain: int, rank: int) -> Any:
        """The exact number, or the string, of this rank."""
        if self.keys[domain][1] in TEXT_KINDS:
            place = self.text_start[domain] + rank
            data = self.blob[self.string_start[place] : self.string_start[place + 1]]
            return data.tobytes().decode("utf-8", "surrogatepass")
        place = self.number_start[domain] + rank
        rest = int(self.low[place]) if len(self.low) else 0
        high = float(self.high[place])
        giants = self.giants.get(domain)
        if giants and rest and abs(high) >= 2.0**63:
            same = [giant for giant in giants if split_giant(giant) == high]
            return same[rest // 2 - 1]
        return int(high) + rest if high.is_integer() else high

    def constants(self, domain: int, ranks: NDArray[np.int64]) -> Any:
        """The constants of these ranks: an array if they are plain floats, else a list."""
        if self.keys[domain][1] in TEXT_KINDS or len(self.low):
            return [self.constant(domain, rank) for rank in ranks.tolist()]
        return self.high[self.number_start[domain] + ranks]

    def rank_numbers(
        self, item_domain: NDArray[np.int32], high: NDArray[np.float64], low: NDArray[np.int32]
    ) -> NDArray[np.uint32]:
        """The positions of split numbers in their domains; a domain of -1 has none."""
        q = np.empty(len(item_domain), np.uint32)
        rank_numbers(
            item_domain, high, low, self.high, self.low, self.number_start,
            self.bucket_start, self.bucket, self.base, self.scale, q,
        )  # fmt: skip
        return q

    def rank_strings(
        self, item_domain: NDArray[np.int32], data: NDArray[np.uint8], start: NDArray[np.int64]
    ) -> NDArray[np.uint32]:
        """The positions of UTF-8 strings in their domains."""
        q = np.empty(len(item_domain), np.uint32)
        rank_strings(item_domain, data, start, self.blob, self.string_start, self.text_start, q)
        return q

    def split(self, domain: int, number: Any) -> tuple[float, int]:
        """A number of an event as the pair to be searched in this domain."""
        if isinstance(number, float):
            return number, 0
        if -(2**53) <= number <= 2**53:
            return float(number), 0
        if -(2**63) <= number < 2**63:
            high, low = split_integers(np.array([number], np.int64))
            return float(high[0]), int(low[0])
        return self._split_giant(domain, number)

    def _split_giant(self, domain: int, number: int) -> tuple[float, int]:
        high = split_giant(number)
        if math.isfinite(high) and int(high) == number:
            return high, 0
        same = [giant for giant in self.giants.get(domain, ()) if split_giant(giant) == high]
        place = bisect_left(same, number)
        known = place < len(same) and same[place] == number
        return high, 2 * place + (2 if known else 1)


def build_domains(
    keys: list[DomainKey], constants: Sequence[Any]
) -> tuple[Domains, list[NDArray[np.int64]]]:
    """The table of these constants, and for each domain the rank of each constant given."""
    ranks: list[NDArray[np.int64]] = []
    numbers: list[tuple[NDArray[np.float64], NDArray[np.int32]]] = []
    texts: list[list[bytes]] = []
    giants: dict[int, list[int]] = {}
    for domain, ((_, kind), values) in enumerate(zip(keys, constants, strict=True)):
        if kind in TEXT_KINDS:
            distinct, rank = _sorted_texts(values)
            texts.append(distinct)
            numbers.append((_NO_FLOATS, _NO_RESTS))
        else:
            high, low, found = split_numbers(values)
            high, low, rank = _sorted_numbers(high, low)
            numbers.append((high, low))
            texts.append([])
            if found:
                giants[domain] = found
        ranks.append(rank)
    return _table(keys, numbers, texts, giants), ranks


_NO_FLOATS = np.empty(0, np.float64)
_NO_RESTS = np.empty(0, np.int32)


def split_numbers(
    values: Any,
) -> tuple[NDArray[np.float64], NDArray[np.int32], list[int]]:
    """Numbers as (largest float not above, rest), and the giants among them in order."""
    if not isinstance(values, np.ndarray):
        types = set(map(type, values))
        try:
            if types <= {int}:
                values = np.array(values, np.int64)
            elif types <= {float}:
                values = np.array(values, np.float64)
        except OverflowError:
            pass
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iub":
            return *split_integers(values), []
        return values.astype(np.float64), np.zeros(len(values), np.int32), []
    return _split_mixed(values)


def split_integers(
    values: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """64-bit integers as (largest float not above, rest)."""
    high = values.astype(np.float64)
    low = np.zeros(len(values), np.int32)
    if len(values) == 0 or np.abs(high).max() < 2.0**53:
        return high, low
    for place in np.flatnonzero(np.abs(high) >= 2.0**53):
        number = int(values[place])
        below = split_giant(number)
        high[place] = below
        low[place] = number - int(below)
    return high, low


def split_giant(number: int) -> float:
    """The largest float that is not above an integer of any size."""
    try:
        near = float(number)
    except OverflowError:
        return -math.inf if number < 0 else math.nextafter(math.inf, 0.0)
    return near if int(near) <= number else math.nextafter(near, -math.inf)


def _split_mixed(
    values: Iterable[Any],
) -> tuple[NDArray[np.float64], NDArray[np.int32], list[int]]:
    numbers = list(values)
    giants = sorted({number for number in numbers if _is_giant(number) and not _is_float(number)})
    rests: dict[int, int] = {}
    above: dict[float, int] = {}
    for giant in giants:
        float_below = split_giant(giant)
        above[float_below] = above.get(float_below, 0) + 2
        rests[giant] = above[float_below]
    high = np.empty(len(numbers), np.float64)
    low = np.zeros(len(numbers), np.int32)
    for place, number in enumerate(numbers):
        if isinstance(number, float):
            high[place] = number
        else:
            high[place] = split_giant(number)
            low[place] = rests[number] if number in rests else number - int(high[place])
    return high, low, giants


def _is_giant(number: Any) -> bool:
    return isinstance(number, int) and not -(2**63) <= number < 2**63


def _is_float(number: int) -> bool:
    below = split_giant(number)
    return math.isfinite(below) and int(below) == number


def _sorted_numbers(
    high: NDArray[np.float64], low: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    high = high + 0.0  # there is one zero
    order = np.lexsort((low, high)) if low.any() else np.argsort(high)
    high, low = high[order], low[order]
    fresh = np.ones(len(high), bool)
    fresh[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    rank = np.empty(len(high), np.int64)
    rank[order] = np.cumsum(fresh) - 1
    return high[fresh], low[fresh], rank


def _sorted_texts(values: Iterable[str]) -> tuple[list[bytes], NDArray[np.int64]]:
    encoded = [value.encode("utf-8", "surrogatepass") for value in values]
    distinct = sorted(set(encoded))
    places = {data: place for place, data in enumerate(distinct)}
    return distinct, np.array([places[data] for data in encoded], np.int64)


def _table(
    keys: list[DomainKey],
    numbers: list[tuple[NDArray[np.float64], NDArray[np.int32]]],
    texts: list[list[bytes]],
    giants: dict[int, list[int]],
) -> Domains:
    buckets, base, scale = [], np.zeros(len(keys)), np.zeros(len(keys))
    for domain, (high, _) in enumerate(numbers):
        bucket, base[domain], scale[domain] = _buckets(high)
        buckets.append(bucket)
    low = np.concatenate([part for _, part in numbers] or [_NO_RESTS])
    strings = [data for part in texts for data in part]
    return Domains(
        keys=keys,
        number_start=_starts([len(high) for high, _ in numbers]),
        high=np.concatenate([part for part, _ in numbers] or [_NO_FLOATS]),
        low=low if low.any() else _NO_RESTS,
        bucket_start=_starts([len(bucket) for bucket in buckets]),
        bucket=np.concatenate(buckets or [np.empty(0, np.uint32)]),
        base=base,
        scale=scale,
        text_start=_starts([len(part) for part in texts]),
        string_start=_starts([len(data) for data in strings]),
        blob=np.frombuffer(b"".join(strings), np.uint8).copy(),
        giants=giants,
    )


def _buckets(high: NDArray[np.float64]) -> tuple[NDArray[np.uint32], float, float]:
    """Where to start searching: bucket b holds the constants c with int((c - base) * scale) = b.

    The kernel computes the bucket of a value by the same two operations, which are monotone, so
    a value's place is always inside its bucket.
    """
    finite = high[np.isfinite(high)]
    count = max(1, len(high) // _CONSTANTS_A_BUCKET)
    base = float(finite[0]) if len(finite) else 0.0
    width = float(finite[-1]) - base if len(finite) else 0.0
    scale = count / width if 0.0 < width < math.inf else 0.0
    if not 0.0 < scale < math.inf:
        return np.array([0, len(high)], np.uint32), base, 0.0
    place = np.clip((high - base) * scale, 0, count - 1).astype(np.int64)
    return np.searchsorted(place, np.arange(count + 1)).astype(np.uint32), base, scale


def _starts(lengths: Iterable[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.fromiter(lengths, np.int64)))).astype(np.int64)
