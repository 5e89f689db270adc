"""Every matcher on workloads that all accept: time an event, build, memory and updates.

Subscriptions are conjunctions of 3 to 5 comparisons over 20 numeric attributes, which events bind
all; "equality" asks for = one of 10 values, "ranges" for = , < and > among 10,000. Each matcher
runs in a process of its own, from texts through the same methods, sizes rising until the next one
would take too long. The papers' algorithms are compiled like the engine or plain Python, as the
table says: that alone is a factor of ten and more. Events are dicts, whose translation is most of
the time of the compiled ones until subscriptions are many. Compiled baselines have no updates of
their own and are made anew by the next match; the last column has that in it.
"""

from __future__ import annotations

import argparse
import signal
import time
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

import boolfilter as bf
from benchmarks.measure import (
    in_child,
    micros_per_event,
    resident_bytes,
    seconds_of,
    use_cores,
)
from benchmarks.plots import Panel
from benchmarks.report import Report
from boolfilter.baselines.subscribed import CompiledMatcher
from boolfilter.matchers import MATCHERS

_LARGEST = {"equality": 10, "ranges": 10_000}
KINDS = tuple(_LARGEST)
_ATTRIBUTES = 20
_MEASURES = {
    "micros": "microseconds an event",
    "build": "seconds to build",
    "bytes": "bytes a subscription",
    "update and match": "microseconds to subscribe, unsubscribe and be ready",
}
_UPDATES = 20
_READY = 3  # updates with a match after each
_COMPARED = 4  # events whose matches are counted, to be the same for all
_EVENTS_TIMED = 20  # of a matcher that is slow
_REFUSALS = (bf.UnsupportedError, bf.LimitError)


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    command.add_argument("--matchers", nargs="+", default=list(MATCHERS), choices=list(MATCHERS))
    command.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    command.add_argument("--events", type=int, default=1_000)
    command.add_argument(
        "--seconds", type=float, default=6, help="for all sizes of a matcher on a workload"
    )


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    for kind in options.kinds:
        for name in options.matchers:
            rows = in_child(
                "algorithms", "measure", name=name, kind=kind, sizes=options.sizes,
                events=options.events, seconds=options.seconds, seed=options.seed,
            )  # fmt: skip
            for row in rows:
                report.add(workload=kind, matcher=name, **row)
    report.note("micros: microseconds an event; build: seconds; bytes: resident, a subscription")
    report.note("update: microseconds to subscribe and unsubscribe; and match: and the next match")
    _check_equal_matches(report)
    _claim(report)
    panels = [
        _panel(report, kind, measure, title)
        for kind in options.kinds
        for measure, title in _MEASURES.items()
    ]
    report.grid("algorithms", "All matchers", panels, columns=4)


def measure(
    name: str, kind: str, sizes: list[int], events: int, seconds: float, seed: int
) -> list[dict[str, Any]]:
    """The rows of one matcher, in a process that does nothing else."""
    use_cores(1)
    batch = _events(kind, events, seed)
    small = bf.matcher(name)
    with suppress(*_REFUSALS):
        small.subscribe_many(enumerate(_texts(kind, 50, seed)))
        small.match_many(batch[:2])
    technique = "compiled" if name == "engine" or isinstance(small, CompiledMatcher) else "Python"
    del small
    rows: list[dict[str, Any]] = []
    end = time.perf_counter() + seconds
    signal.signal(signal.SIGALRM, _too_long)
    for place, size in enumerate(sizes):
        row: dict[str, Any] = {"subscriptions": size, "by": technique}
        rows.append(row)
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
        try:
            row |= _measure_size(name, kind, size, batch, seed)
        except TimeoutError:
            row["stopped"] = f"took over {2 * seconds:.0f} s"
            break
        except _REFUSALS as error:
            row["stopped"] = f"refused: {error}"
            break
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if place + 1 < len(sizes):
            following = _predicted(row, sizes[place + 1])
            if time.perf_counter() + following > end:
                row["stopped"] = f"the next size would take {following:.0f} s"
                break
    return rows


def _predicted(row: dict[str, Any], size: int) -> float:
    """Seconds for a size, if everything grows with the subscriptions."""
    matching = _EVENTS_TIMED * row["micros"] + _READY * row["update and match"]
    return float((row["build"] + matching / 1e6) * size / row["subscriptions"])


