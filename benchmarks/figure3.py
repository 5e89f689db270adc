"""Figure 3 of paper 002: the time of subscription matching as subscriptions grow, and its claims.

The subscriptions are the paper's: an AND of OR pairs of predicates that no other has. What the
events fulfil is found beforehand by the indexes, and only the second step is timed: from fulfilled
predicates to matching subscriptions. `counting` is the counting algorithm over disjunctive normal
forms, `variant` the paper's variant of it, `noncanonical` the paper's own algorithm.

The engine has no such steps. It is timed on the same events, once their values are read, as its
kernel matches them, its indexes included; so its times are for more work than those of the others.

A memory budget plays the part of the paper's machine: a curve ends where the structures of step two
outgrow it. The indexes, the same for the paper's algorithms, and what unsubscription needs are not
counted, as in the paper.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

import boolfilter as bf
from benchmarks.engines import engine_of_forest, only_segment
from benchmarks.figure3_claims import judge
from benchmarks.footprints import FOOTPRINTS, NOT_COUNTED, most_that_fit
from benchmarks.forests import forest_of_workload
from benchmarks.measure import Run, in_child, micros_per_event, resident_bytes, use_cores
from benchmarks.plots import Panel
from benchmarks.report import Report
from boolfilter.baselines.counting import Counting
from boolfilter.baselines.noncanonical import NonCanonical
from boolfilter.baselines.phases import Fulfilled, TwoPhase
from boolfilter.baselines.predicates import index_predicates
from boolfilter.events import FlatEvent
from boolfilter.forest import Forest
from boolfilter.items import Items
from boolfilter.segment import Segment
from boolfilter.workloads import NonCanonical as PaperWorkload

SIZES = [2_000, 10_000, 50_000, 200_000, 700_000, 1_500_000, 3_000_000, 5_000_000]
SIDES = (*FOOTPRINTS, "engine")
MEGABYTE, GIGABYTE = 1 << 20, 1 << 30
_CHECKED = 10  # events of which all sides must find the same


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    command.add_argument("--predicates", type=int, nargs="+", default=[6, 8, 10])
    command.add_argument(
        "--fulfilled", type=int, nargs="+", default=[5_000, 10_000],
        help="predicates an event fulfils: multiples of the first",
    )  # fmt: skip
    command.add_argument("--budget", type=float, default=512, help="megabytes of the structures")
    command.add_argument(
        "--memory", type=float, default=7, help="gigabytes that building may take; skipped beyond"
    )
    command.add_argument("--events", type=int, default=128)
    command.add_argument("--repeats", type=int, default=5)
    command.add_argument("--seconds", type=float, default=0.1, help="of each side at each repeat")


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    if any(fulfilled % options.fulfilled[0] for fulfilled in options.fulfilled):
        raise SystemExit("--fulfilled: all are multiples of the first")
    for predicates in options.predicates:
        _grow(predicates, options, report)
    judge(report, int(options.budget * MEGABYTE), options.predicates, options.fulfilled)
    report.note(
        "times in microseconds of the processor an event, memory in megabytes; matches an event"
    )
    report.note(
        "noncanonical's time includes setting the predicate bits, which the paper has in step one;"
        " the engine's includes its indexes"
    )
    panels = _panels(report.rows)
    report.grid("figure3", "Time of subscription matching", panels, len(options.predicates))


def _grow(predicates: int, options: argparse.Namespace, report: Report) -> None:
    """Ever more subscriptions, until nothing fits any more."""
    largest: dict[str, tuple[int, dict[str, int]]] = {}  # that a side was built for
    for size in sorted(options.sizes):
        label = f"{size:,} subscriptions of {predicates} predicates"
        sides = [side for side in SIDES if _fits(side, size, predicates, largest, options)]
        needed = _building_bytes(size, predicates, sides) / GIGABYTE
        if not sides:
            report.note(f"{label}: nothing fits in {options.budget:g} MB")
        elif needed > options.memory:
            report.note(f"{label}: not built, for that takes about {needed:.1f} GB")
        else:
            measured = in_child(
                "figure3", "measure",
                subscriptions=size, predicates=predicates, fulfilled=options.fulfilled,
                sides=sides, events=options.events, repeats=options.repeats,
                seconds=options.seconds, seed=options.seed,
            )  # fmt: skip
            for row in measured["rows"]:
                report.add(predicates=predicates, subscriptions=size, **row)
            largest |= {side: (size, parts) for side, parts in measured["structures"].items()}
    for side, (size, parts) in largest.items():
        listed = ", ".join(f"{part} {of_part / size:.2f}" for part, of_part in parts.items())
        total = sum(parts.values()) / size
        report.note(
            f"bytes a subscription of {predicates} predicates, {side} with {size:,} of them: "
            f"{total:.1f} ({listed})"
        )
        if side not in FOOTPRINTS:
            report.note(f"so about {options.budget * MEGABYTE / total:,.0f} fit, by the same share")


def _fits(
    side: str,
    size: int,
    predicates: int,
    largest: dict[str, tuple[int, dict[str, int]]],
    options: argparse.Namespace,
) -> bool:
    budget = int(options.budget * MEGABYTE)
    if side in FOOTPRINTS:
        return size <= most_that_fit(side, budget, predicates, max(options.fulfilled))
    # There is no formula for the engine: so many bytes a subscription as when last built.
    built, parts = largest.get(side, (1, {}))
    return sum(parts.values()) / built * size <= budget


def _building_bytes(size: int, predicates: int, sides: list[str]) -> float:
    """About what building takes at most, as measured with 200,000 subscriptions: for each predicate
    in the engine and, after it, in the others; and counting's tables while they are sorted."""
    columns = size * predicates
    counted = FOOTPRINTS["counting"](size, predicates, 0) if "counting" in sides else {}
    return max(
        240 * columns if "engine" in sides else 0, 190 * columns + 1.5 * sum(counted.values())
    )


