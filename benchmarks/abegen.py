"""Arbitrary Boolean expressions after the generator of A-Tree (SIGMOD 2021), SQL nulls.

The engine against the algorithm of paper 002 (noncanonical), counting over disjunctive normal forms
where these can be made, and scans of all expressions. All match the same events on one core, from
positions among the constants to arrays of (event, expression) pairs, and find the same;
`match_many` is the engine's own call, from dicts to lists of ids. Counting is measured on the first
expressions only, up to --most-counting, and against the engine with as many.

Two scans: `compiled_scan` evaluates every expression on its bytes as noncanonical does with its
candidates, on all of them; `naive` is the evaluator in Python, timed on --naive-sample expressions
and scaled to all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

import boolfilter as bf
from benchmarks.abegen_forests import forest_of_abegen
from benchmarks.engines import candidates, engine_of_forest, only_segment
from benchmarks.measure import Run, micros_per_event, use_cores
from benchmarks.report import Report
from boolfilter.baselines.counting import CountingVariant
from boolfilter.baselines.naive import Naive
from boolfilter.baselines.noncanonical import NonCanonical
from boolfilter.baselines.phases import TwoPhase
from boolfilter.dnf import MOST_CONJUNCTIONS, dnf_size
from boolfilter.forest import Forest, take_trees
from boolfilter.kernels.jit import ENTRY_WORDS, GUARD_DENIES, LIST_FLAG
from boolfilter.kernels.noncanonical import evaluate_trees
from boolfilter.segment import Segment
from boolfilter.workloads import AbeGen

MILLION = 1_000_000  # the targets are for so many expressions
TARGETS = {"noncanonical": 27, "counting": 9, "naive": 330, "compiled_scan": 330}
RANGES: dict[str, tuple[float, ...]] = {
    "depth": (1, 2, 3, 4, 5, 6),
    "children": (2, 4, 6, 8, 10, 12),
    "dimensions": (30, 100, 300, 1_000, 3_000, 10_000),
    "cardinality": (3, 10, 30, 100, 300, 1_000),
    "event_size": (5, 10, 15, 20, 25, 30),
    "alpha": (0.0, 0.25, 0.5, 0.75, 1.0),
}
"""What A-Tree varies, and from where to where."""
_AT_ONCE = 32  # events of a call; each may have thousands of matches
_CHECKED = 20  # events on which the answers are compared
_SAMPLED = 1_000  # expressions whose normal forms are counted
_LEAVES_VARIED = 2_000_000  # of a swept engine, so that deep and wide expressions fit as well
Result = TypeVar("Result")


def add_options(command: argparse.ArgumentParser) -> None:
    default = AbeGen()
    command.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, MILLION])
    for name in RANGES:
        kind = type(getattr(default, name))
        option = f"--{name.replace('_', '-')}"
        command.add_argument(option, type=kind, default=getattr(default, name))
    command.add_argument(
        "--vary", nargs="+", choices=["all", *RANGES], default=[],
        help="sweep these parameters, at --vary-size expressions, instead of the sizes",
    )  # fmt: skip
    command.add_argument("--vary-size", type=int, default=30_000)
    command.add_argument("--most-counting", type=int, default=20_000, help="DNF is built in Python")
    command.add_argument("--naive-sample", type=int, default=2_000)
    command.add_argument("--events", type=int, default=512)
    command.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    workload = AbeGen(**{name: getattr(options, name) for name in RANGES})
    if options.vary:
        report.experiment = "abegen-vary"  # beside the results of the sizes, not over them
        _sweep(workload, options, report)
    else:
        _sizes(workload, options, report)
    report.note("times in microseconds an event, builds in seconds, bytes an expression")
    report.note(
        f"naive: the time of {options.naive_sample:,} expressions, scaled to all; counting with at "
        f"most {options.most_counting:,}, those over {MOST_CONJUNCTIONS:,} conjunctions left out"
    )


def _sizes(workload: AbeGen, options: argparse.Namespace, report: Report) -> None:
    series: dict[str, tuple[list[float], list[float]]] = {}
    for size in options.sizes:
        row = compare(workload, size, options)
        report.add(expressions=size, **row)
        for side in ("engine", "noncanonical", "compiled_scan", "naive"):
            xs, ys = series.setdefault(side, ([], []))
            xs.append(size)
            ys.append(row[side])
        if size >= MILLION:
            for side in ("noncanonical", "naive", "compiled_scan"):
                ratio = row[side] / row["engine"]
                report.at_least(f"{size:,}: {side} : engine", ratio, TARGETS[side])
    counted = min(options.most_counting, max(options.sizes))
    row = compare_counting(workload, counted, options)
    report.add(expressions=counted, **row)
    report.at_least(
        f"{counted:,}: counting : engine", row["counting"] / row["engine"], TARGETS["counting"]
    )
    over = share_over_the_limit(workload, options.seed)
    report.note(f"{100 * over:.2f}% of expressions have over {MOST_CONJUNCTIONS:,} conjunctions")
    report.plot(
        name="abegen", title="Time per event, A-Tree's generator", x="expressions",
        y="microseconds", series=series,
    )  # fmt: skip


def _sweep(workload: AbeGen, options: argparse.Namespace, report: Report) -> None:
    names = list(RANGES) if "all" in options.vary else options.vary
    for name in names:
        for value in RANGES[name]:
            varied = replace(workload, **{name: value})
            if varied.event_size > varied.dimensions:
                continue
            size = _affordable(varied, options.vary_size, options.seed)
            row = compare(varied, size, options)
            over = share_over_the_limit(varied, options.seed)
            report.add(
                varied=name, value=value, expressions=size, **row, share_over_the_dnf_limit=over
            )


def _affordable(workload: AbeGen, size: int, seed: int) -> int:
    """As many expressions as have a bounded number of predicates."""
    leaves = (forest_of_abegen(workload, 200, seed).words >= 0).sum() / 200
    return max(1, min(size, int(_LEAVES_VARIED / leaves)))


def compare(workload: AbeGen, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Engine, noncanonical and scans on the first `size` expressions."""
    forest, generated = _timed(partial(forest_of_abegen, workload, size, options.seed))
    engine, built = _timed(partial(engine_of_forest, forest))
    other, other_built = _timed(partial(NonCanonical.from_forest, forest))
    leaves = float((forest.words >= 0).sum()) / size
    del forest
    events = workload.events(0, options.events, options.seed)
    segment = only_segment(engine)
    sample = min(size, options.naive_sample)
    naive = Naive(nulls="sql")
    naive.subscribe_many(enumerate(workload.expressions(0, sample, options.seed)))
    micros = micros_per_event(
        {
            "engine": (_matching(segment, events), len(events)),
            "match_many": (lambda count: engine.match_many(events[:count]), len(events)),
            "noncanonical": (_matching(other, events), len(events)),
            "compiled_scan": (_scan(other, events), len(events)),
            "naive": (lambda count: naive.match_many(events[:count]), len(events)),
        },
        options.repeats,
    )
    micros["naive"] *= size / sample
    _check_equal(segment, other, naive, sample, events[:_CHECKED])
    fulfilled, led_to = other.work_per_event()
    items = segment.encoder.encode(events[:_CHECKED])
    return {
        **micros,
        **{f"{side}_ratio": micros[side] / micros["engine"] for side in micros if side != "engine"},
        "leaves": leaves,
        "candidates": candidates(segment, items) / _CHECKED,
        "always_evaluated": segment.always_evaluated,
        "noncanonical_candidates": led_to,
        "fulfilled_predicates": fulfilled,
        "matches": _matching(segment, events)(_CHECKED) / _CHECKED,
        "residuals_to_run": has_code(segment).mean(),
        "of_them_repeated": repeated_residuals(segment),
        "generated": generated,
        "engine_build": built,
        "noncanonical_build": other_built,
        "engine_bytes": sum(engine.stats().bytes.values()) / size,
        "noncanonical_bytes": sum(other.bytes_used().values()) / size,
    }


