"""What a launch must know of a kernel: its arguments, the memory that blocks share, and the lanes of a row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vecdist.codegen.cuda.block_per_chain import with_lanes
from vecdist.codegen.cuda.collapsing import ample
from vecdist.codegen.cuda.grid import (
    GROUP,
    LEAST,
    LEAST_ACROSS,
    LINE,
    PIECES,
    PIECES_ACROSS,
    PIECES_OF_ROW,
    SIZE,
    THREADS,
    Grid,
    are_columns,
    elements,
    group,
    is_across,
    one_by_one,
    worth_a_block,
)
from vecdist.codegen.cuda.privatisation import FLUSH, scatters
from vecdist.codegen.cuda.strip_mining import strips
from vecdist.codegen.cuda.tiling import has_rows, takes_tiles
from vecdist.codegen.cuda.wide_rows import with_wide_rows
from vecdist.codegen.statements import lies_along
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Load

ROOM = 96 * 1024  # bytes of shared memory that a block may have on every GPU
SLOTS = 32  # of a thread, for what it adds up for itself: 64 KiB of shared memory for a block
AT_ONCE = 2**17  # threads that keep a GPU busy
PLENTY = 2**18  # threads from which on rows have fewer each: by models of chains, and rows of 64 to 2000, on an H200
SECTOR = 8  # lanes that read what memory gives at once, in numbers of 4 bytes
NEAR = 256  # bytes of a row that each of its lanes has, at most: 8 KiB of rows for a warp, of which 16 share a cache
STRIPS = 128  # for blocks that wait for each other: a GPU of the larger kind runs so many at once, whatever they need
ALONE = 2**15  # partial results that the last block reads alone in the time that a grid takes to meet
ONE_BY_ONE = 8  # times as long as one of these a sum of atomic additions takes, which is read, rounded and set to zero
FEW = 8  # rows across memory from which on a thread takes a piece of one, so that a warp reads whole sectors
MANY = 2**21  # elements across memory from which on pieces of threads keep a GPU busy
COLUMNS = 2**15  # running results side by side that keep all threads busy, each with one: they read neighbours together


def parameters(grid: Grid) -> tuple[str, ...]:
    """The names of the kernel's arguments, in order."""
    kernel, names = grid.kernel, []
    for slot in kernel.slots:
        names.append(f"x{slot.index}")
        if slot.layout == "strided":
            names += [f"x{slot.index}_s{axis}" for axis in slot.axes]
    names += [f"o{number}" for number in range(len(kernel.outputs))]
    names += ["flag"] if kernel.flagged else []
    return (*names, *kernel.lengths, *workspace(grid))


def workspace(grid: Grid) -> tuple[str, ...]:
    """The last arguments of a kernel, which hold what its blocks share: those of them that it has a use for."""
    kernel = grid.kernel
    used = {"partials": bool(grid.sums or grid.cut), "sums": bool(grid.private_outputs or grid.atomic_outputs)}
    used["arrivals"] = used["partials"] or used["sums"] or grid.waits
    known = {*grid.lanes, *grid.by_block, *grid.columns}
    groups = [loop for _, loop in kernel.shared_nests() if has_rows(loop) and loop not in known]
    used["spread"] = bool(grid.ends)
    named = tuple(name for name in ("partials", "sums", "arrivals", "spread") if used[name])
    return (*named, *(f"lanes_{loop.index}" for loop in groups), *(f"cut_{loop.index}" for loop in grid.cut))


