"""An index: a generation of shards that events are matched with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from boolfilter.errors import BoolFilterError
from boolfilter.ids import Id
from boolfilter.spark.files import Files, MappedFiles, send
from boolfilter.spark.manifest import Manifest, generation_name, index_folder, read_manifest
from boolfilter.spark.matching import ManifestOf, counter, matcher
from boolfilter.spark.merging import merge
from boolfilter.spark.removal import remove
from boolfilter.spark.shards import REJECTED
from boolfilter.spark.streaming import manifest_of_batch
from boolfilter.spark.subscriptions import column_type
from boolfilter.spark.vacuum import vacuum
from boolfilter.spark.writing import Errors, ShardCount

BROADCAST_BYTES = 32 << 20  # some 150,000 subscriptions


def open_index(
    session: SparkSession,
    path: str | os.PathLike[str],
    *,
    generation: int | None = None,
    broadcast_bytes: int = BROADCAST_BYTES,
) -> Index:
    """The index at a path: the generation in force, or an older one by its number.

    Up to ``broadcast_bytes``, the driver reads the shards and sends them to the workers, which need
    not see the path then, but have a copy each; larger ones are mapped by the executors.
    """
    folder = index_folder(path)
    return Index(session, folder, read_manifest(folder, generation), broadcast_bytes)


@dataclass(frozen=True)
class Index:
    """One generation of an index. Immutable: `merge` and `remove` return the next one, and
    DataFrames made by `match` go on with the generation that they were made with."""

    session: SparkSession
    folder: Path
    manifest: Manifest
    broadcast_bytes: int = BROADCAST_BYTES

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
        key_type = column_type(events, event_id).simpleString()
        schema = f"`{event_id}` {key_type}, subscription_id {self.manifest.id_type}"
        groups = self._groups(shards_per_task)
        if reload is None:
            chosen, files = self._pruned(events, event_id), self._files
            manifest_of: ManifestOf = partial(_itself, self.manifest)
        elif reload == "latest" and events.isStreaming:
            chosen, files = events, MappedFiles(self.folder)  # what a later generation asks for
            manifest_of = partial(manifest_of_batch, self.folder)
        else:
            raise BoolFilterError('reload is None, or "latest" for a streaming DataFrame')
        matchers = [matcher(files, manifest_of, group, groups, event_id) for group in range(groups)]
        return _mapped(chosen, partitions, matchers, schema)

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
        counters = [counter(self._files, manifest_of, group, groups) for group in range(groups)]
        schema = f"subscription_id {self.manifest.id_type}, matches bigint"
        parts = _mapped(self._pruned(events, None), partitions, counters, schema)
        return parts.groupBy("subscription_id").agg(f.sum("matches").alias("matches"))

    def merge(
        self,
        more: DataFrame,
        id: str = "id",
        expression: str = "expression",
        *,
        shards: ShardCount = "auto",
        errors: Errors = "fail",
    ) -> Index:
        """The next generation, with more subscriptions, in shards of their own; options as for
        `build`. An id in use makes a row bad; in encoded chunks, it fails the merge as a repeated
        one does."""
        merged = merge(self.folder, more, id, expression, shards, errors)
        return replace(self, manifest=merged)

    def remove(self, ids: Iterable[Id]) -> Index:
        """The next generation, without these subscriptions; UnknownSubscriptionError if one is
        not there. Writes tombstones only: a bit of a shard's memory for each, no rebuild."""
        return replace(self, manifest=remove(self.folder, list(ids)))

    def latest(self) -> Index:
        """The generation in force now."""
        return replace(self, manifest=read_manifest(self.folder))

    def vacuum(self, keep: int = 1) -> list[int]:
        """Delete all but the newest `keep` generations up to the one in force, whose numbers are
        returned; what was made with an older one by `match` and is not done may fail then, and
        says so. A generation that the last batch of a stream used stays, and so do all newer than
        the one in force."""
        return vacuum(self.folder, keep)

    @cached_property
    def _files(self) -> Files:
        shards = self.manifest.shards
        if sum(stored.bytes for shard in shards for stored in shard.files) > self.broadcast_bytes:
            return MappedFiles(self.folder)
        return send(self.session, self.folder, shards)

    def _pruned(self, events: DataFrame, key: str | None) -> DataFrame:
        """Only the columns that subscriptions ask about."""
        wanted = [
            name
            for name in events.columns
            if name == key
            or any(a == name or a.startswith(f"{name}.") for a in self.manifest.attributes)
        ]
        return events.select([f.col(f"`{name}`") for name in wanted or events.columns[:1]])

    def _groups(self, shards_per_task: int | None) -> int:
        shards = len(self.manifest.shards)
        if shards_per_task is None or not shards:
            return 1
        if shards_per_task < 1:
            raise BoolFilterError(f"shards_per_task is a number from 1 on, not {shards_per_task!r}")
        return -(-shards // shards_per_task)


def _mapped(
    events: DataFrame, partitions: int | None, functions: list[Any], schema: str
) -> DataFrame:
    spread = events if partitions is None else events.repartition(partitions)
    first, *others = [spread.mapInArrow(one, schema) for one in functions]
    for other in others:
        first = first.union(other)
    return first


def _itself(manifest: Manifest) -> Manifest:
    return manifest
