"""The gamma sum and its gradient in two scalars, where the data are marked as constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import timing
from contest import Contest
from gamma import contenders, contest
from timing import Contender


def by_vecdist(c: Contest) -> Contender:
    """The density of gamma_sum.py, of data that cannot change."""
    import vecdist
    from vecdist.distributions import Gamma

    x = vecdist.data(timing.array_library(c.device).asarray(c.given[2]))
    return c.vecdist(lambda a, t: vecdist.logpdf(Gamma(a, t), x).sum(), c.given[:2])


def jax_by_hand(c: Contest) -> Contender:
    """What the data say of the parameters, summed once by hand; jitted."""
    import jax.numpy as jnp
    from jax.scipy.special import digamma, gammaln

    x = c.given[2]
    sums = [np.asarray(s, c.chosen.dtype) for s in (np.log(x).sum(dtype=np.float64), x.sum(dtype=np.float64))]

    def of_sums(a: Any, t: Any, logs: Any, total: Any) -> tuple[Any, ...]:
        value = (a - 1) * logs - total / t - c.size * (gammaln(a) + a * jnp.log(t))
        return value, logs - c.size * (digamma(a) + jnp.log(t)), (total / t - c.size * a) / t

    return c.jitted(of_sums, [*c.given[:2], *sums])


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**22, "cuda": 2**28})
    c = contest("Gamma of constant data, sum and gradient in two scalars", chosen, summed=True)
    unmarked = contenders(c)
    c.run(
        {
            "vecdist, marked as data": lambda: by_vecdist(c),
            "vecdist, not marked": unmarked["vecdist"],
            "JAX, sufficient statistics by hand": lambda: jax_by_hand(c),
            "JAX, by hand": unmarked["JAX, by hand"],
        },
        "the floor reads the data; who keeps their sums need not",
    )
