"""A second, slow reading of subscription texts: they become Python expressions."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

import pytest

LITERAL = r"(?:\d+|'\w+')"
PREDICATE = re.compile(
    rf"(?P<attribute>\b[ans]\d+) (?:(?P<operator>=|<>|<=|>=|<|>) (?P<value>{LITERAL})"
    rf"|BETWEEN (?P<lower>{LITERAL}) AND (?P<upper>{LITERAL})"
    rf"|IN \((?P<values>{LITERAL}(?:, {LITERAL})*)\))"
)
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Reading:
    """A subscription text: its predicates, its tree, and whether an event satisfies it."""

    def __init__(self, text: str) -> None:
        self.predicates: list[tuple[Any, ...]] = []
        code = PREDICATE.sub(self._take, text)
        code = re.sub(r"\b(AND|OR|NOT)\b", lambda word: word[0].lower(), code)
        self.tree = ast.parse(code, mode="eval")
        self._code = compile(self.tree, text, "eval")

    def _take(self, found: re.Match[str]) -> str:
        if found["operator"]:
            value = ast.literal_eval(found["value"])
            self.predicates.append((found["attribute"], found["operator"], value))
        elif found["lower"]:
            window = ast.literal_eval(found["lower"]), ast.literal_eval(found["upper"])
            self.predicates.append((found["attribute"], "BETWEEN", *window))
        else:
            values = ast.literal_eval(f"[{found['values']}]")
            self.predicates.append((found["attribute"], "IN", *values))
        return f"true({len(self.predicates) - 1})"

    def fulfilled(self, event: dict[str, Any], position: int) -> bool:
        attribute, name, *values = self.predicates[position]
        if attribute not in event:
            return False
        if name == "BETWEEN":
            return bool(values[0] <= event[attribute] <= values[1])
        if name == "IN":
            return event[attribute] in values
        return COMPARISONS[name](event[attribute], values[0])

    def matches(self, event: dict[str, Any]) -> bool:
        return bool(eval(self._code, {"true": lambda position: self.fulfilled(event, position)}))


@pytest.fixture(scope="session")
def read() -> Callable[[str], Reading]:
    return Reading
