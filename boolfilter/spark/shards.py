"""A partition of subscriptions becomes a shard: what a build runs on the executors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext

from boolfilter.engine import Engine
from boolfilter.errors import BoolFilterError, SubscriptionIdError
from boolfilter.evaluate import Nulls
from boolfilter.layers import Layer, merge_layers
from boolfilter.persistence import layers_of, save_layers
from boolfilter.spark.files import stored_file
from boolfilter.spark.manifest import generation_name
from boolfilter.spark.taken import EXAMPLES
from boolfilter.storage import read_bytes

REJECTED = "rejected"
Batches = Iterable[pa.RecordBatch]
ShardWriter = Callable[[Batches], Iterator[pa.RecordBatch]]
_Row = tuple[Any, int | None, str]  # id, position, message


@dataclass(frozen=True, slots=True)
class Target:
    """Where shards go: the folder of an unfinished generation, and the number of the first."""

    working: Path
    generation: int
    first: int
    nulls: Nulls


def text_shards(target: Target) -> ShardWriter:
    """A function for `mapInArrow`: rows (id, text, in use) in, a file and a report (JSON) out."""

    def write(batches: Batches) -> Iterator[pa.RecordBatch]:
        engine = Engine(nulls=target.nulls, sample_size=0, background=False)
        id_type = pa.string()
        rejected: list[_Row] = []

        def pairs() -> Iterator[tuple[Any, Any]]:
            nonlocal id_type
            for batch in batches:
                id_type = batch.column(0).type
                for id, text, in_use in zip(*map(pa.Array.to_pylist, batch.columns), strict=True):
                    if in_use:
                        rejected.append((id, None, "the id is in use"))
                    else:
                        yield id, text

        for one in engine.subscribe_many(pairs(), errors="collect"):
            rejected.append(
                (one.id, getattr(one.error, "position", None), _message(one.id, one.error))
            )
        yield _written(target, engine.layers(), rejected, id_type)

    return write


def chunk_shards(target: Target) -> ShardWriter:
    """The same for rows of one binary column, each an engine file with many subscriptions."""

    def write(batches: Batches) -> Iterator[pa.RecordBatch]:
        layers: list[Layer] = []
        for batch in batches:
            for chunk in batch.column(0):
                layers += _layers_of(chunk.as_buffer(), target.nulls)
        merged = (merge_layers(layers),) if layers else ()
        yield _written(target, merged, [], pa.int64())

    return write


def _layers_of(chunk: pa.Buffer, nulls: Nulls) -> tuple[Layer, ...]:
    layers, found = layers_of(*read_bytes(memoryview(chunk), "a chunk"), "a chunk")
    if any(len(layer.ids.start) for layer in layers):
        raise BoolFilterError("the ids of encoded chunks are integers, and a chunk has text ids")
    if found != nulls:
        raise BoolFilterError(f"a chunk was encoded with nulls={found!r}, the index has {nulls!r}")
    return layers


def _written(
    target: Target, layers: Sequence[Layer], rejected: list[_Row], id_type: pa.DataType
) -> pa.RecordBatch:
    """Stores the layers and what was rejected; the report tells the driver what there is now."""
    context = TaskContext.get()
    number = target.first + (context.partitionId() if context else 0)
    report: dict[str, Any] = {
        "number": number,
        "subscriptions": sum(layer.live for layer in layers),
        "attributes": sorted({name for layer in layers for name in layer.segment.encoder.plans}),
        "rejected": len(rejected),
        "examples": rejected[:EXAMPLES],
    }
    if layers:
        place = target.working / f"shard-{number:05d}.bf"
        save_layers(place, layers, target.nulls)
        report["stored"] = asdict(stored_file(place, generation_name(target.generation)))
    if rejected:
        _save_rejected(target.working / f"{REJECTED}-{number:05d}.parquet", rejected, id_type)
    return pa.record_batch({"report": [json.dumps(report)]})


def _save_rejected(place: Path, rejected: list[_Row], id_type: pa.DataType) -> None:
    ids, positions, messages = zip(*rejected, strict=True)
    columns = {
        "id": pa.array(ids, id_type),
        "position": pa.array(positions, pa.int64()),
        "message": pa.array(messages, pa.string()),
    }
    draft = place.with_suffix(f".{os.getpid()}.draft")
    pq.write_table(pa.table(columns), draft)
    os.replace(draft, place)  # another attempt of this task may write the same


def _message(id: Any, error: BoolFilterError) -> str:
    if isinstance(error, SubscriptionIdError) and id is not None:
        return f"{error}: ids must be unique"
    return str(error)
