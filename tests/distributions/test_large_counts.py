"""Enormous counts: tails of any number of terms, and the density of heavy tails next to the largest floats."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from uncompiled import uncompiled

from vecdist import cdf, logpdf, ppf, sf, value_and_partials
from vecdist.distributions import (
    BetaBinomial,
    BetaNegativeBinomial,
    DiscreteWeibull,
    Geometric,
    NegativeBinomial,
    Poisson,
    ZeroInflatedPoisson,
)

SHARES = np.array([2.0**-20, 1e-3, 0.1, 0.4])  # of the largest float


def weibull(x: arb, q: arb, beta: arb) -> arb:
    return ((q.log() * x**beta).exp() - (q.log() * (x + 1) ** beta).exp()).log()


def geometric(x: arb, p: arb) -> arb:
    return p.log() + x * (-p).log1p()


def beta_negative_binomial(x: arb, r: arb, alpha: arb, beta: arb) -> arb:
    def log_beta(a: arb, b: arb) -> arb:
        return a.lgamma() + b.lgamma() - (a + b).lgamma()

    return log_beta(alpha + r, beta + x) - log_beta(alpha, beta) - log_beta(r, x + 1) - (r + x).log()


@pytest.mark.usefixtures("interpreter")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("family", "truth", "parameters"), [
    (DiscreteWeibull, weibull, (0.96, 0.022)), (DiscreteWeibull, weibull, (0.999, 1e-3)),
    (Geometric, geometric, (0.5,)), (Geometric, geometric, (1e-30,)),
    (BetaNegativeBinomial, beta_negative_binomial, (2.0, 0.5, 1.0)),
    (BetaNegativeBinomial, beta_negative_binomial, (0.125, 5.0, 0.25)),
])
def test_heavy_tails_reach_the_largest_floats(family, truth, parameters, dtype) -> None:
    x = (SHARES * np.finfo(dtype).max).astype(dtype)
    given = [dtype(value) for value in parameters]
    found = np.asarray(logpdf(family(*given), x))
    with ctx.workprec(8000):
        wanted = [float(truth(*map(arb, (float(k), *map(float, given))))) for k in x]
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.usefixtures("interpreter")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("family", [
    DiscreteWeibull, Geometric, BetaNegativeBinomial, NegativeBinomial, Poisson, ZeroInflatedPoisson,
])
def test_nothing_is_lost_up_to_infinity(family, dtype) -> None:
    """A number, or nothing at all beyond the last of them; the quantile of 1 is none of those."""
    x = np.concatenate([SHARES, [0.6, 1.0]]).astype(dtype) * np.finfo(dtype).max
    x = np.append(x, dtype(np.inf))
    wrt = [x, *(dtype(0.5) * np.ones_like(x) for _ in family.parametrisations[0].names)]
    value, partials = value_and_partials(logpdf(family(*wrt[1:]), x), wrt=tuple(wrt))
    assert not np.isnan([value, *partials]).any()
    assert value[-1] == -np.inf and not np.any([partial[-1] for partial in partials])
    assert np.asarray(ppf(family(*wrt[1:]), dtype(1.0)))[0] == np.inf


def order_statistic(n: int, k: int) -> Fraction:
    """P(X <= k) of BetaBinomial(n, 2, 3): X + 2 is the second least of four different numbers of 1 to n + 4."""
    total, below, above = n + 4, k + 2, n + 2 - k
    return 1 - Fraction(math.comb(above, 4) + below * math.comb(above, 3), math.comb(total, 4))


@pytest.mark.parametrize("n", [10**4, 10**6, 10**7, 10**9, 10**12])
def test_tails_of_enormous_counts_are_exact(n) -> None:
    """However many terms their sums have."""
    k = [n // 1000, n // 4, n // 2, n - n // 10]
    lower = [order_statistic(n, each) for each in k]
    with uncompiled():
        for verb, wanted in ((cdf, lower), (sf, [1 - each for each in lower])):
            found = np.asarray(verb(BetaBinomial(float(n), 2.0, 3.0), np.array(k, float)))
            np.testing.assert_allclose(found, [float(each) for each in wanted], rtol=1e-11)
