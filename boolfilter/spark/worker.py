"""Shards as an executor's Python worker holds them: mapped once, kept from task to task.

The mapping is shared by all workers of a host, through the page cache. A worker keeps what the
last few tasks asked for; a task holds all of its shards while it runs, so none is read twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from boolfilter.errors import DamagedFileError
from boolfilter.layers import Layer
from boolfilter.persistence import open_layers
from boolfilter.spark.errors import ShardError
from boolfilter.spark.manifest import Shard, StoredFile
from boolfilter.storage import read_file

Layers = tuple[Layer, ...]
_Key = tuple[str, str, str | None]

_TASKS_KEPT = 16
_CHECKSUM = slice(12, 16)  # of the header, see encoding/FILE.md; it covers all other checksums
_opened: dict[_Key, tuple[int, Layers]] = {}
_task = 0


def open_shards(folder: Path, shards: Iterable[Shard]) -> list[Layers]:
    """The layers of each shard, tombstones applied; ShardError names one that is unusable."""
    global _task
    _task += 1
    found = []
    for shard in shards:
        tombstones = shard.tombstones
        key = (str(folder / shard.stored.file), shard.stored.checksum,
               None if tombstones is None else tombstones.checksum)  # fmt: skip
        layers = _opened[key][1] if key in _opened else _open(folder, shard)
        _opened[key] = (_task, layers)
        found.append(layers)
    for key in [key for key, (used, _) in _opened.items() if used <= _task - _TASKS_KEPT]:
        del _opened[key]
    return found


def checksum_of(place: Path) -> str:
    """The checksum in the header of a stored file."""
    with open(place, "rb") as file:
        return file.read(_CHECKSUM.stop)[_CHECKSUM].hex()


def stored_file(place: Path, generation: str) -> StoredFile:
    """How a manifest refers to a file just written for a generation."""
    return StoredFile(f"{generation}/{place.name}", checksum_of(place), os.path.getsize(place))


def _open(folder: Path, shard: Shard) -> Layers:
    place = folder / shard.stored.file
    try:
        _check(place, shard.stored)
        layers: Sequence[Layer] = open_layers(place)[0]
        if shard.tombstones is not None:
            place = folder / shard.tombstones.file
            _check(place, shard.tombstones)
            removed = read_file(place)[1]
            layers = [
                layer.without(removed[str(number)]) if len(removed[str(number)]) else layer
                for number, layer in enumerate(layers)
            ]
    except DamagedFileError as problem:
        raise ShardError(shard.number, str(place), problem.problem) from problem
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ShardError(shard.number, str(place), reason) from problem
    return tuple(layers)


def _check(place: Path, stored: StoredFile) -> None:
    found = checksum_of(place)
    if found != stored.checksum:
        raise DamagedFileError(
            str(place), f"its checksum is {found or 'missing'}, the manifest has {stored.checksum}"
        )
