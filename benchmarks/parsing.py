"""How fast texts become expressions: bound into cached shapes, against plain Lark."""

from __future__ import annotations

import argparse
import gc
import random
import time

import boolfilter as bf
from benchmarks.report import Report
from boolfilter.language import parse_plain


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--texts", type=int, default=1_000_000)
    command.add_argument("--shapes", type=int, default=50)
    command.add_argument("--plain", type=int, default=10_000, help="texts given to plain Lark")


def run(options: argparse.Namespace, report: Report) -> None:
    chance = random.Random(options.seed)
    shapes = [_shape(chance) for _ in range(options.shapes)]
    plain_micros = _micros(parse_plain, _texts(chance, shapes, options.plain))
    batches = [100_000] * (options.texts // 100_000) + [options.texts % 100_000]
    seconds = 0.0
    for size in batches:  # the texts themselves are not timed, nor kept
        texts = _texts(chance, shapes, size)
        seconds += _micros(bf.parse, texts) * size / 1e6
    micros = seconds / options.texts * 1e6
    report.add(path="plain Lark", texts=options.plain, micros_per_text=plain_micros, ratio=1.0)
    report.add(
        path="bound shapes",
        texts=options.texts,
        micros_per_text=micros,
        ratio=plain_micros / micros,
    )


def _micros(parse: object, texts: list[str]) -> float:
    gc.collect()
    start = time.perf_counter()
    for text in texts:
        parse(text)  # type: ignore[operator]
    return (time.perf_counter() - start) / max(1, len(texts)) * 1e6


def _shape(chance: random.Random) -> str:
    """Eight predicates, an AND of four OR pairs, with {} for each literal."""

    def predicate() -> str:
        operator = chance.choice(["=", "=", "<", ">", "<>", ">="])
        return f"a{chance.randrange(40)} {operator} {{}}"

    return " AND ".join(f"({predicate()} OR {predicate()})" for _ in range(4))


def _texts(chance: random.Random, shapes: list[str], count: int) -> list[str]:
    def literal() -> str:
        number = chance.randrange(1_000_000)
        return f"'value {number}'" if number % 4 == 0 else str(number)

    return [chance.choice(shapes).format(*(literal() for _ in range(8))) for _ in range(count)]
