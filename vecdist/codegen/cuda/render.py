"""A function for numba-cuda: the whole kernel is one launch.

Outermost loops are shared by all threads of the grid.  A loop over rows gives each row to one *group* of ``lanes``
threads (1 to 32, or a block, chosen at launch) that share its inner loops.  Sums over everything end in a partial sum
per block, which the last block to finish adds up in a fixed order; where a later loop needs a sum, the whole grid waits
for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vecdist.codegen import calls
from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import THREADS, WARPS, Grid, counters
from vecdist.codegen.cuda.launch import parameters
from vecdist.codegen.cuda.near_sums import emptied, left_by_block, near
from vecdist.codegen.cuda.plan import nests_of, over_chains
from vecdist.codegen.cuda.prefix_sums import staged_words
from vecdist.codegen.cuda.reductions import ARRIVALS, barrier, block_results, places, totals, whole_outputs
from vecdist.codegen.cuda.spelling import scalar, spelled
from vecdist.codegen.cuda.strip_mining import known_strip
from vecdist.codegen.inline import inlined
from vecdist.codegen.source import Source
from vecdist.codegen.statements import Item, Items, element_count
from vecdist.kernel.code import Code, Function, If, Set, let, specialised
from vecdist.kernel.expressions import ONE, ZERO, Choice, Constant, Expr, Name, operation, word
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Made, Statement, reads


def render(kernel: Kernel) -> Source:
    """The source of ``kernel`` for CUDA."""
    functions, tables, routines = inlined((function(kernel),))
    routines = *routines, *calls.routines(kernel.root.walk(), scalar)
    return Source(functions, kernel, "vecdist.runtime.cuda.language", tables, routines)


def function(kernel: Kernel) -> Function:
    """The kernel as one function, before routines are put in the place of their calls."""
    grid = Grid(kernel)
    items = *_known(grid), *_shared_memory(grid), *places(grid), *_levels(grid)
    whole = Function("kernel", parameters(grid), spelled(items, kernel))
    known = [*kernel.fixed, *(each for _, lengths, _ in kernel.flat for each in lengths)]
    return specialised(whole, {Name(dim): Constant(length) for dim, length in known if dim in kernel.lengths})


def _known(grid: Grid) -> Iterator[Code]:
    """Where a thread is."""
    yield let("thread", word("cuda.threadIdx.x"))
    yield let("block", word("cuda.blockIdx.x"))
    yield let("blocks", word("cuda.gridDim.x"))
    yield let("first", cuda.BLOCK * THREADS + cuda.THREAD)
    yield let("step", cuda.BLOCKS * THREADS)
    yield from known_strip(grid.kernel)


def _shared_memory(grid: Grid) -> Iterator[Code]:
    """Results of warps and lanes; where each kept array begins, and the slots behind them, in units of eight bytes."""
    outputs = grid.kernel.outputs
    if grid.sums:
        yield cuda.shared_array("shared", WARPS * len(grid.sums), "f8")
    if staged := staged_words(grid.kernel):
        yield cuda.shared_array("staged", staged, "f8")
    sizes = [(f"keep_o{output}", element_count(outputs[output].shape)) for output in grid.kept_outputs]
    sizes += [(near(output).id, element_count(outputs[output].shape)) for output in grid.kernel.near]
    begins, end = cuda.one_after_another(sizes)
    yield from begins
    for name in dict.fromkeys(cuda.memory_type(outputs[output].dtype) for output in grid.kept_outputs):
        yield let(f"kept_{name}", word("cuda.shared.array")(0, Name(f"memory_{name}")))
    if grid.private or grid.kernel.near:
        yield let("slots", word("cuda.shared.array")(0, Name("memory_f8")))
        yield let("slot_base", end)
    yield from emptied(grid)


def _levels(grid: Grid) -> Iterator[Item]:
    """The nests of each level, what comes before them, and how what they leave becomes whole."""
    kernel, nests = grid.kernel, nests_of(grid)
    early, done = before_loops(kernel), 0
    left = tuple([item for level in kernel.root.levels for item in kernel.root.statements(level) if item not in early])
    last = max((nest.level for nest in nests), default=-1)
    by_block = [nest for nest in nests if nest.loop in grid.by_block]
    for level in range(last + 1):
        yield from (item for item in kernel.root.statements(level) if item in early)
        here = [nest for nest in nests if nest.level == level and nest not in by_block]
        shared = [nest for nest in here if not kernel.is_kept(nest.loop)]
        kept = [item for nest in here if nest not in shared for item in nest.items]
        yield from (*kept, *([cuda.SYNC] if kept else []))
        yield from (item for nest in shared for item in nest.items)
        yield from left_by_block(grid, level)
        if level == last and by_block:
            yield from over_chains(by_block, kernel)
            shared += by_block
        sums = [item for nest in shared for item in nest.loop.sums(kernel.root)]
        yield from block_results(sums, done)
        if shared and level < last:
            yield from _together(grid, level, sums, done)
        elif level == last:
            yield from _ending(grid, level, sums, done, left)
        done += len(sums)
    if last < 0:
        yield from _ending(grid, -1, [], 0, left)


def _together(grid: Grid, level: int, sums: Sequence[Accumulate], done: int) -> Iterator[Item]:
    """Wait for the whole grid, and make known what later loops need."""
    yield from barrier(1 + 2 * level)
    yield from totals(sums, done)
    if grid.kernel.finished(level):
        yield from whole_outputs(grid, level, cuda.FIRST, cuda.STEP)
        yield from barrier(2 + 2 * level)


def _ending(grid: Grid, level: int, sums: Sequence[Accumulate], done: int, left: Items) -> Iterator[Item]:
    """What is ``left`` when every loop is done: by one thread, of the last block to finish where it needs them all."""
    kernel = grid.kernel
    if not (grid.sums or kernel.finished(level) or grid.waits):
        yield from [If(cuda.FIRST.equals(0), left)] if left else []
        return
    is_last = cuda.atomic_add(ARRIVALS, 0, 1).equals(cuda.BLOCKS - 1)
    last = Name("last")[ZERO]
    yield cuda.shared_array("last", 1, "i4")
    yield from [] if sums else [cuda.SYNC]  # no thread of the block adds to anything any more
    yield If(cuda.THREAD.equals(0), (cuda.FENCE, Set(last, Choice(is_last, ONE, ZERO))))
    yield cuda.SYNC
    seen: Items = (cuda.FENCE,)
    if grid.ends:
        yield If(last.equals(1), seen)
        yield from _whole_by_all_or_last(grid, level, last)
        seen = ()
    cleared = [Set(ARRIVALS[counter], ZERO) for counter in range(counters(kernel))]
    yield If(last.equals(1), (*seen, *totals(sums, done), If(cuda.THREAD.equals(0), (*cleared, *left))))


def _whole_by_all_or_last(grid: Grid, level: int, last: Expr) -> Iterator[Item]:
    """Fill outputs, by all blocks where the work is ``spread``, once all have come here; else by the last of them."""
    by_all = Name("spread") > 0
    yield If(by_all, tuple(barrier(1 + 2 * level)))
    yield let("share", Choice(by_all, cuda.FIRST, cuda.THREAD))
    yield let("apart", Choice(by_all, cuda.STEP, Constant(THREADS)))
    outputs = tuple(whole_outputs(grid, level, Name("share"), Name("apart")))
    yield If(operation("or", by_all, last.equals(1)), outputs)


def before_loops(kernel: Kernel) -> set[Statement]:
    """The statements of the outermost block whose values loops read, or other such statements."""
    root, found = kernel.root, set()
    read = {name for loop in root.every_loop() for name in mentioned(loop.body)}
    for item in reversed([item for level in root.levels for item in root.statements(level)]):
        if isinstance(item, Made) and item.name in read:
            found.add(item)
            read |= reads(item)
    return found


def mentioned(block: Block) -> Iterator[str]:
    """The values that a block reads, its own among them."""
    for _, item in block.items:
        match item:
            case Loop():
                yield from mentioned(item.body)
            case Cases(condition, short, long):
                yield condition.id
                yield from mentioned(short)
                yield from mentioned(long)
            case _:
                yield from reads(item)
