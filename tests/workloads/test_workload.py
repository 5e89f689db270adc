"""What holds for every workload: batching changes nothing, and all forms of a row agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolfilter import workloads
from boolfilter.workloads import TemplatedWorkload, Workload

SMALL: list[Workload] = [
    workloads.get("pairs", pairs=3),
    workloads.get("pairs", pairs=5, shapes=7),
    workloads.get("lesubscribe"),
    workloads.get("lesubscribe", equality=1.0),
    workloads.get("skewed", outlines=50),
    workloads.get("noncanonical", predicates=6, subscriptions=2000, fulfilled=5000),
    workloads.get("abegen", dimensions=30, event_size=5, pool=1000),
    workloads.get("abegen", dimensions=40, depth=4, children=3, alpha=1.0, pool=50),
    workloads.get("light", properties=30),
    workloads.get("light", properties=30, model="exponential"),
    workloads.get("thesis"),
]
TEMPLATED = [workload for workload in SMALL if isinstance(workload, TemplatedWorkload)]

seeds = st.integers(0, 1 << 64)


@st.composite
def slices(draw: st.DrawFn) -> tuple[int, int, int]:
    """A start, a stop, and a place between them."""
    start = draw(st.integers(0, 1000))
    size = draw(st.integers(0, 70))
    return start, start + size, start + draw(st.integers(0, size))


@given(st.sampled_from(SMALL), slices(), seeds)
def test_batching_does_not_change_texts(
    workload: Workload, rows: tuple[int, int, int], seed: int
) -> None:
    start, stop, between = rows
    together = workload.texts(start, stop, seed)
    assert len(together) == stop - start
    assert workload.texts(start, between, seed) + workload.texts(between, stop, seed) == together


@given(st.sampled_from(SMALL), slices(), seeds)
def test_batching_does_not_change_events(
    workload: Workload, rows: tuple[int, int, int], seed: int
) -> None:
    start, stop, between = rows
    together = workload.events(start, stop, seed)
    assert len(together) == stop - start
    assert workload.events(start, between, seed) + workload.events(between, stop, seed) == together


@given(st.sampled_from(SMALL), slices(), seeds)
def test_dicts_and_arrow_events_agree(
    workload: Workload, rows: tuple[int, int, int], seed: int
) -> None:
    start, stop, _ = rows
    table = workload.event_table(start, stop, seed)
    bound = [
        {name: value for name, value in row.items() if value is not None}
        for row in table.to_pylist()
    ]
    assert bound == workload.events(start, stop, seed)


@pytest.mark.parametrize("workload", SMALL, ids=str)
def test_the_arrow_schema_does_not_depend_on_the_rows(workload: Workload) -> None:
    schema = workload.event_table(0, 100).schema
    assert workload.event_table(5, 5).schema == schema
    assert workload.event_table(7, 8, seed=9).schema == schema


@given(st.sampled_from(TEMPLATED), slices(), seeds)
def test_templates_and_texts_agree(
    workload: TemplatedWorkload, rows: tuple[int, int, int], seed: int
) -> None:
    start, stop, _ = rows
    texts: dict[int, str] = {}
    for template in workload.templates(start, stop, seed):
        assert template.text.count("?") == len(template.columns)
        for place, row in enumerate(template.rows.tolist()):
            assert row not in texts
            texts[row] = filled(template.text, [column[place] for column in template.columns])
    assert [texts[row] for row in range(start, stop)] == workload.texts(start, stop, seed)
    assert len(texts) == stop - start


def filled(text: str, values: list[Any]) -> str:
    for value in values:
        text = text.replace("?", f"'{value}'" if isinstance(value, str) else str(value), 1)
    return text


@pytest.mark.parametrize("workload", SMALL, ids=str)
def test_seeds_give_different_rows(workload: Workload) -> None:
    assert workload.texts(0, 20, seed=1) != workload.texts(0, 20, seed=2)
    assert workload.events(0, 20, seed=1) != workload.events(0, 20, seed=2)


@pytest.mark.parametrize("workload", SMALL, ids=str)
def test_event_values_are_plain_python_values(workload: Workload) -> None:
    kinds = {type(value) for event in workload.events(0, 20) for value in event.values()}
    assert kinds <= {int, str}


@pytest.mark.parametrize("workload", SMALL, ids=str)
def test_rows_in_no_order_are_refused(workload: Workload) -> None:
    for start, stop in [(-1, 1), (3, 2)]:
        with pytest.raises(ValueError, match="0 <= start <= stop"):
            workload.texts(start, stop)
        with pytest.raises(ValueError, match="0 <= start <= stop"):
            workload.events(start, stop)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'pears', but pairs, lesubscribe, skewed, noncanonical"):
        workloads.get("pears")


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        workloads.get("pairs", colour=3)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("pairs", {"pairs": 21}),
        ("pairs", {"pairs": 0}),
        ("pairs", {"shapes": 0}),
        ("lesubscribe", {"equality": 1.5}),
        ("skewed", {"bound": 101}),
        ("skewed", {"fewest_predicates": 9, "most_predicates": 8}),
        ("noncanonical", {"predicates": 7}),
        ("noncanonical", {"subscriptions": 100, "fulfilled": 801}),
        ("abegen", {"depth": 0}),
        ("abegen", {"children": 1}),
        ("abegen", {"event_size": 31, "dimensions": 30}),
        ("abegen", {"cardinality": 1}),
        ("abegen", {"alpha": -0.5}),
        ("light", {"model": "poisson"}),
        ("light", {"asked_for_0": 0.4, "asked_for_1": 0.4}),
        ("thesis", {"optional": 2.0}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        workloads.get(name, **parameters)
