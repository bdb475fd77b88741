"""How far LLVM may unroll the loops of a kernel for CUDA: it knows nothing of registers, and bodies are long."""

from __future__ import annotations

from llvmlite import ir

from vecdist.kernel.code import For, bodies

SMALL = 1  # statement: of more, several turns at once take too many registers
OWN = 6  # the same of a loop that a thread goes through alone
UNDER_WAY = 8  # turns of a loop that waits for what it reads
WHOLE = 128  # statements, of all turns, up to which a loop of known length is a straight line


def is_small(item: For) -> bool:
    """Whether a loop is so short that it waits for what it reads, unless several turns are under way."""
    return len(item.body) <= (OWN if item.step is None else SMALL) and _is_plain(item)


def is_short(item: For, turns: int) -> bool:
    """Whether so many turns of a loop are short."""
    return turns * len(item.body) <= WHOLE and _is_plain(item)


def _is_plain(item: For) -> bool:
    return not any(map(bodies, item.body))


def kept_whole(module: ir.Module, unrolled: str) -> ir.MDValue:
    """What tells LLVM to unroll all turns, a ``few`` or none; the assembler may still unroll a loop ``later``."""
    if unrolled == "few":
        return told_of_loop(module, ("unroll.count", ir.Constant(ir.IntType(32), UNDER_WAY)))
    kind = {"all": "full", "never": "disable", "later": "runtime.disable"}[unrolled]
    return told_of_loop(module, (f"unroll.{kind}",))


def told_of_loop(module: ir.Module, *hints: tuple[str, *tuple[ir.Constant, ...]]) -> ir.MDValue:
    """What tells LLVM something of a loop: words of its own, with their values."""
    told = [module.add_metadata([ir.MetaDataString(module, f"llvm.loop.{hint}"), *values]) for hint, *values in hints]
    loop = ir.MDValue(module, told, name=str(len(module.metadata)))
    loop.operands = (loop, *told)  # a loop is known by a node that names itself
    return loop
