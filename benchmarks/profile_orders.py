"""Profile trees by orders of values and attributes (paper 004, section 4.3), in comparison steps.

One attribute of 100 values first, for each pair of a distribution of events and one of profiles:
the steps expected by each order, exactly, and those counted on events drawn (the paper's TV4 and
TV3). Then five attributes, which reject different parts of the events, in the orders of A1, A2, A3
and their reverses. The paper's own 60 distributions are not published; these have its shapes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.plots import Panel
from benchmarks.report import Report
from boolfilter.baselines.profile_tree import Axis, ProfileTree, ValueOrder, attribute_order

VALUES = 100
ORDERS: tuple[ValueOrder, ...] = ("natural", "V1", "V2", "V3", "binary")
_PLACE = np.arange(VALUES) + 0.5


def _gauss(centre: float) -> np.ndarray:
    return np.exp(-(((_PLACE - centre) / (VALUES / 8)) ** 2) / 2)


def _peak(first: int, share: float = 0.95) -> np.ndarray:
    """Five values have this share together, all others the rest."""
    chances = np.full(VALUES, (1 - share) / (VALUES - 5))
    chances[first : first + 5] = share / 5
    return chances


DISTRIBUTIONS = {
    "equal": np.ones(VALUES),
    "gauss": _gauss(VALUES / 2),
    "gauss low": _gauss(VALUES / 10),
    "gauss high": _gauss(VALUES * 9 / 10),
    "falling": VALUES - _PLACE,
    "peak low": _peak(5),
    "peak high": _peak(90),
}
_WIDTHS = (8, 4, 9, 2, 6)  # the natural order has nothing to do with what is rejected
_LEAST_OFF = 0.05  # steps, where rare events decide and deviations say nothing
_PEAKS = ("peak low", "peak high")


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--profiles", type=int, default=200)
    command.add_argument("--events", type=int, default=4_000, help="drawn of each distribution")
    command.add_argument("--attribute-profiles", type=int, default=12)


def run(options: argparse.Namespace, report: Report) -> None:
    rng = np.random.default_rng(options.seed)
    rows = [
        _value_orders(events, profiles, options, rng)
        for events in DISTRIBUTIONS
        for profiles in DISTRIBUTIONS
    ]
    for row in rows:
        report.add(**row)
    report.note("values: comparison steps an event expected; 'a profile': for an event it matches")
    _claim_of_values(rows, report)
    attributes = [
        row
        for events in ("equal", "gauss", "gauss high")
        for row in _attribute_orders(events, options, rng)
    ]
    for row in attributes:
        report.add(**row)
    _claim_of_attributes(attributes, report)
    report.grid("profile-orders", "Comparison steps", _panels(rows, attributes), columns=1)


def _value_orders(
    events: str, profiles: str, options: argparse.Namespace, rng: np.random.Generator
) -> dict[str, Any]:
    share = DISTRIBUTIONS[profiles] / DISTRIBUTIONS[profiles].sum()
    asked = rng.choice(VALUES, size=options.profiles, p=share)
    axis = Axis(np.ones(VALUES), [[(value, value + 1)] for value in asked], DISTRIBUTIONS[events])
    drawn = rng.choice(VALUES, size=options.events, p=axis.chances)
    row: dict[str, Any] = {"events": events, "profiles": profiles}
    a_profile, off, likely_off = {}, [], []
    for order in ORDERS:
        tree = ProfileTree([axis], order)
        row[order] = tree.expected().response
        steps = np.array([tree.match([value])[1] for value in range(VALUES)])
        a_profile[order] = float((axis.profile_shares * steps).sum())
        variance = float((axis.chances * (steps - row[order]) ** 2).sum())
        off.append(abs(float(steps[drawn].mean()) - row[order]))
        likely_off.append(max(_LEAST_OFF, 5 * math.sqrt(variance / len(drawn))))
    row["rejected"] = axis.chance_rejected
    row["counted off"] = max(off)
    row["as expected"] = all(one <= other for one, other in zip(off, likely_off, strict=True))
    row |= {f"{order}, a profile": steps for order, steps in a_profile.items()}
    row["E(X), V1"] = ProfileTree([axis], "V1").expected().followed[0]
    row["values asked for"] = int((~axis.zero).sum())
    return row


def _claim_of_values(rows: Sequence[dict[str, Any]], report: Report) -> None:
    pairs = len(rows)
    furthest = max(row["counted off"] for row in rows)
    right = sum(row["as expected"] for row in rows)
    report.claim(
        "004: steps counted on drawn events are those expected (5 standard deviations)",
        right == pairs,
        f"for {right} of {pairs} pairs in all orders; at most {furthest:.2f} steps off",
    )
    best = {
        order: sum(row[order] == min(row[each] for each in ORDERS) for row in rows)
        for order in ORDERS
    }
    report.claim(
        "004: there is no perfect order: each of several is best for some distributions",
        sum(count > 0 for count in best.values()) > 1,
        f"best of {pairs} pairs: " + ", ".join(f"{name} {count}" for name, count in best.items()),
    )
    spread = {order: [row[order] for row in rows] for order in ("natural", "V1", "binary")}
    shown = ", ".join(f"{name} {min(s):.1f} to {max(s):.1f}" for name, s in spread.items())
    ranges = {name: max(s) - min(s) for name, s in spread.items()}
    report.claim(
        "004: natural and event order oscillate, binary search is balanced",
        2 * ranges["binary"] < min(ranges["natural"], ranges["V1"]),
        f"steps: {shown}",
    )
    peaks = [row for row in rows if row["events"] in _PEAKS]
    others = [row for row in peaks if row["V1"] > min(row[order] for order in ORDERS)]
    report.claim(
        "004: V1 is the best order where events have a peak",
        not others,
        f"in {len(peaks) - len(others)} of {len(peaks)} pairs"
        + "".join(
            f"; not for {row['events']} / {row['profiles']}: V1 {row['V1']:.1f}, binary "
            f"{row['binary']:.1f}"
            for row in others
        ),
    )
    predicted = sum(
        (row["E(X), V1"] < (1 - row["rejected"]) * math.log2(row["values asked for"]))
        == (row["V1"] < row["binary"])
        for row in rows
    )
    report.claim(
        "004: V1 beats binary search just if E(X) is below log2 of the values asked for",
        predicted == pairs,
        f"for {predicted} of {pairs} pairs; log2 times the chance of a match",
    )
    report.claim(
        "004: V2 takes more steps an event than V1, never fewer",
        all(row["V2"] >= row["V1"] - 1e-9 for row in rows),
        f"for {sum(row['V2'] >= row['V1'] - 1e-9 for row in rows)} of {pairs} pairs",
    )
    fewer = sum(
        row["V2, a profile"] <= min(row[f"{order}, a profile"] for order in ("natural", "V1", "V3"))
        for row in rows
    )
    report.claim(
        "004: V2 takes the fewest steps a profile of the linear orders",
        fewer == pairs,
        f"for {fewer} of {pairs} pairs",
    )
    between = sum(row["V1"] - 1e-9 <= row["V3"] <= row["V2"] + 1e-9 for row in rows)
    report.claim(
        "004: V3 is between V1 and V2 in steps an event", between == pairs,
        f"for {between} of {pairs} pairs",
    )  # fmt: skip


def _attribute_orders(
    events: str, options: argparse.Namespace, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Five attributes of ten values, in the middle of which two to nine are asked for."""
    chances = DISTRIBUTIONS[events].reshape(10, -1).sum(axis=1)
    axes = []
    for width in _WIDTHS:
        first = (10 - width) // 2
        asked = rng.integers(first, first + width, size=options.attribute_profiles)
        axes.append(Axis(np.ones(10), [[(value, value + 1)] for value in asked], chances))
    orders = {"natural": list(range(len(axes)))}
    for measure in ("A1", "A2", "A3"):
        orders[measure] = attribute_order(axes, measure)
        orders[f"{measure}, ascending"] = orders[measure][::-1]
    rows = []
    for name, order in orders.items():
        searches = {
            values: ProfileTree(axes, values, order).expected().response for values in ORDERS
        }
        rows.append({"events": events, "attributes": name, **searches})
    return rows


