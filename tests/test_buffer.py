from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import boolfilter as bf
from boolfilter.buffer import Buffer
from boolfilter.events import flatten
from tests.strategies import events, expressions, nulls


def normal(text: str) -> bf.Expression:
    return bf.normalise(bf.parse(text))


def buffer_of(*texts: str) -> Buffer:
    buffer = Buffer()
    for number, text in enumerate(texts):
        buffer.add(number, normal(text), 1)
    buffer.check()
    return buffer


def matches(text: str, event: dict[str, object]) -> bool:
    """Whether the buffer says so; the oracle must say the same."""
    found = buffer_of(text).match(flatten(event), 1) == [0]
    assert found is bf.evaluate(bf.parse(text), event)
    return found


class BufferMachine(RuleBasedStateMachine):
    """Against every state there has been, each kept as a plain dict."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = Buffer()
        self.states: list[dict[str | int, bf.Expression]] = [{}]
        self.oldest = 0

    @rule(key=st.sampled_from([1, 2, 3, "a", "b"]), expression=expressions, nulls=nulls)
    def add(self, key, expression, nulls):
        expression = bf.normalise(expression, nulls=nulls)
        version = len(self.states)
        if key in self.states[-1]:
            with pytest.raises(ValueError, match="already"):
                self.buffer.add(key, expression, version)
        else:
            self.buffer.add(key, expression, version)
            self.states.append({**self.states[-1], key: expression})

    @rule(key=st.sampled_from([1, 2, 3, "a", "b"]))
    def remove(self, key):
        version = len(self.states)
        assert self.buffer.remove(key, version) is (key in self.states[-1])
        if key in self.states[-1]:
            self.states.append({k: e for k, e in self.states[-1].items() if k != key})

    @precondition(lambda self: self.states[-1])
    @rule(data=st.data(), expression=expressions)
    def replace_in_one_version(self, data, expression):
        key = data.draw(st.sampled_from(list(self.states[-1])))
        expression = bf.normalise(expression)
        version = len(self.states)
        self.buffer.remove(key, version)
        self.buffer.add(key, expression, version)
        others = {k: e for k, e in self.states[-1].items() if k != key}
        self.states.append({**others, key: expression})

    @rule(data=st.data())
    def forget(self, data):
        self.oldest = data.draw(st.integers(self.oldest, len(self.states) - 1))
        self.buffer.forget(self.oldest)

    @rule(event=events, data=st.data())
    def match(self, event, data):
        version = data.draw(st.integers(self.oldest, len(self.states) - 1))
        expected = [
            key
            for key, expression in self.states[version].items()
            if bf.evaluate(expression, event)
        ]
        assert self.buffer.match(flatten(event), version) == expected

    @invariant()
    def it_is_whole(self):
        self.buffer.check()

    @invariant()
    def it_shows_every_state_there_has_been(self):
        for version in range(self.oldest, len(self.states)):
            assert self.buffer.items(version) == list(self.states[version].items())
        now = self.states[-1]
        assert len(self.buffer) == len(now)
        for key in (1, 2, 3, "a", "b"):
            assert (key in self.buffer) is (key in now)
            assert self.buffer.get(key) is now.get(key)


TestBufferMachine = BufferMachine.TestCase
TestBufferMachine.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


@given(st.lists(expressions, max_size=12), st.lists(events, max_size=5), nulls)
def test_matches_are_those_of_the_oracle_in_order(expressions, events, nulls):
    buffer = Buffer()
    normals = [bf.normalise(expression, nulls=nulls) for expression in expressions]
    for key, expression in enumerate(normals):
        buffer.add(key, expression, key)
    for event in events:
        expected = [key for key, each in enumerate(normals) if bf.evaluate(each, event)]
        assert buffer.match(flatten(event), len(normals)) == expected


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("a = 1", [1, 1.0, (2, 1)], [True, "1", 2, (2, True)]),
        ("a = TRUE", [True], [1, 1.0, "true", False]),
        ("a IN (1, 'x', TRUE)", [1.0, "x", True, (0, "x")], [False, "1", 2, (0, "y")]),
        ("a < 5", [4, 4.9, -(10**400), float("-inf"), (9, 4)], [5, 5.0, "4", False, (9, "4")]),
        ("a <= 5", [5, 5.0], [5.1, 10**400, float("inf")]),
        ("a > 9007199254740992", [2**53 + 1, float("inf")], [2**53, float(2**53)]),
        ("a >= 5", [5, 6], [4, True, "6"]),
        ("a < 'b'", ["", "a", "azz"], ["b", 1, True]),
        ("a >= 'b'", ["b", "\U0010ffff\U0010ffff"], ["a", ""]),
        ("a > FALSE", [True], [False, 1]),
        ("a <= FALSE", [False], [True, 0]),
        ("a BETWEEN 3 AND 5", [3, 4.5, (1, 4)], [2, 6, (1, 9), "4"]),
        ("a BETWEEN 'b' AND 'd'", ["b", "cx"], ["e", 3]),
        ("a STARTS WITH 'ab'", ["ab", "abc", ("x", "abc")], ["xab", 1, ("x", 1)]),
        ("a ENDS WITH 'ab'", ["ab", "xab"], ["abx"]),
        ("a CONTAINS 'ab'", ["ab", "xaby", ["ab"]], ["b", ["xaby"], 1]),
        ("a CONTAINS 1", [1, [0, 1.0]], [True, "1", [2]]),
        ("a LIKE '%ab%'", ["xaby", ["xaby"]], ["b", 1]),
        ("a LIKE 'a_b%c'", ["axbc", "axbzzc"], ["abc", "axb"]),
        ("a ILIKE 'AB%'", ["ab", "aBc"], ["xab", 1]),
        ("a ILIKE 'A%b_C'", ["aXbYc"], ["abc"]),
        ("a ILIKE 'Ab'", ["aB"], ["abc"]),
        ("a ILIKE ''", [""], ["a"]),
        ("a ILIKE '%'", ["", "a", ["", 1]], [1, [1]]),
        ("a MATCHES 'b+$'", ["abb", ["x", "b"]], ["ba", 1]),
        ("EXISTS a", [0, "", False, [1]], [None, [], float("nan")]),
        ("a IS NULL", [None, []], [0, [1]]),
        ("NOT a = 1", [None, 2, "1", [2, 3]], [1, 1.0, [2, 1]]),
        ("a <> 1", [2, True, [2, 3]], [None, 1, [2, 1]]),
        ("NOT a < 5", [None, 5, "4"], [4, [1, 9]]),
    ],
)
def test_each_kind_of_index(text, yes, no):
    # Once as the access predicate, once as a leaf behind another.
    for whole in (text, f"({text}) AND b = 1"):
        for value in yes:
            assert matches(whole, {"a": value, "b": 1})
        for value in no:
            assert not matches(whole, {"a": value, "b": 1})


@given(st.permutations(range(8)), st.integers(0, 7), st.sets(st.integers(0, 7)))
def test_many_bounds_on_one_attribute(bounds, value, gone):
    texts = [f"a {'< <= > >='.split()[bound % 4]} {bound // 2}" for bound in bounds]
    buffer = buffer_of(*texts)
    for number in gone:
        buffer.remove(number, 2)
    event = {"a": value / 2}
    holding = [n for n, text in enumerate(texts) if bf.evaluate(bf.parse(text), event)]
    assert buffer.match(event, 1) == holding
    buffer.forget(2)
    buffer.check()
    assert buffer.match(event, 2) == [number for number in holding if number not in gone]


def test_timestamps_are_ordered_and_apart_from_numbers():
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    text = "a > TIMESTAMP '2024-05-01T11:00:00Z'"
    assert matches(text, {"a": noon})
    assert matches(text, {"a": datetime.max.replace(tzinfo=UTC)})
    assert not matches(text, {"a": noon.replace(hour=11)})
    assert not matches(text, {"a": noon.timestamp()})


def test_constants_match_all_or_nothing():
    assert buffer_of("TRUE", "FALSE", "a = 1").match({}, 1) == [0]


def test_a_subscription_with_several_true_access_leaves_comes_once():
    assert buffer_of("a = 1 OR b = 2 OR a > 0").match({"a": 1, "b": 2}, 1) == [0]


def test_overlapping_access_predicates_can_be_forgotten():
    buffer = buffer_of("(a = 1 AND b > 0) OR (a IN (1, 2) AND c > 0)")
    buffer.remove(0, 2)
    buffer.forget(2)
    buffer.check()
    assert buffer.held == 0
    assert buffer.match({"a": 1, "b": 1}, 2) == []


def test_versions_cannot_go_back():
    buffer = buffer_of("a = 1")
    with pytest.raises(ValueError, match="version 0 cannot follow version 1"):
        buffer.add("late", normal("a = 2"), 0)
    with pytest.raises(ValueError, match="cannot follow"):
        buffer.remove(0, 0)
    buffer.check()
    assert buffer.match({"a": 1}, 1) == [0]
    assert "late" not in buffer


def test_a_version_before_the_addition_sees_nothing():
    buffer = Buffer()
    buffer.add("alice", normal("a = 1"), 5)
    assert buffer.match({"a": 1}, 4) == []
    assert buffer.items(4) == []
    assert buffer.match({"a": 1}, 5) == ["alice"]


def test_a_reader_sees_its_version_while_a_writer_goes_on():
    texts = ["a < {n}", "a > {n}", "b = 1", "NOT c = 1", "s CONTAINS 'x'", "EXISTS a"]
    buffer = Buffer()
    for number in range(60):
        buffer.add(number, normal(texts[number % 6].format(n=number)), 1)
    event = {"a": 30, "b": 1, "s": "xyz"}
    expected = buffer.match(event, 1)
    assert 30 < len(expected) < 60
    latest = [1]
    failures: list[BaseException] = []

    def write():
        try:
            for round_ in range(200):
                version = round_ + 2
                text = texts[round_ % 6].format(n=-(10**6) if round_ % 6 else 10**6)
                buffer.remove(round_ % 60, version)
                buffer.add(1000 + round_, normal(text), version)
                latest[0] = version
        except BaseException as failure:
            failures.append(failure)

    writer = threading.Thread(target=write)
    writer.start()
    looks = 0
    while writer.is_alive() or looks == 0:
        assert buffer.match(event, 1) == expected
        version = latest[0]
        seen = buffer.match(event, version)
        assert seen == buffer.match(event, version)
        known = dict(buffer.items(version))
        assert seen == [key for key in known if bf.evaluate(known[key], event)]
        looks += 1
    writer.join()
    assert not failures
    buffer.check()
