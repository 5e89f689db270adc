"""The kernel that matches events: intervals, candidates, guards, residual code."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import (
    ACCEPT,
    ALWAYS_TRUE,
    ENTRY_WORDS,
    GUARD_DECIDES,
    GUARD_DENIES,
    IS_SET,
    LIST_FLAG,
    NO_POSITION,
    REJECT,
    TRUE_ID,
    TRUE_SLOT,
    WIDE_ACCEPT,
    helper,
    kernel,
    prefetch,
    trailing_zeros,
)

_QUEUE = 2048
_AHEAD = 8
_FEW = 32  # words of a bitmap are read as quickly as one of so many numbers is sorted


@helper
def _run_queued(
    queue, passes, entry, code, lists, low, width, special, bitmap, set_base, slot_base,
    item_domain, item_q, items_end, seen, out_ordinal, count,
):  # fmt: skip
    """Run the residuals of queued entries; returns the count of matching rows.

    One body on purpose: every call between compiled functions counts references to each array it
    passes, which costs more than the test of a leaf.
    """
    room = len(out_ordinal)
    for turn in range(-_AHEAD, passes):
        if turn + _AHEAD < passes:
            # Only what is there: to ask for an address that is not costs as much as a miss.
            ahead = entry[queue[turn + _AHEAD] + 3]
            if ahead < GUARD_DENIES:
                prefetch(code, np.int64(ahead >> 1))
        if turn < 0:
            continue
        e = queue[turn]
        target = entry[e + 3]
        accepted = target == ALWAYS_TRUE
        in_guard = target >= GUARD_DENIES
        wide = target & 1
        at = np.int64(target >> 1)
        if in_guard:
            at = np.int64(0 if target == GUARD_DECIDES else 2)
        first = at
        while not accepted:
            if in_guard:
                # The guards as narrow instructions: the first or the second, or not the second.
                pair = entry[e + 2]
                if at == 0:
                    g = entry[e]
                    word = np.uint32((pair & 0xFFFF) | (ACCEPT << 16))
                elif target == GUARD_DECIDES:
                    g = entry[e + 1]
                    word = np.uint32((pair >> 16) | (ACCEPT << 16) | (REJECT << 24))
                else:
                    g = entry[e + 1]
                    word = np.uint32((pair >> 16) | (REJECT << 16) | (ACCEPT << 24))
            else:
                g = code[at]
                word = code[at + 1]
            if wide:
                s = word & 0x7FFFFFFF
                in_list = word >> 31
            else:
                s = word & 0x7FFF
                in_list = word & LIST_FLAG
            mark = special[s]
            true = False
            if in_list:
                if width[s] != 0:
                    # Is the value, or one of the values, among the sorted ids of the list?
                    i = mark - 1
                    while True:
                        key = low[s]
                        asked = True
                        if mark != 0:
                            key = np.uint32(slot_base[s] + (item_q[i] >> 1))
                            asked = item_q[i] & 1 != 0
                        if asked:
                            a = np.int64(g) + 1
                            end = a + np.int64(lists[g])
                            z = end
                            while a < z:
                                m = (a + z) >> 1
                                if lists[m] < key:
                                    a = m + 1
                                else:
                                    z = m
                            true = a < end and lists[a] == key
                        i += 1
                        if true or mark == 0 or i >= items_end:
                            break
                        if item_domain[i] != item_domain[mark - 1]:
                            break
            elif np.uint32(g - low[s]) < width[s]:
                if mark == 0:
                    true = True
                elif mark == IS_SET:
                    bit = np.uint32(g - set_base)
                    true = (bitmap[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0
                else:
                    # Several values of one attribute: its items stand together from mark - 1 on.
                    wanted = np.uint32(2 * np.uint32(g - slot_base[s]) + 1)
                    i = mark - 1
                    while i < items_end and item_domain[i] == item_domain[mark - 1]:
                        if item_q[i] == wanted:
                            true = True
                            break
                        i += 1
            if wide:
                jump = code[at + 2] if true else code[at + 3]
                if jump >= WIDE_ACCEPT:
                    accepted = jump == WIDE_ACCEPT
                    break
                at = first + 4 * np.int64(jump)
            else:
                step = (word >> 16) & 255 if true else word >> 24
                if step >= ACCEPT:
                    accepted = step == ACCEPT
                    break
                at += 2 + 2 * np.int64(step)
        if accepted:
            row = entry[e + 4]
            bit64 = np.uint64(1) << np.uint64(row & 63)
            if seen[row >> 6] & bit64 == 0:
                seen[row >> 6] |= bit64
                if count < room:
                    out_ordinal[count] = row
                count += 1
    return count


@helper
def sort_distinct(values, start, end, bits):
    """Sort distinct numbers: a few by comparing, many by marking and reading a clean bitmap."""
    if (end - start) * _FEW > len(bits):
        for i in range(start, end):
            bits[values[i] >> 6] |= np.uint64(1) << np.uint64(values[i] & 63)
        at = start
        for word in range(len(bits)):
            rest = bits[word]
            if rest != 0:
                bits[word] = 0
                while rest != 0:
                    values[at] = (word << 6) + trailing_zeros(rest)
                    at += 1
                    rest &= rest - np.uint64(1)
        return
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            value = values[i]
            j = i
            while j >= start + gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@kernel(
    "UniTuple(int64, 3)(int64, int64[::1], int32[::1], uint32[::1], int64[::1], uint32[::1],"
    "uint32[::1], uint32[::1], uint32[::1], uint32[::1], int64, uint32[::1], uint32[::1],"
    "uint32[::1], uint32[::1], uint32[::1],"
    "uint64[::1], int32[::1], int32[::1], uint32[::1], uint32[::1], uint32[::1],"
    "uint32[::1], uint32[::1], int32[::1], uint64[::1], uint64[::1], uint32[::1], int64[::1],"
    "uint32[::1], int64)"
)
def match_events(
    first, item_start, item_domain, item_q, hit_start, hits,
    slot_base, slot_entry, entry_key, coarse, shift, entry, code, lists,
    member_start, member, dead, group_of_domain, group_start, group_span, between_low, between_high,
    low, width, special, bitmap, seen, marked, out_event,
    out_ordinal, out_count,
):  # fmt: skip
    """Match events from `first` on; stops before an event whose matches do not fit any more.

    Returns the next event, the number of matches written so far, and the room that is needed. The
    scratch arrays (`low`, `width`, `special`, `bitmap`, `seen`) come clean and are left clean.
    """
    set_slot = len(slot_base) - 2
    set_base = slot_base[set_slot]
    events = len(item_start) - 1
    count = out_count
    room = len(out_ordinal)
    queue = np.empty(_QUEUE + 1, np.int64)
    for event in range(first, events):
        before = count
        begin = item_start[event]
        items_end = item_start[event + 1]
        marks = 0
        # 1. What the event makes true: an interval for each slot, bits for the sets.
        i = begin
        while i < items_end:
            q = item_q[i]
            domain = item_domain[i]
            if q == NO_POSITION or domain < 0:
                i += 1
                continue
            s = 1 + 3 * domain
            smallest = q
            largest = q
            j = i
            while j < items_end and item_domain[j] == domain:
                p = item_q[j]
                smallest = min(smallest, p)
                largest = max(largest, p)
                for group in range(group_of_domain[domain], group_of_domain[domain + 1]):
                    a = np.int64(group_start[group])
                    z = np.int64(group_start[group + 1])
                    end = z
                    span = group_span[group]
                    least = p - span if p > span else np.uint32(0)
                    while a < z:
                        m = (a + z) >> 1
                        if between_low[m] < least:
                            a = m + 1
                        else:
                            z = m
                    while a < end and between_low[a] <= p:
                        if between_high[a] >= p:
                            bit = np.uint64(1) << np.uint64(a & 63)
                            if bitmap[a >> 6] & bit == 0:
                                bitmap[a >> 6] |= bit
                                marked[marks] = a
                                marks += 1
                        a += 1
                j += 1
            if j - i > 1:
                low[s] = slot_base[s]
                width[s] = slot_base[s + 1] - slot_base[s]
                special[s] = i + 1
            elif q & 1:
                low[s] = slot_base[s] + (q >> 1)
                width[s] = 1
            low[s + 1] = slot_base[s + 1] + smallest
            width[s + 1] = slot_base[s + 2] - low[s + 1]
            low[s + 2] = slot_base[s + 2]
            width[s + 2] = largest
            i = j
        for h in range(hit_start[event], hit_start[event + 1]):
            a = np.int64(hits[h])
            bit = np.uint64(1) << np.uint64(a & 63)
            if bitmap[a >> 6] & bit == 0:
                bitmap[a >> 6] |= bit
                marked[marks] = a
                marks += 1
        # 2. Candidates: the entries that are always evaluated, those under each true interval,
        # and those of each true member of a set.
        passes = 0
        i = begin - 1
        while i < items_end + marks:
            s = TRUE_SLOT
            q = np.uint32(1)
            ranges = 1
            least = np.uint32(TRUE_ID)
            if i >= items_end:
                s = set_slot
                least = np.uint32(set_base + marked[i - items_end])
            elif i >= begin:
                domain = item_domain[i]
                q = item_q[i]
                if q == NO_POSITION or domain < 0:
                    i += 1
                    continue
                s = 1 + 3 * domain
                least = np.uint32(slot_base[s] + (q >> 1))
                if i == begin or item_domain[i - 1] != domain:
                    ranges = 3
            for part in range(ranges):
                a = np.int64(slot_entry[s + part])
                z = np.int64(slot_entry[s + part + 1])
                if a == z or (part == 0 and not q & 1):
                    continue
                # From the first entry not below `least` to the first not below `bound`.
                bound = np.uint32(least + 1)
                if part != 0:
                    least = low[s + part]
                    bound = np.uint32(least + width[s + part])
                first_entry = a
                for side in range(2):
                    g = least if side == 0 else bound
                    block = g >> shift
                    x = max(a, np.int64(coarse[block]))
                    y = min(z, np.int64(coarse[block + 1]))
                    while x < y:
                        m = (x + y) >> 1
                        if entry_key[m] < g:
                            x = m + 1
                        else:
                            y = m
                    if side == 0:
                        first_entry = x
                    else:
                        z = min(x, z)
                a = first_entry
                # The guards of a block without a branch; those that pass wait in a queue, so that
                # the memory of many residuals is fetched at once.
                while a < z:
                    block_end = min(z, a + _QUEUE // 2)
                    for e in range(ENTRY_WORDS * a, ENTRY_WORDS * block_end, ENTRY_WORDS):
                        pair = entry[e + 2]
                        s1 = pair & 0xFFFF
                        s2 = pair >> 16
                        one = np.uint32(entry[e] - low[s1]) < width[s1]
                        two = np.uint32(entry[e + 1] - low[s2]) < width[s2]
                        queue[passes] = e
                        passes += one | two
                    a = block_end
                    if passes > _QUEUE // 2:
                        count = _run_queued(
                            queue, passes, entry, code, lists, low, width, special, bitmap,
                            set_base, slot_base, item_domain, item_q, items_end, seen,
                            out_ordinal, count,
                        )  # fmt: skip
                        passes = 0
            i += 1
        count = _run_queued(
            queue, passes, entry, code, lists, low, width, special, bitmap, set_base, slot_base,
            item_domain, item_q, items_end, seen, out_ordinal, count,
        )  # fmt: skip
        # 3. Leave the scratch clean.
        for i in range(begin, items_end):
            if item_domain[i] >= 0:
                s = 1 + 3 * item_domain[i]
                width[s] = 0
                width[s + 1] = 0
                width[s + 2] = 0
                special[s] = 0
        for i in range(marks):
            bitmap[marked[i] >> 6] = 0
        for i in range(before, min(count, room)):
            seen[out_ordinal[i] >> 6] = 0
        if count > room:
            # Rows past the room were marked but not listed: wipe them all, and ask for more.
            seen[:] = 0
            return event, before, count
        # 4. Rows to subscriptions, the living ones, in order.
        if len(member) > 0:
            if (count - before) * _FEW > len(seen):
                # In order, many rows are read from the tables as a stream, not one miss each.
                sort_distinct(out_ordinal, before, count, seen)
            total = before
            for i in range(before, count):
                row = out_ordinal[i]
                total += member_start[row + 1] - member_start[row]
            if total > room:
                return event, before, total
            # From the back, so that no row is overwritten before it is read.
            at = total
            for i in range(count - 1, before - 1, -1):
                row = out_ordinal[i]
                for k in range(member_start[row + 1] - 1, np.int64(member_start[row]) - 1, -1):
                    at -= 1
                    out_ordinal[at] = member[k]
            count = total
        if len(dead) > 0:
            kept = before
            for i in range(before, count):
                ordinal = out_ordinal[i]
                if (dead[ordinal >> 6] >> np.uint64(ordinal & 63)) & np.uint64(1) == 0:
                    out_ordinal[kept] = ordinal
                    kept += 1
            count = kept
        sort_distinct(out_ordinal, before, count, seen)
        for i in range(before, count):
            out_event[i] = event
    return events, count, count
