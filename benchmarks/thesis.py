"""Event and insertion time with the generator of the thesis (paper 001, chapter 8), and its claims.

The counting algorithm as the thesis has it, which compares the subscriptions that were hit (here
the compiled "counting-variant"), with the one that compares all, and the engine. Conjunctions are
their own normal forms, so nothing is expanded. Insertion is of single subscriptions, the matchers
being ready to match after each: the compiled baselines would compile everything anew, so the
engine's is measured beside the thesis' own structures, kept by "fair-predicate" (paper 000) if
that matcher is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import boolfilter as bf
from benchmarks.engines import engine_of_forest
from benchmarks.forests import forest_of_workload
from benchmarks.measure import micros_per_event, seconds_of, use_cores
from benchmarks.plots import Panel
from benchmarks.report import Report
from boolfilter.arrow import batches, columns_of, encode_batch
from boolfilter.baselines.counting import Counting, CountingVariant
from boolfilter.expressions import predicates
from boolfilter.matchers import MATCHERS
from boolfilter.workloads import Thesis

_INCREMENTAL = "fair-predicate"
_FEW_NEW = 2  # of the six predicates of a subscription


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--sizes", type=int, nargs="+", default=[1_000, 2_000, 5_000, 10_000, 20_000, 50_000]
    )
    command.add_argument("--events", type=int, default=4_096)
    command.add_argument("--inserted", type=int, default=500, help="subscriptions timed, a size")
    command.add_argument("--most-inserted", type=int, default=20_000, help="largest size for that")
    command.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    workload = Thesis()
    rows = [_match_times(workload, size, options) for size in options.sizes]
    for row in rows:
        report.add(**row)
    inserted = [
        row
        for matcher in ("engine", _INCREMENTAL)
        if matcher in MATCHERS
        for row in _insertion_times(workload, matcher, options)
    ]
    for row in inserted:
        report.add(**row)
    report.note("matching in microseconds an event, 'insertion' in microseconds a subscription")
    if _INCREMENTAL not in MATCHERS:
        report.note(f"no matcher {_INCREMENTAL!r} here: its insertion was not measured")
    _claim(rows, inserted, report)
    report.grid("thesis", "The thesis' workload", _panels(rows, inserted), columns=2)


def _match_times(workload: Thesis, size: int, options: argparse.Namespace) -> dict[str, Any]:
    forest = forest_of_workload(workload, size, options.seed)
    engine = engine_of_forest(forest)
    counting, variant = Counting.from_forest(forest), CountingVariant.from_forest(forest)
    table = workload.event_table(0, options.events, options.seed)

    def matching(tables: Counting) -> Callable[[int], int]:
        def run(count: int) -> int:
            found = 0
            for batch in batches(table.slice(0, count)):
                found += len(tables.match(encode_batch(tables.encoder, columns_of(batch)))[0])
            return found

        return run

    sides = {
        "counting": (matching(counting), len(table)),
        "counting-variant": (matching(variant), len(table)),
        "engine": (lambda count: engine.match_arrow(table.slice(0, count)), len(table)),
    }
    micros = micros_per_event(sides, options.repeats)
    matches = engine.match_arrow(table).num_rows
    assert matches == matching(counting)(len(table)) == matching(variant)(len(table))
    fulfilled, candidates = variant.work_per_event()
    return {
        "subscriptions": size,
        **micros,
        "matches": matches / len(table),
        "fulfilled predicates": fulfilled,
        "hit subscriptions": candidates,
        "predicates": len(counting.index),
        "predicates asked": len(forest.words) - len(forest),
    }


def _insertion_times(
    workload: Thesis, name: str, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Time to insert a subscription as they grow, and how many of its predicates were new."""
    sizes = [size for size in options.sizes if size <= options.most_inserted]
    matcher = bf.matcher(name)
    known: set[bf.Expression] = set()
    rows, have = [], 0
    for size in sizes:
        texts = workload.texts(have, size + options.inserted, options.seed)
        for number, text in enumerate(texts[: size - have], have):
            matcher.subscribe(number, text)
            known.update(predicates(bf.parse(text)))
        timed = [bf.parse(text) for text in texts[size - have :]]
        times, new = [], []
        for number, expression in enumerate(timed, size):
            asked = set(predicates(expression))
            new.append(len(asked - known))
            times.append(
                1e6 * seconds_of(lambda: matcher.subscribe(number, expression))  # noqa: B023
            )
            known |= asked
        have = size + options.inserted
        few = [time for time, count in zip(times, new, strict=True) if count <= _FEW_NEW]
        many = [time for time, count in zip(times, new, strict=True) if count > _FEW_NEW]
        rows.append({
            "insertion into": name,
            "subscriptions": size,
            "insertion": float(np.median(times)),
            "insertion, mean": float(np.mean(times)),
            "insertion, more new": float(np.median(many)) if many else None,
            "insertion, few new": float(np.median(few)) if few else None,
            "new predicates": float(np.mean(new)),
        })  # fmt: skip
    return rows


