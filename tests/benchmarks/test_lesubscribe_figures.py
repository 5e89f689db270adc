from __future__ import annotations

import pytest

import boolfilter as bf
from benchmarks import lesubscribe_figures as figures
from benchmarks.measure import in_child
from benchmarks.report import Report
from boolfilter.dnf import dnf
from boolfilter.workloads import LeSubscribe


def holds(claim, rows):
    report = Report("claims", [], seed=1)
    claim(report, rows)
    return [each["holds"] for each in report.claims]


def row(quarantining, preferred, fair=100.0, naive=200.0):
    return {
        "quarantining": quarantining,
        "equality-preferred": preferred,
        "fair-predicate": fair,
        "naive": naive,
        "encoding": 1.0,
        "matches": 1.0,
    }


def test_figure_9a_is_judged_at_every_size_and_naive_near_400_000():
    slow_naive = {100: row(1, 2, 3), 400_000: row(1, 2, 3, naive=9_000)}
    assert holds(figures._claim_figure_9a, slow_naive) == [True, True, True]
    assert holds(figures._claim_figure_9a, {100: row(1, 2, 3), 200: row(3, 2, 1)}) == [False] * 3


def test_figure_10_wants_equal_times_at_p_1_and_falling_times():
    assert holds(figures._claim_figure_10, {0.0: row(9, 9, 9), 1.0: row(1, 1.05, 3)}) == [True] * 2
    assert holds(figures._claim_figure_10, {0.0: row(9, 9, 9), 1.0: row(1, 1.2, 9)}) == [False] * 2


def test_figure_11_compares_growth_with_that_of_the_logarithm():
    rows = {1_000: row(10, 10), 1_000_000: row(19, 21)}  # twice the logarithm
    assert holds(figures._claim_figure_11, rows) == [False, True]


def test_conjunctions_to_insert_are_those_of_the_texts():
    workload = LeSubscribe()
    found = dict(figures._conjunctions(workload, 10, 210, 3))
    for number, text in enumerate(workload.texts(10, 210, 3), 10):
        assert (found.pop(number),) == dnf(bf.normalise(bf.parse(text)))
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quarantining", "engine"])
def test_insertion_is_measured_in_a_process_of_its_own(name):
    found = in_child("lesubscribe_figures", "insertions", name=name, size=500, seed=1)
    assert found["subscribe_micros"] > 0
