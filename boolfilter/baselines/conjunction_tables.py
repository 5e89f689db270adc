"""Le Subscribe's algorithms compiled, for experiments with more subscriptions than Python objects
have room for: naive, fair predicate, equality-preferred and quarantining.

They are one kernel over different tables, so that what is compared is the algorithm. Three things
can be done with a literal, and an algorithm is which of them it does with which:

- *count* it: literals clustered by attribute and comparison, in order of their constants, with the
  conjunctions of each. What a value satisfies is one run of them. Counts are bytes, set to zero
  after an event that counted anything.
- *look it up*: equality clusters, their combinations of values in one hash table.
- *verify* it: literals stored with the conjunction, evaluated one after the other.

Conjunctions are stored in the order in which they are looked at: first those in no cluster, which
are looked at for every event, then by cluster and combination. Everything is built at once: the
forms that take and lose subscriptions one at a time are the matchers of these names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.baselines.equality_groups import EqualityGroups, group_equalities, starts_of
from boolfilter.baselines.phases import Matches
from boolfilter.compiling import ranks_of_places
from boolfilter.errors import UnsupportedError
from boolfilter.forest import Forest, Operation
from boolfilter.indexes.domains import build_domains
from boolfilter.items import Encoder, Items
from boolfilter.kernels.conjunctions import (
    EQUAL,
    LOWER,
    SEVERAL_VALUES,
    UPPER,
    match_conjunctions,
)
from boolfilter.kernels.jit import NO_POSITION

_MOST_COUNTED = 255


@dataclass(frozen=True, slots=True, eq=False)
class Literals:
    """The literals of conjunctions: whose, with which code and key (see the kernel)."""

    conjunctions: int
    row: NDArray[np.int64]
    code: NDArray[np.uint32]
    key: NDArray[np.uint32]
    encoder: Encoder

    def is_equality(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (self.code & 3) == EQUAL
        return found


def literals_of(forest: Forest) -> Literals:
    """The literals of a forest of conjunctions of comparisons; raises UnsupportedError for others.

    >>> import boolfilter as bf
    >>> from boolfilter.forest import forest_of
    >>> literals = literals_of(forest_of([bf.parse("a = 1 AND b > 2"), bf.parse("b < 3")]))
    >>> literals.row.tolist(), (literals.code & 3).tolist()
    ([0, 0, 1], [0, 2, 1])
    """
    lengths = np.diff(forest.starts)
    leaves = forest.words >= 0
    row = np.repeat(np.arange(len(forest)), lengths)[leaves]
    heads = forest.words[forest.starts[:-1]]
    # The head of an AND of nothing but leaves, inner_word(AND, lengths - 1).
    plain = (lengths == 1) & (heads >= 0) | (heads == -4 * lengths)
    if not plain.all() or (np.bincount(row, minlength=len(forest)) == 0).any():
        raise UnsupportedError("a subscription that is not a conjunction of predicates")
    predicate = forest.words[leaves] >> 1
    operation = forest.operation[predicate]
    if (forest.words[leaves] & 1).any() or (operation > Operation.GREATER_OR_EQUAL).any():
        raise UnsupportedError("a predicate other than = < <= > >=")
    domains, ranks = build_domains(forest.domains, forest.constants)
    rank = ranks_of_places(forest, ranks, forest.first)[predicate]
    return Literals(
        conjunctions=len(forest),
        row=row,
        code=(forest.domain[predicate].astype(np.uint32) << 2) | _CLASS[operation],
        key=(2 * rank + _STEP[operation]).astype(np.uint32),
        encoder=Encoder(domains, forest.searches, 0),
    )


# Of = < <= > >= in this order: a literal of class UPPER holds where its key is not below the
# position of the value, one of class LOWER where it is.
_CLASS = np.array([EQUAL, UPPER, UPPER, LOWER, LOWER], np.uint32)
_STEP = np.array([1, 0, 1, 1, 0])


def naive(literals: Literals) -> ConjunctionTables:
    """Verify all literals of all subscriptions."""
    every = np.ones(len(literals.row), np.bool_)
    return _tables(literals, looked_up=~every, counted=~every)


def fair_predicate(literals: Literals) -> ConjunctionTables:
    """Count all literals, and compare the counts of all subscriptions."""
    every = np.ones(len(literals.row), np.bool_)
    return _tables(literals, looked_up=~every, counted=every)


def equality_preferred(literals: Literals) -> ConjunctionTables:
    """Look up the equalities, count all others."""
    equalities = literals.is_equality()
    return _tables(literals, looked_up=equalities, counted=~equalities)


def quarantining(literals: Literals) -> ConjunctionTables:
    """Look up the equalities; verify the others where there is one, else count them."""
    equalities = literals.is_equality()
    with_equality = np.zeros(literals.conjunctions, np.bool_)
    with_equality[literals.row[equalities]] = True
    return _tables(literals, looked_up=equalities, counted=~with_equality[literals.row])


ALGORITHMS = {
    "naive": naive,
    "fair-predicate": fair_predicate,
    "equality-preferred": equality_preferred,
    "quarantining": quarantining,
}


@dataclass(frozen=True, slots=True, eq=False)
class ConjunctionTables:
    """One algorithm's tables. For one thread at a time: the counts are its own.

    >>> import boolfilter as bf
    >>> from boolfilter.forest import forest_of
    >>> literals = literals_of(forest_of([bf.parse("a = 1 AND b > 2"), bf.parse("b < 3")]))
    >>> for name, algorithm in ALGORITHMS.items():
    ...     tables = algorithm(literals)
    ...     event, row = tables.match(tables.encoder.encode([{"a": 1, "b": 3}, {"b": 2}]))
    ...     print(name, event.tolist(), row.tolist())
    naive [0, 1] [0, 1]
    fair-predicate [0, 1] [0, 1]
    equality-preferred [0, 1] [0, 1]
    quarantining [0, 1] [0, 1]
    """

    encoder: Encoder
    code_start: NDArray[np.int64]
    keys: NDArray[np.uint32]
    posting_start: NDArray[np.int64]
    posting: NDArray[np.uint32]
    needed: NDArray[np.uint8]
    with_counts: int
    test_start: NDArray[np.int64]
    test_code: NDArray[np.uint32]
    test_key: NDArray[np.uint32]
    groups: EqualityGroups
    _scratch: _Scratch = field(init=False)

    def __post_init__(self) -> None:
        domains = (len(self.code_start) - 1) // 4
        object.__setattr__(self, "_scratch", _Scratch(len(self.needed), domains))

    def __len__(self) -> int:
        return len(self.needed)

    def match(self, items: Items) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The matching (event, row) pairs, events in order, rows in no order.

        Raises UnsupportedError for an event with several values for one attribute.
        """
        scratch, groups = self._scratch, self.groups
        events = len(items.start) - 1
        event = count = 0
        while True:
            event, count, needed = match_conjunctions(
                event, items.start, items.domain, items.position, self.code_start, self.keys,
                self.posting_start, self.posting, self.needed, self.with_counts, groups.unclustered,
                self.test_start, self.test_code, self.test_key, groups.cluster_start,
                groups.cluster_domain, groups.table, groups.bucket_cluster,
                groups.bucket_key_start, groups.bucket_key, groups.bucket_start, scratch.hits,
                scratch.positions, scratch.wanted, scratch.out_event, scratch.out_ordinal, count,
            )  # fmt: skip
            if needed == SEVERAL_VALUES:
                raise UnsupportedError("an event with several values for one attribute")
            if event == events:
                return scratch.out_event[:count].copy(), groups.row[scratch.out_ordinal[:count]]
            scratch.grow(count, needed)

    def bytes_used(self) -> int:
        """Of the tables, without the domains, which all have in common."""
        owners = (self, self.groups)
        values = [getattr(owner, name) for owner in owners for name in owner.__slots__]
        return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


