"""Spark sessions for experiments: on this machine, so many tasks at a time, no network."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from scripts.ensure_java import find_java_home

_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def local_session(tasks: int, **settings: str) -> Iterator[SparkSession]:
    """A session that runs so many tasks at a time; it ends with the block.

    Settings are named with ``_`` for ``.``: ``spark_driver_memory="4g"``.
    """
    java_home = find_java_home()
    if java_home is None:
        sys.exit("Spark needs Java 17 or newer: run scripts/ensure_java.py with this Python")
    os.environ["JAVA_HOME"] = str(java_home)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master(f"local[{tasks}]").appName("boolfilter benchmarks")
        chosen = {
            **_SETTINGS,
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": str(Path(folder) / "warehouse"),
            "spark.sql.shuffle.partitions": str(tasks),
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        for name, value in chosen.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield session
        finally:
            session.stop()


def run_through(rows: DataFrame) -> None:
    """Compute all of a DataFrame and keep nothing."""
    rows.write.format("noop").mode("overwrite").save()
