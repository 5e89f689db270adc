from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolfilter as bf
from boolfilter.ids import ids_of, joined_ids

numbers = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(codec=None), max_size=5) | st.sampled_from(["", "1", "\ud800", "é"])
tables = st.one_of(
    st.lists(numbers, unique=True),
    st.lists(texts, unique=True),
    st.lists(numbers | texts, unique_by=lambda id: (type(id), id)),
)


@given(tables)
def test_every_id_is_found_at_its_ordinal_and_no_other_is(ids):
    table = ids_of(ids)
    assert [table.find(id) for id in ids] == list(range(len(ids)))
    assert table.take(np.arange(len(ids))) == ids
    for id in ("no such id", 12345678901, "12345678901"):
        assert (table.find(id) >= 0) == (id in ids)


@given(st.data(), tables)
def test_joined_tables_are_a_table_of_what_was_chosen(data, ids):
    cut = data.draw(st.integers(0, len(ids)))
    parts, chosen = [], []
    for part in (ids[:cut], ids[cut:]):
        kept = [n for n in range(len(part)) if data.draw(st.booleans())]
        parts.append((ids_of(part), np.array(kept, np.int64)))
        chosen += [part[n] for n in kept]
    table = joined_ids(parts)
    assert table.take(np.arange(len(table))) == chosen
    assert [table.find(id) for id in chosen] == list(range(len(chosen)))


def test_ids_whose_hashes_meet_are_told_apart():
    # Among a million, about n**2 / 2**33 = 116 pairs share their 32 bits.
    ids = [f"subscription {number}" for number in range(1_000_000)]
    table = ids_of(ids)
    assert (table.hash[1:] == table.hash[:-1]).sum() > 50
    for place in np.flatnonzero(table.hash[1:] == table.hash[:-1]).tolist():
        for ordinal in table.order[place : place + 2].tolist():
            assert table.find(ids[ordinal]) == ordinal


def test_an_id_that_comes_twice_is_named():
    with pytest.raises(bf.SubscriptionIdError, match="'b' comes twice"):
        ids_of(["a", "b", "c", "b"])
