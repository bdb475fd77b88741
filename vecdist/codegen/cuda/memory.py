"""Values that one loop of a row computes and a later one needs again: remembered for each element, not computed twice.

The gradient of ``logsumexp`` wants the exponentials that its value added up.  A loop over the same length computes the
same value where it does the same to the same; what is dear of that is put in an array of one element per turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from vecdist.codegen.rows import named
from vecdist.kernel.ir import Assign, Block, Cases, Load, Loop, Statement

DEAR = 3  # operations from which a value is better remembered than computed again
NAMES = re.compile(r"\b[iv]\d+\b")


@final
@dataclass
class Memory:
    """The bodies of the inner loops of a row, with what they remember: names of arrays, with their dtypes and loops."""

    bodies: dict[Loop, Block] = field(default_factory=dict)
    arrays: dict[str, tuple[np.dtype, Loop]] = field(default_factory=dict)


def remembered(row: Block, room: Mapping[str, int]) -> Memory:
    """What the inner loops of a row may remember, ``room[dim]`` being the values kept for each element along ``dim``.

    An array ``m_v1`` holds the value ``v1`` of each turn; its place is ``turn_`` and the index of the loop.
    """
    memory = Memory()
    loops = [loop for level in row.levels for loop in row.loops(level) if _is_plain(loop)]
    for dim in dict.fromkeys(loop.dim for loop in loops):
        same = [loop for loop in loops if loop.dim == dim]
        if len(same) > 1 and room.get(dim, 0) > 0:
            _remember(same, room[dim], memory)
    return memory


def _is_plain(loop: Loop) -> bool:
    """Whether a loop holds nothing but statements, on one level."""
    return not loop.sequential and not any(isinstance(item, Loop | Cases) for _, item in loop.body.items)


def _items(loop: Loop) -> list[Statement]:
    return [item for _, item in loop.body.items]  # type: ignore[misc]


def _remember(loops: Sequence[Loop], room: int, memory: Memory) -> None:
    """Choose what loops over the same length remember, and write their bodies."""
    known: dict[tuple, tuple[str, Loop]] = {}
    recalls: dict[Loop, dict[str, str]] = {}
    for loop in loops:
        equal = _equal(loop, known)
        for name in _wanted(loop, equal):
            first, made = equal[name]
            taken = sum(made.dim == loop.dim for _, made in memory.arrays.values())
            if f"m_{first}" in memory.arrays or taken < room:
                memory.arrays.setdefault(f"m_{first}", (_maker(loop, name).dtype, made))
                recalls.setdefault(loop, {})[name] = first
    saved = {(array[2:], made) for array, (_, made) in memory.arrays.items()}
    for loop in loops:
        memory.bodies[loop] = Block(loop.body.parent, loop.body.index)
        for level, item in _written(loop, recalls.get(loop, {}), {name for name, made in saved if made is loop}):
            memory.bodies[loop].put(level, item)


def _equal(loop: Loop, known: dict[tuple, tuple[str, Loop]]) -> dict[str, tuple[str, Loop]]:
    """The values of a loop that an earlier one computes, with their names there; others are known from now on."""
    alias: dict[str, str] = {loop.index: f"<{loop.dim}>"}
    found: dict[str, tuple[str, Loop]] = {}

    def same(text: str) -> str:
        return NAMES.sub(lambda match: alias.get(match[0], match[0]), text)

    for item in _items(loop):
        if not isinstance(item, Assign | Load):
            continue
        texts = item.args if isinstance(item, Assign) else (*item.indices, str(item.guard))
        key = (item.op if isinstance(item, Assign) else item.slot, *map(same, texts), item.dtype)
        first, made = known.setdefault(key, (item.name, loop))
        alias[item.name] = first
        if made is not loop:
            found[item.name] = first, made
    return found


def _maker(loop: Loop, name: str) -> Assign | Load:
    return next(item for item in _items(loop) if isinstance(item, Assign | Load) and item.name == name)


def _wanted(loop: Loop, equal: Mapping[str, object]) -> list[str]:
    """The dear values that an earlier loop computes and that something new in this one reads, the dearest first."""
    makers = {item.name: item for item in _items(loop) if isinstance(item, Assign | Load)}
    read = {name for item in _items(loop) if getattr(item, "name", "") not in equal for name in named(item)}

    def steps(name: str, seen: set[str]) -> int:
        if name in seen or name not in makers or isinstance(makers[name], Load):
            return 0
        seen.add(name)
        return 1 + sum(steps(inner, seen) for inner in named(makers[name]))

    costs = {name: steps(name, set()) for name in read if name in equal and makers[name].dtype.kind == "f"}
    return sorted((name for name in costs if costs[name] >= DEAR), key=lambda name: -costs[name])


def _written(loop: Loop, recalls: Mapping[str, str], saved: set[str]) -> Iterator[tuple[int, Statement]]:
    """The statements of a loop: values recalled, those computed for nothing else left out, and others saved."""
    needed: set[str] = set()
    kept: list[tuple[int, Statement]] = []
    for level, item in zip(reversed([at for at, _ in loop.body.items]), reversed(_items(loop)), strict=True):
        makes = isinstance(item, Assign | Load)
        if makes and item.name not in needed | saved:
            continue
        if makes and item.name in saved:
            kept.append((level, Assign(f"m_{item.name}[turn_{loop.index}]", "index", (item.name,), item.dtype)))
        if makes and item.name in recalls:
            place = f"m_{recalls[item.name]}[turn_{loop.index}]"
            kept.append((level, Assign(item.name, "index", (place,), item.dtype)))
            continue
        needed.update(named(item))
        kept.append((level, item))
    yield from reversed(kept)
