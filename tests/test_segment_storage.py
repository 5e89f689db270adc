from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.compiling import compile_segment
from boolfilter.errors import DamagedFileError
from boolfilter.events import flatten
from boolfilter.forest import forest_of
from boolfilter.segment_storage import segment_from_parts, segment_parts
from boolfilter.storage import read_file, write_file
from tests.strategies import events, expressions, nulls

TEXTS = [
    "a = 1 AND (b < 2 OR c > 3.5)",
    "a = 1 AND (b < 2 OR c > 3.5)",
    "NOT a IN (1, 2, 3) AND s LIKE 'x%y'",
    "s IN ('p', 'q', 'r') AND a BETWEEN 2 AND 5",
    "t >= TIMESTAMP '2024-01-01T00:00:00Z' OR s ILIKE 'Straße'",
    "b AND EXISTS a AND s CONTAINS 'é'",
    "big > 12345678901234567890123 OR big < 9007199254740993",
    "a = 1 AND s MATCHES '^x[0-9]+' AND (a < 7 OR s = 'z') AND (c < 1 OR c < 2 AND a <> 9)",
    " OR ".join(f"(w{n} = {n} AND v > {n})" for n in range(4)),
]
EVENTS = [
    {},
    {"a": 1, "b": 1, "s": "x7"},
    {"a": [1, 2, 9], "c": 4, "s": ["p", "x1y"], "b": True},
    {"a": 3, "s": "q", "v": 2, "w1": 1, "big": 2**80},
    {"a": 9, "s": "xéy", "b": True, "t": "x", "big": 2**53},
    {"s": "STRASSE", "c": -1, "a": 1, "v": [5, 6], "w3": [3, 4]},
]


def compiled(texts):
    return compile_segment(forest_of(bf.normalise(bf.parse(text)) for text in texts))


def wide_texts():
    """Code of more instructions than narrow jumps can reach, beside code of few."""
    many = ", ".join(str(number) for number in range(0, 200, 2))
    wide = " AND ".join(f"(a{n} = {n} OR b > {n} AND NOT c = {n})" for n in range(90))
    return [*TEXTS, wide, f"x IN ({many}) AND y = 1 AND ({wide} OR NOT x IN ({many}))"]


def stored(folder, segment):
    meta, arrays = segment_parts(segment)
    path = folder / "segment.bf"
    write_file(path, {"layer/0": meta}, {f"0/{name}": array for name, array in arrays.items()})
    found_meta, found = read_file(path)
    assert found_meta == {"layer/0": meta}
    for name, array in arrays.items():
        assert found["0/" + name].dtype == array.dtype
        np.testing.assert_array_equal(found["0/" + name], array)
    return segment_from_parts(
        found_meta["layer/0"], {name.removeprefix("0/"): array for name, array in found.items()}
    )


def matches(segment, batch=EVENTS):
    flat = [flatten(event) for event in batch]
    return [found.tolist() for found in segment.match(segment.encoder.encode(flat))]


@given(st.lists(expressions, max_size=8), st.lists(events, max_size=5), nulls)
def test_a_segment_comes_back_from_a_file(tmp_path_factory, subscriptions, batch, nulls):
    segment = compile_segment(forest_of(bf.normalise(e, nulls=nulls) for e in subscriptions))
    again = stored(tmp_path_factory.mktemp("trip"), segment)
    assert again.domains.keys == segment.domains.keys
    assert again.domains.giants == segment.domains.giants
    assert again.searches == segment.searches
    assert (again.shift, len(again), again.rows) == (segment.shift, len(segment), segment.rows)
    assert matches(again, batch) == matches(segment, batch)
    for ordinal in range(len(segment)):
        assert again.expression(ordinal) == segment.expression(ordinal)


@pytest.mark.parametrize("texts", [[], ["TRUE"], TEXTS, wide_texts()], ids=len)
def test_small_and_large_trees_come_back(tmp_path, texts):
    segment = compiled(texts)
    again = stored(tmp_path, segment)
    assert matches(again) == matches(segment)


