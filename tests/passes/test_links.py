"""Inverse links that users write in parts: right, with their derivatives, where the parts overflow or round to one."""

import flint
import numpy as np
import pytest
from interpreting import by_interpreter
from scipy import special

from vecdist import lazy, logpdf, logpmf, value_and_grad
from vecdist.distributions import Bernoulli, Binomial, Gamma, Normal, Poisson
from vecdist.graph.node import topological
from vecdist.lazy.array import LazyArray
from vecdist.passes.links import links

EDGES = np.array([-1e4, -800.0, -745.2, -40.0, -1.5, -1e-9, 0.0, 0.3, 17.0, 40.0, 709.9, 1e4])
FORMS = {  # and what they are, in numbers of any precision
    "log(exp(x))": (lambda x: np.log(np.exp(x)), lambda x: x),
    "log(1 / exp(x))": (lambda x: np.log(1 / np.exp(x)), lambda x: -x),
    "log(1 + exp(x))": (lambda x: np.log(1 + np.exp(x)), lambda x: (1 + x.exp()).log()),
    "log(exp(-x) + 1.0)": (lambda x: np.log(np.exp(-x) + 1.0), lambda x: (1 + (-x).exp()).log()),
    "log1p(exp(x))": (lambda x: np.log1p(np.exp(x)), lambda x: (1 + x.exp()).log()),
    "1 / (1 + exp(-x))": (lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / (1 + (-x).exp())),
    "1 / (1 + exp(x))": (lambda x: 1 / (1 + np.exp(x)), lambda x: 1 / (1 + x.exp())),
    "exp(x) / (1 + exp(x))": (lambda x: np.exp(x) / (1 + np.exp(x)), lambda x: 1 / (1 + (-x).exp())),
    "log(1 / (1 + exp(-x)))": (lambda x: np.log(1 / (1 + np.exp(-x))), lambda x: -(1 + (-x).exp()).log()),
    "log(1 - 1 / (1 + exp(-x)))": (lambda x: np.log(1 - 1 / (1 + np.exp(-x))), lambda x: -(1 + x.exp()).log()),
    "log1p(-expit(x))": (lambda x: np.log1p(-special.expit(x)), lambda x: -(1 + x.exp()).log()),
    "log(expit(x))": (lambda x: np.log(special.expit(x)), lambda x: -(1 + (-x).exp()).log()),
    "log(exp(x) + exp(-x))": (
        lambda x: np.log(np.exp(x) + np.exp(-x)), lambda x: (x.exp() + (-x).exp()).log()
    ),
    "log(exp(x) / (exp(x) + exp(3 - x)))": (
        lambda x: np.log(np.exp(x) / (np.exp(x) + np.exp(3.0 - x))), lambda x: -(1 + (3 - 2 * x).exp()).log()
    ),
    "log(expit(x) * exp(x))": (
        lambda x: np.log(special.expit(x) * np.exp(x)), lambda x: x - (1 + (-x).exp()).log()
    ),
    "log(sqrt(exp(x)))": (lambda x: np.log(np.sqrt(np.exp(x))), lambda x: x / 2),
    "log(exp(x)**2)": (lambda x: np.log(np.exp(x) ** 2), lambda x: 2 * x),
    "log(1 / exp(x)**2)": (lambda x: np.log(1 / np.exp(x) ** 2), lambda x: -2 * x),
    "log(p exp(7) + (1 - p) exp(x))": (
        lambda x: np.log(special.expit(x) * np.exp(0 * x + 7.0) + (1 - special.expit(x)) * np.exp(x)),
        lambda x: (flint.arb(7).exp() / (1 + (-x).exp()) + x.exp() / (1 + x.exp())).log(),
    ),
    "log(3 exp(x))": (lambda x: np.log(3.0 * np.exp(x)), lambda x: x + flint.arb(3).log()),
    "log(y / (5 + 5 exp(x)))": (
        lambda x: np.log((2.0 + 0 * x) / ((1.0 + np.exp(x)) * 5.0)),
        lambda x: (flint.arb(2) / 5).log() - (1 + x.exp()).log(),
    ),
    "log(exp(x)[:, None])": (lambda x: np.log(np.exp(x)[:, None])[:, 0], lambda x: x),
}
# Differences of logarithms, which are as far off as these are rounded where they nearly cancel.
TAKEN_TOGETHER = [form for form in FORMS if " + exp(" in form or "p exp" in form or "y / " in form]


