"""All algorithms of the Le Subscribe paper (000, section 3) on its load, and what it says of them.

All are plain Python over dicts and sorted containers, take subscriptions one at a time (but for
Gough's tree, which is built from scratch) and match the same dicts on one core. The engine's
`match` of a dict is in a column of its own: it is compiled, and not to be compared with them.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise
from typing import Any

import boolfilter as bf
from benchmarks.measure import micros_per_event, seconds_of, use_cores
from benchmarks.plots import Series
from benchmarks.report import Report
from boolfilter.baselines.aguilera import Aguilera
from boolfilter.baselines.gough import TreeSizeError
from boolfilter.workloads import LeSubscribe

INCREMENTAL = (
    "naive", "fair-predicate", "equality-preferred", "quarantining", "hanson", "aguilera", "neon",
)  # fmt: skip
_ENGINE = "engine (compiled)"
_CHANGED = 100  # subscriptions added and removed while measuring
_SECONDS = 0.25
_SQUARE = 2.0

Row = dict[str, Any]


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 30_000])
    command.add_argument(
        "--gough-sizes", type=int, nargs="+", default=[4, 8, 16, 24, 32],
        help="tried as far as the tree stays under --most-nodes",
    )  # fmt: skip
    command.add_argument("--most-nodes", type=int, default=100_000)
    command.add_argument("--equality", type=float, default=0.5, help="the paper's p")
    command.add_argument("--events", type=int, default=500)
    command.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    rows = [_compare(INCREMENTAL, size, options) for size in options.sizes]
    small = _goughs_growth(options)
    for row in (*small, *rows):
        report.add(**row)
    _claim_of_all(report, rows[-1])
    if small:
        _claim_of_gough(report, small)
    _claim_of_aguilera(report, options)
    report.note("microseconds an event in plain Python, but for the column of the engine")
    report.note("insert and remove: microseconds a subscription, parsing of its text included")
    report.plot(
        name="lesubscribe-algorithms", title="Plain Python, p = 0.5", x="subscriptions",
        y="microseconds an event", series=_series([*small, *rows]),
    )  # fmt: skip


def _compare(names: tuple[str, ...], size: int, options: argparse.Namespace) -> Row:
    """Matching with every matcher, taking turns, after all were found to agree; then changes."""
    workload = LeSubscribe(equality=options.equality)
    texts = workload.texts(0, size + _CHANGED, options.seed)
    events = workload.events(0, options.events, options.seed)
    kept, new = list(enumerate(texts))[:size], list(enumerate(texts))[size:]
    matchers = {name: _loaded(name, kept, options) for name in (*names, "engine")}
    expected = matchers["engine"].match_many(events[:20])
    for name, matcher in matchers.items():
        assert matcher.match_many(events[:20]) == expected, f"{name} finds something else"
    sides = {
        name: (lambda n, m=matcher: [m.match(event) for event in events[:n]], len(events))
        for name, matcher in matchers.items()
    }
    micros = micros_per_event(sides, options.repeats, _SECONDS)
    micros[_ENGINE] = micros.pop("engine")
    row = {"subscriptions": size, **micros, "matches": sum(map(len, expected)) / 20}
    if "gough" in matchers:
        row["gough's nodes"] = matchers["gough"].nodes()
    changing = new if names == INCREMENTAL else new[:1]
    for name in names:
        row |= _changes(name, matchers[name], changing)
    return row


def _loaded(name: str, pairs: list[tuple[int, str]], options: argparse.Namespace) -> Any:
    limits = {"most_nodes": options.most_nodes} if name == "gough" else {}
    matcher = bf.matcher(name, **limits)
    matcher.subscribe_many(pairs)
    return matcher


def _changes(name: str, matcher: Any, pairs: list[tuple[int, str]]) -> Row:
    """What it costs to add subscriptions, and to remove them, until it can match again."""

    def remove() -> None:
        for id, _ in pairs:
            matcher.unsubscribe(id)
        if name == "gough":
            matcher.nodes()  # its tree is built from scratch when it is needed

    try:
        added = seconds_of(lambda: [matcher.subscribe(*pair) for pair in pairs])
    except TreeSizeError:
        return {}
    removed = seconds_of(remove)
    each = 1e6 / len(pairs)
    return {f"insert: {name}": added * each, f"remove: {name}": removed * each}


def _goughs_growth(options: argparse.Namespace) -> list[Row]:
    """All matchers on as many subscriptions as Gough's tree has room for, and its nodes."""
    rows = []
    for size in options.gough_sizes:
        try:
            rows.append(_compare((*INCREMENTAL, "gough"), size, options))
        except TreeSizeError:
            break
    return rows


