"""Arrow batches in the terms of a segment, with no Python work per row.

What :func:`boolfilter.events.flatten` says of dicts holds of rows here: structs become dotted
paths, lists make an attribute multi-valued, nulls and NaN are absent. A batch is taken apart once,
into *leaves* (scalar columns with a path), and each segment ranks the leaves it asks about, one
after the other, so that the constants of one domain stay in the cache while they are searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from boolfilter.errors import EventError
from boolfilter.forest import DomainKind
from boolfilter.indexes.domains import Domains
from boolfilter.indexes.searches import Searches
from boolfilter.items import Encoder, Items, Plan
from boolfilter.kernels.columns import Loose, Plain, by_row, correct_floats, giant_rests
from boolfilter.kernels.jit import NO_POSITION

ROWS = 8192  # a batch: fewer cost more calls a row, more are no faster
_LIST_TESTS = [getattr(pa.types, f"is_{name}") for name in (
    "list", "large_list", "fixed_size_list", "list_view", "large_list_view"
)]  # fmt: skip
_LIST = -1  # a step down into the values of a list; other steps are fields of a struct

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Positions = NDArray[np.uint32]


def batches(table: pa.Table | pa.RecordBatch, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
    """The rows of a table or batch in order, in batches of `rows`, whatever its chunks are.

    >>> [batch.num_rows for batch in batches(pa.table({"price": [1, 2, 3, 4, 5]}), rows=2)]
    [2, 2, 1]
    """
    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        raise EventError(f"events in Arrow are a pyarrow Table or RecordBatch, not {type(table)}")
    for first in range(0, table.num_rows, rows):
        part = table.slice(first, min(rows, table.num_rows - first))  # even without columns
        one = isinstance(part, pa.RecordBatch)
        yield from [part] if one else part.combine_chunks().to_batches()


def columns_of(batch: pa.RecordBatch) -> Columns:
    """A batch taken apart into leaves; costs a microsecond a column, whatever its rows.

    >>> user = pa.array([{"country": "NZ", "tags": ["x", "y"]}])
    >>> columns = columns_of(pa.RecordBatch.from_pydict({"price": [5], "user": user}))
    >>> sorted(columns.leaves)
    ['price', 'user.country', 'user.tags']
    """
    columns = Columns(batch.num_rows, {}, [])
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        todo: list[tuple[str, pa.DataType, tuple[int, ...]]] = [(name, column.type, ())]
        while todo:
            path, found, steps = todo.pop()
            kind = _kind_of(found)
            if kind is not None:
                columns.leaves.setdefault(path, []).append(Leaf(column, steps, kind))
            elif pa.types.is_struct(found):
                fields = enumerate(found.field(place) for place in range(found.num_fields))
                todo.extend((f"{path}.{f.name}", f.type, (*steps, place)) for place, f in fields)
            elif any(is_list(found) for is_list in _LIST_TESTS):
                todo.append((path, found.value_type, (*steps, _LIST)))
            elif not pa.types.is_null(found):
                columns.refused.append((path, found))
    return columns


def encode_batch(encoder: Encoder, columns: Columns) -> Items:
    """The items of a batch for one segment: what ``encoder.encode`` makes of its rows as dicts.

    Columns that no subscription of the segment asks about cost nothing, and may be of any type.

    >>> import boolfilter as bf
    >>> from boolfilter.compiling import compile_segment
    >>> from boolfilter.forest import forest_of
    >>> segment = compile_segment(forest_of([bf.parse("price < 10"), bf.parse("brand = 'Acme'")]))
    >>> batch = pa.RecordBatch.from_pydict({"price": [5, 20, None], "brand": ["Acme", "Acme", "x"]})
    >>> event, ordinal = segment.match(encode_batch(segment.encoder, columns_of(batch)))
    >>> event.tolist(), ordinal.tolist()
    ([0, 0, 1], [0, 1, 1])
    """
    _refuse_unusable(encoder, columns)
    gathered = _Gathered(encoder.domains, columns.rows)
    for path, leaves in columns.leaves.items():
        plan = encoder.plans.get(path)
        if plan is not None:
            gathered.add(plan, leaves)
    return gathered.finish()


@dataclass(frozen=True, slots=True)
class Columns:
    """A batch by attribute path, for all segments. A path has several leaves where columns share
    it. Values are made ready when a segment first asks for them, so one thread should own this."""

    rows: int
    leaves: dict[str, list[Leaf]]
    refused: list[tuple[str, pa.DataType]]


@dataclass(frozen=True)
class Leaf:
    """A scalar column somewhere in a batch: the steps down from a column, and what is there."""

    column: pa.Array
    steps: tuple[int, ...]
    kind: DomainKind

    @cached_property
    def read(self) -> tuple[_Numbers | _Texts, Rows]:
        """The values, and the row of each."""
        array, rows = self.column, np.arange(len(self.column))
        for step in self.steps:
            if step == _LIST:
                lengths = pc.fill_null(pc.list_value_length(array), 0)
                array, rows = pc.list_flatten(array), np.repeat(rows, lengths.to_numpy())
            else:
                array = pc.struct_field(array, [step])  # null where the struct is
        is_text = self.kind is DomainKind.STRING
        return _texts(array) if is_text else _numbers(self.kind, array), rows

    @property
    def in_list(self) -> bool:
        return _LIST in self.steps

    @property
    def texts(self) -> tuple[NDArray[np.int64], list[str], Rows]:
        """Of a column of strings: codes into distinct ones, these, and the row of each code."""
        values, row = self.read
        assert isinstance(values, _Texts)
        return values.codes, values.strings, row

    @staticmethod
    def listed(values: pa.Array, row: Rows, rows: int, kind: DomainKind) -> Leaf:
        """Values that stand in these rows, which ascend, as a column of lists."""
        offsets = np.searchsorted(row, np.arange(rows + 1)).astype(np.int32)
        return Leaf(pa.ListArray.from_arrays(offsets, values), (_LIST,), kind)

    def count(self, rows: int) -> Rows:
        """The number of values in each row."""
        values, row = self.read
        return np.bincount(row if values.valid is None else row[values.valid], minlength=rows)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Booleans, numbers or timestamps: the largest floats not above them, and the exact rests
    (None: all 0). ``giants`` are the values themselves if some are past 2**63; ``between`` marks
    timestamps that lie between the microsecond given and the next. ``valid`` None: all are."""

    kinds: tuple[DomainKind, ...]
    valid: Mask | None
    high: NDArray[np.float64]
    low: NDArray[np.int32] | None
    giants: NDArray[Any] | None
    between: Mask | None

    def positions(self, domains: Domains, domain: int) -> Positions:
        asked = np.full(len(self.high), domain, np.int32)
        if self.valid is not None:
            asked[~self.valid] = -1
        low = np.zeros(len(self.high), np.int32) if self.low is None else self.low
        if self.giants is not None:
            low = giant_rests(self.giants, self.high, low, domains.giants.get(domain, []))
        found = domains.rank_numbers(asked, self.high, low)
        if self.between is not None:
            found[self.between & (asked >= 0) & (found & 1 == 1)] += 1
        return found


