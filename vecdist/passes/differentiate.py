"""Mixed-mode differentiation: dual numbers inside broadcasts, cotangents across structure.

Inside a maximal elementwise region the Jacobian is diagonal, so a value carries one partial derivative per *input of
the region*.  Where elements change place (sums, views, reshapes) cotangents flow in reverse.  Both are expressions like
any other; an absent derivative is structurally zero and is never multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from vecdist.graph.node import Node, cast, const, topological, where
from vecdist.passes.loop_derivatives import loop_partials
from vecdist.passes.recurrences import pulled, pushed
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.calls import pulled_back, pushed_forward
from vecdist.primitives.structure import STRUCTURE, full, is_reduction, sum_to
from vecdist.primitives.table import PRIMITIVES, partials_of

Duals = dict[Node, Node]
FEW = 4  # inputs of a region
SIGNS = {"add": (1, 1), "sub": (1, -1), "neg": (-1,)}


def gradient(root: Node, wrt: Sequence[Node], cotangent: Node | None = None) -> tuple[Node, ...]:
    """The derivative of ``sum(cotangent * root)`` in each leaf of ``wrt``, of the leaf's shape."""
    return pullback({root: const(1, root.dtype) if cotangent is None else cotangent}, wrt)


def pullback(seeds: Mapping[Node, Node], wrt: Sequence[Node]) -> tuple[Node, ...]:
    """The derivative of the sum of all roots, each times its cotangent, in each leaf of ``wrt``, of its shape."""
    nodes = list(topological(seeds))
    active = _above(nodes, wrt)
    leaves = set(wrt)
    duals = _region_duals(active, leaves, _ends(nodes))
    cotangents: Duals = {root: cotangent for root, cotangent in seeds.items() if root in active}
    together = _together(nodes)
    for node in reversed(nodes):
        if node.op in RULES:
            results = {each: cotangents[each] for each in together.get(node, ()) if each in cotangents}
            for source, term in RULES[node.op](results, active) if results else ():
                _accumulate(cotangents, source, term)
            continue
        incoming = cotangents.get(node)
        if incoming is None or node in leaves:
            continue
        if node.op in STRUCTURE:
            source, second = node.args[0], STRUCTURE[node.op].second
            if source in active:
                _accumulate(cotangents, source, STRUCTURE[node.op].adjoint(incoming, node))
            if second is not None and node.args[1] in active:
                _accumulate(cotangents, node.args[1], second[0](incoming, node))
        elif node.op in SIGNS and not node.shape:  # as a sum of many log densities, each a region of its own
            for source, sign in zip(node.args, SIGNS[node.op], strict=True):
                if source in active:
                    _accumulate(cotangents, source, _times(incoming, sign))
        else:
            for source, partial in duals(node).items():
                term = sum_to(_times(incoming, partial), node.shape, source.shape)
                _accumulate(cotangents, source, term)
    return tuple(_result(cotangents.get(leaf), leaf) for leaf in wrt)


def _of_calls(results: dict[Node, Node], active: set[Node]) -> Iterator[tuple[Node, Node]]:
    """The cotangents of the arguments of a call that need them."""
    args = next(iter(results)).args
    for source, term in zip(args, pulled_back(results), strict=True) if active.intersection(args) else ():
        if source in active and term is not None:
            yield source, term


RULES: dict[str, Callable[[dict[Node, Node], set[Node]], Iterator[tuple[Node, Node]]]] = {
    "recurrence": lambda results, active: pulled(results, active, pullback),
    "external": _of_calls,
}
"""Of operations with several results."""


def _together(nodes: Sequence[Node]) -> dict[Node, list[Node]]:
    """The results of each of these operations, by the first of them: behind all others, when cotangents run back."""
    found: dict[tuple, list[Node]] = {}
    for node in nodes:
        if node.op in RULES:
            found.setdefault((node.args, node.attrs[0]), []).append(node)
    return {results[0]: results for results in found.values()}


def _result(cotangent: Node | None, leaf: Node) -> Node:
    return full(const(0, leaf.dtype) if cotangent is None else cotangent, leaf.shape)


def partials(root: Node, wrt: Sequence[Node]) -> tuple[Node, ...]:
    """The elementwise derivative of ``root`` in each leaf of ``wrt``, of the shape of ``root``."""
    active = depending(root, wrt)
    mixed = next((n for n in topological((root,)) if n.op in STRUCTURE and _moved(n) & active), None)
    if mixed is not None:
        what = "a call" if mixed.op == "external" else f"a {mixed.op}"
        raise ValueError(
            f"value_and_partials wants an elementwise expression, but {what} stands between it and wrt; "
            "use vjp, or value_and_grad of a scalar"
        )
    found = _region_duals(active, set(wrt))(root) if root in active else {}
    zero = const(0, root.dtype)
    return tuple(full(found.get(leaf, zero), root.shape) for leaf in wrt)


def _moved(node: Node) -> set[Node]:
    """What a structural operation gives other places: its indices have no derivatives."""
    return {*node.args[: 1 if STRUCTURE[node.op].second is None else 2]}


