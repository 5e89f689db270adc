"""Hypothesis strategies shared by the property tests: values, events and expressions.

Few attributes and few values, so that predicates and events meet often; but among the values are
the ones that go wrong: integers past 2**53, infinities, empty and odd strings, TRUE beside 1.
"""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.expressions import COMPARISONS

ATTRIBUTES = ["a", "b", "c", "user.country", "odd name"]
NUMBERS = [-1, 0, 1, 1.0, 1.5, 2, 3, 2**53, 2**53 + 1, float(2**53), 10**30, float("inf"), -0.0]
STRINGS = ["", "a", "A", "ab", "abc", "b", "ba%", "a_b", "1", "é", "\U0001f600", "it's", "\ud800"]
MOMENTS = [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC)]
PATTERNS = ["", "%", "a%", "%a", "%b%", "a_", "a%b", "A%", "_", "%%", "ba!%", "a!_b", "a\\%"]
REGEXES = ["a", "^a", "b$", "a.b", "[ab]+", "(?i)A", ""]

numbers = st.sampled_from(NUMBERS)
strings = st.sampled_from(STRINGS)
values = st.one_of(numbers, strings, st.booleans(), st.sampled_from(MOMENTS))
nulls = st.sampled_from(["false", "sql"])

scalars = st.one_of(values, st.none(), st.just(float("nan")))
event_values = st.one_of(scalars, st.lists(scalars, max_size=3), st.frozensets(values, max_size=2))


def _nested(flat: dict[str, object]) -> dict[str, object]:
    event = dict(flat)
    if "user.country" in event:
        event["user"] = {"country": event.pop("user.country")}
    return event


events = st.dictionaries(st.sampled_from(ATTRIBUTES), event_values, max_size=5).map(_nested)


@st.composite
def predicates(draw: st.DrawFn) -> bf.Predicate:
    attribute = bf.attr(draw(st.sampled_from(ATTRIBUTES)))
    kind = draw(st.integers(0, 12))
    if kind <= 4:
        comparison = draw(st.sampled_from(sorted(COMPARISONS)))
        return bf.Predicate(attribute.name, comparison, draw(values))
    if kind == 5:
        chosen = draw(st.lists(values, min_size=1, max_size=4))
        return draw(st.sampled_from([attribute.is_in, attribute.not_in]))(chosen)
    if kind == 6:
        bounds = draw(
            st.one_of(
                st.tuples(numbers, numbers),
                st.tuples(strings, strings),
                st.tuples(st.sampled_from(MOMENTS), st.sampled_from(MOMENTS)),
            )
        )
        return draw(st.sampled_from([attribute.between, attribute.not_between]))(*bounds)
    if kind in (7, 8):
        like = draw(
            st.sampled_from(
                [attribute.like, attribute.not_like, attribute.ilike, attribute.not_ilike]
            )
        )
        return like(draw(st.sampled_from(PATTERNS)), draw(st.sampled_from([None, "!"])))
    if kind == 9:
        return draw(st.sampled_from([attribute.starts_with, attribute.ends_with]))(draw(strings))
    if kind == 10:
        return attribute.contains(draw(values))
    if kind == 11:
        return attribute.matches(draw(st.sampled_from(REGEXES)))
    return draw(st.sampled_from([attribute.is_null, attribute.exists]))()


# What every algorithm for conjunctions accepts: comparisons, and one value for an attribute.
comparisons = st.builds(
    bf.Predicate, st.sampled_from(ATTRIBUTES), st.sampled_from(sorted(COMPARISONS)), values
)
conjunctions = st.lists(comparisons, min_size=1, max_size=5).map(bf.all_of)
single_valued_events = st.dictionaries(st.sampled_from(ATTRIBUTES), values, max_size=5).map(_nested)


def _joined(children: st.SearchStrategy[bf.Expression]) -> st.SearchStrategy[bf.Expression]:
    several = st.lists(children, min_size=2, max_size=4)
    return st.one_of(
        several.map(bf.all_of),
        several.map(bf.any_of),
        several.map(bf.odd_of),
        children.map(bf.Not),
    )


leaves = st.one_of(predicates(), predicates(), predicates(), st.sampled_from([bf.TRUE, bf.FALSE]))
expressions = st.recursive(leaves, _joined, max_leaves=12)
