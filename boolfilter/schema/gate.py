"""What an engine does with its schema: it checks what comes in, and says it in index terms."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from boolfilter.errors import EventRuleError, SchemaError
from boolfilter.events import FlatEvent
from boolfilter.expressions import Expression
from boolfilter.limits import Limits
from boolfilter.schema.derived import as_read, widened
from boolfilter.schema.instances import Violation, violation
from boolfilter.schema.schema import Schema
from boolfilter.schema.subscriptions import admitted
from boolfilter.schema.templates import admitted_template
from boolfilter.templates import Template

if TYPE_CHECKING:
    from boolfilter.arrow import Columns

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
        self._changing = threading.RLock()  # a change may be made of changes
        self._counting = threading.Lock()

    @staticmethod
    def of(schema: Schema | None, validate: Validate) -> Gate | None:
        """The gate of an engine; None, which costs nothing, if it has no schema."""
        if schema is None and validate != "off":
            raise SchemaError(f"validate={validate!r} needs a schema")
        return None if schema is None else Gate(schema, validate)

    def evolve(self, change: Callable[[Schema], Schema]) -> Schema:
        """Put what `change` makes of the schema in its place, if it only grows by that."""
        with self._changing:
            grown = change(self.schema)
            if not isinstance(grown, Schema):
                raise SchemaError(f"the change gives no Schema but {grown!r}")
            grown.require_growth_of(self.schema)
            self.schema = grown
        return grown

    def subscription(self, subscription: str | Expression, limits: Limits) -> str | Expression:
        """A subscription in index terms; SubscriptionSchemaError if it does not fit."""
        if isinstance(subscription, (str, Expression)):
            return admitted(self.schema, subscription, limits)
        return subscription  # the engine says what is wrong with it

    def template(
        self, template: Template, ids: Sequence[Any], columns: Sequence[Any]
    ) -> tuple[Template, Sequence[Any]]:
        """A template and its columns in index terms; BadSubscriptionError if a row does not fit."""
        return admitted_template(self.schema, template, ids, columns)

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

    def unchecked_event(self, flat: FlatEvent) -> FlatEvent:
        """An event in index terms, whatever rule it breaks."""
        schema = self.schema
        return widened(schema, as_read(schema, flat))

    def batch_reader(self) -> Callable[[Any], tuple[Columns, Any]]:
        """What takes the Arrow batches of one table apart, in order: it gives the columns of a
        batch in index terms, and which of its rows are kept (None: all)."""
        from boolfilter.schema.batches import broken_rows, read_batch, widened_columns

        schema = self.schema
        first = 0

        def read(batch: Any) -> tuple[Columns, Any]:
            nonlocal first
            columns = read_batch(schema, batch)
            kept = None
            if self.validate != "off":
                for row, found in broken_rows(schema, batch, columns):
                    self._refuse(found, f"in row {first + row} of the table")
                    kept = np.ones(batch.num_rows, np.bool_) if kept is None else kept
                    kept[row] = False
            first += batch.num_rows
            return widened_columns(schema, columns), kept

        return read

    def _refuse(self, found: Violation, place: str | None = None) -> None:
        if self.validate == "raise":
            error = EventRuleError(*found)
            if place is not None:
                error.add_note(place)
            raise error
        with self._counting:
            self.dropped += 1


def grown(stored: Schema | None, given: Schema | None) -> Schema | None:
    """The schema of an engine that was saved with one and is opened with another, or none."""
    if given is not None:
        if stored is None:
            raise SchemaError("the subscriptions were saved without a schema: none can be added")
        given.require_growth_of(stored)
    return given or stored
