"""Normal form: equal subscriptions become equal trees, and NOT stands only at the leaves.

The result is an expression of AND, OR, predicates with positive operators, and NOT of such a
predicate; or TRUE or FALSE alone. It is two-valued: this module is the one place that knows the
two null semantics. With ``nulls="false"`` the negation of a predicate is a negative literal; with
``nulls="sql"`` it is a negative literal that also needs the attribute present.

XOR is expanded as ``(a AND NOT b) OR (NOT a AND b)``, splitting a chain of k in the middle again
and again: that makes k**2 leaves, where peeling one operand at a time would make 2**k. No formula
of AND, OR and NOT is smaller. Equal parts are worked out once and shared, so the work stays linear
in k, and the size is checked against ``limits.leaves`` before any of it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from datetime import datetime
from hashlib import blake2b
from typing import Any

from boolfilter.errors import ExpressionError, LeafCountError
from boolfilter.evaluate import Nulls, check_nulls
from boolfilter.expressions import (
    FALSE,
    NEEDS_SCHEMA,
    POSITIVE_OF,
    TRUE,
    And,
    Constant,
    Expression,
    Not,
    Operator,
    Or,
    Pattern,
    Predicate,
    Xor,
    bound_predicate,
    postorder,
)
from boolfilter.limits import DEFAULT_LIMITS, Limits
from boolfilter.patterns import PatternShape, canonical_pattern, shape_of
from boolfilter.values import Value, kind_of

# A step of the work: the node, the truth asked of it, and for XOR which slice of its children.
_Step = tuple[Expression, bool, int, int]
_Junction = type[And] | type[Or]


def normalise(
    expression: Expression,
    *,
    nulls: Nulls = "false",
    unique: Container[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Expression:
    """The normal form of an expression: true for the same events.

    ``unique`` holds the attributes known to have one value at most (a schema says so): only on
    those is ``a > 5 AND a < 3`` a contradiction.

    >>> import boolfilter as bf
    >>> print(normalise(bf.parse("NOT (b <> 1 OR a = 2) AND TRUE")))
    NOT a = 2 AND (b = 1 OR NOT b IS NOT NULL)
    >>> print(normalise(bf.parse("NOT (b <> 1 OR a = 2) AND TRUE"), nulls="sql"))
    a IS NOT NULL AND b = 1 AND NOT a = 2
    >>> print(normalise(bf.parse("a > 5 AND a < 3"), unique={"a"}))
    FALSE
    """
    limits.check(expression)
    _check_expansion(expression, limits)
    work = _Work(check_nulls(nulls), unique)
    result = work.run(expression)
    limits.check(result)
    return result


def _check_expansion(expression: Expression, limits: Limits) -> None:
    """Refuse early what XOR would make too large: each halving of a chain doubles its leaves."""
    sizes: list[int] = []
    for node in postorder(expression):
        count = len(node.children)
        size = sum(sizes[len(sizes) - count :]) if count else node.leaves
        del sizes[len(sizes) - count :]
        if isinstance(node, Xor):
            size *= 2 ** (count.bit_length() - 1)
        if size > limits.leaves:
            raise LeafCountError(size, limits.leaves)
        sizes.append(size)


class _Work:
    """One normalisation; digests of trees are kept, since they order the children of several."""

    def __init__(self, nulls: Nulls, unique: Container[str]) -> None:
        self.nulls = nulls
        self.unique = unique
        self.digests: dict[Expression, bytes] = {}

    def run(self, expression: Expression) -> Expression:
        first: _Step = (expression, True, 0, len(expression.children))
        todo = [first]
        # By identity: the nodes stay alive as parts of `expression`.
        done: dict[tuple[int, bool, int, int], Expression] = {}
        while todo:
            step = todo[-1]
            key = (id(step[0]), *step[1:])
            if key in done:
                todo.pop()
                continue
            join, parts = self._parts(step)
            keys = [(id(part[0]), *part[1:]) for part in parts]
            missing = []
            for part, k in zip(parts, keys, strict=True):
                if k not in done:
                    if part[0].children:
                        missing.append(part)
                    else:
                        done[k] = self._leaf(part[0], part[1])
            if missing:
                todo.extend(missing)
            else:
                done[key] = join([done[k] for k in keys])
                todo.pop()
        return done[(id(expression), *first[1:])]

    def _parts(self, step: _Step) -> tuple[Callable[[list[Expression]], Expression], list[_Step]]:
        """The steps that this one needs first, and how their results make its own."""
        node, wanted, start, stop = step
        if not node.children:
            return lambda _: self._leaf(node, wanted), []
        if isinstance(node, Not):
            return lambda results: results[0], [_whole(node.child, not wanted)]
        if isinstance(node, Xor):
            return self._parts_of_xor(node, wanted, start, stop)
        join = self._all if isinstance(node, And) is wanted else self._any
        return join, [_whole(child, wanted) for child in node.children]

    def _parts_of_xor(
        self, node: Xor, wanted: bool, start: int, stop: int
    ) -> tuple[Callable[[list[Expression]], Expression], list[_Step]]:
        if stop - start == 1:
            return lambda results: results[0], [_whole(node.children[start], wanted)]
        middle = (start + stop) // 2

        def join(results: list[Expression]) -> Expression:
            left, not_left, right, not_right = results
            if wanted:
                right, not_right = not_right, right
            return self._any([self._all([left, right]), self._all([not_left, not_right])])

        return join, [
            (node, True, start, middle),
            (node, False, start, middle),
            (node, True, middle, stop),
            (node, False, middle, stop),
        ]

    def _leaf(self, node: Expression, wanted: bool) -> Expression:
        if isinstance(node, Constant):
            return TRUE if node.value is wanted else FALSE
        assert isinstance(node, Predicate)
        if node.operator is Operator.EXISTS or node.operator is Operator.IS_NULL:
            exists = _exists(node)
            return exists if (node.operator is Operator.EXISTS) is wanted else Not(exists)
        positive = POSITIVE_OF.get(node.operator)
        predicate = _canonical_predicate(node, positive or node.operator)
        if positive is None:
            return predicate if wanted else self._negated(node, predicate)
        # A negative operator needs the attribute present, whatever the null semantics.
        if wanted:
            return self._all([_exists(node), _complement(predicate)])
        if self.nulls == "sql":
            return predicate
        return self._any([Not(_exists(node)), predicate])

    def _negated(self, node: Predicate, predicate: Expression) -> Expression:
        if self.nulls == "sql":
            return self._all([_exists(node), _complement(predicate)])
        return _complement(predicate)

    def _all(self, children: Iterable[Expression]) -> Expression:
        return self._junction(And, children)

    def _any(self, children: Iterable[Expression]) -> Expression:
        return self._junction(Or, children)

    def _junction(self, junction: _Junction, children: Iterable[Expression]) -> Expression:
        neutral, decisive = (TRUE, FALSE) if junction is And else (FALSE, TRUE)
        flat: dict[Expression, None] = {}
        for child in children:
            if child is decisive:
                return decisive
            if child is not neutral:
                flat.update(dict.fromkeys(child.children if type(child) is junction else (child,)))
        leaves = [child for child in flat if is_leaf(child)]
        if len(leaves) > 1:
            merged = _merge_leaves(junction, leaves, self.unique)
            if merged is None:
                return decisive
            leaves = merged
        groups = [child for child in flat if not is_leaf(child)]
        if leaves and groups:
            known = set(leaves)
            # x OR (x AND y) is x; x AND (x OR y) is x.
            groups = [group for group in groups if known.isdisjoint(group.children)]
        leaves.sort(key=leaf_key)
        if len(groups) > 1:
            groups.sort(key=self._group_key)
        ordered = leaves + groups
        if len(ordered) < 2:
            return ordered[0] if ordered else neutral
        return junction(ordered)

    def _group_key(self, node: Expression) -> tuple[Any, ...]:
        """Groups of leaves by those; then the others, by a name that is the same everywhere."""
        if all(map(is_leaf, node.children)):
            return (0, group_key(node))
        return (1, self._digest(node))

    def _digest(self, node: Expression) -> bytes:
        """A name for a tree that, unlike Python's hash, is the same in every process."""
        todo = [node]
        while todo:
            tree = todo[-1]
            groups = [child for child in tree.children if not is_leaf(child)]
            missing = [child for child in groups if child not in self.digests]
            if missing:
                todo.extend(missing)
                continue
            digest = blake2b(type(tree).__name__.encode(), digest_size=16)
            for child in tree.children:
                known = None if is_leaf(child) else self.digests[child]
                digest.update(known or str(child).encode("utf-8", "surrogatepass") + b"\0")
            self.digests[todo.pop()] = digest.digest()
        return self.digests[node]


