"""A mixture of normals over many points: the sum of its log density, and its gradient in every parameter."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import timing
from contest import Contest, chunked
from timing import Contender

COMPONENTS = 8


def contest(chosen: Any) -> Contest:
    """Points from a mixture, and parameters some way off; weights are given by logarithms that add to one."""
    rng = np.random.default_rng(14)
    means, scales = np.linspace(-6.0, 6.0, COMPONENTS), rng.uniform(0.5, 1.2, COMPONENTS)
    which = rng.integers(0, COMPONENTS, chosen.size, dtype=np.int8)
    x = means[which] + scales[which] * rng.standard_normal(chosen.size, dtype=np.float32)
    log_weights = np.log(rng.dirichlet(np.full(COMPONENTS, 5.0)))
    given = [np.asarray(a, chosen.dtype) for a in (means + 0.3, np.log(scales) + 0.2, log_weights, x)]
    wanted = chunked(functools.partial(by_hand, np), given[:3], given[3:])
    title = f"Mixture of {COMPONENTS} normals, sum and gradient in means, log scales and log weights"
    exps = COMPONENTS * chosen.size
    return Contest(title, chosen, given, 3, chosen.size, wanted, moved=given[3].nbytes, exps=exps, unit="points")


def by_hand(m: Any, means: Any, log_s: Any, log_weights: Any, x: Any) -> tuple[Any, ...]:
    """Value and gradient in a library ``m``: each point's responsibilities, and sums over points."""
    z = (x[:, None] - means) * m.exp(-log_s)
    parts = log_weights - 0.5 * z * z - log_s - 0.5 * math.log(2 * math.pi)
    largest = (m.amax if hasattr(m, "amax") else m.max)(parts, -1)[:, None]
    each = m.exp(parts - largest)
    total = m.sum(each, -1)[:, None]
    share = each / total
    value = m.sum(m.log(total) + largest)
    of_means = m.sum(share * z, 0) * m.exp(-log_s)
    return value, of_means, m.sum(share * (z * z - 1), 0), m.sum(share, 0)


def by_vecdist(c: Contest) -> Contender:
    """A density of points by components, summed in logarithms over the components."""
    import vecdist
    from vecdist.distributions import Normal

    def density(means: Any, log_s: Any, log_weights: Any, x: Any) -> Any:
        parts = log_weights + vecdist.logpdf(Normal(means, np.exp(log_s)), x[:, None])
        return vecdist.logsumexp(parts, axis=-1).sum()

    return c.vecdist(density)


def by_formula(m: Any, logsumexp: Any, means: Any, log_s: Any, log_weights: Any, x: Any) -> Any:
    """The log density by a formula in a library ``m``."""
    z = (x[:, None] - means) * m.exp(-log_s)
    return logsumexp(log_weights - 0.5 * z * z - log_s - 0.5 * math.log(2 * math.pi), -1).sum()


def by_jax(c: Contest) -> Contender:
    """The formula differentiated by JAX, jitted."""
    import jax
    import jax.numpy as jnp

    return c.jax(functools.partial(by_formula, jnp, jax.nn.logsumexp))


def jax_by_hand(c: Contest) -> Contender:
    """Value and gradient by hand, jitted."""
    import jax.numpy as jnp

    return c.jitted(functools.partial(by_hand, jnp))


def by_numpyro(c: Contest) -> Contender:
    """NumPyro's mixture, differentiated by JAX, jitted."""
    import jax.numpy as jnp
    from jax.nn import logsumexp
    from numpyro.distributions import Categorical, MixtureSameFamily, Normal

    def density(means: Any, log_s: Any, log_weights: Any, x: Any) -> Any:
        mixture = MixtureSameFamily(Categorical(logits=log_weights), Normal(means, jnp.exp(log_s)))
        unscaled = x.size * logsumexp(log_weights)  # which Categorical subtracts, as the others do not
        return mixture.log_prob(x).sum() + unscaled

    return c.jax(density)


def by_torch(c: Contest) -> Contender:
    """The formula differentiated by torch, through torch.compile."""
    import torch

    return c.torch(functools.partial(by_formula, torch, torch.logsumexp))


def torch_by_hand(c: Contest) -> Contender:
    """Value and gradient by hand, through torch.compile."""
    import torch

    return c.torched(functools.partial(by_hand, torch))


if __name__ == "__main__":
    c = contest(timing.options(__doc__, {"cpu": 2**20, "cuda": 2**24}))
    c.run(
        {
            "vecdist": lambda: by_vecdist(c),
            "NumPyro": lambda: by_numpyro(c),
            "JAX": lambda: by_jax(c),
            "JAX, by hand": lambda: jax_by_hand(c),
            "torch.compile": lambda: by_torch(c),
            "torch.compile, by hand": lambda: torch_by_hand(c),
        }
    )
