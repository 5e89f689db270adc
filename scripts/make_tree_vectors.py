"""Write encoding/vectors/generated.jsonl: random trees and their bytes in both formats.

    python -m scripts.make_tree_vectors > encoding/vectors/generated.jsonl

What it prints depends on nothing but the code, so that a difference means that a format changed.
"""

import json
import random
from typing import Any

from boolfilter.errors import LimitError
from boolfilter.trees import LARGEST_ID, Kind, Leaf, Members, Node, Tree, encode, encode_paper

COMMAND = "python -m scripts.make_tree_vectors"
TREES = 100
SEED = 2005


def main() -> None:
    print(json.dumps({"made by": COMMAND}))
    chance = random.Random(SEED)
    for _ in range(TREES):
        tree = random_tree(chance, depth=chance.randrange(5))
        print(json.dumps({"tree": plain(tree), "ours": encode(tree).hex(), "paper": paper(tree)}))


def random_tree(chance: random.Random, depth: int) -> Tree:
    """`depth` bounds the recursion. One node in fifty is large."""
    widest = 300 if chance.random() < 0.02 else 5
    if depth and chance.random() < 0.8:
        kind = chance.choice(list(Kind))
        below = 0 if widest > 5 else depth - 1
        children = (random_tree(chance, below) for _ in range(chance.randrange(widest)))
        return Node(kind, tuple(children))
    negated = chance.random() < 0.3
    if chance.random() < 0.8:
        return Leaf(random_id(chance), negated)
    ids = {random_id(chance) for _ in range(chance.randrange(widest * 2))}
    return Members(tuple(sorted(ids)), negated)


def random_id(chance: random.Random) -> int:
    """Any number of bits is as likely as any other."""
    return chance.randrange(LARGEST_ID + 1) >> chance.randrange(32)


def plain(tree: Tree) -> Any:
    """The tree as encoding/README.md writes it in JSON."""
    if isinstance(tree, Leaf):
        return {"not": tree.id} if tree.negated else tree.id
    if isinstance(tree, Members):
        return {"not in" if tree.negated else "in": tree.ids}
    return {tree.kind.value.lower(): [plain(child) for child in tree.children]}


def paper(tree: Tree) -> str | None:
    try:
        return encode_paper(tree).hex()
    except LimitError:
        return None


if __name__ == "__main__":
    main()