class _Scratch(Matches):
    """Counts and the event's positions by domain, both of which the kernel leaves as it found them;
    and matches, whose ordinals are places in the order of the tables."""

    __slots__ = ("hits", "positions", "wanted")

    def __init__(self, conjunctions: int, domains: int) -> None:
        super().__init__()
        self.hits = np.zeros(conjunctions, np.uint8)
        self.positions = np.full(domains, NO_POSITION, np.uint32)
        self.wanted = np.empty(_MOST_COUNTED, np.uint32)


def _tables(
    literals: Literals, looked_up: NDArray[np.bool_], counted: NDArray[np.bool_]
) -> ConjunctionTables:
    """The tables of literals that are looked up or counted; those that are neither are verified."""
    conjunctions = literals.conjunctions
    if np.bincount(literals.row).max(initial=0) > _MOST_COUNTED:
        raise UnsupportedError(f"a subscription of over {_MOST_COUNTED} predicates")
    groups = group_equalities(
        conjunctions,
        literals.row[looked_up],
        (literals.code[looked_up] >> 2).astype(np.int32),
        literals.key[looked_up],
    )
    entry_of_row = np.empty(conjunctions, np.int64)
    entry_of_row[groups.row] = np.arange(conjunctions)
    entry = entry_of_row[literals.row]
    verified = np.flatnonzero(~(looked_up | counted))
    verified = verified[np.argsort(entry[verified], kind="stable")]
    return ConjunctionTables(
        encoder=literals.encoder,
        **_postings(literals, entry, np.flatnonzero(counted)),
        needed=np.bincount(entry[counted], minlength=conjunctions).astype(np.uint8),
        with_counts=int(entry[counted].max(initial=-1)) + 1,
        test_start=starts_of(np.bincount(entry[verified], minlength=conjunctions)),
        test_code=literals.code[verified],
        test_key=literals.key[verified],
        groups=groups,
    )


def _postings(
    literals: Literals, entry: NDArray[np.int64], counted: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Distinct literals by code and key, with the conjunctions of each."""
    order = np.lexsort((entry[counted], literals.key[counted], literals.code[counted]))
    counted = counted[order]
    code, key = literals.code[counted], literals.key[counted]
    is_new = np.ones(len(counted), np.bool_)
    is_new[1:] = (code[1:] != code[:-1]) | (key[1:] != key[:-1])
    firsts = np.flatnonzero(is_new)
    codes = np.arange(4 * len(literals.encoder.domains.keys) + 1)
    return {
        "code_start": np.searchsorted(code[firsts], codes),
        "keys": key[firsts],
        "posting_start": np.append(firsts, len(counted)),
        "posting": entry[counted].astype(np.uint32),
    }
