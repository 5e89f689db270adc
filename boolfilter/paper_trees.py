"""Subscription trees in the byte format of Bittner and Hinze's paper, section 3.3.

One byte for the operator, one for the number of children, two for the width of each child, and
four for a predicate id; ``encoding/README.md`` specifies what the paper leaves open. It has AND,
OR and NOT and no IN lists, so an IN list is written as the OR it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from boolfilter.errors import LimitError
from boolfilter.tree_nodes import Kind, Leaf, Members, Node, Tree, TreeFormatError

_AND, _OR, _NOT = 1, 2, 3
_LEAF_WIDTH = 4
_MOST_CHILDREN = 255
_GREATEST_WIDTH = 65_535


class ChildCountError(LimitError):
    """A node with more children than the paper's format can count."""

    what = "the number of children of a node in the paper's format"


class ChildWidthError(LimitError):
    """A child with more bytes than the paper's format can say."""

    what = "the width in bytes of a child in the paper's format"


def encode_paper(tree: Tree) -> bytes:
    """The tree in the paper's format.

    Raises ChildCountError or ChildWidthError for a tree that the format has no room for.

    >>> encode_paper(Node(Kind.AND, (Leaf(5), Leaf(6, negated=True)))).hex(" ", -4)
    '01020004 00080000 00050301 00040000 0006'
    """
    # Written back to front, as a node's header holds the widths of its children.
    out = bytearray()
    widths: list[int] = []
    todo: list[Tree | tuple[Node, int]] = [tree]
    while todo:
        item = todo.pop()
        body_length = 0
        if isinstance(item, Node):
            todo.append((item, len(out)))
            todo.extend(item.children)
            continue
        if isinstance(item, Leaf):
            written = _leaf_bytes(item)
        elif isinstance(item, Members):
            written = _members_bytes(item)
        else:
            node, body_end = item
            body_length = len(out) - body_end
            first = len(widths) - len(node.children)
            written = _header(_AND if node.kind is Kind.AND else _OR, widths[first:][::-1])
            del widths[first:]
        widths.append(len(written) + body_length)
        out += written[::-1]
    out.reverse()
    return bytes(out)


def decode_paper(data: bytes | bytearray | memoryview) -> Tree:
    """The tree of its bytes in the paper's format, with every NOT pushed to the leaves.

    So an IN list comes back as an OR of leaves, a NOT IN as an AND of negated ones, and all else
    as it was. Raises TreeFormatError where the bytes are no tree.

    >>> decode_paper(bytes.fromhex("03 01 0004 00000007"))
    Leaf(id=7, negated=True)
    """
    data = memoryview(data).tobytes()
    done: list[Tree] = []
    todo: list[_Span | _Close] = [_Span(0, len(data), False)]
    while todo:
        item = todo.pop()
        if isinstance(item, _Close):
            first = len(done) - item.arity
            children = tuple(done[first:])
            del done[first:]
            done.append(Node(item.kind, children))
        elif item.width == _LEAF_WIDTH:
            done.append(
                Leaf(int.from_bytes(data[item.start : item.start + 4], "big"), item.negated)
            )
        else:
            operator, spans = _read_node(data, item)
            if operator != _NOT:
                # De Morgan: under a NOT each AND is an OR of negated children.
                kind = Kind.AND if (operator == _AND) is not item.negated else Kind.OR
                todo.append(_Close(kind, len(spans)))
            todo.extend(reversed(spans))
    return done[0]


class _Span(NamedTuple):
    """A tree still to be read, and whether it stands under an odd number of NOTs."""

    start: int
    width: int
    negated: bool


class _Close(NamedTuple):
    kind: Kind
    arity: int


def _leaf_bytes(leaf: Leaf) -> bytes:
    written = leaf.id.to_bytes(_LEAF_WIDTH, "big")
    return _header(_NOT, [_LEAF_WIDTH]) + written if leaf.negated else written


def _members_bytes(members: Members) -> bytes:
    leaves = b"".join(number.to_bytes(_LEAF_WIDTH, "big") for number in members.ids)
    written = _header(_OR, [_LEAF_WIDTH] * len(members.ids)) + leaves
    return _header(_NOT, [len(written)]) + written if members.negated else written


def _header(operator: int, widths: Sequence[int]) -> bytes:
    if len(widths) > _MOST_CHILDREN:
        raise ChildCountError(len(widths), _MOST_CHILDREN)
    widest = max(widths, default=0)
    if widest > _GREATEST_WIDTH:
        raise ChildWidthError(widest, _GREATEST_WIDTH)
    return bytes([operator, len(widths)]) + b"".join(width.to_bytes(2, "big") for width in widths)


def _read_node(data: bytes, span: _Span) -> tuple[int, list[_Span]]:
    """The operator of an inner node and where its children are, which must fill its width."""
    start, width, negated = span
    if width < 2:
        raise TreeFormatError(f"{width} bytes, too few for a node", start)
    operator, count = data[start], data[start + 1]
    if operator not in (_AND, _OR, _NOT):
        raise TreeFormatError(f"no operator has the number {operator}", start)
    if operator == _NOT and count != 1:
        raise TreeFormatError(f"a NOT of {count} children", start)
    at = start + 2 + 2 * count
    if at > start + width:
        raise TreeFormatError(f"{count} children in {width} bytes", start)
    spans: list[_Span] = []
    for place in range(start + 2, at, 2):
        child_width = int.from_bytes(data[place : place + 2], "big")
        spans.append(_Span(at, child_width, negated is not (operator == _NOT)))
        at += child_width
    if at != start + width:
        raise TreeFormatError(f"a node of {at - start} bytes that should be {width}", start)
    return operator, spans
