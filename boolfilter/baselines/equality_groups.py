"""Equality clusters as arrays: conjunctions in the order of their clusters and combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.kernels.conjunctions import fill_table


@dataclass(frozen=True, slots=True, eq=False)
class EqualityGroups:
    """The conjunctions ``row``, of which the first ``unclustered`` ones are in no cluster.

    Cluster c is for events with values in the domains
    ``cluster_domain[cluster_start[c]:cluster_start[c + 1]]``. A bucket is a combination of keys in
    them, with the conjunctions ``row[bucket_start[b]:bucket_start[b + 1]]``. ``table`` is a hash
    table of the buckets.
    """

    row: NDArray[np.int64]
    unclustered: int
    cluster_start: NDArray[np.int64]
    cluster_domain: NDArray[np.int32]
    table: NDArray[np.int32]
    bucket_cluster: NDArray[np.int32]
    bucket_key_start: NDArray[np.int64]
    bucket_key: NDArray[np.uint32]
    bucket_start: NDArray[np.int64]


def group_equalities(
    conjunctions: int, row: NDArray[np.int64], domain: NDArray[np.int32], key: NDArray[np.uint32]
) -> EqualityGroups:
    """The groups of equalities given as columns; with none, every conjunction is in no cluster."""
    order = np.lexsort((key, domain, row))
    row, domain, key = row[order], domain[order], key[order]
    sizes = np.bincount(row, minlength=conjunctions)
    rows = [np.flatnonzero(sizes == 0)]
    clusters: list[NDArray[np.int32]] = []
    bucket_clusters, bucket_keys, bucket_sizes = [], [], []
    for size in sorted(set(sizes.tolist()) - {0}):
        mine = sizes[row] == size
        columns = np.vstack((domain[mine].reshape(-1, size).T, key[mine].reshape(-1, size).T))
        order = np.lexsort(columns[::-1])
        columns = columns[:, order]
        rows.append(np.flatnonzero(sizes == size)[order])
        new_cluster = _changes(columns[:size])
        new_bucket = _changes(columns)
        firsts = np.flatnonzero(new_bucket)
        bucket_clusters.append(len(clusters) - 1 + np.cumsum(new_cluster)[firsts])
        bucket_keys.append(columns[size:, firsts].T.reshape(-1))
        bucket_sizes.append(np.diff(np.append(firsts, columns.shape[1])))
        clusters += list(columns[:size, new_cluster].T.astype(np.int32))
    cluster_start = np.cumsum([0, *map(len, clusters)])
    bucket_cluster = _joined(bucket_clusters, np.int32)
    unclustered = len(rows[0])
    groups = EqualityGroups(
        row=np.concatenate(rows),
        unclustered=unclustered,
        cluster_start=cluster_start,
        cluster_domain=_joined(clusters, np.int32),
        table=np.full(2 ** (2 * len(bucket_cluster)).bit_length(), -1, np.int32),
        bucket_cluster=bucket_cluster,
        bucket_key_start=starts_of(np.diff(cluster_start)[bucket_cluster]),
        bucket_key=_joined(bucket_keys, np.uint32),
        bucket_start=unclustered + starts_of(_joined(bucket_sizes, np.int64)),
    )
    fill_table(groups.table, bucket_cluster, groups.bucket_key_start, groups.bucket_key)
    return groups


def _changes(columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a column of a matrix is not that before it."""
    changed = np.ones(columns.shape[1], np.bool_)
    changed[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return changed


def starts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where runs of these sizes start, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts]).astype(kind)
