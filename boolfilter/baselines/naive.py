"""The scan: every subscription against every event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from boolfilter.evaluate import Nulls, evaluate
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression


class Naive:
    """Subscriptions in a list; matching evaluates all of them.

    >>> import boolfilter as bf
    >>> scan = Naive([bf.parse("a = 1 AND b = 2"), bf.parse("b > 1")])
    >>> scan.match([{"a": 1, "b": 2}, {"b": 5}])[1].tolist()
    [0, 1, 1]
    """

    __slots__ = ("expressions", "nulls")

    def __init__(self, expressions: Sequence[Expression], nulls: Nulls = "false") -> None:
        self.expressions = expressions
        self.nulls = nulls

    def __len__(self) -> int:
        return len(self.expressions)

    def match(self, events: Iterable[FlatEvent]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The matching (event, ordinal) pairs in order, as of a segment."""
        pairs = [
            (place, ordinal)
            for place, event in enumerate(events)
            for ordinal, expression in enumerate(self.expressions)
            if evaluate(expression, event, nulls=self.nulls)
        ]
        found = np.array(pairs, np.int64).reshape(-1, 2)
        return found[:, 0].copy(), found[:, 1].astype(np.uint32)
