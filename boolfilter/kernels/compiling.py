"""The kernel that compiles trees: access entries, guards and residual code.

A forest is a stream of int32 words in prefix order. A leaf is ``predicate << 1 | negated``; an
inner word is ``-(4 * (children + 1) + kind)``.
"""

from __future__ import annotations

import numpy as np

from boolfilter.kernels.jit import (
    ALWAYS_TRUE,
    AND,
    ENTRY_WORDS,
    HOPELESS,
    IN,
    LIST_FLAG,
    MOST_NARROW,
    NARROW_SLOTS,
    OR,
    TRUE_ID,
    TRUE_SLOT,
    WIDE_ACCEPT,
    WIDE_LIST_FLAG,
    WIDE_REJECT,
    helper,
    kernel,
)
from boolfilter.kernels.residuals import (
    children_of,
    fill_deciding_guard,
    fill_guard,
    kind_of_word,
    write_node,
)


@helper
def _measure(words, start, end, probability, size, chance, cost, code, listed_in, stack):
    """For each node of a tree: its words, chance to be true, cost as access, instructions, and
    list words."""
    top = 0
    for i in range(end - 1, start - 1, -1):
        n = i - start
        word = words[i]
        if word >= 0:
            p = probability[word >> 1]
            size[n] = 1
            code[n] = 1
            listed_in[n] = 0
            chance[n] = 1 - p if word & 1 else p
            cost[n] = HOPELESS if word & 1 else p
        else:
            kind = kind_of_word(word)
            total = 1
            instructions = 0
            lists = 0
            product = np.float32(1.0)
            added = np.float32(0.0)
            cheapest = HOPELESS
            for _ in range(children_of(word)):
                top -= 1
                child = stack[top]
                total += size[child]
                instructions += code[child]
                lists += listed_in[child]
                product *= chance[child]
                added += cost[child] if kind != AND else np.float32(0.0)
                cheapest = min(cheapest, cost[child])
            size[n] = total
            listed_in[n] = lists
            if kind == AND:
                chance[n] = product
                cost[n] = cheapest
                code[n] = instructions
            elif kind == OR:
                missed = np.float32(1.0)
                child = n + 1
                for _ in range(children_of(word)):
                    missed *= 1 - chance[child]
                    child += size[child]
                chance[n] = 1 - missed
                cost[n] = min(added, HOPELESS)
                code[n] = instructions
            else:
                inside = np.float32(0.0)
                for j in range(1, total):
                    inside += probability[words[i + j] >> 1]
                inside = min(inside, np.float32(1.0))
                chance[n] = inside if kind == IN else 1 - inside
                cost[n] = inside if kind == IN else HOPELESS
                code[n] = 1
                listed_in[n] = total
        stack[top] = n
        top += 1


@helper
def _write_entry(out, place, guard, code, row):
    """One record; `guard` is an id and its slot, twice."""
    at = ENTRY_WORDS * place
    slots = np.uint32(0)
    for side in range(2):
        slot = guard[2 * side + 1]
        out[at + side] = guard[2 * side]
        # A slot too large for a guard: then this one lets everything pass.
        slots |= np.uint32(slot if slot <= 0xFFFF else TRUE_SLOT) << np.uint32(16 * side)
    out[at + 2] = slots
    out[at + 3] = code
    out[at + 4] = row


