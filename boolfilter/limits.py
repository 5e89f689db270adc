"""Bounds on one subscription, so that no single text can exhaust the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolfilter.errors import LeafCountError, NestingDepthError, TextLengthError

if TYPE_CHECKING:
    from boolfilter.expressions import Expression


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a subscription may be.

    ``leaves`` bounds the predicates of a subscription both as written and after XOR is expanded.
    An IN list is one leaf however long it is.

    >>> import boolfilter as bf
    >>> bf.parse("a = 1 AND b = 2", limits=bf.Limits(leaves=1))
    Traceback (most recent call last):
        ...
    boolfilter.errors.LeafCountError: the number of leaves is 2, over the bound of 1
    """

    text_length: int = 10_000_000
    depth: int = 1_000
    leaves: int = 1_000_000

    def check_text(self, text: str) -> None:
        if len(text) > self.text_length:
            raise TextLengthError(len(text), self.text_length)

    def check(self, expression: Expression) -> None:
        if expression.depth > self.depth:
            raise NestingDepthError(expression.depth, self.depth)
        if expression.leaves > self.leaves:
            raise LeafCountError(expression.leaves, self.leaves)


DEFAULT_LIMITS = Limits()
