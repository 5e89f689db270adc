"""``boolfilter match``: events in, the ids of the subscriptions they satisfy out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from boolfilter.cli.events import PARQUET_ROWS, Kinds, NumberedEvent, read_events
from boolfilter.cli.files import STDIN, display_name, format_of, parquet_batches
from boolfilter.cli.problems import EXIT_BAD_DATA, EXIT_OK, CommandError, Problem, say
from boolfilter.cli.progress import Progress, progress
from boolfilter.cli.subscriptions import load, report
from boolfilter.engine import Engine
from boolfilter.errors import BoolFilterError, EventError

_EVENTS_A_BATCH = 512


def run_match(options: argparse.Namespace) -> int:
    """Match every event of a file or pipe, and say how it went by the exit code."""
    if options.events == options.subscriptions == STDIN:
        raise CommandError("subscriptions and events cannot both come from stdin")
    if options.events != STDIN:
        os.stat(options.events)  # a long load should not end in a mistyped name
    engine, problems = load(options.subscriptions, options.subscriptions_format, options.nulls)
    report(options.subscriptions, problems)
    if problems and options.strict:
        return EXIT_BAD_DATA
    # On a terminal results and progress would overwrite each other.
    wanted = options.count or not sys.stdout.isatty()
    with progress("matching", wanted=wanted) as line:
        matching = _Matching(engine, options, line)
        try:
            matching.run()
        except _StopError:
            return EXIT_BAD_DATA
    if options.count:
        print(json.dumps(matching.totals()))
    return EXIT_BAD_DATA if problems or matching.bad else EXIT_OK


class _StopError(Exception):
    """The first bad event under --strict, which was reported."""


class _Matching:
    """Events on their way: gathered into batches, matched, printed and counted.

    A batch ends when it is full or when the input has no more to give at the moment, so a pipe
    gets its answers at once and a file is matched at bulk speed.
    """

    def __init__(self, engine: Engine, options: argparse.Namespace, line: Progress) -> None:
        self.events = self.matched = self.matches = self.bad = 0
        self._engine = engine
        self._options = options
        self._progress = line
        self._batch: list[NumberedEvent] = []

    def run(self) -> None:
        options = self._options
        kinds = Kinds(options.strings, options.timestamps)
        found = format_of(options.events, options.format, "jsonl")
        if found == "parquet" and not (kinds.strings or kinds.timestamps):
            self._run_parquet()
            return
        for event in read_events(options.events, found, kinds, before_wait=self._hand_out):
            if isinstance(event, Problem):
                self._match_batch()  # what came before it is answered before it
                self._refuse(event)
            else:
                self._batch.append(event)
                if len(self._batch) == _EVENTS_A_BATCH:
                    self._match_batch()
        self._hand_out()

    def totals(self) -> dict[str, int]:
        counts = {"events": self.events, "matched": self.matched, "matches": self.matches}
        return counts | {"bad": self.bad}

    def _run_parquet(self) -> None:
        """Parquet without a Python object for each value."""
        path, field = self._options.events, self._options.id
        first = 1
        for batch in parquet_batches(path, PARQUET_ROWS):
            try:
                pairs = self._engine.match_arrow(batch)
            except EventError as error:
                raise CommandError(f"{path}: {error}") from None
            results: list[list[Any]] = [[] for _ in range(batch.num_rows)]
            rows, ids = (pairs.column(name).to_pylist() for name in ("event", "subscription"))
            for row, id in zip(rows, ids, strict=True):
                results[row].append(id)
            names: Sequence[Any] = range(first, first + batch.num_rows)
            if field is not None:
                names = [_look_up(row, field) for row in batch.to_pylist()]
            self._print(zip(names, results, strict=True))
            first += batch.num_rows
        sys.stdout.flush()

    def _hand_out(self) -> None:
        """Everything that was read so far is matched and written."""
        self._match_batch()
        sys.stdout.flush()

    def _match_batch(self) -> None:
        batch, self._batch = self._batch, []
        if not batch:
            return
        try:
            results = self._engine.match_many(event.attributes for event in batch)
        except BoolFilterError:
            self._match_each(batch)
        else:
            self._print(zip(map(self._name, batch), results, strict=True))

    def _match_each(self, batch: list[NumberedEvent]) -> None:
        """A batch with a bad event: only that one is refused."""
        for event in batch:
            try:
                result = self._engine.match(event.attributes)
            except BoolFilterError as error:
                self._refuse(Problem(event.number, str(error)))
            else:
                self._print(iter([(self._name(event), result)]))

    def _name(self, event: NumberedEvent) -> Any:
        field = self._options.id
        return event.number if field is None else _look_up(event.attributes, field)

    def _refuse(self, problem: Problem) -> None:
        self._progress.erase()
        self.bad += 1
        name = display_name(self._options.events)
        say(f"{problem.place(name)}: {problem.message}")
        if self._options.strict:
            sys.stdout.flush()
            raise _StopError

    def _print(self, results: Iterator[tuple[Any, list[Any]]]) -> None:
        options = self._options
        lines = []
        for name, matches in results:
            self.events += 1
            self.matched += bool(matches)
            self.matches += len(matches)
            if not options.count and (matches or not options.only_matched):
                lines.append(json.dumps({"event": name, "matches": matches}, default=str) + "\n")
        sys.stdout.write("".join(lines))
        self._progress(self.events)


def _look_up(event: Any, field: str) -> Any:
    """The value of an attribute, by its name or its dotted path; None if it is absent."""
    if field in event:
        return event[field]
    value = event
    for key in field.split("."):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value