def _claim_of_all(report: Report, row: Row) -> None:
    size, naive = row["subscriptions"], row["naive"]
    times = {name: row[name] for name in INCREMENTAL}
    figures = _listed(times)
    report.claim(
        f"every other algorithm is faster than naive at {size:,}",
        all(each < naive for name, each in times.items() if name != "naive"), figures,
    )  # fmt: skip
    mine = [row[name] for name in ("quarantining", "equality-preferred", "fair-predicate")]
    report.claim(
        f"quarantining, equality-preferred, fair predicate: in this order at {size:,}",
        mine == sorted(mine), figures,
    )  # fmt: skip
    fastest = min(times, key=times.__getitem__)
    report.note(f"the fastest in Python at {size:,} is {fastest}; the paper compares its own only")
    inserts = {name: row[f"insert: {name}"] for name in INCREMENTAL}
    report.claim(
        f"fair predicate takes a subscription sooner than equality-preferred does at {size:,}",
        inserts["fair-predicate"] < inserts["equality-preferred"], _listed(inserts),
    )  # fmt: skip


def _claim_of_gough(report: Report, rows: list[Row]) -> None:
    nodes = {row["subscriptions"]: row["gough's nodes"] for row in rows}
    sizes = sorted(nodes)
    # The exponent of growth over the last step: more than that of a square.
    exponents = [math.log(nodes[b] / nodes[a], b / a) for a, b in pairwise(sizes)]
    report.claim(
        "gough: the tree explodes, with more nodes than the square of the subscriptions",
        bool(exponents) and exponents[-1] > _SQUARE,
        ", ".join(f"{size}: {count:,}" for size, count in nodes.items())
        + f" nodes; exponents {', '.join(f'{each:.1f}' for each in exponents)}",
    )
    last = rows[-1]
    times = {name: last[name] for name in (*INCREMENTAL, "gough")}
    report.claim(
        f"gough: where it fits ({last['subscriptions']}), it is the fastest",
        min(times, key=times.__getitem__) == "gough", _listed(times),
    )  # fmt: skip


def _claim_of_aguilera(report: Report, options: argparse.Namespace) -> None:
    size = options.sizes[-1]
    found = {}
    for equality in (1.0, options.equality):
        workload = LeSubscribe(equality=equality)
        tree = Aguilera()
        tree.subscribe_many(enumerate(workload.texts(0, size, options.seed)))
        events = workload.events(0, options.events, options.seed)
        side = (lambda n, m=tree, e=events: m.match_many(e[:n]), len(events))
        micros = micros_per_event({"match": side}, options.repeats, _SECONDS)["match"]
        found[equality] = tree.nodes() / size, micros
    (only_nodes, only_micros), (nodes, micros) = found.values()
    report.claim(
        f"aguilera: less efficient with predicates that are no equalities, at {size:,}",
        micros > only_micros,
        f"{only_micros:,.0f} us and {only_nodes:.2f} nodes a subscription at p = 1, "
        f"{micros:,.0f} us and {nodes:.2f} at p = {options.equality:g}",
    )


def _listed(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {each:,.1f}" for name, each in figures.items()) + " us"


def _series(rows: list[Row]) -> Series:
    names = (*INCREMENTAL, "gough", _ENGINE)
    return {
        name: (
            [row["subscriptions"] for row in rows if name in row],
            [row[name] for row in rows if name in row],
        )
        for name in names
    }
