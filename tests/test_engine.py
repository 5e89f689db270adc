from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import boolfilter as bf
from boolfilter import engine as engine_module
from tests.strategies import events, expressions, nulls

ids = st.one_of(st.sampled_from(["alice", "bob", "1", ""]), st.integers(0, 9))


class EngineAgainstOracle(RuleBasedStateMachine):
    """Any interleaving of changes and merges matches as a dict of expressions would."""

    @initialize(nulls=nulls)
    def start(self, nulls):
        self.nulls = nulls
        self.engine = bf.Engine(nulls=nulls, background=False)
        self.expected = {}

    @rule(id=ids, expression=expressions, as_text=st.booleans())
    def subscribe(self, id, expression, as_text):
        subscription = str(expression) if as_text else expression
        if id in self.expected:
            with pytest.raises(bf.SubscriptionIdError):
                self.engine.subscribe(id, subscription)
        else:
            self.engine.subscribe(id, subscription)
            self.expected[id] = expression

    @rule(id=ids, expression=expressions)
    def replace(self, id, expression):
        self.engine.subscribe(id, expression, replace=True)
        self.expected.pop(id, None)
        self.expected[id] = expression

    @rule(id=ids)
    def unsubscribe(self, id):
        if id in self.expected:
            self.engine.unsubscribe(id)
            del self.expected[id]
        else:
            with pytest.raises(bf.UnknownSubscriptionError):
                self.engine.unsubscribe(id)

    @rule(pairs=st.lists(st.tuples(ids, expressions), max_size=5), as_text=st.booleans())
    def subscribe_many(self, pairs, as_text):
        given = [(id, str(expression)) if as_text else (id, expression) for id, expression in pairs]
        fresh = {}
        doubled = False
        for id, expression in pairs:
            doubled |= id in self.expected or id in fresh
            fresh.setdefault(id, expression)
        if doubled:
            with pytest.raises(bf.BadSubscriptionError):
                self.engine.subscribe_many(given)
        else:
            assert self.engine.subscribe_many(given) == []
            self.expected |= fresh

    @rule()
    def flush(self):
        with self.engine._writing:
            self.engine._flush()

    @rule()
    def save_and_open(self):
        with tempfile.TemporaryDirectory() as folder:
            self.engine.save(Path(folder) / "subs.bf")
            self.engine = bf.Engine.open(Path(folder) / "subs.bf", background=False)
        assert self.engine.nulls == self.nulls

    @rule(sample=st.lists(events, max_size=3))
    def optimise(self, sample):
        self.engine.optimise(sample)

    @rule(batch=st.lists(events, min_size=1, max_size=3))
    def match(self, batch):
        expected = [
            [id for id, e in self.expected.items() if bf.evaluate(e, event, nulls=self.nulls)]
            for event in batch
        ]
        assert [self.engine.match(event) for event in batch] == expected
        assert self.engine.match_many(batch) == expected

    @precondition(lambda self: self.expected)
    @rule(data=st.data(), event=events)
    def look_up(self, data, event):
        id = data.draw(st.sampled_from(list(self.expected)))
        expected = bf.evaluate(self.expected[id], event, nulls=self.nulls)
        assert bf.evaluate(self.engine[id], event) == expected
        assert self.engine.explain(id, event).matches == expected

    @invariant()
    def holds_what_is_expected(self):
        if hasattr(self, "engine"):
            assert list(self.engine) == list(self.expected)
            assert len(self.engine) == len(self.expected)
            assert all(id in self.engine for id in self.expected)
            assert self.engine.stats().subscriptions == len(self.expected)


TestEngineAgainstOracle = EngineAgainstOracle.TestCase
TestEngineAgainstOracle.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_a_bad_subscription_of_a_load_is_named_and_nothing_is_changed():
    engine = bf.Engine()
    engine.subscribe("old", "a = 1")
    with pytest.raises(bf.BadSubscriptionError) as caught:
        engine.subscribe_many([("x", "a = 1"), ("y", "a = ")])
    assert (caught.value.position, caught.value.id) == (1, "y")
    assert isinstance(caught.value.reason, bf.SubscriptionSyntaxError)
    assert list(engine) == ["old"]
    rejected = engine.subscribe_many(
        [("x", "a = 1"), ("y", "a = "), ("x", "a = 2"), (None, "a"), "z", ("old", "a")],
        errors="collect",
    )
    assert [(item.position, item.id) for item in rejected] == [
        (1, "y"), (2, "x"), (3, None), (4, None), (5, "old"),
    ]  # fmt: skip
    assert engine.match({"a": 1}) == ["old", "x"]


