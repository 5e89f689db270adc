"""Streams into Parquet: each event once, whatever stops them, and by which generation."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import boolfilter as bf
from boolfilter import spark as bfs
from tests.spark.pairs import pairs_of

SCHEMA = "event_id bigint, a bigint"
PATIENCE = 60  # seconds


class Stream:
    """Events in a folder, matched into another one, with a checkpoint in a third."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.root = root
        subs = spark.createDataFrame([(1, "a = 1"), (2, "a = 1")], "id bigint, expression string")
        self.index = bfs.build(subs, path=root / "index")

    def add(self, event_id: int) -> None:
        """One event more, in a file of its own, so that a task of its own reads it."""
        rows = self.spark.createDataFrame([(event_id, 1)], SCHEMA).coalesce(1)
        rows.write.mode("append").parquet(str(self.root / "events"))

    def start(self, before: Callable[..., object] | None = None) -> StreamingQuery:
        events = self.spark.readStream.schema(SCHEMA).parquet(str(self.root / "events"))
        if before is not None:
            events = events.mapInArrow(before, SCHEMA)
        return (
            self.index.match(events, reload="latest")
            .writeStream.option("checkpointLocation", str(self.root / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self.root / "matches"))
        )

    def run(self) -> None:
        assert self.start().awaitTermination(PATIENCE)

    def written(self) -> set[Path]:
        """The files that a finished task wrote, committed or not."""
        files = (self.root / "matches").glob("*.parquet")
        return {file for file in files if file.stat().st_size}

    def matches(self) -> DataFrame:
        return self.spark.read.parquet(str(self.root / "matches"))


@pytest.fixture
def stream(spark, tmp_path) -> Stream:
    return Stream(spark, tmp_path)


def held_until(gate: Path, event_id: int) -> Callable[..., object]:
    """A function for mapInArrow that keeps one event back until a file is there."""

    def hold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            while event_id in batch.column(0).to_pylist() and not gate.exists():
                time.sleep(0.05)
            yield batch

    return hold


def test_a_stop_in_mid_batch_loses_nothing_and_repeats_nothing(stream, tmp_path) -> None:
    stream.add(0)
    stream.run()
    before = stream.written()
    stream.add(1)
    stream.add(2)
    query = stream.start(held_until(tmp_path / "gate", event_id=2))
    deadline = time.monotonic() + PATIENCE
    while not stream.written() - before:
        assert time.monotonic() < deadline
        assert query.isActive
        time.sleep(0.05)
    query.stop()  # event 1 is matched and its file written, event 2 is not
    assert pairs_of(stream.matches()) == [(0, 1), (0, 2)]
    stream.index.remove([2])
    stream.run()  # the same batch once more, with the generation it began with
    again = [(event, id) for event in (0, 1, 2) for id in (1, 2)]
    assert pairs_of(stream.matches()) == again
    stream.add(3)
    stream.run()  # the next one uses the generation in force
    assert pairs_of(stream.matches()) == [*again, (3, 1)]


def test_following_generations_is_for_streams(stream, spark) -> None:
    events = spark.createDataFrame([(0, 1)], SCHEMA)
    with pytest.raises(bf.BoolFilterError, match="streaming DataFrame"):
        stream.index.match(events, reload="latest")
