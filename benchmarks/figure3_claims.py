"""What section 4.1 of paper 002 claims, judged by the rows of the experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.footprints import most_that_fit
from benchmarks.report import Report

Row = dict[str, Any]
PAPER_SIDES = ("counting", "variant", "noncanonical")
MOST_FROM_LINE = 0.25
PAPER_MARGIN = 4


def judge(report: Report, budget: int, predicates: list[int], fulfilled: list[int]) -> None:
    """Add a claim for each of the paper's; those that the rows say nothing about are left out."""
    panels = [
        [row for row in report.rows if (row["predicates"], row["fulfilled"]) == (p, f)]
        for f in sorted(fulfilled)
        for p in sorted(predicates)
    ]
    panels = [panel for panel in panels if panel]
    for judge_claim in (
        _counting_is_linear,
        _counting_is_best_for_few,
        _variant_overtakes_counting,
        _noncanonical_beats_the_variant,
        _gap_grows_with_predicates,
        _noncanonical_hardly_grows,
        _counting_depends_least_on_fulfilled,
        _engine_is_quickest,
    ):
        judge_claim(report, panels)
    _more_fit(report, budget, predicates, max(fulfilled))


def _counting_is_linear(report: Report, panels: list[list[Row]]) -> None:
    farthest, slopes = [], []
    for panel in panels:
        rows = _with(panel, "counting")
        if len(rows) >= 3:
            x = np.array([row["subscriptions"] for row in rows], float)
            y = np.array([row["counting"] for row in rows], float)
            # The straight line with the least relative errors: else the last size alone would tell.
            slope, start = np.polyfit(x, y, 1, w=1 / y)
            farthest.append(float(np.abs((slope * x + start) / y - 1).max()))
            slopes.append(f"{_name(panel)}: {slope * 1e3:.2f}")
    if farthest:
        report.claim(
            "the time of counting is linear in the subscriptions "
            f"(here: within {MOST_FROM_LINE:.0%} of a straight line)",
            max(farthest) <= MOST_FROM_LINE,
            f"at most {min(farthest):.0%} to {max(farthest):.0%} off; nanoseconds a subscription: "
            f"{_joined(slopes)}",
        )


def _counting_is_best_for_few(report: Report, panels: list[list[Row]]) -> None:
    def best(row: Row) -> bool:
        return bool(row["counting"] == min(row[side] for side in PAPER_SIDES if side in row))

    _from_first_to_last(
        report, panels, "counting", best,
        "of the paper's algorithms counting is the quickest, but only for few subscriptions",
        "counting is the quickest",
    )  # fmt: skip


def _variant_overtakes_counting(report: Report, panels: list[list[Row]]) -> None:
    _from_first_to_last(
        report, panels, "variant", lambda row: bool(row["counting"] < row["variant"]),
        "the variant is slower than counting for few subscriptions and quicker for many",
        "counting is quicker than the variant",
    )  # fmt: skip


def _from_first_to_last(
    report: Report,
    panels: list[list[Row]],
    other: str,
    holds: Callable[[Row], bool],
    text: str,
    found: str,
) -> None:
    """A claim that something holds for the fewest subscriptions and not for the most."""
    verdicts, evidence = [], []
    for panel in panels:
        rows = _with(panel, "counting", other)
        if len(rows) >= 2:
            held = [row["subscriptions"] for row in rows if holds(row)]
            verdicts.append(holds(rows[0]) and not holds(rows[-1]))
            sizes = f"to {max(held):,}" if held else "nowhere"
            evidence.append(f"{_name(panel)}: {sizes} of {rows[-1]['subscriptions']:,}")
    if verdicts:
        report.claim(text, all(verdicts), f"{found}: {_joined(evidence)}")


def _noncanonical_beats_the_variant(report: Report, panels: list[list[Row]]) -> None:
    rows = [row for panel in panels for row in _with(panel, "variant", "noncanonical")]
    if rows:
        ratios = [row["variant"] / row["noncanonical"] for row in rows]
        worst = rows[int(np.argmin(ratios))]
        report.claim(
            "noncanonical is always quicker than the variant",
            min(ratios) > 1,
            f"{sum(ratio > 1 for ratio in ratios)} of {len(rows)} times; the variant takes "
            f"{min(ratios):.2f} to {max(ratios):.2f} times as long, least with "
            f"{worst['subscriptions']:,} subscriptions, {_name([worst])}",
        )


