"""Schemas as JSON: there and back, against its own JSON Schema, and damaged in many ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter._resources import read_text
from boolfilter.schema import Annotation, boolean, numeric, string, timestamp
from tests.schema.examples import CARS, LE_SUBSCRIBE, THESIS

VALIDATOR = jsonschema.Draft202012Validator(json.loads(read_text("encoding", "schema.json")))
EVERYTHING = bf.Schema(
    domains={
        **LE_SUBSCRIBE.domains,
        "flag": boolean(["="]),
        "moment": timestamp(),
        "sku": string(["=", "LIKE", "STARTS WITH"]),
        "été": numeric(["<", ">"]),
    },
    attributes={"a": "flag", "b": "moment", "c": "sku", "d.e": "été", "f": "furniture"},
    event_types={"t": dict(zip("abc", Annotation, strict=False)), "u": {"d.e": "optional"}},
    unique={"a"},
    type_attribute="kind",
    default_type="t",
    version=7,
)


@pytest.mark.parametrize("schema", [LE_SUBSCRIBE, CARS, THESIS, EVERYTHING, bf.Schema({}, {})])
def test_a_schema_reads_back_equal_and_fits_its_json_schema(schema: bf.Schema) -> None:
    text = schema.to_json()
    assert bf.Schema.from_json(text) == schema
    assert bf.Schema.from_json(text.encode()) == schema
    VALIDATOR.validate(json.loads(text))


def test_a_schema_is_saved_and_opened(tmp_path: Path) -> None:
    EVERYTHING.save(tmp_path / "schema.json")
    assert bf.Schema.open(tmp_path / "schema.json") == EVERYTHING


def test_the_json_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON: .* at line 1, column 1"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON that can be read"),
        (b"\xff\xfe\x00", "UTF-8|no JSON"),
        ("[]", r"\$: an object is needed, not \[\]"),
        ("{}", "no key 'boolfilter_schema'"),
        ('{"boolfilter_schema": 2}', "of form 2"),
        ('{"boolfilter_schema": 0, "domains": {}, "attributes": {}, "event_types": {}}', "1 is"),
        ('{"boolfilter_schema": 1}', "the key 'domains' is missing"),
        ('{"boolfilter_schema": 1, "domains": {}, "domains": {}}', "'domains' twice"),
        ('{"boolfilter_schema": 1, "domans": {}}', "did you mean 'domains'"),
        ('{"boolfilter_schema": 1, "version": 1.5}', r"\$.version: an integer"),
    ],
)
def test_foreign_and_damaged_texts_are_refused(text: str | bytes, problem: str) -> None:
    with pytest.raises(bf.SchemaError, match=problem):
        bf.Schema.from_json(text)


def changed(path: str, value: Any) -> dict[str, Any]:
    content = json.loads(EVERYTHING.to_json())
    *steps, last = path.split("/")
    inner = content
    for step in steps:
        inner = inner[step]
    inner[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("version", 0, "a version is an integer from 1"),
        ("domains", [], r"\$.domains: an object is needed"),
        ("domains/flag", 5, r"\$.domains.flag: an object is needed, not 5"),
        ("domains/flag", {}, "'type' is missing"),
        ("domains/flag/type", "bool", r"\$.domains.flag.type: one of numeric"),
        ("domains/flag/operators", ["~"], "operators"),
        ("domains/flag/operators", ["<"], r"\$.domains.flag: .* no operator <"),
        ("domains/flag/operators", [], "at least one operator"),
        ("domains/flag/values", ["x"], "lists no values"),
        ("domains/flag/size", 5, "unknown key 'size'"),
        ("domains/furniture/values", {}, "at least one value"),
        ("domains/furniture/values", ["a"], "an object is needed"),
        ("domains/furniture/values/table", "dining room", "a list is needed"),
        ("domains/furniture/values/", [], "non-empty"),
        ("attributes/a", 5, r"\$.attributes.a: a string is needed"),
        ("attributes/x (is a)", "flag", "the ending has a meaning"),
        ("unique", [5], r"\$.unique\[0\]: a string"),
        ("event_types/t", "mandatory", r"\$.event_types.t: an object"),
        ("event_types/t/a", "sometimes", "not 'sometimes'"),
        ("event_types/t/a", True, r"\$.event_types.t.a: a string"),
    ],
)
def test_a_bad_place_is_named_and_the_json_schema_sees_it_too(
    path: str, value: Any, problem: str
) -> None:
    content = changed(path, value)
    assert not VALIDATOR.is_valid(content)
    with pytest.raises(bf.SchemaError, match=problem):
        bf.Schema.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("attributes/a", "flags", "did you mean 'flag'"),
        ("unique", ["z"], "no attribute 'z'"),
        ("default_type", "v", "no event type 'v'"),
        ("type_attribute", "a", "attribute of the event types"),
        (
            "domains/furniture/values/dining room",
            ["stool"],
            "has a cycle: .*'stool' is a kind of 'chair'",
        ),
        ("event_types/u", {"a": "optional multiple"}, "unique in every event type"),
    ],
)
def test_what_only_the_reader_can_see_is_refused(path: str, value: Any, problem: str) -> None:
    content = changed(path, value)
    assert VALIDATOR.is_valid(content)
    with pytest.raises(bf.SchemaError, match=problem):
        bf.Schema.from_json(json.dumps(content))


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=1))
def test_a_changed_byte_gives_a_schema_or_a_schema_error(place: int, byte: bytes) -> None:
    text = EVERYTHING.to_json().encode()
    place %= len(text)
    try:
        read = bf.Schema.from_json(text[:place] + byte + text[place + 1 :])
    except bf.SchemaError:
        return
    assert bf.Schema.from_json(read.to_json()) == read
