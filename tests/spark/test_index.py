"""Build, open, match, count and remove, each against the local engine."""

from pathlib import Path

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import boolfilter as bf
from boolfilter import spark as bfs
from boolfilter.workloads import get

COUNT = 500


def pairs_of(matches) -> list[tuple]:
    return sorted(tuple(row) for row in matches.collect())


def local_pairs(texts: dict, events: list[dict], nulls="false") -> list[tuple]:
    engine = bf.Engine(nulls=nulls)
    engine.subscribe_many(texts.items())
    return sorted((place, id) for place, ids in enumerate(engine.match_many(events)) for id in ids)


@pytest.fixture(scope="module")
def texts() -> dict[int, str]:
    return dict(enumerate(get("skewed").texts(0, COUNT, 1)))


@pytest.fixture(scope="module")
def index(spark: SparkSession, texts, tmp_path_factory) -> bfs.Index:
    rows = bfs.generate.subscriptions(spark, "skewed", COUNT, 1)
    return bfs.build(rows, path=tmp_path_factory.mktemp("index"), shards=3)


@pytest.mark.parametrize("shards_per_task", [None, 1])
def test_matches_are_those_of_the_local_engine(spark, index, texts, shards_per_task) -> None:
    events = bfs.generate.events(spark, "skewed", 200, 2)
    expected = local_pairs(texts, get("skewed").events(0, 200, 2))
    found = bfs.open(spark, index.folder).match(events, shards_per_task=shards_per_task)
    assert found.columns == ["event_id", "subscription_id"]
    assert pairs_of(found) == expected
    assert expected


def test_counts_are_the_matches_of_each_subscription(spark, index, texts) -> None:
    events = bfs.generate.events(spark, "skewed", 200, 2)
    expected: dict[int, int] = {}
    for _, id in local_pairs(texts, get("skewed").events(0, 200, 2)):
        expected[id] = expected.get(id, 0) + 1
    assert dict(index.counts(events).collect()) == expected


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_generated_rows_do_not_depend_on_the_partitioning(spark, partitions) -> None:
    rows = bfs.generate.subscriptions(spark, "paper", 50, 3, partitions=partitions)
    workload = get("noncanonical", subscriptions=5_000_000)
    assert [text for _, text in pairs_of(rows)] == workload.texts(0, 50, 3)
    events = bfs.generate.events(spark, "pairs", 50, 3, partitions=partitions).orderBy("event_id")
    found = [row.asDict() for row in events.collect()]
    assert [event.pop("event_id") for event in found] == list(range(50))
    assert found == get("pairs").events(0, 50, 3)


def test_encoded_subscriptions_match_as_their_texts_do(spark, tmp_path) -> None:
    encoded = bfs.generate.subscriptions(spark, "pairs", 300, 1, form="encoded", pairs=1)
    index = bfs.build(encoded, expression="chunk", path=tmp_path)
    workload = get("pairs", pairs=1)
    expected = local_pairs(dict(enumerate(workload.texts(0, 300, 1))), workload.events(0, 50, 2))
    assert pairs_of(index.match(bfs.generate.events(spark, workload, 50, 2))) == expected
    assert expected


def test_an_id_in_two_encoded_chunks_fails_and_leaves_nothing(spark, tmp_path) -> None:
    encoded = bfs.generate.subscriptions(spark, "pairs", 50, 1, form="encoded", pairs=1)
    twice = encoded.union(encoded)
    for shards in (1, 7):  # the two chunks in one shard, and most likely in two
        with pytest.raises(Exception, match="twice"):
            bfs.build(twice, expression="chunk", path=tmp_path / str(shards), shards=shards)
        assert not (tmp_path / str(shards) / "CURRENT").exists()


@pytest.mark.parametrize("nulls", ["false", "sql"])
def test_structs_arrays_nulls_and_text_ids(spark, tmp_path, nulls) -> None:
    texts = {"nz": "user.country = 'NZ'", "tag": "tags = 'x'", "not": "NOT price = 5"}
    subs = spark.createDataFrame(list(texts.items()), "id string, expression string")
    index = bfs.build(subs, path=tmp_path, nulls=nulls)
    schema = "event_id int, user struct<country:string>, tags array<string>, price int"
    rows = [(0, ("NZ",), ["y", "x"], None), (1, None, [], 5), (2, ("AU",), None, 6)]
    events = [{"user": {"country": "NZ"}, "tags": ["y", "x"]}, {"price": 5},
              {"user": {"country": "AU"}, "price": 6}]  # fmt: skip
    found = index.match(spark.createDataFrame(rows, schema))
    assert found.dtypes == [("event_id", "int"), ("subscription_id", "string")]
    assert pairs_of(found) == local_pairs(texts, events, nulls)


