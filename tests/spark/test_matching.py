"""Matches and counts, each against the local engine."""

import pytest

from boolfilter import spark as bfs
from boolfilter.workloads import get
from tests.spark.pairs import local_pairs, pairs_of


@pytest.mark.parametrize("shards_per_task", [None, 1])
def test_matches_are_those_of_the_local_engine(spark, index, texts, shards_per_task) -> None:
    events = bfs.generate.events(spark, "skewed", 200, 2)
    expected = local_pairs(texts, get("skewed").events(0, 200, 2))
    found = bfs.open(spark, index.folder, broadcast_bytes=0).match(
        events, shards_per_task=shards_per_task
    )
    assert found.columns == ["event_id", "subscription_id"]
    assert pairs_of(found) == expected
    assert expected


def test_counts_are_the_matches_of_each_subscription(spark, index, texts) -> None:
    events = bfs.generate.events(spark, "skewed", 200, 2)
    expected: dict[int, int] = {}
    for _, id in local_pairs(texts, get("skewed").events(0, 200, 2)):
        expected[id] = expected.get(id, 0) + 1
    assert dict(index.counts(events).collect()) == expected


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