def canonical_leaf(predicate: Predicate) -> Expression:
    """What a predicate is in a normal form, with its positive operator if it has one.

    >>> print(canonical_leaf(Predicate("a", Operator.NOT_IN, [2.0])))
    a = 2
    """
    if predicate.operator is Operator.IS_NULL:
        return _exists(predicate)
    positive = POSITIVE_OF.get(predicate.operator, predicate.operator)
    return _canonical_predicate(predicate, positive)


def is_leaf(node: Expression) -> bool:
    """Whether a node of a normal form is a literal or a constant."""
    return not isinstance(node, (And, Or))


def group_key(node: Expression) -> tuple[Any, ...]:
    """Orders groups of leaves that are siblings."""
    return (type(node).__name__, tuple(map(leaf_key, node.children)))


def _whole(node: Expression, wanted: bool) -> _Step:
    return (node, wanted, 0, len(node.children))


def _exists(predicate: Predicate) -> Predicate:
    return bound_predicate(predicate.attribute, Operator.EXISTS, None)


def _complement(leaf: Expression) -> Expression:
    """The other literal of a leaf. Predicates are two-valued here, so this is exact."""
    if isinstance(leaf, Constant):
        return FALSE if leaf.value else TRUE
    return leaf.child if isinstance(leaf, Not) else Not(leaf)


