"""What every workload offers, and how its columns become texts, dicts and Arrow tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


class EventColumn(NamedTuple):
    """One attribute of many events: its values, and in which events it is bound (None: in all)."""

    values: NDArray[Any]
    bound: NDArray[np.bool_] | None = None


class Template(NamedTuple):
    """Subscriptions of one shape: the text with ``?`` for each literal, and a column a ``?``."""

    text: str
    rows: NDArray[np.int64]
    columns: list[NDArray[Any]]

    def texts(self) -> list[str]:
        """The subscriptions' texts, in the order of ``rows``.

        >>> Template("a = ? AND b < ?", np.arange(2), [np.array(["x", "y"]), np.arange(2)]).texts()
        ["a = 'x' AND b < 0", "a = 'y' AND b < 1"]
        """
        pattern = self.text.replace("%", "%%").replace("?", "%s")
        return [pattern % row for row in zip(*map(literals, self.columns), strict=True)]


class Workload(ABC):
    """Subscriptions and events that depend on the parameters, the seed and the row number only.

    A workload is immutable and holds no rows; every method makes the rows asked for, in time and
    memory proportional to ``stop - start``.
    """

    __slots__ = ()
    name: ClassVar[str]

    @abstractmethod
    def texts(self, start: int, stop: int, seed: int = 0) -> list[str]:
        """The texts of the subscriptions ``start`` to ``stop - 1``."""

    @abstractmethod
    def event_columns(self, start: int, stop: int, seed: int = 0) -> dict[str, EventColumn]:
        """The events ``start`` to ``stop - 1``, an attribute a column."""

    def events(self, start: int, stop: int, seed: int = 0) -> list[dict[str, Any]]:
        """The events ``start`` to ``stop - 1`` as dicts that hold the bound attributes."""
        columns = self.event_columns(start, stop, seed)
        values = zip(*(column.values.tolist() for column in columns.values()), strict=True)
        masks = [column.bound for column in columns.values()]
        if all(bound is None for bound in masks):
            return [dict(zip(columns, row, strict=True)) for row in values]
        every = np.ones(stop - start, dtype=np.bool_)
        bound_rows = np.stack([every if bound is None else bound for bound in masks]).T.tolist()
        return [
            {name: value for name, value, bound in zip(columns, row, mask, strict=True) if bound}
            for row, mask in zip(values, bound_rows, strict=True)
        ]

    def event_table(self, start: int, stop: int, seed: int = 0) -> pa.Table:
        """The events ``start`` to ``stop - 1`` as a table, with nulls for unbound attributes."""
        import pyarrow as pa

        return pa.table(
            {
                name: pa.array(values, mask=None if bound is None else ~bound)
                for name, (values, bound) in self.event_columns(start, stop, seed).items()
            }
        )


class TemplatedWorkload(Workload):
    """A workload whose subscriptions have few shapes, so that they can be loaded as columns."""

    __slots__ = ()

    @abstractmethod
    def templates(self, start: int, stop: int, seed: int = 0) -> Iterator[Template]:
        """The subscriptions ``start`` to ``stop - 1`` by shape; every row is in one template."""

    def texts(self, start: int, stop: int, seed: int = 0) -> list[str]:
        """The texts of the subscriptions ``start`` to ``stop - 1``."""
        texts = [""] * (stop - start)
        for template in self.templates(start, stop, seed):
            for row, text in zip(template.rows.tolist(), template.texts(), strict=True):
                texts[row - start] = text
        return texts


def literals(column: NDArray[Any]) -> list[Any]:
    """The values as they stand in a subscription's text.

    >>> literals(np.array(["it's"])), literals(np.array([1, 2]))
    (["'it''s'"], [1, 2])
    """
    values: list[Any] = column.tolist()
    if column.dtype.kind == "U":
        return ["'" + value.replace("'", "''") + "'" for value in values]
    return values


def groups(shapes: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each distinct shape and where it stands, shapes and places in rising order.

    >>> [(shape, places.tolist()) for shape, places in groups(np.array([7, 3, 7]))]
    [(3, [1]), (7, [0, 2])]
    """
    order = np.argsort(shapes, kind="stable")
    arranged = shapes[order]
    starts = np.flatnonzero(np.diff(arranged, prepend=arranged[:1])).tolist()
    edges = [0, *starts, shapes.size] if shapes.size else [0]
    for first, last in pairwise(edges):
        yield int(arranged[first]), order[first:last]


def require(holds: bool, rule: str, workload: Any) -> None:
    """Refuse a workload whose parameters make no sense, and say which rule they break."""
    if not holds:
        raise ValueError(f"{workload}: {rule}")


def joined(predicates: Sequence[str]) -> str:
    """The AND of OR pairs of predicates.

    >>> joined(["p", "q", "r", "s"])
    '(p OR q) AND (r OR s)'
    """
    pairs = zip(predicates[::2], predicates[1::2], strict=True)
    return " AND ".join(f"({left} OR {right})" for left, right in pairs)