def truth(formula, x):
    """A function and its derivative, by Taylor series of intervals."""
    with flint.ctx.workprec(20_000):
        series = formula(flint.arb_series([x, 1], prec=2)) if x else formula(flint.arb_series([0, 1], prec=2))
        return float(series[0]), float(series[1])


@pytest.mark.parametrize("form", FORMS)
def test_values_and_derivatives_at_edges(form):
    written, formula = FORMS[form]
    x = lazy(EDGES.copy())
    _, (slopes,) = value_and_grad(written(x).sum(), wrt=(x,))
    wanted = [truth(formula, each) for each in EDGES]
    near = 2e-15 if form in TAKEN_TOGETHER else 1e-300
    np.testing.assert_allclose(written(x).compute(), [value for value, _ in wanted], rtol=4e-16, atol=near)
    np.testing.assert_allclose(slopes, [slope for _, slope in wanted], rtol=4e-16, atol=near)


@pytest.mark.parametrize("form", FORMS)
def test_infinities_and_nan(form):
    written, _ = FORMS[form]
    x = np.array([-np.inf, np.inf, np.nan])
    with np.errstate(all="ignore"):
        plain = written(x)
    found = written(lazy(x)).compute()
    known = ~np.isnan(plain)
    np.testing.assert_array_equal(found[known], plain[known])
    assert np.isnan(found[2])


def test_a_share_of_infinite_odds_is_one():
    """Though its parts are infinite both."""
    odds = lazy(np.array([np.inf, 710.0]))
    np.testing.assert_array_equal((np.exp(odds) / (1 + np.exp(odds))).compute(), 1.0)


