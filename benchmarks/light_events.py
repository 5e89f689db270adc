"""RAPIDMatch against TreeMatch (paper 003, section 6), and whether what it claims holds here.

Both are the same compiled search trees. "Published" trees test every property at its level; the
others leave out tests that all subscriptions below a node have ``*`` for, as a tree would that is
made for speed; the claims are about the published ones. Nodes visited stand beside the times: they
are the same on every machine, and here a long walk down one small tree goes through memory in
order, while RAPIDMatch jumps among trees of tens of megabytes. Figures 3 to 6 of the paper: time
per event by subscriptions, by the parameter of the events' distribution, and per match by matches.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import micros_per_event, use_cores
from benchmarks.plots import Panel
from benchmarks.report import Report
from boolfilter.baselines.light import LightTrees, Patterns, rapid_match, tree_match
from boolfilter.workloads import Light

_TREES = ("published", "no trivial tests")
_GROUPS = 6  # of events, by their matches
_ONES_AS_IN_THE_PAPER = {"zipf": 3, "exponential": 10}


class Pair(NamedTuple):
    tree: LightTrees
    rapid: LightTrees


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--sizes", type=int, nargs="+", default=[1_000, 2_000, 5_000, 10_000, 20_000]
    )
    command.add_argument("--varied-size", type=int, default=10_000, help="of figures 4 to 6")
    command.add_argument("--alphas", type=float, nargs="+", default=[1, 1.5, 2, 2.5, 3, 4, 5])
    command.add_argument(
        "--ones", type=float, nargs="+", default=[0.01, 0.02, 0.05, 0.1, 0.15, 0.2]
    )
    command.add_argument("--most-ones", type=int, default=10, help="c; the paper does not say")
    command.add_argument("--most-ones-varied", type=int, nargs="*", default=[2, 5, 15, 20])
    command.add_argument("--events", type=int, default=1_000)
    command.add_argument("--repeats", type=int, default=3)
    command.add_argument("--seconds", type=float, default=0.2, help="of each timing")


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    report.note(
        "microseconds an event (figures 3, 4) or a match (5, 6), and nodes visited an event; ratio "
        "and nodes are TreeMatch over RAPIDMatch, in time and in nodes visited"
    )
    zipf, exponential = Light(), Light(model="exponential")
    rows = _compare_sizes([zipf, exponential], options, report)
    panels = [_figure_3(light, rows[light.model], options, report) for light in (zipf, exponential)]
    pairs = {
        trees: _grown(zipf, options.varied_size, trees, options.most_ones, options)
        for trees in _TREES
    }
    varied = {
        "alpha": [(alpha, Light(alpha=alpha)) for alpha in options.alphas],
        "p": [(ones, Light(model="exponential", ones=ones)) for ones in options.ones],
    }
    for parameter, lights in varied.items():
        panels.append(_figure_4(parameter, lights, pairs, options, report))
    panels.append(_per_match("figure 5", zipf, pairs["published"], options, report))
    light = Light(model="exponential", ones=0.05)
    panels.append(_per_match("figure 6", light, pairs["published"], options, report))
    _claim_never_worse(report)
    report.grid("light-events", "RAPIDMatch against TreeMatch", panels, columns=2)


def _compare_sizes(
    lights: list[Light], options: argparse.Namespace, report: Report
) -> dict[str, list[dict[str, Any]]]:
    """The rows of figure 3 by the events' distribution, and what the choice of c makes of it."""
    rows: dict[str, list[dict[str, Any]]] = {light.model: [] for light in lights}
    plans = [("3", size, trees, options.most_ones) for size in options.sizes for trees in _TREES]
    plans += [("c", options.varied_size, "published", c) for c in options.most_ones_varied]
    for figure, size, trees, most_ones in plans:
        pair = _grown(lights[0], size, trees, most_ones, options)
        for light in lights:
            row = {"figure": figure, "trees": trees, "events": light.model, "c": most_ones}
            row |= {"subscriptions": size, **_compare(light, pair, options)}
            report.add(**row)
            if figure == "3":
                rows[light.model].append(row)
    return rows


def _figure_3(
    light: Light, rows: list[dict[str, Any]], options: argparse.Namespace, report: Report
) -> Panel:
    published = [row for row in rows if row["trees"] == "published"]
    ratios = [row["ratio"] for row in published]
    shown = f"ratios {_listed(ratios)}, of nodes {_listed([row['nodes'] for row in published])}"
    ones = _events(light, options).sum(axis=1).mean()
    report.claim(
        f"003, {light.model}: events have about {_ONES_AS_IN_THE_PAPER[light.model]} 1s",
        abs(ones - _ONES_AS_IN_THE_PAPER[light.model]) < 0.5,
        f"{ones:.2f} of {light.properties}",
    )
    if light.model == "zipf":
        text, holds = "RAPIDMatch is more than 8 times as fast", min(ratios) > 8
    else:
        text = "RAPIDMatch is about 1.2 times as fast (1.1 to 1.3)"
        holds = all(1.1 <= ratio <= 1.3 for ratio in ratios)
    report.claim(f"003, {light.model}: {text}", holds, shown)
    report.claim(
        f"003, {light.model}: the ratio does not depend on the subscriptions (within a quarter)",
        max(ratios) <= 1.25 * min(ratios),
        shown,
    )
    return _panel(f"Figure 3: {light.model}", "subscriptions", rows)


