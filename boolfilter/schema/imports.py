"""Schemas made of others': of Arrow's and of Spark's, which tell names, types and nulls.

Both become one type of events, which is the default. A column is multiple if it is a list, and
mandatory if it is not and can never be null; the fields of a struct are dotted names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from boolfilter.errors import SchemaError
from boolfilter.forest import DomainKind
from boolfilter.schema.domains import Domain, DomainType, boolean, numeric, string, timestamp
from boolfilter.schema.views import Annotation

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema

_DOMAINS = {
    DomainType.NUMERIC: numeric,
    DomainType.STRING: string,
    DomainType.BOOLEAN: boolean,
    DomainType.TIMESTAMP: timestamp,
}
_DOMAIN_OF_KIND = {
    DomainKind.NUMBER: DomainType.NUMERIC,
    DomainKind.STRING: DomainType.STRING,
    DomainKind.BOOLEAN: DomainType.BOOLEAN,
    DomainKind.TIMESTAMP: DomainType.TIMESTAMP,
}
_SPARK_TYPES = {
    **dict.fromkeys(("byte", "short", "integer", "long", "float", "double"), DomainType.NUMERIC),
    "string": DomainType.STRING,
    "boolean": DomainType.BOOLEAN,
    **dict.fromkeys(("timestamp", "timestamp_ntz", "date"), DomainType.TIMESTAMP),
}


class Field(NamedTuple):
    """A column, or a field somewhere in one: a scalar of a type."""

    path: str
    type: DomainType
    mandatory: bool
    multiple: bool


def schema_of(fields: Iterable[Field], event_type: str, type_attribute: str) -> Schema:
    """The schema of one type of events with these fields; the column of the types is left out."""
    from boolfilter.schema.schema import Schema

    uses: dict[str, Annotation] = {}
    attributes: dict[str, str] = {}
    for field in fields:
        if field.path == type_attribute:
            continue
        if field.path in attributes:
            raise SchemaError(f"two columns lead to one attribute, {field.path!r}")
        attributes[field.path] = str(field.type)
        # An empty list is absent, so nothing in a list is mandatory.
        uses[field.path] = Annotation.of(field.mandatory and not field.multiple, field.multiple)
    domains: dict[str, Domain] = {str(type): make() for type, make in _DOMAINS.items()}
    used = {name: domain for name, domain in domains.items() if name in attributes.values()}
    return Schema(
        used,
        attributes,
        {event_type: uses},
        type_attribute=type_attribute,
        default_type=event_type,
    )


def arrow_fields(arrow: Any) -> list[Field]:
    """The fields of a pyarrow Schema, or of what has one: a table, a batch, a dataset."""
    import pyarrow as pa

    from boolfilter.arrow import columns_of

    schema = getattr(arrow, "schema", arrow)
    if not isinstance(schema, pa.Schema):
        raise SchemaError(f"a pyarrow Schema is needed, not {type(arrow).__name__}")
    nothing = [pa.array([], kind) for kind in schema.types]
    columns = columns_of(pa.RecordBatch.from_arrays(nothing, schema.names))
    for path, kind in columns.refused:
        raise _no_values(path, kind)
    never_null = set(_never_null([("", field) for field in schema]))
    return [
        Field(path, _DOMAIN_OF_KIND[leaf.kind], path in never_null, leaf.in_list)
        for path, leaves in columns.leaves.items()
        for leaf in leaves
    ]


def _never_null(todo: list[tuple[str, Any]]) -> Iterator[str]:
    import pyarrow as pa

    for start, field in todo:  # which grows meanwhile
        if not field.nullable:
            yield start + field.name
            if pa.types.is_struct(field.type):
                parts = [field.type.field(place) for place in range(field.type.num_fields)]
                todo.extend((f"{start}{field.name}.", part) for part in parts)


def spark_fields(spark: Any) -> Iterator[Field]:
    """The fields of a Spark StructType, or of a DataFrame."""
    struct = getattr(spark, "schema", spark)
    if not hasattr(struct, "jsonValue"):
        raise SchemaError(f"a Spark StructType is needed, not {type(spark).__name__}")
    todo = [("", struct.jsonValue(), True, False)]
    while todo:
        path, found, mandatory, multiple = todo.pop()
        kind = found["type"] if isinstance(found, dict) else found
        if kind == "struct":
            for field in reversed(found["fields"]):
                name = f"{path}.{field['name']}" if path else field["name"]
                needed = mandatory and not field["nullable"]
                todo.append((name, field["type"], needed, multiple))
        elif kind == "array":
            todo.append((path, found["elementType"], mandatory, True))
        elif kind in _SPARK_TYPES:
            yield Field(path, _SPARK_TYPES[kind], mandatory, multiple)
        else:
            raise _no_values(path, kind)


def _no_values(path: str, kind: object) -> SchemaError:
    return SchemaError(
        f"column {path!r} has the type {kind}, which has no values here: leave it out"
    )
