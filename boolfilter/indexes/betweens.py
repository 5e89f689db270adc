"""BETWEEN predicates, found by the position of a value in their domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boolfilter.forest import Forest, Operation


@dataclass(frozen=True, slots=True, eq=False)
class Betweens:
    """BETWEEN predicates, grouped by domain and length so that a value finds those around it.

    Bounds are positions (see :mod:`boolfilter.kernels`). In a group, lengths differ by a factor
    of two at most: those that can hold a value start within ``group_span`` below it, which is a
    short run in the order of their lower bounds, about half of which do hold it.
    """

    domain: NDArray[np.int32]
    group_of_domain: NDArray[np.int32]
    group_start: NDArray[np.int32]
    group_span: NDArray[np.uint32]
    low: NDArray[np.uint32]
    high: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.low)


def build_betweens(
    forest: Forest, first: NDArray[np.int64], second: NDArray[np.int64], domain_count: int
) -> tuple[Betweens, NDArray[np.int64]]:
    """The index of a forest's BETWEEN predicates, and the place of each in it.

    `first` and `second` are the ranks of the bounds.
    """
    chosen = np.flatnonzero(forest.operation == Operation.BETWEEN)
    low, high, domain = 2 * first[chosen] + 1, 2 * second[chosen] + 1, forest.domain[chosen]
    size_class = np.frexp((high - low).astype(np.float64))[1]  # the bit length
    order = np.lexsort((high, low, size_class, domain))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    low, high, domain, size_class = low[order], high[order], domain[order], size_class[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (domain[1:] != domain[:-1]) | (size_class[1:] != size_class[:-1])
    first = np.flatnonzero(fresh)
    group_start = np.append(first, len(order)).astype(np.int32)
    span = np.maximum.reduceat(high - low, first) if len(first) else np.empty(0)
    group_of_domain = np.searchsorted(domain[first], np.arange(domain_count + 1))
    return (
        Betweens(
            domain,
            group_of_domain.astype(np.int32),
            group_start,
            span.astype(np.uint32),
            low.astype(np.uint32),
            high.astype(np.uint32),
        ),
        place,
    )
