"""Figures 9a, 10 and 11 of the Le Subscribe paper (000, section 4), and its cost of insertion.

Naive, fair predicate, equality-preferred and quarantining are compiled by one kernel, each over the
tables of its own; they match the same Arrow tables of events on one core, encoding included, which
has a column of its own. Two stand beside them, compiled by the same machinery, with matches in
order where theirs are not: the counting matcher, which is fair predicate after step one of paper
002 with counts compared eight at once, and the engine's segment, another structure altogether.

Insertion is measured on the matchers in plain Python, which take subscriptions one at a time: into
tables that already have that many, without parsing and with it.
"""

from __future__ import annotations

import argparse
import gc
import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import boolfilter as bf
from benchmarks.engines import engine_of_workload
from benchmarks.forests import forest_of_workload
from benchmarks.measure import in_child, micros_per_event, resident_bytes, seconds_of, use_cores
from benchmarks.plots import Panel
from benchmarks.report import Report
from boolfilter.arrow import batches, columns_of, encode_batch
from boolfilter.baselines.conjunction_tables import ALGORITHMS, literals_of
from boolfilter.baselines.counting import Counting
from boolfilter.baselines.subscribed import Tables
from boolfilter.compiling import compile_segment
from boolfilter.dnf import Conjunction
from boolfilter.expressions import Operator, Predicate
from boolfilter.workloads import LeSubscribe

HALF = 0.5
ONLY_EQUALITIES = 1.0
PAPERS = ("fair-predicate", "equality-preferred", "quarantining")
SIDES = (*PAPERS, "naive", "counting", "engine")
_SIZE_OF_NAIVE_CLAIM = 400_000
_LEAST_NAIVE_RATIO = 5_000  # of "almost ten thousand times"
_MOST_APART = 1.1  # times that are called equal
_MOST_APART_OF_INSERTIONS = 1.5  # times that are called similar
_PAPERS_MICROS_OF_AN_INSERTION = 32_200
_CHECKED_EVENTS = 50
_SECONDS = 0.25
_INSERTED = 2_000

Row = dict[str, Any]


def add_options(command: argparse.ArgumentParser) -> None:
    sizes = [50_000, 100_000, 200_000, 400_000, 800_000]
    command.add_argument("--sizes", type=int, nargs="+", default=sizes, help="of figure 9a")
    command.add_argument("--size", type=int, default=800_000, help="of figure 10")
    command.add_argument(
        "--equalities", type=float, nargs="+", default=[0.0, 0.25, 0.5, 0.75, 1.0],
        help="the probabilities p of figure 10",
    )  # fmt: skip
    equality_only = [1_000, 10_000, 100_000, 400_000, 800_000]
    command.add_argument(
        "--equality-sizes", type=int, nargs="+", default=equality_only, help="of figure 11"
    )
    command.add_argument(
        "--inserted-into", type=int, default=3_200_000, help="0 leaves insertion out"
    )
    command.add_argument("--events", type=int, default=16_384)
    command.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    figure_9a = [(HALF, size) for size in options.sizes]
    figure_10 = [(equality, options.size) for equality in options.equalities]
    figure_11 = [(ONLY_EQUALITIES, size) for size in options.equality_sizes]
    rows = {}
    for equality, size in dict.fromkeys((*figure_9a, *figure_10, *figure_11)):
        rows[equality, size] = _measure(equality, size, options)
        report.add(equality=equality, subscriptions=size, **rows[equality, size])
    _claim_figure_9a(report, {size: rows[HALF, size] for size in options.sizes})
    _claim_figure_10(report, {p: rows[p, options.size] for p in sorted(options.equalities)})
    _claim_figure_11(report, {n: rows[ONLY_EQUALITIES, n] for n in options.equality_sizes})
    if options.inserted_into:
        _compare_insertions(report, options)
    report.note("microseconds an event; naive to quarantining and the engine are compiled")
    report.grid("lesubscribe-figures", "Le Subscribe, section 4", _panels(rows, options))


