"""That the experiments of papers 001, 003 and 004 run: small, for what they find is for reports."""

from __future__ import annotations

import argparse

import pytest

from benchmarks import algorithms, light_events, observe, profile_orders, thesis
from benchmarks.report import Report


@pytest.fixture(autouse=True)
def _all_cores(monkeypatch):
    for module in (algorithms, light_events, observe, thesis):
        monkeypatch.setattr(module, "use_cores", lambda count: None)


def run(module, arguments: str) -> Report:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    module.add_options(parser)
    report = Report("some", [], seed=1)
    module.run(parser.parse_args(arguments.split()), report)
    return report


def test_light_events_compares_trees_that_find_the_same():
    report = run(
        light_events,
        "--sizes 100 200 --varied-size 200 --alphas 2 3 --ones 0.05 0.1 --most-ones 3 "
        "--most-ones-varied 1 --events 100 --repeats 1 --seconds 0.001",
    )
    assert {row["figure"] for row in report.rows} >= {"3", "4", "c"}
    assert all(row["nodes, RAPIDMatch"] > 0 for row in report.rows if row["figure"] != "5"
               and row["figure"] != "6")  # fmt: skip
    assert any("never worse" in claim["claim"] for claim in report.claims)
    assert len(report.plots[0].panels) == 6


def test_profile_orders_counts_what_it_expects(monkeypatch):
    few = {name: profile_orders.DISTRIBUTIONS[name] for name in ("equal", "gauss", "gauss high")}
    monkeypatch.setattr(profile_orders, "DISTRIBUTIONS", few | {"peak low": few["gauss"]})
    report = run(profile_orders, "--profiles 50 --events 500 --attribute-profiles 4")
    pairs = [row for row in report.rows if "profiles" in row]
    assert len(pairs) == 16
    assert report.claims[0]["holds"], "steps counted are not those expected"
    assert all(row["V1"] <= row["V2"] + 1e-9 for row in pairs)


def test_thesis_matches_alike_and_times_insertions():
    report = run(thesis, "--sizes 100 200 --events 64 --inserted 10 --repeats 1")
    assert [row["subscriptions"] for row in report.rows][:2] == [100, 200]
    assert any(row.get("insertion into") == "engine" for row in report.rows)


def test_observe_learns_from_events_that_are_not_matched():
    report = run(observe, "--subscriptions 300 --samples 50 --events 512 --repeats 1")
    assert [row["estimates_by"] for row in report.rows] == ["subscriptions alone", "50 events"]


def test_algorithms_measures_a_matcher_by_its_time():
    sizes = {"sizes": [20, 10**9], "events": 10, "seconds": 60, "seed": 1}
    (row,) = algorithms.measure(name="treematch", kind="ranges", **sizes)
    assert row["by"] == "compiled"
    assert row["stopped"].startswith("the next size would take")
    assert row["micros"] > 0
