from __future__ import annotations

import boolfilter as bf
from benchmarks.abegen import has_code, repeated_residuals
from boolfilter.compiling import compile_segment
from boolfilter.forest import forest_of


def segment_of(*texts):
    return compile_segment(forest_of(bf.normalise(bf.parse(text)) for text in texts))


def test_single_predicates_leave_no_residual():
    segment = segment_of("a = 1", "b > 2")
    assert not has_code(segment).any()
    assert repeated_residuals(segment) == 0.0


def test_equal_residuals_count_as_repeated_their_lists_included():
    rest = "b IN (1, 2, 3) AND (c < 5 OR d < 5 OR e < 5)"
    others = "b IN (1, 2, 4) AND (c < 5 OR d < 5 OR e < 5)"
    assert repeated_residuals(segment_of(f"a = 1 AND {rest}", f"a = 2 AND {rest}")) == 0.5
    assert repeated_residuals(segment_of(f"a = 1 AND {rest}", f"a = 2 AND {others}")) == 0.0
