"""Arrow batches against a schema: read, checked and widened by columns, without Python per row.

A hierarchy is climbed once for each distinct value of a batch. Rows are checked all at once by
coarse tests that every broken row fails; what fails them is looked at row by row, by the very rules
that hold for single events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolfilter.arrow import Columns, Leaf, columns_of
from boolfilter.events import flatten
from boolfilter.forest import DomainKind
from boolfilter.schema.derived import ROOT, as_read, moment_or_text
from boolfilter.schema.domains import Domain, DomainType
from boolfilter.schema.hierarchy import ancestors
from boolfilter.schema.instances import Violation, violation
from boolfilter.schema.names import KINDS, PROPER_KINDS

if TYPE_CHECKING:
    from boolfilter.schema.schema import Schema

Mask = NDArray[np.bool_]
_MOMENT = pa.timestamp("us", "UTC")


def read_batch(schema: Schema, batch: pa.RecordBatch) -> Columns:
    """A batch taken apart, with its timestamps read from texts, and with its types of events."""
    columns = columns_of(batch)
    for attribute in schema.moments:
        leaves = columns.leaves.get(attribute, [])
        if any(leaf.kind is DomainKind.STRING for leaf in leaves):
            parts = [_with_moments(leaf, columns.rows) for leaf in leaves]
            columns.leaves[attribute] = [leaf for part in parts for leaf in part]
    if schema.default_type is not None:
        leaves = columns.leaves.setdefault(schema.type_attribute, [])
        untyped = _count(leaves, columns.rows) == 0
        if untyped.any():
            codes = pa.array(np.zeros(columns.rows, np.int32), mask=~untyped)
            named = pa.DictionaryArray.from_arrays(codes, pa.array([schema.default_type]))
            leaves.append(Leaf(named, (), DomainKind.STRING))
    return columns


def widened_columns(schema: Schema, columns: Columns) -> Columns:
    """Columns as read, with what the hierarchical attributes are kinds of.

    >>> import boolfilter as bf
    >>> from boolfilter.schema import hierarchical
    >>> furniture = hierarchical({"stool": "chair", "chair": "seat"})
    >>> schema = bf.Schema({"furniture": furniture}, {"category": "furniture"})
    >>> batch = pa.RecordBatch.from_pydict({"category": ["chair", "stool", None]})
    >>> columns = widened_columns(schema, columns_of(batch))
    >>> columns.leaves["category (is a)"][0].column.to_pylist()
    [['chair', 'seat'], ['stool', 'chair', 'seat'], []]
    """
    for attribute in schema.hierarchies:
        domain = schema.domain(attribute)
        kinds, proper = [], []
        for leaf in columns.leaves.get(attribute, []):
            if leaf.kind is DomainKind.STRING:
                codes, strings, row = leaf.texts
                above = [ancestors(domain.values, text) for text in strings]
                kinds.append(_climbed(zip(strings, above, strict=True), codes, row, columns.rows))
                roots = ((ROOT, found) for found in above)
                proper.append(_climbed(roots, codes, row, columns.rows))
            else:  # of another kind, so a kind of nothing
                kinds.append(leaf)
                proper.append(leaf)
        for suffix, leaves in ((KINDS, kinds), (PROPER_KINDS, proper)):
            columns.leaves.pop(attribute + suffix, None)  # nobody else may say so
            if leaves:
                columns.leaves[attribute + suffix] = leaves
            found = [kind for path, kind in columns.refused if path == attribute]
            columns.refused.extend((attribute + suffix, kind) for kind in found)
    return columns


def broken_rows(
    schema: Schema, batch: pa.RecordBatch, columns: Columns
) -> Iterator[tuple[int, Violation]]:
    """The rows that break a rule, in order, each with the first rule that it breaks."""
    suspects = np.flatnonzero(_suspects(schema, columns)).tolist()
    if suspects:
        events = batch.take(pa.array(suspects)).to_pylist()
        for row, event in zip(suspects, events, strict=True):
            found = violation(schema, as_read(schema, flatten(event)))
            if found is not None:
                yield row, found


def _with_moments(leaf: Leaf, rows: int) -> list[Leaf]:
    """A column of texts as timestamps, and as texts what stands for none."""
    if leaf.kind is not DomainKind.STRING:
        return [leaf]
    codes, strings, row = leaf.texts
    moments = [moment_or_text(text) for text in strings]
    parts = []
    for wanted, kind in ((datetime, DomainKind.TIMESTAMP), (str, DomainKind.STRING)):
        distinct = [moment if isinstance(moment, wanted) else None for moment in moments]
        if wanted is datetime or any(text is not None for text in distinct):
            type = _MOMENT if wanted is datetime else pa.string()
            values = pa.array([*distinct, None], type).take(pa.array(codes))
            listed = leaf.in_list
            parts.append(Leaf.listed(values, row, rows, kind) if listed else Leaf(values, (), kind))
    return parts


def _climbed(
    terms: Iterable[tuple[str, list[str]]],
    codes: NDArray[np.int64],
    row: NDArray[np.int64],
    rows: int,
) -> Leaf:
    """A column of lists: for each code the terms of its distinct value."""
    numbers: dict[str, int] = {}
    flat: list[int] = []
    counts: list[int] = []
    for first, others in terms:
        flat.extend(numbers.setdefault(term, len(numbers)) for term in (first, *others))
        counts.append(1 + len(others))
    count = np.array([*counts, 0], np.int64)  # the last code is that of what is absent
    spans = count[codes]
    shift = (np.cumsum(count) - count)[codes] - (np.cumsum(spans) - spans)
    places = np.repeat(shift, spans) + np.arange(spans.sum())
    indices = pa.array(np.array(flat, np.int32)[places])
    values = pa.DictionaryArray.from_arrays(indices, pa.array(list(numbers), pa.string()))
    return Leaf.listed(values, np.repeat(row, spans), rows, DomainKind.STRING)


def _suspects(schema: Schema, columns: Columns) -> Mask:
    """Rows that may break a rule: all that do, and few others."""
    rows = columns.rows
    suspects = np.full(rows, bool(columns.refused))
    is_of = _rows_of_types(schema, columns, suspects)
    mentioned = {name for type in is_of for name in schema.event_types[type]}
    for attribute in mentioned | columns.leaves.keys():
        if attribute == schema.type_attribute:
            continue
        leaves = columns.leaves.get(attribute, [])
        count = _count(leaves, rows)
        uses = {type: schema.event_types[type].get(attribute) for type in is_of}
        known = [(is_of[type], use) for type, use in uses.items() if use is not None]
        suspects |= (count > 0) & ~_any_of([rows_ for rows_, _ in known], rows)
        suspects |= (count == 0) & _any_of([r for r, use in known if use.mandatory], rows)
        suspects |= (count > 1) & ~_any_of([r for r, use in known if use.multiple], rows)
        domain = schema.domain_or_none(attribute)
        if domain is not None:
            for leaf in leaves:
                suspects |= _outside(domain, leaf, rows)
    return suspects


def _rows_of_types(schema: Schema, columns: Columns, suspects: Mask) -> dict[str, Mask]:
    """For each type of events that occurs, the rows that are of it; others become suspects."""
    leaves = columns.leaves.get(schema.type_attribute, [])
    is_of: dict[str, Mask] = {}
    for leaf in leaves:
        if leaf.kind is not DomainKind.STRING:
            suspects |= leaf.count(columns.rows) > 0
            continue
        codes, strings, row = leaf.texts
        for code, text in enumerate(strings):
            found = np.zeros(columns.rows, np.bool_)
            found[row[codes == code]] = True
            if text in schema.event_types:
                is_of[text] = is_of.get(text, False) | found
            else:
                suspects |= found
    suspects |= ~_any_of(list(is_of.values()), columns.rows)
    return is_of


def _outside(domain: Domain, leaf: Leaf, rows: int) -> Mask:
    """The rows with a value of this column that is not in the domain."""
    if leaf.kind != DomainKind[domain.kind.name]:
        return leaf.count(rows) > 0
    outside = np.zeros(rows, np.bool_)
    if domain.type in (DomainType.ENUMERATED, DomainType.HIERARCHICAL):
        codes, strings, row = leaf.texts
        bad = np.array([text not in domain.values for text in strings] + [False], np.bool_)
        outside[row[bad[codes]]] = True
    return outside


def _count(leaves: list[Leaf], rows: int) -> NDArray[np.int64]:
    count = np.zeros(rows, np.int64)
    for leaf in leaves:
        count += leaf.count(rows)
    return count


def _any_of(masks: list[Any], rows: int) -> Mask:
    return np.any(masks, axis=0) if masks else np.zeros(rows, np.bool_)
