"""Tails of degrees of freedom next to 0, and of numbers whose squares overflow; and that no tail falls where it rises.

Truths are balls (python-flint): sums of the parts of a noncentral chi-squared variable, and leading terms far out.
"""

import math
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import vecdist
from vecdist.distributions import BetaPrime, Distribution, Erlang, Gamma, NegativeBinomial, NoncentralChi2, Rice

TINY_DFS = (2.3e-308, 1e-300, 1e-20, 1e-8)


def noncentral_parts(x: float, noncentrality: float) -> tuple[float, float]:
    """The density and the distribution function for no degrees of freedom: 2 n of them with a Poisson variable's n."""
    with ctx.workprec(200):
        half, at = arb(noncentrality) / 2, arb(x) / 2
        weights = [(-half).exp() * half**n / arb(n).fac() for n in range(1, 120)]
        density = sum(w * (n * at.log() - at - arb(n).lgamma()).exp() / at / 2 for n, w in enumerate(weights, 1))
        mass = (-half).exp() + sum(w * at.gamma_lower(arb(n), 1) for n, w in enumerate(weights, 1))
        return float(density.log()), float(mass)


@pytest.mark.parametrize("df", TINY_DFS)
def test_noncentral_chi_squared_variables_of_next_to_no_degrees_of_freedom(interpreter: Any, df: float) -> None:
    x, noncentrality = np.array([0.5, 3.0, 30.0]), 2.0
    pairs = [noncentral_parts(each, noncentrality) for each in x]
    log_density, below = np.array(pairs).T
    distribution = NoncentralChi2(df, noncentrality)
    np.testing.assert_allclose(vecdist.logpdf(distribution, x), log_density, rtol=40 * df + 1e-14)
    np.testing.assert_allclose(vecdist.cdf(distribution, x), below, rtol=40 * df + 1e-14)
    q = np.array([1e-8, 1e-3, 0.25, 0.36, *below])
    np.testing.assert_allclose(vecdist.ppf(distribution, q), [0.0] * 4 + [*x], rtol=1e-9 + 1e3 * df)


def test_quantiles_of_few_degrees_of_freedom_rise(interpreter: Any) -> None:
    q = np.linspace(1e-3, 0.999, 60)
    for df in (1e-3, 0.01, 0.1, 1.0):
        found = np.asarray(vecdist.ppf(NoncentralChi2(df, 2.0), q))
        assert (np.diff(found) >= 0.0).all() and found[0] < 1.0 < found[-1]
        inside = found > 1e-290
        np.testing.assert_allclose(vecdist.cdf(NoncentralChi2(df, 2.0), found[inside]), q[inside], rtol=1e-12)


@pytest.mark.parametrize("x", [1e140, 1e155, 1e200, 1e300, 1.2e308])
def test_tails_of_numbers_whose_squares_overflow(interpreter: Any, x: float) -> None:
    at = np.array([x])
    np.testing.assert_allclose(vecdist.logsf(NegativeBinomial(5.0, 0.5), at), -x * math.log(2.0), rtol=1e-12)
    if x < 1e305:
        np.testing.assert_allclose(vecdist.logsf(NoncentralChi2(3.0, 2.0), at), -0.5 * x, rtol=1e-12)
        np.testing.assert_allclose(vecdist.logcdf(NoncentralChi2(3.0, at), np.array([1.0])), -0.5 * x, rtol=1e-12)
        np.testing.assert_allclose(vecdist.cdf(NoncentralChi2(3.0, at), at), 0.5, rtol=1e-12)


def test_rice_variables_far_from_0_are_normal(interpreter: Any) -> None:
    nu = np.array([1e70, 1e100, 1e150])
    np.testing.assert_allclose(vecdist.cdf(Rice(nu, 1.0), nu), 0.5, rtol=1e-12)
    np.testing.assert_allclose(vecdist.logsf(Rice(nu, 1.0), 2.0 * nu), -0.5 * nu**2, rtol=1e-12)
    np.testing.assert_allclose(vecdist.logcdf(Rice(nu, 1.0), 0.5 * nu), -0.125 * nu**2, rtol=1e-12)