def _gap_grows_with_predicates(report: Report, panels: list[list[Row]]) -> None:
    verdicts, evidence = [], []
    for fulfilled in sorted({panel[0]["fulfilled"] for panel in panels}):
        rows = [
            _with(panel, "variant", "noncanonical")
            for panel in panels
            if panel[0]["fulfilled"] == fulfilled
        ]
        common = set.intersection(*({row["subscriptions"] for row in each} for each in rows))
        if common and len(rows) > 1:
            size = max(common)
            at_size = [row for each in rows for row in each if row["subscriptions"] == size]
            gaps = [row["variant"] - row["noncanonical"] for row in at_size]
            verdicts.append(all(np.diff(gaps) > 0))
            listed = [
                f"{row['predicates']} predicates {gap:,.0f}"
                for row, gap in zip(at_size, gaps, strict=True)
            ]
            evidence.append(f"{size:,} subscriptions, {fulfilled:,} fulfilled: {_joined(listed)}")
    if verdicts:
        report.claim(
            "the gap between the variant and noncanonical grows with the predicates",
            all(verdicts),
            f"microseconds; {'; '.join(evidence)}",
        )


def _noncanonical_hardly_grows(report: Report, panels: list[list[Row]]) -> None:
    growths, evidence = [], []
    for panel in panels:
        rows = _with(panel, "noncanonical")
        if len(rows) >= 2:
            time = rows[-1]["noncanonical"] / rows[0]["noncanonical"]
            more = rows[-1]["subscriptions"] / rows[0]["subscriptions"]
            growths.append(time)
            evidence.append(f"{_name(panel)}: {time:.1f} times for {more:,.0f} times as many")
    if growths:
        report.claim(
            "noncanonical slows only slightly as subscriptions grow (here: at most twofold)",
            max(growths) <= 2,
            _joined(evidence),
        )


def _counting_depends_least_on_fulfilled(report: Report, panels: list[list[Row]]) -> None:
    verdicts, evidence = [], []
    for predicates in sorted({panel[0]["predicates"] for panel in panels}):
        rows = [
            {row["subscriptions"]: row for row in _with(panel, *PAPER_SIDES)}
            for panel in panels
            if panel[0]["predicates"] == predicates
        ]
        common = set.intersection(*(set(each) for each in rows))
        if common and len(rows) > 1:
            size = max(common)
            few, many = rows[0][size], rows[-1][size]
            growth = {side: many[side] / few[side] for side in PAPER_SIDES}
            verdicts.append(growth["counting"] < min(growth["variant"], growth["noncanonical"]))
            listed = [f"{side} {ratio:.2f}" for side, ratio in growth.items()]
            evidence.append(f"{predicates} predicates, {size:,} subscriptions: {_joined(listed)}")
    if verdicts:
        report.claim(
            "fulfilled predicates matter more to noncanonical and the variant than to counting",
            all(verdicts),
            f"times as long when most are fulfilled as when fewest: {'; '.join(evidence)}",
        )


def _engine_is_quickest(report: Report, panels: list[list[Row]]) -> None:
    rows = [row for panel in panels for row in _with(panel, "noncanonical", "engine")]
    if rows:
        ratios = [row["noncanonical"] / row["engine"] for row in rows]
        quickest = [
            row["engine"] <= min(row[side] for side in PAPER_SIDES if side in row) for row in rows
        ]
        report.claim(
            "ours, not the paper's: the engine, its indexes included, is the quickest of all",
            all(quickest),
            f"{sum(quickest)} of {len(rows)} times; noncanonical takes {min(ratios):.2f} to "
            f"{max(ratios):.2f} times as long as the engine",
        )


def _more_fit(report: Report, budget: int, predicates: list[int], fulfilled: int) -> None:
    margins, evidence = {}, []
    for each in sorted(predicates):
        fit = {side: most_that_fit(side, budget, each, fulfilled) for side in PAPER_SIDES}
        margins[each] = fit["noncanonical"] / fit["counting"]
        listed = [f"{side} {count:,}" for side, count in fit.items()]
        evidence.append(f"{each} predicates: {_joined(listed)} ({margins[each]:.2f} times)")
    if 10 in margins:
        report.claim(
            f"of 10 predicates, noncanonical holds over {PAPER_MARGIN} times as many subscriptions",
            margins[10] > PAPER_MARGIN,
            f"in {budget >> 20:,} MB; {'; '.join(evidence)}",
        )


def _with(panel: list[Row], *sides: str) -> list[Row]:
    rows = [row for row in panel if all(side in row for side in sides)]
    return sorted(rows, key=lambda row: int(row["subscriptions"]))


def _name(panel: list[Row]) -> str:
    return f"{panel[0]['predicates']} predicates, {panel[0]['fulfilled']:,} fulfilled"


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(parts)
