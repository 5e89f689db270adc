"""The engine: subscribe, unsubscribe, match."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from boolfilter.buffer import Buffer
from boolfilter.bulk import Loader
from boolfilter.errors import (
    BadSubscriptionError,
    BoolFilterError,
    ExpressionError,
    SchemaError,
    SubscriptionIdError,
    UnknownSubscriptionError,
)
from boolfilter.evaluate import Nulls, check_nulls
from boolfilter.events import Event, FlatEvent, flatten
from boolfilter.explain import Explanation, explain
from boolfilter.expressions import Expression
from boolfilter.forest import forest_of
from boolfilter.ids import Id, check_id, ids_of
from boolfilter.items import plain_numbers
from boolfilter.layers import Layer, bury_again, due_layers, merge_layers, new_layer
from boolfilter.limits import DEFAULT_LIMITS, Limits
from boolfilter.persistence import open_engine, save_layers
from boolfilter.prepared import Subscription, normal_form
from boolfilter.reservoir import Reservoir
from boolfilter.schema import Schema
from boolfilter.schema.derived import restored
from boolfilter.schema.gate import Gate, Validate, grown
from boolfilter.statistics import Statistics, statistics_of
from boolfilter.templates import parse_template

Progress = Callable[[int, int | None], None]

_BUFFER_SIZE = 2_000
_LEAST_WORTH_A_SAMPLE = 50_000  # below, estimating by the sample costs more than it gains
_EVENTS_A_BATCH = 512
_ROWS_OBSERVED = 8  # of each batch of match_arrow
_PROGRESS_STEP = 10_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state of the engine: compiled layers, oldest first, and a buffer as of a version."""

    layers: tuple[Layer, ...]
    buffer: Buffer
    version: int


class Rejected(NamedTuple):
    """A subscription that a bulk load left out."""

    position: int
    id: Any
    error: BoolFilterError


