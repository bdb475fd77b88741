"""How many turns of a loop a vector takes: as many as it has lanes of single precision, where nothing is in double.

LLVM goes by the widest number that a loop reads or writes: an index of 64 bits would halve the lanes of all arithmetic.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from vecdist.kernel.code import Code, Do, For, Set, assigned, expressions, walk
from vecdist.kernel.expressions import Call, Constant, Expr, Name, Operation, names
from vecdist.runtime.unrolling import told_of_loop

SINGLE, DOUBLE, LONG = ir.FloatType(), ir.DoubleType(), ir.IntType(64)
MASKS = 16  # lanes of a processor that masks them
BY_ELEMENT, BY_BYTE = (Name("load"), Name("store")), Name("load_bytes")  # words that read and write memory
ADDING = {Name(f"accumulate_{op}") for op in ("sum", "prod", "max", "min")}
EXTREME = {Name("accumulate_max"), Name("accumulate_min")}
DEAR = {Name("sqrt"), *ADDING}  # words that turns wait for
TOGETHER = 64  # turns that look for an extreme from which on several vectors take turns
SHORT = 8  # statements of a turn, of which no single one is worth a vector for the last few
BITS = {"avx512f": 512, "avx": 256}  # of a vector, by what a processor has; others have 128


@functools.cache
def lanes() -> int:
    """The numbers of single precision in a vector of this machine."""
    features = llvm.get_host_cpu_features()
    return next((bits for name, bits in BITS.items() if features.get(name)), 128) // 32


def blocks_of(body: ir.Block, end: ir.Block) -> list[ir.Block]:
    """The blocks of a loop's turns: the first, and those that were made since the block behind the loop was."""
    every = body.function.blocks
    return [body, *every[every.index(end) + 1 :]]


def mixes_widths(blocks: Sequence[ir.Block]) -> bool:
    """Whether turns compute in single precision, and read or write longer integers beside it, but no doubles.

    Of loops in loops that is said of the inner ones.
    """
    if any(each.name.startswith("while") for each in blocks):
        return False
    body = [item for block in blocks for item in block.instructions]
    found, moved = {item.type for item in body}, {_moved(item) for item in body}
    return SINGLE in found and LONG in moved and DOUBLE not in found | moved


def _moved(item: ir.Instruction) -> ir.Type | None:
    """The type of what is read from memory that was not made here, or written there."""
    value = item.operands[0] if isinstance(item, ir.StoreInstr) else item if isinstance(item, ir.LoadInstr) else None
    place = item.operands[-1] if value is not None else None
    return None if value is None or isinstance(place, ir.AllocaInstr) else value.type


def is_beside(loop: For) -> bool:
    """Whether neighbouring turns read and write neighbours in memory, or the same: masks leave others one by one."""
    own = {loop.index, *assigned(loop.body)}
    calls = [each for each in _computed(loop) if isinstance(each, Call)]
    moving = [call for call in calls if call.function in {*BY_ELEMENT, BY_BYTE}]
    return all(call.function != BY_BYTE and _is_next(call.args[1], loop.index, own) for call in moving)


def _computed(loop: For) -> list[Expr]:
    """What a turn computes, with all its parts."""
    found = [each for item in walk(loop.body) for each in expressions(item)]
    for each in found:  # which grows meanwhile
        found += each.parts
    return found


def _is_next(place: Expr, index: str, own: AbstractSet[str]) -> bool:
    """Whether a place is one further in each turn, or the same in all."""
    if place == Name(index) or own.isdisjoint(names(place)):
        return True
    if not (isinstance(place, Operation) and place.op in {"+", "-"}):
        return False
    first, second = place.args
    if own.isdisjoint(names(second)):
        return _is_next(first, index, own)
    return place.op == "+" and own.isdisjoint(names(first)) and _is_next(second, index, own)


def known_lengths(body: Sequence[Code]) -> dict[str, int]:
    """The lengths that a function is compiled for, which it begins with."""
    found: dict[str, int] = {}
    for item in body:
        match item:
            case Set(Name(name), Constant(int() as number)):
                found[name] = number
            case Do():
                pass
            case _:
                break
    return found


def most_turns(loop: For, known: Mapping[str, int]) -> int | None:
    """How many turns a loop has at most, those of a known length or of a strip of one; ``None`` where none is known."""
    from_strip = known.get(loop.start.id) if isinstance(loop.start, Name) else None
    return from_strip or (known.get(loop.stop.id) if isinstance(loop.stop, Name) else None)


def is_masked(loop: For) -> bool:
    """Whether the last turns of a loop are worth a vector of their own: one by one, each takes as long."""
    return loop.masked and (len(loop.body) >= SHORT or any(map(_is_dear, _computed(loop)))) and is_beside(loop)


def takes_turns(loop: For) -> bool:
    """Whether short turns look for an extreme: NaN is one, so that a vector waits long for the one before.

    Several that do not wait for each other have no masks, which are for turns behind the last of these.
    """
    if lanes() != MASKS or len(loop.body) >= SHORT or loop.step is not None or not is_masked(loop):
        return False
    return any(isinstance(each, Call) and each.function in EXTREME for each in _computed(loop))


def whole_end(builder: ir.IRBuilder, first: Any, last: Any) -> Any:
    """The end of a loop that leaves the last turns, too few for several vectors, to another."""
    return builder.add(first, builder.and_(builder.sub(last, first), ir.Constant(first.type, -TOGETHER)))


def _is_dear(each: Expr) -> bool:
    return each.function in DEAR if isinstance(each, Call) else isinstance(each, Operation) and each.op == "/"


def is_row(loop: For) -> bool:
    """Whether short turns write a row: LLVM would write out all turns that it knows of before it looks for vectors.

    Those of sums may be written out, with neighbouring rows in a vector.
    """
    if len(loop.body) >= SHORT:
        return False
    words = {each.function for each in _computed(loop) if isinstance(each, Call)}
    return Name("store") in words and words.isdisjoint(ADDING)


def told(module: ir.Module, wide: bool, masked: bool, few: bool = False) -> ir.MDValue | None:
    """What tells LLVM how many turns a vector takes, and that the last vector is masked; ``None`` where it knows.

    Only AVX-512 has masks for all that it does.  Of a ``few`` turns, or those of a row, none are written out.
    """
    hints: list[tuple[str, *tuple[ir.Constant, ...]]] = []
    if wide:
        hints.append(("vectorize.width", ir.Constant(ir.IntType(32), lanes())))
    if few:
        hints.append(("unroll.disable",))
    if masked and lanes() == MASKS:
        hints.append(("vectorize.predicate.enable", ir.Constant(ir.IntType(1), 1)))
    return told_of_loop(module, *hints) if hints else None
