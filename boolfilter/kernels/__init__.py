"""The compiled inner loops: few, over flat arrays, with no Python objects and no GIL.

Two ideas carry everything. A *position* ``q`` says where a value falls among the sorted constants
of its domain: ``2 * p`` between the constants ``p - 1`` and ``p``, ``2 * p + 1`` on constant ``p``.
One search gives the position, and the position gives the truth of every comparison of the domain:
``= c_p`` holds iff ``q == 2 * p + 1``; ``<``/``<=`` are numbered ``2 * p`` and ``2 * p + 1``, and
those from ``q`` on hold; ``>=``/``>`` are numbered so too, and those below ``q`` hold.

A *slot* is a (domain, comparison class) pair, and the truth of an event is one interval of
predicate ids for each slot: predicate ``g`` of slot ``s`` holds iff ``g - low[s] < width[s]`` in
unsigned arithmetic. Only what is truly a set (BETWEEN, string searches, several values of one
attribute) needs more, and is marked in ``special``.
"""

from boolfilter.kernels.compiling import compile_trees
from boolfilter.kernels.estimating import estimate_chances, observed_chances
from boolfilter.kernels.matching import match_events
from boolfilter.kernels.positions import gather_ranks, rank_numbers, rank_strings
from boolfilter.kernels.residuals import order_code
from boolfilter.kernels.sets import distinct_numbers
from boolfilter.kernels.strings import gather_strings, hash_strings
from boolfilter.kernels.trees import (
    check_trees,
    decode_trees,
    encode_trees,
    equal_trees,
    hash_trees,
)

__all__ = [
    "check_trees",
    "compile_trees",
    "decode_trees",
    "distinct_numbers",
    "encode_trees",
    "equal_trees",
    "estimate_chances",
    "gather_ranks",
    "gather_strings",
    "hash_strings",
    "hash_trees",
    "match_events",
    "observed_chances",
    "order_code",
    "rank_numbers",
    "rank_strings",
]
