"""Recurrences as users write them: a step of one carry and one element, run along the leading axis of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import Leaf, is_weak
from vecdist.graph.node import Node, cast, rewrite, topological, where
from vecdist.graph.shapes import Dim
from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.passes.entries import by_entries
from vecdist.passes.linear_steps import Linear, linear
from vecdist.passes.peeling import peeled
from vecdist.passes.recurrences import Carry, Running, running, spread
from vecdist.primitives.products import by_loops
from vecdist.primitives.structure import full, rebuilt, view

Step = Callable[[Any, Any], tuple[Any, Any]]


def scan(
    step: Step, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False, mask: Any = None
) -> tuple[Any, Any]:
    """Run ``carry, y = step(carry, x)`` along the leading axis of ``xs``: the last carry, and all ``y`` stacked.

    carry_{t+1}, y_t = step(carry_t, x_t), with carry_0 = ``init``, for t = 0, ..., T - 1, or from T - 1 down to 0 where
    ``reverse``; y_t stands at t in either case.  A carry, an x and a y are an array each, ``None``, or tuples, lists or
    dictionaries of them.  ``step`` is called on lazy arrays, a few times, to learn what it does; arrays from around it
    may be lazy, and derivatives are in everything.  Where it works on all elements of leading axes alike, these are
    run side by side; what does not depend on the carry is computed outside, for all steps at once.

    Every array of ``xs`` has shape (T, ...), every y is stacked to that; ``length`` is T where there is no ``xs``.
    ``mask``, of shape (T, ...) with axes like the leading ones of carries, says which steps are taken: elsewhere the
    carry stays and y is 0, as behind the end of the shorter of several series.  Carries keep their shapes and dtypes; a
    Python number to begin with takes that of its step.  Raises ``ValueError`` where lengths differ, or there is none,
    and ``TypeError`` where a step gives a carry another shape, dtype or structure.  After ``jax.lax.scan``.

    >>> import numpy as np, vecdist
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> last, sums = vecdist.scan(lambda total, x: (total + x, total + x), 0.0, x)
    >>> float(last), np.asarray(sums).tolist()
    (6.0, [1.0, 3.0, 6.0])
    >>> decay = np.array(0.5)
    >>> level, _ = vecdist.scan(lambda level, x: (decay * level + x, None), 0.0, x)
    >>> vecdist.value_and_grad(level, wrt=decay)
    (np.float64(4.25), np.float64(3.0))
    """
    elements = [as_lazy(x).node for x in flat(xs)]
    steps = _steps(elements, length)
    written = _Written.settled(step, init, xs, [_token(node.shape[1:], node.dtype) for node in elements])
    given = dict(zip(written.elements, elements, strict=True))
    if mask is not None:
        written = written.masked(cast(as_lazy(mask).node, np.bool_), steps, given)
    found = _Found(written, given, steps, reverse)
    last = [LazyArray(node) for node in found.lasts()]
    return built(init, last), built(written.y, [LazyArray(node) for node in found.stacked(written.outs)])


@final
@dataclass(frozen=True)
class _Written:
    """A step as it was traced: what stands for its arguments, and what it makes of them."""

    carries: list[Node]
    starts: list[Node]
    elements: Sequence[Node]
    news: list[Node]
    outs: list[Node]
    y: Any

    @staticmethod
    def settled(step: Step, init: Any, xs: Any, elements: Sequence[Node]) -> _Written:
        """The step with carries that keep their dtypes: those of Python numbers follow from what they meet."""
        starts = [*flat(init)]
        nodes, weak = [as_lazy(start).node for start in starts], [is_weak(start) for start in starts]
        met = {node.dtype for node, w in zip(nodes, weak, strict=True) if not w} | {node.dtype for node in elements}
        least = np.dtype(np.float32 if {np.dtype("f4"), np.dtype("f8")} & met == {np.dtype("f4")} else np.float64)
        own = [least if w and n.dtype.kind == "f" else n.dtype for w, n in zip(weak, nodes, strict=True)]
        while True:
            carries = [_token(node.shape, dtype) for node, dtype in zip(nodes, own, strict=True)]
            carry, y = _called(step, built(init, map(LazyArray, carries)), built(xs, map(LazyArray, elements)))
            news, outs = _nodes(carry, init), [_without_products(as_lazy(out).node) for out in flat(y)]
            wider = [new.dtype if w else dtype for w, new, dtype in zip(weak, news, own, strict=True)]
            if wider == own:
                break
            own = wider
        for number, (new, token) in enumerate(zip(news, carries, strict=True)):
            _check_carry(number, token, new)
        starts = [cast(node, dtype) for node, dtype in zip(nodes, own, strict=True)]
        return _Written(carries, starts, elements, news, outs, y)

    def masked(self, taken: Node, steps: Dim, given: dict[Node, Node]) -> _Written:
        """The same where only the steps are made that are ``taken``, which are given to it."""
        _check_mask(taken.shape, steps, self.carries)
        token = _token(taken.shape[1:], taken.dtype)
        given[token] = taken
        news = [_masked(token, *each) for each in zip(self.news, self.carries, strict=True)]
        return replace(self, news=news, outs=[_masked(token, out, 0) for out in self.outs])


def _call(run: Running) -> Node | None:
    """A call that steps would have to make."""
    return next((node for node in topological(run.step.news) if node.op == "external"), None)


def _unchecked(news: Sequence[Node]) -> tuple[Node, ...]:
    """What is computed where parameters are right."""
    return rewrite(news, lambda node, args: args[0] if node.op == "checked" else rebuilt(node, args))


@final
class _Found:
    """The results of a recurrence of traced nodes, with the checks of parameters that stand in its step."""

    def __init__(self, written: _Written, given: dict[Node, Node], steps: Dim, back: bool) -> None:
        self.carries, self.starts, news = written.carries, written.starts, written.news
        self.given, self.steps = given, steps
        run = self.running(_unchecked(news), given, steps, back)
        if run is not None and _call(run) is not None:  # of small matrices, perhaps
            news = list(by_entries(news))
            run = self.running(_unchecked(news), given, steps, back)
        self.checks = [node for node in topological(news) if node.op == "checked"]
        if run is not None and any(node.op == "recurrence" for node in topological(run.step.news)):
            raise NotImplementedError(
                "a scan in the step of another, of the other's carry, cannot be run; write one scan whose carry holds "
                "both, or unroll the inner one"
            )
        call = None if run is None else _call(run)
        if call is not None:
            raise NotImplementedError(
                f"{call.attrs[0]} is a call between kernels: of a carry no step can make it; loop over steps in Python"
            )
        rows = None if run is None else peeled(run)
        self.run: Running | Linear | None = None if rows is None else linear(rows) or rows

    def running(self, news: Sequence[Node], given: dict[Node, Node], steps: Dim, back: bool) -> Running | None:
        each = [Carry(*known) for known in zip(self.carries, self.starts, news, strict=True)]
        return running(each, given, {}, steps, backwards=back) if each else None

    def lasts(self) -> Iterator[Node]:
        for place, start in enumerate(self.starts):
            assert self.run is not None
            yield self.checked(full(self.run.last(place), start.shape))

    def stacked(self, outs: Sequence[Node]) -> Iterator[Node]:
        """What steps give beside their carries, for all of them."""
        if outs:
            for out, node in zip(outs, self.whole(outs), strict=True):
                yield self.checked(full(node, (self.steps, *out.shape)))

    def whole(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        run = self.run
        before = {} if run is None else {token: run.before(place) for place, token in enumerate(self.carries)}
        return spread(nodes, self.given | before, {}, 0)

    def checked(self, value: Node) -> Node:
        """A result whose parameters are checked in every step."""
        for node in self.checks:
            value = Node("checked", (value, *self.whole(node.args[1:])), node.attrs, value.shape, value.dtype)
        return value


def _token(shape: tuple[Dim, ...], dtype: np.dtype) -> Node:
    """What stands for an array of which ``step`` is told nothing but its shape and dtype."""
    example = np.broadcast_to(np.zeros((), dtype), [int(dim) for dim in shape])
    return Node("leaf", (), (Leaf(None, example, "numpy", "a step's argument", traced=True),), shape, dtype)


def _called(step: Step, carry: Any, x: Any) -> tuple[Any, Any]:
    result = step(carry, x)
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(f"a step returns two results, a carry and a y (which may be None); it returned {result!r}")
    return result


def _nodes(carry: Any, init: Any) -> list[Node]:
    """The arrays of a carry, of the structure of ``init``."""
    if _structure(carry) != _structure(init):
        raise TypeError(f"a step returned a carry {_structure(carry)} where {_structure(init)} was given")
    return [_without_products(as_lazy(new).node) for new in flat(carry)]


def _without_products(root: Node) -> Node:
    """An expression whose products of matrices are sums."""
    (found,) = rewrite((root,), lambda node, args: by_loops(*args) if node.op == "product" else rebuilt(node, args))
    return found


def _check_carry(number: int, token: Node, new: Node) -> None:
    if new.shape != token.shape or new.dtype != token.dtype:
        raise TypeError(
            f"array {number} of the carry has shape {token.shape} and dtype {token.dtype}, but the step makes it "
            f"{new.shape} and {new.dtype}; begin with an array of that shape and dtype, or convert in the step"
        )


def _check_mask(shape: tuple[Dim, ...], steps: Dim, carries: Sequence[Node]) -> None:
    for carry in carries:
        pairs = list(zip(shape[1:], carry.shape, strict=False))
        fits = len(pairs) == len(shape[1:]) and all(own in (1, dim) for own, dim in pairs)
        if shape[:1] != (steps,) or not fits:
            raise ValueError(
                f"a mask of shape {shape} does not fit {steps} steps and leading axes of a carry of shape {carry.shape}"
            )


def _masked(token: Node, yes: Node, no: Node | int) -> Node:
    """``yes`` where a step is taken."""
    shape = (*token.shape, *(1,) * (yes.ndim - token.ndim))
    return where(view(token, [(axis, 0, 1) for axis in range(token.ndim)], shape), yes, no)


def _steps(elements: Sequence[Node], length: int | None) -> int:
    for node in elements:
        if not node.ndim:
            raise ValueError("every array of xs wants a leading axis, of steps")
    lengths = [int(node.shape[0]) for node in elements] + ([] if length is None else [int(length)])
    if not lengths:
        raise ValueError("a scan without xs wants its length")
    if len(set(lengths)) > 1:
        raise ValueError(f"the leading axes of xs, and length, differ: {', '.join(map(str, lengths))}")
    return lengths[0]


def flat(tree: Any) -> Iterator[Any]:
    """The arrays of nested tuples, lists and dictionaries."""
    if isinstance(tree, Mapping):
        for key in tree:
            yield from flat(tree[key])
    elif isinstance(tree, tuple | list):
        for each in tree:
            yield from flat(each)
    elif tree is not None:
        yield tree


def built(tree: Any, arrays: Any) -> Any:
    """Nested tuples, lists and dictionaries like ``tree``, of other arrays."""
    arrays = iter(arrays)

    def like(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {key: like(part[key]) for key in part}
        if isinstance(part, tuple | list):
            each = [like(item) for item in part]
            return type(part)(*each) if hasattr(part, "_fields") else type(part)(each)
        return None if part is None else next(arrays)

    return like(tree)


def _structure(tree: Any) -> Any:
    """What a tree is but for its arrays."""
    if isinstance(tree, Mapping):
        return {key: _structure(tree[key]) for key in tree}
    if isinstance(tree, tuple | list):
        return type(tree)([_structure(each) for each in tree]) if not hasattr(tree, "_fields") else type(tree).__name__
    return None if tree is None else "array"
