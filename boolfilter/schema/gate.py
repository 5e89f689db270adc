"""What an engine does with its schema: it checks what comes in, and says it in index terms."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal

from boolfilter.errors import EventRuleError, SchemaError
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression
from boolfilter.limits import Limits
from boolfilter.schema.derived import as_read, widened
from boolfilter.schema.instances import Violation, violation
from boolfilter.schema.schema import Schema
from boolfilter.schema.subscriptions import admitted

Validate = Literal["raise", "drop", "off"]


class Gate:
    """Where subscriptions and events pass on their way into an engine with a schema.

    Concurrency: ``schema`` is one reference to an immutable value, which each call reads once.
    `evolve` swaps it under a lock. A schema only grows, so a subscription that was checked by an
    older one still fits, and an event that is widened by a newer one matches as before.
    """

    def __init__(self, schema: Schema, validate: Validate) -> None:
        if not isinstance(schema, Schema):
            raise SchemaError(f"a schema is a boolfilter.Schema, not {type(schema).__name__}")
        if validate not in ("raise", "drop", "off"):
            raise SchemaError(f'validate is "raise", "drop" or "off", not {validate!r}')
        self.schema = schema
        self.validate = validate
        self.dropped = 0
        self._changing = threading.Lock()

    def evolve(self, change: Callable[[Schema], Schema]) -> Schema:
        """Put what `change` makes of the schema in its place, if it only grows by that."""
        with self._changing:
            grown = change(self.schema)
            if not isinstance(grown, Schema):
                raise SchemaError(f"the change gives no Schema but {grown!r}")
            grown.require_growth_of(self.schema)
            self.schema = grown
        return grown

    def subscription(self, subscription: Any, limits: Limits) -> Any:
        """A subscription in index terms; SubscriptionSchemaError if it does not fit."""
        if isinstance(subscription, (str, Expression)):
            return admitted(self.schema, subscription, limits)
        return subscription  # the engine says what is wrong with it

    def event(self, flat: FlatEvent) -> FlatEvent | None:
        """An event in index terms; None if it is dropped."""
        schema = self.schema
        read = as_read(schema, flat)
        if self.validate != "off":
            found = violation(schema, read)
            if found is not None:
                self._refuse(found)
                return None
        return widened(schema, read)

    def _refuse(self, found: Violation) -> None:
        if self.validate == "raise":
            raise EventRuleError(*found)
        with self._changing:
            self.dropped += 1


def gate_of(stored: Schema | None, given: Schema | None, validate: Validate) -> Gate | None:
    """The gate of an engine that was saved with one schema and is opened with another, or none."""
    if given is None or stored is None:
        if given is not None:
            raise SchemaError("the subscriptions were saved without a schema: none can be added")
        if stored is None and validate != "off":
            raise SchemaError(f'validate="{validate}" needs a schema')
        return None if stored is None else Gate(stored, validate)
    given.require_growth_of(stored)
    return Gate(given, validate)
