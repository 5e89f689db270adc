"""Trees of one form as columns: a forest of many rows without a loop over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolfilter.expressions import Expression, Operator
from boolfilter.forest import (
    DomainKey,
    DomainKind,
    Forest,
    Operation,
    forest_of,
    joined_constants,
)

UNARY = frozenset({Operator.EXISTS, Operator.IS_NULL})
RANGES = frozenset({Operator.BETWEEN, Operator.NOT_BETWEEN})


class LeafColumn(NamedTuple):
    """One comparison of many subscriptions: its attribute, as a place in `names`, its operation
    and its value, for each row. Values are the numbers that they are ordered by, or texts; of a
    BETWEEN they are the lower bounds, and `upper` has the others, which are all greater."""

    names: list[str]
    attribute: NDArray[np.int32]
    operation: NDArray[np.uint8]
    kind: DomainKind
    values: NDArray[Any] | list[str]
    upper: NDArray[Any] | list[str] | None = None


def stand_in_name(number: int) -> str:
    """The attribute of the stand-in for leaf `number` while a form is normalised."""
    return f"\0{number}"


def words_of(normal: Expression) -> NDArray[np.int32]:
    """The words of a normal form over stand-ins.

    Leaf ``2 * i`` of the words is comparison i, leaf ``2 * i + 1`` the presence of its attribute.
    """
    forest = forest_of((normal,))
    words = forest.words.copy()
    number = np.zeros(len(forest.operation), np.int32)
    for predicate, domain in enumerate(forest.domain.tolist()):
        name, kind = forest.domains[domain]
        number[predicate] = 2 * int(name[1:]) + (kind is DomainKind.PRESENCE)
    leaves = words >= 0
    words[leaves] = number[words[leaves] >> 1] << 1 | (words[leaves] & 1)
    return words


def forest_of_columns(words: NDArray[np.int32], columns: Sequence[LeafColumn], rows: int) -> Forest:
    """The forest of rows that share the words of one tree, each with its own leaves."""
    is_leaf = words >= 0
    used = np.unique(words[is_leaf] >> 1)
    predicates = len(used)
    new_words = np.tile(words, (rows, 1))
    place = np.searchsorted(used, words[is_leaf] >> 1)
    new_words[:, is_leaf] = (
        (np.arange(rows, dtype=np.int32)[:, None] * predicates + place.astype(np.int32)) << 1
    ) | (words[is_leaf] & 1)
    operation = np.empty((rows, predicates), np.uint8)
    domain = np.empty((rows, predicates), np.int32)
    first = np.empty((rows, predicates), np.int32)
    second = np.full((rows, predicates), -1, np.int32)
    domains: dict[DomainKey, int] = {}
    constants: list[list[Any]] = []
    for column, leaf in enumerate(used.tolist()):
        data = columns[leaf >> 1]
        presence = bool(leaf & 1)
        operation[:, column] = Operation.EQUAL if presence else data.operation
        kind = DomainKind.PRESENCE if presence else data.kind
        numbers = np.empty(len(data.names), np.int32)
        for number, name in enumerate(data.names):
            numbers[number] = domains.setdefault((name, kind), len(domains))
            if numbers[number] == len(constants):
                constants.append([])
        domain[:, column] = numbers[data.attribute]
        values = np.ones(rows) if presence else data.values
        first[:, column] = _distribute(values, data.attribute, numbers, constants)
        if data.upper is not None and not presence:
            second[:, column] = _distribute(data.upper, data.attribute, numbers, constants)
    return Forest(
        words=new_words.reshape(-1),
        starts=np.arange(rows + 1, dtype=np.int64) * len(words),
        operation=operation.reshape(-1),
        domain=domain.reshape(-1),
        first=first.reshape(-1),
        second=second.reshape(-1),
        domains=list(domains),
        constants=[joined_constants(parts) for parts in constants],
        searches=[],
    )


def all_below(lower: Any, upper: Any) -> bool:
    """Whether each lower bound is below the upper one beside it."""
    if isinstance(lower, np.ndarray) and isinstance(upper, np.ndarray):
        return bool((lower < upper).all())
    return all(one < other for one, other in zip(lower, upper, strict=True))


def _distribute(
    values: Any,
    attribute: NDArray[np.int32],
    numbers: NDArray[np.int32],
    constants: list[list[Any]],
) -> NDArray[np.int32]:
    """Append values to the constants of their domains; returns their places there."""
    if len(numbers) == 1:
        start = sum(map(len, constants[numbers[0]]))
        constants[numbers[0]].append(values)
        return np.arange(start, start + len(attribute), dtype=np.int32)
    first = np.empty(len(attribute), np.int32)
    order = np.argsort(attribute, kind="stable")
    cuts = np.searchsorted(attribute[order], np.arange(len(numbers) + 1)).tolist()
    for number, domain in enumerate(numbers.tolist()):
        chosen = order[cuts[number] : cuts[number + 1]]
        start = sum(map(len, constants[domain]))
        first[chosen] = np.arange(start, start + len(chosen))
        if isinstance(values, list):
            constants[domain].append([values[row] for row in chosen.tolist()])
        else:
            constants[domain].append(values[chosen])
    return first
