"""The trees of workload A as columns, and the two forms made of them: texts and expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from boolfilter.expressions import And, Expression, Not, Operator, Or, Predicate, Xor

AND, OR, NOT, XOR, XNOR = range(5)
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN")
MOST_IN_A_LIST = 4

_OPERATORS = (
    Operator.EQUAL,
    Operator.NOT_EQUAL,
    Operator.LESS,
    Operator.LESS_OR_EQUAL,
    Operator.GREATER,
    Operator.GREATER_OR_EQUAL,
    Operator.BETWEEN,
    Operator.IN,
)
_BETWEEN = COMPARISONS.index("BETWEEN")
_IN = COMPARISONS.index("IN")
Tree = TypeVar("Tree")


class Predicates(NamedTuple):
    """Many predicates as columns; ``values[item, predicate]`` are as many as its list is long,
    the first is the constant of a comparison, the first two are the ends of a window."""

    attributes: NDArray[np.int64]
    comparisons: NDArray[np.int64]
    values: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def rows(self) -> Iterator[tuple[int, int, list[int]]]:
        """Each predicate: its attribute, its comparison, and the constants it has."""
        columns = (self.attributes, self.comparisons, self.values.T, self.sizes)
        for attribute, comparison, values, size in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            if comparison == _IN:
                yield attribute, comparison, list(dict.fromkeys(values[:size]))
            else:
                yield attribute, comparison, values[: 1 + (comparison == _BETWEEN)]


class Level(NamedTuple):
    """Many operators as columns: node i has ``counts[i]`` of the ``children``, which stand in the
    order of the nodes and are numbers of trees of the level below."""

    operators: NDArray[np.int64]
    counts: NDArray[np.int64]
    children: NDArray[np.int64]


class Drawn(NamedTuple):
    """Many trees: their levels from the top, the last of which is over the predicates. What stands
    in several places is one tree with several parents."""

    levels: list[Level]
    predicates: Predicates


class Form(Protocol, Generic[Tree]):
    """How predicates and operators over trees become trees."""

    def predicates(self, drawn: Predicates) -> list[Tree]: ...

    def joined(self, operator: int, children: Sequence[Tree]) -> Tree: ...


def grown(drawn: Drawn, form: Form[Tree]) -> list[Tree]:
    """The trees in a form, from the predicates up."""
    trees = form.predicates(drawn.predicates)
    for level in reversed(drawn.levels):
        places = iter(level.children.tolist())
        trees = [
            form.joined(operator, [trees[place] for place in islice(places, count)])
            for operator, count in zip(level.operators.tolist(), level.counts.tolist(), strict=True)
        ]
    return trees


class _Texts:
    """Trees as texts, in brackets where another operator could stand beside them."""

    def predicates(self, drawn: Predicates) -> list[str]:
        return [_predicate_text(*row) for row in drawn.rows()]

    def joined(self, operator: int, children: Sequence[str]) -> str:
        if operator == NOT:
            return f"NOT {children[0]}"
        if operator == AND:
            return f"({' AND '.join(children)})"
        if operator == OR:
            return f"({' OR '.join(children)})"
        chain = f"({' XOR '.join(children)})"
        return chain if operator == XOR else f"NOT {chain}"

    def whole(self, text: str) -> str:
        """A tree that stands alone needs no brackets.

        >>> AS_TEXTS.whole("(a = 1 OR b IN (1, 2))"), AS_TEXTS.whole("b IN (1, 2)")
        ('a = 1 OR b IN (1, 2)', 'b IN (1, 2)')
        """
        return text[1:-1] if text[0] == "(" else text


class _Expressions:
    """Trees as expressions; children that several trees share are the same object in all."""

    def predicates(self, drawn: Predicates) -> list[Expression]:
        return [_predicate(*row) for row in drawn.rows()]

    def joined(self, operator: int, children: Sequence[Expression]) -> Expression:
        if operator == NOT:
            return Not(children[0])
        if operator == AND:
            return And(children)
        if operator == OR:
            return Or(children)
        return Xor(children) if operator == XOR else Not(Xor(children))


AS_TEXTS = _Texts()
AS_EXPRESSIONS = _Expressions()


def _predicate_text(attribute: int, comparison: int, values: list[int]) -> str:
    if comparison == _IN:
        return f"a{attribute} IN ({', '.join(map(str, values))})"
    if comparison == _BETWEEN:
        return f"a{attribute} BETWEEN {values[0]} AND {values[1]}"
    return f"a{attribute} {COMPARISONS[comparison]} {values[0]}"


def _predicate(attribute: int, comparison: int, values: list[int]) -> Predicate:
    operand: Any = values if comparison in (_IN, _BETWEEN) else values[0]
    return Predicate(f"a{attribute}", _OPERATORS[comparison], operand)
