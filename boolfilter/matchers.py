"""What all ways to match have in common, and each of them by its name.

The engine is one; the others are the algorithms that it is compared with. They take the same
subscriptions and events and give the same answers, so tests and benchmarks swap them by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Protocol, cast

from boolfilter.errors import BoolFilterError
from boolfilter.evaluate import Nulls
from boolfilter.events import Event
from boolfilter.ids import Id
from boolfilter.prepared import Subscription


class Matcher(Protocol):
    """Subscriptions by id, and which of them an event satisfies.

    Errors are those of the engine: SubscriptionIdError for an id in use, UnknownSubscriptionError
    for one that is not. A matcher that cannot hold a subscription raises UnsupportedError.
    """

    def subscribe(self, id: Id, subscription: Subscription) -> None: ...

    def subscribe_many(self, subscriptions: Iterable[tuple[Id, Subscription]]) -> object: ...

    def unsubscribe(self, id: Id) -> None: ...

    def match(self, event: Event) -> list[Id]:
        """The ids of the subscriptions that the event satisfies, in order of subscription."""

    def match_many(self, events: Iterable[Event]) -> list[list[Id]]: ...

    def __contains__(self, id: object) -> bool: ...

    def __len__(self) -> int: ...


# Imported when asked for: each compiles kernels of its own.
MATCHERS = {
    "engine": "boolfilter.engine:Engine",
    "naive": "boolfilter.baselines.naive:Naive",
    "noncanonical": "boolfilter.baselines.noncanonical:NonCanonicalMatcher",
    "counting": "boolfilter.baselines.counting:CountingMatcher",
    "counting-variant": "boolfilter.baselines.counting:CountingVariantMatcher",
    "fair-predicate": "boolfilter.baselines.fair_predicate:FairPredicate",
    "equality-preferred": "boolfilter.baselines.equality_preferred:EqualityPreferred",
    "quarantining": "boolfilter.baselines.quarantining:Quarantining",
    "gough": "boolfilter.baselines.gough:Gough",
    "hanson": "boolfilter.baselines.hanson:Hanson",
    "aguilera": "boolfilter.baselines.aguilera:Aguilera",
    "neon": "boolfilter.baselines.neon:Neon",
    "treematch": "boolfilter.baselines.light:TreeMatcher",
    "rapidmatch": "boolfilter.baselines.light:RapidMatcher",
    "profile-tree": "boolfilter.baselines.profile_matcher:ProfileMatcher",
}


def matcher(name: str, *, nulls: Nulls = "false", **options: Any) -> Matcher:
    """An empty matcher of the name; `options` go to its constructor.

    >>> for name in ("engine", "noncanonical"):
    ...     some = matcher(name)
    ...     some.subscribe("alice", "price < 10 AND NOT brand = 'Acme'")
    ...     print(some.match({"price": 5}))
    ['alice']
    ['alice']
    """
    if name not in MATCHERS:
        raise BoolFilterError(f"no matcher {name!r}; there are {', '.join(MATCHERS)}")
    module, kind = MATCHERS[name].split(":")
    return cast(Matcher, getattr(import_module(module), kind)(nulls=nulls, **options))
