"""Common subexpressions across loops: what one loop of a row computes and a later one needs again, in local memory.

The gradient of ``logsumexp`` wants the exponentials that its value added up.  A loop over the same length computes the
same value where it does the same to the same; what is dear of that is put in an array of one element per turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from vecdist.codegen.cuda.tiling import sequential
from vecdist.codegen.routines import is_routine
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Set, let
from vecdist.kernel.expressions import Element, Expr, Name, substituted
from vecdist.kernel.ir import Block, Cases, Loop
from vecdist.kernel.statements import Assign, Load, Statement, reads

DEAR = 3  # operations from which a value is better kept than computed again


@final
@dataclass(frozen=True)
class Reuse:
    """The bodies of inner loops that keep values, or use kept ones: names of arrays, with their dtypes and loops."""

    bodies: dict[Loop, Items] = field(default_factory=dict)
    arrays: dict[str, tuple[np.dtype, Loop]] = field(default_factory=dict)


def reused(row: Block, room: Mapping[str, int]) -> Reuse:
    """What the inner loops of a row may keep, ``room[dim]`` being the values kept for each element along ``dim``.

    An array ``m_v1`` holds the value ``v1`` of each turn; its place is ``turn_`` and the index of the loop.
    """
    found = Reuse()
    loops = [loop for level in row.levels for loop in row.loops(level) if _is_plain(loop)]
    for dim in dict.fromkeys(loop.dim for loop in loops):
        same = [loop for loop in loops if loop.dim == dim]
        if len(same) > 1 and room.get(dim, 0) > 0:
            _reuse(same, room[dim], found)
    return found


def _is_plain(loop: Loop) -> bool:
    """Whether a loop holds nothing but statements."""
    return not loop.sequential and not any(isinstance(item, Loop | Cases) for _, item in loop.body.items)


def _items(loop: Loop) -> list[Statement]:
    return [item for _, item in loop.body.items if isinstance(item, Statement)]


def _makers(loop: Loop) -> dict[str, Assign | Load]:
    return {item.name: item for item in _items(loop) if isinstance(item, Assign | Load)}


def _reuse(loops: Sequence[Loop], room: int, found: Reuse) -> None:
    """Choose what loops over the same length keep, and write their bodies."""
    known: dict[tuple, tuple[str, Loop]] = {}
    recalls: dict[Loop, dict[str, str]] = {}
    arrays: dict[str, tuple[np.dtype, Loop]] = {}
    for loop in loops:
        equal = _equal(loop, known)
        for name in _wanted(loop, equal):
            first, made = equal[name]
            if first in arrays or len(arrays) < room:
                arrays.setdefault(first, (_makers(loop)[name].dtype, made))
                recalls.setdefault(loop, {})[name] = first
    for loop in loops:
        kept = {name for name, (_, made) in arrays.items() if made is loop}
        found.bodies[loop] = _written(loop, recalls.get(loop, {}), kept)
    found.arrays.update({_array(name): array for name, array in arrays.items()})


def _array(name: str) -> str:
    return f"m_{name}"


def _equal(loop: Loop, known: dict[tuple, tuple[str, Loop]]) -> dict[str, tuple[str, Loop]]:
    """The values of a loop that an earlier one computes, with their names there; others are known from now on."""
    alike: dict[str, Expr] = {loop.index: Name(f"any {loop.dim}")}
    found: dict[str, tuple[str, Loop]] = {}
    for item in _makers(loop).values():
        parts = [substituted(part, alike) for part in item.expressions()]
        key = (item.op if isinstance(item, Assign) else (item.source, item.guard is None), *parts, item.dtype)
        first, made = known.setdefault(key, (item.name, loop))
        alike[item.name] = Name(first)
        if made is not loop:
            found[item.name] = first, made
    return found


def _wanted(loop: Loop, equal: Mapping[str, object]) -> list[str]:
    """The dear values that an earlier loop computes and that something new in this one reads, the dearest first."""
    makers = _makers(loop)
    read = {name for item in _items(loop) if getattr(item, "name", "") not in equal for name in reads(item)}

    def steps(name: str, seen: set[str]) -> int:
        item = makers.get(name)
        if name in seen or not isinstance(item, Assign):
            return 0
        seen.add(name)
        own = DEAR if is_routine(item.op) else 1
        return own + sum(steps(inner, seen) for inner in reads(item))

    costs = {name: steps(name, set()) for name in makers if name in read and name in equal}
    dear = [name for name in costs if costs[name] >= DEAR and makers[name].dtype.kind == "f"]
    return sorted(dear, key=lambda name: -costs[name])


def _written(loop: Loop, recalls: Mapping[str, str], kept: set[str]) -> Items:
    """The statements of a loop: values recalled, those computed for nothing else left out, and others kept."""
    needed: set[str] = set()
    found: list[Item] = []

    def place(name: str) -> Element:
        return Name(_array(name))[Name(f"turn_{loop.index}")]

    for item in reversed(sequential(loop.body)):
        makes = isinstance(item, Assign | Load)
        if makes and item.name not in needed | kept:
            continue
        if makes and item.name in kept:
            found.append(Set(place(item.name), Name(item.name)))
        if makes and item.name in recalls:
            found.append(let(item.name, place(recalls[item.name])))
            continue
        assert isinstance(item, Statement)
        needed |= reads(item)
        found.append(item)
    return tuple(reversed(found))
