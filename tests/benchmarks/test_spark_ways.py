"""What the experiments on Spark compare, without Spark: the same subscriptions in other forms."""

from pathlib import Path

import boolfilter as bf
from benchmarks.spark_inputs import chunk
from benchmarks.spark_ways import compiled, python, tables_of
from boolfilter.workloads import Pairs

WORKLOAD = Pairs(pairs=2, largest=99)


def test_chunks_are_the_subscriptions_of_the_texts(tmp_path: Path) -> None:
    (tmp_path / "chunk.bf").write_bytes(chunk(WORKLOAD, 500, 800, seed=3))
    engine = bf.Engine()
    engine.subscribe_many(enumerate(WORKLOAD.texts(500, 800, seed=3), 500))
    events = WORKLOAD.events(0, 200, seed=3)
    assert bf.Engine.open(tmp_path / "chunk.bf").match_many(events) == engine.match_many(events)


def test_subscriptions_as_python_are_true_of_the_same_events() -> None:
    texts = WORKLOAD.texts(0, 100)
    events = WORKLOAD.events(0, 100)
    engine = bf.Engine()
    engine.subscribe_many(enumerate(texts))
    arguments = ", ".join(events[0])
    functions = [compiled(f"lambda {arguments}: {python(text)}") for text in texts]
    found = [[n for n, function in enumerate(functions) if function(**e)] for e in events]
    assert found == engine.match_many(events)
    assert any(found)


def test_baseline_of_a_worker_is_compiled_once() -> None:
    texts = tuple(WORKLOAD.texts(0, 10))
    assert tables_of("noncanonical", texts) is tables_of("noncanonical", texts)
