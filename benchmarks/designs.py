"""Regressions of many chains over one design, and of one chain over a wide design: log masses and their gradients.

``--step`` names one shape: rows x columns x chains.
"""

from __future__ import annotations

import functools
from argparse import Namespace
from typing import Any

import numpy as np
import timing
from contest import Contest, chunked
from timing import Contender

SHAPES = {  # family, rows, columns, chains
    "cpu": [
        *(("Bernoulli", 2**17, 24, chains) for chains in (4, 8)),
        ("Bernoulli", 2**12, 1024, 1),
        *(("Poisson", 20_000, 12, chains) for chains in (1, 4, 16, 64)),
    ],
    "cuda": [
        *(("Bernoulli", 2**21, 24, chains) for chains in (2, 4, 8)),
        ("Bernoulli", 2**15, 1024, 1),
        ("Bernoulli", 2**13, 4096, 1),
        *(("Poisson", 20_000, 12, chains) for chains in (1, 4, 16, 64, 256)),
    ],
}


def contest(chosen: Namespace, family: str, rows: int, columns: int, chains: int) -> Contest:
    """A dense design, and outcomes that coefficients explain in part."""
    rng = np.random.default_rng(12)
    x = rng.standard_normal((rows, columns), dtype=np.float32).astype(chosen.dtype)
    lead = () if chains == 1 else (chains,)
    beta = (rng.normal(size=(*lead, columns)) / np.sqrt(columns)).astype(chosen.dtype)
    logit = x @ (rng.normal(size=columns) / np.sqrt(columns))
    y = (rng.random(rows) < 1 / (1 + np.exp(-logit)) if family == "Bernoulli" else rng.poisson(np.exp(logit)))
    y = y.astype(chosen.dtype)
    wanted = chunked(functools.partial(by_hand, np, family), [beta], [x, y], 2**15)
    if family == "Poisson":
        from scipy.special import gammaln

        wanted[0] = wanted[0] - gammaln(y.astype(np.float64) + 1).sum()
    title = f"{family} regression, {rows} x {columns}, {chains} {'chain' if chains == 1 else 'chains'}"
    return Contest(title, chosen, [beta, x, y], 1, rows, wanted, moved=float(x.nbytes + y.nbytes), unit="rows")


def by_hand(m: Any, family: str, beta: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Value and gradient in a library ``m``, but for what is constant: two products with the design."""
    score = beta @ x.T
    if family == "Poisson":
        mean = m.exp(score)
        return (y * score - mean).sum(-1), (y - mean) @ x
    return (y * score - m.logaddexp(0.0, score)).sum(-1), (y - 1 / (1 + m.exp(-score))) @ x


def by_vecdist(c: Contest, family: str) -> Contender:
    """Written for one chain, the design an argument; many are mapped over."""
    import vecdist
    from vecdist.distributions import Bernoulli, Poisson

    def density(beta: Any, x: Any, y: Any) -> Any:
        score = x @ beta
        rows = Bernoulli(logit=score) if family == "Bernoulli" else Poisson(np.exp(score))
        return vecdist.logpdf(rows, y).sum()

    return c.vecdist(density, **({} if c.given[0].ndim == 1 else {"in_axes": (0, None, None)}))


def by_numpyro(c: Contest, family: str) -> Contender:
    """NumPyro's log mass, differentiated by JAX, mapped over chains, jitted."""
    import jax
    import jax.numpy as jnp
    from numpyro.distributions import BernoulliLogits, Poisson

    def density(beta: Any, x: Any, y: Any) -> Any:
        score = x @ beta
        rows = BernoulliLogits(score) if family == "Bernoulli" else Poisson(jnp.exp(score))
        return rows.log_prob(y).sum()

    derived = jax.value_and_grad(density)
    return c.jitted(derived if c.given[0].ndim == 1 else jax.vmap(derived, (0, None, None)))


def jax_by_hand(c: Contest, family: str) -> Contender:
    """The formula by hand, jitted."""
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import gammaln

    def both(beta: Any, x: Any, y: Any) -> tuple[Any, Any]:
        value, gradient = by_hand(jnp, family, beta, x, y)
        return value - (gammaln(y + 1).sum() if family == "Poisson" else 0.0), gradient

    return c.jitted(jax.jit(both))


def by_torch(c: Contest, family: str) -> Contender:
    """The formula by hand, through torch.compile."""
    import torch

    def both(beta: Any, x: Any, y: Any) -> tuple[Any, Any]:
        score = beta @ x.T
        if family == "Poisson":
            mean = torch.exp(score)
            return (y * score - mean - torch.lgamma(y + 1)).sum(-1), (y - mean) @ x
        return (y * score - torch.nn.functional.softplus(score)).sum(-1), (y - torch.sigmoid(score)) @ x

    return c.torched(both)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for shape in SHAPES[chosen.device]:
        if chosen.step in (None, "x".join(map(str, shape[1:]))):
            c = contest(chosen, *shape)
            c.run(
                {
                    "vecdist": functools.partial(by_vecdist, c, shape[0]),
                    "NumPyro": functools.partial(by_numpyro, c, shape[0]),
                    "JAX, by hand": functools.partial(jax_by_hand, c, shape[0]),
                    "torch.compile, by hand": functools.partial(by_torch, c, shape[0]),
                }
            )
