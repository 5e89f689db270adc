from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.baselines.counting import Counting, CountingMatcher, CountingVariant
from boolfilter.baselines.normal_forms import LiteralCountError
from boolfilter.baselines.phases import Fulfilled
from boolfilter.compiling import compile_segment
from boolfilter.dnf import ConjunctionCountError, dnf_size
from boolfilter.events import flatten
from boolfilter.forest import forest_of
from boolfilter.workloads import get
from tests.strategies import events, expressions, nulls

ALGORITHMS = [Counting, CountingVariant]
both = pytest.mark.parametrize("algorithm", ALGORITHMS)


def matcher_of(algorithm, texts):
    return algorithm.from_forest(forest_of(bf.normalise(bf.parse(text)) for text in texts))


def found(matcher, *batch):
    event, ordinal = matcher.match(matcher.encoder.encode([flatten(one) for one in batch]))
    return list(zip(event.tolist(), ordinal.tolist(), strict=True))


def is_clean(matcher):
    scratch = matcher._scratch
    return not (scratch.hits.any() or scratch.truth.any() or scratch.seen.any())


@both
@settings(max_examples=50)
@given(
    subscriptions=st.lists(expressions, max_size=8),
    removed=st.sets(st.integers(0, 7)),
    batch=st.lists(events, max_size=5),
    nulls=nulls,
)
def test_it_matches_as_the_oracle_does_before_and_after_unsubscriptions(
    algorithm, subscriptions, removed, batch, nulls
):
    normal = [bf.normalise(expression, nulls=nulls) for expression in subscriptions]
    matcher = algorithm.from_forest(forest_of(normal))

    def expected(gone):
        return [
            (place, number)
            for place, event in enumerate(batch)
            for number, expression in enumerate(subscriptions)
            if number not in gone and bf.evaluate(expression, event, nulls=nulls)
        ]

    assert found(matcher, *batch) == expected(())
    assert is_clean(matcher)
    assert found(matcher, *batch) == expected(())
    for ordinal in removed & set(range(len(subscriptions))):
        matcher.remove(ordinal)
    assert found(matcher, *batch) == expected(removed)
    assert is_clean(matcher)


@both
def test_no_number_of_fulfilled_predicates_is_mistaken_for_the_right_one(algorithm):
    positive, negative = range(55), range(55, 255)
    text = " AND ".join([*(f"a{n} = 1" for n in positive), *(f"NOT a{n} = 1" for n in negative)])
    none = " AND ".join(f"NOT a{n} = 1" for n in range(255))
    matcher = matcher_of(algorithm, [text, none])
    batch = [
        {f"a{n}": 1 for n in (*positive[:p], *negative[:n])}
        for p in (0, 1, 54, 55)
        for n in range(len(negative) + 1)
    ]
    whole = 3 * (len(negative) + 1)
    assert found(matcher, *batch) == [(0, 1), (whole, 0)]
    assert is_clean(matcher)


