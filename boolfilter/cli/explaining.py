"""``boolfilter explain``: why an event satisfies a subscription, or why it does not."""

from __future__ import annotations

import argparse
import json

from boolfilter.cli.events import Kinds, NumberedEvent
from boolfilter.cli.files import LONGEST_LINE, decoded, open_stream
from boolfilter.cli.problems import (
    EXIT_OK,
    CommandError,
    Problem,
    RecordError,
    subscription_problem,
)
from boolfilter.cli.subscriptions import (
    is_saved_engine,
    json_object,
    open_saved,
    read_subscriptions,
)
from boolfilter.engine import Engine
from boolfilter.errors import BoolFilterError
from boolfilter.ids import Id


def run_explain(options: argparse.Namespace) -> int:
    """Print the decided tree; whether it matched or not, the exit code is 0."""
    event = _event(options)
    engine, id = _found(options)
    explanation = engine.explain(id, event)
    if options.json:
        data = {"id": id, "matches": explanation.matches, "explanation": explanation.to_dict()}
        try:
            print(json.dumps(data, indent=2))
        except RecursionError:
            raise CommandError("the subscription is nested too deeply for JSON") from None
    else:
        print(f"{id}: {'match' if explanation.matches else 'no match'}\n{explanation}")
    return EXIT_OK


def _event(options: argparse.Namespace) -> dict[str, object]:
    text = options.event
    try:
        if text.startswith("@"):
            with open_stream(text[1:]) as file:
                text = decoded(file.read(LONGEST_LINE + 1))
        event = NumberedEvent(1, json_object(text))
    except RecordError as error:
        raise CommandError(f"--event: {error}") from None
    typed = Kinds(options.strings, options.timestamps).apply(event)
    if isinstance(typed, Problem):
        raise CommandError(f"--event: {typed.message}")
    return typed.attributes


def _found(options: argparse.Namespace) -> tuple[Engine, Id]:
    """An engine that holds the subscription: that one alone, unless it comes with the others."""
    path, wanted = options.subscriptions, options.id
    if is_saved_engine(path, options.subscriptions_format):
        engine = open_saved(path, options.nulls)
        for id in (wanted, *_as_number(wanted)):
            if id in engine:
                return engine, id
        raise CommandError(f"{path}: there is no subscription {wanted!r}")
    for record in read_subscriptions(path, options.subscriptions_format):
        if isinstance(record, Problem) or str(record.id) != wanted:
            continue
        engine = Engine(nulls=options.nulls or "false")
        try:
            engine.subscribe(record.id, record.text)
        except BoolFilterError as error:
            problem = subscription_problem(record.line, record.offset, record.id, error)
            raise CommandError(f"{problem.place(path)}: {problem.message}") from None
        return engine, record.id
    raise CommandError(f"{path}: there is no subscription {wanted!r}")


def _as_number(text: str) -> list[int]:
    try:
        return [int(text)]
    except ValueError:
        return []
