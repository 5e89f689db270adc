"""What a user of an engine with a schema sees: refusals, growth, files, threads."""

from __future__ import annotations

import random
import threading
import time
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import boolfilter as bf
from boolfilter.persistence import open_layers
from boolfilter.schema import enumerated, hierarchical, timestamp
from boolfilter.storage import write_file
from boolfilter.workloads import Thesis
from tests.schema.examples import CARS, LE_SUBSCRIBE, THESIS

MIXED = bf.Schema(
    domains={
        **LE_SUBSCRIBE.domains,
        "moment": timestamp(),
        "brand": enumerated(["mini", "opel", "volvo"]),
    },
    attributes={
        "price": "amount",
        "category": "furniture",
        "sold": "moment",
        "brand": "brand",
        "name": "text",
    },
    event_types={
        "thing": {
            "price": "optional",
            "category": "optional multiple",
            "sold": "optional",
            "brand": "optional multiple",
            "name": "optional",
        }
    },
    unique={"price"},
    default_type="thing",
)


def test_the_subscription_of_the_thesis_matches_its_third_event_only() -> None:
    engine = bf.Engine(schema=CARS)
    engine.subscribe("s", "event_type CONTAINS 'car' AND price < 1300 AND brand = 'mini'")
    ei1 = {"event_type": ["antique", "car"], "price": 900}
    ei2 = {"event_type": ["antique", "car"], "price": 900, "brand": "audi"}
    ei3 = {"event_type": ["antique", "car"], "price": 1100, "brand": "mini"}
    assert engine.match_many([ei1, ei2, ei3]) == [[], [], ["s"]]


def test_the_subscription_of_le_subscribe_is_satisfied_by_kinds_of_dining_tables() -> None:
    engine = bf.Engine(schema=LE_SUBSCRIBE, validate="raise")
    engine.subscribe("s", "event_type CONTAINS 'antiques' AND furniture_category < 'dining table'")
    event = {
        "event_type": ["antiques", "furniture"],
        "price": 200,
        "quantity": 2,
        "period": "XVI",
    }
    assert engine.match({**event, "furniture_category": "extending table"}) == ["s"]
    assert engine.match({**event, "furniture_category": "dining table"}) == []
    assert engine.match({**event, "furniture_category": "table"}) == []


def test_the_type_of_an_event_is_a_set_and_not_a_text() -> None:
    schema = THESIS.with_event_type("carpet", {"price": "mandatory"})
    engine = bf.Engine(schema=schema)
    engine.subscribe("s", "event_type CONTAINS 'car'")
    assert engine.match_many([{"event_type": "carpet"}, {"event_type": "car"}]) == [[], ["s"]]


