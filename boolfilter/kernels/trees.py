"""Kernels over whole trees: to and from the bytes of encoding/README.md, and equal ones found."""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import IN, helper, kernel

_WIDE_FROM = 1 << 27
_SKIPPABLE_FROM = 128
_MOST_BYTES_A_WORD = 11  # a tag and two numbers; a leaf and a member of a list take 5


@helper
def _varint_size(value):
    size = 1
    while value >= 128:
        value >>= 7
        size += 1
    return size


@helper
def _put_varint(out, at, value):
    while value >= 128:
        out[at] = (value & 127) | 128
        value >>= 7
        at += 1
    out[at] = value
    return at + 1


@kernel("int64(int64, int32[::1], int64[::1], uint32[::1], int64[::1], uint8[::1])")
def encode_trees(first, words, starts, ids, byte_starts, out):
    """The bytes of the trees from `first` on, one after the other, and where each ends; stops
    before a tree that may not fit any more, and returns its row.

    A tree is written back to front, since the header of a node holds the length of its body, and
    then moved to its place.
    """
    longest = np.int64(1)
    for row in range(first, len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    stack = np.empty(longest + 1, np.int64)
    listed = np.zeros(longest + 1, np.uint8)
    for row in range(first, len(starts) - 1):
        top = 0
        start = starts[row]
        place = byte_starts[row]
        room = _MOST_BYTES_A_WORD * (starts[row + 1] - start)
        if place + room > len(out):
            return row
        i = start
        while i < starts[row + 1]:
            listed[i - start] = 0
            if words[i] < 0 and (-words[i]) & 3 >= IN:
                count = np.int64((-words[i]) >> 2) - 1
                listed[i - start + 1 : i - start + 1 + count] = 1
                i += count
            i += 1
        at = place + room
        for i in range(starts[row + 1] - 1, start - 1, -1):
            word = words[i]
            if word >= 0:
                if listed[i - start]:
                    continue
                g = np.int64(ids[word >> 1])
                negated = word & 1
                if g >= _WIDE_FROM:
                    size = 5
                else:
                    size = 1
                    while g >> (8 * (size - 1)) >= 8:
                        size += 1
                at -= size
                if g >= _WIDE_FROM:
                    out[at] = (6 + negated) << 5
                else:
                    out[at] = (negated << 5) | ((size - 1) << 3) | (g >> (8 * (size - 1)))
                for k in range(1, size):
                    out[at + k] = (g >> (8 * (size - 1 - k))) & 255
                stack[top] = size
                top += 1
                continue
            kind = (-word) & 3
            count = np.int64((-word) >> 2) - 1
            if kind >= IN:
                size = np.int64(1) if count <= 30 else 1 + _varint_size(count)
                previous = np.int64(-1)
                for k in range(count):
                    g = np.int64(ids[words[i + 1 + k] >> 1])
                    size += _varint_size(g - previous - 1)
                    previous = g
                at -= size
                out[at] = (kind + 2) << 5 | min(count, 31)
                p = at + 1
                if count > 30:
                    p = _put_varint(out, p, count)
                previous = np.int64(-1)
                for k in range(count):
                    g = np.int64(ids[words[i + 1 + k] >> 1])
                    p = _put_varint(out, p, g - previous - 1)
                    previous = g
                stack[top] = size
                top += 1
                continue
            body = np.int64(0)
            for _ in range(count):
                top -= 1
                body += stack[top]
            tag = (kind + 2) << 5
            if body >= _SKIPPABLE_FROM:
                size = 1 + _varint_size(body) + _varint_size(count)
            elif count > 29:
                size = 1 + _varint_size(count)
            else:
                size = np.int64(1)
            at -= size
            if body >= _SKIPPABLE_FROM:
                out[at] = tag | 31
                _put_varint(out, _put_varint(out, at + 1, body), count)
            elif count > 29:
                out[at] = tag | 30
                _put_varint(out, at + 1, count)
            else:
                out[at] = tag | count
            stack[top] = body + size
            top += 1
        for k in range(stack[0]):
            out[place + k] = out[at + k]
        byte_starts[row + 1] = place + stack[0]
    return len(starts) - 1


@helper
def _varint(data, at):
    value = np.int64(0)
    shift = 0
    while data[at] >= 128:
        value |= np.int64(data[at] & 127) << shift
        shift += 7
        at += 1
    return value | np.int64(data[at]) << shift, at + 1


@kernel("int64(uint8[::1], int64[::1], int64[::1], boolean, int32[::1], uint32[::1], int64[::1])")
def decode_trees(data, byte_starts, rows, writing, words, ids, starts):
    """Trees back as words, their leaves numbered by occurrence with the ids beside; returns the
    number of words. Called once to count and once to write. Trusts the bytes: they are our own."""
    n = np.int64(0)
    leaf = np.int64(0)
    for r in range(len(rows)):
        at = byte_starts[rows[r]]
        end = byte_starts[rows[r] + 1]
        if writing:
            starts[r] = n
        while at < end:
            tag = data[at] >> 5
            low = np.int64(data[at] & 31)
            if tag <= 1 or tag >= 6:
                size = np.int64(4)
                g = np.int64(0)
                if tag <= 1:
                    size = low >> 3
                    g = low & 7
                for k in range(size):
                    g = g << 8 | np.int64(data[at + 1 + k])
                at += 1 + size
                if writing:
                    words[n] = leaf << 1 | (tag & 1)
                    ids[leaf] = g
                n += 1
                leaf += 1
                continue
            at += 1
            count = low
            if tag <= 3:
                if low == 31:
                    _, at = _varint(data, at)
                if low >= 30:
                    count, at = _varint(data, at)
                if writing:
                    words[n] = -(4 * (count + 1) + (tag - 2))
                n += 1
                continue
            if low == 31:
                count, at = _varint(data, at)
            if writing:
                words[n] = -(4 * (count + 1) + (tag - 2))
            n += 1
            previous = np.int64(-1)
            for _ in range(count):
                step, at = _varint(data, at)
                previous += step + 1
                if writing:
                    words[n] = leaf << 1
                    ids[leaf] = previous
                n += 1
                leaf += 1
    if writing:
        starts[len(rows)] = n
    return n


@kernel("void(int32[::1], int64[::1], uint32[::1], uint64[::1])")
def hash_trees(words, starts, ids, out):
    """A hash of each tree, leaves counting by their ids."""
    for row in range(len(starts) - 1):
        h = np.uint64(14695981039346656037)
        for i in range(starts[row], starts[row + 1]):
            word = words[i]
            key = np.uint64(np.int64(word) & 0xFFFFFFFF)
            if word >= 0:
                key = np.uint64(ids[word >> 1]) << np.uint64(1) | np.uint64(word & 1)
                key |= np.uint64(1) << np.uint64(40)
            h = (h ^ key) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        out[row] = h


@kernel("void(int32[::1], int64[::1], uint32[::1], int64[::1], int64[::1], boolean[::1])")
def equal_trees(words, starts, ids, left, right, out):
    """Whether the trees of each pair of rows are the same."""
    for pair in range(len(left)):
        a = starts[left[pair]]
        b = starts[right[pair]]
        size = starts[left[pair] + 1] - a
        same = starts[right[pair] + 1] - b == size
        k = 0
        while same and k < size:
            one = words[a + k]
            two = words[b + k]
            if one >= 0 and two >= 0:
                same = ids[one >> 1] == ids[two >> 1] and (one & 1) == (two & 1)
            else:
                same = one == two
            k += 1
        out[pair] = same


@helper
def _checked_varint(data, at, end):
    """A number and where it ends; -1 if it is not whole or over 32 bits."""
    value = np.int64(0)
    for k in range(5):
        if at + k >= end:
            break
        value |= np.int64(data[at + k] & 127) << (7 * k)
        if data[at + k] < 128:
            return (value, at + k + 1) if value < 1 << 32 else (np.int64(-1), end)
    return np.int64(-1), end


@kernel("int64(uint8[::1], uint32[::1], int64)")
def check_trees(data, byte_starts, ids):
    """The first row whose bytes are not one whole tree of ids below `ids`, or -1."""
    for row in range(len(byte_starts) - 1):
        at = np.int64(byte_starts[row])
        end = np.int64(byte_starts[row + 1])
        missing = np.int64(1)
        while missing > 0:
            if missing > end - at:  # a tree takes at least one byte
                return row
            missing -= 1
            tag = data[at] >> 5
            low = np.int64(data[at] & 31)
            at += 1
            if tag <= 1 or tag >= 6:
                size = low >> 3 if tag <= 1 else np.int64(4)
                g = low & 7 if tag <= 1 else np.int64(0)
                if at + size > end:
                    return row
                for k in range(size):
                    g = g << 8 | np.int64(data[at + k])
                at += size
                if g >= ids:
                    return row
                continue
            count = low
            if tag <= 3:
                if low == 31:
                    count, at = _checked_varint(data, at, end)
                if low >= 30 and count >= 0:
                    count, at = _checked_varint(data, at, end)
                if count < 0:
                    return row
                missing += count
                continue
            if low == 31:
                count, at = _checked_varint(data, at, end)
            if count < 2 or count > end - at:
                return row
            previous = np.int64(-1)
            for _ in range(count):
                step, at = _checked_varint(data, at, end)
                if step < 0:
                    return row
                previous += step + 1
            if previous >= ids:
                return row
        if at != end:
            return row
    return -1
