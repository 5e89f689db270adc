"""Synthetic subscriptions and events, made by row number.

A workload is a small immutable object. Row 17 of seed 3 is the same whichever rows are made with
it, so that batches, threads and partitions can each make their own share.

>>> workload = get("pairs", pairs=3)
>>> workload.texts(10, 12, seed=3) == workload.texts(0, 100, seed=3)[10:12]
True

=============  =======================  ==========================================================
name           class                    what it is
=============  =======================  ==========================================================
pairs          :class:`Pairs`           P: AND of OR pairs over 40 integer attributes
lesubscribe    :class:`LeSubscribe`     L: paper 000, section 4
skewed         :class:`Skewed`          S: AND/OR/NOT trees, attributes and values by Zipf's law
noncanonical   :class:`NonCanonical`    paper 002, section 4
abegen         :class:`AbeGen`          A: arbitrary expressions, after A-Tree's generator
light          :class:`Light`           R: paper 003, light events
thesis         :class:`Thesis`          T: paper 001, the schema of appendix A
=============  =======================  ==========================================================
"""

from __future__ import annotations

from typing import Any

from boolfilter.workloads.abegen import AbeGen
from boolfilter.workloads.lesubscribe import LeSubscribe
from boolfilter.workloads.light import Light
from boolfilter.workloads.noncanonical import NonCanonical
from boolfilter.workloads.pairs import PairPredicates, Pairs
from boolfilter.workloads.skewed import Skewed
from boolfilter.workloads.thesis import Thesis
from boolfilter.workloads.workload import EventColumn, Template, TemplatedWorkload, Workload

__all__ = [
    "AbeGen",
    "EventColumn",
    "LeSubscribe",
    "Light",
    "NonCanonical",
    "PairPredicates",
    "Pairs",
    "Skewed",
    "Template",
    "TemplatedWorkload",
    "Thesis",
    "Workload",
    "get",
    "names",
]

_WORKLOADS: dict[str, type[Workload]] = {
    workload.name: workload
    for workload in (Pairs, LeSubscribe, Skewed, NonCanonical, AbeGen, Light, Thesis)
}


def names() -> list[str]:
    """The names that :func:`get` knows.

    >>> names()
    ['pairs', 'lesubscribe', 'skewed', 'noncanonical', 'abegen', 'light', 'thesis']
    """
    return list(_WORKLOADS)


def get(name: str, **parameters: Any) -> Workload:
    """The workload of that name.

    >>> get("lesubscribe", equality=1.0)
    LeSubscribe(equality=1.0, string_values=200, number_values=5000)
    >>> get("lesubscribed")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: no workload 'lesubscribed', but pairs, lesubscribe, skewed, noncanonical, ...
    """
    if name not in _WORKLOADS:
        known = ", ".join(_WORKLOADS)
        raise ValueError(f"no workload {name!r}, but {known}")
    return _WORKLOADS[name](**parameters)
