"""What a change of a schema must leave as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolfilter.errors import SchemaError

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema

FOREVER = "a schema only grows, so that no subscription and no publisher loses anything"


def require_growth(older: Schema, newer: Schema) -> None:
    """SchemaError unless the newer schema can be made of the older by the four rules."""
    _require_same("event type attribute", older.type_attribute, newer.type_attribute)
    _require_same("default event type", older.default_type, newer.default_type)
    for what, before, now in (
        ("domain", older.domains, newer.domains),
        ("attribute", older.attributes, newer.attributes),
    ):
        for name, old in before.items():
            _require_same(f"{what} {name!r}", old, now.get(name))
    for name in older.attributes:
        was, now_is = name in older.unique, name in newer.unique
        _require_same(f"uniqueness of attribute {name!r}", was, now_is)
    for name, uses in older.event_types.items():
        if name not in newer.event_types:
            raise SchemaError(f"the event type {name!r} would be gone: {FOREVER}")
        now_uses = newer.event_types[name]
        for attribute, annotation in uses.items():
            place = f"annotation of {attribute!r} in event type {name!r}"
            _require_same(place, annotation, now_uses.get(attribute))
        for attribute in now_uses.keys() - uses.keys():
            if now_uses[attribute].mandatory:
                raise SchemaError(
                    f"event type {name!r} would get the mandatory attribute {attribute!r}, "
                    "which the events of its publishers do not have: only optional ones go"
                )
    if newer.version <= older.version and newer != older:
        raise SchemaError(
            f"a changed schema needs a version above {older.version}, not {newer.version}"
        )


def _require_same(what: str, before: object, now: object) -> None:
    if before != now:
        change = "be gone" if now is None else "change"
        raise SchemaError(f"the {what} would {change}: {FOREVER}")
