"""Ids of subscriptions as DataFrames, so that Spark finds those that are there twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from boolfilter.spark.errors import RejectedSubscriptionsError
from boolfilter.spark.files import Files
from boolfilter.spark.manifest import Shard
from boolfilter.spark.matching import ID_TYPES
from boolfilter.spark.worker import open_shards

EXAMPLES = 5
_IDS_A_BATCH = 65_536


def ids_of_shards(
    session: SparkSession, files: Files, shards: Sequence[Shard], id_type: str
) -> DataFrame:
    """DataFrame(id) of the living subscriptions of these shards, read in a task each."""
    if not shards:
        return session.createDataFrame([], f"id {id_type}")
    numbers = session.range(0, len(shards), 1, len(shards))
    return numbers.mapInArrow(_reader(files, shards, id_type), f"id {id_type}")


def refuse(ids: DataFrame, problem: str) -> None:
    """RejectedSubscriptionsError if there are any such ids."""
    examples = [(row.id, None, problem) for row in ids.orderBy("id").limit(EXAMPLES).collect()]
    if examples:
        raise RejectedSubscriptionsError(ids.count(), examples)


def repeated(ids: DataFrame) -> DataFrame:
    """DataFrame(id) of those that come more than once."""
    return ids.groupBy("id").count().where(f.col("count") > 1).select("id")


def _reader(
    files: Files, shards: Sequence[Shard], id_type: str
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                (layers,) = open_shards(files, [shards[number]])
                for layer in layers:
                    living = layer.living()
                    for first in range(0, len(living), _IDS_A_BATCH):
                        ids = layer.ids.arrow(living[first : first + _IDS_A_BATCH])
                        yield pa.record_batch([ids.cast(ID_TYPES[id_type])], names=["id"])

    return read
