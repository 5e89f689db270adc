"""Spark Connect, which has to be another process: one has a session of either kind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.ensure_java import find_java_home

pytest.importorskip("grpc_status", reason="Spark Connect needs pip install 'pyspark[connect]'")

PROGRAM = """
import sys
from pyspark.sql import SparkSession
from boolfilter import spark as bfs

session = SparkSession.builder.remote("local[2]").getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "2")
path = sys.argv[1]
schema = "id bigint, expression string"
index = bfs.build(session.createDataFrame([(1, "a = 1"), (2, "a > 1")], schema), path=path)
more = session.createDataFrame([(1, "a = 1"), (3, "a < 2")], schema)
merged = index.merge(more, errors="report")
assert [row.id for row in merged.rejected.collect()] == [1]
left = merged.remove([2])
events = session.createDataFrame([(0, 1), (1, 2)], "event_id bigint, a bigint")
mapped = bfs.open(session, path, broadcast_bytes=0)
for one in (left, mapped):
    found = sorted(map(tuple, one.match(events).collect()))
    assert found == [(0, 1), (0, 3)], found
assert sorted(map(tuple, index.counts(events).collect())) == [(1, 1), (2, 1)]
print("done with", type(session).__module__)
session.stop()
"""


@pytest.mark.slow  # starts a Spark of its own
def test_build_match_and_merge_work_under_spark_connect(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_java_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path / "index")],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    assert "pyspark.sql.connect.session" in done.stdout
