"""Subscriptions a second from texts, from expressions, and from a template with columns.

What is loaded is made before the clock starts. P texts differ in attributes and comparisons; the
columns are those of P with all subscriptions of one form.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import boolfilter as bf
from benchmarks.measure import seconds_of, use_cores
from benchmarks.report import Report
from boolfilter.workloads import LeSubscribe, Pairs, Skewed

LEAST_TEXTS_A_SECOND = 1_000_000 / 60
LEAST_ROWS_A_SECOND = 500_000


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=1_000_000, help="of texts, columns")
    command.add_argument("--expressions", type=int, default=50_000)
    command.add_argument("--skewed", type=int, default=10_000, help="texts of S: parsed, mostly")
    command.add_argument("--repeats", type=int, default=5, help="of the template")


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    seed, count = options.seed, options.subscriptions
    engine = bf.Engine()
    engine.subscribe_many(enumerate(Pairs().texts(0, 100, seed)))  # kernels are loaded by now
    rates = {}

    def timed(path: str, size: int, load: Callable[[bf.Engine], object], repeats: int = 1) -> None:
        found = []
        for _ in range(repeats):
            engine = bf.Engine()
            found.append(seconds_of(lambda: load(engine)))  # noqa: B023
            assert len(engine) == size
        seconds = statistics.median(found)
        rates[path] = size / seconds
        report.add(
            path=path,
            subscriptions=size,
            seconds=seconds,
            slowest=max(found),
            repeats=repeats,
            a_second=rates[path],
        )

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
    (template,) = Pairs(shapes=1).templates(0, count, seed)
    timed(
        "P template",
        count,
        lambda engine: engine.subscribe_template(template.text, template.rows, template.columns),
        repeats=options.repeats,
    )
    report.at_least("P texts a second", rates["P texts"], LEAST_TEXTS_A_SECOND)
    report.at_least("template rows a second", rates["P template"], LEAST_ROWS_A_SECOND)
