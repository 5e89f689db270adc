"""Subscriptions added to an index as new shards, in its next generation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame

from boolfilter.errors import BoolFilterError
from boolfilter.spark.files import MappedFiles
from boolfilter.spark.manifest import (
    Manifest,
    next_generation,
    publish,
    read_manifest,
    unfinished_generation,
)
from boolfilter.spark.shards import Target
from boolfilter.spark.subscriptions import subscriptions_of
from boolfilter.spark.taken import ids_of_shards
from boolfilter.spark.writing import Errors, ShardCount, write_shards


def merge(
    folder: Path,
    more: DataFrame,
    id: str,
    expression: str,
    shards: ShardCount,
    errors: Errors,
) -> Manifest:
    """Publish the generation in force with the subscriptions of `more`, and return it.

    What is there already is not written again, but its ids are read, by the executors.
    """
    subscriptions = subscriptions_of(more, id, expression)
    before = read_manifest(folder)
    if subscriptions.id_type != before.id_type:
        raise BoolFilterError(f"the index has ids of {before.id_type}, not {subscriptions.id_type}")
    first = 1 + max((shard.number for shard in before.shards), default=-1)
    in_use = ids_of_shards(more.sparkSession, MappedFiles(folder), before.shards, before.id_type)
    with unfinished_generation(folder) as working:
        target = Target(working, next_generation(folder), first, before.nulls)
        written = write_shards(subscriptions, target, shards, errors, in_use)
        after = replace(
            before,
            generation=target.generation,
            attributes=tuple(sorted({*before.attributes, *written.attributes})),
            shards=(*before.shards, *written.shards),
            rejected=written.rejected,
        )
        publish(folder, working, after)
    return after