def _measure_size(
    name: str, kind: str, size: int, batch: list[dict[str, int]], seed: int
) -> dict[str, Any]:
    texts = _texts(kind, size + _UPDATES, seed)
    matcher = bf.matcher(name)
    before = resident_bytes()

    def build() -> None:
        matcher.subscribe_many(enumerate(islice(texts, size)))
        matcher.match_many(batch[:1])

    built = seconds_of(build)
    grown = resident_bytes() - before
    sides = {name: (lambda count: matcher.match_many(batch[:count]), len(batch))}
    micros = micros_per_event(sides, repeats=3, seconds=0.1)[name]
    matches = sum(map(len, matcher.match_many(batch[:_COMPARED])))

    def update(number: int) -> None:
        matcher.subscribe(number, texts[number])
        matcher.unsubscribe(number)

    alone = [seconds_of(lambda: update(number)) for number in range(size, size + _UPDATES)]  # noqa: B023
    ready = [
        seconds_of(lambda: (update(number), matcher.match(batch[0])))  # noqa: B023
        for number in range(size, size + _READY)
    ]
    return {
        "micros": micros,
        "build": built,
        "bytes": grown / size,
        "update": 1e6 * float(np.median(alone)),
        "update and match": 1e6 * float(np.median(ready)),
        "matches of four": matches,
    }


def _texts(kind: str, count: int, seed: int) -> list[str]:
    rng = np.random.default_rng((seed, 1))
    largest = _LARGEST[kind]
    widths = rng.integers(3, 6, size=count)
    names = rng.random((count, _ATTRIBUTES)).argsort(axis=1)[:, :5]
    operators = np.array(["="] if kind == "equality" else ["=", "=", "<", ">"])
    chosen = operators[rng.integers(0, len(operators), size=(count, 5))]
    values = rng.integers(0, largest, size=(count, 5))
    rows = zip(names.tolist(), chosen.tolist(), values.tolist(), strict=True)
    predicates = ([f"a{n} {o} {v}" for n, o, v in zip(*row, strict=True)] for row in rows)
    return [
        " AND ".join(each[:width]) for each, width in zip(predicates, widths.tolist(), strict=True)
    ]


def _events(kind: str, count: int, seed: int) -> list[dict[str, int]]:
    rng = np.random.default_rng((seed, 2))
    values = rng.integers(0, _LARGEST[kind], size=(count, _ATTRIBUTES))
    names = [f"a{attribute}" for attribute in range(_ATTRIBUTES)]
    return [dict(zip(names, row, strict=True)) for row in values.tolist()]


def _too_long(*_: object) -> None:
    raise TimeoutError


def _check_equal_matches(report: Report) -> None:
    found: dict[Any, set[int]] = {}
    for row in report.rows:
        if "matches of four" in row:
            place = (row["workload"], row["subscriptions"])
            found.setdefault(place, set()).add(row.pop("matches of four"))
    assert all(len(counts) == 1 for counts in found.values()), f"matches differ: {found}"


def _claim(report: Report) -> None:
    """Where the engine stands in each measure, at the largest size that it and others reached."""
    for kind in dict.fromkeys(row["workload"] for row in report.rows):
        rows = [row for row in report.rows if row["workload"] == kind and "micros" in row]
        for size in dict.fromkeys(row["subscriptions"] for row in rows):
            reached = [row for row in rows if row["subscriptions"] == size]
            if not any(row["matcher"] == "engine" for row in reached) or len(reached) < 2:
                continue
            for name, title in _MEASURES.items():
                ranking = sorted(reached, key=lambda row: row[name])
                place = [row["matcher"] for row in ranking].index("engine")
                others = [row for row in ranking if row["matcher"] != "engine"]
                report.claim(
                    f"{kind}, {size:,}: the engine has the fewest {title}",
                    place == 0,
                    f"place {place + 1} of {len(ranking)}: {ranking[place][name]:,.3g}; "
                    + ", ".join(f"{row['matcher']} {row[name]:,.3g}" for row in others[:3]),
                )


def _panel(report: Report, kind: str, measure: str, title: str) -> Panel:
    series: dict[str, tuple[list[float], list[float]]] = {}
    for row in report.rows:
        if row["workload"] == kind and row.get(measure, 0) > 0:
            xs, ys = series.setdefault(row["matcher"], ([], []))
            xs.append(row["subscriptions"])
            ys.append(row[measure])
    return Panel(f"{kind}: {title}", "subscriptions", title, series)
