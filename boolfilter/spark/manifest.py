"""What an index consists of, and how a new generation of it takes effect.

    PATH/CURRENT                              the name of the generation in force
    PATH/generation-000001/manifest.json      its shards, with counts and checksums
    PATH/generation-000001/shard-00000.bf     engine files; later generations refer to them

A generation is written under another name, renamed when it is complete, and comes into force when
CURRENT is replaced, which is atomic. So there is never half an index, and who reads an older
generation keeps its files.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from boolfilter.evaluate import Nulls
from boolfilter.spark.errors import IndexPathError

MANIFEST = "manifest.json"
_FORMAT = "boolfilter index"
_VERSION = 1
_UNFINISHED = ".unfinished-"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file by its path inside the index, and the checksum its header has."""

    file: str
    checksum: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Shard:
    """An engine file, and the tombstones of what was removed since it was written."""

    number: int
    stored: StoredFile
    subscriptions: int
    tombstones: StoredFile | None = None
    removed: int = 0

    @property
    def live(self) -> int:
        return self.subscriptions - self.removed

    @property
    def files(self) -> tuple[StoredFile, ...]:
        return (self.stored,) if self.tombstones is None else (self.stored, self.tombstones)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation. ``id_type`` is the Spark type of the ids."""

    generation: int
    nulls: Nulls
    id_type: str
    attributes: tuple[str, ...]
    shards: tuple[Shard, ...]
    rejected: int
    versions: dict[str, str]

    @property
    def subscriptions(self) -> int:
        return sum(shard.live for shard in self.shards)


def index_folder(path: str | os.PathLike[str]) -> Path:
    """The folder of a path or file: URL; other stores have to be mounted."""
    text = os.fspath(path)
    scheme = urlsplit(text).scheme
    if scheme and scheme != "file":
        raise IndexPathError(
            f"{text!r}: shards are memory-mapped, so an index needs a folder that driver and "
            "executors see (a shared or mounted file system), not a URL"
        )
    return Path(urlsplit(text).path if scheme else text).absolute()


def generation_name(number: int) -> str:
    return f"generation-{number:06d}"


def current_generation(folder: Path) -> int | None:
    """The number of the generation in force; None if there is no index."""
    try:
        name = (folder / "CURRENT").read_text()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return int(name.strip().removeprefix("generation-"))
    except ValueError:
        raise IndexPathError(f"{str(folder / 'CURRENT')!r} names no generation") from None


def read_manifest(folder: Path, generation: int | None = None) -> Manifest:
    """The manifest of a generation, of the one in force by default."""
    if generation is None:
        generation = current_generation(folder)
    if generation is None:
        raise IndexPathError(f"there is no index at {str(folder)!r}")
    place = folder / generation_name(generation) / MANIFEST
    try:
        content = json.loads(place.read_text())
        if content["format"] != _FORMAT or content["version"] != _VERSION:
            raise IndexPathError(f"{str(place)!r} has a format that this boolfilter does not know")
        return _from_json(content["index"])
    except FileNotFoundError:
        raise IndexPathError(f"{str(folder)!r} has no generation {generation}") from None
    except (ValueError, KeyError, TypeError) as problem:
        raise IndexPathError(f"{str(place)!r} cannot be read: {problem}") from None


@contextmanager
def unfinished_generation(folder: Path) -> Iterator[Path]:
    """A new folder for the files of a generation; it is removed unless `publish` renamed it.

    What a killed writer left is removed first: an index has one writer at a time, and a second
    one that loses its folder fails, as it finds its files missing.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise IndexPathError(f"{str(folder)!r} is in the way: an index is a folder") from None
    for left in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)
    working = folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
    working.mkdir()
    try:
        yield working
    finally:
        shutil.rmtree(working, ignore_errors=True)


def publish(folder: Path, working: Path, manifest: Manifest) -> None:
    """Make a complete generation the one in force."""
    for shard in manifest.shards:
        for stored in shard.files:
            place = folder / stored.file
            own = place.parent.name == generation_name(manifest.generation)
            _check_visible(shard.number, working / place.name if own else place, stored)
    content = {"format": _FORMAT, "version": _VERSION, "index": asdict(manifest)}
    _write(working / MANIFEST, json.dumps(content, indent=1))
    final = folder / generation_name(manifest.generation)
    try:
        os.rename(working, final)
    except OSError as problem:
        raise IndexPathError(
            f"generation {manifest.generation} of {str(folder)!r} was made by another writer "
            f"meanwhile: {problem}"
        ) from problem
    pointer = folder / f".current-{secrets.token_hex(8)}"
    _write(pointer, final.name)
    os.replace(pointer, folder / "CURRENT")


def next_generation(folder: Path) -> int:
    """One more than any there is, so that one that never came into force is not mistaken."""
    return max(generations(folder), default=0) + 1


def generations(folder: Path) -> list[int]:
    """The numbers of all generations that have a folder, in order."""
    return sorted(int(place.name.rpartition("-")[2]) for place in folder.glob("generation-*"))


def _check_visible(shard: int, place: Path, stored: StoredFile) -> None:
    if not place.exists() or place.stat().st_size != stored.bytes:
        raise IndexPathError(
            f"the driver does not see shard {shard} as its executor wrote it, at {str(place)!r}: "
            "the path of an index must be on storage that all of them share"
        )


def _write(place: Path, text: str) -> None:
    with open(place, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _from_json(index: dict[str, Any]) -> Manifest:
    shards = tuple(
        Shard(
            shard["number"],
            StoredFile(**shard["stored"]),
            shard["subscriptions"],
            StoredFile(**shard["tombstones"]) if shard["tombstones"] else None,
            shard["removed"],
        )
        for shard in index["shards"]
    )
    return Manifest(**{**index, "attributes": tuple(index["attributes"]), "shards": shards})
