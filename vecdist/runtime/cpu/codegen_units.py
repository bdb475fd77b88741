"""A module of LLVM IR in codegen units, which are modules of their own: machine code of several is made at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from llvmlite import ir

LEAST = 500  # instructions from which a function is a unit of its own; the others are one together
Functions: TypeAlias = "dict[ir.Function, None]"


def length(function: ir.Function) -> int:
    """The instructions of a function."""
    return sum(len(block.instructions) for block in function.blocks)


def units(module: ir.Module) -> list[str]:
    """The text of each unit, the longest first.

    A function is in one unit, that of its calls where these are all in one, so that it is known there what it is called
    with; what is copied to its calls is in all units that have some.
    """
    calls = {each: _called(each) for each in module.functions if each.blocks}
    parts = _parts(calls)
    if len(parts) == 1:
        return [str(module)]
    lengths = [sum(map(length, part)) for part in parts]
    outer = dict.fromkeys(other for part in parts for each in part for other in calls[each] if other not in part)
    for each in outer:
        each.linkage = "external"
    shared = [str(each) for each in module.global_values if each not in calls]
    texts = {each: str(each) for each in calls}
    declared = {each: _declaration(each) for each in outer}
    ordered = sorted(range(len(parts)), key=lambda number: -lengths[number])
    return [_text(module, shared, declared | {each: texts[each] for each in parts[number]}) for number in ordered]


def _called(function: ir.Function) -> Functions:
    """The functions with a body that a function calls."""
    called = [getattr(item, "callee", None) for block in function.blocks for item in block.instructions]
    return dict.fromkeys(each for each in called if isinstance(each, ir.Function) and each.blocks)


def _parts(calls: dict[ir.Function, Functions]) -> list[Functions]:
    """The functions of each unit, with those that are copied to calls there."""
    copied = {each: _inlined(each, calls) for each in calls}
    whole = [each for each in calls if "alwaysinline" not in each.attributes]
    callers: dict[ir.Function, Functions] = {each: {} for each in whole}
    for each in whole:
        for inner in (each, *copied[each]):
            for other in calls[inner].keys() & callers.keys():
                callers[other][each] = None
    found: dict[ir.Function, ir.Function | None] = {}  # the first of each unit; none of what is in the common one

    def unit(function: ir.Function) -> ir.Function | None:
        if function not in found:
            around = {unit(each) for each in callers[function]}
            inside = around.pop() if len(around) == 1 else None
            long = sum(map(length, (function, *copied[function]))) >= LEAST
            found[function] = inside or (function if long else None)
        return found[function]

    parts: dict[ir.Function | None, Functions] = {}
    for each in whole:
        parts.setdefault(unit(each), {}).update(dict.fromkeys((each, *copied[each])))
    return list(parts.values())


def _inlined(function: ir.Function, calls: dict[ir.Function, Functions]) -> Iterable[ir.Function]:
    """The functions that are copied to calls in a function, and in each other."""
    found, waiting = dict[ir.Function, None](), [function]
    for each in waiting:  # which grows meanwhile
        inner = [other for other in calls[each] if "alwaysinline" in other.attributes and other not in found]
        found |= dict.fromkeys(inner)
        waiting += inner
    return found


def _declaration(function: ir.Function) -> str:
    """A function without its body."""
    blocks, function.blocks = function.blocks, []
    linkage, function.linkage = function.linkage, ""
    try:
        return str(function)
    finally:
        function.blocks, function.linkage = blocks, linkage


def _text(module: ir.Module, shared: Sequence[str], functions: dict[ir.Function, str]) -> str:
    types = [each.get_declaration() for each in module.get_identified_types().values()]
    head = f'target datalayout = "{module.data_layout}"', f'target triple = "{module.triple}"'
    return "\n".join([*head, *types, *shared, *functions.values(), *module._get_metadata_lines()])
