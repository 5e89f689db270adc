"""The shards of a DataFrame of subscriptions, written in parallel.

Rows are partitioned by a hash of their id, so that equal ids meet in one partition, and each
partition becomes a shard. Shards are sorted by id: what is in one depends on the rows only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from boolfilter.errors import BoolFilterError
from boolfilter.spark.errors import RejectedSubscriptionsError
from boolfilter.spark.files import MappedFiles
from boolfilter.spark.manifest import Shard, StoredFile
from boolfilter.spark.shards import Target, chunk_shards, text_shards
from boolfilter.spark.subscriptions import Chunks, Texts
from boolfilter.spark.taken import EXAMPLES, ids_of_shards, refuse, repeated

# A larger shard is better to match with (an event is looked up once a shard), a smaller one is
# built by more cores. So: as few as a million a shard allows, but all cores have work.
_MOST_A_SHARD = 1_000_000
_WORTH_A_CORE = 250_000
_RANGE = 1 << 20  # has a row in each partition of any cluster

Errors = Literal["fail", "report"]
ShardCount = int | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Written:
    """New shards, not yet part of an index."""

    attributes: tuple[str, ...]
    shards: tuple[Shard, ...]
    rejected: int


def write_shards(
    subscriptions: Texts | Chunks,
    target: Target,
    count: ShardCount,
    errors: Errors,
    in_use: DataFrame | None = None,
) -> Written:
    """Write the shards of some subscriptions; those with ids in use are among the rejected."""
    if errors not in ("fail", "report"):
        raise BoolFilterError(f'errors is "fail" or "report", not {errors!r}')
    if count != "auto" and (not isinstance(count, int) or count < 1):
        raise BoolFilterError(f'shards is a number from 1 on, or "auto", not {count!r}')
    if isinstance(subscriptions, Chunks):
        return _write_chunks(subscriptions, target, count, in_use)
    rows = subscriptions.rows
    shards = _automatic(rows) if count == "auto" else count
    if in_use is None:
        marked = rows.withColumn("in_use", f.lit(False))
    else:
        marked = rows.join(in_use.withColumn("in_use", f.lit(True)), "id", "left")
    spread = marked.repartition(shards, "id").sortWithinPartitions("id", "text")
    written, examples = _written(spread, text_shards(target))
    if written.rejected and errors == "fail":
        raise RejectedSubscriptionsError(written.rejected, examples)
    return written


def _write_chunks(
    chunks: Chunks, target: Target, count: ShardCount, in_use: DataFrame | None
) -> Written:
    """Nothing brought equal ids together here, so they are looked for in what was written."""
    session = chunks.rows.sparkSession
    rows = chunks.rows.repartition(_parallelism(session) if count == "auto" else count)
    written, _ = _written(rows, chunk_shards(target))
    shards = [_in_working_folder(shard) for shard in written.shards]
    ids = ids_of_shards(session, MappedFiles(target.working), shards, chunks.id_type)
    refuse(repeated(ids), "it comes twice")
    if in_use is not None:
        refuse(ids.join(in_use, "id", "left_semi"), "the id is in use")
    return written


def _written(rows: DataFrame, writer: Any) -> tuple[Written, list[tuple[Any, int | None, str]]]:
    """What the tasks wrote, and the first of the rejected."""
    found = rows.mapInArrow(writer, "report string").collect()
    reports = sorted((json.loads(row[0]) for row in found), key=lambda report: report["number"])
    shards = tuple(
        Shard(report["number"], StoredFile(**report["stored"]), report["subscriptions"])
        for report in reports
        if "stored" in report
    )
    attributes = tuple(sorted({name for report in reports for name in report["attributes"]}))
    examples = [tuple(example) for report in reports for example in report["examples"]]
    examples.sort(key=lambda example: (example[0] is None, example[0]))
    rejected = sum(report["rejected"] for report in reports)
    return Written(attributes, shards, rejected), examples[:EXAMPLES]


def _in_working_folder(shard: Shard) -> Shard:
    return replace(shard, stored=replace(shard.stored, file=Path(shard.stored.file).name))


def _automatic(rows: DataFrame) -> int:
    count = rows.count()
    worth = min(_parallelism(rows.sparkSession), -(-count // _WORTH_A_CORE))
    return max(1, -(-count // _MOST_A_SHARD), worth)


def _parallelism(session: SparkSession) -> int:
    """How many tasks a DataFrame of Spark's own has: asked so, as Spark Connect has no context."""
    tasks = session.range(_RANGE).select(f.spark_partition_id().alias("task"))
    return 1 + int(tasks.agg(f.max("task")).collect()[0][0])
