"""How many bytes a subscription tree takes, in the paper's format and in ours."""

from __future__ import annotations

import argparse
import random

from benchmarks.report import Report
from boolfilter.trees import Kind, Leaf, Node, Tree, encode, encode_paper

PREDICATES = (6, 8, 10)
GREATEST_RATIO = 0.6


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--trees", type=int, default=20_000, help="of each size")
    command.add_argument("--largest-id", type=int, default=10_000_000)


def run(options: argparse.Namespace, report: Report) -> None:
    chance = random.Random(options.seed)
    held = True
    for predicates in PREDICATES:
        trees = [_tree(chance, predicates, options.largest_id) for _ in range(options.trees)]
        paper = sum(len(encode_paper(tree)) for tree in trees) / len(trees)
        ours = sum(len(encode(tree)) for tree in trees) / len(trees)
        held = held and ours <= GREATEST_RATIO * paper
        report.add(
            predicates=predicates,
            trees=len(trees),
            paper_bytes_per_subscription=paper,
            our_bytes_per_subscription=ours,
            ratio=ours / paper,
        )
    verdict = "holds" if held else "DOES NOT HOLD"
    report.note(f"ours at most {GREATEST_RATIO:.0%} of the paper's: {verdict}")


def _tree(chance: random.Random, predicates: int, largest_id: int) -> Tree:
    """An AND of OR pairs, as in the paper's experiments."""

    def leaf() -> Leaf:
        return Leaf(chance.randint(1, largest_id))

    pairs = (Node(Kind.OR, (leaf(), leaf())) for _ in range(predicates // 2))
    return Node(Kind.AND, tuple(pairs))
