"""New generations by merging and removal."""

import pytest

import boolfilter as bf
from boolfilter import spark as bfs
from boolfilter.spark.streaming import pinned_generation
from tests.spark.pairs import pairs_of


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


@pytest.mark.parametrize("ids", ["bigint", "string"])
def test_merging_reports_ids_in_use_beside_bad_texts(spark, tmp_path, ids) -> None:
    schema = f"id {ids}, expression string"
    one, two, three = [1, 2, 3] if ids == "bigint" else ["1", "2", "3"]
    index = bfs.build(spark.createDataFrame([(one, "a = 1")], schema), path=tmp_path)
    more = spark.createDataFrame([(one, "b = 1"), (two, "b ="), (three, "b = 1")], schema)
    merged = index.merge(more, errors="report")
    assert (len(merged), merged.manifest.rejected) == (2, 2)
    found = {row.id: row.message for row in merged.rejected.collect()}
    assert found[one] == "the id is in use"
    assert "expected" in found[two]
    events = spark.createDataFrame([(0, 1, 1)], "event_id int, a int, b int")
    assert pairs_of(merged.match(events)) == [(0, one), (0, three)]


def test_encoded_chunks_merge_unless_an_id_is_in_use(spark, tmp_path) -> None:
    chunks = bfs.generate.subscriptions(spark, "pairs", 20, 1, form="encoded", pairs=1)
    texts = spark.createDataFrame([(19, "a = 1"), (20, "a = 1")], "id bigint, expression string")
    index = bfs.build(texts, path=tmp_path)
    with pytest.raises(bfs.RejectedSubscriptionsError, match="id 19: the id is in use"):
        index.merge(chunks, expression="chunk")
    assert len(index.remove([19]).merge(chunks, expression="chunk")) == 21


def test_vacuum_deletes_what_no_kept_generation_needs(spark, tmp_path) -> None:
    schema = "id bigint, expression string"
    events = spark.createDataFrame([(0, 1)], "event_id int, a int")
    first = bfs.build(spark.createDataFrame([(1, "a = 1")], schema), path=tmp_path)
    rebuilt = bfs.build(
        spark.createDataFrame([(2, "a = 1"), (3, "a = 1")], schema), path=tmp_path, shards=1
    )
    removed = rebuilt.remove([2])
    last = removed.merge(spark.createDataFrame([(4, "a = 1")], schema))
    (tmp_path / ".unfinished-0123").mkdir()  # of a writer at work
    (tmp_path / "generation-000009").mkdir()  # of one that did not come to replace CURRENT
    assert first.vacuum(keep=2) == [1, 2]
    assert not (tmp_path / "generation-000001").exists()
    assert pairs_of(bfs.open(spark, tmp_path, generation=3).match(events)) == [(0, 3)]
    assert last.vacuum() == [3]
    assert last.vacuum() == []
    assert pairs_of(bfs.open(spark, tmp_path, broadcast_bytes=0).match(events)) == [(0, 3), (0, 4)]
    assert (tmp_path / ".unfinished-0123").exists()
    assert (tmp_path / "generation-000009").exists()
    with pytest.raises(bfs.IndexPathError, match="no generation 3"):
        bfs.open(spark, tmp_path, generation=3)
    with pytest.raises(bf.BoolFilterError, match="keep is a number from 1 on"):
        last.vacuum(keep=0)


def test_vacuum_keeps_what_a_stream_may_go_back_to(spark, tmp_path) -> None:
    subs = spark.createDataFrame([(1, "a = 1"), (2, "a = 1")], "id bigint, expression string")
    index = bfs.build(subs, path=tmp_path)
    assert pinned_generation(tmp_path, "a stream", 0) == 1
    latest = index.remove([1])
    assert latest.vacuum() == []
    assert pinned_generation(tmp_path, "a stream", 1) == 2
    assert latest.vacuum() == [1]
