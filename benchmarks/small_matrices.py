"""Log densities of vectors by covariances of 9 to 32 rows, and gradients in locations and covariances, beside JAX.

One vector, and thousands with a covariance each, as chains have them.
"""

from __future__ import annotations

import functools
from argparse import Namespace
from typing import Any

import numpy as np
import timing
from contest import Contest
from timing import Contender

SHAPES = ((1, 9), (1, 16), (1, 32), (4096, 9), (4096, 16), (4096, 32))  # vectors, elements of each


def by_lazy(loc: Any, covariance: Any, x: Any) -> Any:
    """The log density by vecdist's distribution."""
    from vecdist import logpdf
    from vecdist.distributions import MvNormal

    return logpdf(MvNormal(loc, covariance), x).sum()


def by_jax(loc: Any, covariance: Any, x: Any) -> Any:
    """The log density by JAX's linear algebra."""
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    factor = jnp.linalg.cholesky(covariance)
    z = solve_triangular(factor, (x - loc)[..., None], lower=True)
    volume = jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1)).sum()
    return -0.5 * (z * z).sum() - volume - 0.5 * x.size * jnp.log(2.0 * jnp.pi)


def by_hand(loc: np.ndarray, covariance: np.ndarray, x: np.ndarray) -> list[Any]:
    """The value and the gradient by formulas, with inverses of the covariances."""
    inverse = np.linalg.inv(covariance)
    weighted = np.einsum("mij,mj->mi", inverse, x - loc)
    volume = 0.5 * np.linalg.slogdet(covariance)[1].sum() + 0.5 * x.size * np.log(2.0 * np.pi)
    value = -0.5 * ((x - loc) * weighted).sum() - volume
    return [value, weighted, 0.5 * (weighted[:, :, None] * weighted[:, None, :] - inverse)]


def contest(chosen: Namespace, many: int, rows: int) -> Contest:
    """Covariances that are well conditioned, and vectors about their locations."""
    rng = np.random.default_rng(6)
    root = rng.normal(size=(many, rows, rows))
    covariance = root @ root.swapaxes(-1, -2) / rows + np.eye(rows)
    drawn = rng.normal(size=(many, rows)), covariance, rng.normal(size=(many, rows))
    given = [np.asarray(each, chosen.dtype) for each in drawn]
    wanted = by_hand(*(each.astype(np.float64) for each in given))
    return Contest(f"{many} covariances of {rows} rows", chosen, given, 2, many * rows * rows, wanted)


def contenders(c: Contest) -> dict[str, Any]:
    """vecdist and JAX."""
    return {"vecdist": functools.partial(c.vecdist, by_lazy), "JAX": functools.partial(_by_jax, c)}


def _by_jax(c: Contest) -> Contender:
    return c.jax(by_jax)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for many, rows in SHAPES:
        c = contest(chosen, many, rows)
        c.run(contenders(c))
