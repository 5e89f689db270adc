"""The estimate of a cluster: its arithmetic, on figures that are easily checked by hand."""

import pytest

from benchmarks.sizing import Measured, fitted, measured_in, steps

MEASURED = Measured(
    bytes_a_subscription=200.0, micros_fixed=10.0, micros_a_million=25.0, worker_mib=100.0
)


def test_estimate_for_a_hundred_million_subscriptions_and_a_million_events_a_second() -> None:
    rows = steps(MEASURED, 100_000_000, 1_000_000, cores_a_host=64, use=0.5, shard=1_000_000)
    found = {row["quantity"]: row["estimate"] for row in rows}
    assert found["storage, GB"] == pytest.approx(20)
    assert found["shards"] == 100
    assert found["core time an event, microseconds"] == pytest.approx(2_510)
    assert found["cores busy"] == pytest.approx(2_510)
    assert found["cores"] == 5_020
    assert found["hosts"] == 79
    assert found["memory of a host for matching, GB"] == pytest.approx(20 + 6.7, abs=0.05)


def test_part_of_a_shard_a_core_or_a_host_is_a_whole_one() -> None:
    rows = steps(MEASURED, 1_500_000, 1_000, cores_a_host=64, use=0.7, shard=1_000_000)
    found = {row["quantity"]: row["estimate"] for row in rows}
    assert (found["shards"], found["cores"], found["hosts"]) == (2, 1, 1)


def test_line_through_measured_points() -> None:
    assert fitted([(0.5, 15.0), (1, 20.0), (2, 30.0)]) == pytest.approx((10, 10))


def test_line_does_not_begin_below_zero() -> None:
    assert fitted([(1, 1.0), (2, 4.0)]) == pytest.approx((0, 9 / 5))


def test_one_measured_size_gives_a_line_through_zero() -> None:
    assert fitted([(2, 50.0)]) == (0, 25)


def test_measured_figures_are_of_fewest_shards_and_of_tasks_with_all() -> None:
    def row(subscriptions: int, shards: int, micros: float, of_a_task: object) -> dict[str, object]:
        return {
            "subscriptions": subscriptions, "shards": shards, "shards_per_task": of_a_task,
            "core_micros_an_event": micros, "disk_bytes_a_subscription": 200 + shards,
            "worker_mib": micros,
        }  # fmt: skip

    measured = measured_in(
        [
            row(1_000_000, 1, 35.0, "all"),
            row(2_000_000, 2, 60.0, "all"),
            row(2_000_000, 2, 90.0, 1),
            row(1_000_000, 4, 50.0, "all"),
        ]
    )
    assert measured == pytest.approx((202, 10, 25, 60))
