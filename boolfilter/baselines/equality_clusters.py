"""Conjunctions clustered by their equality predicates: the paper's `eqsubmatch`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

from boolfilter.baselines.literals import Equalities, Field, values_by_kind
from boolfilter.events import FlatEvent
from boolfilter.values import Value

_Schema = tuple[Field, ...]
_Cluster = dict[tuple[Value, ...], set[int]]


class EqualityClusters:
    """Conjunctions with equalities on the same attributes, the *schema*, are one cluster: a hash
    table of their combinations of values. A conjunction is in one cluster.

    An event is looked up in every cluster whose schema it has values for. Where it has several
    values for an attribute, that is once for each combination of them; or, if those are more than
    the cluster has, the cluster is scanned.

    >>> import boolfilter as bf
    >>> from boolfilter.baselines.literals import split_equalities
    >>> clusters = EqualityClusters()
    >>> equalities, _ = split_equalities(frozenset({bf.parse("a = 1"), bf.parse("b = 'x'")}))
    >>> clusters.insert(7, equalities)
    >>> list(clusters.satisfied({"a": 1, "b": "x"})), list(clusters.satisfied({"a": 1}))
    ([7], [])
    """

    def __init__(self) -> None:
        self._clusters: dict[_Schema, _Cluster] = {}

    def __len__(self) -> int:
        """How many clusters there are."""
        return len(self._clusters)

    def insert(self, number: int, equalities: Equalities) -> None:
        schema, combination = _key(equalities)
        self._clusters.setdefault(schema, {}).setdefault(combination, set()).add(number)

    def remove(self, number: int, equalities: Equalities) -> None:
        schema, combination = _key(equalities)
        cluster = self._clusters[schema]
        cluster[combination].remove(number)
        if not cluster[combination]:
            del cluster[combination]
        if not cluster:
            del self._clusters[schema]

    def satisfied(self, event: FlatEvent) -> Iterator[int]:
        """The conjunctions whose equalities the event satisfies."""
        values = dict(values_by_kind(event))
        for schema, cluster in self._clusters.items():
            if all(map(values.__contains__, schema)):
                for combination in _looked_up([values[field] for field in schema], cluster):
                    yield from cluster.get(combination, ())


def _key(equalities: Equalities) -> tuple[_Schema, tuple[Value, ...]]:
    schema = tuple(sorted(equalities))
    return schema, tuple(equalities[field] for field in schema)


def _looked_up(values: list[list[Value]], cluster: _Cluster) -> Iterable[tuple[Value, ...]]:
    """Combinations of the values, among them all that are in the cluster."""
    if math.prod(map(len, values)) <= len(cluster):
        return product(*values)
    fitting = [set(each) for each in values]
    return [
        combination
        for combination in cluster
        if all(value in each for value, each in zip(combination, fitting, strict=True))
    ]
