"""An engine's subscriptions in one file: its layers, each with its ids and tombstones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.errors import DamagedFileError, SchemaError
from boolfilter.evaluate import Nulls
from boolfilter.ids import ARRAYS, Ids
from boolfilter.layers import Layer
from boolfilter.schema import Schema
from boolfilter.segment_storage import Parts, segment_from_parts, segment_parts
from boolfilter.storage import read_file, write_file

_CONTENT = "boolfilter engine"
_ID_TYPES = {
    "number": np.dtype(np.int64),
    "start": np.dtype(np.int64),
    "blob": np.dtype(np.uint8),
    "is_text": np.dtype(np.bool_),
    "hash": np.dtype(np.uint32),
    "order": np.dtype(np.uint32),
}


def save_layers(
    path: str | os.PathLike[str],
    layers: Sequence[Layer],
    nulls: Nulls,
    schema: Schema | None = None,
) -> None:
    """Store layers atomically; see :func:`boolfilter.storage.write_file`."""
    write_file(path, *parts_of(layers, nulls, schema))


def open_layers(path: str | os.PathLike[str]) -> tuple[tuple[Layer, ...], Nulls]:
    """The layers of a file without a schema, and the null semantics they were normalised for."""
    return layers_of(*read_file(path), os.fspath(path))


def open_engine(
    path: str | os.PathLike[str],
) -> tuple[tuple[Layer, ...], Nulls, Schema | None]:
    """The layers of a file, the null semantics they were normalised for, and the schema if any."""
    meta, arrays = read_file(path)
    name = os.fspath(path)
    return *_layers_of(meta, arrays, name), _schema(name, arrays.get("schema"))


def parts_of(layers: Sequence[Layer], nulls: Nulls, schema: Schema | None = None) -> Parts:
    """What a file of these layers consists of: a meta and arrays by name. Copies no array."""
    metas: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for number, layer in enumerate(layers):
        meta, parts = segment_parts(layer.segment)
        metas.append({"segment": meta, "ids": len(layer.ids)})
        for name, array in parts.items():
            arrays[f"{number}/segment/{name}"] = array
        for name in ARRAYS:
            arrays[f"{number}/ids/{name}"] = getattr(layer.ids, name)
        arrays[f"{number}/dead"] = layer.dead
    if schema is not None:
        arrays["schema"] = np.frombuffer(schema.to_json().encode(), np.uint8)
    return {"content": _CONTENT, "nulls": nulls, "layers": metas}, arrays


def layers_of(
    meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], name: str
) -> tuple[tuple[Layer, ...], Nulls]:
    """The layers of these parts, checked, and their null semantics; `name` is for errors only."""
    if "schema" in arrays:  # without it, hierarchies would silently match nothing
        raise DamagedFileError(name, "it has a schema, which has no use here")
    return _layers_of(meta, arrays, name)


def _layers_of(
    meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], name: str
) -> tuple[tuple[Layer, ...], Nulls]:
    metas = meta.get("layers")
    if meta.get("content") != _CONTENT or not isinstance(metas, list):
        raise DamagedFileError(name, "it does not hold an engine")
    nulls = meta.get("nulls")
    if nulls not in ("false", "sql"):
        raise DamagedFileError(name, "its null semantics are unknown")
    return tuple(_layer(name, number, m, arrays) for number, m in enumerate(metas)), nulls


def _schema(path: str, stored: NDArray[Any] | None) -> Schema | None:
    if stored is None:
        return None
    try:
        return Schema.from_json(stored.tobytes())
    except SchemaError as error:
        raise DamagedFileError(path, f"its schema is of no use: {error}") from None


def _layer(path: str, number: int, meta: Any, arrays: Mapping[str, NDArray[Any]]) -> Layer:
    def parts(prefix: str) -> dict[str, NDArray[Any]]:
        start = f"{number}/{prefix}/"
        return {
            name.removeprefix(start): array
            for name, array in arrays.items()
            if name.startswith(start)
        }

    def require(condition: object, problem: str) -> None:
        if not condition:
            raise DamagedFileError(path, f"layer {number}: {problem}")

    require(isinstance(meta, dict) and isinstance(meta.get("segment"), dict), "not described")
    segment = segment_from_parts(meta["segment"], parts("segment"), path=path)
    ids = parts("ids")
    require(set(ids) == set(ARRAYS), "the ids are not all there")
    for name, array in ids.items():
        require(array.dtype == _ID_TYPES[name] and array.ndim == 1, f"ids/{name} is of no use")
    count = len(segment)
    require(meta.get("ids") == count, "the ids do not go with the subscriptions")
    _check_ids(ids, count, require)
    dead = arrays.get(f"{number}/dead")
    require(dead is not None and dead.dtype == np.uint64 and dead.ndim == 1, "no tombstones")
    assert dead is not None
    require(len(dead) in (0, count // 64 + 1), "the tombstones do not go with the subscriptions")
    bits = np.unpackbits(dead.view(np.uint8), bitorder="little")
    require(not bits[count:].any(), "a tombstone has no subscription")
    return Layer(segment, Ids(count, **ids), dead, int(bits.sum()))


def _check_ids(ids: Mapping[str, NDArray[Any]], count: int, require: Any) -> None:
    start, order, number = ids["start"], ids["order"], ids["number"]
    texts, flags = len(start), len(ids["is_text"])
    require(texts in (0, count + 1), "ids/start has a wrong length")
    require(len(number) == count or (texts and not flags and not len(number)), "ids/number")
    require(flags in (0, count) and (not flags or texts), "ids/is_text has a wrong length")
    if texts:
        ascending = start[0] == 0 and (np.diff(start) >= 0).all() and start[-1] == len(ids["blob"])
        require(ascending, "ids/start is out of order")
    hashed = len(ids["hash"])
    require(hashed == len(order) and hashed in (0, count), "ids/order has a wrong length")
    require(hashed or not texts or not count, "text ids need hashes")
    require(not hashed or order.max() < count, "ids/order points nowhere")
