"""CSV from lines of bytes: rows with their place, and what is wrong with the others."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from boolfilter.cli.files import LONGEST_LINE, Lines
from boolfilter.cli.problems import CommandError, Problem


class Row(NamedTuple):
    """The values of a row, the line it starts on, and whether it ends there too."""

    line: int
    is_one_line: bool
    values: list[str]


def csv_rows(lines: Lines) -> Iterator[Row | Problem]:
    """The rows, header included; blank lines are left out."""
    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(_texts(lines), strict=True)
    while True:
        start = lines.number + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Problem(start, f"not CSV: {error}")
            continue
        if any(map(_has_foreign_bytes, values)):
            yield Problem(start, "not UTF-8")
        elif values:
            yield Row(start, lines.number == start, values)


def _texts(lines: Lines) -> Iterator[str]:
    """Lines with their ends, which the csv module needs to see inside of quotes.

    Bytes that are not UTF-8 become lone surrogates here, since a row can only be refused as a
    whole once the csv module has found its end.
    """
    for line in lines:
        if line is None:
            raise CommandError(
                f"{lines.name}: line {lines.number} is longer than {LONGEST_LINE:,} bytes"
            )
        yield line.decode(errors="surrogateescape") + "\n"


def _has_foreign_bytes(text: str) -> bool:
    return not text.isascii() and any("\udc80" <= c <= "\udcff" for c in text)
