"""Alias scopes: once a module, as many words as arrays, and gone with the module."""

from __future__ import annotations

import gc
import weakref

import pytest
from llvmlite import ir

from vecdist.runtime.cpu.aliasing import MANY, in_scope


def module(outputs: int) -> ir.Module:
    """A module that reads an input and each output."""
    found = ir.Module()
    function = ir.Function(found, ir.FunctionType(ir.VoidType(), [ir.DoubleType().as_pointer()]), "reads")
    builder = ir.IRBuilder(function.append_basic_block())
    for output in range(-1, outputs):
        in_scope(builder, builder.load(function.args[0]), output, outputs)
    return found


def test_scopes_do_not_keep_a_module() -> None:
    held = weakref.ref(module(3))
    gc.collect()
    assert held() is None


@pytest.mark.parametrize("outputs", [3, 2 * MANY])
def test_no_array_is_among_those_that_do_not_overlap_it(outputs: int) -> None:
    made = module(outputs)
    for instruction in made.functions[0].blocks[0].instructions:
        own, others = instruction.metadata["alias.scope"], instruction.metadata["noalias"]
        assert len(own.operands) == 1 and others.operands and own.operands[0] not in others.operands


def test_scopes_of_many_outputs_grow_in_proportion() -> None:
    sizes = [len(str(module(outputs))) for outputs in (2 * MANY, 4 * MANY)]
    assert sizes[1] < 2.2 * sizes[0]
