"""How much memory the structures of paper 002 take for its subscriptions, by formula.

A subscription is an AND of ``predicates / 2`` OR pairs with predicates of its own. Counted is what
step two uses, as in the paper: neither the indexes of step one nor what unsubscription needs. The
names are those of ``bytes_used`` of the matchers, and the figures have to be the same to the byte.
"""

from __future__ import annotations

from collections.abc import Callable

NOT_COUNTED = ("indexes", "unsubscription")
Footprint = Callable[[int, int, int], dict[str, int]]


def counting(subscriptions: int, predicates: int, fulfilled: int) -> dict[str, int]:
    """
    >>> sum(counting(700_000, 10, 5_000).values()) // 700_000
    749
    """
    pairs = predicates // 2
    conjunctions = subscriptions * 2**pairs
    vector = -(-conjunctions // 256) * 256  # compared by blocks
    return {
        "predicate bit vector": _bits(subscriptions * predicates),
        "hit vector": vector,
        "count vector": vector,
        "association table": 4 * (subscriptions * predicates + 1 + conjunctions * pairs),
        "subscriptions of conjunctions": 4 * (subscriptions + 1),
    }


def variant(subscriptions: int, predicates: int, fulfilled: int) -> dict[str, int]:
    """Its list of candidates grows with the `fulfilled` predicates of an event."""
    hit = fulfilled * 2 ** (predicates // 2 - 1)
    listed = hit + hit // 4 if hit > 1024 else 1024
    lists = 4 * listed + _bits(subscriptions)
    return counting(subscriptions, predicates, fulfilled) | {"candidates": lists}


def noncanonical(subscriptions: int, predicates: int, fulfilled: int) -> dict[str, int]:
    pair = 2 + 2 * 2 + 2 * 4
    return {
        "predicate bit vector": _bits(subscriptions * predicates),
        "association table": 4 * (2 * subscriptions * predicates + 1),
        "location table": 8 * (subscriptions + 1),
        "trees": subscriptions * (2 + predicates // 2 * (2 + pair)),
        "candidates": 4 * subscriptions + _bits(subscriptions),
    }


FOOTPRINTS: dict[str, Footprint] = {
    "counting": counting,
    "variant": variant,
    "noncanonical": noncanonical,
}


def most_that_fit(side: str, budget: int, predicates: int, fulfilled: int) -> int:
    """The largest number of subscriptions whose structures fit in so many bytes.

    >>> most_that_fit("counting", 512 << 20, 10, 5_000)
    716544
    """
    least, most = 0, budget
    while least < most:
        middle = (least + most + 1) // 2
        if sum(FOOTPRINTS[side](middle, predicates, fulfilled).values()) <= budget:
            least = middle
        else:
            most = middle - 1
    return least


def _bits(count: int) -> int:
    return 8 * (count // 64 + 1)
