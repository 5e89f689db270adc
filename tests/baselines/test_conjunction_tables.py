from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.baselines.conjunction_tables import ALGORITHMS, literals_of
from boolfilter.events import flatten
from boolfilter.forest import forest_of
from boolfilter.workloads import LeSubscribe
from tests.strategies import conjunctions, single_valued_events

# Their normal forms have no negation.
positive = conjunctions.filter(lambda each: "<>" not in str(each)).map(bf.normalise)


def pairs(tables, events):
    event, row = tables.match(tables.encoder.encode(map(flatten, events)))
    return sorted(zip(event.tolist(), row.tolist(), strict=True))


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=60)
@given(st.lists(positive, min_size=1, max_size=10), st.lists(single_valued_events, max_size=6))
def test_compiled_tables_agree_with_the_oracle(name, subscriptions, batch):
    tables = ALGORITHMS[name](literals_of(forest_of(subscriptions)))
    expected = [
        (place, row)
        for place, event in enumerate(batch)
        for row, each in enumerate(subscriptions)
        if bf.evaluate(each, event)
    ]
    assert pairs(tables, batch) == expected
    assert pairs(tables, batch) == expected  # the counts were left clean


@pytest.mark.parametrize("equality", [0.0, 0.5, 1.0])
def test_compiled_tables_find_the_same_in_the_load_of_the_paper(equality):
    workload = LeSubscribe(equality=equality, string_values=5, number_values=50)
    literals = literals_of(forest_of(bf.normalise(bf.parse(t)) for t in workload.texts(0, 3000)))
    events = workload.events(0, 80)
    found = [pairs(algorithm(literals), events) for algorithm in ALGORITHMS.values()]
    assert len(found[0]) > 1024  # more than there is room for at first
    assert all(each == found[0] for each in found)


def test_quarantining_counts_only_subscriptions_with_no_equality():
    texts = ["a = 1 AND b > 2", "b > 2", "b > 2 AND c < 3", "a = 1"]
    literals = literals_of(forest_of(bf.normalise(bf.parse(text)) for text in texts))
    preferred = ALGORITHMS["equality-preferred"](literals)
    quarantining = ALGORITHMS["quarantining"](literals)
    assert preferred.groups.unclustered == quarantining.groups.unclustered == 2
    assert len(preferred.posting) == 4
    assert len(quarantining.posting) == 3
    assert len(quarantining.test_key) == 1


@pytest.mark.parametrize("text", ["a = 1 OR b = 2", "NOT a = 1", "a LIKE 'x_'", "a IN (1, 2)"])
def test_compiled_tables_refuse_what_is_no_conjunction_of_comparisons(text):
    with pytest.raises(bf.UnsupportedError):
        literals_of(forest_of([bf.normalise(bf.parse(text))]))


def test_compiled_tables_refuse_an_event_with_several_values_and_stay_clean():
    tables = ALGORITHMS["fair-predicate"](literals_of(forest_of([bf.parse("a < 5")])))
    with pytest.raises(bf.UnsupportedError, match="several values"):
        tables.match(tables.encoder.encode([{"a": (1, 2)}]))
    assert pairs(tables, [{"a": 1}]) == [(0, 0)]


def test_every_combination_has_a_place_in_the_hash_table():
    texts = [f"a = {i} AND b = {j}" for i in range(30) for j in range(30)]
    literals = literals_of(forest_of(map(bf.parse, texts)))
    tables = ALGORITHMS["quarantining"](literals)
    occupied = np.flatnonzero(tables.groups.table >= 0)
    assert len(occupied) == 900
    for i, j in [(0, 0), (7, 23), (29, 29)]:
        assert pairs(tables, [{"a": i, "b": j}]) == [(0, 30 * i + j)]
