"""Subscription trees as bytes, in our format.

The format is specified in ``encoding/README.md``. It is canonical (one byte string a tree), can be
skipped without being read, and takes about half of what the original one does, which is in
:mod:`boolfilter.paper_trees`. Trees may be very deep and bytes may be damaged: so nothing here
recurses, and no number that is read is believed unchecked.
"""

from __future__ import annotations

from typing import NamedTuple

from boolfilter.paper_trees import ChildCountError, ChildWidthError, decode_paper, encode_paper
from boolfilter.tree_nodes import (
    LARGEST_ID,
    Kind,
    Leaf,
    Members,
    Node,
    Tree,
    TreeError,
    TreeFormatError,
)

__all__ = [
    "LARGEST_ID",
    "ChildCountError",
    "ChildWidthError",
    "Kind",
    "Leaf",
    "Members",
    "Node",
    "Tree",
    "TreeError",
    "TreeFormatError",
    "decode",
    "decode_paper",
    "encode",
    "encode_paper",
    "skip",
]

# The three high bits of a tag. One more than each of _LEAF, _MEMBERS and _WIDE_LEAF negates it.
_LEAF, _AND, _OR, _MEMBERS, _WIDE_LEAF = 0, 2, 3, 4, 6
_WIDE_FROM = 1 << 27
# Values of the five low bits that say more than a count.
_LONG_COUNT, _SKIPPABLE, _MANY_MEMBERS = 30, 31, 31
_SKIPPABLE_FROM = 128
_LARGEST_NUMBER = 2**32 - 1


def encode(tree: Tree) -> bytes:
    """The tree in our format; linear in its size.

    >>> encode(Node(Kind.AND, (Leaf(5), Leaf(1_000_000, negated=True)))).hex(" ")
    '42 05 38 0f 42 40'
    """
    # Written back to front, as a node's header holds the length of its body.
    out = bytearray()
    todo: list[Tree | tuple[Node, int]] = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, Leaf):
            out += _leaf_bytes(item)[::-1]
        elif isinstance(item, Members):
            out += _members_bytes(item)[::-1]
        elif isinstance(item, Node):
            todo.append((item, len(out)))
            todo.extend(item.children)
        else:
            node, body_end = item
            out += _header(node, len(out) - body_end)[::-1]
    out.reverse()
    return bytes(out)


def decode(data: bytes | bytearray | memoryview) -> Tree:
    """The tree of its bytes in our format; TreeFormatError unless they are just what encode makes.

    >>> decode(bytes.fromhex("42 05 38 0f 42 40")) == Node(
    ...     Kind.AND, (Leaf(5), Leaf(1_000_000, negated=True))
    ... )
    True
    >>> decode(b"\\x42\\x05")
    Traceback (most recent call last):
        ...
    boolfilter.tree_nodes.TreeFormatError: not an encoded tree: 2 children in 1 bytes at byte 0
    """
    reader = _Reader(memoryview(data).tobytes(), 0)
    levels = [_Level(Kind.AND, 1, [], 0, None)]  # a parent for the root
    while True:
        level = levels[-1]
        if len(level.children) < level.arity:
            start = reader.position
            tag = reader.byte()
            family = tag >> 5
            if family in (_AND, _OR):
                levels.append(_read_header(reader, tag, start))
            elif family in (_MEMBERS, _MEMBERS + 1):
                level.children.append(_read_members(reader, tag, start))
            else:
                level.children.append(_read_leaf(reader, tag, start))
        elif len(levels) > 1:
            _check_body(level, reader.position)
            levels.pop()
            levels[-1].children.append(Node(level.kind, tuple(level.children)))
        else:
            break
    if reader.remaining:
        raise TreeFormatError(f"{reader.remaining} bytes too many", reader.position)
    return levels[0].children[0]


def skip(data: bytes | bytearray | memoryview, start: int) -> int:
    """Where the tree in our format that starts at `start` ends, without looking at all of it.

    Bodies of 128 bytes or more are jumped over. Trusts its input, but stays inside of it.

    >>> skip(bytes.fromhex("42 05 38 0f 42 40"), 1)
    2
    """
    reader = _Reader(memoryview(data).cast("B"), start)
    pending = 1
    while pending:
        pending -= 1
        tag = reader.byte()
        family, low = tag >> 5, tag & 31
        if family in (_AND, _OR):
            if low == _SKIPPABLE:
                length = reader.number()
                reader.number()
                reader.advance(length)
            else:
                pending += reader.number() if low == _LONG_COUNT else low
        elif family in (_MEMBERS, _MEMBERS + 1):
            for _ in range(reader.number() if low == _MANY_MEMBERS else low):
                reader.number()
        else:
            reader.advance(4 if family >= _WIDE_LEAF else low >> 3)
    return reader.position


def _leaf_bytes(leaf: Leaf) -> bytes:
    if leaf.id >= _WIDE_FROM:
        return ((_WIDE_LEAF + leaf.negated) << 37 | leaf.id).to_bytes(5, "big")
    following = (leaf.id.bit_length() + 4) // 8  # three bits have their place in the tag
    tag = (_LEAF + leaf.negated) << 5 | following << 3
    return (tag << 8 * following | leaf.id).to_bytes(1 + following, "big")


