"""Expressions: what a subscription says, as a frozen tree of AND, OR, XOR, NOT and predicates.

The same classes hold a text as it was written and, after :mod:`boolfilter.normalise`, its normal
form. Subscriptions come from users and may be very long or very deep, so nothing here recurses:
equality, hashing, printing and pickling all walk with a stack of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, NoReturn

import re2

from boolfilter.errors import ExpressionError
from boolfilter.values import Value, format_value, kind_of, literal


class Operator(StrEnum):
    """How a predicate tests its attribute; the value is how it is written."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    IN = "IN"
    NOT_IN = "NOT IN"
    BETWEEN = "BETWEEN"
    NOT_BETWEEN = "NOT BETWEEN"
    LIKE = "LIKE"
    NOT_LIKE = "NOT LIKE"
    ILIKE = "ILIKE"
    NOT_ILIKE = "NOT ILIKE"
    STARTS_WITH = "STARTS WITH"
    ENDS_WITH = "ENDS WITH"
    CONTAINS = "CONTAINS"
    MATCHES = "MATCHES"
    IS_NULL = "IS NULL"
    EXISTS = "IS NOT NULL"
    IS_A = "IS A"


COMPARISONS = frozenset(
    {
        Operator.EQUAL,
        Operator.NOT_EQUAL,
        Operator.LESS,
        Operator.LESS_OR_EQUAL,
        Operator.GREATER,
        Operator.GREATER_OR_EQUAL,
    }
)
NEGATIVE_OF = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.IN: Operator.NOT_IN,
    Operator.BETWEEN: Operator.NOT_BETWEEN,
    Operator.LIKE: Operator.NOT_LIKE,
    Operator.ILIKE: Operator.NOT_ILIKE,
}
POSITIVE_OF = {negative: positive for positive, negative in NEGATIVE_OF.items()}
NEEDS_SCHEMA = "asks what is a kind of what: only a schema with a hierarchical domain can tell"
# Words that cannot be attribute names unless quoted, and words that can.
RESERVED = frozenset("AND OR XOR NOT IN BETWEEN LIKE ILIKE IS NULL EXISTS TRUE FALSE".split())
CONTEXTUAL = frozenset("STARTS ENDS WITH CONTAINS MATCHES ESCAPE TIMESTAMP DATE".split())


class Pattern(NamedTuple):
    """The operand of LIKE: ``%`` is any text, ``_`` any one character, ``escape`` quotes them."""

    text: str
    escape: str | None = None


Operand = Value | tuple[Value, ...] | Pattern | None


