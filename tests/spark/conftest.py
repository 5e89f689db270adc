"""One Spark session for all tests of this folder, on two local threads and no network."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from boolfilter import spark as bfs
from boolfilter.workloads import get
from scripts.ensure_java import find_java_home

HERE = Path(__file__).parent
SUBSCRIPTIONS = 500


@pytest.hookimpl(tryfirst=True)  # xdist reads the marks in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under xdist, all Spark tests go to one worker: they share the session."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    java_home = find_java_home()
    if java_home is None:
        pytest.fail("Spark needs Java 17 or newer: run scripts/ensure_java.py with this Python")
    os.environ["JAVA_HOME"] = str(java_home)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    files = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2,2]")  # a task that fails is tried once more
        .appName("boolfilter tests")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.local.dir", str(files / "local"))
        .config("spark.sql.warehouse.dir", str(files / "warehouse"))
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.python.daemon.module", "boolfilter.spark.daemon")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def texts() -> dict[int, str]:
    return dict(enumerate(get("skewed").texts(0, SUBSCRIPTIONS, 1)))


@pytest.fixture(scope="session")
def index(
    spark: SparkSession, texts: dict[int, str], tmp_path_factory: pytest.TempPathFactory
) -> bfs.Index:
    """The subscriptions `texts` in three shards; not to be changed."""
    rows = bfs.generate.subscriptions(spark, "skewed", SUBSCRIPTIONS, 1)
    return bfs.build(rows, path=tmp_path_factory.mktemp("index"), shards=3)
