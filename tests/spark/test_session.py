from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession


def double(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch({"doubled": pc.multiply(batch["id"], 2)})


def test_map_in_arrow_runs_on_both_threads(spark: SparkSession) -> None:
    numbers = spark.range(1000, numPartitions=2)
    doubled = numbers.mapInArrow(double, "doubled long").toArrow()
    assert spark.sparkContext.defaultParallelism == 2
    assert sorted(doubled["doubled"].to_pylist()) == list(range(0, 2000, 2))
