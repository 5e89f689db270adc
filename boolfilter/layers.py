"""A layer of the engine: a segment, the ids of its subscriptions, and which of them are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from boolfilter.compiling import compile_segment
from boolfilter.estimates import Sample
from boolfilter.forest import Forest, merge_forests
from boolfilter.ids import Id, Ids, joined_ids
from boolfilter.segment import NONE_DEAD, Segment, dead_bits

# An older layer is merged with what is newer once that has so small a part of its size: with a
# million it makes merges of the largest layer about as dear as those of all others together.
_MERGE_RATIO = 16


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Immutable: removing a subscription gives a new layer that shares all but the tombstones."""

    segment: Segment
    ids: Ids
    dead: NDArray[np.uint64] = field(default_factory=lambda: NONE_DEAD)
    dead_count: int = 0

    @property
    def live(self) -> int:
        return len(self.ids) - self.dead_count

    def find(self, id: Id) -> int:
        """The ordinal of a living subscription, or -1."""
        ordinal = self.ids.find(id)
        return -1 if ordinal >= 0 and self.is_dead(ordinal) else ordinal

    def is_dead(self, ordinal: int) -> bool:
        return bool(len(self.dead)) and bool(int(self.dead[ordinal >> 6]) >> (ordinal & 63) & 1)

    def without(self, ordinals: NDArray[np.int64]) -> Layer:
        """This layer with more tombstones. Copies a bit for each subscription."""
        dead = self.dead.copy() if len(self.dead) else dead_bits((), len(self.ids))
        bits = np.uint64(1) << (ordinals & 63).astype(np.uint64)
        np.bitwise_or.at(dead, ordinals >> 6, bits)
        return replace(self, dead=dead, dead_count=self.dead_count + len(ordinals))

    def living(self) -> NDArray[np.int64]:
        """The ordinals of the living, in order."""
        if not len(self.dead):
            return np.arange(len(self.ids))
        bits = np.unpackbits(self.dead.view(np.uint8), bitorder="little")
        return np.flatnonzero(bits[: len(self.ids)] == 0)


def new_layer(ids: Ids, forest: Forest, sample: Sample | None = None) -> Layer:
    """A layer of these subscriptions. Compiles them."""
    return Layer(compile_segment(forest, sample), ids)


def merge_layers(layers: Sequence[Layer], sample: Sample | None = None) -> Layer:
    """One layer of the living of several, in their order. Compiles them anew."""
    living = [layer.living() for layer in layers]
    forests = [
        layer.segment.forest(layer.segment.rows_of(ordinals))
        for layer, ordinals in zip(layers, living, strict=True)
    ]
    ids = joined_ids(zip([layer.ids for layer in layers], living, strict=True))
    return new_layer(ids, merge_forests(forests), sample)


def due_layers(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers to merge next: the newest ones, down to one that is far larger than they are.

    So there are few layers (their sizes grow by the ratio) and each subscription is merged few
    times. A layer that is mostly tombstones is due alone.
    """
    for layer in layers:
        if layer.dead_count > layer.live:
            return (layer,)
    newer = 0
    first = len(layers)
    for place in range(len(layers) - 1, -1, -1):
        if place < len(layers) - 1 and layers[place].live <= _MERGE_RATIO * newer:
            first = place
        newer += layers[place].live
    return tuple(layers[first:]) if first < len(layers) - 1 else ()


def bury_again(merged: Layer, before: Sequence[Layer], now: Sequence[Layer]) -> Layer:
    """The merged layer with the tombstones that its parts got while the merge went on."""
    start = 0
    lost = [np.empty(0, np.int64)]
    for old, new in zip(before, now, strict=True):
        living = old.living()
        if new.dead_count != old.dead_count:
            gone = np.setdiff1d(living, new.living(), assume_unique=True)
            lost.append(start + np.searchsorted(living, gone))
        start += len(living)
    ordinals = np.concatenate(lost)
    return merged.without(ordinals) if len(ordinals) else merged