@kernel(
    "int64(int64, int32[::1], int64[::1], uint32[::1], int32[::1], float32[::1], int64,"
    "uint32[::1], uint32[::1], uint32[::1], uint32[::1], int64[::1],"
    "int64[::1])"
)
def compile_trees(
    first, words, starts, ids, slots, probability, all_slots, entry_key, entry, code_words, lists,
    written, needed,
):  # fmt: skip
    """Access entries and residual code of the trees from `first` on; stops before a tree for which
    there is no room any more, and returns its row. `written` counts the entries, code words and
    list words so far, `needed` says how many there will be with the tree at which it stopped.

    A tree that can be true without any positive leaf has one entry, under the id that is always
    true. For any other, the residual of an access leaf is the AND of all that stands beside the
    path from the root to the leaf at AND nodes. At OR nodes the other branches can be left out:
    they have entries of their own.
    """
    longest = 1
    for row in range(first, len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    size = np.empty(longest, np.int64)
    code = np.empty(longest, np.int64)
    listed_in = np.empty(longest, np.int64)
    chance = np.empty(longest, np.float32)
    cost = np.empty(longest, np.float32)
    stack = np.empty(longest + 1, np.int64)
    work = np.empty((longest + 1, 4), np.int64)
    pending = np.empty((longest + 1, 2), np.int64)
    chain_parent = np.empty(longest + 1, np.int64)
    chain_and = np.empty(longest + 1, np.int64)
    chain_child = np.empty(longest + 1, np.int64)
    chain_code = np.empty(longest + 1, np.int64)
    chain_guard = np.empty((longest + 1, 4), np.int64)
    siblings = np.empty(longest + 1, np.int64)
    leaf_of = np.empty(longest + 1, np.int64)
    chain_of = np.empty(longest + 1, np.int64)
    unguarded = np.array([0, TRUE_SLOT, 0, TRUE_SLOT])
    entries, coded, listed = written
    for row in range(first, len(starts) - 1):
        start = starts[row]
        end = starts[row + 1]
        root = words[start]
        if root < 0 and children_of(root) == 0:
            if kind_of_word(root) == AND:  # TRUE
                if entries == len(entry_key):
                    needed[0] = entries + 1
                    return row
                entry_key[entries] = TRUE_ID
                _write_entry(entry, entries, unguarded, ALWAYS_TRUE, row)
                entries += 1
                written[0] = entries
            continue  # FALSE has no entry at all
        _measure(words, start, end, probability, size, chance, cost, code, listed_in, stack)
        whole_wide = code[0] > MOST_NARROW or all_slots >= NARROW_SLOTS
        hopeless = cost[0] >= HOPELESS
        # Top down: which leaves are access leaves, and which chain of ANDs stands above each.
        leaves = 0
        chains = 1
        chain_parent[0] = -1
        residual = 0
        code_needed = 0
        lists_needed = 0
        if not hopeless:
            top = 0
            pending[0, 0] = 0
            pending[0, 1] = 0
            top = 1
            while top > 0:
                top -= 1
                n = pending[top, 0]
                chain = pending[top, 1]
                word = words[start + n]
                if word >= 0:
                    leaf_of[leaves] = word >> 1
                    chain_of[leaves] = chain
                    leaves += 1
                    continue
                kind = kind_of_word(word)
                if kind == AND:
                    best = n + 1
                    child = n + 1
                    for _ in range(children_of(word)):
                        if cost[child] < cost[best]:
                            best = child
                        child += size[child]
                    chain_parent[chains] = chain
                    chain_and[chains] = n
                    chain_child[chains] = best
                    pending[top, 0] = best
                    pending[top, 1] = chains
                    chains += 1
                    top += 1
                else:
                    child = n + 1
                    for _ in range(children_of(word)):
                        pending[top, 0] = child
                        pending[top, 1] = chain
                        child += size[child]
                        top += 1
            for chain in range(chains):
                chain_code[chain] = -1
            # Residuals can repeat what stands high up: then the whole tree serves all entries.
            for leaf in range(leaves):
                chain = chain_of[leaf]
                if chain_code[chain] == -1:
                    chain_code[chain] = -2
                    up = chain
                    instructions = 0
                    while chain_parent[up] >= 0:
                        n = chain_and[up]
                        child = chain_child[up]
                        instructions += code[n] - code[child]
                        lists_needed += listed_in[n] - listed_in[child]
                        up = chain_parent[up]
                        if residual + instructions > 4 * code[0] + 16:
                            break
                    residual += instructions
                    wide = instructions > MOST_NARROW or all_slots >= NARROW_SLOTS
                    code_needed += (4 if wide else 2) * instructions
        serve_whole = hopeless or residual > 4 * code[0] + 16
        if serve_whole:
            code_needed = (4 if whole_wide else 2) * code[0]
            lists_needed = listed_in[0]
        needed[0] = entries + max(leaves, 1)
        needed[1] = coded + code_needed
        needed[2] = listed + lists_needed
        if needed[0] > len(entry_key) or needed[1] > len(code_words) or needed[2] > len(lists):
            return row
        if serve_whole:
            flag = WIDE_LIST_FLAG if whole_wide else LIST_FLAG
            write_node(
                words, start, 0, 0, WIDE_ACCEPT, WIDE_REJECT, size, code, ids, slots,
                code_words, coded, whole_wide, lists, listed, work, flag,
            )  # fmt: skip
            target = (coded << 1) | (1 if whole_wide else 0)
            for leaf in range(1 if hopeless else leaves):
                entry_key[entries] = TRUE_ID if hopeless else ids[leaf_of[leaf]]
                _write_entry(entry, entries, unguarded, target, row)
                entries += 1
            coded += code_needed
            listed += lists_needed
            written[0] = entries
            written[1] = coded
            written[2] = listed
            continue
        for leaf in range(leaves):
            chain = chain_of[leaf]
            if chain_code[chain] < 0:
                # Gather what is left to test, most selective first.
                found = 0
                instructions = 0
                up = chain
                while chain_parent[up] >= 0:
                    n = chain_and[up]
                    child = n + 1
                    for _ in range(children_of(words[start + n])):
                        if child != chain_child[up]:
                            siblings[found] = child
                            instructions += code[child]
                            if found < 64:
                                j = found
                                while j > 0 and chance[siblings[j - 1]] > chance[child]:
                                    siblings[j] = siblings[j - 1]
                                    j -= 1
                                siblings[j] = child
                            found += 1
                        child += size[child]
                    up = chain_parent[up]
                chain_guard[chain] = unguarded
                inlined = np.int64(ALWAYS_TRUE)
                if found == 1:
                    inlined = fill_deciding_guard(
                        words, start + siblings[0], ids, slots, chain_guard[chain]
                    )
                if found == 0 or inlined != ALWAYS_TRUE:
                    chain_code[chain] = inlined
                else:
                    chain_guard[chain] = unguarded
                    wide = instructions > MOST_NARROW or all_slots >= NARROW_SLOTS
                    chain_code[chain] = (coded << 1) | (1 if wide else 0)
                    flag = WIDE_LIST_FLAG if wide else LIST_FLAG
                    i = 0
                    guarded = False
                    for k in range(found):
                        n = siblings[k]
                        following = i + code[n]
                        listed = write_node(
                            words, start, n, i,
                            WIDE_ACCEPT if k == found - 1 else following, WIDE_REJECT,
                            size, code, ids, slots, code_words, coded, wide, lists, listed,
                            work, flag,
                        )  # fmt: skip
                        i = following
                        if not guarded:
                            guarded = fill_guard(words, start + n, ids, slots, chain_guard[chain])
                    coded += (4 if wide else 2) * instructions
            entry_key[entries] = ids[leaf_of[leaf]]
            _write_entry(entry, entries, chain_guard[chain], chain_code[chain], row)
            entries += 1
        written[0] = entries
        written[1] = coded
        written[2] = listed
    return len(starts) - 1
