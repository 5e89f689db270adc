from __future__ import annotations

import copy
import io
import json
import pickle
import tracemalloc
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boolfilter.errors import BoolFilterError
from boolfilter.trees import (
    LARGEST_ID,
    ChildCountError,
    ChildWidthError,
    Kind,
    Leaf,
    Members,
    Node,
    Tree,
    TreeError,
    TreeFormatError,
    decode,
    decode_paper,
    encode,
    encode_paper,
    skip,
)
from scripts import make_tree_vectors

VECTORS = Path(__file__).parent.parent / "encoding" / "vectors"
DEEP = 50_000

# Around every power of two, where an id takes another byte.
edge_ids = st.builds(
    lambda bits, offset: min(max(0, 2**bits + offset), LARGEST_ID),
    st.integers(0, 32),
    st.integers(-2, 2),
)
ids = st.one_of(edge_ids, st.integers(0, 20), st.integers(0, LARGEST_ID))
leaves = st.builds(Leaf, ids, st.booleans())
members = st.builds(
    lambda chosen, negated: Members(tuple(sorted(chosen)), negated),
    st.sets(ids, max_size=40),
    st.booleans(),
)


kinds = st.sampled_from(Kind)
lists_of_leaves = st.lists(st.one_of(leaves, leaves, members), max_size=4)
# Many children without many draws: a few of them over and over.
wide = st.builds(
    lambda kind, some, times: Node(kind, tuple(some) * times),
    kinds,
    lists_of_leaves,
    st.integers(1, 60),
)
trees = st.recursive(
    st.one_of(leaves, leaves, members, wide),
    lambda children: st.builds(Node, kinds, st.lists(children, max_size=4).map(tuple)),
    max_leaves=8,
)


# -- golden vectors ---------------------------------------------------------------------------


def vectors(name: str) -> list[dict[str, Any]]:
    lines = (VECTORS / f"{name}.jsonl").read_text().splitlines()
    return [vector for vector in map(json.loads, lines) if "made by" not in vector]


def tree_of(plain: Any) -> Tree:
    if isinstance(plain, int):
        return Leaf(plain)
    [(word, inside)] = plain.items()
    if word == "not":
        return Leaf(inside, negated=True)
    if word in ("in", "not in"):
        return Members(tuple(inside), negated=word == "not in")
    return Node(Kind[word.upper()], tuple(map(tree_of, inside)))


def spelled_out(tree: Tree) -> Tree:
    """IN lists as the junctions of leaves that they stand for: what the paper's format keeps."""
    if isinstance(tree, Members):
        kind = Kind.AND if tree.negated else Kind.OR
        return Node(kind, tuple(Leaf(number, tree.negated) for number in tree.ids))
    if isinstance(tree, Node):
        return Node(tree.kind, tuple(map(spelled_out, tree.children)))
    return tree


@pytest.mark.parametrize("vector", vectors("by_hand"), ids=lambda vector: vector["name"])
def test_vectors_worked_out_by_hand(vector):
    check_vector(vector)


def test_generated_vectors():
    for vector in vectors("generated"):
        check_vector(vector)


def check_vector(vector: dict[str, Any]) -> None:
    tree = tree_of(vector["tree"])
    ours = bytes.fromhex(vector["ours"])
    assert encode(tree) == ours
    assert decode(ours) == tree
    assert skip(ours, 0) == len(ours)
    if vector["paper"] is None:
        with pytest.raises((ChildCountError, ChildWidthError)):
            encode_paper(tree)
    else:
        assert encode_paper(tree) == bytes.fromhex(vector["paper"])
        assert decode_paper(bytes.fromhex(vector["paper"])) == spelled_out(tree)


def test_generated_vectors_are_what_their_command_prints():
    printed = io.StringIO()
    with redirect_stdout(printed):
        make_tree_vectors.main()
    assert printed.getvalue() == (VECTORS / "generated.jsonl").read_text()


