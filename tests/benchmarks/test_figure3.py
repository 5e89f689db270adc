"""The experiment figure3: that its sides answer alike, and that its verdicts follow the figures."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.figure3 import SIDES, measure
from benchmarks.figure3_claims import judge
from benchmarks.footprints import FOOTPRINTS, most_that_fit
from benchmarks.report import Report


@pytest.mark.parametrize("predicates", [6, 8])
def test_all_sides_find_the_same_and_take_the_memory_of_the_formulas(predicates: int) -> None:
    # Both are asserted inside: for every number of fulfilled predicates, and to the byte.
    measured = measure(
        subscriptions=1_000, predicates=predicates, fulfilled=[500, 1_000], sides=list(SIDES),
        events=12, repeats=1, seconds=0.001, seed=1,
    )  # fmt: skip
    assert [row["fulfilled"] for row in measured["rows"]] == [500, 1_000]
    assert all(
        row[side] > 0 and row[f"{side}_mb"] > 0 for row in measured["rows"] for side in SIDES
    )
    assert measured["rows"][1]["matches"] > 0


@pytest.mark.parametrize("side", FOOTPRINTS)
def test_as_many_subscriptions_fit_as_the_budget_holds(side: str) -> None:
    count = most_that_fit(side, 10_000_000, 8, 5_000)
    assert sum(FOOTPRINTS[side](count, 8, 5_000).values()) <= 10_000_000
    assert sum(FOOTPRINTS[side](count + 1, 8, 5_000).values()) > 10_000_000


def judged(**times: Any) -> dict[str, bool]:
    report = Report("figure3", [], seed=1)
    for predicates in (6, 10):
        for fulfilled in (5_000, 10_000):
            for size in (1_000, 10_000, 100_000):
                found = {side: time(size, predicates, fulfilled) for side, time in times.items()}
                report.add(predicates=predicates, fulfilled=fulfilled, subscriptions=size, **found)
    judge(report, 512 << 20, [6, 10], [5_000, 10_000])
    return {claim["claim"]: claim["holds"] for claim in report.claims}


def as_in_the_paper(side: str, size: int, predicates: int, fulfilled: int) -> float:
    if side == "counting":
        return size * predicates / 1_000 + fulfilled / 100
    return fulfilled * predicates / (100 if side == "variant" else 200) + size / 10_000


def test_figures_as_in_the_paper_bear_out_all_of_its_claims() -> None:
    times = {
        side: (lambda *given, side=side: as_in_the_paper(side, *given))
        for side in ("counting", "variant", "noncanonical")
    }
    verdicts = judged(**times)
    assert len(verdicts) == 8
    assert all(verdicts.values()), verdicts


def test_a_claim_that_the_figures_contradict_does_not_hold() -> None:
    verdicts = judged(
        counting=lambda size, predicates, fulfilled: size**2,
        variant=lambda size, predicates, fulfilled: size / predicates,
        noncanonical=lambda size, predicates, fulfilled: size / predicates + 1,
        engine=lambda size, predicates, fulfilled: size,
    )
    by_memory = [text for text in verdicts if "10 predicates" in text]
    assert [text for text, holds in verdicts.items() if holds] == by_memory


def test_what_no_row_tells_is_not_judged() -> None:
    report = Report("figure3", [], seed=1)
    report.add(predicates=6, fulfilled=5_000, subscriptions=1_000, engine=1.0)
    judge(report, 512 << 20, [6], [5_000])
    assert report.claims == []