@pytest.mark.parametrize("name", ["counting", "counting-variant"])
def test_a_conjunction_of_over_255_predicates_is_refused(name):
    matcher = bf.matcher(name)
    texts = [" AND ".join(f"a{n} = {n}" for n in range(count)) for count in (255, 256)]
    matcher.subscribe("fits", texts[0])
    with pytest.raises(LiteralCountError) as refused:
        matcher.subscribe("does not", texts[1])
    assert (refused.value.actual, refused.value.limit) == (256, 255)
    with pytest.raises(ConjunctionCountError):
        matcher.subscribe("neither", " AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(14)))
    assert matcher.match({f"a{n}": n for n in range(256)}) == ["fits"]


@both
def test_a_predicate_that_stands_twice_in_a_tree_is_one(algorithm):
    matcher = matcher_of(
        algorithm, ["a = 1 AND (a = 1 OR b = 1)", "a = 1 AND (NOT a = 1 OR b = 1)"]
    )
    assert matcher.first_conjunction.tolist() == [0, 1, 2]
    assert found(matcher, {"a": 1}, {"b": 1}, {"a": 1, "b": 1}) == [(0, 0), (2, 0), (2, 1)]


@both
def test_constants_and_what_wants_no_predicate(algorithm):
    matcher = matcher_of(algorithm, ["FALSE", "TRUE", "NOT a = 1", "FALSE", "a IS NULL OR b = 1"])
    assert matcher.first_conjunction.tolist() == [0, 0, 1, 2, 2, 4]
    assert found(matcher, {}, {"a": 1}, {"a": 1, "b": 1}) == [
        (0, 1), (0, 2), (0, 4), (1, 1), (2, 1), (2, 4),
    ]  # fmt: skip
    assert found(matcher_of(algorithm, []), {"a": 1}) == []
    assert found(matcher_of(algorithm, ["FALSE"]), {"a": 1}) == []


@both
def test_more_matches_and_candidates_than_expected_are_all_returned(algorithm):
    matcher = matcher_of(algorithm, [f"a > {n} OR b > {n}" for n in range(5000)])
    pairs = found(matcher, {"a": 10**6, "b": 10**6}, {"a": 0}, {"a": 4000})
    assert pairs == [(0, n) for n in range(5000)] + [(2, n) for n in range(4000)]
    assert is_clean(matcher)


def test_only_the_variant_compares_few_conjunctions():
    texts = [f"a = {n} AND (b = {n} OR c = {n})" for n in range(100)]
    for algorithm, compared in ((Counting, 200), (CountingVariant, 2)):
        matcher = matcher_of(algorithm, texts)
        found(matcher, {"a": 1})
        assert matcher.work_per_event() == (1, compared)


@both
@pytest.mark.parametrize("predicates", [6, 10])
def test_the_papers_subscriptions_have_the_conjunctions_and_bytes_of_the_paper(
    algorithm, predicates
):
    workload = get("noncanonical", predicates=predicates, subscriptions=1_000, fulfilled=600)
    matcher = matcher_of(algorithm, workload.texts(0, 1_000))
    pairs = predicates // 2
    assert matcher.conjunctions == 1_000 * 2**pairs
    assert set(matcher.counts[: matcher.conjunctions].tolist()) == {pairs}
    used = matcher.bytes_used()
    assert used["hit vector"] == used["count vector"] == -(-1_000 * 2**pairs // 256) * 256
    assert len(matcher.association) == 1_000 * 2**pairs * pairs
    assert used["unsubscription"] == 4 * (1_000 * predicates + 1_001)


@both
@pytest.mark.parametrize("name", ["pairs", "lesubscribe", "skewed"])
def test_it_finds_what_a_segment_finds(algorithm, name):
    workload = get(name)
    normal = [bf.normalise(bf.parse(text)) for text in workload.texts(0, 2_000)]
    small = [expression for expression in normal if dnf_size(expression) <= 200]
    assert len(small) > 1_500
    forest = forest_of(small)
    segment, matcher = compile_segment(forest), algorithm.from_forest(forest)
    batch = workload.events(0, 20)
    items = segment.encoder.encode([flatten(event) for event in batch])
    assert found(matcher, *batch) == list(
        zip(*(part.tolist() for part in segment.match(items)), strict=True)
    )


@both
def test_step_two_matches_what_fulfilled_predicates_tell(algorithm):
    matcher = matcher_of(algorithm, ["a = 1 AND b = 1", "b = 1 OR c = 1"])
    items = matcher.encoder.encode([{"a": 1, "b": 1}, {"c": 1}, {}])
    ((first, fulfilled),) = matcher.fulfilled(items)
    assert (first, len(fulfilled), fulfilled.start.tolist()) == (0, 3, [0, 2, 3, 3])
    alone = Fulfilled(fulfilled.start[:2], fulfilled.predicates[:2])
    assert [part.tolist() for part in matcher.match_fulfilled(alone)] == [[0, 0], [0, 1]]


def test_unsubscription_keeps_the_compiled_tables():
    matcher = CountingMatcher()
    matcher.subscribe_many((n, f"a = 1 AND NOT b = {n}") for n in range(10))
    tables = matcher.tables()
    for n in range(0, 10, 2):
        matcher.unsubscribe(n)
    assert matcher.match({"a": 1, "b": 3}) == [1, 5, 7, 9]
    assert matcher.tables() is tables
    matcher.subscribe("new", "b = 3")
    assert matcher.match({"a": 1, "b": 3}) == [1, 5, 7, 9, "new"]


def test_a_removed_subscription_leaves_the_association_table():
    matcher = matcher_of(Counting, ["a = 1", "a = 1 AND b = 1", "a = 1"])
    before = matcher.association.copy()
    matcher.remove(1)
    assert np.count_nonzero(matcher.association != before) > 0
    assert 1 not in matcher.association


def test_both_can_share_their_tables():
    counting = matcher_of(Counting, ["a = 1 AND b = 1", "NOT a = 1", "a = 1"])
    variant = counting.variant()
    assert variant.association is counting.association
    counting.remove(2)
    assert found(variant, {"a": 1, "b": 1}, {}) == found(counting, {"a": 1, "b": 1}, {})
