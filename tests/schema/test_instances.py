"""Rules R1 to R3, on the examples of both papers and on one broken event each."""

from __future__ import annotations

from typing import Any

import pytest

import boolfilter as bf
from boolfilter.schema import numeric, timestamp
from tests.schema.examples import CARS, LE_SUBSCRIBE, THESIS


def broken(schema: bf.Schema, event: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(bf.EventRuleError) as caught:
        schema.check(event)
    assert str(caught.value).startswith(f"rule {caught.value.rule}: ")
    return caught.value.rule, caught.value.attribute


# Paper 000, section 2.1.
LE_SUBSCRIBE_E1 = {
    "event_type": ["antiques", "furniture"],
    "price": 200,
    "quantity": 2,
    "period": "XVI",
    "furniture_category": "table",
}
LE_SUBSCRIBE_E2 = {
    "event_type": ["antiques", "furniture"],
    "price": 100,
    "quantity": 1,
    "period": "XVIII",
}
# Paper 001, section 3.1.
CARS_E1 = {
    "event_type": ["antique", "car"],
    "price": 1300,
    "period": 1970,
    "quantity": 1,
    "brand": "cooper",
    "cc": 1000,
}
CARS_E2 = {
    "event_type": ["antique", "car"],
    "price": 3500,
    "period": 1970,
    "brand": "audi",
    "cc": 1200,
}


@pytest.mark.parametrize(("schema", "event"), [(LE_SUBSCRIBE, LE_SUBSCRIBE_E1), (CARS, CARS_E1)])
def test_e1_of_the_papers_is_an_instance(schema: bf.Schema, event: dict[str, Any]) -> None:
    schema.check(event)
    schema.check({name: [value] if name == "price" else value for name, value in event.items()})


def test_e2_of_the_papers_breaks_the_second_rule() -> None:
    assert broken(LE_SUBSCRIBE, LE_SUBSCRIBE_E2) == ("R2", "furniture_category")
    assert broken(CARS, CARS_E2) == ("R2", "quantity")


def test_event_names_its_types_and_they_exist() -> None:
    without = {name: value for name, value in CARS_E1.items() if name != "event_type"}
    assert broken(CARS, without) == ("R1", "event_type")
    assert broken(CARS, {**CARS_E1, "event_type": []}) == ("R1", "event_type")
    assert broken(CARS, {**CARS_E1, "event_type": 5}) == ("R1", "event_type")
    with pytest.raises(bf.EventRuleError, match="did you mean 'car'"):
        CARS.check({**CARS_E1, "event_type": ["antique", "cars"]})


def test_values_are_in_their_domains() -> None:
    assert broken(CARS, {**CARS_E1, "price": "1300"}) == ("R2", "price")
    assert broken(CARS, {**CARS_E1, "price": True}) == ("R2", "price")
    car = {"event_type": "car", "price": 1, "quantity": 1, "year": 1, "cc": 1}
    THESIS.check({**car, "brand": "mini"})
    assert broken(THESIS, {**car, "brand": "cooper"}) == ("R2", "brand")
    event = {**LE_SUBSCRIBE_E1, "furniture_category": "sofa"}
    assert broken(LE_SUBSCRIBE, event) == ("R2", "furniture_category")


def test_a_unique_attribute_has_one_value_but_may_say_it_twice() -> None:
    assert broken(CARS, {**CARS_E1, "price": [1300, 1400]}) == ("R2", "price")
    CARS.check({**CARS_E1, "price": [1300, 1300.0]})
    assert broken(CARS, {**CARS_E1, "price": [1, True]}) == ("R2", "price")


def test_a_null_is_absent() -> None:
    assert broken(CARS, {**CARS_E1, "cc": None}) == ("R2", "cc")
    CARS.check({**CARS_E1, "color": None, "volume": None})


def test_nothing_else_is_in_an_event() -> None:
    assert broken(CARS, {**CARS_E1, "colour": "red"}) == ("R3", "colour")
    antique = {"event_type": "antique", "price": 1, "period": 2, "quantity": 3}
    CARS.check(antique)
    assert broken(CARS, {**antique, "cc": 1000}) == ("R3", "cc")
    with pytest.raises(bf.EventRuleError, match="did you mean 'color'"):
        CARS.check({**CARS_E1, "colour": "red"})


def test_nested_attributes_have_dotted_names() -> None:
    schema = bf.Schema(
        {"amount": numeric()}, {"size.width": "amount"}, {"box": {"size.width": "mandatory"}}
    )
    schema.check({"event_type": "box", "size": {"width": 3}})
    assert broken(schema, {"event_type": "box", "size": {"height": 3}}) == ("R2", "size.width")


def test_a_text_stands_for_a_timestamp_where_the_schema_says_so() -> None:
    schema = bf.Schema({"moment": timestamp()}, {"sold": "moment"}, {"sale": {"sold": "mandatory"}})
    schema.check({"event_type": "sale", "sold": "2024-05-01T12:00:00+02:00"})
    assert broken(schema, {"event_type": "sale", "sold": "yesterday"}) == ("R2", "sold")
    assert broken(schema, {"event_type": "sale", "sold": 1714550400}) == ("R2", "sold")


def test_an_event_without_a_type_is_of_the_default_type() -> None:
    schema = bf.Schema(
        {"amount": numeric()},
        {"price": "amount"},
        {"sale": {"price": "mandatory"}, "end": {}},
        default_type="sale",
    )
    schema.check({"price": 5})
    assert broken(schema, {}) == ("R2", "price")
    schema.check({"event_type": "end"})


def test_a_schema_without_event_types_has_no_instances() -> None:
    assert broken(bf.Schema({}, {}), {}) == ("R1", "event_type")