def _claim(rows: list[dict[str, Any]], inserted: list[dict[str, Any]], report: Report) -> None:
    for name in ("counting-variant", "counting"):
        steps = [
            (later[name] / earlier[name]) / (later["subscriptions"] / earlier["subscriptions"])
            for earlier, later in pairwise(rows[-4:])
        ]
        report.claim(
            f"001: event time of {name} is close to linear in the subscriptions (a quarter either "
            "way a step)",
            all(0.75 <= step <= 1.25 for step in steps),
            "growth of time over growth of subscriptions: "
            + ", ".join(f"{step:.2f}" for step in steps),
        )
    shares = [row["predicates"] / row["predicates asked"] for row in rows]
    report.claim(
        "001: the more subscriptions, the more their predicates repeat",
        all(later < earlier for earlier, later in pairwise(shares)),
        "distinct of all: " + ", ".join(f"{share:.1%}" for share in shares),
    )
    for name in dict.fromkeys(row["insertion into"] for row in inserted):
        chosen = [row for row in inserted if row["insertion into"] == name]
        first, last = chosen[0], chosen[-1]
        grown = last["insertion"] / first["insertion"]
        more = last["subscriptions"] / first["subscriptions"]
        report.claim(
            f"001: insertion into {name} is not proportional to the subscriptions already there",
            grown < more / 2,
            f"{grown:.2f} times the time at {more:.0f} times the subscriptions",
        )
        pairs = [
            (row["insertion, few new"], row["insertion, more new"])
            for row in chosen
            if row["insertion, few new"] and row["insertion, more new"]
        ]
        report.claim(
            f"001: insertion into {name} is faster where most predicates are known",
            bool(pairs) and all(few < many for few, many in pairs),
            f"microseconds, at most {_FEW_NEW} new predicates against more: "
            + ", ".join(f"{few:.1f} : {many:.1f}" for few, many in pairs),
        )
    ratios = [row["counting-variant"] / row["engine"] for row in rows]
    report.claim(
        "the engine is faster than the thesis' algorithm at every size",
        min(ratios) > 1,
        "times faster: " + ", ".join(f"{ratio:.1f}" for ratio in ratios),
    )


def _panels(rows: list[dict[str, Any]], inserted: list[dict[str, Any]]) -> list[Panel]:
    sizes = [row["subscriptions"] for row in rows]
    names = ("counting", "counting-variant", "engine")
    events = {name: (sizes, [row[name] for row in rows]) for name in names}
    insertion = {}
    for name in dict.fromkeys(row["insertion into"] for row in inserted):
        chosen = [row for row in inserted if row["insertion into"] == name]
        xs = [row["subscriptions"] for row in chosen]
        insertion[name] = xs, [row["insertion"] for row in chosen]
    return [
        Panel("Figure 8.1: event processing", "subscriptions", "microseconds", events),
        Panel("Figure 8.2: subscription processing", "subscriptions", "microseconds", insertion),
    ]