def test_bad_and_duplicate_rows_fail_by_id_and_leave_nothing(spark, tmp_path) -> None:
    rows = [(1, "a = 1"), (2, "a = "), (3, "b = 1"), (3, "b = 2")]
    subs = spark.createDataFrame(rows, "id int, expression string").repartition(4)
    with pytest.raises(bfs.RejectedSubscriptionsError, match="2 bad subscriptions") as caught:
        bfs.build(subs, path=tmp_path / "index", shards=2)
    assert [id for id, _, _ in caught.value.examples] == [2, 3]
    assert list((tmp_path / "index").iterdir()) == []
    with pytest.raises(bfs.IndexPathError, match="there is no index"):
        bfs.open(spark, tmp_path / "index")
    index = bfs.build(subs, path=tmp_path / "index", shards=2, errors="report")
    assert len(index) == 2
    assert sorted((row.id, row.position) for row in index.rejected.collect()) == [(2, 4), (3, None)]


def test_merging_is_a_new_generation_and_the_old_one_stays(spark, tmp_path) -> None:
    schema = "id bigint, expression string"
    index = bfs.build(spark.createDataFrame([(1, "a = 1"), (2, "b = 1")], schema), path=tmp_path)
    more = spark.createDataFrame([(3, "c = 1"), (4, "a = 1 AND d = 2")], schema)
    merged = index.merge(more).remove([1])
    events = spark.createDataFrame([(0, 1, 1, 1, 2)], "event_id int, a int, b int, c int, d int")
    assert pairs_of(merged.match(events)) == [(0, 2), (0, 3), (0, 4)]
    assert pairs_of(index.match(events)) == [(0, 1), (0, 2)]
    assert (len(index), len(merged), merged.generation) == (2, 3, 3)
    assert bfs.open(spark, tmp_path).manifest == merged.manifest
    # What was removed may come again; what is there may not, and nothing is changed then.
    again = merged.merge(spark.createDataFrame([(1, "d = 2")], schema))
    with pytest.raises(bfs.RejectedSubscriptionsError, match="id 3: the id is in use"):
        again.merge(spark.createDataFrame([(3, "d = 2"), (5, "d = 2")], schema))
    with pytest.raises(bf.BoolFilterError, match="bigint"):
        again.merge(spark.createDataFrame([("x", "d = 2")], "id string, expression string"))
    assert bfs.open(spark, tmp_path).manifest == again.manifest
    assert pairs_of(again.match(events)) == [(0, 1), (0, 2), (0, 3), (0, 4)]


def test_text_ids_in_use_cannot_be_merged(spark, tmp_path) -> None:
    schema = "id string, expression string"
    index = bfs.build(spark.createDataFrame([("x", "a = 1")], schema), path=tmp_path)
    with pytest.raises(bfs.RejectedSubscriptionsError, match="in use"):
        index.merge(spark.createDataFrame([("x", "b = 1")], schema))
    assert len(index.merge(spark.createDataFrame([("y", "b = 1")], schema))) == 2


def test_removal_is_a_new_generation_and_the_old_one_stays(spark, tmp_path) -> None:
    subs = spark.createDataFrame([(1, "a = 1"), (2, "a = 1")], "id bigint, expression string")
    events = spark.createDataFrame([(0, 1)], "event_id bigint, a bigint")
    first = bfs.build(subs, path=tmp_path, shards=2)
    second = first.remove([1])
    assert pairs_of(second.match(events)) == pairs_of(first.latest().match(events)) == [(0, 2)]
    assert pairs_of(first.match(events)) == [(0, 1), (0, 2)]
    with pytest.raises(bf.UnknownSubscriptionError):
        second.remove([1])
    assert (second.generation, len(second)) == (2, 1)


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_missing_or_damaged_shard_fails_the_job_and_is_named(spark, tmp_path, damage) -> None:
    subs = spark.createDataFrame([(1, "a = 1"), (2, "a = 1")], "id bigint, expression string")
    bfs.build(subs, path=tmp_path, shards=1)
    index = bfs.open(spark, tmp_path, broadcast_bytes=0)
    shard = Path(tmp_path, index.manifest.shards[0].stored.file)
    if damage == "missing":
        shard.unlink()
    else:
        content = bytearray(shard.read_bytes())
        content[-1] ^= 1
        shard.write_bytes(content)
    events = spark.createDataFrame([(0, 1)], "event_id bigint, a bigint")
    with pytest.raises(PythonException, match="shard 0 cannot be used on"):
        index.match(events).collect()


def test_a_stream_is_matched_once_across_a_restart_and_follows_generations(spark, tmp_path) -> None:
    subs = spark.createDataFrame([(1, "a = 1"), (2, "a = 1")], "id bigint, expression string")
    index = bfs.build(subs, path=tmp_path / "index")

    def run(number: int) -> list[tuple]:
        events = spark.createDataFrame([(number, 1)], "event_id bigint, a bigint")
        events.write.mode("append").parquet(str(tmp_path / "events"))
        stream = spark.readStream.schema("event_id bigint, a bigint").parquet(
            str(tmp_path / "events")
        )
        query = (
            index.match(stream, reload="latest")
            .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "matches"))
        )
        query.awaitTermination()
        return pairs_of(spark.read.parquet(str(tmp_path / "matches")))

    assert run(0) == [(0, 1), (0, 2)]
    index.remove([2])
    assert run(1) == [(0, 1), (0, 2), (1, 1)]
