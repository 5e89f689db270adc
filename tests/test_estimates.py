"""What a sample of events says of predicates, against counting by hand."""

import numpy as np
import pytest

import boolfilter as bf
from boolfilter.compiling import ranks_of_places
from boolfilter.estimates import _from_events
from boolfilter.forest import forest_of
from boolfilter.indexes.domains import build_domains

TEXTS = ["a = 3", "a < 3", "a <= 3", "a > 3", "a >= 3", "a BETWEEN 2 AND 5", "b = 'x'", "b > 'w'"]
EVENTS = [{"a": value} for value in (1, 2, 2.5, 3, 3, 4, 5, 6)] + [{"b": "x"}, {"b": "y"}]


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_the_share_of_the_sample_that_satisfies_a_predicate(number):
    expressions = [bf.normalise(bf.parse(text)) for text in TEXTS]
    forest = forest_of(expressions)
    domains, ranks = build_domains(forest.domains, forest.constants)
    first = ranks_of_places(forest, ranks, forest.first)
    second = ranks_of_places(forest, ranks, forest.second)
    chances = _from_events(forest, domains, first, second, EVENTS)
    share = np.mean([bf.evaluate(expressions[number], event) for event in EVENTS])
    predicate = forest.words[forest.starts[number]] >> 1
    assert chances[predicate] == pytest.approx(share)
