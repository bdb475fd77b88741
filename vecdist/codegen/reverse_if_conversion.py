"""Reverse if-conversion: what only some sides of choices need is computed in branches, where it is dear.

A choice as it is lowered has both of its values computed, and takes one.  That is best where these cost little, or
where vectors compute them.  Elsewhere the statements that one side alone needs, and those that these alone need, go
into a branch, one for all choices by the same condition; what several sides need, but not all, has one of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, final

from vecdist.codegen.branches import Place, nested
from vecdist.codegen.demand import Demand, Literal, Path, choices, common, demands, either, gives, reads
from vecdist.codegen.routines import is_routine
from vecdist.codegen.statements import is_seldom
from vecdist.kernel.code import For, If, While, bodies, expressions, with_bodies
from vecdist.kernel.expressions import Expr, Name, joined, names, operation
from vecdist.kernel.statements import Assign, Load

DEAR = 100  # steps of what has a branch: fewer cost some kernels more registers than a branch is worth
LONGEST = 1000  # statements of a run that is looked at: those of long formulas would take as long as compiling them
STEPS = {"div": 8, "sqrt": 8, "fmod": 16}  # of what takes more than one
CALL = 200  # of a function with loops
GATHER = 16  # of an element whose place is computed

IsScalar = Callable[[Sequence[Any], bool], bool]


def branched(
    items: Sequence[Any], dear: int = DEAR, is_scalar: IsScalar = lambda run, outer: True, kept: Collection[str] = ()
) -> tuple[Any, ...]:
    """Statements with branches around what takes at least so many steps; ``kept`` is what others read of them.

    ``is_scalar`` says whether a run of statements is no vectors' work, and is told whether there are loops beside it.
    """
    return _branched(tuple(items), dear, is_scalar, {*_exposed(items), *kept})


def _branched(items: tuple[Any, ...], dear: int, is_scalar: IsScalar, kept: set[str]) -> tuple[Any, ...]:
    found: list[Any] = []
    outer = any(isinstance(item, For | While) for item in items)
    for inside, few in groupby(items, _has_bodies):
        part = tuple(few)
        if inside:
            found += [with_bodies(item, lambda body: _branched(body, dear, is_scalar, kept)) for item in part]
        else:
            found += _Run(part, dear, kept).converted() if is_scalar(part, outer) else part
    return tuple(found)


def _has_bodies(item: object) -> bool:
    return isinstance(item, If | While | For)


def _exposed(items: Sequence[Any]) -> Iterator[str]:
    """The names that runs of statements read of others, and that loops and branches do."""
    for inside, few in groupby(items, _has_bodies):
        given: set[str] = set()
        for item in few:
            if inside:
                yield from names(*expressions(item))
                for body in bodies(item):
                    yield from _exposed(body)
            else:
                yield from (name for name in reads(item) if name not in given)
                given.update(gives(item))


def steps(item: object) -> int:
    """What a statement takes, about."""
    if isinstance(item, Load):
        return GATHER
    if not isinstance(item, Assign) or is_seldom(item):
        return 1
    return CALL if is_routine(item.op) else STEPS.get(str(item.op), 1)


@final
class _Run:
    """Statements without loops and branches, one after another."""

    def __init__(self, items: tuple[Any, ...], dear: int, kept: set[str]) -> None:
        self.items, self.dear, self.kept = items, dear, kept
        self.choices = choices(items)
        self.given = {name: place for place, item in enumerate(items) for name in gives(item)}
        self.free = [self._is_free(item) for item in items]

    def _is_free(self, item: object) -> bool:
        """Whether a statement may run where it is wanted alone; of loads those whose place is computed here."""
        if isinstance(item, Load):
            computed = (self.items[self.given[name]] for name in reads(item) if name in self.given)
            return isinstance(item.source, int) and any(isinstance(each, Assign) for each in computed)
        return isinstance(item, Assign)

    def converted(self) -> tuple[Any, ...]:
        """The statements, in branches where these pay."""
        conditions = {choice.condition for choice in self.choices.values()}
        if len(self.items) > LONGEST or sum(map(steps, self.items)) < self.dear or not self._is_in_order():
            return self.items
        while conditions:
            found = _Placement(self, conditions)
            if found.worthwhile == conditions:
                return nested([*found.members()])
            conditions = found.worthwhile
        return self.items

    def _is_in_order(self) -> bool:
        """Whether what free statements give and read is given once, and before they read it."""
        times = Counter(name for item in self.items for name in gives(item))
        for place, (item, free) in enumerate(zip(self.items, self.free, strict=True)):
            used = [*gives(item), *reads(item)] if free else []
            if any(times[name] > 1 or self.given.get(name, -1) > place for name in used):
                return False
        return True


@final
class _Placement:
    """The branches of a run for some of its conditions: where its statements stand, and which conditions are worth it.

    ``paths`` are what holds where each statement is computed, ``shared`` the demands of those that have a branch of
    their own, as they are wanted on several paths.
    """

    def __init__(self, run: _Run, conditions: set[str]) -> None:
        self.run = run
        self.choices = {place: choice for place, choice in run.choices.items() if choice.condition in conditions}
        several = self._several(demands(run.items, self.choices, run.kept, run.free, either))
        kept = run.kept.union(*map(_conditions, several))
        self.paths = [path for (path,) in demands(run.items, self.choices, kept, run.free, common)]
        self.readers = self._readers()
        self.behind, taken = Counter[Literal](), Counter[Literal]()  # statements on each side of a condition, and steps
        for item, path in zip(run.items, self.paths, strict=True):
            self.behind.update(path)
            taken.update(dict.fromkeys(path, steps(item)))
        self.shared: dict[int, Demand] = {}
        for demand, same in several.items():
            places = self._shared(demand, same - self.choices.keys() - self._before(_conditions(demand)))
            self.shared |= dict.fromkeys(places if self._is_dear(places) else (), demand)
        dear = {name for (name, _), found in taken.items() if found >= run.dear}
        maybe = conditions & dear.union(*map(_conditions, several))
        shared = conditions & dear.union(*map(_conditions, self.shared.values()))
        self.worthwhile = shared if maybe == conditions else maybe  # what is shared shows when no others are left

    def _is_dear(self, places: Iterable[int]) -> bool:
        return sum(steps(self.run.items[place]) for place in places) >= self.run.dear

    def _several(self, whole: Sequence[Demand]) -> dict[Demand, set[int]]:
        """What is wanted on several paths and dear, with what is wanted on parts of them: the statements of each."""
        found: defaultdict[Demand, set[int]] = defaultdict(set)
        for place, demand in enumerate(whole):
            found[demand].add(place)
        taken = {demand: sum(steps(self.run.items[place]) for place in places) for demand, places in found.items()}

        def is_dear(demand: Demand) -> bool:
            inside = (taken[each] for each in taken if all(any(path <= own for path in demand) for own in each))
            return sum(inside) >= self.run.dear

        return {demand: places for demand, places in found.items() if len(demand) > 1 and is_dear(demand)}

    def _before(self, wanted: set[str]) -> set[int]:
        """The statements that names need: what a branch of their own asks for is known before it."""
        found, waiting = set[int](), [*wanted]
        while waiting:
            place = self.run.given.get(waiting.pop())
            if place is not None and place not in found:
                found.add(place)
                waiting += reads(self.run.items[place])
        return found

    def _readers(self) -> dict[str, list[tuple[int, Path]]]:
        """The statements that read each name, and what holds where they do."""
        found: defaultdict[str, list[tuple[int, Path]]] = defaultdict(list)
        for place, (item, path) in enumerate(zip(self.run.items, self.paths, strict=True)):
            choice = self.choices.get(place)
            if choice is None:
                for name in reads(item):
                    found[name].append((place, path))
            else:
                found[choice.condition].append((place, path))
                for side, value in ((True, choice.yes), (False, choice.no)):
                    for name in names(value):
                        found[name].append((place, path | {(choice.condition, side)}))
        return found

    def _shared(self, demand: Demand, places: set[int]) -> set[int]:
        """Those of the statements with a demand that are read by each other alone, or where it is there."""

        def is_known(reader: int, path: Path) -> bool:
            return reader in places or any(each <= path for each in demand)

        while True:
            given = {place: gives(self.run.items[place])[0] for place in places}
            lost = {at for at, name in given.items() if not all(is_known(*each) for each in self.readers[name])}
            if not lost:
                return places
            places = places - lost

    def members(self) -> Iterator[tuple[Any, Place]]:
        """The statements with the tests that they stand behind; a choice by a condition is two of them."""
        for place, (item, path) in enumerate(zip(self.run.items, self.paths, strict=True)):
            choice = self.choices.get(place)
            if choice is None:
                own = ((self._asked(self.shared[place]), True),) if place in self.shared else ()
                yield item, (*self._place(path), *own)
                continue
            for side, value in ((True, choice.yes), (False, choice.no)):
                if (choice.condition, not side) not in path:
                    taken = replace(item, op="index", args=(value,))
                    yield taken, self._place(path | {(choice.condition, side)})

    def _place(self, path: Path) -> Place:
        """The tests of a path: those come first that more depends on."""
        return tuple([(Name(name), side) for name, side in sorted(path, key=self._rank)])

    def _rank(self, literal: Literal) -> tuple[int, int, bool]:
        name, side = literal
        return -self.behind[name, True] - self.behind[name, False], self.run.given.get(name, -1), side

    def _asked(self, demand: Demand) -> Expr:
        """Whether one of several paths holds."""
        paths = sorted([sorted(path, key=self._rank) for path in demand], key=lambda path: [*map(self._rank, path)])
        return joined("or", [joined("and", [*map(_test, path)]) for path in paths])


def _conditions(demand: Demand) -> set[str]:
    return {name for path in demand for name, _ in path}


def _test(literal: Literal) -> Expr:
    name, side = literal
    return Name(name) if side else operation("not", Name(name))
