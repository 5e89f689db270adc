"""Subscriptions a second from texts, from expressions, and from a template with columns.

What is loaded is made before the clock starts. P texts differ in attributes and comparisons; the
columns are those of P with all subscriptions of one form.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import boolfilter as bf
from benchmarks.measure import in_child, seconds_of, use_cores
from benchmarks.report import Report
from boolfilter.workloads import LeSubscribe, Pairs, Skewed

LEAST_TEXTS_A_SECOND = 1_000_000 / 60
LEAST_ROWS_A_SECOND = 500_000
_CHILDREN = 5  # the first load of a process is the slowest: its memory is new


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=1_000_000, help="of texts, columns")
    command.add_argument("--expressions", type=int, default=50_000)
    command.add_argument("--skewed", type=int, default=10_000, help="texts of S: parsed, mostly")


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    seed, count = options.seed, options.subscriptions
    engine = bf.Engine()
    engine.subscribe_many(enumerate(Pairs().texts(0, 100, seed)))  # kernels are loaded by now
    rates = {}

    def add(path: str, size: int, found: list[float]) -> None:
        seconds = statistics.median(found)
        rates[path] = size / seconds
        report.add(
            path=path,
            subscriptions=size,
            loads=len(found),
            seconds=seconds,
            slowest=max(found),
            a_second=rates[path],
        )

    def timed(path: str, size: int, load: Callable[[bf.Engine], object]) -> None:
        engine = bf.Engine()
        seconds = seconds_of(lambda: load(engine))
        assert len(engine) == size
        add(path, size, [seconds])

    for name, workload, size in (
        ("P texts", Pairs(), count),
        ("L texts", LeSubscribe(), count),
        ("S texts", Skewed(), options.skewed),
    ):
        pairs = list(enumerate(workload.texts(0, size, seed)))
        timed(name, size, lambda engine: engine.subscribe_many(pairs))  # noqa: B023
    expressions = [
        (number, bf.parse(text))
        for number, text in enumerate(Pairs().texts(0, options.expressions, seed))
    ]
    timed("P expressions", len(expressions), lambda engine: engine.subscribe_many(expressions))
    runs = [in_child("load", "template_seconds", count=count, seed=seed) for _ in range(_CHILDREN)]
    for path, found in (
        ("P template, first load of a process", [first for first, _ in runs]),
        ("P template, second load", [second for _, second in runs]),
    ):
        add(path, count, found)
    report.at_least("P texts a second", rates["P texts"], LEAST_TEXTS_A_SECOND)
    for path in rates:
        if "template" in path:
            report.at_least(f"{path}, rows a second", rates[path], LEAST_ROWS_A_SECOND)


def template_seconds(count: int, seed: int) -> list[float]:
    """Two loads of a template into new engines, in this process, whose kernels are loaded."""
    (template,) = Pairs(shapes=1).templates(0, count, seed)
    bf.Engine().subscribe_template(
        template.text, template.rows[:100], [column[:100] for column in template.columns]
    )
    seconds = []
    for _ in range(2):
        engine = bf.Engine()
        seconds.append(
            seconds_of(
                lambda: engine.subscribe_template(  # noqa: B023
                    template.text, template.rows, template.columns
                )
            )
        )
    return seconds
