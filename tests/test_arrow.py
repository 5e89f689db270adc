from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.arrow import batches, columns_of, encode_batch
from boolfilter.compiling import compile_segment
from boolfilter.errors import EventError
from boolfilter.events import flatten
from boolfilter.forest import forest_of
from boolfilter.kernels.jit import NO_POSITION
from tests.strategies import ATTRIBUTES, MOMENTS, NUMBERS, STRINGS, nulls
from tests.strategies import expressions as common_expressions

BIG = [2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2**11, -(2**63), -(2**53) - 1]
LATE = datetime(2300, 1, 1, 0, 0, 0, 1, tzinfo=UTC)  # past 2**53 microseconds
MORE_MOMENTS = [*MOMENTS, LATE, LATE - timedelta(microseconds=1), datetime(1, 1, 1, tzinfo=UTC)]
ENCODABLE = [text for text in STRINGS if text.isprintable()] + ["İ", "ΑΣ", "ας"]


def compiled(*texts):
    return compile_segment(forest_of(bf.normalise(bf.parse(text)) for text in texts))


def matched(segment, batch):
    items = encode_batch(segment.encoder, columns_of(batch))
    check_items(items, batch.num_rows)
    event, ordinal = segment.match(items)
    return list(zip(event.tolist(), ordinal.tolist(), strict=True))


def matched_rows(segment, column, name="a"):
    """The rows of a column that the first subscription of a segment matches."""
    return [row for row, _ in matched(segment, pa.RecordBatch.from_arrays([column], [name]))]


def check_items(items, rows):
    for array, dtype in zip(
        (items.start, items.domain, items.position, items.hit_start, items.hits),
        (np.int64, np.int32, np.uint32, np.int64, np.uint32),
        strict=True,
    ):
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert len(items.start) == len(items.hit_start) == rows + 1
    assert items.start[-1] == len(items.domain) == len(items.position)
    assert items.hit_start[-1] == len(items.hits)
    for first, last in zip(items.start[:-1], items.start[1:], strict=True):
        domains = items.domain[first:last].tolist()
        runs = [d for place, d in enumerate(domains) if place == 0 or domains[place - 1] != d]
        assert len(runs) == len(set(runs)), "items of one domain are together"
        for domain in runs:
            found = items.position[first:last][items.domain[first:last] == domain]
            assert len(found) == 1 or NO_POSITION not in found


def integers(kind):
    width, lowest = kind.bit_width, 0
    if pa.types.is_signed_integer(kind):
        width, lowest = width - 1, -(2 ** (width - 1))
    fitting = [n for n in [*NUMBERS, *BIG] if isinstance(n, int) and lowest <= n < 2**width]
    return st.sampled_from(fitting)


FLOATS = [float(number) for number in NUMBERS] + [float("nan"), 2.0**63, -(2.0**63)]
SCALARS = [
    *(
        (kind(), integers(kind()))
        for kind in (pa.int8, pa.int16, pa.int32, pa.int64, pa.uint8, pa.uint16, pa.uint32)
    ),
    (pa.uint64(), integers(pa.uint64())),
    (pa.uint64(), integers(pa.uint64())),
    (pa.float16(), st.sampled_from([-1.0, 0.0, 1.0, 1.5, float("inf"), float("nan")])),
    (pa.float32(), st.sampled_from([f for f in FLOATS if not 1e20 < f < 1e38])),
    (pa.float64(), st.sampled_from(FLOATS)),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
    *(
        (kind, st.sampled_from(ENCODABLE))
        for kind in (
            pa.string(),
            pa.large_string(),
            pa.string_view(),
            pa.dictionary(pa.int8(), pa.string()),
            pa.dictionary(pa.uint32(), pa.large_string()),
        )
    ),
    (pa.dictionary(pa.int32(), pa.int64()), integers(pa.int64())),
    *((pa.timestamp(unit), st.sampled_from(MOMENTS[:1])) for unit in ("s", "ms")),
    (pa.timestamp("us"), st.sampled_from(MORE_MOMENTS)),
    (pa.timestamp("us", "UTC"), st.sampled_from(MORE_MOMENTS)),
    (pa.timestamp("us", "Asia/Tokyo"), st.sampled_from(MOMENTS)),
    (pa.timestamp("ns"), st.sampled_from(MOMENTS)),
    (pa.date32(), st.sampled_from([date(2024, 1, 1), date(1900, 5, 5), date(9999, 12, 31)])),
    (pa.date64(), st.sampled_from([date(2024, 1, 1), date(1900, 5, 5)])),
]


