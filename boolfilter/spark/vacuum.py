"""Old generations of an index deleted, but for what younger ones share with them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from boolfilter.errors import BoolFilterError
from boolfilter.spark.manifest import (
    MANIFEST,
    Manifest,
    current_generation,
    generation_name,
    generations,
    read_manifest,
)
from boolfilter.spark.streaming import last_pins


def vacuum(folder: Path, keep: int) -> list[int]:
    """Delete all but the `keep` newest generations up to the one in force; the numbers deleted.

    Those that streams may go back to stay. What is newer than the one in force may be a writer's
    that has not finished, and is left alone. A manifest goes first, then what no manifest that is
    left refers to: whatever stops this, no generation is left in part, and the next run goes on.
    """
    if not isinstance(keep, int) or keep < 1:
        raise BoolFilterError(f"keep is a number from 1 on, not {keep!r}")
    current = current_generation(folder)
    if current is None:
        return []
    old = [number for number in generations(folder) if number <= current]
    there = [number for number in old if (folder / generation_name(number) / MANIFEST).exists()]
    kept = {current, *there[-keep:], *last_pins(folder)}
    deleted = [number for number in there if number not in kept]
    for number in deleted:
        (folder / generation_name(number) / MANIFEST).unlink()
    needed = _files_of([read_manifest(folder, number) for number in there if number in kept])
    for number in old:
        if number not in kept:
            _delete_unneeded(folder, number, needed)
    return deleted


def _files_of(manifests: list[Manifest]) -> set[str]:
    shards = [shard for manifest in manifests for shard in manifest.shards]
    return {stored.file for shard in shards for stored in shard.files}


def _delete_unneeded(folder: Path, number: int, needed: set[str]) -> None:
    name = generation_name(number)
    for place in (folder / name).iterdir():
        if f"{name}/{place.name}" not in needed:
            place.unlink()
    with suppress(OSError):  # a younger generation has files there
        (folder / name).rmdir()
