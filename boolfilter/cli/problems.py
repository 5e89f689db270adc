"""What can be wrong with a command or with one record of a file, and how it is told."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from boolfilter.errors import BoolFilterError, SubscriptionSyntaxError

EXIT_OK, EXIT_BAD_DATA, EXIT_UNUSABLE = 0, 1, 2


class CommandError(Exception):
    """The command cannot go on; the message is for the person who typed it."""


class RecordError(ValueError):
    """One record cannot be used; told where its place in the file is not known."""


class Problem(NamedTuple):
    """What is wrong with one record: its line (or row) and perhaps the column, from 1."""

    line: int
    message: str
    column: int | None = None
    id: Any = None
    excerpt: str = ""
    hint: str | None = None

    def place(self, name: str) -> str:
        return ":".join(str(part) for part in (name, self.line, self.column) if part is not None)


def subscription_problem(line: int, offset: int | None, id: Any, error: BoolFilterError) -> Problem:
    """An error of the language or engine, moved from its text into the file around it.

    ``offset`` is where the text starts on its line; None if it does not stand there as it is
    (it has escapes, or is a column of a Parquet file).
    """
    if not isinstance(error, SubscriptionSyntaxError):
        return Problem(line, str(error), id=id)
    if offset is None or error.line > 1:
        row = f"line {error.line}, " if error.line > 1 else ""
        message = f"{error.problem} ({row}column {error.column} of the expression)"
        return Problem(line, message, None, id, error.excerpt, error.hint)
    return Problem(line, error.problem, offset + error.column, id, error.excerpt, error.hint)


def say(message: str) -> None:
    """One line on stderr, whatever the message holds."""
    line = " ".join(message.split("\n"))
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    print(f"boolfilter: {printable}", file=sys.stderr, flush=True)


def describe_os_error(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename is not None else reason