def _measure(equality: float, size: int, options: argparse.Namespace) -> Row:
    """The time of each side at one size, after all were found to agree."""
    workload = LeSubscribe(equality=equality)
    table = workload.event_table(0, options.events, options.seed)
    forest = forest_of_workload(workload, size, options.seed)
    literals = literals_of(forest)
    compiled: dict[str, Any] = {name: ALGORITHMS[name](literals) for name in (*PAPERS, "naive")}
    compiled["counting"] = Counting.from_forest(forest)
    compiled["engine"] = compile_segment(forest)
    del forest

    def matching(tables: Tables) -> Callable[[int], int]:
        def match(count: int) -> int:
            found = 0
            for batch in batches(table.slice(0, count)):
                items = encode_batch(tables.encoder, columns_of(batch))
                found += len(tables.match(items)[0])
            return found

        return match

    def encode(count: int) -> None:
        for batch in batches(table.slice(0, count)):
            encode_batch(literals.encoder, columns_of(batch))

    sides = {name: (matching(tables), len(table)) for name, tables in compiled.items()}
    matches = {name: side(_CHECKED_EVENTS) for name, (side, _) in sides.items()}
    assert len(set(matches.values())) == 1, f"they do not find the same: {matches}"
    micros = micros_per_event(
        {**sides, "encoding": (encode, len(table))}, options.repeats, _SECONDS
    )
    return {
        **micros,
        "matches": matches["naive"] / _CHECKED_EVENTS,
        **{f"bytes: {n}": each.bytes_used() / size for n, each in compiled.items() if n in PAPERS},
    }


def _claim_figure_9a(report: Report, rows: dict[int, Row]) -> None:
    names = ("quarantining", "equality-preferred", "fair-predicate")
    ordered = [[row[name] for name in names] for row in rows.values()]
    figures = _figures({f"{size:,}": row for size, row in rows.items()}, names)
    report.claim(
        "9a: at p = 0.5 quarantining is the fastest of the three",
        all(times[0] == min(times) for times in ordered), figures,
    )  # fmt: skip
    report.claim(
        "9a: at p = 0.5 equality-preferred is faster than fair predicate",
        all(times[1] < times[2] for times in ordered), figures,
    )  # fmt: skip
    size = min(rows, key=lambda each: abs(each - _SIZE_OF_NAIVE_CLAIM))
    ratio = rows[size]["naive"] / rows[size]["quarantining"]
    report.claim(
        "9a: at 400,000 naive takes almost 10,000 times as long as quarantining",
        ratio >= _LEAST_NAIVE_RATIO,
        f"{ratio:,.0f} times at {size:,}, both compiled: {rows[size]['naive']:,.0f} against "
        f"{rows[size]['quarantining']:,.1f} us",
    )


def _claim_figure_10(report: Report, rows: dict[float, Row]) -> None:
    figures = _figures({f"p = {p:g}": row for p, row in rows.items()}, PAPERS)
    if ONLY_EQUALITIES in rows:
        row = rows[ONLY_EQUALITIES]
        times = [row["equality-preferred"], row["quarantining"]]
        report.claim(
            "10: at p = 1 equality-preferred and quarantining take the same time",
            max(times) <= _MOST_APART * min(times), f"{times[0]:,.2f} and {times[1]:,.2f} us",
        )  # fmt: skip
    falling = [
        name for name in PAPERS if all(a[name] > b[name] for a, b in pairwise(rows.values()))
    ]
    report.claim(
        "10: the fewer predicates are no equalities, the faster is each of the three",
        falling == list(PAPERS), figures,
    )  # fmt: skip


def _claim_figure_11(report: Report, rows: dict[int, Row]) -> None:
    small, large = min(rows), max(rows)
    for name in ("equality-preferred", "quarantining"):
        growth = rows[large][name] / rows[small][name]
        bare = {size: row[name] - row["encoding"] for size, row in rows.items()}
        logarithm = math.log(large) / math.log(small)
        report.claim(
            f"11: with equalities only, the time of {name} grows no faster than log n",
            growth <= logarithm,
            f"{growth:.2f} times from {small:,} to {large:,} subscriptions, the logarithm "
            f"{logarithm:.2f}, matches from {rows[small]['matches']:.1f} to "
            f"{rows[large]['matches']:.1f}, without encoding from {bare[small]:.2f} to "
            f"{bare[large]:.2f} us; "
            + _figures({f"{size:,}": row for size, row in rows.items()}, (name,)),
        )


def _figures(rows: dict[str, Row], names: tuple[str, ...]) -> str:
    times = (
        f"{at}: {' / '.join(f'{row[name]:,.1f}' for name in names)}" for at, row in rows.items()
    )
    return f"{' / '.join(names)} in us; {'; '.join(times)}"