def _figure_4(
    parameter: str,
    lights: list[tuple[float, Light]],
    pairs: Mapping[str, Pair],
    options: argparse.Namespace,
    report: Report,
) -> Panel:
    rows = []
    for value, light in lights:
        for trees in _TREES:
            row = _compare(light, pairs[trees], options)
            where = {"figure": "4", "trees": trees, "events": light.model, parameter: value}
            rows.append({**where, "subscriptions": options.varied_size, **row})
            report.add(**rows[-1])
    published = [row for row in rows if row["trees"] == "published"]
    tree = [row["TreeMatch"] for row in published]
    rapid = [row["RAPIDMatch"] for row in published]
    falls = rapid if parameter == "p" else rapid[::-1]
    name = lights[0][1].model
    report.claim(
        f"003, {name}: TreeMatch takes the same time whatever {parameter} is (within a quarter)",
        max(tree) <= 1.25 * min(tree),
        f"microseconds {_listed(tree)}",
    )
    report.claim(
        f"003, {name}: RAPIDMatch gains from fewer 1s at every step of {parameter}",
        all(fewer < more for fewer, more in pairwise(falls)),
        f"microseconds {_listed(rapid)}",
    )
    if parameter == "alpha":
        late = [row["ratio"] for row in published if row["alpha"] >= 3]
        report.claim(
            "003, zipf: the ratio flattens out with alpha above 3 (within a quarter)",
            max(late) <= 1.25 * min(late),
            f"ratios from alpha = 3 on: {_listed(late)}",
        )
    return _panel(f"Figure 4: {name}", parameter, rows)


def _per_match(
    figure: str, light: Light, pair: Pair, options: argparse.Namespace, report: Report
) -> Panel:
    """Time per match of the events with the fewest matches, with more, ... and with the most."""
    events = _events(light, options)
    matches = np.bincount(pair.tree.match(events)[0], minlength=len(events))
    rows = []
    for chosen in np.array_split(np.argsort(matches, kind="stable"), _GROUPS):
        if not matches[chosen].any():
            continue
        row = _timed(np.ascontiguousarray(events[chosen]), pair, options)
        each = matches[chosen].mean()
        where = {"figure": figure[-1], "trees": "published", "events": light.model}
        per_match = {name: row[name] / each for name in ("TreeMatch", "RAPIDMatch")}
        rows.append({**where, "subscriptions": options.varied_size, "matches": float(each),
                     **per_match, "ratio": row["ratio"]})  # fmt: skip
        report.add(**rows[-1])
    ratios = [row["ratio"] for row in rows]
    for name in ("TreeMatch", "RAPIDMatch"):
        times = [row[name] for row in rows]
        report.claim(
            f"003, {figure}: {name} spends less on a match the more there are",
            times[-1] < times[0],
            f"microseconds a match {_listed(times)}, at {_listed([r['matches'] for r in rows])}",
        )
    report.claim(
        f"003, {figure}: RAPIDMatch is always better, most so with few matches",
        min(ratios) > 1 and ratios[0] == max(ratios),
        f"ratios, by rising matches: {_listed(ratios)}",
    )
    return _panel(f"Figure {figure[-1]}: {light.model}, a match", "matches", rows)


def _claim_never_worse(report: Report) -> None:
    for trees in _TREES:
        ratios = [row["ratio"] for row in report.rows if row["trees"] == trees]
        report.claim(
            f"003: RAPIDMatch is never worse ({trees})",
            min(ratios) >= 1,
            f"ratios {min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} settings",
        )


def _grown(
    light: Light, size: int, trees: str, most_ones: int, options: argparse.Namespace
) -> Pair:
    patterns = Patterns.of_matrix(light.patterns(0, size, options.seed))
    keep = trees == "published"
    return Pair(
        tree_match(patterns, trivial_tests=keep),
        rapid_match(patterns, most_ones, trivial_tests=keep),
    )


def _events(light: Light, options: argparse.Namespace) -> np.ndarray:
    columns = light.event_columns(0, options.events, options.seed).values()
    return np.ascontiguousarray(np.stack([each.values for each in columns], axis=1), np.uint8)


def _compare(light: Light, pair: Pair, options: argparse.Namespace) -> dict[str, Any]:
    events = _events(light, options)
    found = [trees.match(events) for trees in pair]
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
    row = _timed(events, pair, options)
    nodes = {
        f"nodes, {name}": float(trees.visited().mean())
        for name, trees in zip(("TreeMatch", "RAPIDMatch"), pair, strict=True)
    }
    megabytes = {
        "MB, TreeMatch": pair.tree.bytes_used() / 1e6,
        "MB, RAPIDMatch": pair.rapid.bytes_used() / 1e6,
    }
    row["nodes"] = nodes["nodes, TreeMatch"] / nodes["nodes, RAPIDMatch"]
    return {**row, **nodes, "matches": len(found[0][0]) / len(events), **megabytes}


def _timed(events: np.ndarray, pair: Pair, options: argparse.Namespace) -> dict[str, float]:
    sides = {
        name: (lambda count, trees=trees: trees.search(events[:count]), len(events))
        for name, trees in zip(("TreeMatch", "RAPIDMatch"), pair, strict=True)
    }
    micros = micros_per_event(sides, options.repeats, options.seconds)
    # Nodes are told of all events, not of as many as were timed last.
    for trees in pair:
        trees.search(events)
    return {**micros, "ratio": micros["TreeMatch"] / micros["RAPIDMatch"]}


def _panel(title: str, x: str, rows: list[dict[str, Any]]) -> Panel:
    series = {}
    for trees in _TREES:
        chosen = [row for row in rows if row["trees"] == trees]
        for name in ("TreeMatch", "RAPIDMatch"):
            if chosen:
                label = name if trees == "published" else f"{name}, {trees}"
                series[label] = [row[x] for row in chosen], [row[name] for row in chosen]
    return Panel(title, x, "microseconds", series, x_scale="linear" if x == "alpha" else "log")


def _listed(figures: list[float]) -> str:
    return ", ".join(f"{figure:.3g}" for figure in figures)
