"""Strategies of subscriptions and events that restricted algorithms have room for."""

from __future__ import annotations

from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.expressions import COMPARISONS
from tests.strategies import MOMENTS, numbers, strings

_ATTRIBUTES = ["a", "b", "c"]
_ordered_values = st.one_of(numbers, numbers, strings, st.booleans(), st.sampled_from(MOMENTS))


@st.composite
def _comparisons(draw: st.DrawFn) -> bf.Expression:
    attribute = draw(st.sampled_from(_ATTRIBUTES))
    kind = draw(st.integers(0, 5))
    if kind == 0:
        bounds = draw(st.tuples(numbers, numbers) | st.tuples(strings, strings))
        return bf.attr(attribute).between(*bounds)
    if kind == 1:
        return draw(st.sampled_from([bf.attr(attribute).exists, bf.attr(attribute).is_null]))()
    comparison = draw(st.sampled_from(sorted(COMPARISONS)))
    return bf.Predicate(attribute, comparison, draw(_ordered_values))


ordered_subscriptions = st.lists(
    _comparisons() | _comparisons().map(bf.Not), min_size=1, max_size=5
).map(bf.all_of)
"""Conjunctions of comparisons, BETWEEN and IS [NOT] NULL, negated or not."""

single_valued_events = st.dictionaries(st.sampled_from(_ATTRIBUTES), _ordered_values, max_size=3)
