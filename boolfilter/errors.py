"""The one family of exceptions that this library raises on purpose.

Everything a caller can get wrong ends in a :class:`BoolFilterError`. Each class carries fields that
a program can use (positions, bounds, ids) besides the sentence that a person reads.
"""

from __future__ import annotations


class BoolFilterError(Exception):
    """The root of the family: catch it to catch all of them."""


class SubscriptionSyntaxError(BoolFilterError, ValueError):
    """A subscription text that is not in the language.

    >>> import boolfilter as bf
    >>> try:
    ...     bf.parse('price < 10 AND brand = "Acme"')
    ... except bf.SubscriptionSyntaxError as error:
    ...     print(error)
    ...     print(error.line, error.column, error.expected)
    line 1, column 24: expected a value, found '"Acme"'
      price < 10 AND brand = "Acme"
                             ^
    hint: a string takes single quotes: 'Acme'; double quotes are for attribute names
    1 24 ('a value',)
    """

    def __init__(
        self,
        problem: str,
        *,
        text: str,
        position: int,
        expected: tuple[str, ...] = (),
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.position = position
        self.line, self.column, self.excerpt = _locate(text, position)
        self.expected = expected
        self.hint = hint
        self._text = text
        message = f"line {self.line}, column {self.column}: {problem}\n{self.excerpt}"
        super().__init__(message + (f"\nhint: {hint}" if hint else ""))

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions with keyword arguments do not pickle by default, and these cross processes.
        return (_rebuild_placed, (type(self), self.problem, self._text, self.position,
                                  self.expected, self.hint))  # fmt: skip


class SubscriptionSchemaError(SubscriptionSyntaxError):
    """A subscription that does not fit the engine's schema: a name, operator or value it lacks.

    The text of one built in Python is what ``str`` makes of it.
    """


class SchemaError(BoolFilterError, ValueError):
    """A schema that contradicts itself, or a change that would take something from it.

    ``cycle`` has the values of a cycle in a hierarchy, where that is what is wrong.
    """

    def __init__(self, problem: str, cycle: tuple[str, ...] = ()) -> None:
        self.problem = problem
        self.cycle = cycle
        super().__init__(problem, cycle)

    def __str__(self) -> str:
        return self.problem


class ExpressionError(BoolFilterError, TypeError):
    """An expression built from Python in a way that has no meaning."""


class UnsupportedError(BoolFilterError, ValueError):
    """A subscription or event that a baseline cannot hold; the engine takes all of them."""


class EventError(BoolFilterError, TypeError):
    """An event that is not a mapping of names to values this library knows."""


class EventRuleError(EventError):
    """An event that breaks a rule of its schema: ``rule`` is R1, R2 or R3, ``attribute`` whose."""

    def __init__(self, rule: str, attribute: str, problem: str) -> None:
        self.rule = rule
        self.attribute = attribute
        self.problem = problem
        super().__init__(rule, attribute, problem)

    def __str__(self) -> str:
        return f"rule {self.rule}: {self.problem}"


class SubscriptionIdError(BoolFilterError, ValueError):
    """An id that is bad, or in use where it must not be; ``id`` has it."""

    def __init__(self, id: object, problem: str) -> None:
        self.id = id
        self.problem = problem
        super().__init__(id, problem)

    def __str__(self) -> str:
        return self.problem


class UnknownSubscriptionError(BoolFilterError, KeyError):
    """No subscription has this id."""

    def __init__(self, id: object) -> None:
        self.id = id
        super().__init__(id)

    def __str__(self) -> str:
        return f"there is no subscription {self.id!r}"


class BadSubscriptionError(BoolFilterError, ValueError):
    """A subscription of a bulk load that is bad: which (``position`` from 0, ``id``) and why."""

    def __init__(self, position: int, id: object, reason: BoolFilterError) -> None:
        self.position = position
        self.id = id
        self.reason = reason
        super().__init__(position, id, reason)

    def __str__(self) -> str:
        return f"subscription {self.id!r} (number {self.position} of the load): {self.reason}"


class LimitError(BoolFilterError, ValueError):
    """A subscription larger than the bounds in force; see :class:`boolfilter.Limits`."""

    what = "size"

    def __init__(self, actual: int, limit: int) -> None:
        self.actual = actual
        self.limit = limit
        super().__init__(actual, limit)

    def __str__(self) -> str:
        # `actual` may be an astronomic integer (a XOR chain's size), too long to print in full.
        actual = f"{self.actual:,}" if self.actual < 10**15 else "over 10**15"
        return f"{self.what} is {actual}, over the bound of {self.limit:,}"


class TextLengthError(LimitError):
    """A subscription text with too many characters."""

    what = "the length of the text in characters"


class NestingDepthError(LimitError):
    """A subscription nested too deeply."""

    what = "the nesting depth of the expression"


class LeafCountError(LimitError):
    """A subscription with too many leaves (predicates), as written or with XOR expanded."""

    what = "the number of leaves"


class DamagedFileError(BoolFilterError):
    """A file that cannot be used: cut short, changed, of a newer version, or not one of ours."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(path, problem)

    def __str__(self) -> str:
        return f"{self.path!r} cannot be read: {self.problem}"


def _locate(text: str, position: int) -> tuple[int, int, str]:
    """Line and column (from 1), and the line with a caret under the place."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    # A window round the caret: a megabyte on one line must not become a megabyte of message.
    left = max(0, column - 50)
    right = min(len(line), left + 90)
    shown = "".join(c if c.isprintable() else " " for c in line[left:right])
    prefix = "..." if left else ""
    suffix = "..." if right < len(line) else ""
    caret = " " * (len(prefix) + column - left) + "^"
    return (
        text.count("\n", 0, position) + 1,
        column + 1,
        f"  {prefix}{shown.rstrip()}{suffix}\n  {caret}",
    )


def _rebuild_placed(
    error_class: type[SubscriptionSyntaxError],
    problem: str,
    text: str,
    position: int,
    expected: tuple[str, ...],
    hint: str | None,
) -> SubscriptionSyntaxError:
    return error_class(problem, text=text, position=position, expected=expected, hint=hint)
