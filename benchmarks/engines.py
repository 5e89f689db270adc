"""Engines of whole workloads, and how many candidates an event has in them."""

from __future__ import annotations

import numpy as np

import boolfilter as bf
from benchmarks.forests import forest_of_workload
from boolfilter.forest import Forest
from boolfilter.ids import ids_of
from boolfilter.items import Items
from boolfilter.layers import new_layer
from boolfilter.segment import Segment
from boolfilter.workloads import Workload


def engine_of_workload(workload: Workload, count: int, seed: int) -> bf.Engine:
    return engine_of_forest(forest_of_workload(workload, count, seed))


def engine_of_forest(forest: Forest) -> bf.Engine:
    """An engine of one segment, as one bulk load makes it; the ids count from 0."""
    engine = bf.Engine()
    engine._append(new_layer(ids_of(np.arange(len(forest))), forest))
    return engine


def only_segment(engine: bf.Engine) -> Segment:
    (layer,) = engine.layers()
    return layer.segment


def candidates(segment: Segment, items: Items) -> int:
    """How many entries some events visit; for events with one value an attribute."""
    domain = items.domain[items.position != np.uint32(0xFFFFFFFF)].astype(np.int64)
    position = items.position[items.position != np.uint32(0xFFFFFFFF)].astype(np.int64)
    base = segment.slot_base.astype(np.int64)
    slot = 1 + 3 * domain
    equal = base[slot] + (position >> 1)
    on_constant = position & 1 == 1
    visited = len(items.start[:-1]) * segment.always_evaluated
    visited += _entries(segment, equal[on_constant], equal[on_constant] + 1)
    visited += _entries(segment, base[slot + 1] + position, base[slot + 2])
    visited += _entries(segment, base[slot + 2], base[slot + 2] + position)
    betweens = segment.betweens
    sets = int(base[-2])
    for place in np.unique(betweens.domain).tolist():
        members = np.flatnonzero(betweens.domain == place)
        entries = _entry_counts(segment, sets + members, sets + members + 1)
        members, entries = members[entries > 0], entries[entries > 0]
        for q in position[domain == place].tolist():
            held = (betweens.low[members] <= q) & (betweens.high[members] >= q)
            visited += int(entries[held].sum())
    hits = sets + items.hits.astype(np.int64)
    return visited + _entries(segment, hits, hits + 1)


def _entries(segment: Segment, first: np.ndarray, last: np.ndarray) -> int:
    return int(_entry_counts(segment, first, last).sum())


def _entry_counts(segment: Segment, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    key = segment.entry_key
    return np.searchsorted(key, last.astype(np.uint32)) - np.searchsorted(
        key, first.astype(np.uint32)
    )