def test_code_of_too_many_slots_for_narrow_instructions_comes_back(tmp_path):
    segment = compiled([f"a{n} = 1 AND b{n} > 2 AND s IN ('x', 'y')" for n in range(6_000)])
    again = stored(tmp_path, segment)
    assert (segment.entry[3::5] & 1).all()
    assert again.match_one({"a5999": 1, "b5999": 3, "s": "x"}) == [5999]


@pytest.mark.parametrize(
    "name", ['it"s', "two\nlines", "\0", "é", "\U0001f600", "\ud800", "\ud83d\ude00", "a/b", " "]
)
def test_odd_names_and_texts_come_back(tmp_path, name):
    a = bf.attr(name)
    subscriptions = [a == name, a.like(f"{name}%_", name[0]), a.contains(name), a.starts_with(name)]
    segment = compile_segment(forest_of(bf.normalise(e) for e in subscriptions))
    again = stored(tmp_path, segment)
    assert again.domains.keys == segment.domains.keys
    assert again.searches == segment.searches
    assert matches(again, [{name: name}, {name: name + name}]) == matches(
        segment, [{name: name}, {name: name + name}]
    )


def test_integers_too_long_to_print_come_back(tmp_path):
    giants = [10**6000, 10**6000 + 1, -(10**5000)]
    segment = compile_segment(forest_of(bf.attr("a") <= giant for giant in giants))
    again = stored(tmp_path, segment)
    assert again.domains.giants == segment.domains.giants
    assert again.match_one({"a": 10**6000 + 1}) == [1]
    assert again.match_one({"a": -(10**5000) - 1}) == [0, 1, 2]


def test_every_flipped_byte_and_every_truncation_of_a_segment_is_noticed(tmp_path):
    path = tmp_path / "segment.bf"
    write_file(path, *segment_parts(compiled(TEXTS)))
    content = path.read_bytes()
    with open(path, "r+b", buffering=0) as file:
        for place, byte in enumerate(content):
            os.pwrite(file.fileno(), bytes([byte ^ (1 << place % 8)]), place)
            with pytest.raises(DamagedFileError):
                read_file(path)
            os.pwrite(file.fileno(), bytes([byte]), place)
        for length in reversed(range(len(content))):
            file.truncate(length)
            with pytest.raises(DamagedFileError):
                read_file(path)


META_CHANGES = [
    ("domains", None, "malformed"),
    ("domains", [["a"]], "malformed"),
    ("domains", [["a", "NUMBER", 1]], "malformed"),
    ("domains", [["a", "COMPLEX"]], "malformed"),
    ("domains", [[5, "NUMBER"]], "malformed"),
    ("domains", [["a", "NUMBER"]], "starts of the"),
    ("giants", [[0]], "malformed"),
    ("giants", [["0", ["ff"]]], "no integer"),
    ("giants", [[0, ["xyz"]]], "malformed"),
    ("giants", [[99, ["fff"]]], "giants"),
    ("giants", [[0, ["fff", "ff"]]], "giants"),
    ("searches", [["s", "LIKE", "x"]], "malformed"),
    ("searches", [["s", "=", "x", None]], "no search"),
    ("searches", [["s", "~", "x", None]], "malformed"),
    ("searches", [["s", "MATCHES", "(", None]], "malformed"),
    ("searches", [["", "LIKE", "x", None]], "malformed"),
    ("searches", [["s", "LIKE", 5, None]], "malformed"),
    ("searches", [["s", "LIKE", "x", "yy"]], "malformed"),
    ("searches", [], "slots do not go with"),
    ("shift", 1e999, "no integer"),
    ("shift", -1, "coarse"),
    ("shift", 33, "coarse"),
    ("shift", 5, "coarse"),
]


@pytest.mark.parametrize(("name", "value", "problem"), META_CHANGES)
def test_a_wrong_meta_is_refused(name, value, problem):
    meta, arrays = segment_parts(compiled(TEXTS))
    for wrong in (meta | {name: value}, {key: meta[key] for key in meta if key != name}):
        with pytest.raises(DamagedFileError, match=problem if name in wrong else "malformed"):
            segment_from_parts(wrong, arrays)


