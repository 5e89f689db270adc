from __future__ import annotations

import pytest

import boolfilter as bf
from benchmarks.abegen_forests import forest_of_abegen
from boolfilter.evaluate import evaluate
from boolfilter.forest import expression_of
from boolfilter.workloads import AbeGen


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_forest_of_columns_has_the_normal_forms_of_the_expressions(
    depth: int, seed: int
) -> None:
    workload = AbeGen(depth=depth, children=3, dimensions=40, cardinality=5, event_size=20, pool=99)
    forest = forest_of_abegen(workload, 300, seed)
    expressions = workload.expressions(0, 300, seed)
    events = workload.events(0, 20, seed)
    same = 0
    for number, expression in enumerate(expressions):
        made = expression_of(forest, number)
        normal = bf.normalise(expression, nulls="sql")
        again = bf.normalise(made)
        same += normal == again
        for event in events:
            assert evaluate(made, event) is (evaluate(expression, event, nulls="sql") is True)
