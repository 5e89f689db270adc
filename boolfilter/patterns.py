"""LIKE patterns: their meaning, and the simpler predicate that most of them really are."""

from __future__ import annotations

import re
from enum import Enum
from itertools import groupby

from boolfilter.expressions import Pattern

_ANY_TEXT = object()
_ANY_CHARACTER = object()
_ESCAPE = "\\"
_SPECIAL = re.compile(r"[%_\\]")


class PatternShape(Enum):
    """What a pattern asks of a string, from its wildcards."""

    EQUAL = "equal"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    SUBSTRING = "substring"
    GENERAL = "general"


def shape_of(pattern: Pattern) -> tuple[PatternShape, str]:
    """The shape of a pattern and, unless it is general, the text that it asks for.

    >>> shape_of(Pattern("abc%"))
    (<PatternShape.PREFIX: 'prefix'>, 'abc')
    >>> shape_of(Pattern("100!%", "!"))
    (<PatternShape.EQUAL: 'equal'>, '100%')
    """
    tokens = _tokens(pattern)
    opened = bool(tokens) and tokens[0] is _ANY_TEXT
    closed = len(tokens) > opened and tokens[-1] is _ANY_TEXT
    inner = tokens[opened : len(tokens) - closed]
    text = "".join(token for token in inner if isinstance(token, str))
    if len(text) < len(inner):
        return PatternShape.GENERAL, ""
    if opened and closed:
        return PatternShape.SUBSTRING, text
    if opened:  # a lone % is any string: a prefix of nothing
        return (PatternShape.SUFFIX if text else PatternShape.PREFIX), text
    return (PatternShape.PREFIX if closed else PatternShape.EQUAL), text


def canonical_pattern(pattern: Pattern, *, fold: bool = False) -> Pattern:
    r"""The one spelling of all patterns that mean the same; `fold` lower-cases it for ILIKE.

    >>> canonical_pattern(Pattern("a!%%%b", "!"))
    Pattern(text='a\\%%b', escape='\\')
    """
    pieces: list[str] = []
    for literal, run in groupby(_tokens(pattern), key=lambda token: isinstance(token, str)):
        if literal:
            text = "".join(map(str, run))
            pieces.append(_SPECIAL.sub(r"\\\g<0>", text.lower() if fold else text))
        else:
            pieces.extend("%" if token is _ANY_TEXT else "_" for token in run)
    spelling = "".join(pieces)
    if _ESCAPE + "%" in spelling or _ESCAPE + "_" in spelling:
        return Pattern(spelling, _ESCAPE)
    return Pattern(spelling.replace(_ESCAPE * 2, _ESCAPE))  # nothing to quote, so no escape


def literal_pattern(text: str) -> Pattern:
    """The pattern that is this text and nothing else.

    >>> literal_pattern("100%")
    Pattern(text='100\\\\%', escape='\\\\')
    """
    return canonical_pattern(Pattern(_SPECIAL.sub(r"\\\g<0>", text), _ESCAPE))


def like(value: str, pattern: Pattern) -> bool:
    """Whether the whole string fits the pattern.

    Greedy with one place to come back to, so at worst the product of the two lengths.

    >>> like("banana", Pattern("b%n_"))
    True
    """
    tokens = _tokens(pattern)
    at = place = 0
    retry_at, retry_place = 0, -1
    while at < len(value):
        token = tokens[place] if place < len(tokens) else None
        if token is _ANY_TEXT:
            retry_at, retry_place = at, place
            place += 1
        elif token is _ANY_CHARACTER or token == value[at]:
            at += 1
            place += 1
        elif retry_place >= 0:
            retry_at += 1
            at, place = retry_at, retry_place + 1
        else:
            return False
    return all(token is _ANY_TEXT for token in tokens[place:])


def _tokens(pattern: Pattern) -> list[object]:
    """Characters and wildcards; neighbouring % are one."""
    tokens: list[object] = []
    characters = iter(pattern.text)
    for character in characters:
        if character == pattern.escape:
            tokens.append(next(characters))
        elif character == "%":
            if not tokens or tokens[-1] is not _ANY_TEXT:
                tokens.append(_ANY_TEXT)
        else:
            tokens.append(_ANY_CHARACTER if character == "_" else character)
    return tokens


def pattern_regex(pattern: Pattern) -> str:
    r"""The RE2 expression of a pattern.

    >>> pattern_regex(Pattern("a.%b_"))
    '(?s)\\Aa\\..*b.\\z'
    """
    pieces = [
        ".*" if token is _ANY_TEXT else "." if token is _ANY_CHARACTER else re.escape(str(token))
        for token in _tokens(pattern)
    ]
    return r"(?s)\A" + "".join(pieces) + r"\z"