def has_code(segment: Segment) -> Any:
    """Of each entry, whether more than its guard is left to test."""
    return segment.entry[3::ENTRY_WORDS] < GUARD_DENIES


def repeated_residuals(segment: Segment) -> float:
    """The share of residuals that are the same as an earlier one: what evaluating each distinct
    one once an event could spare at the very most, if all of them were run."""
    targets = np.unique(segment.entry[3::ENTRY_WORDS][has_code(segment)])
    if not len(targets):
        return 0.0
    ends = np.append(targets[1:] >> 1, len(segment.code))
    distinct = {_residual(segment, code, end) for code, end in zip(targets, ends, strict=True)}
    return 1 - len(distinct) / len(targets)


def _residual(segment: Segment, target: int, end: int) -> bytes:
    """The code, with the lists themselves in the place of where they stand if it is narrow."""
    code = segment.code[target >> 1 : end]
    listed = np.flatnonzero(code[1::2] & LIST_FLAG)
    if target & 1 or not len(listed):
        return code.tobytes()
    lists, code = segment.lists, code.copy()
    places = code[2 * listed].tolist()
    code[2 * listed] = 0
    return b"".join([code.tobytes(), *(lists[a : a + lists[a] + 1].tobytes() for a in places)])


def compare_counting(workload: AbeGen, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Engine and DNF + counting on those of the first `size` expressions that have a DNF."""
    forest = _with_normal_forms(workload, size, options.seed)
    engine, built = _timed(partial(engine_of_forest, forest))
    other, other_built = _timed(partial(CountingVariant.from_forest, forest))
    events = workload.events(0, options.events, options.seed)
    sides: dict[str, tuple[Run, int]] = {
        "engine": (_matching(only_segment(engine), events), len(events)),
        "counting": (_matching(other, events), len(events)),
    }
    micros = micros_per_event(sides, options.repeats)
    found = [run(_CHECKED) for run, _ in sides.values()]
    assert found[0] == found[1], "the two do not find the same"
    return {
        **micros,
        "counting_ratio": micros["counting"] / micros["engine"],
        "engine_build": built,
        "counting_build": other_built,
        "engine_bytes": sum(engine.stats().bytes.values()) / len(forest),
        "counting_bytes": sum(other.bytes_used().values()) / len(forest),
        "conjunctions_each": other.conjunctions / len(forest),
    }


def share_over_the_limit(workload: AbeGen, seed: int) -> float:
    """The share of expressions whose normal form has too many conjunctions to be built."""
    sizes = _dnf_sizes(workload, _SAMPLED, seed)
    return float((sizes > MOST_CONJUNCTIONS).mean())


def _dnf_sizes(workload: AbeGen, count: int, seed: int) -> Any:
    expressions = workload.expressions(0, count, seed)
    sizes = [dnf_size(bf.normalise(expression, nulls="sql")) for expression in expressions]
    return np.array(sizes, dtype=object)


def _with_normal_forms(workload: AbeGen, size: int, seed: int) -> Forest:
    forest = forest_of_abegen(workload, size, seed)
    kept = np.flatnonzero(_dnf_sizes(workload, size, seed) <= MOST_CONJUNCTIONS)
    forest.words, forest.starts = take_trees(forest.words, forest.starts, kept)
    return forest


def _matching(tables: TwoPhase | Segment, events: list[Any]) -> Run:
    batches = [
        tables.encoder.encode(events[first : first + _AT_ONCE])
        for first in range(0, len(events), _AT_ONCE)
    ]

    def match(count: int) -> int:
        whole, rest = divmod(count, _AT_ONCE)
        chosen = batches[:whole]
        if rest:
            chosen = [*chosen, tables.encoder.encode(events[whole * _AT_ONCE : count])]
        return sum(len(tables.match(items)[0]) for items in chosen)

    return match


def _scan(tables: NonCanonical, events: list[Any]) -> Run:
    """Step one as published, then the trees of all subscriptions in place of the candidates'."""
    truth, matched = np.zeros(len(tables.index) + 64, np.bool_), np.empty(len(tables), np.bool_)
    truth = truth[: len(truth) // 64 * 64]

    def scan(count: int) -> int:
        found = 0
        for _, fulfilled in tables.fulfilled(tables.encoder.encode(events[:count])):
            for first, last in pairwise(fulfilled.start.tolist()):
                true = fulfilled.predicates[first:last]
                truth[true] = True
                words = np.packbits(truth, bitorder="little").view(np.uint64)
                evaluate_trees(tables.data, tables.location, words, tables.levels, matched)
                found += int(np.count_nonzero(matched))
                truth[true] = False
        return found

    return scan


def _check_equal(
    segment: Segment, other: NonCanonical, naive: Naive, sample: int, events: list[Any]
) -> None:
    event, ordinal = segment.match(segment.encoder.encode(events))
    others = other.match(other.encoder.encode(events))
    assert np.array_equal(event, others[0]), "noncanonical finds others"
    assert np.array_equal(ordinal, others[1]), "noncanonical finds others"
    assert len(event) == _scan(other, events)(len(events)), "the scan finds others"
    kept = ordinal < sample
    pairs = list(zip(event[kept].tolist(), ordinal[kept].tolist(), strict=True))
    expected = [(row, id) for row, ids in enumerate(naive.match_many(events)) for id in ids]
    assert pairs == expected, "the evaluator finds others"


def _timed(make: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    made = make()
    return made, time.perf_counter() - start
