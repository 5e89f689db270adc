"""Workloads as forests, from their columns: a million subscriptions in two seconds, not fifty."""

from __future__ import annotations

from collections.abc import Sequence
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
)
from boolfilter.workloads import LeSubscribe, NonCanonical, Pairs, Workload

_BATCH = 50_000
_OPERATION_OF = {"=": Operation.EQUAL, "<": Operation.LESS, ">": Operation.GREATER}
_PAIR_OPERATIONS = np.array([Operation.EQUAL, Operation.LESS, Operation.GREATER], np.uint8)


def forest_of_workload(workload: Workload, count: int, seed: int) -> Forest:
    """The first `count` subscriptions of a workload, two-valued nulls."""
    if isinstance(workload, Pairs):
        return _pairs(workload, count, seed)
    if isinstance(workload, LeSubscribe):
        return _conjunctions(workload, count, seed)
    if isinstance(workload, NonCanonical):
        return _windows(workload, count, seed)
    builder = ForestBuilder()
    for first in range(0, count, _BATCH):
        for text in workload.texts(first, min(count, first + _BATCH), seed):
            builder.add(bf.normalise(bf.parse(text)))
    return builder.finish()


def _pairs(workload: Pairs, count: int, seed: int) -> Forest:
    attributes, operators, values = workload.predicates(0, count, seed)
    words, starts = _or_pairs(count, workload.pairs)
    domain = attributes.T.reshape(-1).astype(np.int32)
    value = values.T.reshape(-1)
    order = np.argsort(domain, kind="stable")
    cuts = np.searchsorted(domain[order], np.arange(workload.attributes + 1))
    first = np.empty(len(domain), np.int32)
    first[order] = np.arange(len(domain)) - np.repeat(cuts[:-1], np.diff(cuts))
    return Forest(
        words=words,
        starts=starts,
        operation=_PAIR_OPERATIONS[operators.T.reshape(-1)],
        domain=domain,
        first=first,
        second=np.full(len(domain), -1, np.int32),
        domains=[(f"a{number}", DomainKind.NUMBER) for number in range(workload.attributes)],
        constants=np.split(value[order], cuts[1:-1]),
        searches=[],
    )


def _windows(workload: NonCanonical, count: int, seed: int) -> Forest:
    """Each predicate a window on an attribute of its own; all values are constants, once each."""
    (template,) = workload.templates(0, count, seed)
    words, starts = _or_pairs(count, workload.predicates // 2)
    low, high = np.stack(template.columns[0::2]), np.stack(template.columns[1::2])
    values = np.arange(int(high.max()) + 1)
    predicates = workload.predicates * count
    return Forest(
        words=words,
        starts=starts,
        operation=np.full(predicates, Operation.BETWEEN, np.uint8),
        domain=np.tile(np.arange(workload.predicates, dtype=np.int32), count),
        first=low.T.astype(np.int32).reshape(-1),
        second=high.T.astype(np.int32).reshape(-1),
        domains=[(f"a{number}", DomainKind.NUMBER) for number in range(workload.predicates)],
        constants=[values] * workload.predicates,
        searches=[],
    )


def _or_pairs(count: int, pairs: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The trees of ANDs of OR pairs, all with predicates of their own."""
    width = 1 + 3 * pairs
    words = np.empty((count, width), np.int32)
    words[:, 0] = inner_word(AND, pairs)
    words[:, 1::3] = inner_word(OR, 2)
    leaves = np.arange(2 * pairs * count, dtype=np.int32).reshape(count, -1) << 1
    words[:, 2::3] = leaves[:, 0::2]
    words[:, 3::3] = leaves[:, 1::2]
    return words.reshape(-1), np.arange(count + 1, dtype=np.int64) * width


def _conjunctions(workload: LeSubscribe, count: int, seed: int) -> Forest:
    """Templates that are a predicate, or an AND of predicates: ``s0 = ? AND n2 < ?``."""
    names: dict[str, int] = {}
    columns: list[list[NDArray[Any]]] = []
    parts: list[tuple[NDArray[np.int64], list[tuple[int, Operation, int]]]] = []
    lengths = np.zeros(count + 1, np.int64)
    for template in workload.templates(0, count, seed):
        leaves = []
        for text, values in zip(template.text.split(" AND "), template.columns, strict=True):
            name, operator, _ = text.split()
            domain = names.setdefault(name, len(names))
            if domain == len(columns):
                columns.append([])
            leaves.append((domain, _OPERATION_OF[operator], len(columns[domain])))
            columns[domain].append(values)
        parts.append((template.rows, leaves))
        lengths[template.rows + 1] = len(leaves) + (len(leaves) > 1)
    starts = np.cumsum(lengths)
    words = np.empty(starts[-1], np.int32)
    offsets = [np.cumsum([0, *map(len, column)]) for column in columns]
    kept: list[list[NDArray[Any]]] = [[], [], []]
    predicates = 0
    for rows, leaves in parts:
        if len(leaves) > 1:
            words[starts[rows]] = inner_word(AND, len(leaves))
        for place, (domain, operation, column) in enumerate(leaves, int(len(leaves) > 1)):
            numbers = np.arange(predicates, predicates + len(rows), dtype=np.int32)
            words[starts[rows] + place] = numbers << 1
            predicates += len(rows)
            places = offsets[domain][column] + np.arange(len(rows))
            for found, value in zip(kept, (operation, domain, places), strict=True):
                found.append(np.broadcast_to(value, len(rows)))
    operation_column, domain_column, first_column = (np.concatenate(found) for found in kept)
    is_text = [column[0].dtype.kind == "U" for column in columns]
    return _with_distinct_texts(
        Forest(
            words=words,
            starts=starts,
            operation=operation_column.astype(np.uint8),
            domain=domain_column.astype(np.int32),
            first=first_column.astype(np.int32),
            second=np.full(predicates, -1, np.int32),
            domains=[
                (name, DomainKind.STRING if text else DomainKind.NUMBER)
                for name, text in zip(names, is_text, strict=True)
            ],
            constants=[np.concatenate(column) for column in columns],
            searches=[],
        ),
        is_text,
    )


def _with_distinct_texts(forest: Forest, is_text: Sequence[bool]) -> Forest:
    """Each string once, as a list: a forest takes numbers as arrays, but not strings."""
    for domain, text in enumerate(is_text):
        if text:
            distinct, place = np.unique(forest.constants[domain], return_inverse=True)
            forest.constants[domain] = distinct.tolist()
            mine = forest.domain == domain
            forest.first[mine] = place.astype(np.int32)[forest.first[mine]]
    return forest
