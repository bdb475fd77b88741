"""Functions that statements call: loops of elements, and what is computed of many scalars alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from vecdist.codegen import loops
from vecdist.codegen.inline import inlined
from vecdist.codegen.loops import Spelled
from vecdist.codegen.routines import Routine
from vecdist.codegen.statements import type_name
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, topological
from vecdist.kernel.code import Function, Return
from vecdist.kernel.expressions import Call, Name
from vecdist.kernel.lower import schedule
from vecdist.kernel.statements import Assign, Store, carried
from vecdist.passes.expand import expand
from vecdist.passes.simplify import simplify
from vecdist.primitives.formulas import Formula
from vecdist.primitives.loops import Loop, local
from vecdist.primitives.table import PRIMITIVES

_shared: Memo[Routine] = Memo(64)


def is_call(item: Assign) -> bool:
    """Whether a statement is the call of a function."""
    return isinstance(item.op, Loop | Formula) or (item.op in PRIMITIVES and PRIMITIVES[item.op].expand is not None)


def called(item: Assign, spelled: Spelled) -> Call:
    """The call that a statement is, in the words of a target."""
    if isinstance(item.op, Loop):
        return loops.called(item.op, item.args, spelled)
    return Name(shared(item, spelled).name)(*item.args)


def routines(items: Iterable[Any], spelled: Spelled) -> Iterator[Routine]:
    """The functions that statements call."""
    statements = [item for item in items if isinstance(item, Assign)]
    yield from loops.routines(statements, spelled)
    asked = {(item.op, item.dtype): item for item in statements if not isinstance(item.op, Loop) and is_call(item)}
    yield from (shared(item, spelled) for item in asked.values())


def shared(item: Assign, spelled: Spelled) -> Routine:
    """A formula, or an elementary function of arguments of the dtype of its value."""
    return _shared((item.op, item.dtype, spelled), lambda: _made(item, spelled))


def _made(item: Assign, spelled: Spelled) -> Routine:
    root = item.op.root if isinstance(item.op, Formula) else _elementary(item)
    *statements, end = schedule((root,)).root.statements(0)
    assert isinstance(end, Store)
    given = {node.attrs[0]: node.dtype for node in topological((root,)) if node.op == "local"}
    kinds = [type_name(given.get(place, item.dtype)) for place in range(len(item.args))]
    parameters = tuple([carried(place).id for place in range(len(item.args))])
    ((made,), tables, needs) = inlined((Function("", parameters, (*spelled(statements), Return(end.value))),))
    needs = *needs, *routines(statements, spelled)
    result = type_name(item.dtype)
    told = repr((str(made), kinds, result, [each.name for each in needs]))
    name = f"{item.op}_{result}_{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    function = Function(name, parameters, made.body)
    return Routine(function, tables, tuple(kinds), (result,), needs, seldom=True, apart=True)


def _elementary(item: Assign) -> Node:
    """An elementary function, written out."""
    given = [local(place, item.dtype) for place in range(len(item.args))]
    (root,) = simplify(expand(simplify((Node(str(item.op), tuple(given), (), (), item.dtype),))))
    return root
