"""Workloads as forests, from their columns: a million subscriptions in seconds, not in minutes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import boolfilter as bf
from boolfilter.forest import (
    AND,
    OR,
    DomainKind,
    Forest,
    ForestBuilder,
    Operation,
    inner_word,
    merge_forests,
    take_trees,
)
from boolfilter.limits import DEFAULT_LIMITS
from boolfilter.templates import parse_template
from boolfilter.workloads import Pairs, TemplatedWorkload, Workload
from boolfilter.workloads.workload import Template

_BATCH = 50_000
_PAIR_OPERATIONS = np.array([Operation.EQUAL, Operation.LESS, Operation.GREATER], np.uint8)


def forest_of_workload(workload: Workload, count: int, seed: int, start: int = 0) -> Forest:
    """`count` subscriptions of a workload from `start` on, two-valued nulls."""
    stop = start + count
    if isinstance(workload, Pairs):
        return _pairs(workload, start, stop, seed)
    if isinstance(workload, TemplatedWorkload):
        return _templated(workload.templates(start, stop, seed))
    builder = ForestBuilder()
    for first in range(start, stop, _BATCH):
        for text in workload.texts(first, min(stop, first + _BATCH), seed):
            builder.add(bf.normalise(bf.parse(text)))
    return builder.finish()


def _templated(templates: Iterable[Template]) -> Forest:
    parts: list[Forest] = []
    rows: list[NDArray[np.int64]] = []
    for template in templates:
        ids: Any = template.rows  # an array is sequence enough
        parts.append(
            parse_template(template.text, "false", DEFAULT_LIMITS).forest(ids, template.columns)
        )
        rows.append(template.rows)
    forest = merge_forests(parts)
    order = np.argsort(np.concatenate(rows), kind="stable")
    forest.words, forest.starts = take_trees(forest.words, forest.starts, order)
    return forest


def _pairs(workload: Pairs, start: int, stop: int, seed: int) -> Forest:
    """Each row has a shape of its own, so templates would be of no use."""
    count = stop - start
    attributes, operators, values = workload.predicates(start, stop, seed)
    width = 1 + 3 * workload.pairs
    words = np.empty((count, width), np.int32)
    words[:, 0] = inner_word(AND, workload.pairs)
    words[:, 1::3] = inner_word(OR, 2)
    leaves = np.arange(2 * workload.pairs * count, dtype=np.int32).reshape(count, -1) << 1
    words[:, 2::3] = leaves[:, 0::2]
    words[:, 3::3] = leaves[:, 1::2]
    domain = attributes.T.reshape(-1).astype(np.int32)
    value = values.T.reshape(-1)
    order = np.argsort(domain, kind="stable")
    cuts = np.searchsorted(domain[order], np.arange(workload.attributes + 1))
    first = np.empty(len(domain), np.int32)
    first[order] = np.arange(len(domain)) - np.repeat(cuts[:-1], np.diff(cuts))
    return Forest(
        words=words.reshape(-1),
        starts=np.arange(count + 1, dtype=np.int64) * width,
        operation=_PAIR_OPERATIONS[operators.T.reshape(-1)],
        domain=domain,
        first=first,
        second=np.full(len(domain), -1, np.int32),
        domains=[(f"a{number}", DomainKind.NUMBER) for number in range(workload.attributes)],
        constants=[value[order[a:z]] for a, z in pairwise(cuts.tolist())],
        searches=[],
    )
