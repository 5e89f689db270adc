"""Subscriptions taken out of an index by tombstones, as its next generation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from boolfilter.errors import UnknownSubscriptionError
from boolfilter.ids import Id
from boolfilter.spark.files import MappedFiles, stored_file
from boolfilter.spark.manifest import (
    Manifest,
    Shard,
    generation_name,
    next_generation,
    publish,
    read_manifest,
    unfinished_generation,
)
from boolfilter.spark.worker import open_shards
from boolfilter.storage import read_file, write_file


def remove(folder: Path, ids: list[Id]) -> Manifest:
    """Publish the generation in force without these ids, and return it.

    Runs on the driver, which maps the shards: a binary search for each id and shard.
    """
    before = read_manifest(folder)
    wanted = dict.fromkeys(ids)
    with unfinished_generation(folder) as working:
        generation = next_generation(folder)
        shards = []
        for shard in before.shards:
            after, found = _without(folder, working, generation, shard, list(wanted))
            shards.append(after)
            for id in found:
                del wanted[id]
        if wanted:
            raise UnknownSubscriptionError(next(iter(wanted)))
        after_all = replace(before, generation=generation, shards=tuple(shards), rejected=0)
        publish(folder, working, after_all)
    return after_all


def _without(
    folder: Path, working: Path, generation: int, shard: Shard, ids: list[Id]
) -> tuple[Shard, list[Id]]:
    (layers,) = open_shards(MappedFiles(folder), [shard])
    earlier = read_file(folder / shard.tombstones.file)[1] if shard.tombstones else {}
    removed = {}
    found: list[Id] = []
    for number, layer in enumerate(layers):
        places = [(layer.find(id), id) for id in ids]
        new = [ordinal for ordinal, _ in places if ordinal >= 0]
        found += [id for ordinal, id in places if ordinal >= 0]
        known = earlier.get(str(number), np.empty(0, np.int64))
        removed[str(number)] = np.concatenate([known, np.array(new, np.int64)])
    if not found:
        return shard, []
    place = working / f"tombstones-{shard.number:05d}.bf"
    write_file(place, {"content": "boolfilter tombstones"}, removed)
    stored = stored_file(place, generation_name(generation))
    return replace(shard, tombstones=stored, removed=shard.removed + len(found)), found
