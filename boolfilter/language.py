"""The subscription language: text in, expression out.

The grammar is ``grammar/subscription.lark``. Lark's LALR parser builds expressions as it reduces,
at about a hundred microseconds a text. Texts repeat in *shape* (the same text but for its
literals), so a shape is parsed once and later texts only bind their literals into it, as prepared
statements do: see :class:`_Shape`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from boolfilter._resources import read_text
from boolfilter.diagnostics import syntax_error
from boolfilter.errors import BoolFilterError, ExpressionError, SubscriptionSyntaxError
from boolfilter.expressions import (
    COMPARISONS,
    FALSE,
    TRUE,
    Expression,
    Not,
    Operator,
    Pattern,
    Predicate,
    all_of,
    any_of,
    bound_node,
    bound_predicate,
    odd_of,
    postorder,
)
from boolfilter.limits import DEFAULT_LIMITS, Limits
from boolfilter.values import Value, parse_date, parse_timestamp


def parse(text: str, *, limits: Limits = DEFAULT_LIMITS) -> Expression:
    """The expression that a subscription text stands for.

    Raises SubscriptionSyntaxError (with line, column, excerpt and hint) or a LimitError.
    Linear in the text; ten times quicker for a text whose shape was seen before.

    >>> parse("price < 10 AND (category = 'Toy' OR NOT brand IN ('Acme', 'Bolt'))").leaves
    3
    """
    if not isinstance(text, str):
        raise ExpressionError(f"a subscription is a text or an expression, not {type(text)}")
    limits.check_text(text)
    pieces = _literals().split(text)
    key = tuple(pieces[::2])
    shape = _shapes.get(key)
    if shape is None:
        expression = parse_plain(text)
        limits.check(expression)
        if len(text) <= _LONGEST_SHAPE and "--" not in text:
            _remember(key, expression, pieces)
        return expression
    bound = shape.bind(pieces[1::2])
    expression = parse_plain(text) if bound is None else bound
    limits.check(expression)
    return expression


def parse_plain(text: str) -> Expression:
    """Parse without the cache of shapes: what `parse` does for a shape it has not seen."""
    try:
        return _parser().parse(text)  # type: ignore[return-value]
    except UnexpectedInput as error:
        raise syntax_error(_parser(), text, error) from None
    except _LiteralError as error:
        raise SubscriptionSyntaxError(error.problem, text=text, position=error.position) from None


class _LiteralError(BoolFilterError):
    """Raised inside the parser, which knows the place but not the text."""

    def __init__(self, problem: str, position: int | None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position or 0


@cache
def _parser() -> Lark:
    return Lark(
        read_text("grammar", "subscription.lark"),
        parser="lalr",
        lexer="contextual",
        transformer=_Builder(),
        propagate_positions=False,
    )


class _Builder(Transformer[Token, Expression]):
    """One method for each alias of the grammar, called as the parser reduces."""

    def disjunction(self, children: list[Expression]) -> Expression:
        return any_of(children)

    def exclusion(self, children: list[Expression]) -> Expression:
        return odd_of(children)

    def conjunction(self, children: list[Expression]) -> Expression:
        return all_of(children)

    def negated(self, children: list[Expression]) -> Expression:
        return Not(children[0])

    def true(self, _: object) -> Expression:
        return TRUE

    def false(self, _: object) -> Expression:
        return FALSE

    def comparison(self, children: list[Any]) -> Expression:
        name, symbol, value = children
        return bound_predicate(str(name), _COMPARISON_OF[symbol], value)

    def contains(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.CONTAINS, children[1])

    def is_in(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.IN, tuple(children[1:]))

    def not_in(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.NOT_IN, tuple(children[1:]))

    def between(self, children: list[Any]) -> Expression:
        return _placed(children[0], Operator.BETWEEN, tuple(children[1:]), children[0])

    def not_between(self, children: list[Any]) -> Expression:
        return _placed(children[0], Operator.NOT_BETWEEN, tuple(children[1:]), children[0])

    def like(self, children: list[Any]) -> Expression:
        return _like(Operator.LIKE, *children)

    def not_like(self, children: list[Any]) -> Expression:
        return _like(Operator.NOT_LIKE, *children)

    def ilike(self, children: list[Any]) -> Expression:
        return _like(Operator.ILIKE, *children)

    def not_ilike(self, children: list[Any]) -> Expression:
        return _like(Operator.NOT_ILIKE, *children)

    def starts_with(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.STARTS_WITH, _string(children[1]))

    def ends_with(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.ENDS_WITH, _string(children[1]))

    def matches(self, children: list[Any]) -> Expression:
        return _placed(children[0], Operator.MATCHES, _string(children[1]), children[1])

    def is_null(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.IS_NULL, None)

    def exists(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.EXISTS, None)

    def bare(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.EQUAL, True)

    def plain_name(self, children: list[Token]) -> Token:
        return children[0]

    def quoted_name(self, children: list[Token]) -> Token:
        token = children[0]
        name = token[1:-1].replace('""', '"')
        if not name:
            raise _LiteralError("an attribute name cannot be empty", token.start_pos)
        return Token.new_borrow_pos("NAME", name, token)

    def number(self, children: list[Token]) -> Value:
        try:
            return _number(children[0])
        except ValueError:  # Python refuses to read integers of thousands of digits
            raise _LiteralError("the number is too long", children[0].start_pos) from None

    def string(self, children: list[Token]) -> Value:
        return _string(children[0])

    def true_value(self, _: object) -> Value:
        return True

    def false_value(self, _: object) -> Value:
        return False

    def timestamp(self, children: list[Token]) -> Value:
        return _moment(parse_timestamp, children[0])

    def date(self, children: list[Token]) -> Value:
        return _moment(parse_date, children[0])


_COMPARISON_OF: dict[str, Operator] = {
    **{operator.value: operator for operator in COMPARISONS},
    "==": Operator.EQUAL,
    "!=": Operator.NOT_EQUAL,
}


def _like(operator: Operator, name: Token, pattern: Token, escape: Token | None) -> Predicate:
    quoted = None if escape is None else _string(escape)
    return _placed(name, operator, Pattern(_string(pattern), quoted), pattern)


def _placed(name: Token, operator: Operator, operand: Any, blame: Token) -> Predicate:
    """A predicate whose operand needs checking; what is wrong with it is told at `blame`."""
    try:
        return Predicate(str(name), operator, operand)
    except ExpressionError as error:
        raise _LiteralError(str(error), blame.start_pos) from None


def _moment(read: Callable[[str], datetime], token: Token) -> datetime:
    try:
        return read(_string(token))
    except ExpressionError as error:
        raise _LiteralError(str(error), token.start_pos) from None


def _string(literal: str) -> str:
    return literal[1:-1].replace("''", "'")


def _number(literal: str) -> int | float:
    return int(literal) if literal.lstrip("+-").isdigit() else float(literal)


def _literal(literal: str) -> Value:
    if literal[0] == "'":
        return _string(literal)
    return int(literal) if literal.isdigit() else _number(literal)


# -- shapes -----------------------------------------------------------------------------------

_LONGEST_SHAPE = 10_000
_MOST_SHAPES = 4_096
_shapes: dict[tuple[str, ...], _Shape] = {}
_ANY_VALUE = COMPARISONS | {Operator.CONTAINS}


@dataclass(frozen=True, slots=True)
class _Shape:
    """A parsed text with holes for its literals.

    ``leaves`` has one entry for each leaf, in the order of the text: a finished leaf, or how to
    make it from the next literals. ``nodes`` then joins them, in postfix order. A shape with no
    leaves at all could not be proved safe to share: its texts are parsed plainly.
    """

    leaves: tuple[Expression | tuple[str, Operator, Callable[[str], Any] | None, int], ...]
    nodes: tuple[tuple[type[Expression], int, int, int] | None, ...]

    def bind(self, literals: list[str]) -> Expression | None:
        """The expression with these literals, or None where only a real parse can tell."""
        try:
            leaves = self._bind_leaves(literals)
        except (ValueError, BoolFilterError):
            return None  # a bad literal: the parser will say what is wrong and where
        if not leaves:
            return None
        if len(leaves) == 1 and len(self.nodes) == 1:
            return leaves[0]
        stack: list[Expression] = []
        following = iter(leaves)
        for node in self.nodes:
            if node is None:
                stack.append(next(following))
            else:
                node_class, count, depth, size = node
                children = tuple(stack[-count:])
                del stack[-count:]
                stack.append(bound_node(node_class, children, depth, size))
        return stack[0]

    def _bind_leaves(self, literals: list[str]) -> list[Expression]:
        leaves: list[Expression] = []
        place = 0
        for leaf in self.leaves:
            if isinstance(leaf, Expression):
                leaves.append(leaf)
                continue
            attribute, operator, read, count = leaf
            if read is None:
                leaves.append(bound_predicate(attribute, operator, _literal(literals[place])))
            elif count == 1:
                leaves.append(Predicate(attribute, operator, read(literals[place])))
            else:
                values = tuple([read(literal) for literal in literals[place : place + count]])
                leaves.append(Predicate(attribute, operator, values))
            place += count
        return leaves


_UNSHARED = _Shape((), ())


@cache
def _literals() -> re.Pattern[str]:
    """Splits a text at its literals: by the very patterns of the grammar, so none is missed."""
    string, number = (
        _parser().get_terminal(name).pattern.to_regexp() for name in ("STRING", "NUMBER")
    )
    return re.compile(f"({string}|{number})")


def _remember(key: tuple[str, ...], expression: Expression, pieces: list[str]) -> None:
    if len(_shapes) >= _MOST_SHAPES:
        _shapes.clear()  # rarer than it is worth being clever about
    _shapes[key] = _shape_of(expression, pieces)


def _shape_of(expression: Expression, pieces: list[str]) -> _Shape:
    """The shape of a parsed text, if every literal that the split found is a literal of a leaf.

    The split can only find too many (a number in a "quoted name"), never too few, so equal counts
    prove that the holes are the literals; equal values are checked besides.
    """
    literals = pieces[1::2]
    leaves: list[Any] = []
    nodes: list[Any] = []
    place = 0
    for node in postorder(expression):
        if node.children:
            nodes.append((type(node), len(node.children), node.depth, node.leaves))
            continue
        nodes.append(None)
        leaf = _leaf_with_holes(node, pieces, place)
        leaves.append(leaf)
        place += 0 if isinstance(leaf, Expression) else leaf[3]
    shape = _Shape(tuple(leaves), tuple(nodes))
    if place != len(literals) or shape.bind(literals) != expression:
        return _UNSHARED
    return shape


def _leaf_with_holes(
    leaf: Expression, pieces: list[str], place: int
) -> Expression | tuple[str, Operator, Callable[[str], Any] | None, int]:
    operand: Any = getattr(leaf, "operand", None)
    if operand is None or isinstance(operand, bool) or 2 * place + 1 >= len(pieces):
        return leaf
    assert isinstance(leaf, Predicate)
    if isinstance(operand, Pattern):
        read: Callable[[str], Any] | None = _strict_string
        count = 1 if operand.escape is None else 2
    elif isinstance(operand, tuple):
        read, count = _literal, len(operand)
        if any(isinstance(value, (bool, datetime)) for value in operand):
            count = len(pieces)  # more than there are: such lists are parsed plainly
    elif isinstance(operand, datetime):
        before = pieces[2 * place].rstrip().lower()
        read, count = (_read_date if before.endswith("date") else _read_timestamp), 1
    else:
        read = None if leaf.operator in _ANY_VALUE else _strict_string
        count = 1
    return (leaf.attribute, leaf.operator, read, count)


def _strict_string(literal: str) -> str:
    if literal[0] != "'":
        raise ValueError("not a string")
    return _string(literal)


def _read_date(literal: str) -> datetime:
    return parse_date(_strict_string(literal))


def _read_timestamp(literal: str) -> datetime:
    return parse_timestamp(_strict_string(literal))
