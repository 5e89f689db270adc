"""Event files: their records one by one, as attributes with typed values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from typing import Any, NamedTuple

from boolfilter.cli.csv_rows import csv_rows
from boolfilter.cli.files import Lines, decoded, open_lines, parquet_batches
from boolfilter.cli.problems import CommandError, Problem, RecordError
from boolfilter.cli.subscriptions import json_object
from boolfilter.errors import BoolFilterError
from boolfilter.events import flatten
from boolfilter.values import parse_timestamp

PARQUET_ROWS = 8_192


class NumberedEvent(NamedTuple):
    """An event with the line it starts on, in Parquet its row, from 1."""

    number: int
    attributes: dict[str, Any]


class Kinds(NamedTuple):
    """Attributes that are of another kind than they look."""

    strings: Set[str] = frozenset()
    timestamps: Set[str] = frozenset()

    def apply(self, event: NumberedEvent) -> NumberedEvent | Problem:
        """The event with its values in the kinds asked for."""
        if not (self.strings or self.timestamps):
            return event
        try:
            flat: dict[str, Any] = dict(flatten(event.attributes))
            for names, convert in ((self.strings, _as_string), (self.timestamps, _as_timestamp)):
                for name in names & flat.keys():
                    value = flat[name]
                    several = isinstance(value, tuple)
                    flat[name] = tuple(map(convert, value)) if several else convert(value)
        except BoolFilterError as error:
            return Problem(event.number, str(error))
        return NumberedEvent(event.number, flat)


def read_events(
    path: str, found: str, kinds: Kinds, before_wait: Callable[[], None]
) -> Iterator[NumberedEvent | Problem]:
    """The events of a file in this format; ``before_wait`` as in Lines."""
    if found == "parquet":
        rows = (row for batch in parquet_batches(path, PARQUET_ROWS) for row in batch.to_pylist())
        for number, attributes in enumerate(rows, 1):
            yield kinds.apply(NumberedEvent(number, attributes))
        return
    if found == "saved":
        raise CommandError(f"{path}: a saved engine holds no events")
    with open_lines(path, before_wait) as lines:
        if found == "csv":
            events = _from_csv(lines, kinds.strings)
        else:
            read = json_object if found == "jsonl" else _pairs_reader(kinds.strings)
            events = _from_lines(lines, read)
        for event in events:
            yield event if isinstance(event, Problem) else kinds.apply(event)


def typed(text: str) -> int | float | bool | str | None:
    """A CSV value as the number or boolean that it looks like; nothing at all is absent.

    >>> [typed(text) for text in ["5", "-1.5e3", "007", "true", "", "Acme"]]
    [5, -1500.0, '007', True, None, 'Acme']
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return _WORDS.get(text.lower(), text) if len(text) <= _LONGEST_WORD else text


_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,999})")
_FLOAT = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]{0,999})(?:\.[0-9]{1,999})?|\.[0-9]{1,999})(?:[eE][+-]?[0-9]{1,9})?"
)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "": None}
_LONGEST_WORD = 5


def _from_lines(
    lines: Lines, read: Callable[[str], dict[str, Any]]
) -> Iterator[NumberedEvent | Problem]:
    for line in lines:
        try:
            text = decoded(line)
            if text and not text.isspace():
                yield NumberedEvent(lines.number, read(text))
        except RecordError as error:
            yield Problem(lines.number, str(error))


def _from_csv(lines: Lines, strings: Set[str]) -> Iterator[NumberedEvent | Problem]:
    rows = csv_rows(lines)
    header = next(rows, None)
    if header is None:
        return
    if isinstance(header, Problem):
        raise CommandError(f"{header.place(lines.name)}: {header.message}")
    names = [name.strip() for name in header.values]
    _check_header(names, lines.name)
    for row in rows:
        if isinstance(row, Problem):
            yield row
        elif len(row.values) != len(names):
            yield Problem(row.line, f"{len(row.values)} values under {len(names)} columns")
        else:
            attributes = {
                name: (value or None) if name in strings else typed(value)
                for name, value in zip(names, row.values, strict=True)
                if name  # a column without a name is one of row numbers
            }
            yield NumberedEvent(row.line, attributes)


def _check_header(names: list[str], file: str) -> None:
    for name in names:
        if name and names.count(name) > 1:
            raise CommandError(f"{file}: the column {name!r} occurs twice")


_PAIR = re.compile(r'\s*([^\s="]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*)))?(?=\s|$)')
_ESCAPED = re.compile(r"\\(.)")


def _pairs_reader(strings: Set[str]) -> Callable[[str], dict[str, Any]]:
    """How a line of name=value pairs is read; a name that repeats is multi-valued."""

    def read(line: str) -> dict[str, Any]:
        event: dict[str, list[Any]] = {}
        place = 0
        line = line.rstrip()
        while place < len(line):
            pair = _PAIR.match(line, place)
            if pair is None:
                raise RecordError(f"name=value is needed at position {place + 1}")
            name, quoted, plain = pair.groups()
            event.setdefault(name, []).append(value_of(name, quoted, plain))
            place = pair.end()
        return {name: values if len(values) > 1 else values[0] for name, values in event.items()}

    def value_of(name: str, quoted: str | None, plain: str | None) -> Any:
        if quoted is not None:
            return _ESCAPED.sub(r"\1", quoted)
        if plain is None:
            return True
        return plain if name in strings else typed(plain)

    return read


def _as_string(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _as_timestamp(value: Any) -> Any:
    return parse_timestamp(value) if isinstance(value, str) else value
