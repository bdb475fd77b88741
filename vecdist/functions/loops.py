"""Loops whose turns are not known by now, as nodes: what their names stand for is carried from turn to turn."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from vecdist.functions.meaning import Frame, Names, Path, joined
from vecdist.functions.numbers import KINDS, is_number, kind
from vecdist.functions.regions import closed
from vecdist.functions.source import Problem, Unclear, described, stored
from vecdist.graph.node import Node
from vecdist.primitives.loops import loop

_marks = itertools.count()


@final
@dataclass(frozen=True)
class _Turn:
    """A turn as interpreted: its test, what names stand for behind it, and the paths that end the loop."""

    test: Path
    names: Names
    broken: Path
    results: Sequence[tuple[Path, Any]]


@final
@dataclass(eq=False)
class _Carries:
    """What a loop carries: what stands for it inside, what it starts with, and what it is behind a turn."""

    frame: Frame
    marks: list[Node] = field(default_factory=list)
    inits: list[Node] = field(default_factory=list)
    news: list[Node] = field(default_factory=list)

    def add(self, mark: Node, init: Any, new: Any) -> None:
        letter = mark.dtype.kind
        self.marks.append(mark)
        self.inits.append(self.frame.numbers.node(init, letter))
        self.news.append(self.frame.numbers.node(new, letter))

    def show(self, value: Any) -> int:
        """Carry the numbers of a value that only those behind the loop read; the place of the first."""
        for each in numbers_in(value):
            self.add(mark(self.frame, kind(each)), 0, each)
        return len(self.marks) - len([*numbers_in(value)])

    def looped(self, test: Path) -> tuple[Node, ...]:
        """What they are behind the loop."""
        frame = self.frame
        numbers = frame.numbers
        roots, frees = closed([numbers.node(test), *self.news], self.marks)
        active = numbers.node(frame.active)
        return loop(active, self.inits, frees, roots[0], roots[1:], frame.trace.limit)


def looped(
    frame: Frame, node: ast.While | ast.For, test: Callable[[], Path], body: Callable[[], None],
    hidden: Sequence[str] = (),
) -> Path:
    """Interpret a loop; where it was broken off.  ``hidden`` names are carried, too."""
    first = test()
    if first is False:
        return False
    targets = [node.target] if isinstance(node, ast.For) else []
    written = sorted({*stored([*targets, *node.body]), *hidden})
    known = [name for name in written if not isinstance(frame.names.get(name, Unclear("")), Unclear)]
    starts = [frame.names[name] for name in known]
    kinds = [kind(each) for each in numbers_in(starts)]
    while True:  # until what a turn gives has the kinds that it was told
        marks = [mark(frame, letter) for letter in kinds]
        turn = _turn(frame, dict(zip(known, refilled(starts, marks), strict=True)), test, body)
        news = [*numbers_in(_alike(known, starts, turn.names))]
        wider = [max(before, kind(new), key=KINDS.index) for before, new in zip(kinds, news, strict=True)]
        if wider == kinds:
            break
        kinds = wider
    carries = _Carries(frame)
    for each in zip(marks, numbers_in(starts), news, strict=True):
        carries.add(*each)
    others = [name for name in _read_elsewhere(frame, node, written) if name not in known]
    return _behind(carries, known, starts, others, turn, first is True)


def _behind(
    carries: _Carries, known: Sequence[str], starts: Sequence[Any], others: Sequence[str], turn: _Turn, surely: bool
) -> Path:
    """Make the node, and go on behind it; where the loop was broken off.

    ``others`` are names that have no value before the loop, and one behind it if it ``surely`` has a turn.
    """
    frame, numbers, test = carries.frame, carries.frame.numbers, turn.test
    returned: Path = False
    given: Any = Unclear("")
    for path, value in reversed(turn.results):
        given = value if returned is False else numbers.merged(path, value, given)
        returned = joined(path, returned)
    if isinstance(given, Unclear) and turn.results:
        raise Problem(given.reason)
    stops = {path: carries.show(path) for path in (turn.broken, returned) if path is not False}
    for place in stops.values():
        test = numbers.both(test, ~carries.marks[place])
    clear = [name for name in others if surely and not isinstance(turn.names.get(name, Unclear("")), Unclear)]
    behind = [turn.names[name] for name in clear]
    shown, result = carries.show(behind), carries.show(given)
    found = carries.looped(test)
    missing = Unclear("it has a value only in the turns of a loop; give it one before the loop, which may have no turn")
    frame.names |= dict.fromkeys(others, missing)
    frame.names |= zip(known, refilled(starts, found), strict=True)
    frame.names |= zip(clear, refilled(behind, found[shown:]), strict=True)
    if returned is not False:
        left = found[stops[returned]]
        frame.results.append((numbers.both(frame.path, left), refilled(given, found[result:])))
        endless = turn.test is True and turn.broken is False
        frame.path = False if endless else numbers.both(frame.path, ~left)
    return False if turn.broken is False else found[stops[turn.broken]]


def _turn(frame: Frame, carried: Names, test: Callable[[], Path], body: Callable[[], None]) -> _Turn:
    """Interpret a turn on carries that are not known."""
    before = (frame.names, frame.path, frame.outer, frame.exits, frame.results)
    frame.names = {**frame.names, **carried}
    frame.path, frame.outer, frame.exits, frame.results = True, True, [], []
    frame.trace.inside += 1
    condition = test()
    body()
    broken: Path = False
    ends: list[tuple[Path, Names]] = [] if frame.path is False else [(frame.path, frame.names)]
    for leaves, path, names in reversed(frame.exits):
        ends.insert(0, (path, names))
        broken = joined(path, broken) if leaves is ast.Break else broken
    frame.join(ends)
    turn = _Turn(condition, frame.names, broken, frame.results)
    frame.trace.inside -= 1
    frame.names, frame.path, frame.outer, frame.exits, frame.results = before
    return turn


def mark(frame: Frame, letter: str) -> Node:
    """What stands for a carry while a turn is interpreted."""
    return Node("local", (), (("mark", next(_marks)),), (), frame.numbers.dtype(letter))


def numbers_in(value: Any) -> Iterator[Any]:
    """The numbers of tuples of tuples."""
    if is_number(value):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from numbers_in(each)


def refilled(value: Any, numbers: Sequence[Any]) -> Any:
    """Tuples of tuples with other numbers in them, the first of those that are given."""
    left = iter(numbers)

    def fill(each: Any) -> Any:
        if is_number(each):
            return next(left)
        return type(each)(map(fill, each)) if isinstance(each, tuple | list) else each

    return fill(value)


def _alike(names: Sequence[str], starts: Sequence[Any], behind: Names) -> list[Any]:
    """What names stand for behind a turn, which must be made as it was before."""
    for name, start in zip(names, starts, strict=True):
        new = behind[name]
        if _shape(new) != _shape(start):
            raise Problem(f"{name} is {described(start)} before this loop, but {described(new)} behind a turn of it")
    return [behind[name] for name in names]


def _shape(value: Any) -> Any:
    """What of a value stays as it is in all turns."""
    if is_number(value):
        return "number"
    return tuple(map(_shape, value)) if isinstance(value, tuple) else id(value)


def _read_elsewhere(frame: Frame, node: ast.AST, written: Sequence[str]) -> list[str]:
    """The names that a loop writes and that are read outside of it, too."""

    def read(tree: ast.AST) -> Counter[str]:
        every = ast.walk(tree)
        return Counter(each.id for each in every if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))

    elsewhere = read(frame.written.tree) - read(node)
    return [name for name in written if name in elsewhere]
