"""Rows in groups, each group with its own mean: the sum of their log density, and its gradient in means and scale."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import timing
from contest import Contest, double
from timing import Contender

GROUPS = 4096
HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def contest(chosen: Any) -> Contest:
    """Rows in random order; many in each group."""
    rng = np.random.default_rng(11)
    group = rng.integers(0, GROUPS, chosen.size, dtype=np.int32)
    centre = rng.normal(size=GROUPS)
    y = centre[group] + rng.standard_normal(chosen.size, dtype=np.float32)
    mu, log_s = centre + rng.normal(0.0, 0.5, GROUPS), 0.25
    given = [np.asarray(array, chosen.dtype) for array in (mu, log_s, y)] + [group]
    doubles = double(given)
    wanted = by_hand(np, lambda per_row, group: np.bincount(group, per_row, GROUPS), *doubles)
    title = f"{GROUPS} groups, sum and gradient in their means and a scale"
    return Contest(title, chosen, given, 2, chosen.size, wanted, moved=given[2].nbytes, unit="rows")


def by_hand(m: Any, total: Any, mu: Any, log_s: Any, y: Any, group: Any) -> tuple[Any, ...]:
    """Value and gradient in a library ``m``; ``total(per_row, group)`` sums the rows of each group."""
    precision = m.exp(-log_s)
    z = (y - mu[group]) * precision
    squares = (z * z).sum()
    value = -0.5 * squares - y.shape[0] * (log_s + HALF_LOG_TAU) - 0.5 * (mu * mu).sum() - GROUPS * HALF_LOG_TAU
    return value, total(z, group) * precision - mu, squares - y.shape[0]


def by_vecdist(c: Contest, marked: int) -> Contender:
    """The first ``marked`` of the groups and the observations as constant data, the others as arguments."""
    import vecdist
    from vecdist.distributions import Normal

    def density(mu: Any, log_s: Any, y: Any, group: Any) -> Any:
        return vecdist.logpdf(Normal(mu[group], np.exp(log_s)), y).sum() + vecdist.logpdf(Normal(0.0, 1.0), mu).sum()

    if not marked:
        return c.vecdist(density)
    group, observed = (vecdist.data(timing.array_library(c.device).asarray(c.given[place])) for place in (3, 2))
    if marked == 1:
        return c.vecdist(lambda mu, log_s, y: density(mu, log_s, y, group), c.given[:3])
    return c.vecdist(lambda mu, log_s: density(mu, log_s, observed, group), c.given[:2])


def by_jax(c: Contest, presorted: bool) -> Contender:
    """The formula by hand, jitted; with the rows in the order of the groups, or in the order given."""
    import jax
    import jax.numpy as jnp

    total = functools.partial(jax.ops.segment_sum, num_segments=GROUPS, indices_are_sorted=presorted)
    mu, log_s, y, group = c.given
    order = np.argsort(group, kind="stable") if presorted else slice(None)
    return c.jitted(functools.partial(by_hand, jnp, total), [mu, log_s, y[order], group[order]])


def by_numpyro(c: Contest) -> Contender:
    """NumPyro's densities, differentiated by JAX, jitted."""
    import jax.numpy as jnp
    from numpyro.distributions import Normal

    def density(mu: Any, log_s: Any, y: Any, group: Any) -> Any:
        return Normal(mu[group], jnp.exp(log_s)).log_prob(y).sum() + Normal(0.0, 1.0).log_prob(mu).sum()

    return c.jax(density)


def by_torch(c: Contest) -> Contender:
    """torch's densities, differentiated by torch, through torch.compile."""
    import torch
    from torch.distributions import Normal

    normal = functools.partial(Normal, validate_args=False)

    def density(mu: Any, log_s: Any, y: Any, group: Any) -> Any:
        return normal(mu[group], torch.exp(log_s)).log_prob(y).sum() + normal(0.0, 1.0).log_prob(mu).sum()

    return c.torch(density)


def torch_by_hand(c: Contest) -> Contender:
    """The formula by hand, through torch.compile."""
    import torch

    def total(per_row: Any, group: Any) -> Any:
        return torch.zeros(GROUPS, dtype=per_row.dtype, device=per_row.device).index_add(0, group, per_row)

    return c.torched(functools.partial(by_hand, torch, total))


if __name__ == "__main__":
    c = contest(timing.options(__doc__, {"cpu": 2**22, "cuda": 2**24}))
    c.run(
        {
            "vecdist": lambda: by_vecdist(c, marked=0),
            "vecdist, groups marked as data": lambda: by_vecdist(c, marked=1),
            "vecdist, groups and observations marked as data": lambda: by_vecdist(c, marked=2),
            "NumPyro": lambda: by_numpyro(c),
            "JAX, by hand": lambda: by_jax(c, presorted=False),
            "JAX, by hand, rows presorted": lambda: by_jax(c, presorted=True),
            "torch.compile": lambda: by_torch(c),
            "torch.compile, by hand": lambda: torch_by_hand(c),
        },
        "the floor reads the observations; the number of each row's group is as many bytes again",
    )