def test_missing_arrays_and_wrong_types_are_refused():
    meta, arrays = segment_parts(compiled(TEXTS))
    for name, array in arrays.items():
        others = {key: arrays[key] for key in arrays if key != name}
        with pytest.raises(DamagedFileError, match="is missing"):
            segment_from_parts(meta, others)
        for wrong in (np.zeros(len(array), np.int16), array.reshape(-1, 1)):
            with pytest.raises(DamagedFileError, match="wrong type or shape"):
                segment_from_parts(meta, others | {name: wrong})


def test_arrays_of_wrong_lengths_are_refused():
    meta, arrays = segment_parts(compiled(wide_texts()))
    for name, array in arrays.items():
        for wrong in (array[:-1], np.append(array, array[-1:]), array[:0]):
            # A word more of lists leads nowhere and harms nothing.
            if len(wrong) != len(array) and not (name == "lists" and len(wrong) > len(array)):
                with pytest.raises(DamagedFileError):
                    segment_from_parts(meta, arrays | {name: np.ascontiguousarray(wrong)})


ARRAY_CHANGES = [
    ("entry", 2, 0xFFFF, "guard"),
    ("entry", 2, 0xFFFF0000, "guard"),
    ("entry", 3, 0xFFFFFFF0, "no code"),
    ("entry", 3, 2, "no code"),
    ("entry", 4, 2**31, "no tree"),
    ("entry_key", 0, 2**31, "out of order"),
    ("entry_key", -1, 2**31, "out of order"),
    ("slot_base", 1, 7, "slots"),
    ("slot_entry", -1, 2**31, "slots"),
    ("coarse", 1, 2**31, "coarse"),
    ("tree_start", 1, 2**31, "trees"),
    ("member_start", 1, 2**31, "members"),
    ("member", 0, 2**31, "members"),
    ("member", 0, 1, "members"),
    ("domains.number_start", 1, -1, "numbers"),
    ("domains.bucket", 0, 2**31, "bucket"),
    ("domains.bucket_start", 1, 1, "bucket"),
    ("domains.string_start", 1, 2**40, "strings"),
    ("domains.text_start", 0, 1, "texts"),
    ("betweens.domain", 0, -1, "BETWEEN"),
    ("betweens.domain", 0, 99, "BETWEEN"),
    ("betweens.low", 0, 2**31, "BETWEEN"),
    ("betweens.high", 0, 2**31, "BETWEEN"),
    ("betweens.group_start", -1, 99, "BETWEEN"),
    ("betweens.group_of_domain", -1, 99, "BETWEEN"),
]


@pytest.mark.parametrize(("name", "place", "value", "problem"), ARRAY_CHANGES)
def test_wrong_contents_are_refused(name, place, value, problem):
    meta, arrays = segment_parts(compiled(TEXTS))
    wrong = arrays[name].copy()
    wrong[place] = value
    with pytest.raises(DamagedFileError, match=problem):
        segment_from_parts(meta, arrays | {name: wrong}, path="subs.bf")


def test_jumps_slots_and_lists_of_all_code_are_checked():
    meta, arrays = segment_parts(compiled(wide_texts()))
    refused = 0
    for place in range(0, len(arrays["code"]), 5):
        for value in (0x80000000, 0x00FD7FFF, 0xFD00FFFF, 0x7FFFFFFF):
            wrong = arrays["code"].copy()
            wrong[place] = value
            try:
                matches(segment_from_parts(meta, arrays | {"code": wrong}))
            except DamagedFileError:
                refused += 1
    assert refused > len(arrays["code"]) // 5


parts_of_segments = [segment_parts(compiled(texts)) for texts in (TEXTS, wide_texts())]


@settings(max_examples=300)
@given(st.sampled_from(parts_of_segments), st.data())
def test_what_is_not_refused_can_be_matched(parts, data):
    meta, arrays = parts
    name = data.draw(st.sampled_from([key for key in arrays if len(arrays[key])]))
    wrong = arrays[name].copy()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(wrong) - 1))
        bits = wrong.view(f"u{wrong.itemsize}")
        bits[place] = data.draw(
            st.integers(0, 8**wrong.itemsize)
            | st.integers(0, 256**wrong.itemsize - 1)
            | st.sampled_from(arrays[name].view(bits.dtype).tolist())
        )
    try:
        segment = segment_from_parts(meta, arrays | {name: wrong})
    except DamagedFileError:
        return
    matches(segment)
