"""The gamma log density with its derivatives, by vecdist and by its peers, over the same data."""

from __future__ import annotations

import importlib
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from contest import Contest, double
from timing import Contender

DISTINCT = 2**20  # data repeat after so many elements, which keeps preparing and checking them short
CHECKED = 2**12  # elements of an array that are checked

Contenders = dict[str, Callable[[], Contender]]


def contest(title: str, chosen: Namespace, summed: bool) -> Contest:
    """A sum with its gradient in two scalars, or the value and three partials, of the size, dtype and device chosen."""
    rng = np.random.default_rng(20240501)
    few = min(DISTINCT, chosen.size)
    a, t = (2.5, 1.25) if summed else (rng.uniform(0.5, 8.0, few), rng.uniform(0.5, 3.0, few))
    x = np.maximum(rng.gamma(3.0, 1.5, few), 1e-3)
    shapes = [(), ()] if summed else [(chosen.size,)] * 2
    given = [np.resize(np.asarray(p, chosen.dtype), shape) for p, shape in zip((a, t), shapes, strict=True)]
    given.append(np.resize(x.astype(chosen.dtype), chosen.size))
    checked = slice(None, None, max(1, chosen.size // CHECKED))
    wanted = of_sum(*given) if summed else by_hand(scipy_functions(), *double([p[checked] for p in given]), False)
    arrays = 1 if summed else 3 + 4  # read and written
    return Contest(
        title, chosen, given, 2 if summed else 3, chosen.size, wanted,
        partials=not summed, moved=arrays * given[2].nbytes, sample=checked,
    )  # fmt: skip


def of_sum(a: np.ndarray, t: np.ndarray, x: np.ndarray) -> list[Any]:
    """The sum and its gradient in float64, from the data that are distinct."""
    whole, rest = divmod(x.size, DISTINCT)
    a, t, x = double([a, t, x[:DISTINCT]])
    m = scipy_functions()
    parts = zip(by_hand(m, a, t, x, True), by_hand(m, a, t, x[:rest], True), strict=True)
    return [whole * each + some for each, some in parts]


def scipy_functions(device: str = "cpu") -> Namespace:
    """NumPy's and SciPy's functions, or CuPy's."""
    xp = timing.array_library(device)
    special = importlib.import_module("cupyx.scipy.special" if device == "cuda" else "scipy.special")
    return Namespace(log=xp.log, gammaln=special.gammaln, digamma=special.digamma)


def by_hand(m: Any, a: Any, t: Any, x: Any, summed: bool) -> tuple[Any, ...]:
    """What a careful user writes, in any library ``m`` that has log, gammaln and digamma."""
    log_x, log_t, scaled = m.log(x), m.log(t), x / t
    value = (a - 1) * log_x - scaled - m.gammaln(a) - a * log_t
    da, dt = log_x - m.digamma(a) - log_t, (scaled - a) / t
    return (value.sum(), da.sum(), dt.sum()) if summed else (value, da, dt, (a - 1) / x - 1 / t)


def by_vecdist(c: Contest) -> Contender:
    """One compiled function, one launch."""
    import vecdist
    from vecdist.distributions import Gamma

    def density(a: Any, t: Any, x: Any) -> Any:
        lp = vecdist.logpdf(vecdist.Vectorize(Gamma, (a, t)), x)
        return lp if c.partials else lp.sum()

    return c.vecdist(density)


def by_arrays(c: Contest) -> Contender:
    """The formula by hand, operation by operation: NumPy with SciPy, or CuPy."""
    m = scipy_functions(c.device)
    return c.arrays(lambda *given: by_hand(m, *given, not c.partials))


def jax_by_hand(c: Contest) -> Contender:
    """The formula by hand, jitted."""
    import jax.numpy as jnp
    from jax.scipy.special import digamma, gammaln

    m = Namespace(log=jnp.log, gammaln=gammaln, digamma=digamma)
    return c.jitted(lambda *given: by_hand(m, *given, not c.partials))


def by_numpyro(c: Contest) -> Contender:
    """NumPyro's density, differentiated by JAX, jitted."""
    from numpyro.distributions import Gamma

    def density(a: Any, t: Any, x: Any) -> Any:
        lp = Gamma(a, rate=1 / t).log_prob(x)
        return lp if c.partials else lp.sum()

    return c.jax(density)


def torch_by_hand(c: Contest) -> Contender:
    """The formula by hand, through torch.compile."""
    import torch

    m = Namespace(log=torch.log, gammaln=torch.lgamma, digamma=torch.digamma)
    return c.torched(lambda *given: by_hand(m, *given, not c.partials))


def by_torch(c: Contest) -> Contender:
    """torch's own density, differentiated by torch, through torch.compile."""
    import torch

    def density(a: Any, t: Any, x: Any) -> Any:
        lp = torch.distributions.Gamma(a, 1 / t, validate_args=False).log_prob(x)
        return lp if c.partials else lp.sum()

    return c.torch(density)


def contenders(c: Contest) -> Contenders:
    """Who competes, vecdist first."""
    return {
        "vecdist": lambda: by_vecdist(c),
        "NumPyro": lambda: by_numpyro(c),
        "JAX, by hand": lambda: jax_by_hand(c),
        "torch.compile": lambda: by_torch(c),
        "torch.compile, by hand": lambda: torch_by_hand(c),
        "CuPy, by hand" if c.device == "cuda" else "SciPy, by hand": lambda: by_arrays(c),
    }