# -- single predicates ------------------------------------------------------------------------


def _canonical_predicate(node: Predicate, operator: Operator) -> Expression:
    """The predicate with a positive operator and its operand in the one form it can have."""
    attribute = node.attribute
    operand: Any = node.operand
    if isinstance(operand, Pattern):
        return _canonical_like(attribute, operator, operand)
    if operator is Operator.IN:
        return _membership(attribute, operand)
    if operator is Operator.BETWEEN:
        low, high = (_canonical_number(value) for value in operand)
        if low > high:
            return FALSE
        if low == high:
            return bound_predicate(attribute, Operator.EQUAL, low)
        return bound_predicate(attribute, operator, (low, high))
    if operator is Operator.IS_A:
        raise ExpressionError(f"{node} {NEEDS_SCHEMA}")
    if operator is Operator.CONTAINS and not isinstance(operand, str):
        operator = Operator.EQUAL
    if operator is Operator.ENDS_WITH and operand == "":
        operator = Operator.STARTS_WITH
    return bound_predicate(attribute, operator, _canonical_number(operand))


def _canonical_number(value: Any) -> Any:
    """A float that is a whole number as that integer: they compare equal, so they are one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _canonical_like(attribute: str, operator: Operator, pattern: Pattern) -> Predicate:
    if operator is Operator.ILIKE:
        # Stays ILIKE whatever its shape: it tests the lower-cased value, not the value.
        return bound_predicate(attribute, operator, canonical_pattern(pattern, fold=True))
    shape, text = shape_of(pattern)
    if shape is PatternShape.SUBSTRING and not text:
        shape = PatternShape.PREFIX
    if shape in _OPERATOR_OF_SHAPE:
        return bound_predicate(attribute, _OPERATOR_OF_SHAPE[shape], text)
    return bound_predicate(attribute, operator, canonical_pattern(pattern))


_OPERATOR_OF_SHAPE = {
    PatternShape.EQUAL: Operator.EQUAL,
    PatternShape.PREFIX: Operator.STARTS_WITH,
    PatternShape.SUFFIX: Operator.ENDS_WITH,
}


def _membership(attribute: str, values: Iterable[Value]) -> Predicate:
    """One of these values: an equality if there is one only."""
    distinct = {_value_key(value): value for value in map(_canonical_number, values)}
    if len(distinct) == 1:
        return bound_predicate(attribute, Operator.EQUAL, next(iter(distinct.values())))
    ordered = tuple(distinct[key] for key in sorted(distinct))
    return bound_predicate(attribute, Operator.IN, ordered)


# -- leaves beside each other -----------------------------------------------------------------

_LOWER_BOUNDS = {Operator.GREATER: 1, Operator.GREATER_OR_EQUAL: 0}
_UPPER_BOUNDS = {Operator.LESS: -1, Operator.LESS_OR_EQUAL: 0}


def _merge_leaves(
    junction: _Junction, leaves: list[Expression], unique: Container[str]
) -> list[Expression] | None:
    """Fewer leaves for the same truth, or None where the junction is decided by them."""
    by_attribute: dict[str, list[Expression]] = {}
    for leaf in leaves:
        by_attribute.setdefault(_predicate_of(leaf).attribute, []).append(leaf)
    if len(by_attribute) == len(leaves):
        return leaves
    merged: list[Expression] = []
    for attribute, group in by_attribute.items():
        if len(group) > 1:
            smaller = _merge_group(junction, group)
            if smaller is None:
                return None
            if junction is And and attribute in unique and _contradict(smaller):
                return None
            group = smaller
        merged.extend(group)
    return merged


def _merge_group(junction: _Junction, group: list[Expression]) -> list[Expression] | None:
    """The leaves of one attribute. AND and OR are each other's mirror, with the signs swapped."""
    kept: dict[Expression, None] = {}
    members: list[Value] = []
    bounds: dict[tuple[bool, bool, int], tuple[Any, Predicate]] = {}
    # OR unites what positive leaves allow; AND unites what negative leaves forbid.
    uniting = junction is Or
    for leaf in group:
        predicate = _predicate_of(leaf)
        positive = leaf is predicate
        if positive is uniting and predicate.operator in (Operator.EQUAL, Operator.IN):
            operand: Any = predicate.operand
            members.extend(operand if predicate.operator is Operator.IN else (operand,))
        elif predicate.operator in _LOWER_BOUNDS or predicate.operator in _UPPER_BOUNDS:
            _keep_bound(bounds, predicate, positive, widest=positive is uniting)
        else:
            kept[leaf] = None
    for (positive, _, _), (_, predicate) in bounds.items():
        kept[predicate if positive else Not(predicate)] = None
    if members:
        united = _membership(_predicate_of(group[0]).attribute, members)
        kept[united if uniting else Not(united)] = None
    if any(Not(leaf) in kept for leaf in kept if isinstance(leaf, Predicate)):
        return None
    return _without_existence(junction, list(kept))