@pytest.mark.parametrize("vector", vectors("invalid"), ids=lambda v: f"{v['format']}: {v['why']}")
def test_invalid_vectors_are_refused(vector):
    read = {"ours": decode, "paper": decode_paper}[vector["format"]]
    data = bytes.fromhex(vector["bytes"])
    with pytest.raises(TreeFormatError) as caught:
        read(data)
    assert 0 <= caught.value.position <= len(data)
    assert str(caught.value).startswith("not an encoded tree: ")


# -- round trips ------------------------------------------------------------------------------


@given(trees)
def test_our_format_gives_the_tree_back(tree):
    assert decode(encode(tree)) == tree


@given(trees)
def test_the_papers_format_gives_the_tree_back_with_lists_spelled_out(tree):
    try:
        data = encode_paper(tree)
    except (ChildCountError, ChildWidthError):
        return
    assert decode_paper(data) == spelled_out(tree)


@given(trees, trees)
def test_trees_are_equal_just_when_their_bytes_are(one, other):
    assert (one == other) == (encode(one) == encode(other))
    assert (one == other) <= (hash(one) == hash(other))


@given(trees)
def test_ours_is_never_larger_but_for_wide_ids(tree):
    try:
        paper = encode_paper(tree)
    except (ChildCountError, ChildWidthError):
        return
    # Without a parent a wide id has no width bytes to save.
    assert len(encode(tree)) <= len(paper) + 1


@given(trees, st.binary(max_size=5), st.binary(max_size=5))
def test_skip_finds_the_end_of_every_subtree(tree, before, after):
    data = before + encode(tree) + after
    assert skip(data, len(before)) == len(data) - len(after)
    assert skip(memoryview(data), len(before)) == len(data) - len(after)


def test_skip_jumps_over_a_large_body_unread():
    body = encode(Node(Kind.OR, (Leaf(1),) * 1_000))
    damaged = body[:10] + b"\xff" * (len(body) - 10)
    assert skip(damaged, 0) == len(damaged)


def test_deep_trees_do_not_recurse():
    tree: Tree = Leaf(1)
    for level in range(DEEP):
        tree = Node(Kind.AND if level % 2 else Kind.OR, (tree,))
    data = encode(tree)
    again = decode(data)
    assert again == tree
    assert hash(again) == hash(tree)
    assert repr(again).count("Node(") == DEEP
    assert skip(data, 0) == len(data)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert copy.deepcopy(tree) == tree


def test_deep_nots_of_the_papers_format_do_not_recurse():
    data = b"\0\0\0\7"
    for _ in range(10_001):
        data = bytes([3, 1]) + len(data).to_bytes(2, "big") + data
    assert decode_paper(data) == Leaf(7, negated=True)