def _compare_insertions(report: Report, options: argparse.Namespace) -> None:
    size = options.inserted_into
    found = {
        name: in_child("lesubscribe_figures", "insertions", name=name, size=size, seed=options.seed)
        for name in (*PAPERS, "engine")
    }
    for name, row in found.items():
        report.add(equality=HALF, subscriptions=size, inserting_into=name, **row)
    micros = {name: found[name]["insert_micros"] for name in PAPERS}
    figures = ", ".join(f"{name} {each:,.1f} us" for name, each in micros.items())
    into = f"insertion into {size:,} subscriptions, p = 0.5"
    with_text = found["quarantining"]["subscribe_micros"]
    report.claim(
        f"{into}: quarantining takes 32.2 ms or less",
        with_text <= _PAPERS_MICROS_OF_AN_INSERTION, f"{with_text:,.0f} us from a text; {figures}",
    )  # fmt: skip
    clustered = micros["equality-preferred"], micros["quarantining"]
    report.claim(
        f"{into}: equality-preferred and quarantining take a similar time",
        max(clustered) <= _MOST_APART_OF_INSERTIONS * min(clustered), figures,
    )  # fmt: skip
    report.claim(
        f"{into}: fair predicate is faster than both",
        micros["fair-predicate"] < min(clustered), figures,
    )  # fmt: skip
    report.note(
        "insert_micros: one conjunction more in the algorithm's own structures, in plain Python "
        "with the garbage collector off; subscribe_micros: the same from a text"
    )


def insertions(name: str, size: int, seed: int) -> Row:
    """The mean time of adding one subscription to so many; for a process of its own."""
    gc.disable()  # a collection of tens of millions of objects would be most of the time
    workload = LeSubscribe()
    new = workload.texts(size, size + _INSERTED, seed)
    before = resident_bytes()
    if name == "engine":
        engine = engine_of_workload(workload, size, seed)
        added = {"prefilled_bytes_each": (resident_bytes() - before) / size}
        subscribe = engine.subscribe
    else:
        matcher: Any = bf.matcher(name)
        for number, conjunction in _conjunctions(workload, 0, size, seed):
            matcher._insert_conjunction(number, conjunction)
        matcher._next_conjunction = size
        bytes_each = (resident_bytes() - before) / size
        more = list(_conjunctions(workload, size, size + _INSERTED, seed))
        taken = seconds_of(
            lambda: [matcher._insert_conjunction(number, each) for number, each in more]
        )
        for number, conjunction in more:
            matcher._remove_conjunction(number, conjunction)
        added = {
            "prefilled_bytes_each": bytes_each,
            "insert_micros": taken / _INSERTED * 1e6,
        }
        subscribe = matcher.subscribe
    ids = range(size, size + _INSERTED)
    taken = seconds_of(lambda: [subscribe(*pair) for pair in zip(ids, new, strict=True)])
    return {**added, "subscribe_micros": taken / _INSERTED * 1e6}


def _conjunctions(
    workload: LeSubscribe, start: int, stop: int, seed: int
) -> Iterator[tuple[int, Conjunction]]:
    """Rows as sets of literals, equal literals being one object."""
    literals: dict[tuple[str, str, Any], Predicate] = {}

    def literal(attribute: str, operator: str, value: Any) -> Predicate:
        known = literals.get((attribute, operator, value))
        if known is None:
            known = Predicate(attribute, Operator(operator), value)
            literals[attribute, operator, value] = known
        return known

    for template in workload.templates(start, stop, seed):
        parts = [text.split()[:2] for text in template.text.split(" AND ")]
        columns = [
            [literal(attribute, operator, value) for value in column.tolist()]
            for (attribute, operator), column in zip(parts, template.columns, strict=True)
        ]
        for number, conjunction in zip(
            template.rows.tolist(), zip(*columns, strict=True), strict=True
        ):
            yield number, frozenset(conjunction)


def _panels(rows: dict[tuple[float, int], Row], options: argparse.Namespace) -> list[Panel]:
    def series(names: tuple[str, ...], points: dict[float, Row]) -> Any:
        return {name: (list(points), [row[name] for row in points.values()]) for name in names}

    by_size = {float(size): rows[HALF, size] for size in sorted(options.sizes)}
    by_equality = {p: rows[p, options.size] for p in sorted(options.equalities)}
    only = {float(n): rows[ONLY_EQUALITIES, n] for n in sorted(options.equality_sizes)}
    y, clustered = "microseconds an event", ("equality-preferred", "quarantining", "engine")
    return [
        Panel("9a: p = 0.5", "subscriptions", y, series(SIDES, by_size)),
        Panel(f"10: {options.size:,} subscriptions", "p", y, series(SIDES, by_equality), "linear"),
        Panel("11: equalities only", "subscriptions", y, series(clustered, only), y_scale="linear"),
    ]
