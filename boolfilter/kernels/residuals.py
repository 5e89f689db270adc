"""Residual code and guards: how the compiler of trees writes them, and in which order they lie."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import (
    ACCEPT,
    ALWAYS_TRUE,
    AND,
    ENTRY_WORDS,
    GUARD_DECIDES,
    GUARD_DENIES,
    IN,
    LIST_FLAG,
    NARROW_SLOTS,
    NOT_IN,
    OR,
    REJECT,
    WIDE_ACCEPT,
    WIDE_LIST_FLAG,
    WIDE_REJECT,
    helper,
    kernel,
)


@helper
def kind_of_word(word):
    return (-word) & 3


@helper
def children_of(word):
    return ((-word) >> 2) - 1


@helper
def _write(out, at, wide, index, predicate, slot, if_true, if_false):
    """One instruction: what to test and where to go; jumps are relative in narrow code."""
    if wide:
        out[at + 4 * index] = predicate
        out[at + 4 * index + 1] = slot
        out[at + 4 * index + 2] = if_true
        out[at + 4 * index + 3] = if_false
        return
    t = np.uint32(if_true - index - 1)
    f = np.uint32(if_false - index - 1)
    if if_true == WIDE_ACCEPT:
        t = np.uint32(ACCEPT)
    elif if_true == WIDE_REJECT:
        t = np.uint32(REJECT)
    if if_false == WIDE_ACCEPT:
        f = np.uint32(ACCEPT)
    elif if_false == WIDE_REJECT:
        f = np.uint32(REJECT)
    out[at + 2 * index] = predicate
    out[at + 2 * index + 1] = np.uint32(slot | (t << 16) | (f << 24))


@helper
def write_node(
    words, start, node, index, if_true, if_false, size, code, ids, slots, out, at, wide, lists,
    listed, stack, list_flag,
):  # fmt: skip
    """The short-circuit code of one subtree, from instruction `index` on; returns the list end."""
    top = 0
    stack[top, 0] = node
    stack[top, 1] = index
    stack[top, 2] = if_true
    stack[top, 3] = if_false
    top += 1
    while top > 0:
        top -= 1
        n = stack[top, 0]
        i = stack[top, 1]
        t = stack[top, 2]
        f = stack[top, 3]
        word = words[start + n]
        if word >= 0:
            if word & 1:
                t, f = f, t
            _write(out, at, wide, i, ids[word >> 1], slots[word >> 1], t, f)
            continue
        kind = kind_of_word(word)
        count = children_of(word)
        if kind >= IN:
            if kind == NOT_IN:
                t, f = f, t
            lists[listed] = count
            for j in range(count):
                lists[listed + 1 + j] = ids[words[start + n + 1 + j] >> 1]
            slot = slots[words[start + n + 1] >> 1] | list_flag
            _write(out, at, wide, i, listed, slot, t, f)
            listed += count + 1
            continue
        child = n + 1
        for j in range(count):
            following = i + code[child]
            last = j == count - 1
            stack[top, 0] = child
            stack[top, 1] = i
            if kind == AND:
                stack[top, 2] = t if last else following
                stack[top, 3] = f
            else:
                stack[top, 2] = t
                stack[top, 3] = f if last else following
            top += 1
            i = following
            child += size[child]
    return listed


@helper
def fill_guard(words, at, ids, slots, guard):
    """Fill in a guard with the ids and slots of a clause: a positive leaf, or one of two; returns
    whether it is such a clause."""
    one = two = words[at]
    if one < 0 and children_of(one) == 2 and (kind_of_word(one) == OR or kind_of_word(one) == IN):
        one = words[at + 1]
        two = words[at + 2]
    if one < 0 or one & 1 or two < 0 or two & 1:
        return False
    guard[0] = ids[one >> 1]
    guard[1] = slots[one >> 1]
    guard[2] = ids[two >> 1]
    guard[3] = slots[two >> 1]
    return True


@helper
def fill_deciding_guard(words, at, ids, slots, guard):
    """Fill in a guard that is all of a residual; returns the code that says so, or ALWAYS_TRUE if
    a guard cannot be all of it."""
    word = words[at]
    if word >= 0 and word & 1:
        guard[2] = ids[word >> 1]
        guard[3] = slots[word >> 1]
        return GUARD_DENIES if guard[3] < NARROW_SLOTS else ALWAYS_TRUE
    if not fill_guard(words, at, ids, slots, guard):
        return ALWAYS_TRUE
    narrow = guard[1] < NARROW_SLOTS and guard[3] < NARROW_SLOTS
    return GUARD_DECIDES if narrow else ALWAYS_TRUE


@kernel("void(uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1])")
def order_code(entry, code, lists, out_code, out_lists):
    """Lay the code of entries and its lists out in their order, so that a run of entries reads a
    run of code.

    Rewrites where the entries' code is. Code that entries share stands where the first wants it.
    """
    pairs = len(code) // 2
    is_start = np.zeros(pairs + 1, np.bool_)
    is_start[pairs] = True
    for e in range(3, len(entry), ENTRY_WORDS):
        if entry[e] < GUARD_DENIES:
            is_start[entry[e] >> 2] = True
    places = np.full(pairs, np.uint32(0xFFFFFFFF))
    at = 0
    listed = 0
    for e in range(3, len(entry), ENTRY_WORDS):
        if entry[e] >= GUARD_DENIES:
            continue
        wide = entry[e] & 1
        old = np.int64(entry[e] >> 2)
        if places[old] == np.uint32(0xFFFFFFFF):
            places[old] = at
            k = old
            while k == old or not is_start[k]:
                words = 4 if wide else 2
                out_code[2 * at : 2 * at + words] = code[2 * k : 2 * k + words]
                if code[2 * k + 1] & (WIDE_LIST_FLAG if wide else LIST_FLAG):
                    first = np.int64(code[2 * k])
                    count = np.int64(lists[first]) + 1
                    out_code[2 * at] = listed
                    out_lists[listed : listed + count] = lists[first : first + count]
                    listed += count
                at += words // 2
                k += words // 2
        entry[e] = places[old] << 2 | (entry[e] & 3)
