"""Disjunctive normal form: what the algorithms that know only conjunctions make of a subscription.

It can be exponentially larger than the subscription, so it is counted before it is built.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from boolfilter.errors import ExpressionError, LimitError
from boolfilter.expressions import (
    And,
    Constant,
    Expression,
    Not,
    Operator,
    Or,
    Predicate,
    bound_predicate,
    postorder,
)

MOST_CONJUNCTIONS = 10_000
_MOST_ABSORBED = 512  # absorption compares all pairs of conjunctions

Conjunction = frozenset[Expression]


class ConjunctionCountError(LimitError):
    """A subscription whose disjunctive normal form is too large; ``actual`` is its exact size."""

    what = "the number of conjunctions"

    def __str__(self) -> str:
        if self.actual < 10**15:
            return super().__str__()
        size = f"about 10**{math.log10(self.actual):.1f}"
        return f"{self.what} is {size}, over the bound of {self.limit:,}"


def dnf_size(expression: Expression) -> int:
    """How many conjunctions the expansion has, exactly, before any of them is absorbed.

    Takes a normal form (see :func:`boolfilter.normalise`). An IN list is the OR of its values, and
    NOT IN the AND of their negations. Expands nothing: one addition or multiplication a node.

    >>> import boolfilter as bf
    >>> dnf_size(bf.parse("(a = 1 OR b = 1) AND (c = 1 OR d IN (1, 2)) AND e = 1"))
    6
    """
    return _sizes(expression)[0]


def dnf(expression: Expression, *, limit: int = MOST_CONJUNCTIONS) -> tuple[Conjunction, ...]:
    """The conjunctions of a normal form, as sets of literals; ``()`` is FALSE.

    A literal is a predicate or its negation. Contradictions (a predicate and its negation) and
    repeated conjunctions are left out, and so are those that a shorter one absorbs wherever there
    are few enough (512) to compare all pairs. Raises ConjunctionCountError, with nothing expanded,
    if there are over ``limit`` before that.

    >>> import boolfilter as bf
    >>> for conjunction in dnf(bf.normalise(bf.parse("a = 1 AND (b = 1 OR NOT c = 1)"))):
    ...     print(sorted(map(str, conjunction)))
    ['a = 1', 'b = 1']
    ['NOT c = 1', 'a = 1']
    >>> dnf(bf.parse("(a = 1 OR b = 1) AND (c = 1 OR d = 1)"), limit=3)
    Traceback (most recent call last):
        ...
    boolfilter.dnf.ConjunctionCountError: the number of conjunctions is 4, over the bound of 3
    """
    largest = _sizes(expression)[1]
    if largest > limit:
        raise ConjunctionCountError(largest, limit)
    done: list[list[Conjunction]] = []
    for node in postorder(expression):
        if isinstance(node, (Constant, Predicate)):
            done.append(_leaf(node))
            continue
        count = len(node.children)
        parts = done[len(done) - count :]
        del done[len(done) - count :]
        if isinstance(node, Not):
            done.append(_negated(node))
        elif isinstance(node, Or):
            done.append(_distinct(conjunction for part in parts for conjunction in part))
        else:
            done.append(_product(parts))
    # Once, at the end: at each level of a deep tree it would cost far more than it saves.
    return tuple(_absorbed(done[0]))


def _sizes(expression: Expression) -> tuple[int, int]:
    """The size of the expansion, and of the largest expansion of any part: a FALSE inside makes
    the whole smaller than its parts."""
    sizes: list[int] = []
    largest = 0
    for node in postorder(expression):
        count = len(node.children)
        parts = sizes[len(sizes) - count :]
        del sizes[len(sizes) - count :]
        if isinstance(node, Predicate):
            size = len(_values(node)) if node.operator is Operator.IN else 1
        elif isinstance(node, Constant):
            size = int(node.value)
        elif isinstance(node, Not) and isinstance(node.child, Predicate):
            size = 1
        elif isinstance(node, And):
            size = _product_of_sizes(parts)
        elif isinstance(node, Or):
            size = sum(parts)
        else:
            raise ExpressionError(f"a normal form has no {type(node).__name__} of an expression")
        largest = max(largest, size)
        sizes.append(size)
    return sizes[0], largest


def _product_of_sizes(sizes: list[int]) -> int:
    # In halves: one long product after the other would be quadratic in the digits.
    while len(sizes) > 1:
        sizes = [math.prod(sizes[place : place + 2]) for place in range(0, len(sizes), 2)]
    return sizes[0]


def _values(node: Predicate) -> tuple[Expression, ...]:
    operand = node.operand
    assert isinstance(operand, tuple)
    return tuple(bound_predicate(node.attribute, Operator.EQUAL, value) for value in operand)


def _leaf(node: Constant | Predicate) -> list[Conjunction]:
    if isinstance(node, Constant):
        return [frozenset()] if node.value else []
    if node.operator is Operator.IN:
        return [frozenset((value,)) for value in _values(node)]
    return [frozenset((node,))]


def _negated(node: Not) -> list[Conjunction]:
    child = node.child
    assert isinstance(child, Predicate)
    if child.operator is Operator.IN:
        return [frozenset(Not(value) for value in _values(child))]
    return [frozenset((node,))]


def _product(parts: list[list[Conjunction]]) -> list[Conjunction]:
    if not all(parts):
        return []  # before the others are multiplied, which the count does not bound then
    found: list[Conjunction] = [frozenset()]
    for part in parts:
        joined = (one | other for one in found for other in part)
        found = _distinct(each for each in joined if not _contradicts(each))
    return found


def _contradicts(conjunction: Conjunction) -> bool:
    return any(isinstance(literal, Not) and literal.child in conjunction for literal in conjunction)


def _distinct(conjunctions: Iterable[Conjunction]) -> list[Conjunction]:
    return list(dict.fromkeys(conjunctions))


def _absorbed(conjunctions: list[Conjunction]) -> list[Conjunction]:
    if len(conjunctions) > _MOST_ABSORBED:
        return conjunctions
    kept: list[Conjunction] = []
    for conjunction in sorted(conjunctions, key=len):
        if not any(shorter <= conjunction for shorter in kept):
            kept.append(conjunction)
    chosen = set(kept)
    return [conjunction for conjunction in conjunctions if conjunction in chosen]
