"""Values: their four kinds, their canonical Python form, and how they are written as literals."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import IntEnum
from typing import Any

from boolfilter.errors import ExpressionError

Value = bool | int | float | str | datetime


class Kind(IntEnum):
    """Values of different kinds are never equal and never ordered."""

    BOOLEAN = 0
    NUMBER = 1
    STRING = 2
    TIMESTAMP = 3


KIND_OF_TYPE: dict[type, Kind] = {
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    str: Kind.STRING,
    datetime: Kind.TIMESTAMP,
}


def kind_of(value: Value) -> Kind:
    """The kind of a canonical value.

    >>> kind_of(True), kind_of(1.5)
    (<Kind.BOOLEAN: 0>, <Kind.NUMBER: 1>)
    """
    return KIND_OF_TYPE[type(value)]


def canonical(value: Any) -> Value | None:
    """The value as one of the five canonical types, or None where it means *absent*.

    Raises TypeError for what is no value at all. Timestamps come back in UTC.

    >>> canonical(float("nan")) is None
    True
    >>> canonical(date(2024, 5, 1)).isoformat()
    '2024-05-01T00:00:00+00:00'
    """
    kind = type(value)
    if kind is int or kind is str or kind is bool or value is None:
        return value  # type: ignore[no-any-return]
    if kind is float:
        return None if value != value else value
    if isinstance(value, datetime):
        return _as_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, str):  # subclasses (StrEnum, numpy.str_) are ordinary strings to us
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return canonical(float(value))
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:  # a numpy scalar
        return _from_numpy(value)
    raise TypeError(f"{kind.__name__} is not a value: use a number, string, boolean or timestamp")


def literal(value: Any) -> Value:
    """A value fit to stand in a predicate: canonical and present."""
    try:
        result = canonical(value)
    except TypeError as error:
        raise ExpressionError(str(error)) from None
    if result is None:
        raise ExpressionError(f"{value!r} cannot be compared with: use is_null() or exists()")
    return result


def format_value(value: Value) -> str:
    """The literal that reads back as this value.

    >>> print(format_value("it's"), format_value(2.0), format_value(True))
    'it''s' 2.0 TRUE
    """
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat().replace('+00:00', 'Z')}'"
    text = repr(value)
    return text.replace("inf", "1e999")  # overflows back to infinity when read


def parse_timestamp(text: str) -> datetime:
    """An ISO 8601 date or date-time; without an offset it is UTC.

    >>> parse_timestamp("2024-05-01T12:00:00+02:00").isoformat()
    '2024-05-01T10:00:00+00:00'
    """
    try:
        return _as_utc(datetime.fromisoformat(text.strip()))
    except (ValueError, TypeError):
        raise ExpressionError(f"{text!r} is not an ISO 8601 timestamp") from None


def parse_date(text: str) -> datetime:
    """An ISO 8601 date, as the timestamp of its midnight in UTC."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise ExpressionError(f"{text!r} is not an ISO 8601 date") from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _as_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:
        raise TypeError(f"{moment!r} is outside the years 1 to 9999 in UTC") from None
    # Subclasses (pandas.Timestamp) become plain datetimes, so that equal values have equal types.
    return datetime(
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second,
        moment.microsecond, tzinfo=UTC,
    )  # fmt: skip


def _from_numpy(scalar: Any) -> Value | None:
    if scalar.dtype.kind == "M":
        if scalar != scalar:  # NaT
            return None
        return canonical(scalar.astype("datetime64[us]").item())
    item = scalar.item()
    if item is scalar or type(item) is type(scalar):
        raise TypeError(f"{scalar.dtype} is not a kind of value")
    return canonical(item)
