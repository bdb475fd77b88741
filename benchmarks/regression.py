"""Logistic regression: the sum of a Bernoulli log mass, and its gradient in the coefficients."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import timing
from contest import Contest, chunked
from timing import Contender

COLUMNS = 64


def contest(chosen: Any) -> Contest:
    """A dense design, and outcomes that the coefficients explain in part."""
    rng = np.random.default_rng(12)
    x = rng.standard_normal((chosen.size, COLUMNS), dtype=np.float32).astype(chosen.dtype)
    beta = (0.2 * rng.normal(size=COLUMNS)).astype(chosen.dtype)
    y = (rng.random(chosen.size) < 1 / (1 + np.exp(-x @ beta[::-1]))).astype(chosen.dtype)
    functions = functools.partial(by_hand, np, lambda u: np.logaddexp(0.0, u), lambda u: 1 / (1 + np.exp(-u)))
    wanted = chunked(functions, [beta], [x, y])
    title = f"Logistic regression with {COLUMNS} coefficients"
    return Contest(title, chosen, [beta, x, y], 1, chosen.size, wanted, moved=x.nbytes, unit="rows")


def by_hand(m: Any, softplus: Any, sigmoid: Any, beta: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Value and gradient in a library ``m``: two products with the design."""
    logit = x @ beta
    return (y * logit - softplus(logit)).sum(), (y - sigmoid(logit)) @ x


def by_vecdist(c: Contest) -> Contender:
    """The design an argument."""
    import vecdist
    from vecdist.distributions import Bernoulli

    def density(beta: Any, x: Any, y: Any) -> Any:
        return vecdist.logpdf(Bernoulli(logit=x @ beta), y).sum()

    return c.vecdist(density)


def by_numpyro(c: Contest) -> Contender:
    """NumPyro's log mass, differentiated by JAX, jitted."""
    from numpyro.distributions import BernoulliLogits

    return c.jax(lambda beta, x, y: BernoulliLogits(x @ beta).log_prob(y).sum())


def jax_by_hand(c: Contest) -> Contender:
    """The formula by hand, jitted."""
    import jax
    import jax.numpy as jnp

    return c.jitted(functools.partial(by_hand, jnp, jax.nn.softplus, jax.nn.sigmoid))


def by_torch(c: Contest) -> Contender:
    """torch's log mass, differentiated by torch, through torch.compile."""
    from torch.distributions import Bernoulli

    return c.torch(lambda beta, x, y: Bernoulli(logits=x @ beta, validate_args=False).log_prob(y).sum())


def torch_by_hand(c: Contest) -> Contender:
    """The formula by hand, through torch.compile."""
    import torch

    return c.torched(functools.partial(by_hand, torch, torch.nn.functional.softplus, torch.sigmoid))


def by_arrays(c: Contest) -> Contender:
    """The formula by hand, with the BLAS of NumPy or CuPy."""
    xp = timing.array_library(c.device)
    return c.arrays(functools.partial(by_hand, xp, lambda u: xp.logaddexp(0.0, u), lambda u: 1 / (1 + xp.exp(-u))))


if __name__ == "__main__":
    c = contest(timing.options(__doc__, {"cpu": 2**17, "cuda": 2**20}))
    entries = c.run(
        {
            "vecdist": lambda: by_vecdist(c),
            "NumPyro": lambda: by_numpyro(c),
            "JAX, by hand": lambda: jax_by_hand(c),
            "torch.compile": lambda: by_torch(c),
            "torch.compile, by hand": lambda: torch_by_hand(c),
            "CuPy, by hand" if c.device == "cuda" else "NumPy, by hand": lambda: by_arrays(c),
        }
    )
    rates = (f"{name} {c.moved / e.median / 1e9:.3g}" for name, e in entries.items() if isinstance(e, Contender))
    print("\nGB/s of the design, as if it were read once: " + ", ".join(rates))