def _members_bytes(members: Members) -> bytes:
    count = len(members.ids)
    out = bytearray([(_MEMBERS + members.negated) << 5 | min(count, _MANY_MEMBERS)])
    if count >= _MANY_MEMBERS:
        out += _leb128(count)
    previous = -1
    for number in members.ids:
        out += _leb128(number - previous - 1)
        previous = number
    return bytes(out)


def _header(node: Node, body_length: int) -> bytes:
    family = _AND if node.kind is Kind.AND else _OR
    count = len(node.children)
    if body_length > _LARGEST_NUMBER:
        raise TreeError(f"a body of {body_length:,} bytes: 2**32 - 1 is the most")
    if body_length >= _SKIPPABLE_FROM:
        return bytes([family << 5 | _SKIPPABLE]) + _leb128(body_length) + _leb128(count)
    if count >= _LONG_COUNT:
        return bytes([family << 5 | _LONG_COUNT]) + _leb128(count)
    return bytes([family << 5 | count])


def _leb128(number: int) -> bytes:
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_leaf(reader: _Reader, tag: int, start: int) -> Leaf:
    family, low = tag >> 5, tag & 31
    if family >= _WIDE_LEAF:
        number = reader.big_endian(4)
        if low or number < _WIDE_FROM:
            raise TreeFormatError("a wide leaf that need not be or has bits set", start)
        return Leaf(number, negated=family > _WIDE_LEAF)
    following = low >> 3
    number = (low & 7) << 8 * following | reader.big_endian(following)
    if following != (number.bit_length() + 4) // 8:
        raise TreeFormatError("an id longer than it need be", start)
    return Leaf(number, negated=family > _LEAF)


def _read_members(reader: _Reader, tag: int, start: int) -> Members:
    count = tag & 31
    if count == _MANY_MEMBERS:
        count = reader.number()
        if count < _MANY_MEMBERS:
            raise TreeFormatError("a count longer than it need be", start)
    if count > reader.remaining:
        raise TreeFormatError(f"{count} ids in {reader.remaining} bytes", start)
    ids: list[int] = []
    previous = -1
    for _ in range(count):
        place = reader.position
        previous += reader.number() + 1
        if previous > LARGEST_ID:
            raise TreeFormatError("an id over 2**32 - 1", place)
        ids.append(previous)
    return Members(tuple(ids), negated=tag >> 5 > _MEMBERS)


def _read_header(reader: _Reader, tag: int, start: int) -> _Level:
    kind = Kind.AND if tag >> 5 == _AND else Kind.OR
    count, length = tag & 31, None
    if count == _SKIPPABLE:
        length, count = reader.number(), reader.number()
        if length < _SKIPPABLE_FROM:
            raise TreeFormatError("a length for a body under 128 bytes", start)
    elif count == _LONG_COUNT:
        count = reader.number()
        if count < _LONG_COUNT:
            raise TreeFormatError("a count longer than it need be", start)
    room = reader.remaining if length is None else length
    if room > reader.remaining:
        raise TreeFormatError(f"a body of {room} bytes in {reader.remaining}", start)
    if count > room:
        raise TreeFormatError(f"{count} children in {room} bytes", start)
    return _Level(kind, count, [], reader.position, length)


def _check_body(level: _Level, end: int) -> None:
    actual = end - level.body_start
    if level.length is None:
        if actual >= _SKIPPABLE_FROM:
            raise TreeFormatError("a body of 128 bytes or more without length", level.body_start)
    elif actual != level.length:
        problem = f"a body of {actual} bytes that should be {level.length}"
        raise TreeFormatError(problem, level.body_start)


class _Level(NamedTuple):
    """A node that is being read: its children so far, and its body's length where it says."""

    kind: Kind
    arity: int
    children: list[Tree]
    body_start: int
    length: int | None


class _Reader:
    """Takes bytes from the front and refuses to go past the end."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes | memoryview, position: int) -> None:
        if not 0 <= position <= len(data):
            raise TreeFormatError("no such place", position)
        self.data = data
        self.position = position

    @property
    def remaining(self) -> int:
        return len(self.data) - self.position

    def byte(self) -> int:
        return self.data[self.advance(1)]

    def big_endian(self, width: int) -> int:
        start = self.advance(width)
        return int.from_bytes(self.data[start : self.position], "big")

    def advance(self, width: int) -> int:
        """Past the next `width` bytes; returns where they start."""
        start = self.position
        if width > len(self.data) - start:
            raise TreeFormatError("the bytes end too early", len(self.data))
        self.position = start + width
        return start

    def number(self) -> int:
        """A LEB128 number below 2**32, in as few bytes as it can have."""
        start = self.position
        number = 0
        for shift in range(0, 35, 7):
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                if byte == 0 and shift:
                    raise TreeFormatError("a number longer than it need be", start)
                if number <= _LARGEST_NUMBER:
                    return number
                break
        raise TreeFormatError("a number over 2**32 - 1", start)
