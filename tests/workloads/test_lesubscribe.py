from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boolfilter.workloads import LeSubscribe


@pytest.fixture(scope="module")
def predicates(read: Callable[[str], Any]) -> list[list[tuple[Any, ...]]]:
    return [read(text).predicates for text in LeSubscribe().texts(0, 20_000)]


def test_each_attribute_is_in_half_of_the_subscriptions(
    predicates: list[list[tuple[Any, ...]]],
) -> None:
    present = Counter(attribute for row in predicates for attribute, *_ in row)
    assert set(present) == {"s0", "s1", "s2", "n0", "n1", "n2"}
    # 32 of the 63 subsets that are not empty.
    assert all(abs(count / 20_000 - 32 / 63) < 0.015 for count in present.values())
    assert min(map(len, predicates)) == 1
    assert max(map(len, predicates)) == 6


def test_no_attribute_is_asked_for_twice(predicates: list[list[tuple[Any, ...]]]) -> None:
    assert all(len({attribute for attribute, *_ in row}) == len(row) for row in predicates)


def test_strings_are_asked_for_by_equality_and_numbers_by_half(
    predicates: list[list[tuple[Any, ...]]],
) -> None:
    uses = Counter((attribute[0], operator) for row in predicates for attribute, operator, _ in row)
    assert {operator for kind, operator in uses if kind == "s"} == {"="}
    numbers = sum(count for (kind, _), count in uses.items() if kind == "n")
    assert abs(uses["n", "="] / numbers - 0.5) < 0.01
    assert abs(uses["n", "<"] / numbers - 0.25) < 0.01
    assert abs(uses["n", ">"] / numbers - 0.25) < 0.01


def test_values_are_of_the_domain(predicates: list[list[tuple[Any, ...]]]) -> None:
    strings = {value for row in predicates for name, _, value in row if name[0] == "s"}
    numbers = {value for row in predicates for name, _, value in row if name[0] == "n"}
    assert strings == {f"v{value}" for value in range(200)}
    assert min(numbers) >= 0
    assert max(numbers) < 5000
    assert len(numbers) > 4900


@pytest.mark.parametrize(("equality", "operators"), [(1.0, {"="}), (0.0, {"<", ">"})])
def test_equality_alone_decides_how_numbers_are_asked_for(
    read: Callable[[str], Any], equality: float, operators: set[str]
) -> None:
    texts = LeSubscribe(equality=equality).texts(0, 500)
    found = {p[1] for text in texts for p in read(text).predicates if p[0][0] == "n"}
    assert found == operators


def test_there_are_at_most_511_templates() -> None:
    assert len(list(LeSubscribe().templates(0, 50_000))) <= 511
    assert len(list(LeSubscribe(equality=1.0).templates(0, 50_000))) == 63


def test_events_bind_each_attribute_with_probability_a_half() -> None:
    columns = LeSubscribe().event_columns(0, 20_000)
    for values, bound in columns.values():
        assert bound is not None
        assert abs(bound.mean() - 0.5) < 0.015
        size = 200 if values.dtype.kind == "U" else 5000
        assert len(np.unique(values)) > 0.97 * size
    assert {} in LeSubscribe().events(0, 1_000)


def test_whether_an_attribute_is_bound_says_nothing_about_its_value() -> None:
    for values, bound in LeSubscribe().event_columns(0, 20_000).values():
        everything = len(np.unique(values))
        assert len(np.unique(values[bound])) > 0.8 * everything
        assert len(np.unique(values[~bound])) > 0.8 * everything