def with_room(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel whose blocks have room for the sums that they and their threads keep: the largest ones are ``far``."""
    kernel = replace(kernel, scarce=Grid(kernel).scarce(lengths), ample=ample(kernel, lengths))
    cut = () if kernel.by_block else strips(kernel, lengths)  # a block goes through all of its chain
    cut = () if cut and _are_too_many(replace(kernel, strips=cut), lengths) else cut
    kernel = with_lanes(with_wide_rows(replace(kernel, strips=cut), lengths), lengths)
    while True:
        grid = Grid(kernel)
        lanes = {each.loop: lanes_of(each.loop, grid, lengths) for each in grid.private}
        if grid.shared_bytes(lengths, lanes) <= ROOM or not grid.private_outputs:
            return kernel
        sizes = {number: elements(kernel.outputs[number].shape, lengths) * SIZE for number in kernel.near}
        for each in grid.private:
            size = each.size(lengths, lanes[each.loop]) * THREADS * SIZE
            sizes[each.number] = max(size, sizes.get(each.number, 0))
        largest = max(sizes, key=lambda number: sizes[number])
        near = tuple(number for number in kernel.near if number != largest)
        kernel = replace(kernel, near=near, far=tuple(sorted({*kernel.far, largest})), strips=())


def _are_too_many(kernel: Kernel, lengths: Mapping[str, int]) -> bool:
    """Whether blocks that wait for each other would be more than run at once: each strip has one."""
    grid = Grid(kernel)
    return grid.waits and grid.strip_count(lengths) > STRIPS


def with_brief(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel that knows the loops of whose turns lanes have so few that they may add them up in float32."""
    nests = [rows for _, rows in kernel.shared_nests() if has_rows(rows) and scatters(rows)]
    if not nests:
        return kernel
    grid = Grid(kernel)
    shared = [(each, lanes_of(rows, grid, lengths)) for rows in nests for each in grid.shared(rows.body)]
    found = [each.index for each, lanes in shared if each.turns(lengths) <= FLUSH * lanes]
    return replace(kernel, brief=tuple(found))


def is_spread(grid: Grid, lengths: Mapping[str, int], blocks: int) -> bool:
    """Whether all blocks add up the scattered outputs at the end: where that takes the last one longer than waiting."""
    sizes = {output: elements(grid.kernel.outputs[output].shape, lengths) for output in grid.ends}
    reads = sum(size * (blocks if output in grid.private_outputs else ONE_BY_ONE) for output, size in sizes.items())
    return reads > ALONE


def pieces_of(loop: Loop, lengths: Mapping[str, int]) -> int:
    """Into how many pieces a row of running results is cut; one across memory for threads, where they are enough."""
    (along,) = loop.body.every_loop()
    rows, longest = (max(1, elements((dim,), lengths)) for dim in (loop.dim, along.dim))
    if not goes_to_threads(loop, rows):
        return max(1, min(PIECES // rows, longest // LEAST))
    if rows >= COLUMNS or rows * longest < MANY:
        return 1
    return max(1, min(PIECES_OF_ROW, PIECES_ACROSS // rows, longest // LEAST_ACROSS))


def goes_to_threads(loop: Loop, rows: int) -> bool:
    """Whether a piece of a row is for one thread."""
    return is_across(loop) and rows >= FEW


def lanes_of(loop: Loop, grid: Grid, lengths: Mapping[str, int]) -> int:
    """The threads that share a row: each takes some eight of its elements, more where there are rows for all threads.

    Rows that are cut into tiles need no block, nor fewer lanes; those that are cut into pieces have several blocks, or
    a thread for each.
    """
    if loop in grid.by_block or loop in grid.columns:
        return grid.by_block.get(loop) or grid.columns[loop]
    rows = loop.turns(lengths)
    if loop in grid.cut and (pieces := pieces_of(loop, lengths)) > 1:
        return pieces if goes_to_threads(loop, rows) else THREADS * pieces
    if loop in grid.lanes:
        return grid.lanes[loop]
    inner = {each: each.turns(lengths) for each in grid.shared(loop.body)}
    if rows > PIECES and is_across(loop):
        return 1 if rows >= COLUMNS else group(max(inner.values()))  # warps of a block read beside each other
    shared = max((length for each, length in inner.items() if not one_by_one(each)), default=0)
    few, tiles = grid.takes_blocks(loop) and worth_a_block(rows, list(inner), lengths), takes_tiles(loop, grid)
    least = GROUP if tiles else _least(list(inner), shared)
    lanes = THREADS if few and not tiles else _group_of(list(inner), loop, shared, least, lengths)
    while lanes < GROUP and _slots(loop, grid, lengths, lanes) > SLOTS:
        lanes *= 2
    return THREADS if grid.takes_blocks(loop) and _slots(loop, grid, lengths, lanes) > SLOTS else lanes


def _work(loop: Loop, lengths: Mapping[str, int]) -> int:
    """The turns of a loop, and of those inside it."""
    return math.prod(elements((dim,), lengths) for dim in loop.dims())


def _slots(loop: Loop, grid: Grid, lengths: Mapping[str, int], lanes: int) -> int:
    """What a thread of a nest adds up for itself, in slots."""
    return sum(each.size(lengths, lanes) for each in grid.private_to(loop))


def _group_of(loops: Sequence[Loop], rows: Loop, shared: int, least: float, lengths: Mapping[str, int]) -> int:
    """The lanes that share a row: where rows keep all threads busy, so few that most of them are not idle at its end.

    There are ``least`` of them or more, but for rows that are shorter; where what they share has loops of its own one,
    or enough for a whole line of memory if they find neighbours in it.
    """
    longest = max((_work(each, lengths) for each in loops), default=0)
    lanes, enough = group(longest), PLENTY
    if are_columns(loops, rows):
        least, enough = 1, AT_ONCE
    elif longest > shared:
        along = any(each.turns(lengths) >= GROUP and any(lies_along(each, rows)) for each in loops)
        least, enough = LINE if along else 1, AT_ONCE
    while lanes > 1 and (lanes > shared or (lanes // 2 >= least and lanes * rows.turns(lengths) > enough)):
        lanes //= 2
    return lanes


def _least(loops: Sequence[Loop], shared: int) -> float:
    """The fewest lanes of a row that is nothing but its elements: its warp's rows are still near when read again."""
    loads = [item for each in loops for item in each.body.walk() if isinstance(item, Load)]
    widest = max((item.dtype.itemsize for item in loads), default=1)
    return max(SECTOR, shared * widest / NEAR)
