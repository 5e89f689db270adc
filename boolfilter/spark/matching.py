"""Events against shards, inside `mapInArrow`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolfilter.arrow import ROWS, batches, columns_of, encode_batch
from boolfilter.layers import Layer
from boolfilter.spark.files import Files
from boolfilter.spark.manifest import Manifest
from boolfilter.spark.worker import open_shards

Batches = Iterable[pa.RecordBatch]
ManifestOf = Callable[[], Manifest]
ID_TYPES = {
    "tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(),
    "string": pa.string(),
}  # fmt: skip


def matcher(
    files: Files, manifest_of: ManifestOf, group: int, groups: int, event_id: str
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """A function for `mapInArrow`: the pairs of event id and subscription id.

    A task works on every `groups`-th shard, beginning with `group`.
    """

    def match(events: Batches) -> Iterator[pa.RecordBatch]:
        layers, id_type = _layers(files, manifest_of(), group, groups)
        for batch in regrouped(events):
            keys = batch.column(event_id)
            for layer, event, ordinals in _matches(layers, batch):
                ids = layer.ids.arrow(ordinals).cast(id_type)
                yield pa.record_batch(
                    [keys.take(pa.array(event)), ids], names=[event_id, "subscription_id"]
                )

    return match


def counter(
    files: Files, manifest_of: ManifestOf, group: int, groups: int
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """A function for `mapInArrow`: how many of a task's events each subscription matched."""

    def count(events: Batches) -> Iterator[pa.RecordBatch]:
        layers, id_type = _layers(files, manifest_of(), group, groups)
        totals = {id(layer): np.zeros(len(layer.ids), np.int64) for layer in layers}
        for batch in regrouped(events):
            for layer, _, ordinals in _matches(layers, batch):
                # bincount would look at all subscriptions for each batch.
                np.add.at(totals[id(layer)], ordinals, 1)
        for layer in layers:
            matched = np.flatnonzero(totals[id(layer)])
            for first in range(0, len(matched), 8 * ROWS):
                some = matched[first : first + 8 * ROWS]
                yield pa.record_batch(
                    [layer.ids.arrow(some).cast(id_type), pa.array(totals[id(layer)][some])],
                    names=["subscription_id", "matches"],
                )

    return count


def regrouped(events: Batches) -> Iterator[pa.RecordBatch]:
    """Spark's batches (10,000 rows, by default) in those that match best; none is left waiting."""
    held: list[pa.RecordBatch] = []
    for batch in events:
        held.append(batch)
        if sum(part.num_rows for part in held) >= 8 * ROWS:
            yield from batches(pa.Table.from_batches(held))
            held = []
    if held:
        yield from batches(pa.Table.from_batches(held))


def _layers(
    files: Files, manifest: Manifest, group: int, groups: int
) -> tuple[Sequence[Layer], pa.DataType]:
    shards = open_shards(files, manifest.shards[group::groups])
    return [layer for layers in shards for layer in layers], ID_TYPES[manifest.id_type]


def _matches(
    layers: Sequence[Layer], batch: pa.RecordBatch
) -> Iterator[tuple[Layer, NDArray[Any], NDArray[Any]]]:
    columns = columns_of(batch)
    for layer in layers:
        items = encode_batch(layer.segment.encoder, columns)
        event, ordinals = layer.segment.match(items, layer.dead)
        if len(event):
            yield layer, event, ordinals
