"""Where a worker finds the files of an index: in its folder, or sent along with the job.

A folder is mapped into memory, which all workers of a host share. What is sent along needs no
common storage, but each worker has a copy of its own: for small indexes.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

from boolfilter.errors import DamagedFileError
from boolfilter.segment_storage import Parts
from boolfilter.spark.errors import ShardError
from boolfilter.spark.manifest import Shard, StoredFile
from boolfilter.storage import read_bytes, read_file

_CHECKSUM = slice(12, 16)  # of the header, see encoding/FILE.md; it covers all other checksums


class Files(Protocol):
    """The files of an index, as a task gets at them."""

    @property
    def folder(self) -> Path: ...

    def read(self, stored: StoredFile) -> Parts:
        """The meta and the arrays of a file; DamagedFileError or OSError if it is of no use."""
        ...


@dataclass(frozen=True, slots=True)
class MappedFiles:
    """Files that are mapped into memory where they are."""

    folder: Path

    def read(self, stored: StoredFile) -> Parts:
        place = self.folder / stored.file
        with open(place, "rb") as file:
            _check(place, file.read(_CHECKSUM.stop), stored)
        return read_file(place)


class Sent(Protocol):
    """The content of files by name, as a Spark broadcast holds it."""

    @property
    def value(self) -> Mapping[str, bytearray]: ...


@dataclass(frozen=True, slots=True)
class SentFiles:
    """Files of which the content came with the job; `folder` is where the driver has them."""

    folder: Path
    sent: Sent

    def read(self, stored: StoredFile) -> Parts:
        return read_bytes(self.sent.value[stored.file], str(self.folder / stored.file))


@dataclass(frozen=True, slots=True)
class _Attached:
    """Content that is part of the function that Spark sends."""

    value: Mapping[str, bytearray]


def send(session: SparkSession, folder: Path, shards: Iterable[Shard]) -> SentFiles:
    """The files of these shards, read here and sent to the workers."""
    contents = {}
    for shard in shards:
        with naming(shard, folder):
            for stored in shard.files:
                place = folder / stored.file
                contents[stored.file] = bytearray(place.read_bytes())
                _check(place, contents[stored.file], stored)
    try:
        return SentFiles(folder, session.sparkContext.broadcast(contents))
    except PySparkAttributeError:  # Spark Connect has no broadcasts
        return SentFiles(folder, _Attached(contents))


@contextmanager
def naming(shard: Shard, folder: Path) -> Iterator[None]:
    """Makes a ShardError of what is wrong with a file of a shard."""
    path = str(folder / shard.stored.file)
    try:
        yield
    except DamagedFileError as problem:
        raise ShardError(shard.number, problem.path, problem.problem, platform.node()) from problem
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ShardError(
            shard.number, problem.filename or path, reason, platform.node()
        ) from problem


def stored_file(place: Path, generation: str) -> StoredFile:
    """How a manifest refers to a file just written for a generation."""
    with open(place, "rb") as file:
        checksum = _checksum(file.read(_CHECKSUM.stop))
    return StoredFile(f"{generation}/{place.name}", checksum, os.path.getsize(place))


def _check(place: Path, content: bytes | bytearray, stored: StoredFile) -> None:
    found = _checksum(content)
    if found != stored.checksum:
        raise DamagedFileError(
            str(place), f"its checksum is {found or 'missing'}, the manifest has {stored.checksum}"
        )


def _checksum(content: bytes | bytearray) -> str:
    return content[_CHECKSUM].hex()