def test_progress_is_told():
    told = []
    pairs = [(number, f"a = {number}") for number in range(25_000)]
    engine = bf.Engine()
    engine.subscribe_many(pairs, progress=lambda done, total: told.append((done, total)))
    assert told == [(10_000, 25_000), (20_000, 25_000), (25_000, 25_000)]
    assert engine.match({"a": 24_999}) == [24_999]


@pytest.mark.parametrize("id", [None, True, 1.5, b"x", 2**63])
def test_bad_ids_are_refused(id):
    with pytest.raises(bf.SubscriptionIdError):
        bf.Engine().subscribe(id, "a = 1")


def test_failures_leave_the_engine_as_it_was():
    engine = bf.Engine()
    engine.subscribe("a", "x = 1")
    for bad in ("x = ", 5, None):
        with pytest.raises(bf.BoolFilterError):
            engine.subscribe("a", bad, replace=True)
    with pytest.raises(bf.SubscriptionIdError):
        engine.subscribe("a", "x = 2")
    with pytest.raises(bf.EventError):
        engine.match([1])
    assert engine.match({"x": 1}) == ["a"]


def test_layers_stay_few_and_tombstones_are_dropped(monkeypatch):
    monkeypatch.setattr(engine_module, "_BUFFER_SIZE", 10)
    engine = bf.Engine(background=False)
    for number in range(2000):
        engine.subscribe(number, f"a = {number % 7} AND b > {number}")
        if number % 3 == 0:
            engine.unsubscribe(number)
    assert len(engine._snapshot.layers) <= 5
    assert sum(layer.dead_count for layer in engine._snapshot.layers) < len(engine)
    alive = [number for number in range(2000) if number % 3]
    assert list(engine) == alive
    assert engine.match({"a": 3, "b": 1000}) == [n for n in alive if n % 7 == 3 and n < 1000]


def test_matching_goes_on_while_others_subscribe_and_merge(monkeypatch):
    """Pairs of subscriptions are always added and removed together, so a match sees both or
    neither; and the two halves of a replaced one are never seen at once."""
    monkeypatch.setattr(engine_module, "_BUFFER_SIZE", 50)
    engine = bf.Engine()
    engine.subscribe_many([(f"base {n}", "a = 1") for n in range(100)])
    engine.subscribe("swapped", "a = 1 AND b = 0")
    stop = threading.Event()
    failures = []

    def read():
        while not stop.is_set():
            found = engine.match({"a": 1, "b": 0, "c": 1})
            if found[:100] != [f"base {n}" for n in range(100)] or found.count("swapped") != 1:
                failures.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(600):
        engine.subscribe(number, f"a = 1 AND c = {number}")
        engine.subscribe("swapped", f"a = 1 AND (b = 0 OR c = {number})", replace=True)
        if number % 2:
            engine.unsubscribe(number)
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []


def test_what_is_unsubscribed_during_a_merge_stays_gone(monkeypatch):
    engine = bf.Engine(background=False)
    engine.subscribe_many([(n, "a = 1") for n in range(10)])
    merge = engine_module.merge_layers

    def merge_slowly(layers, sample):
        merged = merge(layers, sample)
        engine.unsubscribe(3)
        engine.subscribe(10, "a = 1")
        return merged

    monkeypatch.setattr(engine_module, "merge_layers", merge_slowly)
    engine.optimise()
    assert engine.match({"a": 1}) == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]