@pytest.mark.parametrize(
    ("text", "line", "column", "problem", "hint"),
    [
        ("prise < 10", 1, 1, "the schema has no attribute 'prise'", "did you mean 'price'?"),
        ('NOT "price " < 10', 1, 5, "no attribute 'price '", "'price'"),
        ("price < 10 AND\n  EXISTS nothing", 2, 10, "no attribute 'nothing'", None),
        ("price < '10'", 1, 9, "price is numeric: its values are numbers, not '10'", None),
        ("price IN (1, 'a')", 1, 14, "its values are numbers, not 'a'", None),
        ("price OR brand = 'mini'", 1, 1, "its values are numbers, not TRUE", None),
        ("price LIKE '1%'", 1, 7, "price is numeric, without the operator LIKE", "= <> < <="),
        ("price BETWEEN 1 AND 2 XOR brand < 'mini'", 1, 33, "without the operator <", "= <> IN"),
        ("brand -- or make\n > 'x'", 2, 2, "without the operator >", None),
        ("brand NOT IN ('mini', 'opl')", 1, 23, "'opl' is not a value of brand", "'opel'"),
        ("brand = 'fiat'", 1, 9, "'fiat' is not a value", "'mini', 'opel', 'volvo'"),
        ("category IS A 'cheir'", 1, 15, "'cheir' is not a value of category", "'chair'"),
        ("category >= 'chair'", 1, 10, "category is hierarchical, without the operator >=", None),
        ("brand IS A 'mini'", 1, 7, "brand is enumerated, without the operator IS A", None),
        ("sold > 'yesterday'", 1, 8, "its values are timestamps, not 'yesterday'", None),
        ("event_type = 'thin'", 1, 14, "'thin' is not a value", "did you mean 'thing'?"),
        ("TRUE AND (FALSE OR name = 5)", 1, 27, "name is string: its values are strings", None),
    ],
)
def test_a_subscription_that_does_not_fit_is_refused_with_the_place(
    text: str, line: int, column: int, problem: str, hint: str | None
) -> None:
    engine = bf.Engine(schema=MIXED)
    with pytest.raises(bf.SubscriptionSchemaError) as caught:
        engine.subscribe("alice", text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert problem in caught.value.problem
    assert hint is None or hint in (caught.value.hint or "")
    assert len(engine) == 0
    with pytest.raises(bf.SubscriptionSchemaError) as built:  # from Python: the text it prints
        engine.subscribe("bob", bf.parse(text))
    assert built.value.problem == caught.value.problem
    with pytest.raises(bf.BadSubscriptionError, match="number 1 of the load"):
        engine.subscribe_many([("good", "price < 10"), ("bad", text)])
    rejected = engine.subscribe_many([(1, text), (2, "price < 10")], errors="collect")
    assert [(entry.id, type(entry.error)) for entry in rejected] == [
        (1, bf.SubscriptionSchemaError)
    ]
    assert list(engine) == [2]


def test_a_text_in_a_subscription_stands_for_a_timestamp() -> None:
    engine = bf.Engine(schema=MIXED)
    engine.subscribe(1, "sold >= '2024-05-01' AND sold < TIMESTAMP '2024-06-01'")
    engine.subscribe(2, "sold BETWEEN '2024-05-31' AND '2024-06-30'")
    events = [{"sold": "2024-05-31T12:00:00Z"}, {"sold": "2024-06-01"}, {"sold": "in May"}]
    assert engine.match_many(events) == [[1, 2], [2], []]
    table = pa.table({"sold": [event["sold"] for event in events]})
    assert engine.match_arrow(table).to_pylist() == [
        {"event": 0, "subscription": 1},
        {"event": 0, "subscription": 2},
        {"event": 1, "subscription": 2},
    ]


def test_a_contradiction_is_folded_only_for_a_unique_attribute() -> None:
    engine = bf.Engine(schema=MIXED)
    engine.subscribe("price", "price > 5 AND price < 3")
    engine.subscribe("brand", "brand = 'mini' AND brand = 'opel'")
    assert str(engine["price"]) == "FALSE"
    assert engine.match({"brand": ["mini", "opel"]}) == ["brand"]


def test_templates_are_checked_by_column() -> None:
    engine = bf.Engine(schema=MIXED)
    engine.subscribe_template(
        "category IS A ? AND price < ? AND sold >= ?",
        [1, 2, 3],
        [["chair", "dining room", "table"], np.array([5, 50, 500]), ["2024-05-01"] * 3],
    )
    event = {"category": "stool", "price": 4, "sold": "2024-05-02"}
    assert engine.match(event) == [1, 2]
    assert engine.match({**event, "sold": "2024-04-02"}) == []
    engine.subscribe_template("brand IN (?, 'opel')", [4], [pa.array(["mini"])])
    with pytest.raises(bf.BadSubscriptionError) as caught:
        engine.subscribe_template("brand = ?", [7, 8, 9], [["mini", "fiat", "fiat"]])
    assert (caught.value.position, caught.value.id) == (1, 8)
    assert isinstance(caught.value.reason, bf.SubscriptionSchemaError)
    for template, column in [
        ("prise < ?", [5]),
        ("price LIKE ?", ["a"]),
        ("price < ?", ["5"]),
        ("sold < ?", ["soon"]),
        ("brand > ?", ["mini"]),
    ]:
        with pytest.raises(bf.BadSubscriptionError, match="number 0 of the load"):
            engine.subscribe_template(template, [9], [column])
    assert len(engine) == 4


def test_bulk_loads_of_texts_see_kinds_and_timestamps() -> None:
    engine = bf.Engine(schema=MIXED)
    engine.subscribe_many((n, f"price < {n} AND category IS A 'chair'") for n in range(100))
    engine.subscribe_many((n, f"price < {n} AND brand CONTAINS 'mini'") for n in range(100, 200))
    event = {"price": 97, "category": ["bed", "stool"], "brand": "mini"}
    assert engine.match(event) == [98, 99, *range(100, 200)]


def test_a_saved_engine_keeps_its_schema(tmp_path: Path) -> None:
    engine = bf.Engine(schema=MIXED, nulls="sql")
    engine.subscribe("s", "category < 'chair'")
    engine.save(tmp_path / "subs.bf")
    opened = bf.Engine.open(tmp_path / "subs.bf")
    assert opened.schema == MIXED
    assert opened.match({"category": "stool"}) == ["s"]
    assert str(opened["s"]) == "category < 'chair'"
    grown = MIXED.with_event_type("other", {"price": "mandatory"})
    opened = bf.Engine.open(tmp_path / "subs.bf", schema=grown, validate="drop")
    assert opened.schema == grown
    assert opened.match({"category": "sofa"}) == []
    assert opened.dropped == 1
    with pytest.raises(bf.SchemaError, match="would be gone"):
        bf.Engine.open(tmp_path / "subs.bf", schema=CARS)
    with pytest.raises(bf.DamagedFileError, match="it has a schema"):
        open_layers(tmp_path / "subs.bf")
    bf.Engine().save(tmp_path / "plain.bf")
    with pytest.raises(bf.SchemaError, match="without a schema"):
        bf.Engine.open(tmp_path / "plain.bf", schema=CARS)


def test_a_file_with_a_foreign_schema_is_refused(tmp_path: Path) -> None:
    meta = {"content": "boolfilter engine", "nulls": "false", "layers": []}
    write_file(tmp_path / "subs.bf", meta, {"schema": np.frombuffer(b'{"a": 1}', np.uint8)})
    with pytest.raises(bf.DamagedFileError, match=r"its schema is of no use: .* no schema"):
        bf.Engine.open(tmp_path / "subs.bf")


def test_growth_reaches_the_engine_at_once_and_shrinking_does_not() -> None:
    engine = bf.Engine(schema=CARS, validate="raise")
    engine.subscribe("s", "price < 10")
    van = {"event_type": "van", "price": 5}
    with pytest.raises(bf.EventRuleError, match="'van' is no event type"):
        engine.match(van)
    with pytest.raises(bf.SubscriptionSchemaError):
        engine.subscribe("t", "event_type = 'van'")
    grown = engine.evolve(lambda schema: schema.with_event_type("van", {"price": "mandatory"}))
    assert engine.schema is grown
    assert grown.version == 2
    assert engine.match(van) == ["s"]
    engine.subscribe("t", "event_type = 'van'")
    assert engine.match(van) == ["s", "t"]
    for change in (lambda _: CARS, lambda _: None, lambda schema: schema.with_domain("amount", 5)):
        with pytest.raises(bf.SchemaError):
            engine.evolve(change)
    assert engine.schema is grown


def test_the_wrong_options_are_refused() -> None:
    with pytest.raises(bf.SchemaError, match="needs a schema"):
        bf.Engine(validate="raise")
    with pytest.raises(bf.SchemaError, match='validate is "raise", "drop" or "off"'):
        bf.Engine(schema=CARS, validate="maybe")  # type: ignore[arg-type]
    with pytest.raises(bf.SchemaError, match="not dict"):
        bf.Engine(schema={})  # type: ignore[arg-type]
    with pytest.raises(bf.SchemaError, match="no schema"):
        bf.Engine().evolve(lambda schema: schema)
    assert (bf.Engine().schema, bf.Engine().dropped) == (None, 0)


def test_schemas_grow_while_threads_match_and_publish() -> None:
    """Publishers add types of events and subscribe to them at once; nothing is lost or torn."""
    engine = bf.Engine(schema=CARS, validate="raise", background=False)
    engine.subscribe("all", "price < 10")
    problems: list[BaseException] = []
    stop = threading.Event()

    def publish(publisher: int) -> None:
        for number in range(20):
            name = f"type-{publisher}-{number}"
            uses = {name: "mandatory", "price": "optional"}
            engine.evolve(methodcaller("with_attribute", name, "amount"))
            engine.evolve(methodcaller("with_event_type", name, uses))
            engine.subscribe(name, f"event_type = '{name}' AND \"{name}\" = 1")
            event = {"event_type": name, name: 1, "price": 5}
            assert engine.match(event) == ["all", name]

    def match() -> None:
        event = {"event_type": "car", "price": 5, "brand": "mini", "cc": 1000}
        table = pa.Table.from_pylist([event])
        while not stop.is_set():
            assert engine.match(event) == ["all"]
            assert engine.match_arrow(table).num_rows == 1

    def guarded(work: Any, *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as problem:
            problems.append(problem)

    matching = threading.Thread(target=guarded, args=(match,))
    publishing = [threading.Thread(target=guarded, args=(publish, n)) for n in range(3)]
    for thread in (matching, *publishing):
        thread.start()
    for thread in publishing:
        thread.join()
    stop.set()
    matching.join()
    assert not problems
    assert engine.schema is not None
    assert engine.schema.version == 1 + 3 * 20 * 2


def test_matching_by_a_hierarchy_of_100_000_nodes_takes_a_handful_of_probes(
    tmp_path: Path,
) -> None:
    rng = random.Random(1)
    parent = [None, *(str(rng.randrange(n)) for n in range(1, 100_000))]
    schema = bf.Schema(
        {"kinds": hierarchical({str(n): above for n, above in enumerate(parent)})},
        {"it": "kinds"},
        {"thing": {"it": "optional"}},
        default_type="thing",
    )
    engine = bf.Engine(schema=schema, background=False)
    engine.subscribe_template("it IS A ?", range(100_000), [[str(n) for n in range(100_000)]])
    events = [{"it": str(rng.randrange(100_000))} for _ in range(300)]

    def kinds(value: str | None) -> list[int]:
        found = []
        while value is not None:
            found.append(int(value))
            value = parent[int(value)]
        return sorted(found)

    engine.match(events[0])
    before = time.process_time()
    found = [engine.match(event) for event in events]
    micros = (time.process_time() - before) / len(events) * 1e6
    assert found == [kinds(event["it"]) for event in events]
    assert max(map(len, found)) > 10
    assert micros < 2_000, f"{micros:.0f} us an event"  # some tens on a quiet machine
    pairs = engine.match_arrow(pa.Table.from_pylist(events))
    assert pairs.num_rows == sum(map(len, found))
    engine.save(tmp_path / "subs.bf")
    assert bf.Engine.open(tmp_path / "subs.bf").match(events[0]) == found[0]


def test_the_workload_of_the_thesis_fits_its_schema_and_matches_as_without() -> None:
    workload = Thesis()
    texts, events = list(workload.texts(0, 500)), list(workload.events(0, 50))
    checked, plain = bf.Engine(schema=THESIS, validate="raise"), bf.Engine()
    for engine in (checked, plain):
        engine.subscribe_many(list(enumerate(texts)))
    assert checked.match_many(events) == plain.match_many(events)
    table = workload.event_table(0, 50)
    assert checked.match_arrow(table).equals(plain.match_arrow(table))


def test_subscriptions_are_indexed_by_their_type_where_nothing_rarer_is_asked_for() -> None:
    engine = bf.Engine(schema=THESIS, background=False)
    kinds = sorted(THESIS.event_types)
    engine.subscribe_many(
        (f"{kind} {n}", f"event_type CONTAINS '{kind}' AND price <> {n} AND NOT quantity > {n}")
        for kind in kinds
        for n in range(50)
    )
    engine.optimise()
    (layer,) = engine._snapshot.layers
    keys, counts = np.unique(layer.segment.entry_key, return_counts=True)
    assert (len(keys), set(counts.tolist())) == (len(kinds), {50})
    found = engine.match({"event_type": "car", "price": 7, "quantity": 3, "year": 1, "cc": 1})
    assert found == [f"car {n}" for n in range(3, 50) if n != 7]
