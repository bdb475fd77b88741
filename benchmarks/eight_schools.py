"""The eight schools, non-centred: the log posterior of one chain or of many, and its gradient."""

from __future__ import annotations

import functools
import math
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from contest import Contest, double
from timing import Contender

CHAINS = {"cpu": [1, 2**16], "cuda": [1, 2**16, 2**20]}
EFFECTS = (28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0)
ERRORS = (15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0)
CONSTANT = 17 * -0.5 * math.log(2 * math.pi) - math.log(5) + math.log(2 / (5 * math.pi)) - sum(map(math.log, ERRORS))


def contest(chosen: Namespace, chains: int) -> Contest:
    """Chains somewhere near the posterior; of a single chain, arrays without an axis for it."""
    rng = np.random.default_rng(13)
    lead = () if chains == 1 else (chains,)
    given = [rng.normal(4.0, 3.0, lead), rng.normal(1.0, 0.8, lead), rng.normal(size=(*lead, 8))]
    given = [np.asarray(array, chosen.dtype) for array in given]
    wanted = by_hand(np, *schools(chosen), *double(given))
    moved = given[2].nbytes / 8 * (10 + 11) if chains > 1 else 0.0  # read, and written with the values
    title = "Eight schools, value and gradient"
    unit = "chain" if chains == 1 else "chains"
    return Contest(title, chosen, given, 3, chains, wanted, moved=moved, unit=unit)


def schools(chosen: Namespace) -> list[np.ndarray]:
    """What was measured, and its standard errors."""
    return [np.asarray(values, chosen.dtype) for values in (EFFECTS, ERRORS)]


def by_formula(m: Any, y: Any, sigma: Any, mu: Any, log_tau: Any, raw: Any) -> Any:
    """The log posterior of each chain, in a library ``m``; log tau is the parameter, with its Jacobian."""
    z = (y - (mu[..., None] + m.exp(log_tau)[..., None] * raw)) / sigma
    squares = m.sum(z * z + raw * raw, -1) + (mu / 5) ** 2
    return CONSTANT - 0.5 * squares - m.log1p(m.exp(2 * log_tau) / 25) + log_tau


def by_hand(m: Any, y: Any, sigma: Any, mu: Any, log_tau: Any, raw: Any) -> tuple[Any, ...]:
    """The log posterior of each chain and its gradient."""
    tau = m.exp(log_tau)
    pull = (y - (mu[..., None] + tau[..., None] * raw)) / sigma**2
    ratio = tau * tau / 25
    of_log_tau = tau * m.sum(pull * raw, -1) - 2 * ratio / (1 + ratio) + 1
    value = by_formula(m, y, sigma, mu, log_tau, raw)
    return value, m.sum(pull, -1) - mu / 25, of_log_tau, tau[..., None] * pull - raw


def by_vecdist(c: Contest) -> Contender:
    """Written for one chain; many are mapped over."""
    import vecdist
    from vecdist.distributions import HalfCauchy, Normal

    y, sigma = map(timing.array_library(c.device).asarray, schools(c.chosen))

    def posterior(mu: Any, log_tau: Any, raw: Any) -> Any:
        tau = np.exp(log_tau)
        priors = vecdist.logpdf(Normal(0.0, 5.0), mu) + vecdist.logpdf(HalfCauchy(5.0), tau) + log_tau
        rows = vecdist.logpdf(Normal(0.0, 1.0), raw) + vecdist.logpdf(Normal(mu + tau * raw, sigma), y)
        return priors + rows.sum()

    options = {} if c.size == 1 else {"in_axes": (0, 0, 0)}
    return c.vecdist(posterior, **options)


def of_one_chain(m: Any, chosen: Namespace, convert: Callable = lambda array: array) -> Callable:
    """The formula as a function of one chain."""
    return functools.partial(by_formula, m, *map(convert, schools(chosen)))


def by_jax(c: Contest) -> Contender:
    """The formula differentiated by JAX, mapped over chains, jitted."""
    import jax
    import jax.numpy as jnp

    derived = jax.value_and_grad(of_one_chain(jnp, c.chosen), (0, 1, 2))
    return c.jitted(derived if c.size == 1 else jax.vmap(derived))


def by_numpyro(c: Contest) -> Contender:
    """NumPyro's densities, differentiated by JAX, mapped over chains, jitted."""
    import jax
    import jax.numpy as jnp
    from numpyro.distributions import HalfCauchy, Normal

    y, sigma = schools(c.chosen)

    def posterior(mu: Any, log_tau: Any, raw: Any) -> Any:
        tau = jnp.exp(log_tau)
        priors = Normal(0.0, 5.0).log_prob(mu) + HalfCauchy(5.0).log_prob(tau) + log_tau
        return priors + (Normal(0.0, 1.0).log_prob(raw) + Normal(mu + tau * raw, sigma).log_prob(y)).sum()

    derived = jax.value_and_grad(posterior, (0, 1, 2))
    return c.jitted(derived if c.size == 1 else jax.vmap(derived))


def by_torch(c: Contest) -> Contender:
    """The formula over all chains at once, differentiated by torch, through torch.compile."""
    import torch

    formula = of_one_chain(torch, c.chosen, lambda array: torch.from_numpy(array).to(c.device))

    def total(*given: Any) -> tuple[Any, Any]:
        value = formula(*given)
        return value.sum(), value

    derived = torch.func.grad_and_value(total, (0, 1, 2), has_aux=True)

    def of_chains(*given: Any) -> tuple[Any, ...]:
        gradient, (_, value) = derived(*given)
        return value, *gradient

    return c.torched(of_chains)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for chains in [chosen.size] if chosen.size else CHAINS[chosen.device]:
        c = contest(chosen, chains)
        c.run(
            {
                "vecdist": functools.partial(by_vecdist, c),
                "NumPyro": functools.partial(by_numpyro, c),
                "JAX": functools.partial(by_jax, c),
                "torch.compile": functools.partial(by_torch, c),
            }
        )