def test_match_arrow_gives_what_match_gives():
    pa = pytest.importorskip("pyarrow")
    engine = bf.Engine()
    engine.subscribe_many([(n, f"a > {n} AND tags CONTAINS 'x'") for n in range(50)])
    engine.subscribe(100, "user.country = 'NZ' OR b IS NULL")
    engine.unsubscribe(7)
    rows = [
        {"a": 9, "tags": ["x", "y"], "user": {"country": "NZ"}, "b": 1.5},
        {"a": None, "tags": [], "user": None, "b": None},
        {"a": 60, "tags": ["x"], "user": {"country": "AU"}, "b": 0.0},
    ]
    table = pa.Table.from_pylist(rows)
    expected = [(n, id) for n, row in enumerate(rows) for id in engine.match(row)]
    for events_given in (table, table.to_batches()[0], pa.concat_tables([table, table])[:3]):
        found = engine.match_arrow(events_given)
        assert found.schema.names == ["event", "subscription"]
        assert list(zip(*found.to_pydict().values(), strict=True)) == expected
    engine.subscribe("named", "a = 60")
    found = engine.match_arrow(table).to_pydict()
    assert found["subscription"][-1] == "named"
    assert found["subscription"][:-1] == [str(id) for _, id in expected]
    assert engine.match_arrow(table[:0]).num_rows == 0
    with pytest.raises(bf.EventError):
        engine.match_arrow(rows)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["=", "<", "<=", ">", ">="]),
            st.sampled_from([-1, 0, 1.5, 2, 2**53 - 1, 2**53, 2**53 + 1, 10**30]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.dictionaries(
        st.sampled_from("abcd"),
        st.sampled_from([-1, 0, 1.5, 2, 2.0**53, 2**53 - 1, 2**53, 2**53 + 1, 10**30, 10**400]),
    ),
)
def test_events_of_numbers_only_match_exactly(comparisons, event):
    engine = bf.Engine()
    texts = [f"{name} {operator} {value}" for name, operator, value in comparisons]
    engine.subscribe_many(enumerate(texts))
    expected = [n for n, text in enumerate(texts) if bf.evaluate(bf.parse(text), event)]
    assert engine.match(event) == expected
    engine.subscribe("present", "EXISTS a")
    engine.optimise()
    assert engine.match(event) == expected + ["present"] * ("a" in event)


def test_match_arrow_gives_string_ids():
    pa = pytest.importorskip("pyarrow")
    engine = bf.Engine()
    engine.subscribe_many([("alice", "a = 1"), ("é", "a > 0"), ("", "a = 2")])
    found = engine.match_arrow(pa.table({"a": [1, 2, 3]})).to_pydict()
    assert found == {"event": [0, 0, 1, 1, 2], "subscription": ["alice", "é", "é", "", "é"]}


def test_a_damaged_file_is_refused(tmp_path):
    engine = bf.Engine()
    engine.subscribe_many([("alice", "a = 1"), (5, "a = 2"), ("bob", "b LIKE 'x%'")])
    engine.unsubscribe("alice")
    path = tmp_path / "subs.bf"
    engine.save(path)
    data = path.read_bytes()
    assert bf.Engine.open(path).match({"a": 2, "b": "xy"}) == [5, "bob"]
    for place in range(0, len(data), 7):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(bf.DamagedFileError):
            bf.Engine.open(path)
    with pytest.raises(FileNotFoundError):
        bf.Engine.open(tmp_path / "missing.bf")


@pytest.mark.slow
def test_a_minute_of_threads_and_merges(monkeypatch):
    """Readers check that what they see is a state that existed: the subscriptions come and go in
    order, so the living are always a run of numbers, and every match is one."""
    monkeypatch.setattr(engine_module, "_BUFFER_SIZE", 100)
    engine = bf.Engine()
    stop = threading.Event()
    failures = []

    def read():
        while not stop.is_set():
            found = engine.match({"a": 1})
            if found != list(range(found[0], found[-1] + 1)) if found else False:
                failures.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    end = time.monotonic() + 60
    number = 0
    while time.monotonic() < end and not failures:
        engine.subscribe(number, f"a = 1 OR b = {number}")
        if number >= 3_000:
            engine.unsubscribe(number - 3_000)
        if number % 5_000 == 4_999:
            engine.optimise()
        number += 1
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert number > 5_000
