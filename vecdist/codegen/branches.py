"""Branches: statements, each with the tests that it stands behind, as nested ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, final

from vecdist.codegen.demand import gives, reads
from vecdist.kernel.code import If
from vecdist.kernel.expressions import Expr, names, operation
from vecdist.kernel.statements import Assign, Load

T = TypeVar("T")
Place = tuple[tuple[Expr, bool], ...]
"""The tests that a statement stands behind, the outermost first, and how they turn out for it."""


def nested(members: Sequence[tuple[Any, Place]]) -> tuple[Any, ...]:
    """Statements in the order of their needs, else in their own; those behind a test side by side where that allows."""
    needs = [*_needs(members)]
    done: set[int] = set()
    order = [place for first in range(len(members)) for place in _settled(first, needs.__getitem__, done)]
    return _nested([members[place] for place in order])


def _nested(members: Sequence[tuple[Any, Place]]) -> tuple[Any, ...]:
    return tuple(_Level(members).items())


def _needs(members: Sequence[tuple[Any, Place]]) -> Iterator[list[int]]:
    """The statements before each that it needs, and those of the tests that it stands behind, wherever they are."""
    every: defaultdict[str, list[int]] = defaultdict(list)
    for place, (item, _) in enumerate(members):
        for name in gives(item):
            every[name].append(place)
    last: list[int] = []
    for place, (item, behind) in enumerate(members):
        tests = [at for name in names(*(test for test, _ in behind)) for at in every[name]]
        ordered = has_order(item)
        yield [*(last if ordered else []), *tests, *(at for name in reads(item) for at in every[name] if at < place)]
        last = [place] if ordered else last


def has_order(item: object) -> bool:
    """Whether a statement does more than give a value to a name, by what never changes."""
    return not isinstance(item, Assign) and not (isinstance(item, Load) and isinstance(item.source, int))


@final
@dataclass(eq=False)
class _Unit:
    """A statement, or several behind one test; ``needs`` are other units, ``tests`` all units of tests among those."""

    test: Expr | None = None
    places: list[int] = field(default_factory=list)
    needs: dict[_Unit, None] = field(default_factory=dict)
    tests: set[_Unit] = field(default_factory=set)

    def every_test(self) -> set[_Unit]:
        """The units of tests that this one needs, and that those need."""
        found, waiting = set[_Unit](), [*self.tests]
        while waiting:
            unit = waiting.pop()
            if unit not in found:
                found.add(unit)
                waiting += unit.tests
        return found


@final
class _Level:
    """The statements of a block, and those inside its branches."""

    def __init__(self, members: Sequence[tuple[Any, Place]]) -> None:
        self.members = members
        self.units: list[_Unit] = []  # of each statement
        latest: dict[Expr, _Unit] = {}
        for place, statements in enumerate(_needs(members)):
            behind, needs = members[place][1], [self.units[at] for at in statements]
            unit = self._unit(behind[0][0], needs, latest) if behind else _Unit()
            unit.places.append(place)
            unit.needs.update(dict.fromkeys(each for each in needs if each is not unit))
            unit.tests.update(_tests(needs, unit))
            self.units.append(unit)

    def _unit(self, test: Expr, needs: Sequence[_Unit], latest: dict[Expr, _Unit]) -> _Unit:
        """The unit of a test that a statement can join, which needs nothing that needs the unit; else a new one."""
        unit = latest.get(test)
        if unit is None or any(unit in each.every_test() for each in needs if each is not unit):
            unit = latest[test] = _Unit(test)
        return unit

    def items(self) -> Iterator[Any]:
        """The units in order, as statements."""
        done: set[_Unit] = set()
        for place, unit in enumerate(self.units):
            if place == unit.places[-1]:
                yield from map(self._written, _settled(unit, lambda each: each.needs, done))

    def _written(self, unit: _Unit) -> Any:
        if unit.test is None:
            return self.members[unit.places[0]][0]
        few = [self.members[place] for place in unit.places]
        yes, no = ([(item, behind[1:]) for item, behind in few if behind[0][1] is side] for side in (True, False))
        return If(unit.test, _nested(yes), _nested(no)) if yes else If(operation("not", unit.test), _nested(no))


def _tests(needs: Sequence[_Unit], unit: _Unit) -> Iterator[_Unit]:
    """The units of tests that are needed, at once or through statements alone."""
    for each in needs:
        if each.test is None:
            yield from each.tests
        elif each is not unit:
            yield each


def _settled(first: T, needs: Callable[[T], Iterable[T]], done: set[T]) -> Iterator[T]:
    """Something behind all that it needs, as far as that is not ``done``."""
    waiting = [first]
    while waiting:
        missing = [] if waiting[-1] in done else [each for each in needs(waiting[-1]) if each not in done]
        waiting += reversed(missing)
        if not missing and (found := waiting.pop()) not in done:
            done.add(found)
            yield found
