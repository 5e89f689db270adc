"""Spark's Python daemon, with boolfilter in it: workers are its forks and need not load it.

With ``spark.python.daemon.module=boolfilter.spark.daemon`` in the configuration of a session, a
Python worker starts a second and a half sooner, and all of a host share the code in memory.
"""

from __future__ import annotations

from pyspark.daemon import manager

import boolfilter.spark.matching
import boolfilter.spark.shards  # noqa: F401

if __name__ == "__main__":
    manager()
