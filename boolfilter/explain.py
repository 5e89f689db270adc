"""Why an expression matches an event or not: the decided tree.

The truth of predicates and of AND, OR, XOR and NOT is that of :mod:`boolfilter.evaluate`; here is
only which parts *decide* the result. The result is kept as long as the deciding leaves keep their
truth, whatever the others become.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple

from boolfilter.evaluate import Nulls, Truth, check_nulls, combine, leaf_truth
from boolfilter.events import FlatEvent, flatten
from boolfilter.expressions import (
    And,
    Constant,
    Expression,
    Not,
    Predicate,
    Xor,
    format_name,
    postorder,
)
from boolfilter.values import Value, format_value

_Found = Value | tuple[Value, ...] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """The truth of an expression on one event, with that of all its parts below it.

    ``truth`` is True, False or, with SQL nulls, None for unknown. For a predicate, ``value`` is
    what the event has for its attribute (a tuple if several values), or ``absent`` is True.
    ``decisive`` says whether this part helped to decide the result of the whole; ``str`` prints
    the tree with a star before these.

    >>> import boolfilter as bf
    >>> text = "price < 10 AND (category = 'Toy' OR NOT brand IN ('Acme', 'Bolt'))"
    >>> why = explain(bf.parse(text), {"price": 5, "category": "Toy", "brand": "Acme"})
    >>> why.matches
    True
    >>> print(why)
    * true    AND
    * true      price < 10                       price = 5
    * true      OR
    * true        category = 'Toy'               category = 'Toy'
      false       NOT brand IN ('Acme', 'Bolt')  brand = 'Acme'
    """

    expression: Expression
    truth: Truth
    decisive: bool
    value: _Found
    absent: bool
    children: tuple[Explanation, ...]

    @property
    def matches(self) -> bool:
        return self.truth is True

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain data, fit for JSON; a timestamp is ``{"timestamp": "..."}``.

        An infinite number, which JSON has not, is the string ``"1e999"`` or ``"-1e999"``. The data
        nest as deep as the expression; ``json.dumps`` gives up at some hundreds of levels.

        >>> import boolfilter as bf
        >>> explain(bf.parse("NOT a = 1"), {}).to_dict() == {
        ...     "kind": "NOT", "truth": True, "decisive": True,
        ...     "children": [{
        ...         "kind": "predicate", "truth": False, "decisive": True,
        ...         "text": "a = 1", "attribute": "a", "absent": True, "value": None,
        ...     }],
        ... }
        True
        """
        done: list[dict[str, Any]] = []
        for part in _postorder(self):
            first = len(done) - len(part.children)
            children = done[first:]
            del done[first:]
            done.append(_as_dict(part, children))
        return done[0]

    def __str__(self) -> str:
        return _format(self)

    def __repr__(self) -> str:
        return f"<Explanation: {_WORDS[self.truth]}, {self.expression}>"

    def __reduce__(self) -> tuple[object, ...]:
        # Flat: the default form would recurse as deep as the tree.
        rows = [_Row(p.truth, p.decisive, p.value, p.absent) for p in _postorder(self)]
        return (_assemble, (self.expression, rows))


def explain(
    expression: Expression, event: Mapping[str, Any], *, nulls: Nulls = "false"
) -> Explanation:
    """Why the event satisfies the expression, taken as it is written, or why it does not.

    Costs a few times what :func:`boolfilter.evaluate` does.

    >>> import boolfilter as bf
    >>> print(explain(bf.parse("price < 10 AND NOT brand = 'Acme'"), {"price": 5}, nulls="sql"))
    * unknown AND
      true      price < 10          price = 5
    * unknown   NOT brand = 'Acme'  brand absent
    """
    flat = flatten(event)
    absent: Truth = None if check_nulls(nulls) == "sql" else False
    parts = list(postorder(expression))
    truths: list[Truth] = []
    children_of: list[list[int]] = []
    waiting: list[int] = []
    for place, part in enumerate(parts):
        first = len(waiting) - len(part.children)
        children = waiting[first:]
        del waiting[first:]
        waiting.append(place)
        children_of.append(children)
        if children:
            truths.append(combine(part, [truths[child] for child in children]))
        else:
            truths.append(leaf_truth(part, flat, absent))
    asked = _asked(parts, truths, children_of)
    rows = [
        _Row(truth, place in asked, *_found(part, flat))
        for place, (part, truth) in enumerate(zip(parts, truths, strict=True))
    ]
    return _assemble(expression, rows)


class _Row(NamedTuple):
    """What an explanation adds to one part of the expression."""

    truth: Truth
    decisive: bool
    value: _Found
    absent: bool


def _assemble(expression: Expression, rows: Sequence[_Row]) -> Explanation:
    """The tree of explanations from its rows, which stand in the order of `postorder`."""
    done: list[Explanation] = []
    for part, row in zip(postorder(expression), rows, strict=True):
        first = len(done) - len(part.children)
        children = tuple(done[first:])
        del done[first:]
        done.append(Explanation(part, *row, children))
    return done[0]


