"""``boolfilter check``: every error of a subscription file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from boolfilter.cli.files import display_name
from boolfilter.cli.problems import EXIT_BAD_DATA, EXIT_OK, Problem, say, subscription_problem
from boolfilter.cli.progress import progress
from boolfilter.cli.subscriptions import Record, is_saved_engine, open_saved, read_subscriptions
from boolfilter.errors import BoolFilterError, SubscriptionIdError
from boolfilter.evaluate import Nulls
from boolfilter.ids import check_id
from boolfilter.language import parse
from boolfilter.limits import DEFAULT_LIMITS
from boolfilter.normalise import normalise


def run_check(options: argparse.Namespace) -> int:
    """Report the errors on stdout and how many there are on stderr."""
    name = display_name(options.file)
    good = 0
    problems = []
    with progress("checking") as line:
        for problem in _outcomes(options):
            if problem is None:
                good += 1
            else:
                problems.append(problem)
                if not options.json:
                    line.erase()
                    print(_described(problem, name))
            line(good + len(problems))
    total = good + len(problems)
    if options.json:
        errors = [_as_dict(problem) for problem in problems]
        print(json.dumps({"file": name, "subscriptions": total, "errors": errors}, indent=2))
    say(f"{name}: {_counted(total, 'subscription')}, {_counted(len(problems), 'error')}")
    return EXIT_BAD_DATA if problems else EXIT_OK


def _outcomes(options: argparse.Namespace) -> Iterator[Problem | None]:
    """For each subscription its problem, or None if it has none."""
    if is_saved_engine(options.file, options.format):
        # Opening one verifies all of it, and only good subscriptions get into one.
        yield from [None] * len(open_saved(options.file, options.nulls))
        return
    seen: dict[Any, int] = {}
    for record in read_subscriptions(options.file, options.format):
        if isinstance(record, Problem):
            yield record
        else:
            yield _problem_of(record, seen, options.nulls or "false")


def _problem_of(record: Record, seen: dict[Any, int], nulls: Nulls) -> Problem | None:
    try:
        id = check_id(record.id)
        if id in seen:
            raise SubscriptionIdError(id, f"the id {id!r} is in use since line {seen[id]}")
        seen[id] = record.line
        normalise(parse(record.text), nulls=nulls, limits=DEFAULT_LIMITS)
    except BoolFilterError as error:
        return subscription_problem(record.line, record.offset, record.id, error)
    return None


def _described(problem: Problem, name: str) -> str:
    lines = [f"{problem.place(name)}: {problem.message}"]
    if problem.excerpt:
        lines.append(problem.excerpt)
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join(lines)


def _as_dict(problem: Problem) -> dict[str, Any]:
    return problem._asdict()


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
