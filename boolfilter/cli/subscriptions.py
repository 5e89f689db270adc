"""Subscription files: their records one by one, and whole files as an engine."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from boolfilter.cli.csv_rows import csv_rows
from boolfilter.cli.files import (
    STDIN,
    Lines,
    decoded,
    display_name,
    format_of,
    is_saved,
    open_lines,
    parquet_batches,
)
from boolfilter.cli.problems import CommandError, Problem, RecordError, say, subscription_problem
from boolfilter.cli.progress import progress
from boolfilter.engine import Engine
from boolfilter.evaluate import Nulls

_PARQUET_ROWS = 10_000
_MOST_REPORTED = 20


class Record(NamedTuple):
    """A subscription of a file: its line (or row), and where on the line its text starts, if it
    stands there as it is."""

    line: int
    offset: int | None
    id: Any
    text: Any


class Loaded(NamedTuple):
    """An engine, and what of the file is not in it."""

    engine: Engine
    problems: list[Problem]


def is_saved_engine(path: str, chosen: str | None) -> bool:
    """Whether a file is opened rather than read; one that is named so must be one."""
    if path == STDIN:
        return False
    return chosen == "saved" or (chosen is None and (path.endswith(".bf") or is_saved(path)))


def load(path: str, chosen: str | None, nulls: Nulls | None) -> Loaded:
    """An engine with the subscriptions of a file; the bad ones are left out and told."""
    if is_saved_engine(path, chosen):
        return Loaded(open_saved(path, nulls), [])
    engine = Engine(nulls=nulls or "false")
    problems: list[Problem] = []
    lines, offsets = array("q"), array("q")  # of each that the engine sees; -1: no offset

    def pairs() -> Iterator[tuple[Any, Any]]:
        for record in read_subscriptions(path, chosen):
            if isinstance(record, Problem):
                problems.append(record)
            else:
                lines.append(record.line)
                offsets.append(-1 if record.offset is None else record.offset)
                yield record.id, record.text

    with progress(f"loading {display_name(path)}") as line:
        rejected = engine.subscribe_many(pairs(), errors="collect", progress=line)
    for position, id, error in rejected:
        offset = None if offsets[position] < 0 else offsets[position]
        problems.append(subscription_problem(lines[position], offset, id, error))
    problems.sort(key=lambda problem: problem.line)
    return Loaded(engine, problems)


def open_saved(path: str, nulls: Nulls | None) -> Engine:
    """A saved engine; CommandError if it was built for other nulls than are asked for."""
    engine = Engine.open(path)
    if nulls is not None and nulls != engine.nulls:
        raise CommandError(f"{path} was built with --nulls {engine.nulls}, not {nulls}")
    return engine


def report(path: str, problems: list[Problem]) -> None:
    """The first problems of a file on stderr, a line each, and how many more there are."""
    for problem in problems[:_MOST_REPORTED]:
        say(f"{problem.place(display_name(path))}: {problem.message}")
    more = len(problems) - _MOST_REPORTED
    if more > 0:
        say(f"{display_name(path)}: and {more:,} more errors; boolfilter check shows them all")


def read_subscriptions(path: str, chosen: str | None) -> Iterator[Record | Problem]:
    """The records of a file that is not a saved engine, in order."""
    found = format_of(path, chosen, "text")
    if found == "saved":
        raise CommandError(f"{display_name(path)}: a saved engine must be named as a file")
    if found == "parquet":
        yield from _from_parquet(path)
        return
    reader = {"text": _from_text, "jsonl": _from_jsonl, "csv": _from_csv}[found]
    with open_lines(path) as lines:
        yield from reader(lines)


def _from_text(lines: Lines) -> Iterator[Record | Problem]:
    for line in lines:
        try:
            text = decoded(line)
        except RecordError as error:
            yield Problem(lines.number, str(error))
            continue
        stripped = text.lstrip()
        if not stripped or stripped.startswith(("#", "--")):
            continue
        id, tab, rest = text.partition("\t")
        if tab and id.strip():
            yield Record(lines.number, len(id) + 1, id.strip(), rest)
        else:
            yield Record(lines.number, 0, lines.number, text)


def _from_jsonl(lines: Lines) -> Iterator[Record | Problem]:
    for line in lines:
        try:
            text = decoded(line)
            if not text.strip():
                continue
            record = json_object(text)
            if "expression" not in record:
                raise RecordError('there is no "expression"')
        except RecordError as error:
            yield Problem(lines.number, str(error))
            continue
        expression = record["expression"]
        id = record.get("id", lines.number)
        yield Record(lines.number, _offset(text, expression), id, expression)


def _from_csv(lines: Lines) -> Iterator[Record | Problem]:
    rows = csv_rows(lines)
    header = next(rows, None)
    if header is None:
        return
    names = [] if isinstance(header, Problem) else [name.strip() for name in header.values]
    if "expression" not in names:
        raise CommandError(f"{lines.name}: a header with the columns id and expression is needed")
    place = names.index("expression")
    id_place = names.index("id") if "id" in names else None
    for row in rows:
        if isinstance(row, Problem):
            yield row
        elif len(row.values) != len(names):
            yield Problem(row.line, f"{len(row.values)} values under {len(names)} columns")
        else:
            id = row.line if id_place is None else row.values[id_place]
            last = (lines.last or b"").decode(errors="replace") if row.is_one_line else ""
            expression = row.values[place]
            yield Record(row.line, _offset(last, expression), id, expression)


def _from_parquet(path: str) -> Iterator[Record]:
    row = 0
    for batch in parquet_batches(path, _PARQUET_ROWS, ["id", "expression"]):
        ids, expressions = (batch.column(name).to_pylist() for name in ("id", "expression"))
        for id, expression in zip(ids, expressions, strict=True):
            row += 1
            yield Record(row, None, id, expression)


def json_object(text: str) -> dict[str, Any]:
    """A JSON object; RecordError for anything else."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(f"not JSON: {error.msg} at position {error.pos + 1}") from None
    except ValueError as error:  # an integer of thousands of digits
        raise RecordError(f"not usable as JSON: {error}") from None
    except RecursionError:
        raise RecordError("the JSON is nested too deeply") from None
    if not isinstance(value, dict):
        raise RecordError(f"a JSON object is needed, not {_JSON_NAMES[type(value)]}")
    return value


_JSON_NAMES: dict[type, str] = {
    list: "an array", str: "a string", int: "a number", float: "a number", bool: "a boolean",
    type(None): "null",
}  # fmt: skip


def _offset(line: str, expression: Any) -> int | None:
    """Where an expression stands on its line, if it does without escapes."""
    if not isinstance(expression, str):
        return None
    place = line.find(expression)
    return None if place < 0 else place
