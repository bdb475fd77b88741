"""Demand: where values are wanted, by the sides of choices that take them.

A *path* is a conjunction of conditions, some of them negated; a demand is what is wanted on one of several paths.  It
follows from where those that read a value are wanted themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from vecdist.kernel.code import Do, Note, Return, Set, expressions
from vecdist.kernel.expressions import Expr, Name, Several, names
from vecdist.kernel.statements import Accumulate, Assign, Made

CHOICES = ("where", "seldom")
MOST = 4  # paths that are told apart

Literal = tuple[str, bool]  # a condition, and whether it holds
Path = frozenset[Literal]
Demand = frozenset[Path]
NOWHERE: Demand = frozenset()
ALWAYS: Demand = frozenset({frozenset()})


def either(one: Demand, other: Demand) -> Demand:
    """Where one of two demands is; everywhere, where that takes too many words."""
    paths, before = one | other, NOWHERE
    while paths != before:
        before, shorter = paths, {_shorter(path, paths) for path in paths}
        paths = frozenset({path for path in shorter if not any(each < path for each in shorter)})
    return paths if len(paths) <= MOST else ALWAYS


def _shorter(path: Path, paths: Demand) -> Path:
    """A path without what others make up for: a, or not a and b, is a or b."""
    for name, side in sorted(path):
        rest, other = path - {(name, side)}, (name, not side)
        if any(other in each and each - {other} <= rest for each in paths):
            return rest
    return path


def common(one: Demand, other: Demand) -> Demand:
    """The one path of all that two demands have in common."""
    return frozenset({frozenset.intersection(*one, *other)})


def along(demand: Demand, literal: Literal) -> Demand:
    """A demand where a condition holds besides; a path that contradicts that stays as it is."""
    name, side = literal
    return frozenset({path if (name, not side) in path else path | {literal} for path in demand})


@final
@dataclass(frozen=True)
class Choice:
    """One of two values, by a condition that is no negation; ``test`` is as it was written."""

    test: Name
    condition: str
    yes: Expr
    no: Expr


def choices(run: Sequence[object]) -> dict[int, Choice]:
    """The choices among statements, by their places; one by a negation has its sides exchanged."""
    negated: dict[str, str] = {}
    found: dict[int, Choice] = {}
    for place, item in enumerate(run):
        match item:
            case Assign(name, "not", (Name(test),)):
                negated[name] = test
            case Assign(_, op, (Name(name) as test, yes, no)) if op in CHOICES:
                while name in negated:
                    name, yes, no = negated[name], no, yes
                found[place] = Choice(test, name, yes, no)
    return found


def reads(item: Any) -> Iterator[str]:
    """The names that what stands in a loop nest reads itself."""
    match item:
        case Set(target, value):
            inside = target.items if isinstance(target, Several) else (target,)
            return names(value, *(each for each in inside if not isinstance(each, Name)))
        case Do() | Note() | Return():
            return names(*expressions(item))
    return names(*item.expressions(), *([Name(item.name)] if isinstance(item, Accumulate) else []))


def gives(item: object) -> list[str]:
    """The names that what stands in a loop nest gives values to."""
    match item:
        case Set(Several(targets)):
            return [each.id for each in targets if isinstance(each, Name)]
        case Set(Name(name)):
            return [name]
    return [item.name] if isinstance(item, Made | Accumulate) else []


def demands(
    run: Sequence[object],
    found: Mapping[int, Choice],
    kept: Collection[str],
    free: Sequence[bool],
    join: Callable[[Demand, Demand], Demand],
) -> list[Demand]:
    """Where each statement of a run is wanted, of which ``found`` are choices: what is ``kept``, or not free, always.

    ``join`` says where what two others read is wanted.
    """
    wanted: dict[str, Demand] = {}

    def want(value: Iterator[str], demand: Demand) -> None:
        for name in value:
            wanted[name] = join(wanted[name], demand) if name in wanted else demand

    every = [ALWAYS] * len(run)
    for place in reversed(range(len(run))):
        item = run[place]
        name, *_ = gives(item) or ['']
        if free[place] and name in wanted and name not in kept:
            every[place] = wanted[name]
        choice = found.get(place)
        if choice is None:
            want(reads(item), every[place])
        else:
            want(iter([choice.condition]), every[place])
            want(names(choice.test), every[place])
            want(names(choice.yes), along(every[place], (choice.condition, True)))
            want(names(choice.no), along(every[place], (choice.condition, False)))
    return every
