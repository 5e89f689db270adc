"""An index: a generation of shards that events are matched with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from boolfilter.errors import BoolFilterError
from boolfilter.ids import Id
from boolfilter.spark.manifest import Manifest, generation_name, index_folder, read_manifest
from boolfilter.spark.matching import ManifestOf, counter, matcher
from boolfilter.spark.merging import merge
from boolfilter.spark.removal import remove
from boolfilter.spark.shards import REJECTED
from boolfilter.spark.streaming import manifest_of_batch
from boolfilter.spark.writing import Errors


def open_index(
    session: SparkSession, path: str | os.PathLike[str], *, generation: int | None = None
) -> Index:
    """The index at a path: the generation in force, or an older one by its number."""
    folder = index_folder(path)
    return Index(session, folder, read_manifest(folder, generation))


@dataclass(frozen=True)
class Index:
    """One generation of an index. Immutable: `merge` and `remove` return the next one, and
    DataFrames made by `match` go on with the generation that they were made with."""

    session: SparkSession
    folder: Path
    manifest: Manifest

    def __len__(self) -> int:
        return self.manifest.subscriptions

    @property
    def generation(self) -> int:
        return self.manifest.generation

    @property
    def rejected(self) -> DataFrame:
        """DataFrame(id, position, message) of what the build of this generation left out;
        the position is that of a syntax error in its text, from 0."""
        folder = self.folder / generation_name(self.generation)
        files = sorted(str(place) for place in folder.glob(f"{REJECTED}-*.parquet"))
        schema = f"id {self.manifest.id_type}, position bigint, message string"
        if not files:
            return self.session.createDataFrame([], schema)
        return self.session.read.schema(schema).parquet(*files)

    def match(
        self,
        events: DataFrame,
        event_id: str = "event_id",
        *,
        shards_per_task: int | None = None,
        partitions: int | None = None,
        reload: Literal["latest"] | None = None,
    ) -> DataFrame:
        """DataFrame(event_id, subscription_id) of a batch or streaming DataFrame, lazy.

        A task takes a partition of the events through all shards, which the workers of a host
        share in memory; ``shards_per_task`` pairs it with fewer, where they do not all fit, and
        reads the events once for each such group. ``partitions`` deals the events out anew, if
        their own partitions are few or uneven. ``reload="latest"``: each micro-batch of a stream
        uses the generation in force when it starts.
        """
        if event_id == "subscription_id":
            raise BoolFilterError("the event id column cannot be called subscription_id")
        manifest_of = self._manifest_of(events, reload)
        chosen = self._pruned(events, event_id, keep_all=reload is not None)
        key_type = events.schema[event_id].dataType.simpleString()
        schema = f"`{event_id}` {key_type}, subscription_id {self.manifest.id_type}"
        groups = self._groups(shards_per_task)
        return self._mapped(
            chosen,
            partitions,
            [matcher(self.folder, manifest_of, group, groups, event_id) for group in range(groups)],
            schema,
        )

    def counts(
        self,
        events: DataFrame,
        *,
        shards_per_task: int | None = None,
        partitions: int | None = None,
    ) -> DataFrame:
        """DataFrame(subscription_id, matches): how many events each subscription matched, if any.

        Tasks count by themselves, so that the pairs never leave them.
        """
        groups = self._groups(shards_per_task)
        manifest_of = partial(_itself, self.manifest)
        counters = [counter(self.folder, manifest_of, group, groups) for group in range(groups)]
        schema = f"subscription_id {self.manifest.id_type}, matches bigint"
        parts = self._mapped(self._pruned(events, None), partitions, counters, schema)
        return parts.groupBy("subscription_id").agg(f.sum("matches").alias("matches"))

    def merge(
        self,
        more: DataFrame,
        id: str = "id",
        expression: str = "expression",
        *,
        shards: int | Literal["auto"] = "auto",
        errors: Errors = "fail",
    ) -> Index:
        """The next generation, with more subscriptions, in shards of their own; options as for
        `build`, but an id that is in use always raises RejectedSubscriptionsError."""
        merged = merge(self.folder, more, id, expression, shards, errors)
        return Index(self.session, self.folder, merged)

    def remove(self, ids: Iterable[Id]) -> Index:
        """The next generation, without these subscriptions; UnknownSubscriptionError if one is
        not there. Writes tombstones only: a bit of a shard's memory for each, no rebuild."""
        return Index(self.session, self.folder, remove(self.folder, list(ids)))

    def latest(self) -> Index:
        """The generation in force now."""
        return open_index(self.session, self.folder)

    def _manifest_of(self, events: DataFrame, reload: str | None) -> ManifestOf:
        if reload is None:
            return partial(_itself, self.manifest)
        if reload != "latest" or not events.isStreaming:
            raise BoolFilterError('reload is None, or "latest" for a streaming DataFrame')
        return partial(manifest_of_batch, self.folder)

    def _pruned(self, events: DataFrame, key: str | None, keep_all: bool = False) -> DataFrame:
        """Only the columns that subscriptions ask about: a later generation may ask for all."""
        if keep_all:
            return events
        wanted = [
            name
            for name in events.columns
            if name == key
            or any(a == name or a.startswith(f"{name}.") for a in self.manifest.attributes)
        ]
        return events.select([f.col(f"`{name}`") for name in wanted or events.columns[:1]])

    def _groups(self, shards_per_task: int | None) -> int:
        shards = len(self.manifest.shards)
        return max(1, -(-shards // (shards_per_task or max(1, shards))))

    def _mapped(
        self, events: DataFrame, partitions: int | None, functions: list[Any], schema: str
    ) -> DataFrame:
        spread = events if partitions is None else events.repartition(partitions)
        return reduce(DataFrame.union, [spread.mapInArrow(one, schema) for one in functions])


def _itself(manifest: Manifest) -> Manifest:
    return manifest
