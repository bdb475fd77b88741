"""Loops of elements as functions: a turn is what a loop nest without loops computes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from vecdist.codegen.inline import inlined
from vecdist.codegen.reverse_if_conversion import branched
from vecdist.codegen.routines import Routine
from vecdist.codegen.statements import type_name
from vecdist.graph.memo import Memo
from vecdist.kernel.code import Code, Function, If, Return, Set, While, let
from vecdist.kernel.expressions import ZERO, Call, Constant, Expr, Name, Several, names, of_type
from vecdist.kernel.lower import schedule
from vecdist.kernel.statements import Assign, Statement, Store, carried
from vecdist.primitives.loops import Loop

Spelled = Callable[[Sequence[Statement]], Sequence[Code]]

LOOPS = 256  # whose functions are remembered

more, again, turns = map(Name, ("more", "again", "turns"))

_routines: Memo[Routine] = Memo(LOOPS)
_taken: Memo[Turn] = Memo(LOOPS)


@final
class Turn(NamedTuple):
    """A turn as statements: those that the test needs, the test, the others, and what the carries become."""

    tested: tuple[Statement, ...]
    test: Expr
    rest: tuple[Statement, ...]
    news: tuple[Expr, ...]


def turn_of(loop: Loop) -> Turn:
    """What a loop computes in each turn."""
    return _taken(loop, lambda: _turn(loop))


def _turn(loop: Loop) -> Turn:
    items = schedule(loop.roots).root.statements(0)
    (end, *_), (test, *news) = zip(*[(at, i.value) for at, i in enumerate(items) if isinstance(i, Store)], strict=True)
    return Turn(tuple(items[:end]), test, tuple([i for i in items[end:] if not isinstance(i, Store)]), tuple(news))


def called(loop: Loop, args: Sequence[Expr], spelled: Spelled, before: Expr = ZERO) -> Call:
    """A call of the function of a loop, which some turns were taken ``before``."""
    active, *given = args
    return Name(routine(loop, spelled).name)(active, *([] if loop.limit is None else [before]), *given)


def routine(loop: Loop, spelled: Spelled) -> Routine:
    """The function of a loop, in the words of a target."""
    return _routines((loop, spelled), lambda: _routine(loop, spelled))


def routines(items: Iterable[Any], spelled: Spelled) -> Iterator[Routine]:
    """The functions of the loops that statements run."""
    loops = dict.fromkeys(item.op for item in items if isinstance(item, Assign) and isinstance(item.op, Loop))
    return (routine(loop, spelled) for loop in loops)


def _routine(loop: Loop, spelled: Spelled) -> Routine:
    turn = turn_of(loop)
    given = {leaf.attrs[0]: leaf.dtype for leaf in loop.locals} | {at: new.dtype for at, new in enumerate(loop.news)}
    first = ["b1"] if loop.limit is None else ["b1", "i8"]
    types = *first, *(type_name(given[place]) for place in range(len(given)))
    parameters = *[more.id, turns.id][: len(first)], *(carried(place).id for place in range(len(given)))
    ((made,), tables, needs) = inlined((Function("", parameters, tuple(_turns(loop, turn, spelled))),))
    results = types[len(first) :][: len(loop.news)]
    told = repr((str(made), tables, types, results))
    name = f"loop_{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    needs = *needs, *routines((*turn.tested, *turn.rest), spelled)
    return Routine(Function(name, parameters, made.body), tables, types, results, needs)


def _turns(loop: Loop, turn: Turn, spelled: Spelled) -> Iterator[Code]:
    """Turns while the test holds; where it would hold once more than it may, floats end as NaN."""
    carries = [carried(place) for place in range(len(turn.news))]
    changed = [(carry, new) for carry, new in zip(carries, turn.news, strict=True) if carry != new]
    steps = [*spelled(branched(turn.rest, kept=set(names(*turn.news)))), *_given(changed)]
    if loop.limit is None:
        inside: list[Code] = [let(more.id, turn.test), If(more, tuple(steps))]
    else:
        kinds = [(carry, new.dtype) for carry, new in zip(carries, loop.news, strict=True) if new.dtype.kind == "f"]
        nothing = tuple([Set(carry, of_type(dtype, Constant(np.nan))) for carry, dtype in kinds])
        over = (If(again, nothing),) if nothing else ()
        steps.append(let(turns.id, turns + 1))
        inside = [let(again.id, turn.test), let(more.id, again & (turns < loop.limit)), If(more, tuple(steps), over)]
    yield While(more, (*spelled(turn.tested), *inside))
    yield Return(carries[0] if len(carries) == 1 else Several(tuple(carries)))


def _given(pairs: Sequence[tuple[Name, Expr]]) -> list[Code]:
    """Several names given values at once, which may be made of them."""
    if len(pairs) < 2:
        return [Set(name, value) for name, value in pairs]
    targets, values = zip(*pairs, strict=True)
    return [Set(Several(targets), Several(values))]
