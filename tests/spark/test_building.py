"""From DataFrames to an index, and what is refused."""

import pytest

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
