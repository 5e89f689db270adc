"""The shards of a DataFrame of subscriptions, written in parallel.

Rows are partitioned by a hash of their id, so that equal ids meet in one partition, and each
partition becomes a shard. Shards are sorted by id: what is in one depends on the rows only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import BinaryType

from boolfilter.errors import BoolFilterError
from boolfilter.evaluate import Nulls
from boolfilter.spark.errors import RejectedSubscriptionsError
from boolfilter.spark.manifest import Shard, StoredFile, generation_name
from boolfilter.spark.matching import ID_TYPES
from boolfilter.spark.shards import EXAMPLES, chunk_shards, repeated_ids, text_shards

# A larger shard is better to match with (an event is looked up once a shard), a smaller one is
# built by more cores. So: as few as a million a shard allows, but all cores have work.
_MOST_A_SHARD = 1_000_000
_WORTH_A_CORE = 250_000

Errors = Literal["fail", "report"]


@dataclass(frozen=True, slots=True)
class Built:
    """New shards, not yet part of an index."""

    id_type: str
    attributes: tuple[str, ...]
    shards: tuple[Shard, ...]
    rejected: int


def write_shards(
    subs: DataFrame,
    id: str,
    expression: str,
    working: Path,
    generation: int,
    first: int,
    shards: int | Literal["auto"],
    errors: Errors,
    nulls: Nulls,
) -> Built:
    """Write the shards of a DataFrame to a folder, numbered from `first`."""
    if errors not in ("fail", "report"):
        raise BoolFilterError(f'errors is "fail" or "report", not {errors!r}')
    name = generation_name(generation)
    encoded = isinstance(subs.schema[expression].dataType, BinaryType)
    if encoded:
        id_type = "bigint"
        chunks = subs.select(f.col(f"`{expression}`"))
        count = parallelism(subs.sparkSession) if shards == "auto" else shards
        rows = chunks.repartition(count)
        writer = chunk_shards(working, name, first, nulls)
    else:
        id_type = subs.schema[id].dataType.simpleString()
        if id_type not in ID_TYPES:
            raise BoolFilterError(f"ids are integers or strings, column {id!r} is {id_type}")
        chosen = subs.select(f.col(f"`{id}`").alias("id"), f.col(f"`{expression}`").alias("text"))
        count = _automatic(chosen) if shards == "auto" else shards
        rows = chosen.repartition(count, "id").sortWithinPartitions("id", "text")
        writer = text_shards(working, name, first, nulls)
    found = rows.mapInArrow(writer, "report string").collect()
    reports = sorted((json.loads(row[0]) for row in found), key=lambda report: report["number"])
    if encoded:
        again = repeated_ids(sorted(working.glob("shard-*.bf")))
        if len(again):
            examples = [(id, None, "it comes twice") for id in again[:EXAMPLES].tolist()]
            raise RejectedSubscriptionsError(len(again), examples)
    return _built(reports, id_type, errors)


def parallelism(session: SparkSession) -> int:
    return session.sparkContext.defaultParallelism


def _automatic(rows: DataFrame) -> int:
    count = rows.count()
    worth = min(parallelism(rows.sparkSession), -(-count // _WORTH_A_CORE))
    return max(1, -(-count // _MOST_A_SHARD), worth)


def _built(reports: list[dict[str, Any]], id_type: str, errors: Errors) -> Built:
    rejected = sum(report["rejected"] for report in reports)
    if rejected and errors == "fail":
        examples = [tuple(example) for report in reports for example in report["examples"]]
        examples.sort(key=lambda example: (example[0] is None, example[0]))
        raise RejectedSubscriptionsError(rejected, examples[:EXAMPLES])
    shards = tuple(
        Shard(report["number"], StoredFile(**report["stored"]), report["subscriptions"])
        for report in reports
        if "stored" in report
    )
    attributes = tuple(sorted({name for report in reports for name in report["attributes"]}))
    return Built(id_type, attributes, shards, rejected)