class Expression:
    """A Boolean expression. Combine with ``&``, ``|``, ``^`` and ``~``; ``str`` gives its text.

    Frozen and hashable. Equality is structural and exact: ``a = 1`` is not ``a = 1.0``.

    >>> from boolfilter import attr
    >>> print((attr("price") < 10) & ~attr("brand").is_in(["Acme", "Bolt"]))
    price < 10 AND NOT brand IN ('Acme', 'Bolt')
    """

    __slots__ = ("_hash",)

    children: tuple[Expression, ...]
    depth: int
    leaves: int
    _hash: int
    _precedence: ClassVar[int]

    def __and__(self, other: Expression) -> Expression:
        return all_of((self, other))

    def __or__(self, other: Expression) -> Expression:
        return any_of((self, other))

    def __xor__(self, other: Expression) -> Expression:
        return odd_of((self, other))

    def __invert__(self) -> Expression:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise ExpressionError(
            "an expression has no truth value of its own: combine with & | ~ ^ instead of "
            "and/or/not, and write a chained comparison (1 < attr('x') < 5) as "
            "attr('x').between(...) or as two comparisons joined with &"
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"expressions are frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"expressions are frozen: cannot delete {name!r}")

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            pass
        for node in _unhashed(self):
            _set_hash(node, hash(node._key()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        if self is other:
            return True
        if hash(self) != hash(other):
            return False
        pairs: list[tuple[Expression, Expression]] = [(self, other)]
        while pairs:
            left, right = pairs.pop()
            if left is right:
                continue
            if type(left) is not type(right) or len(left.children) != len(right.children):
                return False
            if left.children:
                pairs.extend(zip(left.children, right.children, strict=True))
            elif left._key() != right._key():
                return False
        return True

    def __reduce__(self) -> tuple[object, ...]:
        # Flat, in postfix order: the default nested form would recurse as deep as the tree.
        steps = [
            (type(node), len(node.children)) if node.children else node for node in postorder(self)
        ]
        return (_from_postfix, (steps,))

    def __str__(self) -> str:
        return format_expression(self)

    def __repr__(self) -> str:
        return f"parse({format_expression(self)!r})"

    def _key(self) -> tuple[object, ...]:
        """What makes a node itself; children count by their hashes, so this is flat."""
        return (type(self).__name__, *map(hash, self.children))


class Constant(Expression):
    """TRUE or FALSE; there is one of each."""

    __slots__ = ("value",)
    children = ()
    depth = 1
    leaves = 0
    _precedence = 5
    value: bool

    def __init__(self, value: bool) -> None:
        _set_value(self, value)

    def __reduce__(self) -> tuple[object, ...]:
        return (_constant, (self.value,))

    def _key(self) -> tuple[object, ...]:
        return ("Constant", self.value)


class Predicate(Expression):
    """One test of one attribute. Checks its operand and raises ExpressionError if it has no sense.

    >>> str(Predicate("price", Operator.BETWEEN, (1, 5)))
    'price BETWEEN 1 AND 5'
    """

    __slots__ = ("attribute", "operand", "operator")
    children = ()
    depth = 1
    leaves = 1
    _precedence = 5
    attribute: str
    operator: Operator
    operand: Operand

    def __init__(self, attribute: str, operator: Operator, operand: Any = None) -> None:
        if not isinstance(attribute, str) or not attribute:
            raise ExpressionError(f"an attribute name is a non-empty string, not {attribute!r}")
        _set_attribute(self, attribute)
        _set_operator(self, operator)
        _set_operand(self, _checked_operand(operator, operand))

    def __reduce__(self) -> tuple[object, ...]:
        return (Predicate, (self.attribute, self.operator, self.operand))

    def _key(self) -> tuple[object, ...]:
        # The types tell 1, 1.0 and TRUE apart, which Python calls equal.
        operand = self.operand
        types = tuple(map(type, operand)) if type(operand) is tuple else type(operand)
        return (self.attribute, self.operator, operand, types)


class Not(Expression):
    """True where its child is false."""

    __slots__ = ("children", "depth", "leaves")
    _precedence = 4

    def __init__(self, child: Expression) -> None:
        if not isinstance(child, Expression):
            raise _not_an_expression(child)
        _set_up_not(self, (child,), child.depth + 1, child.leaves)

    @property
    def child(self) -> Expression:
        return self.children[0]


class _Junction(Expression):
    """Two or more children; a child of the same class is spliced in, so chains stay flat."""

    __slots__ = ("children", "depth", "leaves")

    def __init__(self, children: Iterable[Expression]) -> None:
        flat: list[Expression] = []
        for child in children:
            if type(child) is type(self):
                flat.extend(child.children)
            elif isinstance(child, Expression):
                flat.append(child)
            else:
                raise _not_an_expression(child)
        if len(flat) < 2:
            raise ExpressionError(
                f"{type(self).__name__} takes two children or more: all_of, any_of and odd_of "
                "take any number"
            )
        depth = 1 + max([child.depth for child in flat])
        _set_up_junction(self, tuple(flat), depth, sum([child.leaves for child in flat]))


class And(_Junction):
    """True where all children are."""

    __slots__ = ()
    _precedence = 3


class Xor(_Junction):
    """True where an odd number of children are."""

    __slots__ = ()
    _precedence = 2


class Or(_Junction):
    """True where any child is."""

    __slots__ = ()
    _precedence = 1


def all_of(expressions: Iterable[Expression]) -> Expression:
    """The conjunction of any number of expressions: TRUE of none, the one itself of one.

    For long chains: linear, where ``&`` in a loop copies the chain each time.

    >>> from boolfilter import attr
    >>> str(all_of(attr(name) > 0 for name in "abc"))
    'a > 0 AND b > 0 AND c > 0'
    """
    return _junction(And, expressions, TRUE)


def any_of(expressions: Iterable[Expression]) -> Expression:
    """The disjunction of any number of expressions: FALSE of none."""
    return _junction(Or, expressions, FALSE)


def odd_of(expressions: Iterable[Expression]) -> Expression:
    """The exclusive or of any number of expressions: FALSE of none."""
    return _junction(Xor, expressions, FALSE)


def postorder(expression: Expression) -> Iterator[Expression]:
    """Every node, children before parents, left to right; a node that is shared comes each time."""
    stack = [(expression, iter(expression.children))]
    while stack:
        node, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            yield node
        else:
            stack.append((child, iter(child.children)))


def predicates(expression: Expression) -> Iterator[Predicate]:
    """The predicates of an expression, left to right.

    >>> import boolfilter as bf
    >>> [p.attribute for p in predicates(bf.parse("a = 1 AND NOT (b = 2 OR c)"))]
    ['a', 'b', 'c']
    """
    return (node for node in postorder(expression) if isinstance(node, Predicate))


def rebuilt(expression: Expression, leaves: Iterable[Expression]) -> Expression:
    """The expression with its predicates, left to right, replaced by these.

    >>> import boolfilter as bf
    >>> str(rebuilt(bf.parse("NOT (a OR b)"), [bf.parse("x > 1"), bf.parse("y > 2")]))
    'NOT (x > 1 OR y > 2)'
    """
    following = iter(leaves)
    steps = [
        (type(node), len(node.children))
        if node.children
        else next(following)
        if isinstance(node, Predicate)
        else node
        for node in postorder(expression)
    ]
    return _from_postfix(steps)


def bound_predicate(attribute: str, operator: Operator, operand: Operand) -> Predicate:
    """A predicate from parts already known to be good, at a third of the constructor's cost."""
    predicate = _new(Predicate)
    _set_attribute(predicate, attribute)
    _set_operator(predicate, operator)
    _set_operand(predicate, operand)
    return predicate


def bound_node(
    node_class: type[Expression], children: tuple[Expression, ...], depth: int, leaves: int
) -> Expression:
    """A NOT, AND, XOR or OR from parts already known to be good."""
    node = _new(node_class)
    (_set_up_not if node_class is Not else _set_up_junction)(node, children, depth, leaves)
    return node


def format_expression(expression: Expression) -> str:
    """The text of an expression, with no parentheses but those it needs."""
    pieces: list[str] = []
    todo: list[Expression | str] = [expression]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif not item.children:
            pieces.append(_format_leaf(item))
        elif isinstance(item, Not):
            pieces.append("NOT ")
            todo.extend(_parenthesised(item.child, item._precedence))
        else:
            word = f" {type(item).__name__.upper()} "
            for child in reversed(item.children):
                todo.extend(_parenthesised(child, item._precedence + 1))
                todo.append(word)
            todo.pop()  # no word before the first child
    return "".join(pieces)


def format_name(attribute: str) -> str:
    """An attribute name as it must be written: quoted if it is not a plain dotted one."""
    if _PLAIN_NAME.fullmatch(attribute) and attribute.split(".", 1)[0].upper() not in RESERVED:
        return attribute
    return '"' + attribute.replace('"', '""') + '"'


@lru_cache(maxsize=4096)
def compiled_regex(pattern: str) -> Any:
    """The RE2 program of a MATCHES operand; raises ExpressionError if it is not one."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ExpressionError(f"not a regular expression in RE2 syntax: {reason}") from None


_PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_STRING_OPERATORS = frozenset(
    {Operator.STARTS_WITH, Operator.ENDS_WITH, Operator.MATCHES, Operator.IS_A}
)
_LIKE_OPERATORS = frozenset({Operator.LIKE, Operator.NOT_LIKE, Operator.ILIKE, Operator.NOT_ILIKE})

_new = object.__new__


def _setter(node_class: type[Expression], slot: str) -> Any:
    """Fills a slot once: the classes forbid assignment, so this goes through the descriptor."""
    return vars(node_class)[slot].__set__


_set_hash = _setter(Expression, "_hash")
_set_value = _setter(Constant, "value")
_set_attribute = _setter(Predicate, "attribute")
_set_operator = _setter(Predicate, "operator")
_set_operand = _setter(Predicate, "operand")


def _filler(node_class: type[Expression]) -> Any:
    set_children = _setter(node_class, "children")
    set_depth = _setter(node_class, "depth")
    set_leaves = _setter(node_class, "leaves")

    def fill(node: Expression, children: tuple[Expression, ...], depth: int, leaves: int) -> None:
        set_children(node, children)
        set_depth(node, depth)
        set_leaves(node, leaves)

    return fill


_set_up_not = _filler(Not)
_set_up_junction = _filler(_Junction)

TRUE = Constant(True)
FALSE = Constant(False)


def _constant(value: bool) -> Constant:
    return TRUE if value else FALSE


def _not_an_expression(thing: object) -> ExpressionError:
    return ExpressionError(
        f"an expression is needed here, not {type(thing).__name__}: compare an attribute "
        "(attr('x') == 1), and put each comparison in parentheses when joining with & | ^"
    )


def _junction(
    node_class: type[_Junction], expressions: Iterable[Expression], empty: Constant
) -> Expression:
    items = tuple(expressions)
    if len(items) > 1:
        return node_class(items)
    if items and not isinstance(items[0], Expression):
        raise _not_an_expression(items[0])
    return items[0] if items else empty


def _unhashed(expression: Expression) -> Iterator[Expression]:
    """Nodes without a hash yet, children before parents, shared ones once."""
    stack = [expression]
    while stack:
        missing = [child for child in stack[-1].children if not hasattr(child, "_hash")]
        if missing:
            stack.extend(missing)
            continue
        node = stack.pop()
        if not hasattr(node, "_hash"):
            yield node


def _from_postfix(steps: list[Any]) -> Expression:
    stack: list[Expression] = []
    for step in steps:
        if isinstance(step, Expression):
            stack.append(step)
            continue
        node_class, count = step
        children = tuple(stack[-count:])
        del stack[-count:]
        stack.append(node_class(children[0]) if node_class is Not else node_class(children))
    return stack.pop()


def _parenthesised(node: Expression, least: int) -> tuple[Expression | str, ...]:
    """The node as items for a stack (last first), in parentheses if it binds looser than asked."""
    return (node,) if node._precedence >= least else (")", node, "(")


def _format_leaf(leaf: Expression) -> str:
    if isinstance(leaf, Constant):
        return "TRUE" if leaf.value else "FALSE"
    assert isinstance(leaf, Predicate)
    start = f"{format_name(leaf.attribute)} {leaf.operator.value}"
    operand: Any = leaf.operand
    if operand is None:
        return start
    if isinstance(operand, Pattern):
        escape = "" if operand.escape is None else f" ESCAPE {format_value(operand.escape)}"
        return f"{start} {format_value(operand.text)}{escape}"
    if not isinstance(operand, tuple):
        return f"{start} {format_value(operand)}"
    values = [format_value(value) for value in operand]
    if leaf.operator in (Operator.IN, Operator.NOT_IN):
        return f"{start} ({', '.join(values)})"
    return f"{start} {values[0]} AND {values[1]}"


def _checked_operand(operator: Operator, operand: Any) -> Operand:
    if operator in COMPARISONS or operator is Operator.CONTAINS:
        return literal(operand)
    if operator in (Operator.IN, Operator.NOT_IN):
        values = tuple(literal(value) for value in _several(operand))
        if not values:
            raise ExpressionError("an IN list needs at least one value")
        return values
    if operator in (Operator.BETWEEN, Operator.NOT_BETWEEN):
        low, high = (literal(value) for value in _several(operand))
        if kind_of(low) != kind_of(high):
            raise ExpressionError(
                f"the bounds of BETWEEN must be of one kind, not "
                f"{kind_of(low).name.lower()} and {kind_of(high).name.lower()}"
            )
        return (low, high)
    if operator in _STRING_OPERATORS:
        text = _string(operand, operator)
        if operator is Operator.MATCHES:
            compiled_regex(text)
        return text
    if operator in _LIKE_OPERATORS:
        return _checked_pattern(operand, operator)
    if operand is not None:
        raise ExpressionError(f"{operator.value} takes no operand")
    return None


def _several(operand: Any) -> Iterable[Any]:
    if isinstance(operand, str) or not isinstance(operand, Iterable):
        raise ExpressionError(f"a list of values is needed, not {operand!r}")
    return operand


def _string(operand: Any, operator: Operator) -> str:
    value = literal(operand)
    if not isinstance(value, str):
        raise ExpressionError(f"{operator.value} takes a string, not {format_value(value)}")
    return value


def _checked_pattern(operand: Any, operator: Operator) -> Pattern:
    text, escape = operand if isinstance(operand, (tuple, list)) else (operand, None)
    quote = None if escape is None else _string(escape, operator)
    pattern = Pattern(_string(text, operator), quote)
    if pattern.escape is not None:
        if len(pattern.escape) != 1:
            raise ExpressionError(f"ESCAPE takes one character, not {pattern.escape!r}")
        unquoted = pattern.text.replace(pattern.escape * 2, "")
        if unquoted.endswith(pattern.escape):
            raise ExpressionError("the pattern ends with its escape character")
    return pattern