class Engine:
    """Subscriptions by id, and which of them an event satisfies.

    Concurrency: `match` and its relatives read one reference to an immutable snapshot (segments,
    tombstones, and the buffer as of a version) and never wait. Writers hold one lock, build the
    next snapshot and swap the reference, so every match sees a state that existed. Merges of
    segments run in a background thread and are swapped in the same way; what was unsubscribed
    meanwhile is marked again in the merged one.

    >>> import boolfilter as bf
    >>> engine = bf.Engine()
    >>> engine.subscribe("alice", "price < 10 AND (category = 'Toy' OR NOT brand IN ('Acme'))")
    >>> engine.subscribe("bob", (bf.attr("price") < 10) & ~bf.attr("brand").is_in(["Acme"]))
    >>> engine.match({"price": 5, "category": "Toy", "brand": "Acme"})
    ['alice']
    >>> engine.unsubscribe("alice")
    >>> len(engine), "alice" in engine, str(engine["bob"])
    (1, False, "price < 10 AND NOT brand = 'Acme'")
    """

    def __init__(
        self,
        *,
        nulls: Nulls = "false",
        limits: Limits = DEFAULT_LIMITS,
        sample_size: int = 1_000,
        background: bool = True,
        schema: Schema | None = None,
        validate: Validate = "off",
    ) -> None:
        """``nulls``: what NOT makes of an absent attribute, see the README. ``sample_size``: how
        many of the matched events are remembered, for the next merge to learn from; 0 turns it
        off. ``background``: merge in a thread of its own, or at once by the writer. ``schema``:
        what events look like; subscriptions are checked by it, and events as ``validate`` says: one
        that breaks a rule raises EventRuleError, is dropped (and matches nothing), or is taken."""
        self.nulls = check_nulls(nulls)
        self.limits = limits
        self._reservoir = Reservoir(sample_size)
        self._snapshot = Snapshot((), Buffer(), 0)
        self._writing = threading.RLock()
        self._merging = threading.Lock()
        self._background = background
        self._gate = Gate.of(schema, validate)
        self._merger: threading.Thread | None = None
        self._compiled_buffer: tuple[tuple[Buffer, int], Layer] | None = None

    # -- subscriptions -------------------------------------------------------------------------

    def subscribe(self, id: Id, subscription: Subscription, *, replace: bool = False) -> None:
        """Register a subscription under an id; ``replace`` swaps one of the same id atomically.

        Tens of microseconds; every two thousandth also compiles the buffer, some tens of
        milliseconds, while matches go on.
        """
        id = check_id(id)
        expression = self._normal(subscription)
        with self._writing:
            version = self._snapshot.version + 1
            current = self._snapshot
            if replace:
                current = self._without(id, version) or current
            elif id in self:
                raise SubscriptionIdError(id, f"the id {id!r} is in use: replace=True swaps it")
            current.buffer.add(id, expression, version)
            self._snapshot = Snapshot(current.layers, current.buffer, version)
            if current.buffer.held >= _BUFFER_SIZE or expression.leaves > _BUFFER_SIZE:
                self._flush()
        self._tend()

    def subscribe_many(
        self,
        subscriptions: Iterable[tuple[Id, Subscription]],
        *,
        errors: Literal["raise", "collect"] = "raise",
        progress: Progress | None = None,
    ) -> list[Rejected]:
        """Register (id, text or expression) pairs at bulk speed, all or nothing.

        A bad one raises BadSubscriptionError, which names its id and position, and nothing is
        changed; with ``errors="collect"`` the bad ones are left out and returned. ``progress`` is
        called now and then with how many are done, and of how many where that is known.
        """
        if errors not in ("raise", "collect"):
            raise BoolFilterError(f'errors is "raise" or "collect", not {errors!r}')
        total = len(subscriptions) if isinstance(subscriptions, Sequence) else None
        ids: list[Any] = []
        known: set[Id] = set()
        loader = Loader(self._normal_form, self.nulls, self.limits)
        with self._writing:
            for position, pair in enumerate(subscriptions):
                try:
                    id, subscription = _pair(pair)
                    ids.append(id)
                    if id in known or (len(self) and id in self):
                        raise SubscriptionIdError(id, f"the id {id!r} is in use")
                    loader.add(position, self._admitted(subscription))
                    known.add(id)
                except BoolFilterError as error:
                    if len(ids) == position:
                        ids.append(pair[0] if isinstance(pair, (tuple, list)) and pair else None)
                    loader.failures.append((position, error))
                if loader.failures and errors == "raise":
                    break
                if progress is not None and position % _PROGRESS_STEP == _PROGRESS_STEP - 1:
                    progress(position + 1, total)
            loader.flush()
            loader.failures.sort(key=lambda failure: failure[0])
            if loader.failures and errors == "raise":
                place, reason = loader.failures[0]
                raise BadSubscriptionError(place, ids[place], reason) from reason
            rejected = [Rejected(place, ids[place], reason) for place, reason in loader.failures]
            left_out = {place for place, _ in loader.failures}
            kept = [id for place, id in enumerate(ids) if place not in left_out]
            if kept:
                self._flush()
                self._append(new_layer(ids_of(kept), loader.finish(), self._sample()))
        self._tend()
        if progress is not None:
            progress(len(ids), len(ids))
        return rejected

    def subscribe_template(
        self, template: str, ids: Sequence[Id], columns: Sequence[Sequence[Any]]
    ) -> None:
        """Register many subscriptions of one form: a text with ``?`` for each value, the ids, and
        a column of values (array or list) for each ``?``. All or nothing.

        The quickest way in: about two microseconds each where all ``?`` stand in comparisons.

        >>> engine = Engine()
        >>> engine.subscribe_template("a = ? AND b < ?", [1, 2, 3], [[7, 8, 7], [10, 10, 20]])
        >>> engine.match({"a": 7, "b": 15})
        [3]
        """
        table = ids_of(ids)
        parsed = parse_template(template, self.nulls, self.limits)
        if self._gate is not None:
            parsed, columns = self._gate.template(parsed, ids, columns)
        forest = parsed.forest(ids, columns)
        if not len(table):
            return
        with self._writing:
            if len(self):
                for position, id in enumerate(table.take(np.arange(len(table)))):
                    if id in self:
                        reason = SubscriptionIdError(id, f"the id {id!r} is in use")
                        raise BadSubscriptionError(position, id, reason)
            self._flush()
            self._append(new_layer(table, forest, self._sample()))
        self._tend()

    def unsubscribe(self, id: Id) -> None:
        """Remove a subscription; UnknownSubscriptionError if there is none of this id.

        Microseconds, and a copied bit for each subscription of its segment.
        """
        with self._writing:
            after = self._without(id, self._snapshot.version + 1)
            if after is None:
                raise UnknownSubscriptionError(id)
            self._snapshot = after
            if after.buffer.held >= _BUFFER_SIZE:
                self._flush()
        self._tend()

    def __contains__(self, id: object) -> bool:
        snapshot = self._snapshot
        if not isinstance(id, (str, int)):
            return False
        return id in snapshot.buffer or any(layer.find(id) >= 0 for layer in snapshot.layers)

    def __len__(self) -> int:
        snapshot = self._snapshot
        return len(snapshot.buffer) + sum(layer.live for layer in snapshot.layers)

    def __getitem__(self, id: Id) -> Expression:
        """A subscription as an expression, in normal form."""
        stored = self._stored(id)
        return stored if self._gate is None else restored(stored)

    def _stored(self, id: Id) -> Expression:
        snapshot = self._snapshot
        buffered = snapshot.buffer.get(id)
        if buffered is not None:
            return buffered
        for layer in snapshot.layers:
            ordinal = layer.find(id)
            if ordinal >= 0:
                return layer.segment.expression(ordinal)
        raise UnknownSubscriptionError(id)

    def __iter__(self) -> Iterator[Id]:
        """The ids, in order of subscription."""
        snapshot = self._snapshot
        for layer in snapshot.layers:
            yield from layer.ids.take(layer.living())
        yield from [id for id, _ in snapshot.buffer.items(snapshot.version)]

    # -- matching ------------------------------------------------------------------------------

    def match(self, event: Event) -> list[Id]:
        """The ids of the subscriptions that the event satisfies, in order of subscription."""
        snapshot = self._snapshot
        flat = flatten(event)
        if self._gate is not None:
            admitted = self._gate.event(flat)
            if admitted is None:
                return []
            flat = admitted
        self._reservoir.offer(flat)
        found: list[Id] = []
        numbers = plain_numbers(flat) if snapshot.layers else None
        for layer in snapshot.layers:
            segment = layer.segment
            items = None if numbers is None else segment.encoder.encode_numbers(numbers)
            if items is None:
                items = segment.encoder.encode((flat,))
            ordinals = segment.match(items, layer.dead)[1]
            if len(ordinals):
                found += layer.ids.take(ordinals)
        if snapshot.buffer.held:
            found += snapshot.buffer.match(flat, snapshot.version)
        return found

    def match_many(self, events: Iterable[Event]) -> list[list[Id]]:
        """As `match`, for many events: a list for each, in order. All see one state."""
        snapshot = self._snapshot
        results: list[list[Id]] = []
        batch: list[FlatEvent] = []
        dropped: list[int] = []
        for event in events:
            flat = flatten(event)
            admitted = flat if self._gate is None else self._gate.event(flat)
            if admitted is None:
                dropped.append(len(results) + len(batch))
            else:
                self._reservoir.offer(admitted)
            batch.append(admitted or {})
            if len(batch) == _EVENTS_A_BATCH:
                results += _match_batch(snapshot, batch)
                batch = []
        results += _match_batch(snapshot, batch)
        for place in dropped:
            results[place] = []
        return results

    def match_arrow(self, table: Any) -> Any:
        """The matches of a pyarrow Table or RecordBatch, whose rows are events, as a
        pyarrow.Table(event: int64 row number, subscription: id), in order.

        Structs are dotted paths, lists are multi-valued. No Python runs for single rows, and the
        compiled part runs without the GIL, so that threads add up.
        """
        from boolfilter.arrow_matching import match_table

        admit = None if self._gate is None else self._gate.batch_reader()
        return match_table(self.layers(), table, self._observe_batch, admit)

    def explain(self, id: Id, event: Event) -> Explanation:
        """Why the event satisfies a subscription, or why not: its tree with every leaf decided.

        The tree is the normal form, in which absent attributes are spelt out.
        """
        return explain(self._stored(id), self._flat(event))

    # -- the schema ----------------------------------------------------------------------------

    @property
    def schema(self) -> Schema | None:
        """What events look like, as of now."""
        return None if self._gate is None else self._gate.schema

    @property
    def dropped(self) -> int:
        """How many events broke a rule of the schema and were dropped."""
        return 0 if self._gate is None else self._gate.dropped

    def evolve(self, change: Callable[[Schema], Schema]) -> Schema:
        """Put what `change` makes of the schema in its place, atomically, and return it.

        SchemaError, and no change, if a subscription or a publisher would lose something.
        """
        if self._gate is None:
            raise SchemaError("this engine has no schema")
        return self._gate.evolve(change)

    # -- upkeep --------------------------------------------------------------------------------

    def observe(self, events: Iterable[Event]) -> None:
        """Learn from events without matching them: the next merge goes by their values."""
        for event in events:
            self._reservoir.offer(self._flat(event))

    def optimise(self, events: Iterable[Event] = ()) -> None:
        """Merge everything into one segment, chosen and ordered by the events seen (and these).

        Compiles all subscriptions anew: about three microseconds each. Matches go on meanwhile.
        """
        self.observe(events)
        with self._merging:
            with self._writing:
                self._flush()
                layers = self._snapshot.layers
            if layers:
                self._swap(layers, merge_layers(layers, self._sample()))

    def stats(self) -> Statistics:
        """What the engine holds: counts, and the bytes of each part."""
        snapshot = self._snapshot
        return statistics_of(snapshot.layers, len(snapshot.buffer), self._reservoir.offered)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all subscriptions to a file, atomically: it has the old content or the new.

        Compiles the buffer first, then writes at the speed of the disk.
        """
        with self._writing:
            self._flush()
            layers = self._snapshot.layers
        save_layers(path, layers, self.nulls, self.schema)

    @classmethod
    def open(cls, path: str | os.PathLike[str], **options: Any) -> Engine:
        """An engine from a saved file, memory-mapped; `options` as for Engine(), but ``nulls``. A
        ``schema`` is in the file; one that is given must have grown from it.

        DamagedFileError if it is not just what was saved. Reads the file once, to check it.

        >>> import os, tempfile
        >>> engine = Engine()
        >>> engine.subscribe("alice", "price < 10")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     engine.save(os.path.join(folder, "subs.bf"))
        ...     Engine.open(os.path.join(folder, "subs.bf")).match({"price": 5})
        ['alice']
        """
        layers, nulls, schema = open_engine(path)
        options["schema"] = grown(schema, options.get("schema"))
        engine = cls(nulls=nulls, **options)
        engine._snapshot = Snapshot(layers, Buffer(), 0)
        return engine

    def layers(self) -> tuple[Layer, ...]:
        """All that is subscribed now, compiled: layers that never change, oldest first.

        The buffer becomes one of them, which is kept until the buffer changes.
        """
        snapshot = self._snapshot
        if not snapshot.buffer.held:
            return snapshot.layers
        known = self._compiled_buffer
        if known is None or known[0] != (snapshot.buffer, snapshot.version):
            items = snapshot.buffer.items(snapshot.version)
            forest = forest_of(expression for _, expression in items)
            layer = new_layer(ids_of([id for id, _ in items]), forest)
            known = self._compiled_buffer = ((snapshot.buffer, snapshot.version), layer)
        return (*snapshot.layers, known[1])

    def _observe_batch(self, batch: Any) -> None:
        """Offer a few rows of an Arrow batch to the reservoir."""
        if self._reservoir.size and batch.num_rows:
            step = max(1, batch.num_rows // _ROWS_OBSERVED)
            for event in batch.take(list(range(0, batch.num_rows, step))).to_pylist():
                self._reservoir.offer(self._flat(event))

    def _flat(self, event: Event) -> FlatEvent:
        """An event as the indexes see it, whether or not it breaks a rule."""
        flat = flatten(event)
        return flat if self._gate is None else self._gate.unchecked_event(flat)

    def _admitted(self, subscription: Subscription) -> Subscription:
        """A subscription as the indexes see it; an error if it does not fit the schema."""
        if self._gate is None:
            return subscription
        return self._gate.subscription(subscription, self.limits)

    def _normal(self, subscription: Subscription) -> Expression:
        return self._normal_form(self._admitted(subscription))

    def _normal_form(self, subscription: Subscription) -> Expression:
        unique = () if self._gate is None else self._gate.schema.unique
        return normal_form(subscription, nulls=self.nulls, unique=unique, limits=self.limits)

    def _without(self, id: Id, version: int) -> Snapshot | None:
        """The next snapshot, without this id; None if it is not there.

        The buffer is shared with the snapshot in use, whose version does not see the change.
        """
        snapshot = self._snapshot
        for place, layer in enumerate(snapshot.layers):
            ordinal = layer.find(id)
            if ordinal >= 0:
                layers = list(snapshot.layers)
                layers[place] = layer.without(np.array([ordinal]))
                return Snapshot(tuple(layers), snapshot.buffer, version)
        if snapshot.buffer.remove(id, version):
            return Snapshot(snapshot.layers, snapshot.buffer, version)
        return None

    def _sample(self) -> Sequence[FlatEvent] | None:
        return self._reservoir.sample or None

    def _flush(self) -> None:
        """Compile the buffer into a layer; the caller holds the writers' lock."""
        snapshot = self._snapshot
        items = snapshot.buffer.items(snapshot.version)
        if items:
            forest = forest_of(expression for _, expression in items)
            # Without the sample, which costs more than these few: they are merged soon.
            self._append(new_layer(ids_of([id for id, _ in items]), forest))
        elif snapshot.buffer.held:
            self._snapshot = replace(snapshot, buffer=Buffer())

    def _append(self, layer: Layer) -> None:
        before = self._snapshot
        self._snapshot = Snapshot((*before.layers, layer), Buffer(), before.version + 1)

    def _tend(self) -> None:
        """Merge what is due. Never called with the writers' lock: merges wait for that one."""
        if not due_layers(self._snapshot.layers):
            return
        if not self._background:
            self._merge_all_due()
        elif self._merger is None or not self._merger.is_alive():
            self._merger = threading.Thread(
                target=self._merge_all_due, name="boolfilter merge", daemon=True
            )
            self._merger.start()

    def _merge_all_due(self) -> None:
        with self._merging:
            while due := due_layers(self._snapshot.layers):
                large = sum(layer.live for layer in due) >= _LEAST_WORTH_A_SAMPLE
                self._swap(due, merge_layers(due, self._sample() if large else None))

    def _swap(self, before: Sequence[Layer], merged: Layer) -> None:
        """Put a merged layer in the place of its parts, which only got tombstones meanwhile."""
        with self._writing:
            layers = self._snapshot.layers
            places = [layer.segment for layer in layers]
            first = places.index(before[0].segment)
            last = first + len(before)
            merged = bury_again(merged, before, layers[first:last])
            kept = (merged,) if merged.live else ()
            self._snapshot = replace(
                self._snapshot, layers=(*layers[:first], *kept, *layers[last:])
            )


def _pair(pair: Any) -> tuple[Id, Any]:
    try:
        id, subscription = pair
    except (TypeError, ValueError):
        raise ExpressionError(f"an (id, subscription) pair is needed, not {pair!r}") from None
    return check_id(id), subscription


def _match_batch(snapshot: Snapshot, batch: list[FlatEvent]) -> list[list[Id]]:
    results: list[list[Id]] = [[] for _ in batch]
    for layer in snapshot.layers:
        segment = layer.segment
        events, ordinals = segment.match(segment.encoder.encode(batch), layer.dead)
        cuts = np.searchsorted(events, np.arange(len(batch) + 1)).tolist()
        ids = layer.ids.take(ordinals)
        for place, result in enumerate(results):
            result += ids[cuts[place] : cuts[place + 1]]
    if snapshot.buffer.held:
        for flat, result in zip(batch, results, strict=True):
            result += snapshot.buffer.match(flat, snapshot.version)
    return results
