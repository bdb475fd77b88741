"""A scalar of a product of two small matrices, and its gradient in both: three products and a sum between them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import timing
from contest import Contest, double
from timing import Contender


def contest(chosen: Any) -> Contest:
    """Square matrices of uniform numbers, whose product has elements around 18 at the size of 72."""
    rng = np.random.default_rng(15)
    given = [rng.random((chosen.size, chosen.size)).astype(chosen.dtype) for _ in range(2)]
    title = f"-2.5 * sum(log1p(0.25 * (A @ B - 18)**2)) and its gradient, A and B of {chosen.size} x {chosen.size}"
    return Contest(title, chosen, given, 2, chosen.size**2, by_hand(np, *double(given)))


def by_formula(m: Any, a: Any, b: Any) -> Any:
    """The value, in a library ``m``."""
    return -2.5 * m.sum(m.log1p(0.25 * (a @ b - 18) ** 2))


def by_hand(m: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """Value and gradient, in a library ``m``."""
    u = a @ b - 18
    squares = 0.25 * u * u
    pull = -1.25 * u / (1 + squares)
    return -2.5 * m.sum(m.log1p(squares)), pull @ b.T, a.T @ pull


def by_vecdist(c: Contest) -> Contender:
    """The formula as it stands."""
    return c.vecdist(functools.partial(by_formula, np))


def by_jax(c: Contest) -> Contender:
    """The formula differentiated by JAX, jitted."""
    import jax.numpy as jnp

    return c.jax(functools.partial(by_formula, jnp))


def by_torch(c: Contest) -> Contender:
    """The formula differentiated by torch, through torch.compile."""
    import torch

    return c.torch(functools.partial(by_formula, torch))


def by_arrays(c: Contest) -> Contender:
    """Value and gradient by hand, with the BLAS of NumPy or CuPy."""
    return c.arrays(functools.partial(by_hand, timing.array_library(c.device)))


if __name__ == "__main__":
    c = contest(timing.options(__doc__, {"cpu": 72, "cuda": 72}))
    c.run(
        {
            "vecdist": lambda: by_vecdist(c),
            "JAX": lambda: by_jax(c),
            "torch.compile": lambda: by_torch(c),
            "CuPy, by hand" if c.device == "cuda" else "NumPy, by hand": lambda: by_arrays(c),
        }
    )