@dataclass(frozen=True)
class _Texts:
    """Strings, as codes into distinct ones; the code of what is absent is one past the last."""

    codes: NDArray[np.int64]
    distinct: pa.Array  # of large_string, without nulls

    kinds = (DomainKind.STRING, DomainKind.FOLDED)

    @property
    def valid(self) -> Mask:
        return self.codes < len(self.distinct)

    @cached_property
    def strings(self) -> list[str]:
        return self.distinct.to_pylist()  # type: ignore[no-any-return]

    def positions(self, domains: Domains, domain: int) -> Positions:
        folded = domains.keys[domain][1] is DomainKind.FOLDED
        asked = np.full(len(self.distinct), domain, np.int32)
        found = domains.rank_strings(asked, *(self._folded if folded else self._exact))
        return np.append(found, np.uint32(NO_POSITION))[self.codes]

    def hits(self, searches: Searches, chosen: Mask, several: bool) -> tuple[Rows, Positions]:
        """The searches that chosen values satisfy: places of the values, numbers of searches."""
        found = [searches.satisfied(value, several) for value in self.strings]
        counts = np.fromiter(map(len, [*found, ()]), np.int64, len(found) + 1)
        numbers = np.fromiter(chain.from_iterable(found), np.uint32, counts.sum())
        places = np.flatnonzero(chosen)
        codes = self.codes[places]
        spans = counts[codes]
        shift = (np.cumsum(counts) - counts)[codes] - (np.cumsum(spans) - spans)
        return np.repeat(places, spans), numbers[np.repeat(shift, spans) + np.arange(spans.sum())]

    @cached_property
    def _exact(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        start = _data(self.distinct, np.int64, more=1)
        text = self.distinct.buffers()[2] or b""
        used = np.frombuffer(text, np.uint8, int(start[-1] - start[0]), int(start[0]))
        return used.copy(), start - start[0]  # kernels take no read-only arrays

    @cached_property
    def _folded(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        text, start = self._exact
        if not len(text) or text.max() < 128:
            return np.where((text >= 65) & (text <= 90), text + np.uint8(32), text), start
        # Only Python lower-cases as the language says; Arrow maps each character by itself.
        lower = [value.lower().encode() for value in self.strings]
        start = np.cumsum([0, *map(len, lower)])
        return np.frombuffer(bytearray(b"".join(lower)), np.uint8), start


class _Gathered:
    """Items as they are found. A domain is plain if each row has one item of it, or NO_POSITION;
    the items of multi-valued attributes are loose."""

    def __init__(self, domains: Domains, rows: int) -> None:
        self.domains = domains
        self.rows = rows
        self.plain: list[Plain] = []
        self.loose: list[Loose] = []
        self.hits: list[Loose] = []

    def add(self, plan: Plan, leaves: list[Leaf]) -> None:
        is_plain = len(leaves) == 1 and _LIST not in leaves[0].steps
        for kind, domain in enumerate(plan.domain_of):
            for leaf in leaves:  # kind by kind, so that the items of a domain are together
                values, rows = leaf.read
                if domain >= 0 and kind in values.kinds:
                    found = values.positions(self.domains, domain)
                    if is_plain:
                        self.plain.append((domain, found))
                    else:
                        known = found != NO_POSITION
                        self.loose.append((domain, rows[known], found[known]))
        presence = plan.domain_of[DomainKind.PRESENCE]
        if presence >= 0:
            count = np.sum([leaf.count(self.rows) for leaf in leaves], axis=0)
            self.plain.append((presence, np.where(count, 1, NO_POSITION).astype(np.uint32)))
        if plan.searches is not None:
            self._add_hits(plan.searches, leaves)

    def finish(self) -> Items:
        start, domain, position = by_row(self.rows, self.plain, self.loose)
        hit_start, _, hits = by_row(self.rows, [], self.hits)
        return Items(start, domain, position, hit_start, hits)

    def _add_hits(self, searches: Searches, leaves: list[Leaf]) -> None:
        counts = [leaf.count(self.rows) * (1 + (_LIST in leaf.steps)) for leaf in leaves]
        in_several = np.sum(counts, axis=0) > 1  # one value in a list is several, too
        for leaf in leaves:
            values, rows = leaf.read
            if isinstance(values, _Texts):
                for several in (False, True):
                    chosen = in_several[rows] == several
                    if chosen.any():
                        places, numbers = values.hits(searches, chosen, several)
                        self.hits.append((0, rows[places], numbers))


def _refuse_unusable(encoder: Encoder, columns: Columns) -> None:
    for path, kind in columns.refused:
        # Subscriptions may well ask about what is inside a map: not to be passed over in silence.
        nested = pa.types.is_nested(kind) or pa.types.is_dictionary(kind)
        names = list(encoder.plans) if nested else []
        if path in encoder.plans or any(name.startswith(path + ".") for name in names):
            raise EventError(
                f"column {path!r} has the Arrow type {kind}, which has no values here: use numbers,"
                " strings, booleans, timestamps, dates, and lists and structs of them"
            )


def _kind_of(kind: pa.DataType) -> DomainKind | None:
    """The kind of the values of a scalar column; None for other columns and other values."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind):
        return DomainKind.NUMBER
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return DomainKind.STRING
    if types.is_timestamp(kind) or types.is_date(kind):
        return DomainKind.TIMESTAMP
    return DomainKind.BOOLEAN if types.is_boolean(kind) else None


def _texts(array: pa.Array) -> _Texts:
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    elif array.dictionary.null_count:
        array = array.dictionary_decode().dictionary_encode()
    indices, distinct = array.indices, array.dictionary
    if len(distinct) > len(indices):  # made for many batches: keep what occurs in this one
        occurring = indices.dictionary_encode()
        indices, distinct = occurring.indices, distinct.take(occurring.dictionary)
    codes = pc.fill_null(indices.cast(pa.int64()), len(distinct)).to_numpy()
    return _Texts(codes, distinct.cast(pa.large_string()))


def _numbers(kind: DomainKind, array: pa.Array) -> _Numbers:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    values: NDArray[Any]
    between = None
    if kind is DomainKind.TIMESTAMP:
        values, between = _micros(array)
    elif kind is DomainKind.BOOLEAN:
        values = _data(array.cast(pa.uint8()), np.uint8)
    else:
        values = _data(array, array.type.to_pandas_dtype())
    high = values.astype(np.float64)
    missing = np.isnan(high)
    if missing.any():
        valid = ~missing if valid is None else valid & ~missing
    low = correct_floats(values, high)
    giants = values if low is not None and values.dtype == np.uint64 else None
    return _Numbers((kind,), valid, high, low, giants, between)


def _micros(array: pa.Array) -> tuple[NDArray[np.int64], Mask | None]:
    """Timestamps and dates in whole microseconds, and which of them are a little later."""
    values = _data(array, np.dtype(f"i{array.type.bit_width // 8}")).astype(np.int64)
    if pa.types.is_date(array.type):
        scale = 86_400_000_000
        if pa.types.is_date64(array.type):
            values //= 86_400_000
    elif array.type.unit == "ns":
        values, rest = np.divmod(values, 1000)
        return values, rest != 0
    else:
        scale = {"s": 1_000_000, "ms": 1_000, "us": 1}[array.type.unit]
    limit = (2**63 - 1) // scale  # far outside the years 1 to 9999, where no constant is
    return np.clip(values, -limit, limit) * scale, None


def _data(array: pa.Array, dtype: Any, more: int = 0) -> NDArray[Any]:
    """The data of an array as they are, nulls with whatever stands there."""
    if len(array) == 0:  # may have no buffer
        return np.zeros(more, dtype)
    offset = array.offset * np.dtype(dtype).itemsize
    return np.frombuffer(array.buffers()[1], dtype, len(array) + more, offset)