def optional(values):
    return st.one_of(values, values, st.none())


def listed(inner):
    kind, values = inner
    several = optional(st.lists(optional(values), max_size=3))
    pair = optional(st.lists(optional(values), min_size=2, max_size=2))
    made = [(wrap(kind), several) for wrap in (pa.list_, pa.large_list, pa.list_view)]
    return st.sampled_from([*made, (pa.list_(kind, 2), pair)])


def in_struct(fields):
    kind = pa.struct([(name, kind) for name, (kind, _) in fields.items()])
    values = {name: optional(values) for name, (_, values) in fields.items()}
    return kind, optional(st.fixed_dictionaries(values))


NAMES = st.sampled_from(["a", "b", "country"])
columns = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(
        inner.flatmap(listed), st.dictionaries(NAMES, inner, max_size=2).map(in_struct)
    ),
    max_leaves=4,
)


@st.composite
def record_batches(draw):
    names = draw(st.lists(st.sampled_from([*ATTRIBUTES, "user"]), unique=True, max_size=5))
    before, rows = draw(st.integers(0, 2)), draw(st.integers(0, 5))
    arrays = []
    for _ in names:
        kind, values = draw(columns)
        size = before + rows
        arrays.append(
            pa.array(draw(st.lists(optional(values), min_size=size, max_size=size)), kind)
        )
    return pa.RecordBatch.from_arrays(arrays, names).slice(before)


constants = st.one_of(
    st.sampled_from([*NUMBERS, *BIG]), st.sampled_from(ENCODABLE), st.sampled_from(MORE_MOMENTS)
)
paths = st.sampled_from([*ATTRIBUTES, "a.b", "b.a", "user.a", "user.country.a"])
comparisons = st.builds(
    bf.Predicate, paths, st.sampled_from(["=", "<", "<=", ">", ">="]), constants
)
folds = st.builds(lambda path, text: bf.attr(path).ilike(text), paths, st.sampled_from(ENCODABLE))
contains = st.builds(lambda path, text: bf.attr(path).contains(text), paths, constants)
expressions = st.one_of(common_expressions, comparisons, comparisons, folds, contains)


@settings(max_examples=300)
@given(st.lists(expressions, min_size=1, max_size=12), record_batches(), nulls)
def test_rows_match_as_their_dicts_do(subscriptions, batch, nulls):
    segment = compile_segment(forest_of(bf.normalise(e, nulls=nulls) for e in subscriptions))
    items = segment.encoder.encode(map(flatten, batch.to_pylist()))
    event, ordinal = segment.match(items)
    assert matched(segment, batch) == list(zip(event.tolist(), ordinal.tolist(), strict=True))


def every_predicate():
    attribute = bf.attr("a")
    for constant in [*NUMBERS, *BIG, *ENCODABLE, *MORE_MOMENTS, True, False]:
        for operator in ("=", "<", ">="):
            yield bf.Predicate("a", operator, constant)
        yield attribute.contains(constant)
    for text in ENCODABLE:
        yield from (attribute.ilike(text), attribute.ilike(text + "%"), attribute.ends_with(text))
    yield from (attribute.exists(), attribute.is_null())


EVERY_PREDICATE = compile_segment(forest_of(map(bf.normalise, every_predicate())))
VALUES = [*NUMBERS, *BIG, *FLOATS, *ENCODABLE, *MORE_MOMENTS, True, False, None]


def fitting(kind):
    """The values that a type can hold, with nulls among them and one at the end."""
    rows = []
    for value in [*VALUES, date(2024, 1, 1), date(1900, 5, 5), "plain ASCII"]:
        try:
            again = pa.array([value], kind).to_pylist()[0]
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            continue
        if value is None or type(again) is type(value):
            rows += [value, None] if len(rows) % 3 == 0 else [value]
    return [*rows, None]


