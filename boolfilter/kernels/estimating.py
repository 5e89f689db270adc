"""The kernel that estimates how likely predicates are, from the subscriptions alone."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import kernel


@kernel(
    "void(int32[::1], uint8[::1], int32[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    "float64[::1], float32[::1])"
)
def estimate_chances(words, operation, domain, first, second, start, by_kind, by_operation, out):
    """The chance of each predicate: for an equality how often its value is asked for among all of
    its domain, for a range where its constant stands among the constants of the domain.

    `start` is where the constants of each domain start, `by_kind` a chance for all equalities of
    a domain (not a number: count), `by_operation` one for those with no domain.
    """
    predicate_uses = np.zeros(len(operation), np.int64)
    for word in words:
        if word >= 0:
            predicate_uses[word >> 1] += 1
    constant_uses = np.zeros(start[-1] + 1, np.int64)
    domain_uses = np.zeros(len(start), np.int64)
    for i in range(len(operation)):
        if operation[i] == 0:
            constant_uses[start[domain[i]] + first[i]] += predicate_uses[i]
            domain_uses[domain[i]] += predicate_uses[i]
    for i in range(len(operation)):
        d = domain[i]
        if d < 0:
            out[i] = by_operation[operation[i]]
            continue
        count = max(1, start[d + 1] - start[d])
        rank = first[i]
        chance = 0.0
        if operation[i] == 0:
            chance = by_kind[d]
            if np.isnan(chance):
                chance = constant_uses[start[d] + rank] / max(1, domain_uses[d])
        elif operation[i] <= 2:
            chance = (rank + 0.5) / count
        elif operation[i] <= 4:
            chance = 1.0 - (rank + 0.5) / count
        else:
            chance = (second[i] - rank + 1) / count
        out[i] = min(1.0, max(1e-9, chance))
