"""Segments as the parts of a file, and back with all that the kernels trust checked.

A checksum tells that a file is as it was written, not that it was written well. The kernels
index arrays by what stands in other arrays, with no check of their own: so all of these are
checked here once, a whole array at a time. ``encoding/FILE.md`` lists them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.errors import DamagedFileError, ExpressionError
from boolfilter.expressions import Operator, Pattern, Predicate
from boolfilter.forest import DomainKey, DomainKind
from boolfilter.indexes.betweens import Betweens
from boolfilter.indexes.domains import TEXT_KINDS, Domains
from boolfilter.kernels import check_trees
from boolfilter.kernels.jit import (
    ACCEPT,
    ALWAYS_TRUE,
    ENTRY_WORDS,
    GUARD_DECIDES,
    GUARD_DENIES,
    LIST_FLAG,
    NARROW_SLOTS,
    WIDE_ACCEPT,
    WIDE_LIST_FLAG,
)
from boolfilter.segment import Segment
from boolfilter.storage import ContentError, require

_DOMAINS = {
    "number_start": np.int64,
    "high": np.float64,
    "low": np.int32,
    "bucket_start": np.int64,
    "bucket": np.uint32,
    "base": np.float64,
    "scale": np.float64,
    "text_start": np.int64,
    "string_start": np.int64,
    "blob": np.uint8,
}
_BETWEENS = {
    "domain": np.int32,
    "group_of_domain": np.int32,
    "group_start": np.int32,
    "group_span": np.uint32,
    "low": np.uint32,
    "high": np.uint32,
}
_SEGMENT = {
    "slot_base": np.uint32,
    "slot_entry": np.uint32,
    "entry_key": np.uint32,
    "coarse": np.uint32,
    "entry": np.uint32,
    "code": np.uint32,
    "lists": np.uint32,
    "tree_start": np.uint32,
    "tree_bytes": np.uint8,
    "member_start": np.uint32,
    "member": np.uint32,
}
_SEARCH_OPERATORS = frozenset(
    {
        Operator.STARTS_WITH,
        Operator.ENDS_WITH,
        Operator.CONTAINS,
        Operator.MATCHES,
        Operator.LIKE,
        Operator.ILIKE,
    }
)
_NO_CODE = (ALWAYS_TRUE, GUARD_DECIDES, GUARD_DENIES)
_MOST_SHIFT = 32
_BLOCK = 1 << 16  # instructions checked at once, so that they stay in the cache

Parts = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def segment_parts(segment: Segment) -> Parts:
    """The meta and the arrays of a segment, fit for :func:`boolfilter.storage.write_file`.

    Copies no array. To keep several segments in one file, prefix the names.

    >>> import boolfilter as bf
    >>> from boolfilter.compiling import compile_segment
    >>> from boolfilter.forest import forest_of
    >>> segment = compile_segment(forest_of([bf.parse("a = 1 AND b LIKE 'x%y'")]))
    >>> meta, arrays = segment_parts(segment)
    >>> meta["domains"], meta["searches"]
    ([['a', 'NUMBER']], [['b', 'LIKE', 'x%y', None]])
    >>> segment_from_parts(meta, arrays).match_one({"a": 1, "b": "x-y"})
    [0]
    """
    meta = {
        "domains": [[_to_json(attribute), kind.name] for attribute, kind in segment.domains.keys],
        "giants": [
            [domain, [f"{giant:x}" for giant in giants]]
            for domain, giants in segment.domains.giants.items()
        ],
        "searches": [_search_to_json(search) for search in segment.searches],
        "shift": int(segment.shift),
    }
    arrays = {name: getattr(segment, name) for name in _SEGMENT}
    arrays |= {f"domains.{name}": getattr(segment.domains, name) for name in _DOMAINS}
    arrays |= {f"betweens.{name}": getattr(segment.betweens, name) for name in _BETWEENS}
    return meta, arrays


def segment_from_parts(
    meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *, path: str = "a segment"
) -> Segment:
    """The segment of these parts, which it keeps without a copy; `path` is for the error only.

    DamagedFileError if they are not such that a kernel can run over them. Takes a look at every
    entry and every instruction: a tenth of a second for six million of them.
    """
    try:
        segment = Segment(
            domains=Domains(
                keys=[_domain_key(*key) for key in meta["domains"]],
                giants={_integer(n): [int(giant, 16) for giant in g] for n, g in meta["giants"]},
                **_checked_arrays(arrays, "domains.", _DOMAINS),
            ),
            betweens=Betweens(**_checked_arrays(arrays, "betweens.", _BETWEENS)),
            searches=[_search_from_json(*search) for search in meta["searches"]],
            shift=_integer(meta["shift"]),
            **_checked_arrays(arrays, "", _SEGMENT),
        )
        _check_domains(segment.domains)
        _check_betweens(segment.betweens, segment.domains.sizes())
        _check_trees(segment)
        _check_entries(segment)
        _check_guards(segment)
        _check_code(segment)
    except ContentError as problem:
        raise DamagedFileError(path, str(problem)) from None
    except (LookupError, TypeError, ValueError, ExpressionError) as error:
        raise DamagedFileError(path, f"the meta of a segment is malformed ({error})") from error
    return segment


def _to_json(text: str) -> str | list[str]:
    """The text; or its bytes in hexadecimal, if JSON would make its lone surrogates a pair."""
    if text.isascii() or json.loads(json.dumps(text)) == text:
        return text
    return [text.encode("utf-8", "surrogatepass").hex()]


def _from_json(stored: str | list[str]) -> str:
    if isinstance(stored, str):
        return stored
    return bytes.fromhex(stored[0]).decode("utf-8", "surrogatepass")


def _integer(stored: Any) -> int:
    require(type(stored) is int, f"{stored!r} is no integer")
    return stored  # type: ignore[no-any-return]


def _domain_key(attribute: Any, kind: str) -> DomainKey:
    return _from_json(attribute), DomainKind[kind]


def _search_to_json(search: Predicate) -> list[Any]:
    operand: Any = search.operand
    texts = operand if isinstance(operand, Pattern) else (operand, None)
    stored = [text if text is None else _to_json(text) for text in texts]
    return [_to_json(search.attribute), search.operator.value, *stored]


def _search_from_json(attribute: Any, operator: str, text: Any, escape: Any) -> Predicate:
    known = Operator(operator)
    require(known in _SEARCH_OPERATORS, f"{operator!r} is no search")
    operand: Any = _from_json(text)
    if known in (Operator.LIKE, Operator.ILIKE):
        operand = Pattern(operand, escape if escape is None else _from_json(escape))
    return Predicate(_from_json(attribute), known, operand)


def _checked_arrays(
    arrays: Mapping[str, NDArray[Any]], prefix: str, dtypes: dict[str, Any]
) -> dict[str, Any]:
    for name, dtype in dtypes.items():
        array = arrays.get(prefix + name)
        require(array is not None, f"array {prefix + name!r} is missing")
        assert array is not None
        right = array.dtype == dtype and array.ndim == 1 and array.flags.c_contiguous
        require(right, f"array {prefix + name!r} is of a wrong type or shape")
    return {name: arrays[prefix + name] for name in dtypes}


def _check_starts(start: NDArray[Any], count: int, end: int, what: str) -> None:
    """`count` stretches that follow each other from 0 to `end`."""
    require(
        len(start) == count + 1 > 0 and start[0] == 0 and start[-1] == end and _ascends(start),
        f"the starts of the {what} are wrong",
    )


def _ascends(values: NDArray[Any]) -> bool:
    return bool((values[1:] >= values[:-1]).all())


def _check_domains(domains: Domains) -> None:
    count = len(domains.keys)
    require(len(set(domains.keys)) == count, "a domain comes twice")
    require(all(attribute for attribute, _ in domains.keys), "an attribute has no name")
    _check_starts(domains.number_start, count, len(domains.high), "numbers")
    _check_starts(domains.text_start, count, len(domains.string_start) - 1, "texts")
    _check_starts(domains.string_start, len(domains.string_start) - 1, len(domains.blob), "strings")
    _check_starts(domains.bucket_start, count, len(domains.bucket), "buckets")
    require(len(domains.low) in (0, len(domains.high)), "rests do not go with the numbers")
    require(len(domains.base) == len(domains.scale) == count, "the buckets have no scale")
    is_text = np.array([kind in TEXT_KINDS for _, kind in domains.keys], bool)
    numbers, texts = np.diff(domains.number_start), np.diff(domains.text_start)
    require(not numbers[is_text].any() and not texts[~is_text].any(), "constants of a wrong kind")
    buckets = np.diff(domains.bucket_start)
    inside = domains.bucket <= np.repeat(numbers, buckets)
    require((buckets >= 2).all() and inside.all(), "a bucket leads outside of its domain")
    for domain, giants in domains.giants.items():
        known = 0 <= domain < count and not is_text[domain] and giants == sorted(set(giants))
        require(known and len(domains.low), "giants are out of order or of no domain")


def _check_betweens(betweens: Betweens, sizes: NDArray[np.int64]) -> None:
    count, groups = len(betweens.low), len(betweens.group_span)
    require(len(betweens.high) == len(betweens.domain) == count, "BETWEENs lack a bound")
    _check_starts(betweens.group_of_domain, len(sizes), groups, "groups of BETWEENs")
    _check_starts(betweens.group_start, groups, count, "BETWEENs")
    domain = betweens.domain
    require(((domain >= 0) & (domain < len(sizes))).all(), "a BETWEEN has no domain")
    known = (betweens.low >> 1 < sizes[domain]) & (betweens.high >> 1 < sizes[domain])
    require(known.all(), "a bound of a BETWEEN is no constant")


def _check_trees(segment: Segment) -> None:
    rows = max(0, segment.rows)
    _check_starts(segment.tree_start, rows, len(segment.tree_bytes), "trees")
    if len(segment.member) or len(segment.member_start):
        member = segment.member
        _check_starts(segment.member_start, rows, len(member), "members")
        known = np.zeros(len(member), bool)
        known[member[member < len(member)]] = True
        require(known.all(), "the members are not the subscriptions")
    malformed = check_trees(segment.tree_bytes, segment.tree_start, int(segment.slot_base[-1]))
    require(malformed < 0, "a tree is malformed")


def _check_entries(segment: Segment) -> None:
    members = len(segment.betweens) + len(segment.searches)
    lengths = np.outer(segment.domains.sizes(), (1, 2, 2)).ravel()
    base = np.concatenate(([0, 1], 1 + np.cumsum(lengths), [1 + lengths.sum() + members]))
    require(np.array_equal(segment.slot_base, base), "the slots do not go with the constants")
    key, entry = segment.entry_key, segment.entry
    require(len(entry) == ENTRY_WORDS * len(key), "the entries do not go with their keys")
    require(not len(key) or (_ascends(key) and key[-1] < base[-1]), "the entries are out of order")
    first = np.searchsorted(key, segment.slot_base)
    require(np.array_equal(segment.slot_entry, first), "the slots do not lead to their entries")
    shift = segment.shift
    require(
        0 <= shift <= _MOST_SHIFT and len(segment.coarse) == (int(base[-1]) >> shift) + 2,
        "the coarse table does not go with the ids",
    )
    _check_starts(segment.coarse, len(segment.coarse) - 1, len(key), "blocks of the coarse table")
    slots = entry[2::ENTRY_WORDS]
    known = (slots & 0xFFFF < len(base) - 1) & (slots >> 16 < len(base) - 1)
    require(known.all(), "a guard has no slot")
    require((entry[4::ENTRY_WORDS] < segment.rows).all(), "an entry has no tree")


def _check_guards(segment: Segment) -> None:
    """Where a guard is all there is to test, it is run like an instruction."""
    code = segment.entry[3::ENTRY_WORDS]
    for place, kinds in ((0, (GUARD_DECIDES,)), (1, (GUARD_DECIDES, GUARD_DENIES))):
        decides = np.isin(code, np.array(kinds, np.uint32))
        slot = (segment.entry[2::ENTRY_WORDS][decides] >> 16 * place) & 0xFFFF
        require((slot < NARROW_SLOTS).all(), "a guard has no slot")
        is_list = np.zeros(len(slot), bool)
        _check_leaves(segment, segment.entry[place::ENTRY_WORDS][decides], slot, is_list)


def _check_code(segment: Segment) -> None:
    """Every word is in the code of an entry, and no jump leaves it or goes back."""
    wrong = "an entry leads to no code"
    pairs = len(segment.code) // 2
    target = segment.entry[3::ENTRY_WORDS]
    target = target[~np.isin(target, np.array(_NO_CODE, np.uint32))]
    place, width = target >> 2, (target & 1).astype(np.uint8) + np.uint8(1)
    require(not (target & 2).any() and (place < pairs).all(), wrong)
    width_at = np.zeros(pairs, np.uint8)
    width_at[place] = width
    require((width_at[place] == width).all(), wrong)
    start = np.flatnonzero(width_at)
    require(len(segment.code) == 2 * pairs and (start[:1] == 0).all(), "code of no entry")
    require(len(start) or not pairs, "code of no entry")
    length = np.diff(start, append=pairs)
    is_wide = width_at[start] == 2
    if is_wide.any():
        _check_wide(segment, start[is_wide], length[is_wide])
    end, is_narrow = np.repeat(start + length, length), np.repeat(~is_wide, length)
    for first in range(0, pairs, _BLOCK):
        place = first + np.flatnonzero(is_narrow[first : first + _BLOCK])
        _check_narrow(segment, place, end[place])


def _check_narrow(segment: Segment, place: NDArray[np.int64], end: NDArray[np.int64]) -> None:
    pair = segment.code.reshape(-1, 2)[place]
    word = pair[:, 1]
    room = end - place - 1
    for step in (word >> 16 & 255, word >> 24):
        require(((step < room) | (step >= ACCEPT)).all(), "a jump leaves its code")
    _check_leaves(segment, pair[:, 0], word & (LIST_FLAG - 1), (word & LIST_FLAG) != 0)


def _check_wide(segment: Segment, start: NDArray[Any], length: NDArray[Any]) -> None:
    require(not (length & 1).any(), "a wide instruction is cut short")
    count = length >> 1
    done = np.cumsum(count)
    index = np.arange(done[-1]) - np.repeat(done - count, count)
    place = np.repeat(start, count) + 2 * index
    code = segment.code.reshape(-1, 2)
    leaf, jump = code[place], code[place + 1]
    inside = (jump > index[:, None]) & (jump < np.repeat(count, count)[:, None])
    require((inside | (jump >= WIDE_ACCEPT)).all(), "a jump leaves its code")
    word = leaf[:, 1]
    _check_leaves(segment, leaf[:, 0], word & (WIDE_LIST_FLAG - 1), (word & WIDE_LIST_FLAG) != 0)


def _check_leaves(
    segment: Segment, id: NDArray[Any], slot: NDArray[Any], is_list: NDArray[Any]
) -> None:
    set_slot = len(segment.slot_base) - 2
    require((slot <= set_slot).all(), "a leaf has no slot")
    in_set = slot == set_slot
    if in_set.any():
        member = id[in_set]
        first, end = segment.slot_base[set_slot], segment.slot_base[set_slot + 1]
        known = (member >= first) & (member < end)
        require(known.all() and not is_list[in_set].any(), "a leaf is no member of the set")
    if is_list.any():
        place, lists = id[is_list].astype(np.int64), segment.lists
        require((slot[is_list] % 3 == 1).all(), "a list is not of an equality")
        require((place < len(lists)).all(), "a leaf has no list")
        require((place + lists[place] < len(lists)).all(), "a list is cut short")
