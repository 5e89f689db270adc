"""Event instances: the rules R1 to R3 that an event of a schema keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from boolfilter.events import FlatEvent
from boolfilter.schema.domains import Domain
from boolfilter.schema.names import did_you_mean
from boolfilter.schema.views import View
from boolfilter.values import Value, format_value, kind_of

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema


class Violation(NamedTuple):
    rule: str
    attribute: str
    problem: str


def violation(schema: Schema, event: FlatEvent) -> Violation | None:
    """The first rule that an event breaks, or None. About a microsecond an attribute."""
    view = _view_of(schema, event)
    if isinstance(view, Violation):
        return view
    return _second_rule(schema, event, view) or _third_rule(schema, event, view)


def _view_of(schema: Schema, event: FlatEvent) -> View | Violation:
    name = schema.type_attribute
    found = event.get(name, schema.default_type)
    if found is None:
        return Violation(
            "R1", name, f"the event does not say of what types it is: {name} is absent"
        )
    types = found if isinstance(found, tuple) else (found,)
    for value in types:
        if not isinstance(value, str) or value not in schema.event_types:
            hint = did_you_mean(value, tuple(schema.event_types))
            problem = f"{format_value(value)} is no event type" + (f"; {hint}" if hint else "")
            return Violation("R1", name, problem)
    return schema.view(*types)  # type: ignore[arg-type]


def _second_rule(schema: Schema, event: FlatEvent, view: View) -> Violation | None:
    for attribute in view.mandatory:
        if attribute not in event:
            return Violation("R2", attribute, f"the mandatory attribute {attribute!r} is absent")
    for attribute, annotation in view.attributes.items():
        found = event.get(attribute)
        if found is None:
            continue
        values = found if isinstance(found, tuple) else (found,)
        broken = _outside(schema.domain(attribute), attribute, values)
        if broken is None and not annotation.multiple:
            broken = _not_single(attribute, found)
        if broken is not None:
            return broken
    return None


def _third_rule(schema: Schema, event: FlatEvent, view: View) -> Violation | None:
    for attribute in event:
        if attribute in view.attributes or attribute == schema.type_attribute:
            continue
        if schema.domain_or_none(attribute) is None:
            hint = did_you_mean(attribute, schema.names)
            problem = f"the schema has no attribute {attribute!r}" + (f"; {hint}" if hint else "")
        else:
            types = ", ".join(sorted(view.types))
            problem = f"{attribute!r} is no attribute of events of type {types}"
        return Violation("R3", attribute, problem)
    return None


def _outside(domain: Domain, attribute: str, values: tuple[Value, ...]) -> Violation | None:
    for value in values:
        if not domain.holds(value):
            shown = format_value(value)
            return Violation("R2", attribute, f"{shown} is not in the domain of {attribute!r}, "
                             f"which is {domain.type}")  # fmt: skip
    return None


def _not_single(attribute: str, found: Value | tuple[Value, ...]) -> Violation | None:
    if isinstance(found, tuple) and len({(kind_of(value), value) for value in found}) > 1:
        problem = f"{attribute!r} has {len(found)} values where the schema allows one"
        return Violation("R2", attribute, problem)
    return None
