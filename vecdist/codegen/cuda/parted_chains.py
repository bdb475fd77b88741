"""Nests of chains in parts: what several loops of a row compute again, the first of them leaves to the others.

The gradient of answers of persons to questions goes through all of them for each person, and again for each question.
Where a block takes a chain, these are nests that wait for each other, and the second reads what the first has computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vecdist.codegen.common_values import with_common_values
from vecdist.codegen.cuda.block_per_chain import Chains
from vecdist.codegen.cuda.grid import statements as statements_of
from vecdist.codegen.fission import Items, Split, has_loops, in_order, part_of, parts, statements
from vecdist.kernel.copies import Copy
from vecdist.kernel.ir import Block, Kernel, Loop

GAIN = 1.0  # times as fast, at least


def in_parts(kernel: Kernel, lengths: Mapping[str, int], most: int) -> Kernel:
    """A kernel whose blocks take a chain each through parts of its longest nest; itself where that is no faster.

    What they leave to each other takes at most so many bytes.
    """
    nests = [(level, loop) for level, loop in kernel.shared_nests() if not loop.sequential]
    if not nests:
        return kernel
    level, longest = max(nests, key=lambda nest: statements_of(nest[1].body, lengths) * nest[1].turns(lengths))
    whole = Chains(kernel, longest.first_dim)
    apart = _parted(kernel, longest, level) if whole.are_many(lengths) else kernel
    chains = Chains(apart, whole.dim)
    if apart is kernel or not chains.are_apart():
        return kernel
    known = chains.in_blocks()
    common = with_common_values(known, lengths, most)
    faster = GAIN * Chains(common, whole.dim).by_block(lengths) < whole.by_grid(lengths)
    return known if faster and common is not known else kernel


def _parted(kernel: Kernel, rows: Loop, level: int) -> Kernel:
    """A kernel with the parts of a nest one after another, the longest first; itself where it has but one of loops."""
    split = Split([rows])
    whole = split.block(kernel.root)
    nest = next(loop for loop in whole.every_loop() if loop.body is split.blocks[rows.body])
    every = [part.items for part in parts(nest)]
    found = sorted(filter(has_loops, every), key=_length, reverse=True)
    if len(found) < 2:
        return kernel
    first = in_order(nest, [found[0], *(items for items in every if not has_loops(items))])
    apart = [part_of(nest, number, items) for number, items in enumerate([first, *found[1:]])]
    copy, root = Copy(), Block()
    copy.blocks[whole] = root
    for at, item in whole.items:
        place = at if at <= level else at + len(apart) - 1
        if item is nest:
            root.items += [(level + number, copy.loop(part, root)) for number, part in enumerate(apart)]
        else:
            root.put(place, copy.loop(item, root) if isinstance(item, Loop) else copy.copied(item, root))
    return replace(kernel, root=root)


def _length(items: Items) -> int:
    return sum(len(statements(item)) for _, item in items)
