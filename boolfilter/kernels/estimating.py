"""The kernels that estimate how likely predicates are, from subscriptions and from events."""

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


@kernel(
    "void(uint8[::1], int32[::1], int64[::1], int64[::1], int64[::1], int32[::1], uint32[::1],"
    "float64, float32[::1])"
)
def observed_chances(operation, domain, first, second, start, item_domain, position, events, out):
    """The share of the events whose items make each predicate true; not a number if unknown.

    A domain of n constants has the positions 0 to 2n (2r + 1 on the constant of rank r, even
    numbers between). `start` is where the constants of each domain start. Counts of the items up
    to each position answer a predicate with two looks, where a search would take many.
    """
    below = np.zeros(2 * start[-1] + 2 * len(start), np.int64)  # 2n + 2 for each domain
    for i in range(len(item_domain)):
        d = item_domain[i]
        if d >= 0 and position[i] <= 2 * (start[d + 1] - start[d]):
            below[2 * (start[d] + d) + position[i] + 1] += 1
    for d in range(len(start) - 1):
        for place in range(2 * (start[d] + d) + 1, 2 * (start[d + 1] + d + 1)):
            below[place] += below[place - 1]
    for i in range(len(operation)):
        d = domain[i]
        if d < 0:
            out[i] = np.nan
            continue
        base = 2 * (start[d] + d)
        until = below[base + 2 * first[i] + 1]  # those below the constant
        through = below[base + 2 * first[i] + 2]  # and on it
        present = below[2 * (start[d + 1] + d + 1) - 1]
        count = through - until
        if operation[i] == 1:
            count = until
        elif operation[i] == 2:
            count = through
        elif operation[i] == 3:
            count = present - through
        elif operation[i] == 4:
            count = present - until
        elif operation[i] == 5:
            count = below[base + 2 * second[i] + 2] - until
        out[i] = count / events
