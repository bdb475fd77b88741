"""Long functions in parts: LLVM takes more than twice the time for twice as long a straight line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import final

from numba.core import types

from vecdist.kernel.code import Code, Set, walk
from vecdist.kernel.expressions import Call
from vecdist.kernel.scopes import given, read
from vecdist.runtime.typed import Typed

LONGEST = 500  # statements of a part, but for those of one that has others inside


def parts_of(made: Typed) -> list[Part]:
    """The statements of a function in parts; none of a short one, or of one with a result or an array of its own."""
    body = made.written.function.body
    calls = [item.value for item in body if isinstance(item, Set) and isinstance(item.value, Call)]
    if made.result != types.none or any(isinstance(made.of(call), types.Array) for call in calls):
        return []
    sizes = [sum(1 for _ in walk([item])) for item in body]
    cuts, room = [0], LONGEST
    for place, size in enumerate(sizes):
        if size > room and place > cuts[-1]:
            cuts.append(place)
            room = LONGEST
        room -= size
    if sum(sizes) < 2 * LONGEST:
        return []
    return [Part(body[first:last]) for first, last in zip(cuts, [*cuts[1:], len(body)], strict=True)]


@final
class Part:
    """Some statements of a function: what they give values to, and what they need beside that."""

    def __init__(self, items: Sequence[Code]) -> None:
        self.items = items
        self.given: set[str] = {name for item in walk(items) for name in given(item)}
        self.names: set[str] = self.given | {name for item in walk(items) for name in read(item)}


def framed(parts: Sequence[Part], bytes_of: Callable[[str], int]) -> tuple[dict[str, int], int]:
    """Where each value that one part leaves to another lies in words of a frame, and how many there are.

    The results of a loop are one value of several words.
    """
    needed, places, size = Counter(name for part in parts for name in part.names), {}, 0
    for name in sorted(set().union(*(part.given for part in parts))):
        if needed[name] > 1:
            places[name] = size
            size += -(-bytes_of(name) // 8)
    return places, max(1, size)
