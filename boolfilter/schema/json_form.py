"""Schemas as JSON, in the form that ``encoding/schema.json`` describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from boolfilter.errors import SchemaError
from boolfilter.expressions import Operator
from boolfilter.schema.domains import OPERATORS_OF, Domain, DomainType
from boolfilter.schema.hierarchy import parents_of
from boolfilter.schema.names import did_you_mean

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema

FORMAT = 1
_KEYS = {
    "boolfilter_schema": int,
    "version": int,
    "type_attribute": str,
    "default_type": str,
    "domains": dict,
    "attributes": dict,
    "unique": list,
    "event_types": dict,
}
_NEEDED = ("boolfilter_schema", "domains", "attributes", "event_types")
_CALLED = {int: "an integer", str: "a string", dict: "an object", list: "a list"}


def to_json(schema: Schema) -> str:
    """The schema as JSON text."""
    content: dict[str, Any] = {
        "boolfilter_schema": FORMAT,
        "version": schema.version,
        "type_attribute": schema.type_attribute,
        "domains": {name: _from_domain(domain) for name, domain in schema.domains.items()},
        "attributes": dict(schema.attributes),
        "unique": sorted(schema.unique),
        "event_types": {name: dict(uses) for name, uses in schema.event_types.items()},
    }
    if schema.default_type is not None:
        content["default_type"] = schema.default_type
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str | bytes) -> Schema:
    """The schema that a text holds; SchemaError with the place in it if it holds none."""
    from boolfilter.schema.schema import Schema

    content = _parsed(text)
    _require(content, dict, "$")
    if "boolfilter_schema" not in content:
        raise SchemaError("it is JSON, but no schema: it has no key 'boolfilter_schema'")
    form = content["boolfilter_schema"]
    if type(form) is int and form > FORMAT:
        raise SchemaError(f"it is of form {form}, and this boolfilter reads form {FORMAT}")
    _check_keys(content, _KEYS, _NEEDED, "$")
    if form != FORMAT:
        raise SchemaError(f"$.boolfilter_schema: {FORMAT} is needed, not {form}")
    domains = {name: _to_domain(d, f"$.domains.{name}") for name, d in content["domains"].items()}
    for name, used in content["attributes"].items():
        _require(used, str, f"$.attributes.{name}")
    for name, uses in content["event_types"].items():
        _require(uses, dict, f"$.event_types.{name}")
        for attribute, annotation in uses.items():
            _require(annotation, str, f"$.event_types.{name}.{attribute}")
    unique = content.get("unique", [])
    for place, attribute in enumerate(unique):
        _require(attribute, str, f"$.unique[{place}]")
    return Schema(
        domains,
        content["attributes"],
        content["event_types"],
        unique=frozenset(unique),
        type_attribute=content.get("type_attribute", "event_type"),
        default_type=content.get("default_type"),
        version=content.get("version", 1),
    )


def _from_domain(domain: Domain) -> dict[str, Any]:
    content: dict[str, Any] = {"type": str(domain.type)}
    if domain.operators != OPERATORS_OF[domain.type]:
        content["operators"] = [o.value for o in Operator if o in domain.operators]
    if domain.type is DomainType.ENUMERATED:
        content["values"] = list(domain.values)
    if domain.type is DomainType.HIERARCHICAL:
        content["values"] = {value: list(parents) for value, parents in domain.values.items()}
    return content


def _to_domain(content: Any, place: str) -> Domain:
    _require(content, dict, place)
    _check_keys(content, {"type": str, "operators": list, "values": object}, ("type",), place)
    try:
        type = DomainType(content["type"])
    except ValueError:
        known = ", ".join(DomainType)
        raise SchemaError(f"{place}.type: one of {known}, not {content['type']!r}") from None
    try:
        operators = frozenset(map(Operator, content.get("operators", OPERATORS_OF[type])))
    except ValueError:
        raise SchemaError(
            f"{place}.operators: {content['operators']!r} has one that is none"
        ) from None
    values: Any = content.get("values", {})
    if type is DomainType.ENUMERATED:
        _check_strings(values, f"{place}.values")
        values = dict.fromkeys(values, ())
    elif type is DomainType.HIERARCHICAL:
        _require(values, dict, f"{place}.values")
        for value, parents in values.items():
            _check_strings(parents, f"{place}.values.{value}")
    elif "values" in content:
        raise SchemaError(f"{place}.values: a domain of type {type} lists no values")
    try:
        return Domain(type, operators, parents_of(values) if values else {})
    except SchemaError as error:
        raise SchemaError(f"{place}: {error}", error.cycle) from None


def _parsed(text: str | bytes) -> Any:
    def refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twin = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
            raise SchemaError(f"an object has the key {twin!r} twice")
        return found

    try:
        return json.loads(text, object_pairs_hook=refuse_twins)
    except UnicodeDecodeError:
        raise SchemaError("it is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SchemaError(f"it is no JSON: {error.msg} at {place}") from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError("it is no JSON that can be read") from None


def _check_keys(
    content: dict[str, Any], types: dict[str, Any], needed: tuple[str, ...], place: str
) -> None:
    for key, value in content.items():
        if key not in types:
            hint = did_you_mean(key, tuple(types))
            raise SchemaError(f"{place}: unknown key {key!r}" + (f"; {hint}" if hint else ""))
        if types[key] is not object:
            _require(value, types[key], f"{place}.{key}")
    for key in needed:
        if key not in content:
            raise SchemaError(f"{place}: the key {key!r} is missing")


def _check_strings(values: Any, place: str) -> None:
    _require(values, list, place)
    for number, value in enumerate(values):
        _require(value, str, f"{place}[{number}]")


def _require(value: Any, type_needed: type, place: str) -> None:
    if type(value) is not type_needed:
        raise SchemaError(f"{place}: {_CALLED[type_needed]} is needed, not {_shown(value)}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
