"""Give an expression a leading axis: the same expression for many values of some of its leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import Dim, Shape, broadcast
from vecdist.passes.contractions import by_library, is_on_gpu
from vecdist.primitives import calls, recurrences
from vecdist.primitives.products import by_loops, product, transposed
from vecdist.primitives.scans import IN_ORDER
from vecdist.primitives.structure import Entry, full, is_reduction, rebuilt, reshape, view
from vecdist.primitives.windows import OVERLAPPING

MANY_AT_ONCE = {"recurrence": recurrences.batched, "external": calls.batched}


def vmap(roots: Sequence[Node], leaves: Mapping[Node, Node]) -> tuple[Node, ...]:
    """``roots`` where each leaf is replaced by one with a leading axis, which the results have too."""
    found = vmap_aligned(roots, leaves)
    return tuple(_without_gap(many, root.ndim) for many, root in zip(found, roots, strict=True))


def vmap_aligned(roots: Sequence[Node], leaves: Mapping[Node, Node]) -> tuple[Node, ...]:
    """As ``batch``, but the results have equally many axes: some of length 1, the gap, behind the leading one.

    So what is elementwise stays elementwise: no view stands between an expression and a leaf, which has the gap too
    where it is one of ``roots``.
    """
    length: Dim = next(iter(leaves.values())).shape[0]
    roots = rewrite(roots, lambda node, args: by_loops(*args) if node.op == "product" else rebuilt(node, args))
    above = _above(roots, leaves)
    rank = max(node.ndim for node in (*leaves, *above))
    new = {node: _with_gap(leaf, rank) for node, leaf in leaves.items()}
    leading = set(leaves)  # the others depend on the shapes of leaves alone, and are the same for all
    of_numbers = all(root.ndim == 0 for root in roots if root not in leaves)
    for node in above:
        args = tuple(new.get(arg, arg) for arg in node.args)
        has = [arg in leading for arg in node.args]
        if node.op == "extent" or not any(has):
            new[node] = Node(node.op, args, node.attrs, node.shape, node.dtype)
        elif pair := _matrix_and_vector(node, leading, length, of_numbers):
            new[node] = _with_gap(_product(pair[0], new[pair[1]]), rank)
            leading.add(node)
        else:
            new[node] = _batched(node, args, has, rank)
            leading.add(node)
    return tuple(full(new.get(root, root), _gapped(length, root.shape, rank)) for root in roots)


def _above(roots: Sequence[Node], leaves: Mapping[Node, Node]) -> list[Node]:
    """The nodes that need a leaf, each after its arguments."""
    found: dict[Node, None] = dict.fromkeys(leaves)
    for node in topological(roots):
        if any(arg in found for arg in node.args):
            found[node] = None
    return [node for node in found if node not in leaves]


def _batched(node: Node, args: tuple[Node, ...], leading: Sequence[bool], rank: int) -> Node:
    """``node`` on arguments of which those that are ``leading`` have the leading axis and the gap."""
    length = args[leading.index(True)].shape[0]
    shape = _gapped(length, node.shape, rank)
    if is_reduction(node):
        return Node(node.op, args, node.attrs, shape, node.dtype)
    if node.op in IN_ORDER:
        return Node(node.op, tuple([full(arg, shape) for arg in args]), node.attrs, shape, node.dtype)
    if node.op in {"view", "pad"}:
        return Node(node.op, args, (_shifted(node, rank),), shape, node.dtype)
    if node.op in OVERLAPPING:
        return Node(node.op, args, node.attrs, shape, node.dtype)
    if node.op == "reshape":
        return _with_gap(reshape(_without_gap(args[0], node.args[0].ndim), (length, *node.shape)), rank)
    if node.op in MANY_AT_ONCE:
        given = [
            _without_gap(arg, old.ndim) if has else arg
            for arg, old, has in zip(args, node.args, leading, strict=True)
        ]
        return _with_gap(MANY_AT_ONCE[node.op](node, given, leading, length), rank)
    if node.op in {"gather", "scatter"}:
        return _with_gap(_indexed(node, args, leading, length), rank)
    if node.op != "checked":  # whose checks need not broadcast into its value
        shape = broadcast(arg.shape for arg in args)
    return Node(node.op, args, node.attrs, shape, node.dtype)


def _matrix_and_vector(
    node: Node, leading: Collection[Node], count: Dim, of_numbers: bool
) -> tuple[Node, Node] | None:
    """The factors of a product of a matrix, the same for all, and a vector that is one of many; ``None`` for others.

    Together they are a product of two matrices.  Few small ones are read as fast by each, without calls of their own,
    and of those of unknown lengths nobody can say.  Where all is made ``of_numbers``, one of each, products are summed.
    """
    if node.op != "sum" or node.attrs != ((-1,),) or node.args[0].op != "mul":
        return None
    for matrix, vector in (node.args[0].args, node.args[0].args[::-1]):
        fits = matrix.shape == node.args[0].shape and matrix.ndim == 2 and vector.shape == matrix.shape[1:]
        if fits and matrix not in leading and vector in leading and matrix.dtype == vector.dtype == node.dtype:
            on_gpu = is_on_gpu(topological((matrix,)))
            library = by_library(matrix.shape, count, node.dtype, on_gpu, of_numbers)
            return (matrix, vector) if library else None
    return None


def _product(matrix: Node, vectors: Node) -> Node:
    """The products of a matrix and each vector, of shape (C, n, 1)."""
    found = product(_without_gap(vectors, 1), transposed(matrix))
    return view(found, [(0, 0, 1), (1, 0, 1)], (*found.shape, 1))


def _shifted(node: Node, rank: int) -> tuple[Entry, ...]:
    """The entries of a view, or a pad, between arrays with the leading axis and the gap."""
    (entries,), (arg,) = node.attrs, node.args
    source, target = (arg, node) if node.op == "view" else (node, arg)
    moved = 1 + rank - target.ndim
    gap: list[Entry] = [(None, 0, 1)] * (rank - source.ndim)
    return ((0, 0, 1), *gap, *((None if to is None else to + moved, start, step) for to, start, step in entries))


def _indexed(node: Node, args: tuple[Node, ...], leading: Sequence[bool], length: Dim) -> Node:
    """A gather or scatter with the leading axis, without the gap: the axis stands before the indexed ones."""
    start, count = node.attrs
    source = node.args[0]
    table, picked = (source, node) if node.op == "gather" else (node, source)
    most = picked.ndim - (table.ndim - start - count)
    first = _without_gap(args[0], source.ndim) if leading[0] else full(source, (length, *source.shape))
    indices = [
        _with_gap(_without_gap(arg, index.ndim), most) if has else arg
        for arg, index, has in zip(args[1:], node.args[1:], leading[1:], strict=True)
    ]
    return Node(node.op, (first, *indices), (start + 1, count), (length, *node.shape), node.dtype)


def _gapped(length: Dim, shape: Shape, rank: int) -> Shape:
    """The leading axis, as many axes of length 1 as make it ``rank`` axes more, and ``shape``."""
    return (length, *(1,) * (rank - len(shape)), *shape)


def _with_gap(x: Node, rank: int) -> Node:
    """``x``, whose first axis is the leading one, with the gap behind that."""
    gap = rank - (x.ndim - 1)
    entries = [(0, 0, 1), *((axis + gap, 0, 1) for axis in range(1, x.ndim))]
    return view(x, entries, _gapped(x.shape[0], x.shape[1:], rank))


def _without_gap(x: Node, ndim: int) -> Node:
    """``x`` with its leading axis and its last ``ndim`` axes."""
    gap = x.ndim - 1 - ndim
    entries: list[Entry] = [(0, 0, 1), *[(None, 0, 1)] * gap, *((1 + axis, 0, 1) for axis in range(ndim))]
    return view(x, entries, (x.shape[0], *x.shape[1 + gap :]))
