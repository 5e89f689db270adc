"""The scan: every subscription against every event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from boolfilter.baselines.subscribed import Subscribed
from boolfilter.evaluate import evaluate
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression


class Naive(Subscribed):
    """Subscriptions in a dict; matching evaluates all of them.

    >>> scan = Naive()
    >>> scan.subscribe_many([("alice", "a = 1 AND b = 2"), ("bob", "b > 1")])
    >>> scan.match_many([{"a": 1, "b": 2}, {"b": 5}])
    [['alice', 'bob'], ['bob']]
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._expressions: dict[int, Expression] = {}

    def _insert(self, number: int, expression: Expression) -> None:
        self._expressions[number] = expression

    def _remove(self, number: int) -> None:
        del self._expressions[number]

    def _find(self, event: FlatEvent) -> Iterable[int]:
        for number, expression in self._expressions.items():
            if evaluate(expression, event, nulls=self.nulls):
                yield number
