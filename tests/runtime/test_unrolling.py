"""How far loops of kernels for CUDA are unrolled: those whose reads are waited for, and those that are short."""

import pytest
from llvmlite import ir

from vecdist.kernel.code import For, If, let
from vecdist.kernel.expressions import TRUE, Name
from vecdist.runtime.unrolling import is_short, is_small, kept_whole

ADDED = [let(f"v{number}", Name("x")[Name("i")]) for number in range(8)]


def series(count, step=None, inside=()):
    return For("i", Name("n"), (*ADDED[:count], *inside), step=step)


@pytest.mark.parametrize(("loop", "small"), [
    (series(1), True), (series(6), True), (series(7), False), (series(1, Name("lanes")), True),
    (series(2, Name("lanes")), False), (series(1, inside=(If(TRUE, ()),)), False),
    (series(1, inside=(series(1),)), False),
])  # fmt: skip
def test_several_turns_of_small_loops_are_under_way(loop, small):
    assert is_small(loop) == small


def test_short_loops_of_known_length_are_straight_lines():
    assert is_short(series(4), 32) and not is_short(series(4), 33)
    assert not is_short(series(1, inside=(series(1),)), 2), "the loops in it are"


@pytest.mark.parametrize(("unrolled", "hint"), [
    ("all", '!"llvm.loop.unroll.full"'), ("few", '!"llvm.loop.unroll.count", i32 8'),
    ("later", '!"llvm.loop.unroll.runtime.disable"'), ("never", '!"llvm.loop.unroll.disable"'),
])  # fmt: skip
def test_what_compilers_are_told(unrolled, hint):
    module = ir.Module()
    kept_whole(module, unrolled)
    assert hint in str(module)
