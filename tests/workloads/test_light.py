from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boolfilter.workloads import Light


@pytest.fixture(scope="module")
def predicates(read: Callable[[str], Any]) -> list[list[tuple[Any, ...]]]:
    return [read(text).predicates for text in Light().texts(0, 3_000) if text != "TRUE"]


def ones(workload: Light, events: int) -> Any:
    return sum(column.values for column in workload.event_columns(0, events).values())


def test_a_tenth_of_the_properties_is_asked_for_half_of_them_to_be_1(
    predicates: list[list[tuple[Any, ...]]],
) -> None:
    assert abs(np.mean([len(row) for row in predicates]) - 10) < 1
    asked = Counter(value for row in predicates for _, _, value in row)
    assert set(asked) == {0, 1}
    assert abs(asked[1] / asked.total() - 0.5) < 0.05


def test_shares_of_properties_lie_around_their_means(
    predicates: list[list[tuple[Any, ...]]],
) -> None:
    asked = Counter((name, value) for row in predicates for name, _, value in row)
    shares = np.array(list(asked.values())) / len(predicates)
    assert len(shares) == 200
    assert 0.015 < shares.min() < 0.035
    assert 0.065 < shares.max() < 0.095


def test_no_property_is_asked_for_twice(predicates: list[list[tuple[Any, ...]]]) -> None:
    assert all(len({name for name, *_ in row}) == len(row) for row in predicates)


def test_a_subscription_that_asks_for_nothing_is_true() -> None:
    assert set(Light(properties=1, asked_for_0=0, asked_for_1=0).texts(0, 3)) == {"TRUE"}


def test_zipf_events_have_three_ones_on_average_and_mostly_one() -> None:
    found = ones(Light(), 20_000)
    assert found.min() == 1
    assert abs(found.mean() - 3.17) < 0.25
    assert abs((found == 1).mean() - 1 / 1.635) < 0.01
    assert abs((found == 2).mean() - 1 / 4 / 1.635) < 0.01


def test_exponential_events_have_ten_ones_on_average() -> None:
    found = ones(Light(model="exponential"), 5_000)
    assert abs(found.mean() - 10) < 0.2
    assert abs(found.std() - 3) < 0.2


@pytest.mark.parametrize("model", ["zipf", "exponential"])
def test_every_property_is_1_as_often_as_another(model: Any) -> None:
    columns = Light(model=model, properties=20).event_columns(0, 20_000)
    shares = np.array([column.values.mean() for column in columns.values()])
    assert shares.max() - shares.min() < 0.02
