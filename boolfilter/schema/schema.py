"""The schema of events: domains, attributes, types of events, and how it may grow."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from boolfilter.errors import EventRuleError, SchemaError
from boolfilter.evaluate import Nulls, evaluate
from boolfilter.events import flatten
from boolfilter.expressions import Expression
from boolfilter.language import parse
from boolfilter.schema.derived import as_read, widened
from boolfilter.schema.domains import Domain, DomainType, enumerated
from boolfilter.schema.growth import FOREVER, require_growth
from boolfilter.schema.instances import violation
from boolfilter.schema.names import checked_attribute, checked_name, did_you_mean
from boolfilter.schema.subscriptions import admitted
from boolfilter.schema.views import Annotation, EventSchema, View

_MOST_VIEWS = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """What events look like: an integrated event schema as Le Subscribe has it, as a value.

    ``domains`` by name, the ``attributes`` with the name of their domain, and ``event_types`` with
    their attributes, each *mandatory* or *optional* and *unique* or *multiple*. The attribute
    ``type_attribute`` has the types of an event, one or several; an event without it is of the
    ``default_type``, if there is one. Attributes that are ``unique`` have one value at most in
    every type that there is or will be; only they let ``a > 5 AND a < 3`` be a contradiction.

    A schema never changes. The four rules of the paper (`with_domain`, `with_attribute`,
    `with_optional`, `with_event_type`) give a new one, of the next ``version``.

    >>> import boolfilter as bf
    >>> from boolfilter.schema import enumerated, numeric
    >>> schema = bf.Schema(
    ...     domains={"amount": numeric(), "brand": enumerated(["mini", "opel"])},
    ...     attributes={"price": "amount", "brand": "brand"},
    ...     event_types={"car": {"price": "mandatory", "brand": "optional multiple"}},
    ... )
    >>> schema.check({"event_type": "car", "price": 900, "brand": ["mini"]})
    >>> schema.check({"event_type": "car", "brand": ["mini"]})
    Traceback (most recent call last):
        ...
    boolfilter.errors.EventRuleError: rule R2: the mandatory attribute 'price' is absent
    """

    domains: Mapping[str, Domain]
    attributes: Mapping[str, str]
    event_types: Mapping[str, EventSchema] = field(default_factory=dict)
    unique: frozenset[str] = frozenset()
    type_attribute: str = "event_type"
    default_type: str | None = None
    version: int = 1
    hierarchies: tuple[str, ...] = field(init=False, repr=False)  # attributes of such a domain
    moments: tuple[str, ...] = field(init=False, repr=False)
    _domain_of: dict[str, Domain] = field(init=False, repr=False)
    _views: dict[frozenset[str], View] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        types = {
            name: MappingProxyType(
                {a: _annotation(name, a, text) for a, text in _mapping(uses, name).items()}
            )
            for name, uses in _mapping(self.event_types, "event types").items()
        }
        put(self, "domains", MappingProxyType(dict(_mapping(self.domains, "domains"))))
        put(self, "attributes", MappingProxyType(dict(_mapping(self.attributes, "attributes"))))
        put(self, "event_types", MappingProxyType(types))
        put(self, "unique", frozenset(self.unique))
        put(self, "_views", {})
        self._check_names()
        domain_of = {name: self.domains[domain] for name, domain in self.attributes.items()}
        if types:
            domain_of[self.type_attribute] = enumerated(types)
        put(self, "_domain_of", domain_of)
        put(self, "hierarchies", _of_type(DomainType.HIERARCHICAL, domain_of))
        put(self, "moments", _of_type(DomainType.TIMESTAMP, domain_of))
        self._check_uses()

    # -- reading -------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes, that of the event types included if there are any."""
        return tuple(self._domain_of)

    def domain(self, attribute: str) -> Domain:
        """The domain of an attribute; SchemaError if the schema does not have it."""
        found = self._domain_of.get(attribute)
        if found is None:
            raise SchemaError(_lacking("attribute", attribute, self._domain_of))
        return found

    def domain_or_none(self, attribute: str) -> Domain | None:
        return self._domain_of.get(attribute)

    def view(self, *types: str) -> View:
        """What events of all of these types look like."""
        key = frozenset(types)
        view = self._views.get(key)
        if view is None:
            for name in types:
                if name not in self.event_types:
                    raise SchemaError(_lacking("event type", name, self.event_types))
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            view = self._views[key] = View.over(types, self.event_types)
        return view

    def check(self, event: Mapping[str, Any]) -> None:
        """EventRuleError, with the rule, if the event is no instance of the schema.

        R1: it has its types, which exist. R2: it has all mandatory attributes, the values are of
        their domains, and unique attributes have one. R3: it has nothing else.
        """
        found = violation(self, as_read(self, flatten(event)))
        if found is not None:
            raise EventRuleError(*found)

    def evaluate(
        self, subscription: str | Expression, event: Mapping[str, Any], *, nulls: Nulls = "false"
    ) -> bool:
        """Whether an event satisfies a subscription: `boolfilter.evaluate`, by this schema.

        >>> from boolfilter.schema import hierarchical
        >>> schema = Schema({"furniture": hierarchical({"chair": "seat"})}, {"it": "furniture"})
        >>> schema.evaluate("it IS A 'seat'", {"it": "chair"})
        True
        """
        found = admitted(self, subscription)
        expression = parse(found) if isinstance(found, str) else found
        return evaluate(expression, widened(self, as_read(self, flatten(event))), nulls=nulls)

    # -- growing -------------------------------------------------------------------------------

    def with_domain(self, name: str, domain: Domain) -> Schema:
        """Domain creation rule: a new domain, and the operators over it."""
        self._refuse_known("domain", name, self.domains)
        return self._next(domains={**self.domains, name: domain})

    def with_attribute(self, name: str, domain: str, *, unique: bool = False) -> Schema:
        """Attribute creation rule: a new attribute, and its domain."""
        self._refuse_known("attribute", name, self.attributes)
        marked = self.unique | {name} if unique else self.unique
        return self._next(attributes={**self.attributes, name: domain}, unique=marked)

    def with_optional(self, event_type: str, attribute: str, *, multiple: bool = False) -> Schema:
        """Event schema extension rule: one more attribute, optional, for events of a type."""
        if event_type not in self.event_types:
            raise SchemaError(_lacking("event type", event_type, self.event_types))
        known = self.event_types[event_type]
        self._refuse_known(f"attribute of {event_type!r}", attribute, known)
        extended = {**known, attribute: Annotation.of(False, multiple)}
        return self._next(event_types={**self.event_types, event_type: extended})

    def with_event_type(self, name: str, attributes: Mapping[str, str]) -> Schema:
        """Event schema creation rule: a new type of events, with its attributes."""
        self._refuse_known("event type", name, self.event_types)
        return self._next(event_types={**self.event_types, name: attributes})

    def require_growth_of(self, older: Schema) -> None:
        """SchemaError unless this one can be made of the older by the four rules."""
        require_growth(older, self)

    # -- elsewhere -----------------------------------------------------------------------------

    def to_json(self) -> str:
        """The schema as JSON, in the form of ``encoding/schema.json``."""
        from boolfilter.schema.json_form import to_json

        return to_json(self)

    @staticmethod
    def from_json(text: str | bytes) -> Schema:
        """The schema that a JSON text holds; SchemaError, with the place in it, if it holds none.

        >>> schema = Schema({}, {})
        >>> Schema.from_json(schema.to_json()) == schema
        True
        """
        from boolfilter.schema.json_form import from_json

        return from_json(text)

    @staticmethod
    def from_arrow(
        arrow: Any, event_type: str = "row", *, type_attribute: str = "event_type"
    ) -> Schema:
        """The schema of a pyarrow Schema, or of a table: one type of events, the default.

        >>> import pyarrow as pa
        >>> columns = pa.schema([("price", pa.int64()), ("tags", pa.list_(pa.string()))])
        >>> for name, annotation in Schema.from_arrow(columns).event_types["row"].items():
        ...     print(name, annotation)
        price optional unique
        tags optional multiple
        """
        from boolfilter.schema.imports import arrow_fields, schema_of

        return schema_of(arrow_fields(arrow), event_type, type_attribute)

    @staticmethod
    def from_spark(
        spark: Any, event_type: str = "row", *, type_attribute: str = "event_type"
    ) -> Schema:
        """The schema of a Spark StructType, or of a DataFrame: as `from_arrow`."""
        from boolfilter.schema.imports import schema_of, spark_fields

        return schema_of(spark_fields(spark), event_type, type_attribute)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema to a file as JSON."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Schema:
        """The schema in a JSON file."""
        with open(path, "rb") as file:
            return Schema.from_json(file.read())

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.version, *self.attributes, *self.event_types))

    def __repr__(self) -> str:
        counts = f"{len(self.attributes)} attributes, {len(self.event_types)} event types"
        return f"<Schema version {self.version}: {counts}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Schema, self._parts())

    def _parts(self) -> tuple[Any, ...]:
        types = {name: dict(uses) for name, uses in self.event_types.items()}
        return (dict(self.domains), dict(self.attributes), types, self.unique,
                self.type_attribute, self.default_type, self.version)  # fmt: skip

    def _next(self, **changes: Any) -> Schema:
        return replace(self, version=self.version + 1, **changes)

    def _refuse_known(self, what: str, name: object, known: Container[object]) -> None:
        if name in known:
            raise SchemaError(f"{what} {name!r} is there already: {FOREVER}")

    def _check_names(self) -> None:
        for name, domain in self.domains.items():
            checked_name(name, "the name of a domain")
            if not isinstance(domain, Domain):
                raise SchemaError(f"domain {name!r} is no Domain but {domain!r}")
        for name, used in self.attributes.items():
            checked_attribute(name)
            if not isinstance(used, str) or used not in self.domains:
                raise SchemaError(f"attribute {name!r}: {_lacking('domain', used, self.domains)}")
        checked_name(self.type_attribute, "the attribute of the event types")
        if self.type_attribute in self.attributes:
            raise SchemaError(f"{self.type_attribute!r} is the attribute of the event types")
        if type(self.version) is not int or self.version < 1:
            raise SchemaError(f"a version is an integer from 1, not {self.version!r}")

    def _check_uses(self) -> None:
        for name, uses in self.event_types.items():
            checked_name(name, "an event type")
            for attribute, annotation in uses.items():
                if attribute not in self.attributes:
                    problem = _lacking("attribute", attribute, self.attributes)
                    raise SchemaError(f"event type {name!r}: {problem}")
                if annotation.multiple and attribute in self.unique:
                    raise SchemaError(
                        f"event type {name!r}: attribute {attribute!r} is unique in every event"
                        " type, so it cannot be multiple here"
                    )
        for attribute in self.unique:
            if attribute not in self.attributes:
                raise SchemaError(f"unique: {_lacking('attribute', attribute, self.attributes)}")
        if self.default_type is not None and self.default_type not in self.event_types:
            problem = _lacking("event type", self.default_type, self.event_types)
            raise SchemaError(f"default event type: {problem}")


def _of_type(type: DomainType, domain_of: Mapping[str, Domain]) -> tuple[str, ...]:
    return tuple(name for name, domain in domain_of.items() if domain.type is type)


def _mapping(found: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise SchemaError(f"{what!r}: a mapping by name is needed, not {type(found).__name__}")
    return found


def _annotation(event_type: str, attribute: str, text: Any) -> Annotation:
    try:
        return Annotation(text)
    except ValueError:
        known = ", ".join(f'"{annotation}"' for annotation in Annotation)
        raise SchemaError(
            f"event type {event_type!r}: {attribute!r} is one of {known}, not {text!r}"
        ) from None


def _lacking(what: str, name: object, known: Iterable[str]) -> str:
    hint = did_you_mean(name, tuple(known))
    return f"the schema has no {what} {name!r}" + (f"; {hint}" if hint else "")