WRAPPERS = {
    "plain": lambda column: column,
    "list": lambda column: pa.array(
        [[value] for value in column.to_pylist()], pa.list_(column.type)
    ),
    "pairs": lambda column: pa.array(
        [[value, column[0].as_py()] for value in column.to_pylist()], pa.list_(column.type, 2)
    ),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("kind", {str(kind): kind for kind, _ in SCALARS}.values(), ids=str)
@pytest.mark.parametrize("chosen", [str.isascii, str.isprintable])
def test_every_type_and_value_against_every_predicate(kind, wrapper, chosen):
    values = [v for v in fitting(kind) if not isinstance(v, str) or chosen(v)]
    column = WRAPPERS[wrapper](pa.array(values, kind)).slice(1)
    batch = pa.RecordBatch.from_arrays([column], ["a"])
    items = EVERY_PREDICATE.encoder.encode(map(flatten, batch.to_pylist()))
    event, ordinal = EVERY_PREDICATE.match(items)
    expected = list(zip(event.tolist(), ordinal.tolist(), strict=True))
    assert matched(EVERY_PREDICATE, batch) == expected
    inside = pa.StructArray.from_arrays(
        [column], ["a"], mask=pa.array([True] + [False] * (len(column) - 1))
    )
    assert len(matched(compiled("EXISTS s.a"), pa.RecordBatch.from_arrays([inside], ["s"]))) == len(
        [row for row in batch.to_pylist()[1:] if flatten(row)]
    )


def test_repeated_paths_are_multi_valued_where_both_are_present():
    country = pa.array([{"country": "NZ"}, {"country": None}, None, {"country": "AU"}])
    plain = pa.array(["NZ", "NZ", "NZ", None])
    batch = pa.RecordBatch.from_arrays([country, plain], ["user", "user.country"])
    segment = compiled("user.country CONTAINS 'N'", "user.country = 'AU'", "EXISTS user.country")
    assert matched(segment, batch) == [(0, 2), (1, 0), (1, 2), (2, 0), (2, 2), (3, 1), (3, 2)]


def test_columns_of_one_name_are_multi_valued():
    arrays = [pa.array([1, None, 3]), pa.array([2, 2, None])]
    batch = pa.RecordBatch.from_arrays(arrays, ["a", "a"])
    segment = compiled("a = 1 AND a = 2", "a <> 2", "a > 1")
    assert matched(segment, batch) == [(0, 0), (0, 2), (1, 2), (2, 1), (2, 2)]


def test_contains_is_membership_in_a_list_of_one():
    segment = compiled("a CONTAINS 'b'")
    assert matched_rows(segment, pa.array([["abc"], ["b"], ["x", None], []])) == [1]
    assert matched_rows(segment, pa.array(["abc", "b", "x", None])) == [0, 1]


def test_nanoseconds_lie_strictly_between_microseconds():
    column = pa.array([999, 1000, 1001, 1999, 2000, -1, None], pa.timestamp("ns"))
    moment = "TIMESTAMP '1970-01-01T00:00:00.00000{}Z'"
    one, two = moment.format(1), moment.format(2)
    assert matched_rows(compiled(f"a = {one}"), column) == [1]
    assert matched_rows(compiled(f"a > {one}"), column) == [2, 3, 4]
    assert matched_rows(compiled(f"a > {one} AND a < {two}"), column) == [2, 3]
    assert matched_rows(compiled(f"a < {one}"), column) == [0, 5]
    assert matched_rows(compiled(f"a BETWEEN {one} AND {two}"), column) == [1, 2, 3, 4]
    assert matched_rows(compiled("a < TIMESTAMP '1970-01-01'"), column) == [5]
    absent_between = pa.array([1001], pa.int64()).view(pa.timestamp("ns"))
    absent_between = pa.Array.from_buffers(
        absent_between.type, 1, [pa.py_buffer(b"\0"), absent_between.buffers()[1]]
    )
    assert matched_rows(compiled(f"a < {one}", f"a >= {one}"), absent_between) == []


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("ms"), pa.date64()])
def test_moments_past_all_calendars_keep_their_order(kind):
    column = pa.array([2**63 - 1, -(2**63) + 1, 0], pa.int64()).view(kind)
    assert matched_rows(compiled("a > TIMESTAMP '9999-12-31T23:59:59.999999Z'"), column) == [0]
    assert matched_rows(compiled("a < TIMESTAMP '0001-01-01'"), column) == [1]
    assert matched_rows(compiled("a = TIMESTAMP '1970-01-01'"), column) == [2]


