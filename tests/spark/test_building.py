"""From DataFrames to an index, and what is refused."""

import pytest

import boolfilter as bf
from boolfilter import spark as bfs
from boolfilter.workloads import get
from tests.spark.pairs import local_pairs, pairs_of


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


def test_an_index_of_nothing_matches_nothing_and_grows(spark, tmp_path) -> None:
    schema = "id string, expression string"
    index = bfs.build(spark.createDataFrame([], schema), path=tmp_path)
    events = spark.createDataFrame([(0, 1)], "event_id int, a int")
    matches = bfs.open(spark, tmp_path).match(events, shards_per_task=1)
    assert matches.dtypes == [("event_id", "int"), ("subscription_id", "string")]
    assert (len(index), pairs_of(matches), pairs_of(index.counts(events))) == (0, [], [])
    merged = index.merge(spark.createDataFrame([("x", "a = 1")], schema), shards=1)
    assert pairs_of(merged.match(events)) == [(0, "x")]


def test_null_ids_and_null_texts_are_bad_rows(spark, tmp_path) -> None:
    rows = [(None, "a = 1"), (None, "b = 1"), (1, None), (2, "a = 1")]
    subs = spark.createDataFrame(rows, "id bigint, expression string")
    index = bfs.build(subs, path=tmp_path, shards=1, errors="report")
    assert len(index) == 1
    found = sorted(((row.id, row.message) for row in index.rejected.collect()), key=str)
    assert [id for id, _ in found] == [1, None, None]
    assert "an id is a string or an integer" in found[1][1]
    assert "not NoneType" in found[0][1]


def test_what_cannot_be_an_index_is_refused_before_any_work(spark, index, tmp_path) -> None:
    subs = spark.createDataFrame([(1, "a = 1", 0.5)], "id int, expression string, weight double")
    (tmp_path / "file").touch()
    wrong = {
        "there is no column 'text', but id, expression, weight": {"expression": "text"},
        "there is no column 'key'": {"id": "key"},
        "column 'weight' is double": {"id": "weight"},
        "texts or encoded chunks, column 'id' is int": {"expression": "id"},
        "shards is a number from 1 on": {"shards": 0},
        "errors is": {"errors": "ignore"},
        "not a URL": {"path": "s3://bucket/index"},
        "nulls is": {"nulls": "none"},
        "is in the way": {"path": tmp_path / "file"},
    }
    for message, options in wrong.items():
        with pytest.raises(bf.BoolFilterError, match=message):
            bfs.build(subs, **{"path": tmp_path / "index", **options})
    assert not list(tmp_path.glob("index/*"))
    with pytest.raises(bf.BoolFilterError, match="there is no column 'event_id', but id"):
        index.match(subs)
    with pytest.raises(bf.BoolFilterError, match="shards_per_task is a number from 1 on"):
        index.match(subs, "id", shards_per_task=0)
