"""The algorithms for conjunctions: accepted subscriptions, and the examples of paper 000."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.baselines.aguilera import Aguilera
from boolfilter.baselines.equality_clusters import EqualityClusters
from boolfilter.baselines.fair_predicate import FairPredicate
from boolfilter.baselines.gough import Gough, TreeSizeError
from boolfilter.baselines.hanson import Hanson
from boolfilter.baselines.neon import Neon
from boolfilter.baselines.predicate_clusters import PredicateClusters
from boolfilter.values import Kind
from tests.strategies import conjunctions, nulls, single_valued_events

NAMES = [
    "naive", "fair-predicate", "equality-preferred", "quarantining", "gough", "hanson", "aguilera",
    "neon",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60)
@given(
    subscriptions=st.lists(conjunctions, max_size=8),
    removed=st.sets(st.integers(0, 7)),
    batch=st.lists(single_valued_events, max_size=5),
    nulls=nulls,
)
def test_conjunctions_of_comparisons_are_accepted_and_agree_with_the_oracle(
    name, subscriptions, removed, batch, nulls
):
    matcher = bf.matcher(name, nulls=nulls)
    live = dict(enumerate(subscriptions))
    matcher.subscribe_many(live.items())
    for id in removed & live.keys():
        matcher.unsubscribe(id)
        del live[id]
    assert matcher.match_many(batch) == [
        [id for id, each in live.items() if bf.evaluate(each, event, nulls=nulls)]
        for event in batch
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_constant_is_implied_and_an_equality_excludes_the_others(name):
    # Section 3.1: (price, <=, 10) implies (price, <=, 20); (price, =, 10) excludes (price, =, 20).
    matcher = bf.matcher(name)
    for text in ("price <= 10", "price <= 20", "price = 10", "price = 20"):
        matcher.subscribe(text, text)
    assert matcher.match({"price": 10}) == ["price <= 10", "price <= 20", "price = 10"]
    assert matcher.match({"price": 20}) == ["price <= 20", "price = 20"]


@pytest.mark.parametrize("name", NAMES)
def test_toys_under_five_are_found_as_in_the_introduction(name):
    matcher = bf.matcher(name)
    matcher.subscribe("toys", "category = 'Toy' AND price < 5")
    assert matcher.match({"category": "Toy", "price": 4, "description": "a bear"}) == ["toys"]
    assert matcher.match({"category": "Toy", "price": 5}) == []
    assert matcher.match({"category": "Car", "price": 4}) == []
    assert matcher.match({"category": "Toy"}) == []  # every attribute needs a binding


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gough"])
def test_a_contains_predicate_holds_if_the_value_is_among_those_of_the_event(name):
    # Section 2.3, with `furniture_category` as an equality: hierarchies are a matter of schemas.
    matcher = bf.matcher(name)
    matcher.subscribe(
        "tables", "event_type CONTAINS 'antiques' AND furniture_category = 'dining table'"
    )
    event = {"event_type": ["antiques", "furniture"], "furniture_category": "dining table"}
    assert matcher.match(event) == ["tables"]
    assert matcher.match({**event, "event_type": ["furniture"]}) == []


def test_a_predicate_is_stored_once_by_fair_predicate():
    matcher = FairPredicate()
    matcher.subscribe_many([("a", "x = 1 AND y < 2"), ("b", "x = 1 AND y < 3"), ("c", "y < 2")])
    assert len(matcher._predicates) == 3
    matcher.unsubscribe("b")
    assert len(matcher._predicates) == 2


def test_subscriptions_with_equalities_on_the_same_attributes_share_a_cluster():
    clusters = EqualityClusters()
    x, y = ("x", Kind.NUMBER), ("y", Kind.NUMBER)
    clusters.insert(0, {x: 1, y: 1})
    clusters.insert(1, {y: 2, x: 1})
    clusters.insert(2, {x: 1})
    assert len(clusters) == 2
    assert sorted(clusters.satisfied({"x": 1, "y": 2})) == [1, 2]
    clusters.remove(2, {x: 1})
    assert len(clusters) == 1


def test_an_event_of_many_values_scans_a_cluster_and_not_their_combinations():
    clusters = EqualityClusters()
    fields = [(name, Kind.NUMBER) for name in "abcdef"]
    clusters.insert(0, dict.fromkeys(fields, 99))
    clusters.insert(1, dict.fromkeys(fields, 100))
    event = {name: tuple(range(100)) for name in "abcdef"}  # 10**12 combinations
    assert list(clusters.satisfied(event)) == [0]


def test_aguilera_has_one_edge_for_an_equality_and_a_star_for_those_who_do_not_care():
    matcher = Aguilera()
    matcher.subscribe_many([("a", "x = 1 AND y = 1"), ("b", "x = 1 AND y = 2"), ("c", "y = 1")])
    assert matcher.nodes() == 6  # root; x = 1; y = 1 and y = 2 below; *; y = 1 below
    assert matcher.match({"x": 1, "y": 1}) == ["a", "c"]
    for id in "abc":
        matcher.unsubscribe(id)
    assert matcher.nodes() == 1


def test_a_nonequality_predicate_is_a_node_of_its_own_in_aguileras_tree():
    equalities, ranges = Aguilera(), Aguilera()
    equalities.subscribe_many((i, f"x = {i}") for i in range(10))
    ranges.subscribe_many((i, f"x < {i}") for i in range(10))
    assert equalities.nodes() == 11  # one test with ten edges
    assert ranges.nodes() == 20  # ten tests, each below the * of the one before


def test_goughs_tree_repeats_subscriptions_below_edges_they_do_not_care_about():
    matcher = Gough()
    matcher.subscribe_many((f"x{i}", f"x = {i}") for i in range(5))
    assert matcher.nodes() == 1
    matcher.subscribe("y", "y = 1")
    assert matcher.nodes() == 1 + 6  # a node for y below each x, and where x is something else


def test_goughs_tree_refuses_what_makes_it_too_large_and_stays_as_it_was():
    matcher = Gough(most_nodes=20)
    matcher.subscribe("kept", "a = 1")
    with pytest.raises(TreeSizeError, match="over the bound of 20"):
        matcher.subscribe_many((number, f"{'abcdef'[number]} = 1") for number in range(6))
    assert len(matcher) == 1
    assert matcher.match({"a": 1}) == ["kept"]


def test_goughs_tree_refuses_searches_and_events_with_several_values():
    matcher = Gough()
    with pytest.raises(bf.UnsupportedError, match="LIKE makes no edge"):
        matcher.subscribe("alice", "name LIKE 'a_b'")
    assert "alice" not in matcher
    matcher.subscribe("bob", "price < 3")
    assert matcher.match({"price": [2], "other": [1, 2]}) == ["bob"]
    with pytest.raises(bf.UnsupportedError, match="'price' has several values"):
        matcher.match({"price": [2, 5]})


@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_attributes_are_no_deeper_than_the_stack(name):
    matcher = bf.matcher(name)
    text = " AND ".join(f"a{number} = 1" for number in range(1000))
    matcher.subscribe("long", text)
    assert matcher.match({f"a{number}": 1 for number in range(1000)}) == ["long"]


def test_equal_predicates_are_counted_once_for_each_subscription():
    clusters = PredicateClusters()
    clusters.insert(1, [bf.parse("a < 5"), bf.parse("a <= 5"), bf.parse("a > 3")])
    assert clusters.hits({"a": 5})[1] == 2
    assert clusters.hits({"a": (1, 5)})[1] == 3  # one value for each of them will do
    clusters.remove(1, [bf.parse("a < 5")])
    assert len(clusters) == 2


def test_hanson_indexes_the_most_selective_predicate_only():
    matcher = Hanson()
    matcher.subscribe_many((i, f"rare = {i} AND common = {i % 2} AND x < 5") for i in range(10))
    matcher.subscribe("range", "x BETWEEN 1 AND 3 AND y < 5")
    matcher.subscribe("search", "name LIKE 'a_b'")
    number = Kind.NUMBER
    sizes = {field: len(index) for field, index in matcher._indexes.items()}
    assert sizes[("rare", number)] >= 9  # all but the first, which knew no difference
    assert sizes[("x", number)] == 1
    assert len(matcher._not_indexed) == 1
    event = {"rare": 4, "common": 0, "x": 2, "y": 0, "name": "a-b"}
    assert matcher.match(event) == [4, "range", "search"]


def test_neon_stores_a_predicate_as_often_as_it_is_asked_for():
    matcher = Neon()
    matcher.subscribe_many([("a", "x = 1 AND y < 2"), ("b", "x = 1"), ("c", "x = 1 AND y < 2")])
    assert [len(rows) for rows in matcher._predicates.values()] in ([3, 2], [2, 3])
    for id in "abc":
        matcher.unsubscribe(id)
    assert not matcher._predicates
