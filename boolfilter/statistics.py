"""What an engine holds and how many bytes each part of it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from boolfilter.layers import Layer


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts and sizes. ``bytes`` has one figure for each part of the compiled layers; what the
    buffer takes is not in it. ``always_evaluated`` counts the trees that no predicate leads to,
    so that every event runs them: many of them make matching slow."""

    subscriptions: int
    distinct_trees: int
    buffered: int
    tombstones: int
    layers: int
    always_evaluated: int
    attributes: int
    constants: int
    entries: int
    observed_events: int
    bytes: dict[str, int]

    @property
    def bytes_per_subscription(self) -> float:
        return sum(self.bytes.values()) / max(1, self.subscriptions - self.buffered)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "bytes_per_subscription": self.bytes_per_subscription}

    def __str__(self) -> str:
        rows = [
            (name.replace("_", " "), f"{value:,}")
            for name, value in asdict(self).items()
            if isinstance(value, int)
        ]
        rows += [(f"bytes of {part}", f"{size:,}") for part, size in self.bytes.items()]
        rows.append(("bytes per subscription", f"{self.bytes_per_subscription:,.1f}"))
        return "\n".join(f"{name:<24}{value:>16}" for name, value in rows)


def statistics_of(layers: Sequence[Layer], buffered: int, observed_events: int) -> Statistics:
    segments = [layer.segment for layer in layers]
    attributes = {key[0] for segment in segments for key in segment.domains.keys}
    attributes |= {search.attribute for segment in segments for search in segment.searches}
    return Statistics(
        subscriptions=buffered + sum(layer.live for layer in layers),
        distinct_trees=sum(segment.rows for segment in segments),
        buffered=buffered,
        tombstones=sum(layer.dead_count for layer in layers),
        layers=len(layers),
        always_evaluated=sum(segment.always_evaluated for segment in segments),
        attributes=len(attributes),
        constants=sum(int(segment.domains.sizes().sum()) for segment in segments),
        entries=sum(len(segment.entry_key) for segment in segments),
        observed_events=observed_events,
        bytes={part: sum(_size(layer, part) for layer in layers) for part in _PARTS},
    )


_PARTS: dict[str, tuple[str, ...]] = {
    "entries": ("entry", "entry_key", "coarse", "slot_entry"),
    "residual code": ("code", "lists"),
    "trees": ("tree_bytes", "tree_start", "member", "member_start"),
    "indexes": (),
    "ids": (),
}


def _size(layer: Layer, part: str) -> int:
    if part == "ids":
        return layer.ids.bytes_used() + layer.dead.nbytes
    if part == "indexes":
        owners = (layer.segment.domains, layer.segment.betweens)
        values = [getattr(owner, name) for owner in owners for name in owner.__slots__]
        return sum(value.nbytes for value in values if isinstance(value, np.ndarray))
    return sum(getattr(layer.segment, name).nbytes for name in _PARTS[part])
