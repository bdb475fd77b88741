"""Words of the CUDA language that several passes use, as expressions and statements."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vecdist.codegen.statements import type_name
from vecdist.kernel.code import Do, Set, let
from vecdist.kernel.expressions import ZERO, Call, Constant, Expr, Name, Operand, word

THREAD, BLOCK, BLOCKS = map(Name, ("thread", "block", "blocks"))
FIRST, STEP = map(Name, ("first", "step"))  # of the grid: a thread, and how many there are
LANE, LANES, MASK = map(Name, ("lane", "lanes", "mask"))  # of a group
CHAIN = Name("chain")  # that a block takes through several nests
STRIP, MEMBER, MEMBERS = map(Name, ("strip", "member", "members"))  # of a block, and of blocks that share a strip
SUMS = Name("sums")
F4, F8 = map(Name, ("f4", "f8"))
SYNC = Do(word("cuda.syncthreads")())
FENCE = Do(word("cuda.threadfence")())
EVERY_LANE = Constant(0xFFFFFFFF)  # of a warp


def memory_type(dtype: np.dtype) -> str:
    """The name of the type in which memory of a block, or of a thread, holds a dtype: booleans are bytes."""
    return "u1" if dtype.kind == "b" else type_name(dtype)


def local_array(name: str, count: int, dtype: str) -> Set:
    """Registers of a thread, as far as the compiler knows every place."""
    return let(name, word("cuda.local.array")(count, Name(f"memory_{dtype}")))


def shared_array(name: str, count: int, dtype: str) -> Set:
    """Memory of a block; where ``count`` is zero, as much as a launch asks for."""
    return let(name, word("cuda.shared.array")(count, Name(dtype)))


def shuffled(mask: Expr, value: Expr, hop: Operand) -> Call:
    """The value of the lane that is a ``hop`` away, in a warp where the lanes of a mask come here."""
    return word("cuda.shfl_xor_sync")(mask, value, hop)


def lanes_mask(lanes: Expr, place: Expr = LANE) -> Call:
    """The lanes of a warp that share a row, as bits; the thread is at a ``place`` among them."""
    return Name("u4")(((1 << lanes) - 1) << (THREAD % 32 - place))


def synchronised(mask: Expr) -> Do:
    """What lanes of a warp have left in memory is there for the others."""
    return Do(word("cuda.syncwarp")(mask))


def atomic_add(array: Expr, place: Operand, value: Operand) -> Call:
    """Add to an element that others add to; what it was before."""
    return word("cuda.atomic.add")(array, place, value)


def add_in_runs(array: Expr, place: Operand, value: Operand) -> Call:
    """Add to an element of a block's memory that neighbours in a warp may add to as well."""
    return word("add_in_runs")(array, place, value)


def one_after_another(sizes: Iterable[tuple[str, Expr]]) -> tuple[list[Set], Expr]:
    """Where parts of an array begin that lie one behind another, and where the last one ends."""
    end: Expr = ZERO
    begins = []
    for name, size in sizes:
        begins.append(let(name, end))
        end = Name(name) + size
    return begins, end


def lowest(a: Operand, b: Operand) -> Call:
    return word("min")(a, b)
