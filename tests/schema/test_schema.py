"""The schema as a value: what it refuses, how it grows, and what it never loses."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.schema import Annotation, enumerated, numeric, string
from tests.schema.examples import CARS, LE_SUBSCRIBE, THESIS


def test_the_example_of_the_paper() -> None:
    assert set(LE_SUBSCRIBE.names) == {
        "price",
        "period",
        "quantity",
        "furniture_category",
        "material",
        "event_type",
    }
    view = LE_SUBSCRIBE.view("furniture")
    assert set(view.mandatory) == {"price", "quantity", "furniture_category"}
    assert view.attributes["material"] is Annotation.OPTIONAL_UNIQUE


def test_a_view_has_what_any_of_its_types_has() -> None:
    view = CARS.view("antique", "car")
    assert set(view.attributes) == {"price", "period", "quantity", "brand", "cc", "color"}
    assert set(view.mandatory) == {"price", "period", "quantity", "brand", "cc"}
    assert CARS.view("car", "antique") is view


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(list(Annotation))), min_size=1))
def test_mandatory_and_multiple_have_priority_in_a_view(uses: list[tuple[str, Annotation]]) -> None:
    event_types = {str(number): {name: use} for number, (name, use) in enumerate(uses)}
    schema = bf.Schema({"d": numeric()}, {"a": "d", "b": "d"}, event_types)
    view = schema.view(*event_types)
    for name in {name for name, _ in uses}:
        annotations = [use for other, use in uses if other == name]
        assert view.attributes[name].mandatory == any(use.mandatory for use in annotations)
        assert view.attributes[name].multiple == any(use.multiple for use in annotations)
        assert (name in view.mandatory) == view.attributes[name].mandatory


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: bf.Schema({}, {"a": "d"}), "attribute 'a': the schema has no domain 'd'"),
        (lambda: bf.Schema({"d": 5}, {}), "domain 'd' is no Domain"),
        (lambda: bf.Schema({"d": numeric()}, {"": "d"}), "a non-empty string"),
        (lambda: bf.Schema({"d": numeric()}, {"event_type": "d"}), "attribute of the event types"),
        (lambda: bf.Schema({"d": numeric()}, {"a (is a)": "d"}), "the ending has a meaning"),
        (lambda: bf.Schema({"\ud800": numeric()}, {}), "Unicode"),
        (lambda: CARS.with_event_type("van", {"prise": "mandatory"}), "did you mean 'price'"),
        (lambda: CARS.with_event_type("van", {"price": "always"}), "not 'always'"),
        (lambda: bf.Schema({}, {}, unique={"a"}), "unique: the schema has no attribute 'a'"),
        (lambda: bf.Schema({}, {}, default_type="a"), "default event type"),
        (lambda: bf.Schema({}, {}, version=0), "version"),
        (lambda: bf.Schema([], {}), "a mapping by name is needed, not list"),
        (
            lambda: bf.Schema({}, {}, {"car": "price"}),
            "'car': a mapping by name is needed, not str",
        ),
        (lambda: bf.Schema({}, {"a": ["d"]}), "no domain \\['d'\\]"),
        (lambda: numeric(["LIKE"]), "no operator LIKE"),
        (lambda: numeric(["~"]), "'~' is not an operator"),
        (lambda: numeric([]), "at least one operator"),
        (lambda: enumerated([]), "at least one value"),
        (lambda: enumerated("abc"), "a list"),
        (lambda: enumerated([""]), "a non-empty string"),
        (lambda: CARS.domain("colour"), "did you mean 'color'"),
        (lambda: CARS.view("cat"), "no event type 'cat'"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(
    make: Callable[[], object], problem: str
) -> None:
    with pytest.raises(bf.SchemaError, match=problem.replace("(", r"\(")):
        make()


def test_each_rule_gives_the_next_version_and_leaves_the_old() -> None:
    grown = THESIS.with_domain("colour", enumerated(["red", "blue"]))
    grown = grown.with_attribute("colour", "colour")
    grown = grown.with_optional("car", "colour", multiple=True)
    grown = grown.with_event_type("van", {"price": "mandatory", "colour": "optional"})
    assert grown.version == THESIS.version + 4
    assert grown.view("car").attributes["colour"] is Annotation.OPTIONAL_MULTIPLE
    assert "colour" not in THESIS.names
    grown.require_growth_of(THESIS)
    with pytest.raises(bf.SchemaError, match="would be gone"):
        THESIS.require_growth_of(grown)


@pytest.mark.parametrize(
    "change",
    [
        lambda schema: schema.with_domain("1", string()),
        lambda schema: schema.with_attribute("price", "2"),
        lambda schema: schema.with_optional("car", "price"),
        lambda schema: schema.with_optional("cart", "price"),
        lambda schema: schema.with_event_type("car", {}),
        lambda schema: schema.with_attribute("event_type", "1"),
    ],
)
def test_a_rule_changes_nothing_that_is_there(change: Callable[[bf.Schema], bf.Schema]) -> None:
    with pytest.raises(bf.SchemaError):
        change(THESIS)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"domains": {"amount": numeric(["="]), "text": string()}}, "domain 'amount' would change"),
        ({"attributes": {**CARS.attributes, "cc": "text"}}, "attribute 'cc' would change"),
        ({"event_types": {"car": CARS.event_types["car"]}}, "would be gone"),
        (
            {"event_types": {**CARS.event_types, "car": {"price": "mandatory multiple"}}},
            "annotation of 'price' in event type 'car' would change",
        ),
        (
            {
                "event_types": {
                    **CARS.event_types,
                    "car": {**CARS.event_types["car"], "period": "mandatory"},
                }
            },
            "would get the mandatory attribute 'period'",
        ),
        ({"unique": {"price"}}, "uniqueness of attribute 'price' would change"),
        ({"type_attribute": "kind"}, "event type attribute would change"),
        ({"default_type": "car"}, "default event type would change"),
        ({"event_types": {**CARS.event_types, "van": {}}, "version": 1}, "a version above 1"),
    ],
)
def test_growth_that_takes_something_away_is_refused(
    other: dict[str, object], problem: str
) -> None:
    parts = {"domains": CARS.domains, "attributes": CARS.attributes, **other}
    changed = bf.Schema(**{"event_types": CARS.event_types, "version": 9, **parts})
    with pytest.raises(bf.SchemaError, match=problem):
        changed.require_growth_of(CARS)


def test_a_type_without_attributes_is_not_lost_either() -> None:
    bare = CARS.with_event_type("end", {})
    with pytest.raises(bf.SchemaError, match="the event type 'end' would be gone"):
        CARS.with_domain("x", numeric()).with_domain("y", numeric()).require_growth_of(bare)
    bare.require_growth_of(bare)


def test_a_unique_attribute_can_be_multiple_in_no_later_type() -> None:
    schema = CARS.with_attribute("doors", "amount", unique=True)
    with pytest.raises(bf.SchemaError, match="unique in every event type"):
        schema.with_event_type("van", {"doors": "optional multiple"})
    with pytest.raises(bf.SchemaError, match="unique in every event type"):
        schema.with_optional("car", "doors", multiple=True)
    schema.with_optional("car", "doors")


def test_schemas_are_equal_by_what_they_say_and_pickle() -> None:
    copy = pickle.loads(pickle.dumps(LE_SUBSCRIBE))
    assert copy == LE_SUBSCRIBE
    assert hash(copy) == hash(LE_SUBSCRIBE)
    assert copy != CARS
    assert copy.with_domain("x", numeric()) != LE_SUBSCRIBE
