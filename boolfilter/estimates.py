"""How likely each predicate is to hold: what access predicates and the order of tests go by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.forest import DomainKind, Forest
from boolfilter.indexes.domains import Domains
from boolfilter.items import Encoder
from boolfilter.kernels import estimate_chances, observed_chances

Sample = Sequence[Any]  # flat events

_BY_OPERATION = np.array([0.01, 0.3, 0.3, 0.3, 0.3, 0.1, 0.05])
_BY_KIND = {DomainKind.PRESENCE: 0.9, DomainKind.BOOLEAN: 0.5}
_PRIOR_WEIGHT = 10.0  # how many observed events the subscriptions' own statistics weigh


def estimate(
    forest: Forest,
    domains: Domains,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    sample: Sample | None,
) -> NDArray[np.float32]:
    """The chance of each predicate of the forest to hold for an event."""
    prior = _from_subscriptions(forest, domains.sizes(), first, second)
    if not sample:
        return prior
    seen = _from_events(forest, domains, first, second, sample)
    weight = np.float32(len(sample))
    result = (weight * seen + _PRIOR_WEIGHT * prior) / (weight + _PRIOR_WEIGHT)
    unseen = np.isnan(seen)
    result[unseen] = prior[unseen]
    return np.clip(result, 1e-9, 1.0).astype(np.float32)


def _from_subscriptions(
    forest: Forest,
    sizes: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NDArray[np.float32]:
    """What the subscriptions tell: how often a value is asked for, and the rank of a constant."""
    start = np.concatenate(([0], np.cumsum(sizes)))
    by_kind = np.array([_BY_KIND.get(kind, np.nan) for _, kind in forest.domains], np.float64)
    result = np.empty(len(forest.operation), np.float32)
    estimate_chances(
        forest.words, forest.operation, forest.domain, first, second, start, by_kind,
        _BY_OPERATION, result,
    )  # fmt: skip
    return result


def _from_events(
    forest: Forest,
    domains: Domains,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    sample: Sample,
) -> NDArray[np.float32]:
    """The share of the sample for which each predicate holds; not a number where it is unknown.

    Several values of one attribute in one event count as several events: an estimate will do.
    """
    items = Encoder(domains, [], 0).encode(sample)
    start = np.concatenate(([0], np.cumsum(domains.sizes())))
    result = np.empty(len(forest.operation), np.float32)
    observed_chances(
        forest.operation, forest.domain, first, second, start, items.domain, items.position,
        float(len(sample)), result,
    )  # fmt: skip
    return result
