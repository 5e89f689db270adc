"""What experiments on Spark work on: an index and events of a workload, stored in a folder.

Subscriptions are made in encoded form, many a row, as with ``form="encoded"`` of
:func:`boolfilter.spark.generate.subscriptions`, but from columns, without texts and templates: so
an experiment on millions of subscriptions of as many shapes begins in seconds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from benchmarks.forests import forest_of_workload
from benchmarks.measure import seconds_of
from benchmarks.sessions import local_session
from boolfilter import spark as bfs
from boolfilter.ids import ids_of
from boolfilter.layers import new_layer
from boolfilter.persistence import save_layers
from boolfilter.spark.generate import CHUNK
from boolfilter.workloads import Pairs, Workload

Batches = Iterable[pa.RecordBatch]
TASKS = 2  # of a session that prepares


def prepare(
    folder: str, subscriptions: int, events: int, seed: int, shards: int | Literal["auto"] = "auto"
) -> dict[str, Any]:
    """Write an index of P and events, and say how long it took; for :func:`in_child`.

    In a process of its own, as loading leaves memory behind that matching is not to be blamed for.
    """
    with local_session(TASKS) as session:
        workload, chunks = Pairs(), f"{folder}/chunks"
        generated = seconds_of(
            lambda: encoded(session, workload, subscriptions, seed).write.parquet(chunks)
        )
        built = seconds_of(lambda: build_index(session, folder, shards))
        store_events(session, folder, events, seed)
        stored = bfs.open(session, index_folder(folder)).manifest.shards
    return {
        "shards": len(stored),
        "generate_seconds": generated,
        "build_seconds": built,
        "disk_bytes_a_subscription": sum(one.stored.bytes for one in stored) / subscriptions,
    }


def build_index(session: SparkSession, folder: str, shards: int | Literal["auto"]) -> bfs.Index:
    chunks = session.read.parquet(f"{folder}/chunks")
    return bfs.build(chunks, expression="chunk", path=index_folder(folder), shards=shards)


def store_events(session: SparkSession, folder: str, events: int, seed: int) -> None:
    bfs.generate.events(session, Pairs(), events, seed).write.parquet(events_folder(folder))


def index_folder(folder: str) -> str:
    return f"{folder}/index"


def events_folder(folder: str) -> str:
    return f"{folder}/events"


def encoded(session: SparkSession, workload: Workload, n: int, seed: int) -> DataFrame:
    """DataFrame(chunk) of the first `n` subscriptions, for ``build(..., expression="chunk")``."""
    numbers = session.range(0, -(-n // CHUNK))
    return numbers.mapInArrow(_chunks(workload, n, seed), "chunk binary")


def chunk(workload: Workload, start: int, stop: int, seed: int) -> bytes:
    """The subscriptions ``start`` to ``stop - 1`` as an engine file; their ids are row numbers."""
    forest = forest_of_workload(workload, stop - start, seed, start)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "chunk.bf"
        save_layers(place, (new_layer(ids_of(np.arange(start, stop)), forest),), "false")
        return place.read_bytes()


def _chunks(workload: Workload, n: int, seed: int) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def make(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                stop = min(n, (number + 1) * CHUNK)
                encoded = chunk(workload, number * CHUNK, stop, seed)
                yield pa.record_batch([pa.array([encoded], pa.binary())], names=["chunk"])

    return make
