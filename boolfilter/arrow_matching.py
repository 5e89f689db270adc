"""Arrow tables against layers: which rows satisfy which subscriptions, as another table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from boolfilter.arrow import Columns, batches, columns_of, encode_batch
from boolfilter.layers import Layer


def match_table(
    layers: Sequence[Layer],
    table: pa.Table | pa.RecordBatch,
    observe: Callable[[pa.RecordBatch], None],
    read: Callable[[pa.RecordBatch], tuple[Columns, Any]] | None = None,
) -> pa.Table:
    """The (event, subscription) pairs of a table's rows, in order; `observe` gets each batch.

    `read` takes a batch apart and says which rows are kept, if not `columns_of` and all.
    """
    any_text = any(len(layer.ids.start) for layer in layers)
    id_type = pa.large_string() if any_text else pa.int64()
    schema = pa.schema({"event": pa.int64(), "subscription": id_type})
    results = []
    first = 0
    for batch in batches(table):
        observe(batch)
        event, ids = _match_batch(layers, batch, id_type, read)
        results.append(pa.table([pa.array(event + first), ids], schema=schema))
        first += batch.num_rows
    return pa.concat_tables(results) if results else schema.empty_table()


def _match_batch(
    layers: Sequence[Layer],
    batch: pa.RecordBatch,
    id_type: Any,
    read: Callable[[pa.RecordBatch], tuple[Columns, Any]] | None,
) -> tuple[Any, Any]:
    columns, kept = (columns_of(batch), None) if read is None else read(batch)
    events, ids = [np.empty(0, np.int64)], [pa.array([], id_type)]
    for layer in layers:
        items = encode_batch(layer.segment.encoder, columns)
        event, ordinals = layer.segment.match(items, layer.dead)
        events.append(event)
        ids.append(layer.ids.arrow(ordinals).cast(id_type))
    event = np.concatenate(events)
    order = np.argsort(event, kind="stable")  # layers are in order of subscription already
    if kept is not None:
        order = order[kept[event[order]]]
    return event[order], pa.concat_arrays(ids).take(pa.array(order))
