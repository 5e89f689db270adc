from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolfilter.workloads import counters

ROWS = counters.row_numbers(0, 100_000)


def chi_square(observed: np.ndarray) -> float:
    """How many standard deviations the cells' chi-square is from what chance gives."""
    expected = observed.sum() / observed.size
    freedom = observed.size - 1
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return abs(statistic - freedom) / (2 * freedom) ** 0.5


def test_bits_are_splitmix64_from_the_key() -> None:
    # The first outputs of SplitMix64 started at 0, as published with the generator.
    key = counters._key(("any",))
    step = int(counters._STEP)
    row = (-key * pow(step, -1, 1 << 64)) % (1 << 64)
    rows = np.array([(row + 1) % (1 << 64), (row + 2) % (1 << 64)], dtype=np.uint64)
    assert counters.bits(rows, "any").tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_labels_are_told_apart() -> None:
    labels: list[tuple[str | int, ...]] = [("a", 1), ("a", "1"), ("a1",), ("a", 1, 0), (1, "a")]
    first_rows = {int(counters.bits(ROWS[:1], *label)[0]) for label in labels}
    assert len(first_rows) == len(labels)


def test_neighbouring_seeds_and_fields_are_independent() -> None:
    left = counters.below(ROWS, 16, "test", 1, 0)
    for other in [("test", 1, 1), ("test", 2, 0)]:
        right = counters.below(ROWS, 16, *other)
        assert chi_square(np.bincount(left * 16 + right, minlength=256)) < 5


@given(st.integers(1, 1 << 53))
def test_below_stays_below(limit: int) -> None:
    drawn = counters.below(ROWS[:100], limit, "test")
    assert drawn.min() >= 0
    assert drawn.max() < limit


def test_below_is_uniform() -> None:
    assert chi_square(np.bincount(counters.below(ROWS, 37, "test"), minlength=37)) < 5


def test_zipf_choice_follows_the_law() -> None:
    drawn = np.bincount(counters.choose(ROWS, counters.zipf(50, 1.0), "test"), minlength=50)
    weights = 1 / np.arange(1, 51)
    assert np.abs(drawn / drawn.sum() - weights / weights.sum()).max() < 0.005


@given(st.integers(1, 60), st.data())
def test_distinct_numbers_are_distinct(size: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, size))
    chosen = counters.distinct(ROWS[:20], size, count, "test")
    assert chosen.shape == (count, 20)
    assert all(len(set(row)) == count for row in chosen.T.tolist())
    assert count == 0 or chosen.max() < size


def test_distinct_numbers_are_uniform_at_every_position() -> None:
    for position in counters.distinct(ROWS, 40, 8, "test"):
        assert chi_square(np.bincount(position, minlength=40)) < 5


def test_distinct_zipf_numbers_are_a_successive_choice() -> None:
    mask = counters.distinct_zipf(ROWS, 3, 2, 1.0, "test")
    assert (mask.sum(axis=0) == 2).all()
    # Rank 2 (weight 2 of 11 as sixths: 6, 3, 2) is left out if 0 and 1 come first, in either order.
    left_out = 6 / 11 * 3 / 5 + 3 / 11 * 6 / 8
    assert abs((~mask[2]).mean() - left_out) < 0.005


@given(st.integers(1, 3000), st.integers(0, 1 << 64))
def test_permuted_rows_are_a_permutation(size: int, seed: int) -> None:
    places = counters.permuted(ROWS[:size], size, "test", seed)
    assert np.array_equal(np.sort(places), np.arange(size))


@given(st.integers(1, 3000), st.data())
def test_a_row_is_permuted_alone_as_among_others(size: int, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, size - 1))
    together = counters.permuted(ROWS[:size], size, "test")
    assert counters.permuted(ROWS[row : row + 1], size, "test")[0] == together[row]


@pytest.mark.parametrize("size", [100_000, 65_536])
def test_permutations_look_random(size: int) -> None:
    rows = ROWS[:size]
    left, right = (counters.permuted(rows, size, "test", label) * 16 // size for label in (0, 1))
    assert chi_square(np.bincount(left * 16 + right, minlength=256)) < 5
    assert chi_square(np.bincount(left[1:] * 16 + left[:-1], minlength=256)) < 5


def test_small_permutations_all_occur() -> None:
    seen = Counter(tuple(counters.permuted(ROWS[:3], 3, seed).tolist()) for seed in range(600))
    assert len(seen) == 6


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (4, 3)])
def test_rows_in_no_order_are_refused(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="0 <= start <= stop"):
        counters.row_numbers(start, stop)


def test_a_row_outside_of_the_permutation_is_refused() -> None:
    with pytest.raises(ValueError, match="row 7 is outside of the 7 rows"):
        counters.permuted(ROWS[:8], 7, "test")
