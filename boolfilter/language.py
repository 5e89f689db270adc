"""The subscription language: text in, expression out.

The grammar is ``grammar/subscription.lark``. Lark's LALR parser builds expressions as it reduces,
at about a hundred microseconds a text. Texts repeat in *shape* (the same text but for its names,
comparisons and literals), so a shape is parsed once and later texts only bind theirs into it, as
prepared statements do: see :class:`Shape`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput

from boolfilter._resources import read_text
from boolfilter.diagnostics import syntax_error
from boolfilter.errors import BoolFilterError, ExpressionError, SubscriptionSyntaxError
from boolfilter.expressions import (
    COMPARISONS,
    CONTEXTUAL,
    FALSE,
    RESERVED,
    TRUE,
    Expression,
    Not,
    Operand,
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
    shape, holes = shape_of_text(text)
    bound = shape.bind(holes)
    expression = parse_plain(text) if bound is None else bound
    limits.check(expression)
    return expression


def shape_of_text(text: str) -> tuple[Shape, list[str]]:
    """The shape of a text and what fills its holes; parses the text if its shape is new.

    A shape that cannot be shared binds to nothing, so that its texts are parsed plainly.
    """
    key, holes = _split(text)
    shape = _shapes.get(key)
    if shape is None:
        if len(text) > _LONGEST_SHAPE or "--" in text:  # comments vary without meaning
            return UNSHARED, holes
        shape = _remember(key, holes, parse_plain(text))
    return shape, holes


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
        return bound_predicate(str(name), COMPARISON_OF[symbol], value)

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

    def is_a(self, children: list[Any]) -> Expression:
        return bound_predicate(str(children[0]), Operator.IS_A, _string(children[1]))

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
        name = _unquoted(token)
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


COMPARISON_OF: dict[str, Operator] = {
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


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"')


# -- shapes -----------------------------------------------------------------------------------

_LONGEST_SHAPE = 10_000
_MOST_SHAPES = 4_096
_shapes: dict[tuple[str | None, ...], Shape] = {}
_ANY_VALUE = COMPARISONS | {Operator.CONTAINS}
_LIST_OPERATORS = frozenset({Operator.IN, Operator.NOT_IN})
_WORDS = {
    spelling: word
    for word in (*RESERVED, *CONTEXTUAL)
    for spelling in (word, word.lower(), word.capitalize())
}
_TOKENS = re.compile(r"""('[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"|[<>=!]+|[\w.+-]+)""")
_names: dict[str, str] = {}
_MOST_NAMES = 100_000


def _split(text: str) -> tuple[tuple[str | None, ...], list[str]]:
    """A text as its shape (punctuation and words of the language) and what fills its holes."""
    pieces = _TOKENS.split(text)
    tokens = pieces[1::2]
    words = [_WORDS.get(token) for token in tokens]
    if "IS" in words:
        _mark_is_a(tokens, words)
    key = (*pieces[::2], *words)
    return key, [token for token, word in zip(tokens, words, strict=True) if word is None]


def _mark_is_a(tokens: list[str], words: list[str | None]) -> None:
    """The A of IS A is a word only there: it is too good a name to be one everywhere."""
    for place, (word, token) in enumerate(zip(words, tokens[1:], strict=False), start=1):
        if word == "IS" and token in ("A", "a"):
            words[place] = "A"


class ShapeLeaf(NamedTuple):
    """How to make one leaf from the next holes: its name, its comparison, its literals."""

    operator: Operator | None  # None: the next hole, after the name
    operand: Operand  # of a leaf without literals
    literals: int
    read: Callable[[str], Any] | None  # None: one literal of any kind, needing no check


@dataclass(frozen=True, slots=True)
class Shape:
    """A parsed text with holes for its names, comparisons and literals.

    ``leaves`` has one item for each leaf, in the order of the text: a finished leaf, or how to
    make it. ``nodes`` then joins them, in postfix order; None stands for the next leaf. A shape
    with no leaves could not be proved safe to share: its texts are parsed plainly.
    """

    leaves: tuple[Expression | ShapeLeaf, ...]
    nodes: tuple[tuple[type[Expression], int, int, int] | None, ...]

    def bind(self, holes: list[str]) -> Expression | None:
        """The expression with these holes filled, or None where only a real parse can tell."""
        leaves = self.bind_leaves(holes)
        return self.assembled(leaves) if leaves else None

    def bind_leaves(self, holes: list[str]) -> list[Expression] | None:
        """The leaves with these holes filled, or None where only a real parse can tell."""
        try:
            return self._bind_leaves(holes) or None
        except (ValueError, KeyError, BoolFilterError):
            return None  # the parser will say what is wrong and where, if anything is

    def assembled(self, leaves: Iterable[Expression]) -> Expression:
        """The expression of this shape with these leaves."""
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

    def _bind_leaves(self, holes: list[str]) -> list[Expression]:
        leaves: list[Expression] = []
        place = 0
        for leaf in self.leaves:
            if type(leaf) is not ShapeLeaf:
                leaves.append(leaf)  # type: ignore[arg-type]
                continue
            operator, operand, literals, read = leaf
            attribute = name_in(holes[place])
            place += 1
            if operator is None:
                operator = COMPARISON_OF[holes[place]]
                place += 1
            if read is not None:
                values = [read(hole) for hole in holes[place : place + literals]]
                single = literals == 1 and operator not in _LIST_OPERATORS
                leaves.append(Predicate(attribute, operator, values[0] if single else values))
            else:
                if literals:
                    operand = literal_in(holes[place])
                leaves.append(bound_predicate(attribute, operator, operand))
            place += literals
        return leaves


UNSHARED = Shape((), ())


def _remember(key: tuple[str | None, ...], holes: list[str], expression: Expression) -> Shape:
    if len(_shapes) >= _MOST_SHAPES:
        _shapes.clear()  # rarer than it is worth being clever about
    shape = _shapes[key] = _shape_of(key, holes, expression)
    return shape


def _shape_of(key: tuple[str | None, ...], holes: list[str], expression: Expression) -> Shape:
    """The shape of a parsed text, if filling its holes again gives the same expression.

    That is proof enough for other texts of the same key: the words and punctuation between the
    holes are equal, and `bind` checks each hole by the grammar's own terminals, so the lexer would
    see the same terminals in the same order.
    """
    dates = _date_literals(key)
    leaves: list[Expression | ShapeLeaf] = []
    nodes: list[Any] = []
    place = 0
    for node in postorder(expression):
        if node.children:
            nodes.append((type(node), len(node.children), node.depth, node.leaves))
            continue
        nodes.append(None)
        if not isinstance(node, Predicate):
            leaves.append(node)
            continue
        compared = place + 1 < len(holes) and holes[place + 1] in COMPARISON_OF
        literals, read = _reader(node, place + 1 + compared in dates, len(holes))
        leaves.append(ShapeLeaf(None if compared else node.operator, node.operand, literals, read))
        place += 1 + compared + literals
    shape = Shape(tuple(leaves), tuple(nodes))
    bound = shape.bind(holes) if place == len(holes) else None
    return shape if bound is not None and bound == expression else UNSHARED


def _date_literals(key: tuple[str | None, ...]) -> set[int]:
    """Which holes follow the word DATE."""
    words = key[(len(key) + 1) // 2 :]
    places = set()
    holes = 0
    for before, word in pairwise((None, *words)):
        if word is None:
            if before == "DATE":
                places.add(holes)
            holes += 1
    return places


def _reader(leaf: Predicate, is_date: bool, most: int) -> tuple[int, Callable[[str], Any] | None]:
    """How many literals a leaf has, and how they are read."""
    operand: Any = leaf.operand
    if operand is None or isinstance(operand, bool):
        return 0, None
    if isinstance(operand, Pattern):
        return (1 if operand.escape is None else 2), _read_string
    if isinstance(operand, tuple):
        plain = not any(isinstance(value, (bool, datetime)) for value in operand)
        return (len(operand) if plain else most + 1), literal_in  # too many: parsed plainly
    if isinstance(operand, datetime):
        return 1, _read_date if is_date else _read_timestamp
    return 1, None if leaf.operator in _ANY_VALUE else _read_string


@cache
def _terminal(name: str) -> re.Pattern[str]:
    return re.compile(_parser().get_terminal(name).pattern.to_regexp())


def name_in(hole: str) -> str:
    """The attribute that a hole names; remembered, since names repeat. ValueError if it is none."""
    known = _names.get(hole)
    if known is not None:
        return known
    if _terminal("QUOTED_NAME").fullmatch(hole):
        name = _unquoted(hole)
    elif _terminal("NAME").fullmatch(hole) and hole.upper() not in CONTEXTUAL:
        name = hole
    else:
        name = ""
    if not name:
        raise ValueError("not a name")
    if len(_names) >= _MOST_NAMES:
        _names.clear()
    _names[hole] = name
    return name


def literal_in(hole: str) -> Value:
    """The number or string that a hole holds. ValueError if it is none."""
    if hole[0] == "'":
        return _string(hole)
    if hole.isdigit() and hole.isascii():
        return int(hole)
    if not _terminal("NUMBER").fullmatch(hole):
        raise ValueError("not a literal")  # though Python may read it: nan, 1_000
    return _number(hole)


def _read_string(hole: str) -> str:
    if hole[0] != "'":
        raise ValueError("not a string")
    return _string(hole)


def _read_date(hole: str) -> datetime:
    return parse_date(_read_string(hole))


def _read_timestamp(hole: str) -> datetime:
    return parse_timestamp(_read_string(hole))