def measure(
    subscriptions: int,
    predicates: int,
    fulfilled: list[int],
    sides: list[str],
    events: int,
    repeats: int,
    seconds: float,
    seed: int,
) -> dict[str, Any]:
    """Times and memory of the sides at one size; called in a process of its own."""
    before = resident_bytes()
    workload = PaperWorkload(predicates, subscriptions, fulfilled[0])
    forest = forest_of_workload(workload, subscriptions, seed)
    engine = engine_of_forest(forest) if "engine" in sides else None
    tables = _tables(forest, sides)
    del forest
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    building = (peak - before) / GIGABYTE
    rows = []
    structures: dict[str, dict[str, int]] = {}
    for number in fulfilled:
        if "counting" in tables and "variant" in sides:
            tables["variant"] = tables["counting"].variant()  # with lists of its own
        batch = _events(workload, number // fulfilled[0], events, seed)
        micros, matches = _time(tables, engine, batch, number, repeats, seconds)
        structures = {side: _paper_bytes(side, table, number) for side, table in tables.items()}
        if engine is not None:
            structures["engine"] = _engine_bytes(engine)
        megabytes = {
            f"{side}_mb": sum(parts.values()) / MEGABYTE for side, parts in structures.items()
        }
        rows.append(
            {
                "fulfilled": number,
                **micros,
                **megabytes,
                "matches": matches,
                "building_gb": building,
            }
        )
    return {"rows": rows, "structures": structures}


def _tables(forest: Forest, sides: list[str]) -> dict[str, Any]:
    """The paper's algorithms over one index."""
    index, numbers = index_predicates(forest)
    tables: dict[str, Any] = {}
    if "counting" in sides:
        tables["counting"] = Counting.from_index(index, numbers, forest)
    if "noncanonical" in sides:
        tables["noncanonical"] = NonCanonical.from_index(index, numbers, forest)
    return tables


def _events(workload: PaperWorkload, values: int, count: int, seed: int) -> list[FlatEvent]:
    """Events with so many values an attribute, none of which fulfils what another does.

    A value fulfils the windows that begin at it and shortly before, so values at least a width
    apart fulfil windows of their own.
    """
    rng = np.random.default_rng(seed)
    attributes = {}
    for position, width in enumerate(workload._widths()):
        room = workload.subscriptions - values * width
        free = np.sort(rng.integers(0, room + 1, (count, values)), axis=1)
        attributes[f"a{position}"] = free + width * np.arange(1, values + 1) - 1
    rows = zip(*(column.tolist() for column in attributes.values()), strict=True)
    return [dict(zip(attributes, map(tuple, row), strict=True)) for row in rows]


def _time(
    tables: dict[str, TwoPhase],
    engine: bf.Engine | None,
    events: list[FlatEvent],
    fulfilled: int,
    repeats: int,
    seconds: float,
) -> tuple[dict[str, float], float]:
    """The microseconds of each side, and how many matches there are an event."""
    runs: dict[str, Run] = {}
    for side, table in tables.items():
        lists = _fulfilled(table, table.encoder.encode(events))
        assert set(np.diff(lists.start).tolist()) == {fulfilled}, "not as many as they should be"
        runs[side] = _step_two(table, lists)
    if engine is not None:
        segment = only_segment(engine)
        runs["engine"] = _whole(segment, segment.encoder.encode(events))
    found = {side: [part.tolist() for part in one(_CHECKED)] for side, one in runs.items()}
    first = next(iter(found.values()))
    assert all(each == first for each in found.values()), "the sides do not find the same"
    sides = {side: (one, len(events)) for side, one in runs.items()}
    micros = micros_per_event(sides, repeats, seconds, clock=time.thread_time)
    return micros, len(first[0]) / min(_CHECKED, len(events))


def _fulfilled(table: TwoPhase, items: Items) -> Fulfilled:
    """The fulfilled predicates of all events, by step one."""
    parts = [part for _, part in table.fulfilled(items)]
    lengths = np.concatenate([np.diff(part.start) for part in parts])
    start = np.concatenate(([0], np.cumsum(lengths)))
    return Fulfilled(start, np.concatenate([part.predicates for part in parts]))


def _step_two(table: TwoPhase, lists: Fulfilled) -> Run:
    def match(count: int) -> Any:
        start = lists.start[: count + 1]
        return table.match_fulfilled(Fulfilled(start, lists.predicates[: start[-1]]))

    return match


def _whole(segment: Segment, items: Items) -> Run:
    def match(count: int) -> Any:
        return segment.match(
            Items(
                items.start[: count + 1], items.domain, items.position,
                items.hit_start[: count + 1], items.hits,
            )
        )  # fmt: skip

    return match


def _paper_bytes(side: str, table: Any, fulfilled: int) -> dict[str, int]:
    """What the structures take, which has to be what the formula says."""
    used = table.bytes_used()
    found = {part: size for part, size in used.items() if part not in NOT_COUNTED}
    predicates = len(table.index) // len(table)
    expected = FOOTPRINTS[side](len(table), predicates, fulfilled)
    assert found == expected, f"{side}: measured {found}, counted {expected}"
    return found


def _engine_bytes(engine: bf.Engine) -> dict[str, int]:
    scratch = only_segment(engine)._scratch()
    parts = engine.stats().bytes
    return {
        **{part: parts[part] for part in ("entries", "residual code", "trees")},
        "bit vectors": scratch.seen.nbytes + scratch.bitmap.nbytes,
    }


def _panels(rows: list[dict[str, Any]]) -> list[Panel]:
    panels = []
    for fulfilled in sorted({row["fulfilled"] for row in rows}):
        for predicates in sorted({row["predicates"] for row in rows}):
            mine = (predicates, fulfilled)
            chosen = [row for row in rows if (row["predicates"], row["fulfilled"]) == mine]
            panels.append(
                Panel(
                    title=f"{predicates} predicates, {fulfilled:,} fulfilled",
                    x="subscriptions",
                    y="milliseconds an event",
                    series={side: _curve(chosen, side) for side in SIDES},
                )
            )
    return panels


def _curve(rows: list[dict[str, Any]], side: str) -> tuple[list[int], list[float]]:
    built = [row for row in rows if side in row]
    return [row["subscriptions"] for row in built], [row[side] / 1000 for row in built]
