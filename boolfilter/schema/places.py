"""Where the predicates of a text stand: looked up only once something is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from lark import Lark, Token, Tree

from boolfilter._resources import read_text

_SPACE = re.compile(r"(?:\s|--[^\n]*)*")
_CONNECTIVES = frozenset({"disjunction", "exclusion", "conjunction", "negated"})
_CONSTANTS = frozenset({"true", "false"})


class Places(NamedTuple):
    """Positions in a text of one predicate: its attribute, its operator, its values in order."""

    attribute: int
    operator: int
    values: tuple[int, ...]


def places_of(text: str) -> list[Places]:
    """The places of the predicates of a good text, left to right.

    >>> places_of("price < 10 AND (NOT brand IN ('Acme', 'Bolt'))")
    [Places(attribute=0, operator=6, values=(8,)), Places(attribute=20, operator=26, values=(30, 38))]
    """  # noqa: E501
    return [_places(text, node) for node in _predicates(_parser().parse(text))]


@cache
def _parser() -> Lark:
    grammar = read_text("grammar", "subscription.lark")
    return Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False)


def _predicates(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    todo: list[Tree[Any]] = [tree]
    while todo:
        node = todo.pop()
        if node.data in _CONNECTIVES:
            todo.extend(reversed([child for child in node.children if isinstance(child, Tree)]))
        elif node.data not in _CONSTANTS:
            yield node


def _places(text: str, node: Tree[Token]) -> Places:
    tokens = list(_tokens(node))
    name = tokens[0]
    values = [token for token in tokens[1:] if token.type != "COMPARISON"]
    start, end = name.start_pos or 0, name.end_pos or 0
    space = _SPACE.match(text, end)
    operator = min(space.end() if space else end, len(text) - 1)
    return Places(start, operator, tuple(token.start_pos or 0 for token in values))


def _tokens(node: Tree[Token]) -> Iterator[Token]:
    for child in node.children:
        if isinstance(child, Tree):
            yield from _tokens(child)
        else:
            yield child
