"""Synthetic subscriptions and events as DataFrames, made in the executors by row number.

A row depends on the workload, the seed and its number only, never on the partitioning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from boolfilter.engine import Engine
from boolfilter.persistence import parts_of
from boolfilter.storage import file_bytes
from boolfilter.workloads import TemplatedWorkload, Workload, get

CHUNK = 100_000  # subscriptions in an encoded chunk
_PAPER_SUBSCRIPTIONS = 5_000_000  # the most of paper 002

Batches = Iterable[pa.RecordBatch]


def subscriptions(
    session: SparkSession,
    workload: str | Workload = "paper",
    n: int = 1_000,
    seed: int = 0,
    *,
    form: Literal["text", "encoded"] = "text",
    partitions: int | None = None,
    **parameters: Any,
) -> DataFrame:
    """DataFrame(id, expression), or DataFrame(chunk): encoded, many subscriptions a row.

    `build` takes the second with ``expression="chunk"``, many times faster. "paper" is the
    `noncanonical` workload of 5,000,000 subscriptions, of which `n` are made.
    """
    chosen = _workload(workload, parameters)
    if form == "encoded":
        numbers = session.range(0, -(-n // CHUNK), 1, partitions)
        return numbers.mapInArrow(_chunks(chosen, n, seed, CHUNK), "chunk binary")
    rows = session.range(0, n, 1, partitions)
    return rows.mapInArrow(_texts(chosen, seed), "id bigint, expression string")


def events(
    session: SparkSession,
    workload: str | Workload = "paper",
    n: int = 1_000,
    seed: int = 0,
    *,
    partitions: int | None = None,
    **parameters: Any,
) -> DataFrame:
    """DataFrame(event_id, attributes...), null where an event has no such attribute."""
    chosen = _workload(workload, parameters)
    attributes = from_arrow_schema(chosen.event_table(0, 1, seed).schema)
    columns = ", ".join(f"`{c.name}` {c.dataType.simpleString()}" for c in attributes)
    rows = session.range(0, n, 1, partitions)
    return rows.mapInArrow(_events(chosen, seed), f"event_id bigint, {columns}")


def _workload(workload: str | Workload, parameters: dict[str, Any]) -> Workload:
    if isinstance(workload, Workload):
        return workload
    if workload == "paper":
        return get("noncanonical", **{"subscriptions": _PAPER_SUBSCRIPTIONS, **parameters})
    return get(workload, **parameters)


def _texts(workload: Workload, seed: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def make(batches: Batches) -> Iterator[pa.RecordBatch]:
        for ids, start, stop in _ranges(batches):
            texts = pa.array(workload.texts(start, stop, seed), pa.string())
            yield pa.record_batch([ids, texts], names=["id", "expression"])

    return make


def _events(workload: Workload, seed: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def make(batches: Batches) -> Iterator[pa.RecordBatch]:
        for ids, start, stop in _ranges(batches):
            table = workload.event_table(start, stop, seed)
            yield from table.add_column(0, "event_id", ids).combine_chunks().to_batches()

    return make


def _chunks(
    workload: Workload, n: int, seed: int, size: int
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def make(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                start, stop = number * size, min(n, (number + 1) * size)
                chunk = _encoded(workload, start, stop, seed)
                yield pa.record_batch([pa.array([chunk], pa.binary())], names=["chunk"])

    return make


def _encoded(workload: Workload, start: int, stop: int, seed: int) -> bytes:
    engine = Engine(sample_size=0, background=False)
    if isinstance(workload, TemplatedWorkload):
        for template in workload.templates(start, stop, seed):
            rows: Any = template.rows  # arrays are sequences enough, though not to mypy
            columns: Any = template.columns
            engine.subscribe_template(template.text, rows, columns)
    else:
        texts = workload.texts(start, stop, seed)
        engine.subscribe_many(zip(range(start, stop), texts, strict=True))
    return file_bytes(*parts_of(engine.layers(), engine.nulls))


def _ranges(batches: Batches) -> Iterator[tuple[pa.Array, int, int]]:
    """The ids of each batch, which Spark makes in order, and their range."""
    for batch in batches:
        if batch.num_rows:
            start = batch.column(0)[0].as_py()
            yield batch.column(0), start, start + batch.num_rows