@pytest.mark.parametrize(("distribution", "start"), [
    (Rice(30.0, 1.0), 1.0), (NoncentralChi2(10.0, 100.0), 10.0), (NoncentralChi2(3.0, 5.0), 100.0),
    (Rice(3.0, 1.0), 20.0), (Erlang(12.0, 7.0), 7.0), (Rice(0.5, 1.0), 20.0),
])  # fmt: skip
@pytest.mark.parametrize("verb", ["cdf", "logcdf", "sf", "logsf"])
def test_tails_rise_and_fall_from_each_number_to_the_next(
    interpreter: Any, verb: str, distribution: Distribution, start: float
) -> None:
    x = start * (1.0 + 2.0**-52 * np.arange(100))
    steps = np.diff(np.asarray(getattr(vecdist, verb)(distribution, x)))
    assert ((steps >= 0.0) if "cdf" in verb else (steps <= 0.0)).all()


@pytest.mark.parametrize(("dtype", "x"), [(np.float32, 1.18e-38), (np.float32, 1e-36), (np.float64, 2.3e-308)])
def test_slopes_of_a_gamma_tail_where_x_times_its_rate_is_subnormal(interpreter: Any, dtype: type, x: float) -> None:
    shape, scale = 0.00513, 936.0
    at = np.array([x], dtype)
    lazy = vecdist.logcdf(Gamma(np.array([shape], dtype), np.array([scale], dtype)), at)
    _, (slope,) = vecdist.value_and_partials(lazy, (at,))
    np.testing.assert_allclose(slope, dtype(shape) / at, rtol=1e-6)


@pytest.mark.parametrize("b", [1e17, 1e20, 1e90, 1e101, 1e200, 1e300])
def test_odds_of_a_huge_shape_are_gamma_variables(interpreter: Any, b: float) -> None:
    """Over it and of the other shape, 2, whose upper tail is (1 + t) exp(-t)."""
    t = np.array([1e-3, 0.5, 5.0, 30.0, 300.0, 790.0])
    upper = np.log1p(t) - t
    lower = np.where(upper < -0.7, np.log1p(-np.exp(upper)), np.log(-np.expm1(upper)))
    bound = 1e-12 + 1e6 / b  # a beta variable's second order
    np.testing.assert_allclose(vecdist.logsf(BetaPrime(2.0, b), t / b), upper, rtol=bound)
    np.testing.assert_allclose(vecdist.logcdf(BetaPrime(2.0, b), t / b), lower, rtol=bound)
    np.testing.assert_allclose(vecdist.logcdf(BetaPrime(b, 2.0), b / t), upper, rtol=bound)
    np.testing.assert_allclose(vecdist.ppf(BetaPrime(2.0, b), np.exp(lower[1:3])), t[1:3] / b, rtol=bound)


@pytest.mark.parametrize(("m", "x", "y"), [
    (33.59701455439508, 0.01324616918808953, 8.843784078334792e-08), (60.0, 0.125, 1e-3), (12.0, 30.0, 1e-6),
])  # fmt: skip
def test_noncentral_chi_squared_variables_next_to_0(interpreter: Any, m: float, x: float, y: float) -> None:
    """By the sum that they are mixed of."""
    found = vecdist.logcdf(NoncentralChi2(2.0 * m, 2.0 * x), np.array([2.0 * y]))
    with ctx.workprec(300):
        start = (-arb(x)).exp()
        terms = (start * arb(x) ** n / arb(n).fac() * arb(y).gamma_lower(arb(m) + n, 1) for n in range(60))
        np.testing.assert_allclose(found, float(sum(terms, arb(0)).log()), rtol=1e-14)
