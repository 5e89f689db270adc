"""Results are whole or there are none: killed workers, and shards that are not as they were."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PythonException

import boolfilter.spark.index as index_module
from boolfilter import spark as bfs
from boolfilter.spark.matching import matcher
from boolfilter.workloads import get
from tests.spark.pairs import local_pairs, pairs_of

EVENTS = 200


def matcher_that_dies_once(marker: Path) -> Callable[..., object]:
    """A stand-in for `matcher`: the first worker that has handed over a part kills itself."""

    def dying(*arguments: object) -> object:
        match = matcher(*arguments)  # type: ignore[arg-type]

        def match_or_die(events: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for part in match(events):
                yield part
                try:
                    marker.touch(exist_ok=False)
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)

        return match_or_die

    return dying


def test_a_worker_killed_in_mid_task_changes_no_result(
    spark, index, texts, tmp_path, monkeypatch
) -> None:
    marker = tmp_path / "died"
    monkeypatch.setattr(index_module, "matcher", matcher_that_dies_once(marker))
    events = bfs.generate.events(spark, "skewed", EVENTS, 2, partitions=2)
    found = pairs_of(index.match(events))
    assert marker.exists()
    assert found == local_pairs(texts, get("skewed").events(0, EVENTS, 2))


@pytest.fixture
def small(spark, tmp_path) -> bfs.Index:
    """Two shards, not broadcast."""
    subs = spark.createDataFrame([(1, "a = 1"), (2, "a = 1")], "id bigint, expression string")
    bfs.build(subs, path=tmp_path / "index", shards=2)
    return bfs.open(spark, tmp_path / "index", broadcast_bytes=0)


@pytest.mark.parametrize("damage", ["missing", "changed", "of another index"])
def test_a_shard_that_is_not_as_built_fails_the_job_and_is_named(spark, small, damage) -> None:
    last = small.manifest.shards[-1]
    place = small.folder / last.stored.file
    if damage == "missing":
        place.unlink()
    elif damage == "changed":
        content = bytearray(place.read_bytes())
        content[-1] ^= 1
        place.write_bytes(content)
    else:
        place.write_bytes((small.folder / small.manifest.shards[0].stored.file).read_bytes())
    events = spark.createDataFrame([(0, 1)], "event_id bigint, a bigint")
    with pytest.raises(PythonException, match=f"shard {last.number} cannot be used on .*{place}"):
        small.match(events).collect()


def test_an_executor_without_the_folder_fails_the_job_unless_the_index_was_sent(
    spark, small, tmp_path
) -> None:
    events = spark.createDataFrame([(0, 1)], "event_id bigint, a bigint")
    mapped = small.match(events)
    sent_index = bfs.open(spark, small.folder)
    sent, counts = sent_index.match(events), sent_index.counts(events)
    os.rename(small.folder, tmp_path / "elsewhere")
    with pytest.raises(PythonException, match=r"shard 0 cannot be used on .*No such file"):
        mapped.collect()
    assert pairs_of(sent) == [(0, 1), (0, 2)]
    assert sorted(map(tuple, counts.collect())) == [(1, 1), (2, 1)]


def test_the_driver_names_a_shard_that_it_cannot_send(spark, small) -> None:
    place = small.folder / small.manifest.shards[1].stored.file
    place.unlink()
    events = spark.createDataFrame([(0, 1)], "event_id bigint, a bigint")
    with pytest.raises(bfs.ShardError, match="No such file") as caught:
        bfs.open(spark, small.folder).match(events)
    assert (caught.value.shard, caught.value.path) == (1, str(place))
