"""Access predicates, of which one must be true for a tree to be, and what is then left to evaluate.

An AND is true only if its cheapest child is, so that child's leaves speak for it; an OR only if one
of its children is, so it needs the leaves of all. Nothing else makes a subscription a candidate. A
negative literal is true of most events and no index finds it: a tree that such literals alone can
make true has no access set and is always evaluated.

The residual is what a true access predicate leaves open. For evaluation in Python it becomes a
short-circuit program: a chain of leaves, each with where to go if it is true and if it is false.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from boolfilter.evaluate import holds, search_regex
from boolfilter.events import FlatEvent
from boolfilter.expressions import And, Constant, Expression, Not, Operator, Or, Predicate, all_of
from boolfilter.patterns import PatternShape, like, shape_of
from boolfilter.values import KIND_OF_TYPE, Kind, kind_of

Cost = Callable[[Predicate], float]
"""What it costs to have a predicate as access: the share of events that satisfy it, or so."""


def default_cost(predicate: Predicate) -> float:
    """A guess by operator at the share of events that satisfy a predicate.

    Equality is the rarest, but for a boolean's, of which there are only two; then IN by its
    length, what is in a string, ranges closed and open, and last what any value satisfies.

    >>> import boolfilter as bf
    >>> [default_cost(bf.parse(text)) for text in ("a = 1", "a IN (1, 2, 3)", "a < 1", "a")]
    [0.01, 0.03, 0.3, 0.5]
    """
    operand = predicate.operand
    if predicate.operator is Operator.IN:
        assert isinstance(operand, tuple)
        return min(_COSTS[Operator.EQUAL] * len(operand), _LONGEST_IN)
    if predicate.operator is Operator.EQUAL and isinstance(operand, bool):
        return _BOOLEAN
    return _COSTS[predicate.operator]


def access_leaves(expression: Expression, cost: Cost = default_cost) -> list[Predicate] | None:
    """The cheapest access set of a normal form, by the sum of its predicates' costs.

    None if the expression can be true with every predicate false, and no leaves at all if it
    cannot be true. Of equally cheap sets the first in the order of the tree, each predicate once.
    Takes time linear in the distinct nodes of the tree.

    >>> import boolfilter as bf
    >>> for text in ("a < 5 AND (b = 1 OR c = 2)", "a = 1 OR (b = 2 AND NOT c = 3)", "FALSE"):
    ...     print([str(leaf) for leaf in access_leaves(bf.normalise(bf.parse(text)))])
    ['b = 1', 'c = 2']
    ['a = 1', 'b = 2']
    []
    >>> print(access_leaves(bf.normalise(bf.parse("a = 1 OR NOT b = 2"))))
    None
    """
    costs = _costs(expression, cost)
    if costs[id(expression)] is None:
        return None
    leaves: dict[Predicate, None] = {}
    seen: set[int] = set()
    todo = [expression]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Predicate):
            leaves[node] = None
        elif isinstance(node, And):
            todo.append(min(node.children, key=lambda child: _rank(costs[id(child)])))
        elif isinstance(node, Or):
            todo.extend(reversed(node.children))
    return list(leaves)


_COSTS = {
    Operator.EQUAL: 0.01,
    Operator.STARTS_WITH: 0.03,
    Operator.ENDS_WITH: 0.03,
    Operator.CONTAINS: 0.04,
    Operator.LIKE: 0.05,
    Operator.ILIKE: 0.05,
    Operator.MATCHES: 0.06,
    Operator.BETWEEN: 0.1,
    Operator.LESS: 0.3,
    Operator.LESS_OR_EQUAL: 0.3,
    Operator.GREATER: 0.3,
    Operator.GREATER_OR_EQUAL: 0.3,
    Operator.EXISTS: 0.9,
}
_BOOLEAN = 0.5
_LONGEST_IN = 0.5


def _costs(expression: Expression, cost: Cost) -> dict[int, float | None]:
    """The cost of each node's access set by the node's identity; None where there is no set."""
    costs: dict[int, float | None] = {}
    for node in _distinct_postorder(expression):
        if isinstance(node, Predicate):
            costs[id(node)] = cost(node)
        elif isinstance(node, (And, Or)):
            known = [costs[id(child)] for child in node.children]
            sets = [each for each in known if each is not None]
            if isinstance(node, And):
                costs[id(node)] = min(sets, default=None)
            else:
                costs[id(node)] = sum(sets) if len(sets) == len(known) else None
        else:
            impossible = isinstance(node, Constant) and not node.value
            costs[id(node)] = 0.0 if impossible else None
    return costs


def _distinct_postorder(expression: Expression) -> Iterator[Expression]:
    """Children before parents, each node once: an expanded XOR shares most of its nodes."""
    seen = {id(expression)}
    stack = [(expression, iter(expression.children))]
    while stack:
        node, children = stack[-1]
        for child in children:
            if id(child) not in seen:
                seen.add(id(child))
                stack.append((child, iter(child.children)))
                break
        else:
            stack.pop()
            yield node


def _rank(cost: float | None) -> tuple[bool, float]:
    """Orders costs with "no access set" after them all, an infinite cost included."""
    return (cost is None, cost or 0.0)


# -- residuals --------------------------------------------------------------------------------

Test = Callable[[Any], bool]
Program = tuple[Any, ...] | None
"""A leaf: its attribute, the types its test takes, the test, the predicate, and where to go on if
it is true and if it is false. The two ends of all programs are falsy: None accepts, () rejects."""
ACCEPT: Program = None
REJECT: Program = ()


def residual(expression: Expression, access: list[Predicate]) -> Expression:
    """The conjuncts that are still open when one of the access predicates is true. Linear.

    >>> import boolfilter as bf
    >>> expression = bf.normalise(bf.parse("a < 5 AND (b = 1 OR c = 2)"))
    >>> print(residual(expression, access_leaves(expression)))
    a < 5
    """
    conjuncts = expression.children if isinstance(expression, And) else (expression,)
    return all_of(each for each in conjuncts if not (access and _implied(each, access)))


def compiled(expression: Expression) -> Program:
    """The program of a normal form, made from its end so that each leaf has those after. Linear.

    >>> import boolfilter as bf
    >>> program = compiled(bf.normalise(bf.parse("a < 5 AND (b = 1 OR NOT c = 2)")))
    >>> accepts(program, {"a": 4, "c": 3}), accepts(program, {"a": 4, "c": 2})
    (True, False)
    """
    step = ACCEPT  # where the sibling on the right begins; right of the last, where its parent ends
    todo = [(expression, True, ACCEPT, REJECT)]
    while todo:
        node, in_and, if_true, if_false = todo.pop()
        if in_and:
            if_true = step
        else:
            if_false = step
        if isinstance(node, Constant):
            step = if_true if node.value else if_false
        elif isinstance(node, (And, Or)):
            is_and = isinstance(node, And)
            todo.extend((child, is_and, if_true, if_false) for child in node.children)
            step = if_true if is_and else if_false
        else:
            if isinstance(node, Not):
                node, if_true, if_false = node.child, if_false, if_true
            assert isinstance(node, Predicate)
            step = (node.attribute, *scalar_test(node), node, if_true, if_false)
    return step


def accepts(program: Program, event: FlatEvent) -> bool:
    """Whether the event satisfies the expression of a program; visits no leaf twice."""
    while program:
        attribute, types, test, predicate, if_true, if_false = program
        value = event.get(attribute)
        kind = type(value)
        if kind in types:
            program = if_true if test(value) else if_false
        elif kind is tuple:
            program = if_true if holds(predicate, event) else if_false
        else:
            program = if_false
    return program is ACCEPT


def scalar_test(predicate: Predicate) -> tuple[tuple[type, ...], Test]:
    """The truth of a positive predicate for one value, by the types for which it can be true.

    >>> import boolfilter as bf
    >>> types, test = scalar_test(bf.parse("price < 10"))
    >>> types, test(5)
    ((<class 'int'>, <class 'float'>), True)
    """
    operand: Any = predicate.operand
    if predicate.operator is Operator.EXISTS:
        return tuple(KIND_OF_TYPE), lambda _: True
    if predicate.operator is Operator.IN:
        by_kind: dict[Kind, set[Any]] = {}
        for value in operand:
            by_kind.setdefault(kind_of(value), set()).add(value)
        members = {each: by_kind[kind] for kind in by_kind for each in _TYPES[kind]}
        return tuple(members), lambda value: value in members[type(value)]
    if predicate.operator is Operator.BETWEEN:
        low, high = operand
        return _TYPES[kind_of(low)], lambda value: low <= value <= high
    if predicate.operator in _MIRRORED:
        return _TYPES[kind_of(operand)], partial(_MIRRORED[predicate.operator], operand)
    return _TYPES[Kind.STRING], _string_test(predicate.operator, operand)


def _implied(expression: Expression, access: list[Predicate]) -> bool:
    """Whether each of the access predicates alone makes the expression true."""
    known = set(expression.children) if isinstance(expression, Or) else {expression}
    return known.issuperset(access)


def _string_test(operator_: Operator, operand: Any) -> Test:
    if operator_ is Operator.MATCHES:
        return lambda value: search_regex(value, operand)
    if operator_ in _SHAPES:
        return _shape_test(_SHAPES[operator_], operand)
    shape, text = shape_of(operand)
    general = shape is PatternShape.GENERAL
    test: Test = partial(like, pattern=operand) if general else _shape_test(shape, text)
    # The pattern of a normal form's ILIKE is in lower case already.
    return (lambda value: test(value.lower())) if operator_ is Operator.ILIKE else test


def _shape_test(shape: PatternShape, text: str) -> Test:
    if shape is PatternShape.PREFIX:
        return lambda value: value.startswith(text)
    if shape is PatternShape.SUFFIX:
        return lambda value: value.endswith(text)
    if shape is PatternShape.SUBSTRING:
        return lambda value: text in value
    return partial(operator.eq, text)


_TYPES = {
    kind: tuple(each for each, its_kind in KIND_OF_TYPE.items() if its_kind is kind)
    for kind in Kind
}
# `value < operand` as `operand > value`: the operand is the argument that is known.
_MIRRORED: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.LESS: operator.gt,
    Operator.LESS_OR_EQUAL: operator.ge,
    Operator.GREATER: operator.lt,
    Operator.GREATER_OR_EQUAL: operator.le,
}
_SHAPES = {
    Operator.STARTS_WITH: PatternShape.PREFIX,
    Operator.ENDS_WITH: PatternShape.SUFFIX,
    Operator.CONTAINS: PatternShape.SUBSTRING,
}
