"""Replace primitives that have no target code by their expansions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, topological
from vecdist.passes.template import Template, templated
from vecdist.primitives.structure import STRUCTURE, rebuilt
from vecdist.primitives.table import PRIMITIVES

ELEMENTARY = frozenset({"exp", "expm1", "log", "log1p", "log_plus"})
MANY = 8  # scalars, from which on a function has code of its own
TEMPLATES = 512  # of primitives, for operands of some shapes and dtypes

_templates: Memo[Template] = Memo(TEMPLATES)


def to_elementary(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` in terms of elementary functions and of what both targets have code for."""
    return expand(roots, ELEMENTARY)


def expand_but_many(roots: Sequence[Node]) -> tuple[Node, ...]:
    """As ``expand``, but elementary functions of scalars are kept where there are many: each is a function's call.

    A logarithm written out is forty statements, which take as long to compile as they would run a thousand times.
    """
    scalars = [node for node in topological(roots) if node.op in ELEMENTARY and not node.shape]
    times = Counter((node.op, node.dtype) for node in scalars)
    return expand(roots, shared={node for node in scalars if times[node.op, node.dtype] >= MANY})


def expand(
    roots: Sequence[Node], kept: Collection[str] = frozenset(), shared: Collection[Node] = frozenset()
) -> tuple[Node, ...]:
    """``roots`` in terms of primitives that both targets have code for, or that are ``kept``, but for ``shared`` nodes.

    It comes after differentiation: the derivative of a function is a rule of the function, not of the polynomial that
    happens to compute it.  Expansions may use primitives that expand in turn.
    """
    final: dict[Node, Node] = {}
    _finish(roots, final, kept, shared)
    return tuple(final[root] for root in roots)


def _finish(
    roots: Sequence[Node], final: dict[Node, Node], kept: Collection[str], shared: Collection[Node] = frozenset()
) -> None:
    """Find what becomes of ``roots``, and of all that they need; what has its final form stands for itself."""
    missing = [root for root in roots if root not in final]
    for node in topological(missing, lambda node: [arg for arg in node.args if arg not in final]):
        args = tuple([final[arg] for arg in node.args])
        rule = None if node.op in kept or node in shared else _rule(node)
        result = rebuilt(node, args) if rule is None else _expanded(node, args, rule, final, kept)
        final[node] = final[result] = result


def _rule(node: Node) -> Callable[..., Node] | None:
    """The expansion of a primitive, or of a structural operation, where it has one."""
    entry = PRIMITIVES.get(node.op) or STRUCTURE.get(node.op)
    return None if entry is None else entry.expand


def _expanded(
    node: Node, args: tuple[Node, ...], rule: Callable[..., Node], final: dict[Node, Node], kept: Collection[str]
) -> Node:
    """What becomes of a node of these arguments; that of a primitive is written once for many of one layout.

    Rules may look at shapes, dtypes and constants, and at whether an argument is the negative of something.
    """

    def whole(given: Sequence[Node]) -> Node:
        root = rule(*given, *node.attrs)
        known = final if given is args else dict(zip(given, given, strict=True))
        _finish((root,), known, kept)
        return known[root]

    if node.attrs or any(arg.op == "neg" for arg in args):
        return whole(args)
    return templated(_templates, (node.op, kept), args, whole)
