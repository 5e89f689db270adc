"""A DataFrame of subscriptions, its columns found and checked."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType, DataType, StringType

from boolfilter.errors import BoolFilterError
from boolfilter.spark.matching import ID_TYPES


@dataclass(frozen=True, slots=True)
class Texts:
    """``rows`` are (id, text)."""

    rows: DataFrame
    id_type: str


@dataclass(frozen=True, slots=True)
class Chunks:
    """``rows`` are of one binary column: engine files with many subscriptions each."""

    rows: DataFrame
    id_type: str = "bigint"


def subscriptions_of(frame: DataFrame, id: str, expression: str) -> Texts | Chunks:
    """The subscriptions in these columns; BoolFilterError says what is wrong with them."""
    kind = column_type(frame, expression)
    if isinstance(kind, BinaryType):
        return Chunks(frame.select(f.col(f"`{expression}`")))
    if not isinstance(kind, StringType):
        raise BoolFilterError(
            f"subscriptions are texts or encoded chunks, column {expression!r} is "
            f"{kind.simpleString()}"
        )
    id_type = column_type(frame, id).simpleString()
    if id_type not in ID_TYPES:
        raise BoolFilterError(f"ids are integers or strings, column {id!r} is {id_type}")
    rows = frame.select(f.col(f"`{id}`").alias("id"), f.col(f"`{expression}`").alias("text"))
    return Texts(rows, id_type)


def column_type(frame: DataFrame, name: str) -> DataType:
    """The type of a column; BoolFilterError names those that there are."""
    if name not in frame.columns:
        raise BoolFilterError(f"there is no column {name!r}, but {', '.join(frame.columns)}")
    return frame.schema[name].dataType
