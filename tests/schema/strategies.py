"""Events and subscriptions of one small schema, some events against its rules."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

import boolfilter as bf
from boolfilter import Operator
from boolfilter.schema import (
    DomainType,
    boolean,
    enumerated,
    hierarchical,
    numeric,
    string,
    timestamp,
)

FURNITURE = {
    "seat": [],
    "chair": ["seat"],
    "stool": ["chair"],
    "bench": ["seat", "outdoor"],
    "outdoor": [],
    "swing": ["bench"],
}
_THING = ("price", "size.width", "name", "at", "colour", "category", "other")
SCHEMA = bf.Schema(
    domains={
        "amount": numeric(),
        "text": string(),
        "flag": boolean(),
        "moment": timestamp(),
        "colour": enumerated(["red", "green", "red green"]),
        "furniture": hierarchical(FURNITURE),
    },
    attributes={
        "price": "amount",
        "size.width": "amount",
        "name": "text",
        "sold": "flag",
        "at": "moment",
        "colour": "colour",
        "category": "furniture",
        "other": "furniture",
    },
    event_types={
        "toy": {
            "price": "mandatory",
            "category": "optional multiple",
            "colour": "optional",
            "at": "optional",
        },
        "seat": {
            "price": "optional multiple",
            "size.width": "optional",
            "category": "mandatory",
            "name": "optional",
            "sold": "optional",
        },
        "thing": dict.fromkeys(
            ("price", "size.width", "name", "at", "colour", "category", "other"),
            "optional multiple",
        ),
    },
    unique={"sold"},
)
MOMENTS = ["2024-05-01", "2024-05-01T00:00:00.000001Z", "2024-05-02T12:00:00+02:00"]
VALUES: dict[DomainType, list[Any]] = {
    DomainType.NUMERIC: [0, 1, 2.5, 3],
    DomainType.STRING: ["", "a", "ab", "b"],
    DomainType.BOOLEAN: [True, False],
    DomainType.TIMESTAMP: [*MOMENTS, datetime(2024, 5, 1, tzinfo=UTC)],
    DomainType.ENUMERATED: ["red", "green", "red green"],
    DomainType.HIERARCHICAL: list(FURNITURE),
}
ATTRIBUTES = sorted(SCHEMA.attributes)
types = st.lists(st.sampled_from(["toy", "seat", "thing"]), max_size=3)


def event_values(attribute: str) -> st.SearchStrategy[Any]:
    good = st.sampled_from(VALUES[SCHEMA.domain(attribute).type])
    odd = st.sampled_from([None, "sofa", "red", 7, True, "", "never"])
    one = st.one_of(good, good, good, odd)
    return st.one_of(one, one, st.lists(one, max_size=3))


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    event: dict[str, Any] = {}
    chosen = draw(st.one_of(types, st.sampled_from(["toy", "seat", "thing"])))
    view = SCHEMA.view(*([chosen] if isinstance(chosen, str) else chosen))
    extra = draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=1))
    optional = st.lists(st.sampled_from(sorted({*view.attributes, *extra, "name"})))
    for attribute in [*view.mandatory, *draw(optional)]:
        event[attribute] = draw(event_values(attribute))
    if draw(st.integers(0, 9)):
        event["event_type"] = chosen
    if not draw(st.integers(0, 19)):
        event["unheard"] = 1
    return event


def every_predicate() -> list[bf.Predicate]:
    """Each attribute with each operator that its domain allows and some values."""
    found = []
    for attribute in SCHEMA.names:
        domain = SCHEMA.domain(attribute)
        type_values = sorted(SCHEMA.event_types)
        values = type_values if attribute == "event_type" else VALUES[domain.type]
        for operator in sorted(domain.allowed):
            if operator in (Operator.IS_NULL, Operator.EXISTS):
                found.append(bf.Predicate(attribute, operator))
            elif operator in (Operator.BETWEEN, Operator.NOT_BETWEEN):
                found.append(bf.Predicate(attribute, operator, values[:2]))
            elif operator in (Operator.IN, Operator.NOT_IN):
                found.append(bf.Predicate(attribute, operator, values[1:3]))
            else:
                found.extend(bf.Predicate(attribute, operator, value) for value in values)
    return found


PREDICATES = every_predicate()
predicates = st.sampled_from(PREDICATES)


def _joined(children: st.SearchStrategy[bf.Expression]) -> st.SearchStrategy[bf.Expression]:
    several = st.lists(children, min_size=2, max_size=4)
    return st.one_of(
        several.map(bf.all_of),
        several.map(bf.any_of),
        several.map(bf.odd_of),
        children.map(bf.Not),
    )


expressions = st.recursive(predicates, _joined, max_leaves=8)
