"""Matches as sorted lists of (event id, subscription id): those found, and those of an engine."""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame

import boolfilter as bf
from boolfilter.evaluate import Nulls


def pairs_of(matches: DataFrame) -> list[tuple]:
    return sorted(tuple(row) for row in matches.collect())


def local_pairs(
    texts: dict[Any, str], events: Iterable[dict], nulls: Nulls = "false"
) -> list[tuple]:
    engine = bf.Engine(nulls=nulls)
    engine.subscribe_many(texts.items())
    return sorted((place, id) for place, ids in enumerate(engine.match_many(events)) for id in ids)
