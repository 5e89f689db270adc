"""The ids of a segment's subscriptions, by ordinal and back, in a few flat arrays.

A dict of a million strings takes two hundred megabytes; here an id takes its own bytes and sixteen
more. Integers that ascend, as counters do, take eight bytes each and nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.errors import SubscriptionIdError
from boolfilter.kernels import gather_strings, hash_strings

Id = str | int

_NO_NUMBERS = np.empty(0, np.int64)
_NO_STARTS = np.empty(0, np.int64)
_NO_BYTES = np.empty(0, np.uint8)
_NO_FLAGS = np.empty(0, np.bool_)
_NO_HASHES = np.empty(0, np.uint32)
_NO_ORDER = np.empty(0, np.uint32)


def check_id(id: Any) -> Id:
    """The id itself, if it can be one: a string, or an integer of 64 bits."""
    if type(id) is str or (type(id) is int and -(2**63) <= id < 2**63):
        return id
    if isinstance(id, (int, np.integer)) and not isinstance(id, bool):
        return check_id(int(id)) if type(id) is not int else _refuse(id)
    return str.__str__(id) if isinstance(id, str) else _refuse(id)


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """Ids by ordinal. ``number`` is empty if all are texts, ``start`` if none is; ``is_text``
    has a flag each only where both kinds occur. ``hash`` is sorted, with ordinals beside it in
    ``order``; both are empty for ascending integers, which are searched directly."""

    count: int
    number: NDArray[np.int64]
    start: NDArray[np.int64]
    blob: NDArray[np.uint8]
    is_text: NDArray[np.bool_]
    hash: NDArray[np.uint32]
    order: NDArray[np.uint32]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, ordinal: int) -> Id:
        if len(self.start) and (not len(self.is_text) or self.is_text[ordinal]):
            data = self.blob[self.start[ordinal] : self.start[ordinal + 1]]
            return data.tobytes().decode("utf-8", "surrogatepass")
        return int(self.number[ordinal])

    def take(self, ordinals: NDArray[Any]) -> list[Id]:
        """The ids of these ordinals."""
        if not len(self.start):
            return self.number[ordinals].tolist()  # type: ignore[no-any-return]
        return [self[ordinal] for ordinal in ordinals.tolist()]

    def find(self, id: Id) -> int:
        """The ordinal of an id, or -1. A binary search."""
        if not len(self.hash):
            if not isinstance(id, int):
                return -1
            place = int(np.searchsorted(self.number, id))
            return place if place < self.count and self.number[place] == id else -1
        wanted = _hash_one(id)
        place = int(np.searchsorted(self.hash, wanted))
        while place < self.count and self.hash[place] == wanted:
            ordinal = int(self.order[place])
            known = self[ordinal]
            if type(known) is type(id) and known == id:
                return ordinal
            place += 1
        return -1

    def arrow(self, ordinals: NDArray[Any]) -> Any:
        """The ids of these ordinals as an Arrow array: of int64, or of strings if any is one."""
        import pyarrow as pa

        if not len(self.start):
            return pa.array(self.number[ordinals])
        if len(self.is_text):
            return pa.array([str(id) for id in self.take(ordinals)], pa.large_string())
        buffers = [None, pa.py_buffer(self.start), pa.py_buffer(self.blob)]
        texts = pa.Array.from_buffers(pa.large_string(), self.count, buffers)
        return texts.take(pa.array(ordinals))

    def bytes_used(self) -> int:
        return sum(getattr(self, name).nbytes for name in ARRAYS)


ARRAYS = ("number", "start", "blob", "is_text", "hash", "order")


def ids_of(ids: Sequence[Any] | NDArray[Any]) -> Ids:
    """The table of these ids; SubscriptionIdError names the first that is bad or comes twice.

    >>> table = ids_of(["alice", 7, "bob"])
    >>> table.find("bob"), table.find(7), table.find("7"), table[1]
    (2, 1, -1, 7)
    """
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        if ids.dtype == np.uint64 and len(ids) and ids.max() >= 2**63:
            _refuse(int(ids.max()))
        return _finished(ids.astype(np.int64), _NO_STARTS, _NO_BYTES, _NO_FLAGS)
    checked = [check_id(id) for id in ids]
    is_text = np.array([type(id) is str for id in checked], np.bool_)
    if not is_text.any():
        return _finished(np.array(checked, np.int64), _NO_STARTS, _NO_BYTES, _NO_FLAGS)
    data = [id.encode("utf-8", "surrogatepass") if isinstance(id, str) else b"" for id in checked]
    start = np.zeros(len(data) + 1, np.int64)
    np.cumsum([len(text) for text in data], out=start[1:])
    blob = np.frombuffer(bytearray(b"".join(data)), np.uint8)
    if is_text.all():
        return _finished(_NO_NUMBERS, start, blob, _NO_FLAGS)
    number = np.array([0 if isinstance(id, str) else id for id in checked], np.int64)
    return _finished(number, start, blob, is_text)


def joined_ids(parts: Iterable[tuple[Ids, NDArray[np.int64]]]) -> Ids:
    """The ids of the chosen ordinals of several tables, one after the other."""
    chosen = [part for part in parts if len(part[1])]
    if all(not len(ids.start) for ids, _ in chosen):
        numbers = [ids.number[ordinals] for ids, ordinals in chosen]
        return ids_of(np.concatenate([_NO_NUMBERS, *numbers]))
    if all(len(ids.start) and not len(ids.is_text) for ids, _ in chosen):
        return _joined_texts(chosen)
    return ids_of([id for ids, ordinals in chosen for id in ids.take(ordinals)])


def _joined_texts(chosen: Sequence[tuple[Ids, NDArray[np.int64]]]) -> Ids:
    lengths = [np.diff(ids.start)[ordinals] for ids, ordinals in chosen]
    blobs = [np.empty(part.sum(), np.uint8) for part in lengths]
    for (ids, ordinals), blob in zip(chosen, blobs, strict=True):
        gather_strings(ids.blob, ids.start, ordinals, blob)
    start = np.concatenate(([0], *lengths)).cumsum()
    return _finished(_NO_NUMBERS, start, np.concatenate(blobs), _NO_FLAGS)


def _finished(
    number: NDArray[np.int64],
    start: NDArray[np.int64],
    blob: NDArray[np.uint8],
    is_text: NDArray[np.bool_],
) -> Ids:
    count = len(number) if not len(start) else len(start) - 1
    if not len(start) and bool((number[1:] > number[:-1]).all()):
        return Ids(count, number, start, blob, is_text, _NO_HASHES, _NO_ORDER)
    hashes = _hash_numbers(number) if len(number) else np.empty(count, np.uint32)
    if len(start):
        text_hashes = np.empty(count, np.uint32)
        hash_strings(blob, start, text_hashes)
        hashes = np.where(is_text, text_hashes, hashes) if len(is_text) else text_hashes
    order = np.argsort(hashes, kind="stable").astype(np.uint32)
    table = Ids(count, number, start, blob, is_text, hashes[order], order)
    _check_distinct(table)
    return table


def _check_distinct(table: Ids) -> None:
    alike = np.flatnonzero(table.hash[1:] == table.hash[:-1])
    for place in alike.tolist():
        # Runs of equal hashes are nearly always equal ids: compare within the run.
        one = table[int(table.order[place])]
        after = place + 1
        while after < table.count and table.hash[after] == table.hash[place]:
            other = table[int(table.order[after])]
            if type(one) is type(other) and one == other:
                raise SubscriptionIdError(one, f"the id {one!r} comes twice")
            after += 1


def _hash_numbers(number: NDArray[np.int64]) -> NDArray[np.uint32]:
    mixed = number.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(32)).astype(np.uint32)


def _hash_one(id: Id) -> np.uint32:
    if isinstance(id, int):
        return _hash_numbers(np.array([id], np.int64))[0]  # type: ignore[no-any-return]
    data = np.frombuffer(bytearray(id.encode("utf-8", "surrogatepass")), np.uint8)
    result = np.empty(1, np.uint32)
    hash_strings(data, np.array([0, len(data)], np.int64), result)
    return result[0]  # type: ignore[no-any-return]


def _refuse(id: Any) -> Any:
    raise SubscriptionIdError(id, f"an id is a string or an integer of 64 bits, not {id!r}")
