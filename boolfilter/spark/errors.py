"""What can go wrong with an index on Spark, beyond what the engine itself refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boolfilter.errors import BoolFilterError


class IndexPathError(BoolFilterError, OSError):
    """There is no index at a path, or none that can be used."""


class ShardError(BoolFilterError):
    """A shard that cannot be used on a host; the whole job fails, results are never partial."""

    def __init__(self, shard: int, path: str, problem: str, host: str) -> None:
        self.shard = shard
        self.path = path
        self.problem = problem
        self.host = host
        super().__init__(shard, path, problem, host)

    def __str__(self) -> str:
        return f"shard {self.shard} cannot be used on {self.host}: {self.path!r}: {self.problem}"


class RejectedSubscriptionsError(BoolFilterError, ValueError):
    """A build met bad subscriptions: how many, and the first few as (id, position, message)."""

    def __init__(self, count: int, examples: Sequence[tuple[Any, int | None, str]]) -> None:
        self.count = count
        self.examples = tuple(examples)
        super().__init__(count, self.examples)

    def __str__(self) -> str:
        shown = "\n".join(f"id {id!r}: {message}" for id, _, message in self.examples)
        more = self.count - len(self.examples)
        rest = f"\nand {more:,} more" if more else ""
        return (
            f"{self.count:,} bad subscriptions, so nothing was built "
            f'(errors="report" leaves them out and lists them):\n{shown}{rest}'
        )
