"""From a DataFrame of subscriptions to an index."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Literal

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
from boolfilter.spark.writing import Errors, write_shards


def build(
    subs: DataFrame,
    id: str = "id",
    expression: str = "expression",
    *,
    path: str | os.PathLike[str],
    shards: int | Literal["auto"] = "auto",
    errors: Errors = "fail",
    nulls: Nulls = "false",
) -> Index:
    """Compile subscriptions into an index at `path`, and return it.

    ``errors``: "fail" raises RejectedSubscriptionsError, which names the first few bad rows, and
    leaves `path` as it was; "report" leaves them out, and `Index.rejected` lists them. Where an
    index exists, this is its next generation. A binary `expression` column holds encoded chunks,
    see `generate.subscriptions`; their ids are integers, and one that comes twice fails the build.
    """
    folder = index_folder(path)
    with unfinished_generation(folder) as working:
        generation = next_generation(folder)
        built = write_shards(
            subs, id, expression, working, generation, 0, shards, errors, check_nulls(nulls)
        )
        manifest = Manifest(
            generation,
            nulls,
            built.id_type,
            built.attributes,
            built.shards,
            built.rejected,
            {name: version(name) for name in ("boolfilter", "pyspark", "numpy")},
        )
        publish(folder, working, manifest)
    return Index(subs.sparkSession, folder, manifest)
