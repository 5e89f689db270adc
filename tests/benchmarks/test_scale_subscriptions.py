"""What `scale-subscriptions` concludes from its rows, without Spark."""

import argparse
from itertools import pairwise
from typing import Any

import pytest

from benchmarks import scale_subscriptions
from benchmarks.report import Report
from benchmarks.scale_subscriptions import Setting


@pytest.fixture
def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    scale_subscriptions.add_options(parser)
    return parser.parse_args("--sizes 1000 4000 --shard 1000 --split 2 --split-size 1000".split())


def row(seconds: float, micros: float, mapped: float) -> dict[str, Any]:
    return {
        "build_seconds": seconds, "micros_an_event": micros, "mapped_mib": mapped,
        "disk_bytes_a_subscription": 200.0,
    }  # fmt: skip


def test_largest_index_is_also_matched_with_a_shard_at_a_time(options: argparse.Namespace) -> None:
    assert list(scale_subscriptions._indexes(options)) == [
        (1000, 1, [None]),
        (4000, 4, [None, 1]),
        (1000, 2, [None]),
    ]


def test_samples_do_not_overlap_and_reach_both_ends() -> None:
    for size in (30, 1_000_000):
        slices = scale_subscriptions._slices(size)
        assert slices[0][0] == 0
        assert slices[-1][1] == size
        assert all(before[1] <= after[0] for before, after in pairwise(slices))


def test_claims_hold_or_not_by_the_rows(options: argparse.Namespace) -> None:
    report = Report("scale-subscriptions", [], seed=1)
    rows = {
        Setting(1000, 1): row(1.0, 10.0, 10.0),
        Setting(4000, 4): row(5.0, 30.0, 40.0),
        Setting(4000, 4, 1): row(5.0, 50.0, 39.0),
        Setting(1000, 2): row(1.0, 15.0, 10.0),
    }
    scale_subscriptions._conclude(rows, options, report)
    assert [claim["holds"] for claim in report.claims] == [False, True, False]
    assert "5.0 times for 4 times the subscriptions" in report.claims[0]["evidence"]
    assert [panel.title for panel in report.plots[0].panels] == [
        "Matching", "Building", "Storage", "Mapped by a worker",
    ]  # fmt: skip