def _found(part: Expression, event: FlatEvent) -> tuple[_Found, bool]:
    if not isinstance(part, Predicate):
        return None, False
    value = event.get(part.attribute)
    return value, value is None


# -- what decides -----------------------------------------------------------------------------


class _Why(Enum):
    """What is to be explained of an unknown part. Of a known one it is always its truth."""

    NOT_TRUE = "why it is not true"
    NOT_FALSE = "why it is not false"
    UNKNOWN = "why it is neither"


_OPPOSITE = {
    _Why.NOT_TRUE: _Why.NOT_FALSE,
    _Why.NOT_FALSE: _Why.NOT_TRUE,
    _Why.UNKNOWN: _Why.UNKNOWN,
}


def _asked(
    parts: Sequence[Expression], truths: Sequence[Truth], children_of: Sequence[list[int]]
) -> dict[int, _Why]:
    """The places of the parts that decide the last one, with what is asked of each.

    An unknown whole does not match, so all that is to be explained of it is why it is not true.
    """
    root = len(parts) - 1
    asked = {root: _Why.NOT_TRUE}
    for place in range(root, -1, -1):  # parents come after their children
        if place in asked:
            part, truth, why = parts[place], truths[place], asked[place]
            for child in children_of[place]:
                if _decides(part, truth, why, truths[child]):
                    asked[child] = _asked_below(part, why)
    return asked


def _asked_below(part: Expression, why: _Why) -> _Why:
    if isinstance(part, Xor):
        return _Why.UNKNOWN  # an operand that became true or false would make it known
    return _OPPOSITE[why] if isinstance(part, Not) else why


def _decides(part: Expression, truth: Truth, why: _Why, child: Truth) -> bool:
    """Whether a child with this truth has a share in that of its parent."""
    if isinstance(part, Not):
        return True
    if isinstance(part, Xor):
        return truth is not None or child is None
    strong = not isinstance(part, And)  # the truth that one child alone gives to its parent
    if truth is not None:
        return truth is not strong or child is strong
    # One unknown child keeps an AND from being true, but it takes all to keep it from being false.
    return child is None or why is not (_Why.NOT_FALSE if strong else _Why.NOT_TRUE)


# -- as data and as text ----------------------------------------------------------------------

_WORDS = {True: "true", False: "false", None: "unknown"}
_WIDEST_COLUMN = 60
_LONGEST_TEXT = 300
_DEEPEST_INDENT = 40


def _postorder(explanation: Explanation) -> Iterator[Explanation]:
    stack = [(explanation, iter(explanation.children))]
    while stack:
        part, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            yield part
        else:
            stack.append((child, iter(child.children)))


def _as_dict(part: Explanation, children: list[dict[str, Any]]) -> dict[str, Any]:
    expression = part.expression
    data: dict[str, Any] = {"truth": part.truth, "decisive": part.decisive}
    if isinstance(expression, Predicate):
        value = part.value
        plain = list(map(_plain, value)) if isinstance(value, tuple) else _plain(value)
        return {
            "kind": "predicate",
            **data,
            "text": str(expression),
            "attribute": expression.attribute,
            "absent": part.absent,
            "value": plain,
        }
    if isinstance(expression, Constant):
        return {"kind": "constant", **data, "text": str(expression)}
    return {"kind": _operator(expression), **data, "children": children}


def _plain(value: Value | None) -> Any:
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return format_value(value)
    return value


def _operator(expression: Expression) -> str:
    return type(expression).__name__.upper()


def _format(explanation: Explanation) -> str:
    lines: list[tuple[str, str]] = []
    todo = [(explanation, 0)]
    while todo:
        part, depth = todo.pop()
        leaf = part
        if isinstance(part.expression, Not) and not part.children[0].children:
            leaf = part.children[0]  # NOT and its leaf share a line
        mark = "*" if part.decisive else " "
        text = _operator(part.expression) if leaf.children else _printable(str(part.expression))
        # Deeper than anyone reads, an indent in full would make the text quadratic.
        deep = f"(depth {depth}) " if depth > _DEEPEST_INDENT else ""
        indent = "  " * min(depth, _DEEPEST_INDENT)
        lines.append((f"{mark} {_WORDS[part.truth]:<7} {indent}{deep}{text}", _evidence(leaf)))
        todo.extend((child, depth + 1) for child in reversed(leaf.children))
    column = max((len(text) for text, found in lines if found), default=0)
    column = min(column, _WIDEST_COLUMN)
    return "\n".join(f"{text:<{column}}  {found}" if found else text for text, found in lines)


def _evidence(leaf: Explanation) -> str:
    if not isinstance(leaf.expression, Predicate):
        return ""
    name = format_name(leaf.expression.attribute)
    if leaf.absent or leaf.value is None:
        return _printable(f"{name} absent")
    if isinstance(leaf.value, tuple):
        return _printable(f"{name} = [{', '.join(map(format_value, leaf.value))}]")
    return _printable(f"{name} = {format_value(leaf.value)}")


def _printable(text: str) -> str:
    """On one line, of bearable length, and nothing that a terminal would act on."""
    if len(text) > _LONGEST_TEXT:
        text = text[: _LONGEST_TEXT - 3] + "..."
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
