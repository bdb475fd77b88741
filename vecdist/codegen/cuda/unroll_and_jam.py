"""Unroll and jam: the elements of a tile together, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.reductions import combined
from vecdist.codegen.cuda.tiling import BASE, Tile, in_order
from vecdist.codegen.statements import Item, Items, typed_zero
from vecdist.kernel.code import If, Note, let
from vecdist.kernel.expressions import TRUE, Expr, Name, joined, substituted
from vecdist.kernel.ir import Cases, Loop
from vecdist.kernel.statements import Accumulate, Made, Scatter, Statement, Store, renamed

SHORT = 32  # statements of an element


def jammed(tile: Tile) -> Items:
    """The elements of a whole tile: their loads, before anything waits for one of them, and what they are for."""
    wait = Note("so that no load waits for what is computed"), cuda.synchronised(tile.mask)
    return *loads(tile), *wait, *work(tile)


def loads(tile: Tile) -> Items:
    """The places of the elements of a tile, and what can be loaded for them."""
    found: list[Item] = []
    for number, names in enumerate(_copies(tile)):
        found.append(let(f"{tile.loop.index}_{number}", tile.element(BASE, number)))
        found += [renamed(item, names) for item in tile.loads()]
    return tuple(found)


def masked(tile: Tile) -> Items:
    """The elements of a tile, of which some may be missing.

    One by one, as a long body takes them, each would wait for memory after another.
    """
    body, known, copies = tile.loop.body, tile.loads(), _copies(tile)
    found: list[Item] = []
    for number, names in enumerate(copies):
        place, there = tile.element(BASE, number), _there(tile, number)
        found += let(there.id, place < tile.loop.length), let(f"{tile.loop.index}_{number}", place)
        found += [let(names[item.name].id, typed_zero(item.dtype)) for item in known]
        found.append(If(there, tuple([renamed(item, names) for item in known])))
    found += [Note("so that no load waits for what is computed"), cuda.synchronised(tile.mask)]
    for number, names in enumerate(copies):
        own = tuple([renamed(item, names) for item in in_order(body) if item not in known])
        found.append(If(_there(tile, number), own))
    return tuple(found)


def _there(tile: Tile, number: int) -> Name:
    """Whether an element of a tile is there."""
    return Name(f"there_{tile.loop.index}_{number}")


def is_short(loop: Loop, longest: int = SHORT) -> bool:
    """Whether elements take little code, all of it once for each that a thread has at a time."""
    items = loop.body.items
    return len(items) <= longest and not any(isinstance(item, Cases) for _, item in items)


def work(tile: Tile) -> Items:
    """What is done with what was loaded; where a body has cases, the short ones, if all elements allow that."""
    body, known, copies = tile.loop.body, tile.loads(), _copies(tile)
    late = [item for item in in_order(body) if isinstance(item, Accumulate | Scatter)]  # added once
    rest: Items = *_copied(tile, late, copies), let("done", TRUE)
    for level in reversed(body.levels):
        for case in reversed(body.cases(level)):
            test = joined("and", [substituted(case.condition, names) for names in copies])
            rest = (If(test, (*_copied(tile, in_order(case.short), copies), *rest)),)
        now = [item for item in body.statements(level) if item not in late and item not in known]
        rest = (*_copied(tile, now, copies), *rest)
    return rest


def _copies(tile: Tile) -> list[dict[str, Name]]:
    """The names of each element of a tile."""
    own = {tile.loop.index, *(item.name for item in tile.loop.body.walk() if isinstance(item, Made))}
    return [{name: Name(f"{name}_{number}") for name in own} for number in range(tile.copies)]


def _copied(tile: Tile, items: Sequence[Statement], copies: Sequence[Mapping[str, Name]]) -> Items:
    """Statements for each element of a tile; neighbours are stored side by side, and sums added up together."""
    found: list[Item] = []
    stores = [item for item in items if isinstance(item, Store) and item in tile.vectors]
    for number, names in enumerate(copies):
        found += [renamed(item, names) for item in items if not isinstance(item, Accumulate) and item not in stores]
        if (number + 1) % tile.together == 0:
            few = range(number + 1 - tile.together, number + 1)
            for item in stores:
                places = {each: {tile.loop.index: tile.element(BASE, each)} for each in few}
                found += [renamed(item, {**copies[each], **places[each]}) for each in few]
    for item in items:
        if isinstance(item, Accumulate):
            found += _added(item, [substituted(item.value, names) for names in copies])
    return tuple(found)


def _added(item: Accumulate, values: Sequence[Expr]) -> list[Item]:
    """Add neighbours in their own precision first, which costs one conversion for all of them."""
    if item.op in {"sum", "prod"}:
        while len(values) > 1:
            values = [combined(item.op, "f", a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
    elif item.op in {"max", "min"} and item.dtype == np.float32 and len(values) > 1:
        best = Name(f"s_{item.name}")
        better = [let(best.id, combined(item.op, "f", best, value)) for value in values[1:]]
        return [let(best.id, values[0]), *better, replace(item, value=best)]
    return [replace(item, value=value) for value in values]
