"""A partition of subscriptions becomes a shard: what a build runs on the executors."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark import TaskContext

from boolfilter.engine import Engine, Rejected
from boolfilter.errors import BoolFilterError, SubscriptionIdError
from boolfilter.evaluate import Nulls
from boolfilter.layers import Layer, merge_layers
from boolfilter.persistence import open_layers, save_layers
from boolfilter.spark.worker import stored_file

REJECTED = "rejected"
EXAMPLES = 5
Batches = Iterable[pa.RecordBatch]
ShardWriter = Callable[[Batches], Iterator[pa.RecordBatch]]


def text_shards(working: Path, generation: str, first: int, nulls: Nulls) -> ShardWriter:
    """A function for `mapInArrow`: rows (id, expression) in, a file and a report (JSON) out."""

    def write(batches: Batches) -> Iterator[pa.RecordBatch]:
        engine = Engine(nulls=nulls, sample_size=0, background=False)
        id_type = pa.string()
        kinds: list[pa.DataType] = []

        def pairs() -> Iterator[tuple[Any, Any]]:
            for batch in batches:
                kinds.append(batch.schema.types[0])
                yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(),
                               strict=True)  # fmt: skip

        rejected = engine.subscribe_many(pairs(), errors="collect")
        id_type = kinds[0] if kinds else id_type
        yield _written(
            working, generation, first, engine._snapshot.layers, nulls, rejected, id_type
        )

    return write


def chunk_shards(working: Path, generation: str, first: int, nulls: Nulls) -> ShardWriter:
    """The same for rows of one binary column, each an engine file with many subscriptions."""

    def write(batches: Batches) -> Iterator[pa.RecordBatch]:
        layers: list[Layer] = []
        for batch in batches:
            for chunk in batch.column(0):
                layers += _layers_of(chunk.as_buffer(), nulls)
        merged = (merge_layers(layers),) if layers else ()
        yield _written(working, generation, first, merged, nulls, [], pa.int64())

    return write


def repeated_ids(places: Iterable[Path]) -> NDArray[np.int64]:
    """The ids that several shards of chunks have: nothing brought equal ids together there."""
    numbers = [layer.ids.number for place in places for layer in open_layers(place)[0]]
    ordered = np.sort(np.concatenate([np.empty(0, np.int64), *numbers]))
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def _layers_of(chunk: pa.Buffer, nulls: Nulls) -> tuple[Layer, ...]:
    descriptor, place = tempfile.mkstemp(suffix=".bf")
    try:
        with open(descriptor, "wb") as file:
            file.write(chunk)
        layers, found = open_layers(place)
    finally:
        os.unlink(place)  # the mapping stays
    if any(len(layer.ids.start) for layer in layers):
        raise BoolFilterError("the ids of encoded chunks are integers, and a chunk has text ids")
    if found != nulls:
        raise BoolFilterError(f"a chunk was encoded with nulls={found!r}, the index has {nulls!r}")
    return layers


def _written(
    working: Path,
    generation: str,
    first: int,
    layers: tuple[Layer, ...],
    nulls: Nulls,
    rejected: list[Rejected],
    id_type: pa.DataType,
) -> pa.RecordBatch:
    context = TaskContext.get()
    number = first + (context.partitionId() if context else 0)
    report: dict[str, Any] = {"number": number, "subscriptions": sum(map(len, _ids(layers)))}
    if layers:
        place = working / f"shard-{number:05d}.bf"
        save_layers(place, layers, nulls)
        report["stored"] = asdict(stored_file(place, generation))
    report["attributes"] = sorted(
        {name for layer in layers for name in layer.segment.encoder.plans}
    )
    rows = [(one.id, getattr(one.error, "position", None), _message(one)) for one in rejected]
    report["rejected"], report["examples"] = len(rows), rows[:EXAMPLES]
    if rows:
        columns = [pa.array(column, kind) for column, kind in
                   zip(zip(*rows, strict=True), (id_type, pa.int64(), pa.string()),
                       strict=True)]  # fmt: skip
        table = pa.table(columns, names=["id", "position", "message"])
        pq.write_table(table, working / f"{REJECTED}-{number:05d}.parquet")
    return pa.record_batch({"report": [json.dumps(report)]})


def _ids(layers: Iterable[Layer]) -> list[Any]:
    return [layer.ids for layer in layers]


def _message(rejected: Rejected) -> str:
    if isinstance(rejected.error, SubscriptionIdError) and rejected.id is not None:
        return f"{rejected.error}: ids must be unique"
    return str(rejected.error)
