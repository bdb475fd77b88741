"""Values with their derivatives, each from one launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.graph.leaves import NUMBERS
from vecdist.graph.node import Node, below
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import Expression, LazyArray, Operand, Wrt, as_lazy
from vecdist.lazy.exits import warn_of_lost
from vecdist.lazy.on_device import to_device
from vecdist.passes.derivations import Derivation, gradient_of, partials_of
from vecdist.passes.outline import outline
from vecdist.runtime import pipeline

AT_ONCE = ". A NumPy function of a plain array is computed at once, and is a constant: np.exp(a); write np.exp(lazy(a))"


def value_and_grad(scalar: Expression, wrt: Wrt) -> tuple[Any, Any]:
    """A scalar expression and its gradient in each array of ``wrt``, from one kernel.

    ``wrt`` is an array of the expression, the name of one, or a tuple of them; the gradients come likewise, each of its
    array's shape and dtype.  Raises ``ValueError`` where the expression is no scalar or does not contain an array.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> mu = np.array(0.5)
    >>> target = vecdist.logpdf(Normal(mu, 1.0), np.array([1.0, 2.0])).sum()
    >>> value, (grad,) = vecdist.value_and_grad(target, wrt=(mu,))
    >>> round(float(value), 4), float(grad)
    (-3.0879, 2.0)
    """
    scalar = _known_lazy(scalar)
    if scalar.shape != ():
        raise ValueError(
            f"value_and_grad wants a scalar, given an expression of shape {scalar.shape}; sum it, or use "
            "value_and_partials for elementwise derivatives, or vjp with a cotangent"
        )
    return _with_derivatives(scalar, wrt, gradient_of, lambda node: node.shape)


def value_and_partials(expr: Expression, wrt: Wrt) -> tuple[Any, Any]:
    """An elementwise expression and its partial derivative in each array of ``wrt``, of the expression's shape.

    Element ``i`` of a partial is the derivative of element ``i`` of the value in the element of the array that was
    broadcast to it; nothing is summed.
    """
    found = _known_lazy(expr)
    return _with_derivatives(found, wrt, partials_of, lambda node: found.shape)


def vjp(expr: Expression, wrt: Wrt, cotangent: Operand) -> tuple[Any, Any]:
    """The value of ``expr``, and the gradient of ``sum(cotangent * expr)`` in each array of ``wrt``."""
    expr = _known_lazy(expr)
    seed = as_lazy(cotangent)
    if not _fits(seed.shape, expr.shape):
        raise ValueError(f"a cotangent of shape {seed.shape} does not fit an expression of shape {expr.shape}")
    tied = like(seed.astype(expr.dtype).node, expr.node)
    return _with_derivatives(expr, wrt, Derivation("vjp"), lambda node: node.shape, (tied,))


def jvp(expr: Expression, wrt: Wrt, tangents: Operand | Sequence[Operand]) -> tuple[Any, Any]:
    """The value of ``expr``, and its derivative along ``tangents`` (one per array of ``wrt``)."""
    expr = _known_lazy(expr)
    leaves = leaves_of(expr, wrt)
    seeds = _seeds(leaves, tangents if isinstance(wrt, tuple | list) else (tangents,))
    roots = (expr.node, *leaves, *seeds)
    value, derivative = _pushed("jvp", roots, (expr.shape, expr.shape))
    return value, derivative


def hvp(scalar: Expression, wrt: Wrt, tangents: Operand | Sequence[Operand]) -> Any:
    """The Hessian of a scalar expression times ``tangents``: one array per array of ``wrt``.

    An infinite second derivative times a tangent of 0 is 0.
    """
    scalar = _known_lazy(scalar)
    leaves = _scalar_leaves(scalar, wrt)
    several = isinstance(wrt, tuple | list)
    seeds = _seeds(leaves, tangents if several else (tangents,))
    found = _pushed("hvp", (scalar.node, *leaves, *seeds), _shapes(leaves))
    return tuple(found) if several else found[0]


def hessian(scalar: Expression, wrt: Wrt) -> Any:
    """All second derivatives of a scalar expression, from one kernel; some may be infinite.

    For arrays ``a, b`` in ``wrt`` the block ``[i][j]`` has the shape ``a.shape + b.shape``; a single array gives a
    single block.
    """
    scalar = _known_lazy(scalar)
    leaves = _scalar_leaves(scalar, wrt)
    each = _shapes(leaves)
    sizes = [int(np.prod(shape, dtype=np.int64)) for shape in each]
    seeds = _unit_tangents(leaves, sizes, scalar.device)
    shapes = [(sum(sizes), *shape) for shape in each]
    columns = _pushed("hessian", (scalar.node, *leaves, *seeds), shapes)
    ends = np.cumsum([0, *sizes])
    blocks = tuple(
        tuple(
            _moved(columns[i][ends[j] : ends[j + 1]], each[i], each[j])
            for j in range(len(leaves))
        )
        for i in range(len(leaves))
    )
    return blocks if isinstance(wrt, tuple | list) else blocks[0][0]


def hessian_diagonal(scalar: Expression, wrt: Wrt) -> Any:
    """The second derivatives of a scalar expression in each element of an array twice, of that array's shape.

    What stands on the diagonal of ``hessian``, which is not stored: from one kernel, which goes through the expression
    once for each element.  An array for each array of ``wrt``.  Raises ``ValueError`` where ``value_and_grad`` does.

    >>> import numpy as np, vecdist
    >>> x = np.array([1.0, 2.0])
    >>> vecdist.hessian_diagonal((vecdist.lazy(x) ** 3).sum(), wrt=x)
    array([ 6., 12.])
    """
    scalar = _known_lazy(scalar)
    leaves = _scalar_leaves(scalar, wrt)
    shapes = _shapes(leaves)
    sizes = [int(np.prod(shape, dtype=np.int64)) for shape in shapes]
    seeds = [_unit_tangents([leaf], [size], scalar.device)[0] for leaf, size in zip(leaves, sizes, strict=True)]
    found = _pushed("hessian diagonal", (scalar.node, *leaves, *seeds), shapes)
    return tuple(found) if isinstance(wrt, tuple | list) else found[0]


def jacobian(expr: Expression, wrt: Wrt) -> Any:
    """All first derivatives of an expression, from one kernel: an array for each array of ``wrt``.

    That of an array ``a`` has the shape ``expr.shape + a.shape``, and the dtype of ``expr``.  Raises ``ValueError``
    where the expression does not contain an array.

    >>> import numpy as np, vecdist
    >>> X, beta = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, 1.0])
    >>> vecdist.jacobian((X @ vecdist.lazy(beta)) ** 2, wrt=beta)
    array([[ 6., 12.],
           [ 0., 18.]])
    """
    found = _known_lazy(expr)
    leaves = leaves_of(found, wrt)
    each, rows = _shapes(leaves), tuple(int(length) for length in found.shape)
    sizes = [int(np.prod(shape, dtype=np.int64)) for shape in each]
    seeds = _unit_tangents(leaves, sizes, found.device)
    (columns,) = _pushed("jacobian", (found.node, *leaves, *seeds), [(sum(sizes), *rows)])
    ends = np.cumsum([0, *sizes])
    blocks = tuple(_moved(columns[ends[j] : ends[j + 1]], rows, each[j]) for j in range(len(leaves)))
    return blocks if isinstance(wrt, tuple | list) else blocks[0]


def _shapes(leaves: Sequence[Node]) -> list[tuple[int, ...]]:
    """The shapes of leaves, whose lengths are known."""
    return [tuple(int(length) for length in leaf.shape) for leaf in leaves]


def _moved(block: Any, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """A block whose first axis counts the columns, as one of shape ``rows + columns``."""
    axes = (*range(1, len(rows) + 1), 0)
    return block.transpose(axes).reshape((*rows, *columns))[()]


def _unit_tangents(leaves: Sequence[Node], sizes: Sequence[int], device: str) -> list[Node]:
    """For each leaf, one tangent per direction of all leaves: the rows of an identity matrix."""
    identity = np.eye(sum(sizes))
    on_device = (lambda array: array) if device == "cpu" else to_device
    directions = as_lazy(on_device(np.empty(sum(sizes))))
    ends = np.cumsum([0, *sizes])
    seeds = []
    for leaf, shape, start, end in zip(leaves, _shapes(leaves), ends[:-1], ends[1:], strict=True):
        rows = identity[:, start:end].reshape((sum(sizes), *shape)).astype(leaf.dtype)
        each = directions[(slice(None), *[None] * leaf.ndim)]
        seeds.append(like(as_lazy(on_device(rows)).node, leaf, each.node))
    return seeds


def _with_derivatives(
    expr: LazyArray,
    wrt: Any,
    derivation: Derivation,
    shape: Callable[[Node], Sequence],
    seeds: Sequence[Node] = (),
) -> tuple[Any, Any]:
    known = None if seeds else outline((expr.node,))
    leaves = leaves_of(expr, wrt, known and known.nodes)
    shapes = [expr.shape, *(shape(leaf) for leaf in leaves)]
    roots = (expr.node, *seeds, *leaves)
    value, *found = pipeline.evaluate(roots, derivation, shapes, found=known and known.beside(leaves))
    derivatives = tuple(found)
    return value, derivatives if isinstance(wrt, tuple | list) else derivatives[0]


def _scalar_leaves(scalar: LazyArray, wrt: Any) -> list[Node]:
    if scalar.shape != ():
        raise ValueError(f"second derivatives want a scalar, given an expression of shape {scalar.shape}")
    return leaves_of(scalar, wrt)


def _seeds(leaves: Sequence[Node], tangents: Any) -> list[Node]:
    if len(tangents) != len(leaves):
        raise ValueError(f"{len(leaves)} arrays in wrt, but {len(tangents)} tangents")
    seeds = [as_lazy(tangent).astype(leaf.dtype) for leaf, tangent in zip(leaves, tangents, strict=True)]
    for seed, leaf in zip(seeds, leaves, strict=True):
        if seed.shape != leaf.shape:
            raise ValueError(f"a tangent of shape {seed.shape} for an array of shape {leaf.shape}")
    return [like(seed.node, leaf) for seed, leaf in zip(seeds, leaves, strict=True)]


def _fits(shape: Sequence[int], into: Sequence[int]) -> bool:
    """Whether an array of ``shape`` broadcasts to ``into``."""
    return len(shape) <= len(into) and all(a in (1, b) for a, b in zip(shape[::-1], into[::-1], strict=False))


def like(seed: Node, *others: Node) -> Node:
    """``seed``, known to have the lengths of ``others``: binding gives all of them the same symbols."""
    return Node("like", (seed, *others), (), broadcast(n.shape for n in (seed, *others)), seed.dtype)


def _known_lazy(expr: Any) -> LazyArray:
    if not isinstance(expr, LazyArray):
        raise TypeError(f"derivatives are those of a lazy array, given {type(expr).__name__}; vecdist.lazy makes one")
    return expr


def leaves_of(expr: LazyArray, wrt: Wrt, nodes: Sequence[Node] | None = None) -> list[Node]:
    """The leaves that ``wrt`` names, each of which the expression must contain."""
    expr = _known_lazy(expr)
    nodes = nodes or below((expr.node,))
    present = [node for node in nodes if node.op == "leaf"]
    found = [_leaf(item, present) for item in (wrt if isinstance(wrt, tuple | list) else (wrt,))]
    warn_of_lost(nodes, found)
    return found


def _leaf(item: Any, present: Sequence[Node]) -> Node:
    if isinstance(item, (*NUMBERS, np.generic)):
        raise TypeError(
            f"wrt names the number {item!r}; make it an array first, np.asarray({item!r}), and the expression of that"
        )
    if isinstance(item, str):
        found = [node for node in present if node.attrs[0].name == item]
    elif isinstance(item, LazyArray):
        found = [node for node in present if node is item.node]
    else:
        found = [node for node in present if node.attrs[0].given is item]
    if not found:
        inside = ", ".join(repr(node.attrs[0]) for node in present if node.attrs[0].kind != "number")
        raise ValueError(
            f"wrt names {_described(item)}, which is not in the expression; its arrays are: {inside or 'none'}"
            + ("" if isinstance(item, str | LazyArray) else AT_ONCE)
        )
    if len(found) > 1:
        names = " and ".join(repr(node.attrs[0]) for node in found)
        raise ValueError(f"wrt names {_described(item)}, which the expression holds as {names}; name one of them")
    if found[0].attrs[0].constant:
        raise ValueError(f"wrt names {_described(item)}, which is marked as data: it never changes")
    if found[0].dtype.kind != "f":
        raise TypeError(f"derivatives are in floating-point arrays; wrt names one of dtype {found[0].dtype}")
    return found[0]


def _described(item: Any) -> str:
    if isinstance(item, str):
        return f"the name {item!r}"
    if not hasattr(item, "shape"):
        return repr(item)
    inner = isinstance(item, LazyArray) and item.node.op != "leaf"
    return f"{'an expression' if inner else 'an array'} of shape {item.shape} and dtype {item.dtype}"


def _pushed(rule: str, roots: Sequence[Node], shapes: Sequence[Sequence[int]]) -> list[Any]:
    """What a rule along tangents gives: a guarded one where there is any NaN, as of 0 times infinity, without."""
    found = pipeline.evaluate(roots, Derivation(rule), shapes)
    if any(np.isnan(each).any() for each in found):
        return pipeline.evaluate(roots, Derivation(rule, guarded=True), shapes)
    return found