def pushforward(root: Node, tangents: Mapping[Node, Node], guarded: bool = False) -> Node:
    """The directional derivative of ``root`` along ``tangents`` of the leaves.

    ``guarded``, a tangent of 0 contributes nothing, where a derivative is infinite too: it is multiplied by that of the
    whole region, which takes more instructions than to carry one tangent through.
    """
    dots = {leaf: cast(dot, leaf.dtype) for leaf, dot in tangents.items()}
    duals = _region_duals(depending(root, [*tangents]), set(tangents)) if guarded else None
    for node in topological((root,)):
        if node in dots:
            continue
        if node.op == "recurrence":
            dot = pushed(node, [dots.get(arg) for arg in node.args], lambda new, own: pushforward(new, own, guarded))
            dots |= {} if dot is None else {node: dot}
        elif node.op == "external":
            dot = pushed_forward(node, [dots.get(arg) for arg in node.args])
            dots |= {} if dot is None else {node: dot}
        elif node.op in STRUCTURE:
            source, second = node.args[0], STRUCTURE[node.op].second
            if source in dots:
                dots[node] = STRUCTURE[node.op].tangent(node, full(dots[source], source.shape))
            if second is not None and node.args[1] in dots:
                _accumulate(dots, node, second[1](node, full(dots[node.args[1]], node.args[1].shape)))
        elif duals is None:
            dot = _dot(node, tuple(dots.get(arg) for arg in node.args))
            if dot is not None:
                dots[node] = dot
        elif any(arg in dots for arg in node.args):
            for source, partial in duals(node).items():
                if source in dots:  # counts and places have none
                    _accumulate(dots, node, where(eq(dots[source], 0), 0, _times(dots[source], partial)))
    return full(dots.get(root, const(0, root.dtype)), root.shape)


def depending(root: Node, leaves: Sequence[Node]) -> set[Node]:
    """The nodes below ``root`` whose value depends on one of ``leaves``."""
    return _above(list(topological((root,))), leaves)


def _above(nodes: Sequence[Node], leaves: Sequence[Node]) -> set[Node]:
    """The numbers among ``nodes``, each behind its arguments, whose value depends on one of ``leaves``."""
    found = set(leaves)
    for node in nodes:
        if node.dtype.kind != "b" and any(arg in found for arg in node.args):
            found.add(node)
    return found & set(nodes)


def _ends(nodes: Sequence[Node]) -> set[Node]:
    """What may have a cotangent of its own: views and the like take it to other places, or many elements share it."""
    return {arg for node in nodes for arg in node.args if not is_reduction(node) and _is_end(arg, node)}


def _is_end(arg: Node, node: Node) -> bool:
    """Whether a node has a structure, or reads an element of an argument for several of its own."""
    return node.op in STRUCTURE or sum(dim != 1 for dim in arg.shape) < sum(dim != 1 for dim in node.shape)


def _region_duals(
    active: set[Node], leaves: set[Node], ends: Collection[Node] = ()
) -> Callable[[Node], Duals]:
    """A function giving the partials of a node in the inputs of its elementwise region.

    ``ends`` that depend on more than a few inputs are inputs of what is made of them: a region that goes on through
    them all, as steps that are written one after another do, has partials that grow with the square of their number.
    """
    known: dict[Node, Duals] = {}
    own: dict[Node, Duals] = {}

    def duals(root: Node) -> Duals:
        stack = [root]
        while stack:
            node = stack[-1]
            is_input = node in leaves or node.op in STRUCTURE
            args = [] if is_input else [arg for arg in node.args if arg in active]
            missing = [arg for arg in args if arg not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if node not in known:
                own[node] = {} if is_input else _combine(node, [known.get(arg, {}) for arg in node.args])
                cut = node in ends and len(own[node]) > FEW
                known[node] = {node: const(1, node.dtype)} if is_input or cut else own[node]
        return own[root] or known[root]

    return duals


def _combine(node: Node, args: Sequence[Duals]) -> Duals:
    """The partials of a node from those of its arguments."""
    result: Duals = {}
    for source in dict.fromkeys(source for dual in args for source in dual):
        dot = _dot(node, tuple(dual.get(source) for dual in args))
        if dot is not None:
            result[source] = dot
    return result


def _dot(node: Node, dots: tuple[Node | None, ...]) -> Node | None:
    """The tangent of ``node`` for the tangents of its arguments; ``None`` where it is zero."""
    if all(dot is None for dot in dots):
        return None
    entry = PRIMITIVES.get(node.op)
    if entry is not None and entry.tangent is not None:
        return entry.tangent(dots, *node.args, node)
    partials = loop_partials(node, dots, pushforward) if node.op == "loop" else partials_of(node)
    total: Node | None = None
    for place, (partial, dot) in enumerate(zip(partials, dots, strict=True)):
        if partial is not None and dot is not None:
            share = _share(node, place, dot)
            term = cast(_times(dot, partial) if share is None else _times(node, share), node.dtype)
            total = term if total is None else total + term
    return total


def _share(node: Node, place: int, dot: Node) -> Node | None:
    """The tangent of a product or quotient over it, by a reciprocal or a divisor of it, whose square may overflow."""
    arg = node.args[place]
    if node.op == "div" and place == 1:
        return -_times(dot, 1.0 / arg)
    inverse = node.op == "mul" and arg.op == "div" and arg.args[0].op == "const"
    return _over(dot, arg) if inverse else None


def _over(dot: Node, factor: Node) -> Node | None:
    """What is left of a product without one of its factors."""
    if dot.op == "neg":
        rest = _over(dot.args[0], factor)
        return None if rest is None else -rest
    if dot.op == "mul" and factor in dot.args:
        return dot.args[1] if dot.args[0] is factor else dot.args[0]
    return None


def _times(x: Node, factor: Node | float) -> Node:
    one = factor.is_const(1) if isinstance(factor, Node) else factor == 1
    if one:
        return x
    if not isinstance(factor, Node) and factor == -1:
        return -x
    if x.is_const(1) and isinstance(factor, Node):
        return factor
    return x * factor


def _accumulate(cotangents: Duals, node: Node, term: Node) -> None:
    term = cast(term, node.dtype)
    cotangents[node] = cotangents[node] + term if node in cotangents else term
