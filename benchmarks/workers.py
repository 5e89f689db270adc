"""What the Python workers of a Spark session hold in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession


def memory_of_workers(session: SparkSession, tasks: int) -> dict[str, int]:
    """Bytes ``mapped`` and ``private``, see :func:`memory_in`, of the worker that holds most."""

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pylist([memory_in(Path("/proc/self/smaps").read_text())])

    numbers = session.range(0, tasks, 1, tasks)  # Spark gives tasks to workers that are there
    found = numbers.mapInArrow(look, "mapped bigint, private bigint").collect()
    return {name: max(row[name] for row in found) for name in ("mapped", "private")}


def memory_in(smaps: str) -> dict[str, int]:
    """The bytes that a process has in pages of shards, and in pages of its own, by its ``smaps``.

    >>> smaps = '''7f00-7f10 r--p 0 08:01 12   /index/generation-000001/shard-00000.bf
    ... Rss:        40 kB
    ... 7f20-7f30 rw-p 0 00:00 0
    ... Rss:        12 kB
    ... Private_Dirty:  8 kB'''
    >>> memory_in(smaps)
    {'mapped': 40960, 'private': 8192}
    """
    held = {"mapped": 0, "private": 0}
    of_a_shard = False
    for line in smaps.splitlines():
        name, _, rest = line.partition(" ")
        if not name.endswith(":"):
            of_a_shard = line.endswith(".bf")
        elif of_a_shard and name == "Rss:":
            held["mapped"] += int(rest.split()[0]) << 10
        elif not of_a_shard and name.startswith("Private_"):
            held["private"] += int(rest.split()[0]) << 10
    return held