def test_unsigned_integers_past_2_to_the_63_are_exact():
    numbers = [2**64 - 1, 2**64 - 2, 2**64 - 2048, 2**63 + 1, 2**63, 2**63 - 1]
    column = pa.array(numbers, pa.uint64())
    for number in [*numbers, 2**64, 2**63 + 2, 10**30]:
        for operator, test in (("=", int.__eq__), ("<", int.__lt__), (">=", int.__ge__)):
            expected = [row for row, other in enumerate(numbers) if test(other, number)]
            assert matched_rows(compiled(f"a {operator} {number}"), column) == expected
    between = compiled(f"a > {2**64 - 3} AND a < {2**64 - 1}", f"a = {2**63 + 3}")
    assert matched_rows(between, column) == [1]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([Decimal("1.5")]),
        pa.array([b"x"]),
        pa.array([timedelta(1)]),
        pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([[b"x"]]),
        pa.array([b"x"]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_columns_of_other_types_are_refused_where_they_are_asked_about(array):
    batch = pa.RecordBatch.from_arrays([array, pa.array([1])], ["odd", "a"])
    assert matched(compiled("a = 1", "NOT oddity = 1"), batch) == [(0, 0), (0, 1)]
    with pytest.raises(EventError, match="column 'odd' has the Arrow type "):
        matched(compiled("odd = 1"), batch)


def test_a_map_is_refused_where_its_inside_is_asked_about():
    column = pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))
    with pytest.raises(EventError, match="column 'm' has the Arrow type map<"):
        matched_rows(compiled("m.k = 1"), column, "m")


def test_a_dictionary_for_many_batches_is_searched_only_for_what_occurs():
    words = pa.array([f"w{n}" for n in range(1000)])
    column = pa.DictionaryArray.from_arrays(pa.array([999, None, 7, 999]), words)
    segment = compiled("a = 'w999' OR a LIKE '%7'")
    leaf = columns_of(pa.RecordBatch.from_arrays([column], ["a"])).leaves["a"][0]
    assert leaf.read[0].distinct.to_pylist() == ["w999", "w7"]
    assert matched_rows(segment, column) == [0, 2, 3]


def test_nulls_in_a_dictionary_are_absent():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["x", None]))
    assert matched_rows(compiled("a IS NULL"), column) == [1, 2]
    assert matched_rows(compiled("a LIKE '%'"), column) == [0]


def test_batches_take_tables_and_batches_whatever_their_chunks():
    chunks = [pa.array(["x"]).dictionary_encode(), pa.array(["y", "x"]).dictionary_encode()] * 3
    table = pa.table({"a": pa.chunked_array(chunks)})
    for source in (table, table.combine_chunks().to_batches()[0]):
        found = list(batches(source, rows=4))
        assert [batch.num_rows for batch in found] == [4, 4, 1]
        assert [row for batch in found for row in batch.to_pylist()] == table.to_pylist()
    assert list(batches(table.slice(0, 0))) == []
    without_columns = list(batches(table.select([]), rows=5))
    assert [matched(compiled("TRUE"), batch) for batch in without_columns] == [
        [(row, 0) for row in range(5)], [(row, 0) for row in range(4)],
    ]  # fmt: skip


@pytest.mark.parametrize("other", [[{"a": 1}], {"a": [1]}, pa.array([1]), None])
def test_other_events_than_tables_are_refused(other):
    with pytest.raises(EventError, match="Table or RecordBatch, not <class"):
        next(batches(other))


def test_importing_the_library_does_not_import_pyarrow():
    code = "import boolfilter, sys; assert 'pyarrow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_dictionary_may_be_a_slice():
    words = pa.array(["aa", "b", "cc"], pa.large_string()).slice(1)
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), words)
    assert matched_rows(compiled("a = 'cc' AND a ILIKE 'CC' AND a LIKE 'c%'"), column) == [0, 2]
