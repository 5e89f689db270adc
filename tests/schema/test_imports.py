from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import boolfilter as bf
from boolfilter.schema import DomainType


def annotations(schema: bf.Schema) -> dict[str, str]:
    return {name: str(annotation) for name, annotation in schema.event_types["row"].items()}


def test_arrow_columns_become_attributes_of_one_type() -> None:
    width = pa.field("width", pa.float32(), nullable=False)
    tag = pa.struct([("tag", pa.string())])
    arrow = pa.schema(
        [
            pa.field("price", pa.uint64(), nullable=False),
            pa.field("brand", pa.dictionary(pa.int8(), pa.string())),
            pa.field("sold", pa.bool_()),
            pa.field("at", pa.timestamp("ns")),
            pa.field("day", pa.date32()),
            pa.field("size", pa.struct([width, ("depth", pa.int8())]), nullable=False),
            pa.field("items", pa.list_(tag), nullable=False),
            pa.field("event_type", pa.string()),
            pa.field("nothing", pa.null()),
        ]
    )
    schema = bf.Schema.from_arrow(arrow)
    assert annotations(schema) == {
        "price": "mandatory unique",
        "brand": "optional unique",
        "sold": "optional unique",
        "at": "optional unique",
        "day": "optional unique",
        "size.width": "mandatory unique",
        "size.depth": "optional unique",
        "items.tag": "optional multiple",
    }
    assert schema.domain("day").type is DomainType.TIMESTAMP
    assert schema.domain("items.tag").type is DomainType.STRING
    assert bf.Schema.from_arrow(arrow.empty_table()) == schema


def test_rows_of_the_table_are_instances_of_its_schema() -> None:
    price = pa.field("price", pa.int64(), nullable=False)
    table = pa.table([[5, 50], ["toy", None]], schema=pa.schema([price, ("kind", pa.string())]))
    engine = bf.Engine(schema=bf.Schema.from_arrow(table), validate="raise")
    engine.subscribe("cheap", "event_type CONTAINS 'row' AND price < 10")
    assert engine.match_arrow(table).to_pylist() == [{"event": 0, "subscription": "cheap"}]
    with pytest.raises(bf.SubscriptionSchemaError):
        engine.subscribe("odd", "kind > 5")


@pytest.mark.parametrize("kind", [pa.binary(), pa.map_(pa.string(), pa.string()), pa.time32("s")])
def test_a_column_without_values_is_refused(kind: Any) -> None:
    with pytest.raises(bf.SchemaError, match="column 'x' has the type"):
        bf.Schema.from_arrow(pa.schema([("x", kind)]))


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(bf.SchemaError, match="a pyarrow Schema is needed, not dict"):
        bf.Schema.from_arrow({"price": "int"})
    with pytest.raises(bf.SchemaError, match="a Spark StructType is needed, not dict"):
        bf.Schema.from_spark({"price": "int"})
    twice = pa.schema([("a.b", pa.int8()), ("a", pa.struct([("b", pa.int8())]))])
    with pytest.raises(bf.SchemaError, match=r"two columns lead to one attribute, 'a\.b'"):
        bf.Schema.from_arrow(twice)


def test_spark_columns_become_the_same_attributes() -> None:
    types = pytest.importorskip("pyspark.sql.types")
    tag = types.StructType([types.StructField("tag", types.StringType())])
    width = types.StructField("width", types.FloatType(), nullable=False)
    size = types.StructType([width, types.StructField("depth", types.ByteType())])
    spark = types.StructType(
        [
            types.StructField("price", types.LongType(), nullable=False),
            types.StructField("sold", types.BooleanType()),
            types.StructField("at", types.TimestampType()),
            types.StructField("day", types.DateType()),
            types.StructField("size", size, nullable=False),
            types.StructField("items", types.ArrayType(tag), nullable=False),
        ]
    )
    arrow = pa.schema(
        [
            pa.field("price", pa.int64(), nullable=False),
            ("sold", pa.bool_()),
            ("at", pa.timestamp("us")),
            ("day", pa.date32()),
            pa.field(
                "size",
                pa.struct([pa.field("width", pa.float32(), nullable=False), ("depth", pa.int8())]),
                nullable=False,
            ),
            ("items", pa.list_(pa.struct([("tag", pa.string())]))),
        ]
    )
    assert bf.Schema.from_spark(spark) == bf.Schema.from_arrow(arrow)
    odd = types.StructType([types.StructField("x", types.BinaryType())])
    with pytest.raises(bf.SchemaError, match="column 'x' has the type binary"):
        bf.Schema.from_spark(odd)
    decimal = types.StructType([types.StructField("x", types.DecimalType(10, 2))])
    with pytest.raises(bf.SchemaError, match="column 'x' has the type decimal"):
        bf.Schema.from_spark(decimal)
