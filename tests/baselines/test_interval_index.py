from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from boolfilter.baselines.interval_index import IntervalIndex
from boolfilter.baselines.literals import ABOVE_ALL, BELOW_ALL, Interval
from boolfilter.values import Kind

bounds = st.tuples(st.just(1), st.integers(0, 8), st.integers(0, 1))
intervals = st.builds(
    Interval, st.just(Kind.NUMBER), bounds | st.just(BELOW_ALL), bounds | st.just(ABOVE_ALL)
)


@given(st.lists(st.tuples(intervals, st.booleans()), max_size=40))
def test_an_interval_index_finds_what_holds_a_value_as_intervals_come_and_go(steps):
    index = IntervalIndex()
    live: dict[int, Interval] = {}
    for number, (interval, removes) in enumerate(steps):
        index.insert(interval, number)
        live[number] = interval
        if removes:
            oldest = next(iter(live))
            index.remove(live.pop(oldest), oldest)
        index.check()
        for value in range(-1, 10):
            expected = [
                n
                for n, each in live.items()
                if each.low <= (1, value, 0) and each.high >= (1, value, 1)
            ]
            assert sorted(index.holding(value)) == expected
    assert len(index) == len({(each.low, each.high) for each in live.values()})


def test_an_interval_index_stays_shallow_when_bounds_come_in_order():
    index = IntervalIndex()
    for number in range(2000):
        index.insert(Interval(Kind.NUMBER, (1, number, 0), (1, number, 1)), number)

    def depth(node):
        return 0 if node is None else 1 + max(depth(node.left), depth(node.right))

    assert depth(index._root) < 60
    assert list(index.holding(1234)) == [1234]