def test_densities_are_those_of_the_other_parametrisation():
    rng = np.random.default_rng(2)
    e = lazy(np.concatenate([rng.normal(0.0, 200.0, 40), rng.normal(0.0, 2.0, 40)]))
    kinds, counts, level = rng.integers(0, 2, 80), rng.integers(0, 9, 80), rng.normal(size=80)
    pairs = [
        (logpmf(Bernoulli(1 / (1 + np.exp(-e))), kinds), logpmf(Bernoulli(logit=e), kinds)),
        (logpmf(Bernoulli(special.expit(e)), kinds), logpmf(Bernoulli(logit=e), kinds)),
        (logpmf(Binomial(9, 1 / (1 + np.exp(-e))), counts), logpmf(Binomial(n=9, logit=e), counts)),
    ]
    for pair in pairs:
        (found, (slopes,)), (wanted, (wanted_slopes,)) = (value_and_grad(each.sum(), wrt=(e,)) for each in pair)
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        np.testing.assert_allclose(slopes, wanted_slopes, rtol=1e-14, atol=1e-300)
    small = lazy(rng.normal(0.0, 30.0, 80))
    for density, slope in [
        (logpmf(Poisson(np.exp(small)), counts), counts - np.exp(small.compute())),
        (logpdf(Gamma(shape=2.0, rate=np.exp(small)), 3.0), 2.0 - 3.0 * np.exp(small.compute())),
        (logpdf(Normal(0.0, np.exp(small)), level), (level * np.exp(-small.compute())) ** 2 - 1.0),
    ]:
        np.testing.assert_allclose(value_and_grad(density.sum(), wrt=(small,))[1][0], slope, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("written", [
    lambda x: np.log(2 + np.exp(x)), lambda x: np.log(np.exp(x) + x), lambda x: 2 / (1 + np.exp(x)),
    lambda x: np.exp(2 * x) / (1 + np.exp(x)), lambda x: np.log1p(np.exp(x) - 1),
    lambda x: np.log(2 - special.expit(x)), lambda x: np.log((x * np.exp(x)) ** 2), lambda x: np.log(x * x),
    lambda x: np.log(np.exp(x) + x * np.exp(x)),
])  # fmt: skip
def test_what_is_no_link_stays(written):
    node = written(lazy(np.array([0.3]))).node
    (found,) = links((node,))
    names = [each.op for each in topological((found,))]
    assert "softplus" not in names and "log_sigmoid" not in names and (found is node or "sigmoid" not in names)


def test_a_mean_that_is_an_exponential_has_no_logarithm():
    x = lazy(np.zeros(3))
    (found,) = links((logpmf(Poisson(np.exp(x)), np.arange(3)).node,))
    assert [each.op for each in topological((found,))].count("log") == 0


def positive(rng, depth):
    """What is positive by its form: as it is written, and as a function of series of intervals."""
    scale, shift = float(rng.integers(-3, 4)), float(rng.integers(-2, 3))
    line = lambda x: scale * x + shift  # noqa: E731
    if depth == 0 or rng.random() < 0.2:
        return [
            (lambda x: np.exp(line(x)), lambda x: line(x).exp()),
            (lambda x: special.expit(line(x)), lambda x: 1 / (1 + (-line(x)).exp())),
            (lambda x: 1 - special.expit(line(x)), lambda x: 1 / (1 + line(x).exp())),
            (lambda x: 1 + np.exp(line(x)), lambda x: 1 + line(x).exp()),
            (lambda x: 1 / (1 + np.exp(-line(x))), lambda x: 1 / (1 + (-line(x)).exp())),
        ][rng.integers(5)]
    (f, a), (g, b) = positive(rng, depth - 1), positive(rng, depth - 1)
    return [
        (lambda x: f(x) * g(x), lambda x: a(x) * b(x)), (lambda x: f(x) / g(x), lambda x: a(x) / b(x)),
        (lambda x: f(x) + g(x), lambda x: a(x) + b(x)), (lambda x: np.sqrt(f(x)), lambda x: a(x).sqrt()),
        (lambda x: f(x) ** 2, lambda x: a(x) * a(x)), (lambda x: 1 / f(x), lambda x: 1 / a(x)),
    ][rng.integers(6)]


@pytest.mark.parametrize("seed", range(40))
def test_logarithms_of_random_forms(seed):
    """However large or small their parts are: to roundings of these, which logarithms are sums of."""
    written, formula = positive(np.random.default_rng(seed), 3)
    points = np.array([-900.0, -60.0, -2.0, 0.0, 0.25, 3.0, 800.0])
    x = lazy(points.copy())
    named = LazyArray(*links((np.log(written(x)).node,)))
    with by_interpreter():
        values, (slopes,) = np.asarray(named), value_and_grad(named.sum(), wrt=(x,))[1]
    wanted = [truth(lambda series: formula(series).log(), each) for each in points]
    np.testing.assert_allclose(values, [value for value, _ in wanted], rtol=1e-14, atol=1e-13 * 24)
    np.testing.assert_allclose(slopes, [slope for _, slope in wanted], rtol=1e-13, atol=1e-13 * 24)


def test_signs_of_products_are_kept():
    """Of a determinant, too, which overflows."""
    x, y = lazy(np.array([-2.0, 0.0, 3.0, 0.5])), lazy(np.array([1.0, 2.0, 900.0, -900.0]))
    found = np.log(x * np.exp(y)).compute()
    np.testing.assert_allclose(found, [np.nan, -np.inf, 900.0 + np.log(3.0), np.log(0.5) - 900.0], rtol=1e-15)
    a = np.diag(np.full(200, 1e3))
    value, slope = value_and_grad(np.log(np.linalg.det(lazy(a, "a"))), "a")
    assert float(value) == pytest.approx(200.0 * np.log(1e3), rel=1e-14)
    np.testing.assert_allclose(slope, np.eye(200) / 1e3, rtol=1e-14)
    assert np.isnan(np.log(np.linalg.det(lazy(-a[:199, :199]))).compute())
