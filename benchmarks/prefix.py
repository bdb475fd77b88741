"""Running results along an axis: sums, products with their gradient, and linear recurrences with theirs.

One long row, many rows whose elements lie together, and many whose neighbours do.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import timing
from contest import Contest
from timing import Contender

ROWS = 1024


@dataclass(frozen=True)
class Layout:
    """Where elements lie: those of a row along ``axis`` of arrays of this shape."""

    name: str
    shape: tuple[int, ...]
    axis: int


def layouts(size: int) -> list[Layout]:
    """The same number of elements in each."""
    return [
        Layout("one row", (size,), 0),
        Layout(f"{ROWS} rows", (ROWS, size // ROWS), 1),
        Layout(f"{ROWS} columns", (size // ROWS, ROWS), 0),
    ]


def drawn(chosen: Namespace, layout: Layout, count: int) -> list[np.ndarray]:
    """Standard normal numbers."""
    rng = np.random.default_rng(17)
    return [rng.standard_normal(layout.shape, dtype=np.float32).astype(chosen.dtype) for _ in range(count)]


def sums(chosen: Namespace, layout: Layout) -> Contest:
    """Running sums alone: read and written once."""
    (x,) = drawn(chosen, layout, 1)
    wanted = np.cumsum(x.astype(np.float64), layout.axis)
    title = f"cumsum, {layout.name}"
    return Contest(title, chosen, [x], 0, x.size, [wanted], partials=True, moved=2 * x.nbytes)


def products(chosen: Namespace, layout: Layout) -> Contest:
    """A weighted sum of running products, and its gradient in the factors, which are around 1."""
    x, weights = drawn(chosen, layout, 2)
    x = np.exp(x * np.asarray(1e-3, x.dtype))
    found = np.cumprod(x.astype(np.float64), layout.axis)
    slope = from_the_end(np, found * weights, layout.axis) / x
    wanted = [np.sum(found * weights), slope]
    title = f"sum of weighted cumprod and its gradient, {layout.name}"
    return Contest(title, chosen, [x, weights], 1, x.size, wanted, moved=3 * x.nbytes)


def recurrences(chosen: Namespace, layout: Layout) -> Contest:
    """A weighted sum of h = a h + b, and its gradient in a and b."""
    a, b, weights = drawn(chosen, layout, 3)
    a = np.tanh(a)
    h, pull = np.zeros(a.shape), np.zeros(a.shape)
    along = [np.moveaxis(array, layout.axis, 0) for array in (a, b, weights, h, pull)]
    steps = range(along[0].shape[0])
    state, cotangent = np.zeros(along[0].shape[1:]), np.zeros(along[0].shape[1:])
    for t in steps:
        state = along[3][t] = along[0][t] * state + along[1][t]
    for t in reversed(steps):
        cotangent = along[4][t] = along[2][t] + cotangent
        cotangent = cotangent * along[0][t]
    before = np.roll(h, 1, layout.axis)
    np.moveaxis(before, layout.axis, 0)[:1] = 0
    wanted = [np.sum(h * weights), pull * before, pull]
    title = f"sum of weighted h = a h + b and its gradient, {layout.name}"
    return Contest(title, chosen, [a, b, weights], 2, a.size, wanted, moved=5 * a.nbytes)


def from_the_end(m: Any, x: Any, axis: int) -> Any:
    """The sum of each element and those behind it."""
    return m.flip(m.cumsum(m.flip(x, axis), axis), axis)


def recurrence(scan: Callable[..., Any], a: Any, b: Any) -> Any:
    """h = a h + b along the first axis, step by step."""
    return scan(lambda h, ab: (ab[0] * h + ab[1],) * 2, 0 * b[0], (a, b))[1]


def of_sums(c: Contest, axis: int) -> dict[str, Callable[[], Contender]]:
    """The running sum of each library."""
    xp = timing.array_library(c.device)

    def by_vecdist() -> Contender:
        import vecdist

        given = [xp.asarray(array) for array in c.given]
        fast = vecdist.compile(lambda x: np.cumsum(x, axis))
        return Contender(lambda: fast(*given), timing.wait_for(c.device))

    def by_jax() -> Contender:
        import jax.numpy as jnp

        return c.jitted(lambda x: jnp.cumsum(x, axis))

    def by_torch() -> Contender:
        return c.torched(lambda x: x.cumsum(axis))

    return {
        "vecdist": by_vecdist, "JAX": by_jax, "torch.compile": by_torch,
        library(c): lambda: c.arrays(lambda x: xp.cumsum(x, axis)),
    }  # fmt: skip


def of_products(c: Contest, axis: int) -> dict[str, Callable[[], Contender]]:
    """The formula differentiated by each library, or by hand, where nothing may be zero."""
    xp = timing.array_library(c.device)

    def by_hand(x: Any, weights: Any) -> tuple[Any, Any]:
        found = xp.cumprod(x, axis) * weights
        return found.sum(), from_the_end(xp, found, axis) / x

    def by_jax() -> Contender:
        import jax.numpy as jnp

        return c.jax(lambda x, weights: (jnp.cumprod(x, axis) * weights).sum())

    return {
        "vecdist": lambda: c.vecdist(lambda x, weights: (np.cumprod(x, axis) * weights).sum()),
        "JAX": by_jax,
        "torch.compile": lambda: c.torch(lambda x, weights: (x.cumprod(axis) * weights).sum()),
        f"{library(c)}, by hand": lambda: c.arrays(by_hand),
    }


def of_recurrences(c: Contest, axis: int) -> dict[str, Callable[[], Contender]]:
    """By scans of vecdist and JAX, and by JAX's associative scan."""

    def by_vecdist() -> Contender:
        import vecdist

        return c.vecdist(lambda a, b, weights: (recurrence(vecdist.scan, a.T, b.T).T * weights).sum()
                         if axis else (recurrence(vecdist.scan, a, b) * weights).sum())

    def by_jax() -> Contender:
        import jax

        def combined(first: Any, second: Any) -> tuple[Any, Any]:
            return second[0] * first[0], second[0] * first[1] + second[1]

        def value(a: Any, b: Any, weights: Any) -> Any:
            return (jax.lax.associative_scan(combined, (a, b), axis=axis)[1] * weights).sum()

        return c.jax(value)

    return {"vecdist": by_vecdist, "JAX, associative_scan": by_jax}


def library(c: Contest) -> str:
    """The array library of the device."""
    return "CuPy" if c.device == "cuda" else "NumPy"


RACES: Sequence[tuple[Callable[..., Contest], Callable[..., dict[str, Callable[[], Contender]]]]] = [
    (sums, of_sums), (products, of_products), (recurrences, of_recurrences),
]  # fmt: skip

if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**22, "cuda": 2**24})
    for contest, contenders in RACES:
        for layout in layouts(chosen.size):
            c = contest(chosen, layout)
            c.run(contenders(c, layout.axis))
