"""Events: mappings of attribute names to values, flattened to one level.

Nested mappings become dotted paths, lists make an attribute multi-valued, and None, NaN and empty
lists make it absent. After :func:`flatten` an event is a plain dict in which a tuple means a
multi-valued attribute and anything else is one canonical value.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from boolfilter.errors import EventError
from boolfilter.values import Value, canonical

Event = Mapping[str, Any]
FlatEvent = dict[str, Value | tuple[Value, ...]]


def flatten(event: Event) -> FlatEvent:
    """The event as attribute paths with canonical values; absent attributes are left out.

    Two keys that flatten to one path make it multi-valued.

    >>> flatten({"price": 5, "user": {"country": "NZ"}, "brand": None})
    {'price': 5, 'user.country': 'NZ'}
    >>> flatten({"items": [{"sku": "a"}, {"sku": "b", "tags": ["x"]}], "colours": []})
    {'items.sku': ('a', 'b'), 'items.tags': ('x',)}
    """
    if not isinstance(event, Mapping):
        raise EventError(f"an event is a mapping of names to values, not {type(event).__name__}")
    flat: FlatEvent = {}
    for name, value in event.items():
        kind = type(value)
        if (kind is int or kind is str or kind is bool) and type(name) is str and name not in flat:
            flat[name] = value  # nearly every attribute of nearly every event
        else:
            _flatten_into(flat, name, value)
    return flat


def _flatten_into(flat: FlatEvent, name: object, value: Any) -> None:
    # Last in, first out: what is nested is pushed in reverse so that values keep their order.
    todo: list[tuple[object, Any, bool]] = [(name, value, False)]
    found: dict[str, list[Value]] = {}
    listed: set[str] = set()
    while todo:
        path, item, several = todo.pop()
        if not isinstance(path, str):
            raise EventError(f"an attribute name is a string, not {path!r}")
        if isinstance(item, Mapping):
            nested = [(_joined(path, key), value, several) for key, value in item.items()]
            todo.extend(reversed(nested))
        elif isinstance(item, (list, tuple, Set)) or _is_array(item):
            todo.extend((path, element, True) for element in reversed(list(item)))
        else:
            try:
                value = canonical(item)
            except TypeError as error:
                raise EventError(f"attribute {path!r}: {error}") from None
            if value is not None:
                found.setdefault(path, []).append(value)
                if several:
                    listed.add(path)
    for path, values in found.items():
        known = flat.get(path)
        if known is not None:
            flat[path] = (*(known if isinstance(known, tuple) else (known,)), *values)
        else:
            single = len(values) == 1 and path not in listed
            flat[path] = values[0] if single else tuple(values)


def _joined(path: str, key: object) -> object:
    return f"{path}.{key}" if isinstance(key, str) else key


def _is_array(item: Any) -> bool:
    return getattr(item, "ndim", 0) > 0 and hasattr(item, "tolist")