def _claim_of_attributes(rows: Sequence[dict[str, Any]], report: Report) -> None:
    steps = {(row["events"], row["attributes"]): row["V1"] for row in rows}
    binary = {(row["events"], row["attributes"]): row["binary"] for row in rows}
    events = list(dict.fromkeys(row["events"] for row in rows))

    def shown(*orders: str) -> str:
        return "; ".join(
            f"{each}: " + ", ".join(f"{order} {steps[each, order]:.2f}" for order in orders)
            for each in events
        )

    for measure in ("A1", "A2", "A3"):
        reverse = f"{measure}, ascending"
        report.claim(
            f"004: {measure} takes fewer steps than the natural order",
            all(steps[each, measure] < steps[each, "natural"] for each in events),
            shown(measure, "natural"),
        )
        report.claim(
            f"004: the reverse of {measure} is the worst of the three",
            all(steps[e, reverse] >= max(steps[e, measure], steps[e, "natural"]) for e in events),
            shown(measure, "natural", reverse),
        )
    gain = {each: steps[each, "natural"] / steps[each, "A2"] for each in events}
    report.claim(
        "004: A2 gains most with events of a gauss distribution moved to where no profile asks",
        max(gain, key=lambda each: gain[each]) == "gauss high",
        "natural : A2 " + ", ".join(f"{each} {value:.2f}" for each, value in gain.items()),
    )
    report.claim(
        "004: with these events, V1 and A2 beat binary search in the same tree",
        steps["gauss high", "A2"] < binary["gauss high", "A2"],
        f"{steps['gauss high', 'A2']:.2f} against {binary['gauss high', 'A2']:.2f} steps",
    )
    report.claim(
        "004: A2 and A3 are never worse than A1",
        all(max(steps[e, "A2"], steps[e, "A3"]) <= steps[e, "A1"] + 1e-9 for e in events),
        shown("A1", "A2", "A3"),
    )


def _panels(rows: Sequence[dict[str, Any]], attributes: Sequence[dict[str, Any]]) -> list[Panel]:
    def panel(title: str, x: str, chosen: Sequence[dict[str, Any]], names: Sequence[str]) -> Panel:
        places = range(1, len(chosen) + 1)
        series = {name: (places, [row[name] for row in chosen]) for name in names}
        return Panel(title, x, "steps", series, x_scale="linear", y_scale="log")

    by_gain = sorted(rows, key=lambda row: row["V1"] / row["binary"])
    of_profiles = [f"{order}, a profile" for order in ORDERS]
    return [
        panel("One attribute, an event", "pairs, by V1 : binary", by_gain, ORDERS),
        panel("One attribute, a profile", "pairs, by V1 : binary", by_gain, of_profiles),
        panel("Five attributes, an event", "rows of the table", attributes, ORDERS),
    ]
