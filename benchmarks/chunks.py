"""Workloads on Spark in encoded form: many subscriptions a row, made from columns in the executors.

As :func:`boolfilter.spark.generate.subscriptions` does with ``form="encoded"``, but without texts
and templates, so that an experiment on millions of subscriptions of many shapes begins in seconds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from benchmarks.forests import forest_of_workload
from boolfilter.ids import ids_of
from boolfilter.layers import new_layer
from boolfilter.persistence import save_layers
from boolfilter.spark.generate import CHUNK
from boolfilter.workloads import Workload

Batches = Iterable[pa.RecordBatch]


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
