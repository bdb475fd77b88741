"""Which names of a function are nothing but a value: given once, and read where it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from vecdist.kernel.code import Code, For, Set, bodies, expressions, walk
from vecdist.kernel.expressions import Name, Several, names


def values(parameters: Sequence[str], body: Sequence[Code]) -> frozenset[str]:
    """The names that are given one value, and read behind that in the same block, or in one inside it.

    So is the index of several loops, one after another, not one in the other.  They need no memory: a compiler has
    nothing to find out.
    """
    items = list(walk(body))
    times = Counter([*parameters, *{item.index for item in items if isinstance(item, For)}])
    for item in items:
        times.update(given(item) if isinstance(item, Set) else ())
    found = _Scope({name for name, count in times.items() if count == 1})
    found.known.update(parameters)
    found.block(body)
    return frozenset(found.single)


def given(item: Code) -> list[str]:
    """The names that a statement gives values to."""
    match item:
        case Set(Name(name)):
            return [name]
        case Set(Several(targets)):
            return list(names(*(target for target in targets if isinstance(target, Name))))
        case For(index):
            return [index]
    return []


def read(item: Code) -> Iterator[str]:
    """The names that a statement itself reads; an element is read where it is stored to, a name is not."""
    if not isinstance(item, Set):
        return names(*expressions(item))
    targets = item.target.items if isinstance(item.target, Several) else (item.target,)
    return names(item.value, *(target for target in targets if not isinstance(target, Name)))


class _Scope:
    """The names known so far, of those that may be values."""

    def __init__(self, single: set[str]) -> None:
        self.single, self.known = single, set[str]()

    def block(self, body: Sequence[Code]) -> None:
        """A block: what it makes known is known to the end of it, the index of a loop to the end of that."""
        own: set[str] = set()
        for item in body:
            self.single.difference_update(name for name in read(item) if name not in self.known)
            new = set(given(item))
            if isinstance(item, For):
                self.single -= new & self.known
            self.known |= new
            for inner in bodies(item):
                self.block(inner)
            if isinstance(item, For):
                self.known -= new
            else:
                own |= new
        self.known -= own
