"""Values whose derivatives a rule gives, whatever they are computed by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from vecdist.graph.node import Node, rewrite
from vecdist.graph.shapes import broadcast
from vecdist.primitives.structure import rebuilt
from vecdist.primitives.table import Primitive, primitive


@final
@dataclass(frozen=True)
class Rule:
    """For each of several values a row of its partial derivatives, ``None`` for zero: scalars over locals.

    These are the arguments, and behind them the values.
    """

    rows: tuple[tuple[Node | None, ...], ...]


def ruled(values: Sequence[Node], args: Sequence[Node], rule: Rule) -> tuple[Node, ...]:
    """``values`` of ``args``, with the derivatives of a rule in the place of their own."""
    given = (*values, *args)
    shape = broadcast(each.shape for each in given)
    return tuple([Node("ruled", given, (rule, place), shape, each.dtype) for place, each in enumerate(values)])


def _partials(*given: Node) -> tuple[Node | None, ...]:
    out = given[-1]
    rule, place = out.attrs
    count = len(rule.rows)
    known = (*out.args[count:], *ruled(out.args[:count], out.args[count:], rule))

    def stands(node: Node, args: tuple[Node, ...]) -> Node:
        return known[node.attrs[0]] if node.op == "local" else rebuilt(node, args)

    partials = [None if each is None else rewrite((each,), stands)[0] for each in rule.rows[place]]
    return (*[None] * count, *partials)


ruled_value: Primitive = primitive(  # of as many arguments as it is given
    "ruled", 0, expand=lambda *given: given[given[-1]], partials=_partials,
)
