"""Shards as an executor's Python worker holds them: opened once, kept from task to task.

A worker keeps what the last few tasks asked for; a task holds all of its shards while it runs, so
none is opened twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from boolfilter.layers import Layer
from boolfilter.persistence import layers_of
from boolfilter.spark.files import Files, naming
from boolfilter.spark.manifest import Shard

Layers = tuple[Layer, ...]

_TASKS_KEPT = 16
_Key = tuple[str, ...]
_opened: dict[_Key, tuple[int, Layers]] = {}
_task = 0


def open_shards(files: Files, shards: Iterable[Shard]) -> list[Layers]:
    """The layers of each shard, tombstones applied; ShardError names one that is unusable."""
    global _task
    _task += 1
    found = []
    for shard in shards:
        key = (str(files.folder), *[f"{stored.file} {stored.checksum}" for stored in shard.files])
        layers = _opened[key][1] if key in _opened else _open(files, shard)
        _opened[key] = (_task, layers)
        found.append(layers)
    for key in [key for key, (used, _) in _opened.items() if used <= _task - _TASKS_KEPT]:
        del _opened[key]
    return found


def _open(files: Files, shard: Shard) -> Layers:
    with naming(shard, files.folder):
        name = str(files.folder / shard.stored.file)
        layers: Sequence[Layer] = layers_of(*files.read(shard.stored), name)[0]
        if shard.tombstones is not None:
            removed = files.read(shard.tombstones)[1]
            layers = [
                layer.without(removed[str(number)]) if len(removed[str(number)]) else layer
                for number, layer in enumerate(layers)
            ]
    return tuple(layers)
