"""Syntax errors in the words of the language: what was expected, what was found, what to do."""

from __future__ import annotations

import re

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from boolfilter.errors import SubscriptionSyntaxError
from boolfilter.expressions import RESERVED

# Read from the top: where all the terminals of a line can follow, its words are said for them.
_WORDS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"NAME", "LPAR", "_NOT"}), "a predicate"),
    (frozenset({"NAME"}), "an attribute name"),
    (frozenset({"NUMBER", "STRING"}), "a value"),
    (frozenset({"STRING"}), "a string"),
    (frozenset({"COMPARISON"}), "an operator"),
    (frozenset({"_AND", "_OR"}), "AND, OR or XOR"),
    (frozenset({"_AND"}), "AND"),
    (frozenset({"_WITH"}), "WITH"),
    (frozenset({"_NULL"}), "NULL"),
    (frozenset({"_IN", "_LIKE"}), "IN, BETWEEN, LIKE or ILIKE"),
    (frozenset({"LPAR"}), "'('"),
    (frozenset({"RPAR"}), "')'"),
    (frozenset({"COMMA"}), "','"),
    (frozenset({"$END"}), "the end of the text"),
)
_TERMINALS_OF = {
    "a predicate": {"NAME", "QUOTED_NAME", "LPAR", "_NOT", "_EXISTS", "TRUE", "FALSE"},
    "an attribute name": {"NAME", "QUOTED_NAME"},
    "a value": {"NUMBER", "STRING", "TRUE", "FALSE", "_TIMESTAMP", "_DATE"},
    "an operator": {
        "COMPARISON", "_IN", "_NOT", "_BETWEEN", "_LIKE", "_ILIKE", "_STARTS", "_ENDS",
        "_CONTAINS", "_MATCHES", "_IS",
    },
    "AND, OR or XOR": {"_AND", "_OR", "_XOR"},
    "IN, BETWEEN, LIKE or ILIKE": {"_IN", "_BETWEEN", "_LIKE", "_ILIKE"},
}  # fmt: skip
_OTHER_SPELLINGS = {
    "&": "write AND",
    "|": "write OR",
    "!": "write NOT, or <> for 'is not equal'",
    "^": "write XOR",
    "=": "the comparisons are = <> < <= > >=",
    "<": "the comparisons are = <> < <= > >=",
    ">": "the comparisons are = <> < <= > >=",
    "\N{LEFT DOUBLE QUOTATION MARK}": "use the plain quotes ' and \"",
    "\N{LEFT SINGLE QUOTATION MARK}": "use the plain quotes ' and \"",
}
_TOKENS_OUTSIDE_QUOTES = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|[()]")


def syntax_error(parser: Lark, text: str, error: UnexpectedInput) -> SubscriptionSyntaxError:
    """The error to raise for one that Lark raised on this text."""
    accepts = _accepted_terminals(parser, text)
    token: Token | None = error.token if isinstance(error, UnexpectedToken) else None
    if token is not None and token.type == "$END":
        token = None
        position = len(text)
    elif token is not None:
        position = token.start_pos or 0
    else:
        assert isinstance(error, UnexpectedCharacters)
        position = error.pos_in_stream or 0
    found = _shown(str(token or text[position])) if position < len(text) else "the end of the text"
    expected = _in_words(accepts)
    return SubscriptionSyntaxError(
        f"expected {_listed(expected)}, found {found}",
        text=text,
        position=position,
        expected=expected,
        hint=_hint(text, position, token, accepts),
    )


def _accepted_terminals(parser: Lark, text: str) -> set[str]:
    """The terminals that could have stood where the parser stopped.

    The sets that Lark attaches to its errors are those of merged LALR states, which promise
    tokens that would fail one step later; replaying the text interactively gives the true ones.
    """
    tokens: list[Token] = []
    try:
        tokens.extend(parser.parse_interactive(text).iter_parse())
    except UnexpectedInput as error:
        if tokens and getattr(error, "token", None) is tokens[-1]:
            tokens.pop()
    # A second time without the bad token: trying it has already reduced what stands before it.
    replay = parser.parse_interactive("")
    for token in tokens:
        replay.feed_token(token)
    return set(replay.accepts())


def _in_words(accepts: set[str]) -> tuple[str, ...]:
    left = set(accepts)
    words = []
    for terminals, phrase in _WORDS:
        if terminals <= left:
            words.append(phrase)
            left -= _TERMINALS_OF.get(phrase, terminals)
    return tuple(words)


def _listed(words: tuple[str, ...]) -> str:
    if not words:
        return "something else"
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]


def _shown(found: str) -> str:
    return repr(found if len(found) <= 30 else found[:27] + "...")


def _hint(text: str, position: int, token: Token | None, accepts: set[str]) -> str | None:
    """Help for the usual mistakes, told apart by what stands where."""
    rest = text[position:]
    wants_value = "STRING" in accepts
    wants_name = "NAME" in accepts
    if rest.startswith("'") and (token is None or token.type != "STRING"):
        return "this string is not closed; a quote inside a string is written twice: 'it''s'"
    if token is None and rest.startswith('"'):
        return "this quoted name is not closed"
    if token is not None and wants_value:
        return _hint_for_value(token, before=text[:position], only_string="NUMBER" not in accepts)
    if token is not None and wants_name and str(token).upper() in RESERVED:
        return f'{token} is a reserved word: an attribute of this name is written "{token}"'
    if token is not None and token.type in ("NUMBER", "STRING") and wants_name:
        return "the attribute comes first: write a > 5, not 5 < a"
    if token is not None and token.type in ("NUMBER", "STRING") and "COMPARISON" in accepts:
        return f"an operator is missing before {_shown(str(token))}: did you mean = ?"
    if rest.startswith(")") and "RPAR" not in accepts and not _open_parentheses(text[:position]):
        return "this ')' closes nothing: there is no '(' before it"
    if rest.strip() == "" and "RPAR" in accepts:
        return _hint_for_open_parenthesis(text)
    if rest[:1] in _OTHER_SPELLINGS:
        return _OTHER_SPELLINGS[rest[0]]
    if "COMPARISON" in accepts and rest.startswith("-"):
        return 'a name with other characters than letters, digits, "_" and "." needs double quotes'
    return None


def _hint_for_value(token: Token, before: str, only_string: bool) -> str | None:
    if token.type == "QUOTED_NAME":
        plain = token[1:-1].replace("'", "''")
        return f"a string takes single quotes: '{plain}'; double quotes are for attribute names"
    if str(token).upper() == "NULL":
        return "nothing equals NULL: write IS NULL or IS NOT NULL"
    if str(token) == ")" and before.rstrip().endswith("("):
        return "an IN list needs at least one value"
    if only_string and token.type == "NUMBER":
        return f"a string takes single quotes: '{token}'"
    if token.type == "NAME":
        return f"a string takes single quotes: '{token}'; attributes are compared with values only"
    if token.type == "COMPARISON":
        return _OTHER_SPELLINGS["="]
    return None


def _hint_for_open_parenthesis(text: str) -> str | None:
    places = _open_parentheses(text)
    if not places:
        return None
    line = text.count("\n", 0, places[-1]) + 1
    column = places[-1] - (text.rfind("\n", 0, places[-1]) + 1) + 1
    return f"the '(' at line {line}, column {column} is not closed"


def _open_parentheses(text: str) -> list[int]:
    places: list[int] = []
    for match in _TOKENS_OUTSIDE_QUOTES.finditer(text):
        if match[0] == "(":
            places.append(match.start())
        elif match[0] == ")" and places:
            places.pop()
    return places
