"""From a DataFrame of subscriptions to an index."""

from __future__ import annotations

import os
from importlib.metadata import version

from pyspark.sql import DataFrame

from boolfilter.evaluate import Nulls, check_nulls
from boolfilter.spark.index import Index
from boolfilter.spark.manifest import (
    Manifest,
    index_folder,
    next_generation,
    publish,
    unfinished_generation,
)
from boolfilter.spark.shards import Target
from boolfilter.spark.subscriptions import subscriptions_of
from boolfilter.spark.writing import Errors, ShardCount, write_shards


def build(
    subs: DataFrame,
    id: str = "id",
    expression: str = "expression",
    *,
    path: str | os.PathLike[str],
    shards: ShardCount = "auto",
    errors: Errors = "fail",
    nulls: Nulls = "false",
) -> Index:
    """Compile subscriptions into an index at `path`, and return it.

    ``errors``: "fail" raises RejectedSubscriptionsError, which names the first few bad rows, and
    leaves `path` as it was; "report" leaves them out, and `Index.rejected` lists them. Where an
    index exists, this is its next generation. ``shards="auto"`` counts the rows first. A binary
    `expression` column holds encoded chunks, see `generate.subscriptions`; their ids are integers,
    and one that comes twice fails the build, whatever ``errors`` says.
    """
    subscriptions = subscriptions_of(subs, id, expression)
    folder = index_folder(path)
    with unfinished_generation(folder) as working:
        generation = next_generation(folder)
        target = Target(working, generation, 0, check_nulls(nulls))
        written = write_shards(subscriptions, target, shards, errors)
        manifest = Manifest(
            generation,
            nulls,
            subscriptions.id_type,
            written.attributes,
            written.shards,
            written.rejected,
            {name: version(name) for name in ("boolfilter", "pyspark", "numpy")},
        )
        publish(folder, working, manifest)
    return Index(subs.sparkSession, folder, manifest)
