from __future__ import annotations

import statistics

from boolfilter.reservoir import Reservoir


def test_the_first_events_are_all_kept_and_never_more_than_fit():
    reservoir = Reservoir(3)
    for number in range(3):
        reservoir.offer({"n": number})
        assert [event["n"] for event in reservoir.sample] == list(range(number + 1))
    for number in range(3, 1_000):
        reservoir.offer({"n": number})
        assert len(reservoir.sample) == 3
    assert reservoir.offered == 1_000


def test_early_and_late_events_are_as_likely_to_be_kept():
    kept = []
    for seed in range(200):
        reservoir = Reservoir(20, seed)
        for number in range(1_000):
            reservoir.offer({"n": number})
        kept += [event["n"] for event in reservoir.sample]
    # 4,000 draws from 0 to 999: the mean is 499.5, with a standard error of 4.6.
    assert abs(statistics.mean(kept) - 499.5) < 25
    assert sum(number < 100 for number in kept) / len(kept) > 0.07


def test_a_sample_stays_as_it_was_taken():
    reservoir = Reservoir(2)
    reservoir.offer({"n": 1})
    before = reservoir.sample
    reservoir.offer({"n": 2})
    assert before == ({"n": 1},)


def test_a_reservoir_of_no_size_keeps_nothing():
    reservoir = Reservoir(0)
    reservoir.offer({"n": 1})
    assert reservoir.sample == ()
