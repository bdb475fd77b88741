"""A Gaussian process with a latent vector: its log density and gradient in that and three parameters, beside JAX.

The kernel is a squared exponential of an amplitude and a length scale, with a jitter on the diagonal; observations have
a scale of noise.  All three parameters are logarithms.
"""

from __future__ import annotations

import functools
from argparse import Namespace
from typing import Any

import numpy as np
import timing
from contest import Contest
from timing import Contender

LENGTHS = (11, 64, 512)
JITTER = 0.1  # conditioned well enough for the errors of all contenders to be roundings


def covariance(m: Any, amplitude: Any, length: Any, places: Any, eye: Any) -> Any:
    """The covariance of the latent vector."""
    apart = (places[:, None] - places) * m.exp(-length)
    return m.exp(2.0 * amplitude - 0.5 * apart * apart) + JITTER * eye


def by_lazy(amplitude: Any, length: Any, noise: Any, latent: Any, places: Any, y: Any, eye: Any) -> Any:
    """The log density by vecdist's distributions."""
    from vecdist import logpdf
    from vecdist.distributions import MvNormal, Normal

    prior = MvNormal(0.0 * places, covariance(np, amplitude, length, places, eye))
    return logpdf(prior, latent) + logpdf(Normal(latent, np.exp(noise)), y).sum()


def by_jax(amplitude: Any, length: Any, noise: Any, latent: Any, places: Any, y: Any, eye: Any) -> Any:
    """The log density by JAX's linear algebra."""
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    factor = jnp.linalg.cholesky(covariance(jnp, amplitude, length, places, eye))
    z = solve_triangular(factor, latent, lower=True)
    prior = -0.5 * (z @ z) - jnp.log(jnp.diagonal(factor)).sum() - 0.5 * len(y) * jnp.log(2.0 * jnp.pi)
    rest = (y - latent) * jnp.exp(-noise)
    return prior - 0.5 * (rest @ rest) - len(y) * (noise + 0.5 * jnp.log(2.0 * jnp.pi))


def by_hand(
    amplitude: np.ndarray, length: np.ndarray, noise: np.ndarray, latent: np.ndarray, places: np.ndarray, y: np.ndarray,
    eye: np.ndarray,
) -> list[Any]:  # fmt: skip
    """The value and the gradient by formulas, with the inverse of the covariance."""
    kernel = covariance(np, amplitude, length, places, eye)
    inverse, smooth = np.linalg.inv(kernel), kernel - JITTER * eye
    alpha, rest = inverse @ latent, (y - latent) * np.exp(-noise)
    log_tau, count = np.log(2.0 * np.pi), len(y)
    prior = -0.5 * latent @ alpha - 0.5 * np.linalg.slogdet(kernel)[1] - 0.5 * count * log_tau
    back = 0.5 * (np.outer(alpha, alpha) - inverse)
    apart = ((places[:, None] - places) * np.exp(-length)) ** 2
    value = prior - 0.5 * rest @ rest - count * (noise + 0.5 * log_tau)
    of_noise = rest @ rest - count
    return [value, (back * 2.0 * smooth).sum(), (back * smooth * apart).sum(), of_noise, -alpha + rest * np.exp(-noise)]


def contest(chosen: Namespace, length: int) -> Contest:
    """Points on a line, and a latent vector near observations."""
    rng = np.random.default_rng(4)
    places, y = np.linspace(0.0, 10.0, length), rng.normal(size=length)
    parameters = np.array(0.1), np.array(-0.3), np.array(-0.7)
    given = [np.asarray(each, chosen.dtype) for each in (*parameters, 0.3 * y, places, y, np.eye(length))]
    wanted = by_hand(*(each.astype(np.float64) for each in given))
    return Contest(f"Gaussian process, latent vector of {length}", chosen, given, 4, length, wanted)


def contenders(c: Contest) -> dict[str, Any]:
    """vecdist and JAX."""
    return {"vecdist": functools.partial(c.vecdist, by_lazy), "JAX": functools.partial(_by_jax, c)}


def _by_jax(c: Contest) -> Contender:
    return c.jax(by_jax)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for length in [chosen.size] if chosen.size else LENGTHS:
        c = contest(chosen, length)
        c.run(contenders(c))
