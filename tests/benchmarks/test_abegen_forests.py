from __future__ import annotations

import pytest

import boolfilter as bf
from benchmarks.abegen_forests import forest_of_abegen
from boolfilter.evaluate import evaluate
from boolfilter.forest import expression_of
from boolfilter.workloads import AbeGen


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_forest_of_columns_has_the_normal_forms_of_the_expressions(depth: int) -> None:
    workload = AbeGen(depth=depth, children=3, dimensions=40, cardinality=5, event_size=20, pool=99)
    forest = forest_of_abegen(workload, 150, seed=1)
    events = workload.events(0, 10, seed=1)
    same = 0
    for number, expression in enumerate(workload.expressions(0, 150, seed=1)):
        made = expression_of(forest, number)
        same += bf.normalise(made) == bf.normalise(expression, nulls="sql")
        for event in events:
            assert evaluate(made, event) is (evaluate(expression, event, nulls="sql") is True)
    # Not where XOR is under XOR, which normalise takes for one chain and pairs off otherwise.
    assert same >= 0.95 * 150
