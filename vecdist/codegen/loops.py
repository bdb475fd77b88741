"""Loops of elements as functions: a turn is what a loop nest without loops computes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from vecdist.codegen.inline import inlined
from vecdist.codegen.routines import Routine
from vecdist.codegen.statements import type_name
from vecdist.graph.memo import Memo
from vecdist.kernel.code import Code, Function, If, Return, Set, While, let
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, Several, of_type
from vecdist.kernel.lower import schedule
from vecdist.kernel.statements import Assign, Statement, Store, carried
from vecdist.primitives.loops import Loop

Spelled = Callable[[Sequence[Statement]], Sequence[Code]]

LOOPS = 256  # whose functions are remembered
more, again, turns = map(Name, ("more", "again", "turns"))

_routines: Memo[Routine] = Memo(LOOPS)


def routine(loop: Loop, spelled: Spelled) -> Routine:
    """The function of a loop, in the words of a target."""
    return _routines((loop, spelled), lambda: _routine(loop, spelled))


def routines(items: Iterable[Any], spelled: Spelled) -> Iterator[Routine]:
    """The functions of the loops that statements run."""
    loops = dict.fromkeys(item.op for item in items if isinstance(item, Assign) and isinstance(item.op, Loop))
    return (routine(loop, spelled) for loop in loops)


def _routine(loop: Loop, spelled: Spelled) -> Routine:
    given = {leaf.attrs[0]: leaf.dtype for leaf in loop.locals} | {at: new.dtype for at, new in enumerate(loop.news)}
    places = range(1 + max(given))
    types = "b1", *(type_name(given.get(place, np.dtype(np.float64))) for place in places)
    parameters = more.id, *(carried(place).id for place in places)
    items = schedule(loop.roots).root.statements(0)
    ((made,), tables, needs) = inlined((Function("", parameters, tuple(_turns(loop, items, spelled))),))
    results = types[1 : 1 + len(loop.news)]
    told = repr((str(made), tables, types, results))
    name = f"loop_{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    needs = *needs, *routines(items, spelled)
    return Routine(Function(name, parameters, made.body), tables, types, results, needs)


def _turns(loop: Loop, items: Sequence[Statement], spelled: Spelled) -> Iterator[Code]:
    """Turns while the test holds; where it would hold once more than it may, floats end as NaN."""
    ends = [place for place, item in enumerate(items) if isinstance(item, Store)]
    found = [item.value for item in items if isinstance(item, Store)]
    test, *news = found
    tested, rest = items[: ends[0]], [item for item in items[ends[0] :] if not isinstance(item, Store)]
    carries = [carried(place) for place in range(len(news))]
    changed = [(carry, new) for carry, new in zip(carries, news, strict=True) if carry != new]
    turn = [*spelled(rest), *_given(changed)]
    if loop.limit is None:
        inside: list[Code] = [let(more.id, test), If(more, tuple(turn))]
    else:
        yield let(turns.id, ZERO)
        kinds = [(carry, new.dtype) for carry, new in zip(carries, loop.news, strict=True) if new.dtype.kind == "f"]
        nothing = [Set(carry, of_type(dtype, Constant(np.nan))) for carry, dtype in kinds]
        turn.append(let(turns.id, turns + 1))
        over = (If(again, tuple(nothing)),) if nothing else ()
        inside = [let(again.id, test), let(more.id, again & (turns < loop.limit)), If(more, tuple(turn), over)]
    yield While(more, (*spelled(tested), *inside))
    yield Return(carries[0] if len(carries) == 1 else Several(tuple(carries)))


def _given(pairs: Sequence[tuple[Name, Expr]]) -> list[Code]:
    """Several names given values at once, which may be made of them."""
    if len(pairs) < 2:
        return [Set(name, value) for name, value in pairs]
    names, values = zip(*pairs, strict=True)
    return [Set(Several(names), Several(values))]
