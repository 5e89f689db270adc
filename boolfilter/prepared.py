"""Texts straight to their normal forms: a shape is normalised once, with stand-ins for its leaves.

What normalisation does to a tree depends on its leaves only where two of them are about one
attribute. Where all attributes differ, the normal form of a shape (:class:`language.Shape`) is
that of every text of the shape but for the order of siblings; so it is kept, and a text binds its
leaves into it. Other texts are parsed and normalised as they come.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from boolfilter.columns import stand_in_name
from boolfilter.errors import ExpressionError
from boolfilter.evaluate import Nulls
from boolfilter.expressions import (
    POSITIVE_OF,
    Expression,
    Not,
    Operator,
    Predicate,
    bound_node,
    bound_predicate,
    postorder,
)
from boolfilter.language import Shape, parse, shape_of_text
from boolfilter.limits import DEFAULT_LIMITS, Limits
from boolfilter.normalise import canonical_leaf, group_key, is_leaf, leaf_key, normalise

Subscription = str | Expression

_MOST_PLANS = 4_096
_plans: dict[tuple[Any, ...], tuple[Shape, _Plan | None]] = {}

# A normal form over stand-ins, in postfix order: leaf i as itself or as its attribute's presence,
# and then nodes: class, children, depth, leaves.
_Step = tuple[int, bool] | tuple[type[Expression], int, int, int]
_Plan = list[_Step]


def normal_form(
    subscription: Subscription,
    *,
    nulls: Nulls = "false",
    unique: Container[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Expression:
    """The normal form of a text or expression: of a text just ``normalise(parse(text))``, but
    quicker for a shape that was seen before.

    >>> print(normal_form("b = 2 AND NOT (c = 3 OR a < 1)"))
    b = 2 AND NOT a < 1 AND NOT c = 3
    """
    if isinstance(subscription, str):
        bound = _bound(subscription, nulls, limits)
        if bound is not None:
            return bound
        subscription = parse(subscription, limits=limits)
    if not isinstance(subscription, Expression):
        kind = type(subscription).__name__
        raise ExpressionError(f"a subscription is a text or an expression, not {kind}")
    return normalise(subscription, nulls=nulls, unique=unique, limits=limits)


def _bound(text: str, nulls: Nulls, limits: Limits) -> Expression | None:
    if type(text) is not str or len(text) > limits.text_length:
        return None
    shape, holes = shape_of_text(text)
    bound = shape.bind_leaves(holes)
    if bound is None:
        return None
    leaves: list[Predicate] = []
    signs: list[Operator] = []
    attributes = set()
    for leaf in bound:
        if not isinstance(leaf, Predicate):
            return None
        canonical = canonical_leaf(leaf)
        if not isinstance(canonical, Predicate):  # decided by its operand alone
            return None
        leaves.append(canonical)
        signs.append(_SIGN_OF.get(leaf.operator, Operator.EQUAL))
        attributes.add(leaf.attribute)
    if len(attributes) < len(leaves):
        return None
    key = (id(shape), nulls, *signs)
    known = _plans.get(key)
    if known is None:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        # The shape is kept beside its plan, so that its identity stays its own.
        known = _plans[key] = (shape, _plan(shape, signs, nulls, limits))
    plan = known[1]
    return None if plan is None else _assembled(plan, leaves, limits)


# What stands for an operator while a shape is normalised; for all others an equality.
_SIGN_OF = {
    Operator.EXISTS: Operator.EXISTS,
    Operator.IS_NULL: Operator.IS_NULL,
    **dict.fromkeys(POSITIVE_OF, Operator.NOT_EQUAL),
}


def _plan(shape: Shape, signs: list[Operator], nulls: Nulls, limits: Limits) -> _Plan | None:
    """The steps of a shape's normal form; None if its siblings cannot be ordered by leaves."""
    stand_ins = [
        Predicate(
            stand_in_name(number),
            sign,
            None if sign in (Operator.EXISTS, Operator.IS_NULL) else number,
        )
        for number, sign in enumerate(signs)
    ]
    written = shape.assembled(stand_ins)
    limits.check(written)
    steps: _Plan = []
    for node in postorder(normalise(written, nulls=nulls, limits=limits)):
        if isinstance(node, Predicate):
            steps.append((int(node.attribute[1:]), node.operator is Operator.EXISTS))
        elif not node.children:
            return None
        else:
            groups = [child for child in node.children if not is_leaf(child)]
            if len(groups) > 1 and not all(is_leaf(leaf) for g in groups for leaf in g.children):
                return None
            steps.append((type(node), len(node.children), node.depth, node.leaves))
    return steps


def _assembled(plan: _Plan, leaves: list[Predicate], limits: Limits) -> Expression:
    stack: list[Expression] = []
    for step in plan:
        if len(step) == 2:
            number, presence = step
            leaf = leaves[number]
            if presence and leaf.operator is not Operator.EXISTS:
                leaf = bound_predicate(leaf.attribute, Operator.EXISTS, None)
            stack.append(leaf)
            continue
        node_class, count, depth, size = step
        children = stack[-count:]
        del stack[-count:]
        if node_class is not Not:
            children.sort(key=_sibling_key)
        stack.append(bound_node(node_class, tuple(children), depth, size))
    limits.check(stack[0])
    return stack[0]


def _sibling_key(node: Expression) -> tuple[Any, ...]:
    """Leaves before groups, each in the order of `normalise`; a deep group has no equal here."""
    if is_leaf(node):
        return (0, leaf_key(node))
    return (1, group_key(node)) if all(map(is_leaf, node.children)) else (1,)