@given(trees)
def test_repr_and_pickle_give_the_tree_back(tree):
    assert eval(repr(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree


# -- damage -----------------------------------------------------------------------------------


def only_canonical(data: bytes) -> None:
    """Refused, or a tree whose encoding is just these bytes."""
    try:
        tree = decode(data)
    except TreeFormatError as error:
        assert 0 <= error.position <= len(data)
    else:
        assert encode(tree) == data
        assert skip(data, 0) == len(data)


def only_a_tree(data: bytes) -> None:
    """Refused, or a tree that comes back. The paper's NOT can stand anywhere, ours cannot."""
    try:
        tree = decode_paper(data)
    except TreeFormatError as error:
        assert 0 <= error.position <= len(data)
    else:
        assert decode(encode(tree)) == tree


@given(st.binary(max_size=300))
@example(b"\x5f" * 300)
@example(b"\x41" * 300)
def test_any_bytes_are_refused_or_canonical(data):
    only_canonical(data)
    only_a_tree(data)


# Bytes that mean something: tags, counts at the edges, continued numbers.
telling_bytes = st.sampled_from(
    [0, 1, 2, 3, 4, 7, 8, 24, 31, 64, 65, 66, 93, 94, 95, 96, 97, 127, 128, 129, 159, 160, 192, 255]
)


@given(st.lists(telling_bytes, max_size=60).map(bytes))
def test_telling_bytes_are_refused_or_canonical(data):
    only_canonical(data)
    only_a_tree(data)
    for start in range(len(data)):
        with suppress(TreeFormatError):
            assert start < skip(data, start) <= len(data)


@given(trees, st.data())
def test_a_changed_byte_is_refused_or_another_tree(tree, draw):
    data = bytearray(encode(tree))
    place = draw.draw(st.integers(0, len(data) - 1))
    change = draw.draw(st.sampled_from(["change", "insert", "remove"]))
    byte = draw.draw(st.one_of(telling_bytes, st.integers(0, 255)))
    if change == "change":
        data[place] = byte
    elif change == "insert":
        data.insert(place, byte)
    else:
        del data[place]
    only_canonical(bytes(data))


@given(trees)
def test_no_part_of_an_encoding_is_one(tree):
    data = encode(tree)
    for length in range(max(0, len(data) - 20), len(data)):
        with pytest.raises(TreeFormatError):
            decode(data[:length])


@pytest.mark.parametrize("damaged", ["5e ffffffff0f", "9f ffffffff0f", "5f ffffffff0f ffffffff0f"])
def test_absurd_counts_take_no_memory(damaged):
    data = bytes.fromhex(damaged) + bytes(100)
    tracemalloc.start()
    try:
        with pytest.raises(TreeFormatError):
            decode(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("start", [-1, 3, 10])
def test_skip_refuses_a_place_outside(start):
    with pytest.raises(TreeFormatError):
        skip(b"\x01\x02", start)


# -- limits -----------------------------------------------------------------------------------


def test_the_papers_format_has_room_for_255_children():
    widest = Node(Kind.AND, (Leaf(1),) * 255)
    assert decode_paper(encode_paper(widest)) == widest
    with pytest.raises(ChildCountError, match="256, over the bound of 255") as caught:
        encode_paper(Node(Kind.AND, (Leaf(1),) * 256))
    assert (caught.value.actual, caught.value.limit) == (256, 255)
    with pytest.raises(ChildCountError):
        encode_paper(Members(tuple(range(256))))


def test_the_papers_format_has_room_for_65535_bytes_a_child():
    # 42 children of 2 + 255 * 6 = 1,532 bytes, and their widths: 64,430 bytes.
    large = Node(Kind.OR, (Node(Kind.AND, (Leaf(1),) * 255),) * 42)
    fits = Node(Kind.AND, (large,))
    assert decode_paper(encode_paper(fits)) == fits
    too_large = Node(Kind.OR, (Node(Kind.AND, (Leaf(1),) * 255),) * 43)
    encode_paper(too_large)  # the root has no width
    with pytest.raises(ChildWidthError, match="65,964, over the bound of 65,535"):
        encode_paper(Node(Kind.AND, (too_large,)))


@pytest.mark.parametrize("number", [-1, LARGEST_ID + 1, 1.0, "1", None])
def test_ids_out_of_range_are_refused(number):
    with pytest.raises(TreeError, match="a predicate id is an integer"):
        Leaf(number)
    with pytest.raises(TreeError, match="a predicate id is an integer"):
        Members((number,))


@pytest.mark.parametrize("numbers", [(2, 1), (1, 1)])
def test_members_must_ascend(numbers):
    with pytest.raises(TreeError, match="ascend"):
        Members(numbers)


def test_errors_are_of_the_family_and_can_be_pickled():
    with pytest.raises(BoolFilterError) as caught:
        decode(b"\x42\x05")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.position) == (str(caught.value), 0)


# -- sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [3, 4, 5])
def test_ours_takes_at_most_60_percent_of_the_papers_bytes(pairs):
    # The longest ids below 2**27, so that every smaller one only helps.
    pair = Node(Kind.OR, (Leaf(2**27 - 1), Leaf(2**27 - 2)))
    tree = Node(Kind.AND, (pair,) * pairs)
    assert len(encode_paper(tree)) == 2 + 16 * pairs
    assert len(encode(tree)) == 1 + 9 * pairs
    assert len(encode(tree)) <= 0.6 * len(encode_paper(tree))
