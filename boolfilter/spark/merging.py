"""Subscriptions added to an index as new shards, in its next generation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pyspark.sql import DataFrame

from boolfilter.errors import BoolFilterError
from boolfilter.ids import Id
from boolfilter.layers import Layer
from boolfilter.persistence import open_layers
from boolfilter.spark.errors import RejectedSubscriptionsError
from boolfilter.spark.manifest import (
    Manifest,
    next_generation,
    publish,
    read_manifest,
    unfinished_generation,
)
from boolfilter.spark.shards import EXAMPLES
from boolfilter.spark.worker import open_shards
from boolfilter.spark.writing import Errors, write_shards


def merge(
    folder: Path,
    more: DataFrame,
    id: str,
    expression: str,
    shards: int | Literal["auto"],
    errors: Errors,
) -> Manifest:
    """Publish the generation in force with the subscriptions of `more`, and return it.

    What is there already is not written again; the driver maps it, to refuse ids in use.
    """
    before = read_manifest(folder)
    first = 1 + max((shard.number for shard in before.shards), default=-1)
    with unfinished_generation(folder) as working:
        generation = next_generation(folder)
        built = write_shards(
            more, id, expression, working, generation, first, shards, errors, before.nulls
        )
        if built.id_type != before.id_type:
            raise BoolFilterError(f"the index has ids of {before.id_type}, not {built.id_type}")
        added = [
            layer for place in sorted(working.glob("shard-*.bf")) for layer in open_layers(place)[0]
        ]
        there = [layer for layers in open_shards(folder, before.shards) for layer in layers]
        in_use = [found for layer in added for found in _in_use(layer, there)]
        if in_use:
            examples: list[Any] = [(one, None, "the id is in use") for one in in_use[:EXAMPLES]]
            raise RejectedSubscriptionsError(len(in_use), examples)
        after = replace(
            before,
            generation=generation,
            attributes=tuple(sorted({*before.attributes, *built.attributes})),
            shards=(*before.shards, *built.shards),
            rejected=built.rejected,
        )
        publish(folder, working, after)
    return after


def _in_use(added: Layer, there: Sequence[Layer]) -> Iterable[Id]:
    """The ids of a layer that are alive in others."""
    if any(len(layer.ids.start) for layer in (added, *there)):
        ids = added.ids.take(added.living())
        return [id for id in ids if any(layer.find(id) >= 0 for layer in there)]
    numbers = [layer.ids.number[layer.living()] for layer in there]
    known = np.concatenate([np.empty(0, np.int64), *numbers])
    return np.intersect1d(added.ids.number[added.living()], known).tolist()  # type: ignore[no-any-return]
