"""Which generation a micro-batch uses, when a stream follows the latest.

All tasks of a micro-batch must agree, and so must a batch that is run again after a failure. The
first task of a batch pins the generation in force in a small file of the index, created
atomically; all others, and later runs of the batch, read it. No driver is involved, so any sink
keeps its guarantees.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from pyspark import TaskContext

from boolfilter.spark.errors import IndexPathError
from boolfilter.spark.manifest import Manifest, current_generation, read_manifest

_PINS = "pins"
_PINS_KEPT = 1_000  # batches; Spark itself keeps 100 to go back to


def manifest_of_batch(folder: Path) -> Manifest:
    """The manifest that the micro-batch of this task uses."""
    context = TaskContext.get()
    batch = context.getLocalProperty("streaming.sql.batchId") if context else None
    query = context.getLocalProperty("sql.streaming.queryId") if context else None
    if batch is None or query is None:
        raise IndexPathError('reload="latest" is for streaming queries, and this is none')
    return read_manifest(folder, pinned_generation(folder, query, int(batch)))


def pinned_generation(folder: Path, query: str, batch: int) -> int:
    """The generation pinned for a batch; pins the one in force if there is none."""
    pins = folder / _PINS / query
    pin = pins / str(batch)
    with suppress(FileNotFoundError):
        return int(pin.read_text())
    current = current_generation(folder)
    if current is None:
        raise IndexPathError(f"there is no index at {str(folder)!r}")
    pins.mkdir(parents=True, exist_ok=True)
    draft = pins / f".{batch}-{secrets.token_hex(8)}"
    draft.write_text(str(current))
    try:
        os.link(draft, pin)  # fails if another task was first, unlike a rename
        with suppress(FileNotFoundError):
            (pins / str(batch - _PINS_KEPT)).unlink()
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return int(pin.read_text())


def last_pins(folder: Path) -> set[int]:
    """The generations of the last batch of each stream, which may have to be run again."""
    last = set()
    for query in (folder / _PINS).glob("*"):
        pins = [pin for pin in query.iterdir() if pin.name.isdigit()]
        if pins:
            last.add(int(max(pins, key=lambda pin: int(pin.name)).read_text()))
    return last
