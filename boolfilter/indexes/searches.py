"""Searches in strings: prefixes, suffixes, substrings and patterns of one attribute.

Prefixes and suffixes are probed by length in a dict, substrings found by one Aho-Corasick
automaton, regular expressions and general LIKE patterns by one RE2 set. ILIKE is the same over
lower-cased values. What one value satisfies is remembered, since values repeat.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import re2
from ahocorasick_rs import BytesAhoCorasick

from boolfilter.evaluate import holds
from boolfilter.expressions import Operator, Pattern, Predicate
from boolfilter.patterns import PatternShape, pattern_regex, shape_of

_MOST_REMEMBERED = 20_000
_REGEX_MEMORY = 1 << 30  # a budget for the automaton's cache, taken up only as it is needed


class Searches:
    """The search predicates of one attribute, by number.

    >>> import boolfilter as bf
    >>> texts = ["a LIKE 'ab%'", "a ILIKE '%C%'", "a MATCHES '[0-9]+'", "a CONTAINS 'abC'"]
    >>> searches = Searches(enumerate(bf.normalise(bf.parse(text)) for text in texts))
    >>> sorted(searches.satisfied("abC7", several=False))
    [0, 1, 2, 3]
    >>> sorted(searches.satisfied("abC7", several=True))
    [0, 1, 2]
    """

    def __init__(self, predicates: Iterable[tuple[int, Predicate]]) -> None:
        self._predicates = list(predicates)
        self._exact = _Probes()
        self._folded = _Probes()
        self._members: dict[str, int] = {}
        self._parts: dict[str, int] = {}  # of CONTAINS, on plain strings only
        for number, predicate in self._predicates:
            self._place(number, predicate)
        self._exact.finish()
        self._folded.finish()
        self._contains = _Substrings(self._parts)
        self._remembered: dict[tuple[str, bool], tuple[int, ...]] = {}

    def satisfied(self, value: str, several: bool) -> tuple[int, ...]:
        """The numbers of the predicates that this one value satisfies.

        `several` tells that the value is one of a multi-valued attribute, where CONTAINS means
        membership.
        """
        key = (value, several)
        known = self._remembered.get(key)
        if known is None:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            known = self._remembered[key] = tuple(self._search(value, several))
        return known

    def _search(self, value: str, several: bool) -> list[int]:
        try:
            data = value.encode()
        except UnicodeEncodeError:  # lone surrogates: the automata want real characters
            found_value = (value,) if several else value
            return [
                number
                for number, predicate in self._predicates
                if holds(predicate, {predicate.attribute: found_value})
            ]
        found = self._exact.satisfied(value, data)
        if self._folded:
            folded = value.lower()
            found += self._folded.satisfied(folded, folded.encode())
        if several:
            if value in self._members:
                found.append(self._members[value])
        elif self._parts:
            found += self._contains.satisfied(data)
        return found

    def _place(self, number: int, predicate: Predicate) -> None:
        operand: Any = predicate.operand
        if predicate.operator is Operator.STARTS_WITH:
            self._exact.prefixes[operand] = number
        elif predicate.operator is Operator.ENDS_WITH:
            self._exact.suffixes[operand] = number
        elif predicate.operator is Operator.CONTAINS:
            self._members[operand] = number
            self._parts[operand] = number
        elif predicate.operator is Operator.MATCHES:
            self._exact.regexes[operand] = number
        else:
            assert isinstance(operand, Pattern)
            probes = self._folded if predicate.operator is Operator.ILIKE else self._exact
            shape, text = shape_of(operand)
            if shape is PatternShape.PREFIX:
                probes.prefixes[text] = number
            elif shape is PatternShape.SUFFIX:
                probes.suffixes[text] = number
            elif shape is PatternShape.SUBSTRING:
                probes.substrings[text] = number
            else:
                probes.regexes[pattern_regex(operand)] = number


@dataclass(slots=True)
class _Probes:
    """The structures over values of one spelling: as they are, or lower-cased."""

    prefixes: dict[str, int] = field(default_factory=dict)
    suffixes: dict[str, int] = field(default_factory=dict)
    substrings: dict[str, int] = field(default_factory=dict)
    regexes: dict[str, int] = field(default_factory=dict)
    _prefix_lengths: list[int] = field(default_factory=list)
    _suffix_lengths: list[int] = field(default_factory=list)
    _automaton: _Substrings | None = None
    _set: Any = None
    _regex_numbers: list[int] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.prefixes or self.suffixes or self.substrings or self.regexes)

    def finish(self) -> None:
        self._prefix_lengths = sorted(set(map(len, self.prefixes)))
        self._suffix_lengths = sorted(set(map(len, self.suffixes)))
        self._automaton = _Substrings(self.substrings)
        # A text with lone surrogates occurs in no string that can be encoded.
        usable = {regex: n for regex, n in self.regexes.items() if _is_encodable(regex)}
        if usable:
            options = re2.Options()
            options.log_errors = False
            options.max_mem = _REGEX_MEMORY
            self._set = re2.Set.SearchSet(options)
            for regex in usable:
                self._set.Add(regex)
            self._set.Compile()
            self._regex_numbers = list(usable.values())

    def satisfied(self, value: str, data: bytes) -> list[int]:
        assert self._automaton is not None
        length = len(value)
        prefixes, suffixes = self.prefixes, self.suffixes
        found = [
            prefixes[value[:size]]
            for size in self._prefix_lengths
            if size <= length and value[:size] in prefixes
        ]
        found += [
            suffixes[value[length - size :]]
            for size in self._suffix_lengths
            if size <= length and value[length - size :] in suffixes
        ]
        found += self._automaton.satisfied(data)
        if self._set is not None:
            found += [self._regex_numbers[place] for place in self._set.Match(data) or ()]
        return found


class _Substrings:
    """Which of many texts occur in a string."""

    __slots__ = ("_automaton", "_empty", "_numbers")

    def __init__(self, texts: dict[str, int]) -> None:
        self._empty = [number for text, number in texts.items() if not text]
        usable = {text: n for text, n in texts.items() if text and _is_encodable(text)}
        self._numbers = list(usable.values())
        self._automaton = BytesAhoCorasick([text.encode() for text in usable]) if usable else None

    def satisfied(self, data: bytes) -> list[int]:
        if self._automaton is None:
            return list(self._empty)
        hits = self._automaton.find_matches_as_indexes(data, overlapping=True)
        return self._empty + [self._numbers[place] for place in {hit[0] for hit in hits}]


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
