"""Names in a schema: of domains, attributes, types of events, and listed values."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from boolfilter.errors import SchemaError

KINDS = " (is a)"  # what follows an attribute's name in that of what it is a kind of
PROPER_KINDS = " (is a proper)"
_MOST_COMPARED = 5_000  # among more names the search would take longer than a reader's patience


def checked_name(name: Any, what: str) -> str:
    """The name; SchemaError if it is no non-empty string that JSON and files can hold.

    >>> checked_name("", "an attribute")
    Traceback (most recent call last):
        ...
    boolfilter.errors.SchemaError: an attribute is a non-empty string, not ''
    """
    if not isinstance(name, str) or not name:
        raise SchemaError(f"{what} is a non-empty string, not {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise SchemaError(f"{what} cannot be written in Unicode: {name!r}") from None
    return name


def did_you_mean(name: object, known: Collection[str]) -> str | None:
    """A hint where a name is nearly a known one.

    >>> did_you_mean("prise", ["price", "period"])
    "did you mean 'price'?"
    """
    if not isinstance(name, str) or len(known) > _MOST_COMPARED:
        return None
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else None


def checked_attribute(name: Any) -> str:
    """The name of an attribute, which must not look like one that the engine adds itself."""
    checked_name(name, "an attribute")
    if name.endswith((KINDS, PROPER_KINDS)):
        raise SchemaError(f"an attribute cannot be called {name!r}: the ending has a meaning")
    return name  # type: ignore[no-any-return]