def _keep_bound(
    bounds: dict[tuple[bool, bool, int], tuple[Any, Predicate]],
    predicate: Predicate,
    positive: bool,
    widest: bool,
) -> None:
    """Of several bounds on one side, the widest or the narrowest says it all."""
    lower = predicate.operator in _LOWER_BOUNDS
    shift = (_LOWER_BOUNDS if lower else _UPPER_BOUNDS)[predicate.operator]
    operand: Any = predicate.operand
    place = (operand, shift)
    side = (positive, lower, kind_of(operand))
    if side in bounds:
        known = bounds[side][0]
        if (place < known) is not (lower is widest) or place == known:
            return
    bounds[side] = (place, predicate)


def _without_existence(junction: _Junction, group: list[Expression]) -> list[Expression] | None:
    """Any true predicate implies that its attribute exists, and an absent one refutes them all."""
    exists = next((p for p in map(_predicate_of, group) if p.operator is Operator.EXISTS), None)
    if exists is None:
        return group
    others = [leaf for leaf in group if _predicate_of(leaf) is not exists]
    positives = [leaf for leaf in others if isinstance(leaf, Predicate)]
    present = exists in group
    if junction is And:
        if present:  # implied by any positive leaf
            return others if positives else group
        return None if positives else [Not(exists)]  # absent: every negative leaf is true
    if present:  # absorbs the positives; with a negative leaf one of the two is always true
        return None if len(positives) < len(others) else [exists]
    return others if len(positives) < len(others) else group


def _contradict(group: list[Expression]) -> bool:
    """Whether no single value satisfies these positive leaves of a one-valued attribute."""
    kinds = set()
    low: Any = None
    high: Any = None
    members: set[Any] | None = None
    for leaf in group:
        if not isinstance(leaf, Predicate) or leaf.operator not in _VALUE_OPERATORS:
            continue
        operand: Any = leaf.operand
        values = operand if isinstance(operand, tuple) else (operand,)
        if leaf.operator in (Operator.EQUAL, Operator.IN):
            keys = {_value_key(value) for value in values}
            members = keys if members is None else members & keys
            continue
        kinds.add(kind_of(values[0]))
        if leaf.operator not in _UPPER_BOUNDS:
            place = (values[0], _LOWER_BOUNDS.get(leaf.operator, 0))
            low = place if low is None or len(kinds) > 1 else max(low, place)
        if leaf.operator not in _LOWER_BOUNDS:
            place = (values[-1], _UPPER_BOUNDS.get(leaf.operator, 0))
            high = place if high is None or len(kinds) > 1 else min(high, place)
    if len(kinds) > 1:
        return True
    if members is None:
        return low is not None and high is not None and low > high
    return not any(
        (not kinds or kind in kinds)
        and (low is None or kind not in kinds or low <= (value, 0))
        and (high is None or kind not in kinds or (value, 0) <= high)
        for kind, value in members
    )


_VALUE_OPERATORS = frozenset(
    {Operator.EQUAL, Operator.IN, Operator.BETWEEN, *_LOWER_BOUNDS, *_UPPER_BOUNDS}
)


# -- order ------------------------------------------------------------------------------------


def _predicate_of(leaf: Expression) -> Predicate:
    predicate = leaf.child if isinstance(leaf, Not) else leaf
    assert isinstance(predicate, Predicate)
    return predicate


def _value_key(value: Value) -> tuple[int, Any]:
    return (kind_of(value), value)


_OPERATOR_ORDER = {operator: place for place, operator in enumerate(Operator)}


def leaf_key(leaf: Expression) -> tuple[Any, ...]:
    """Positive leaves first, then by attribute, operator and operand."""
    predicate = _predicate_of(leaf)
    operand: Any = predicate.operand
    if isinstance(operand, Pattern):
        operand = (operand.text, operand.escape or "")
    elif isinstance(operand, tuple):
        operand = tuple(map(_value_key, operand))
    elif isinstance(operand, (str, bool, int, float, datetime)):
        operand = _value_key(operand)
    return (
        isinstance(leaf, Not),
        predicate.attribute,
        _OPERATOR_ORDER[predicate.operator],
        operand,
    )
