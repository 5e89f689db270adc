"""Generated rows depend on the workload, the seed and the row number, and on nothing else."""

import json
from functools import reduce

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

import boolfilter.spark.generate as generate
from boolfilter.workloads import get, names

ROWS, CHUNK = 60, 23
PARTITIONS = (1, 2, 7)


def everything(spark, name: str, partitions: int) -> DataFrame:
    """DataFrame(partitions, kind, row, content) of texts, events and encoded chunks."""
    texts = generate.subscriptions(spark, name, ROWS, 3, partitions=partitions)
    events = generate.events(spark, name, ROWS, 3, partitions=partitions)
    chunks = generate.subscriptions(spark, name, ROWS, 3, form="encoded", partitions=partitions)
    event = f.struct([f.col(column) for column in events.columns if column != "event_id"])
    parts = [
        texts.select(f.lit("text"), "id", "expression"),
        events.select(f.lit("event"), "event_id", f.to_json(event)),
        chunks.select(f.lit("chunk"), f.lit(0), f.md5("chunk")),
    ]
    return reduce(DataFrame.union, parts).select(f.lit(partitions), "*")


@pytest.mark.parametrize("name", names())
def test_rows_do_not_depend_on_the_partitioning(spark, name, monkeypatch) -> None:
    monkeypatch.setattr(generate, "CHUNK", CHUNK)  # so that there are some to deal out
    # One job for all: a task costs more than its rows.
    made = reduce(DataFrame.union, [everything(spark, name, count) for count in PARTITIONS])
    rows: dict[tuple[int, str], list[tuple]] = {}
    for partitions, kind, row, content in made.collect():
        rows.setdefault((partitions, kind), []).append((row, content))
    for kind in ("text", "event", "chunk"):
        one, two, seven = (sorted(rows[partitions, kind]) for partitions in PARTITIONS)
        assert one == two == seven
    assert sorted(rows[7, "text"]) == list(enumerate(get(name).texts(0, ROWS, 3)))
    events = [(row, json.loads(content)) for row, content in sorted(rows[7, "event"])]
    assert events == list(enumerate(get(name).events(0, ROWS, 3)))
    assert len(rows[7, "chunk"]) == -(-ROWS // CHUNK)
