"""Sums over data for many parameters at once, over some axes or all, by statistics that are computed once."""

import numpy as np
import pytest

from vecdist import LogDensity, data, explain, lazy, logpdf, special
from vecdist import compile as compile_function
from vecdist.distributions import Gamma, Normal
from vecdist.parameters import positive, real

RNG = np.random.default_rng(11)
ROWS, COLUMNS, CHAINS = 7, 3, 4
POINTS = RNG.normal(size=(CHAINS, 2))
SEEN = RNG.gamma(3.0, 1.0, 1000)

# Terms of parameters p, q (of chains where they have an axis for them), an array x that changes, and data d.
TERMS = {
    "affine": lambda p, q, x, d, lgamma: p * d + q,
    "square": lambda p, q, x, d, lgamma: ((d - p) / (1.0 + q * q)) ** 2,
    "product": lambda p, q, x, d, lgamma: (d - p) * (q * d + p),
    "dear": lambda p, q, x, d, lgamma: q * lgamma(d),
    "of what changes": lambda p, q, x, d, lgamma: np.tanh(p * x),
    "of parameters": lambda p, q, x, d, lgamma: np.exp(-p * p) + q,
    "choice": lambda p, q, x, d, lgamma: np.where(p > 0.0, d * q, d + p),
    "both": lambda p, q, x, d, lgamma: np.sin(p * d) * x,
}
SHAPES = ((), (COLUMNS,), (ROWS, COLUMNS), (ROWS, 1))


def reference(d):
    from scipy.special import gammaln

    return gammaln(d)


@pytest.mark.parametrize("seed", range(40))
def test_random_sums_over_some_axes(seed, uncompiled):
    """Of terms of any shapes: a term that is not as wide as the sum is counted as often as that says."""
    rng = np.random.default_rng(seed)
    p, q = (rng.normal(size=[(), (ROWS, 1), (CHAINS, 1, 1), (1, COLUMNS)][rng.integers(4)]) for _ in range(2))
    x, d = rng.normal(size=SHAPES[rng.integers(4)]), rng.gamma(2.0, size=SHAPES[rng.integers(1, 4)])
    names = rng.choice(sorted(TERMS), rng.integers(1, 4), replace=False)
    axes = [None, -1, -2, (-1, -2)][rng.integers(4)]

    def total(p, q, x, d, lgamma):
        terms = sum(TERMS[name](p, q, x, d, lgamma) for name in names)
        return (terms + np.zeros((ROWS, COLUMNS))).sum(axis=axes)

    found = np.asarray(total(lazy(p), lazy(q), lazy(x), data(d), special.lgamma))
    wanted = total(p, q, x, d, reference)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11, err_msg=f"{names} over {axes}")


def test_what_is_left_is_repeated_as_often_as_the_data_are(uncompiled):
    x, d, a = np.arange(3.0), RNG.normal(size=(5, 3)), np.array(0.3)
    np.testing.assert_allclose(float((np.tanh(lazy(a) * x) + data(d)).sum()), (np.tanh(0.3 * x) + d).sum(), rtol=1e-13)


def test_many_chains_read_no_data(uncompiled):
    def total(mean, sd):
        return logpdf(Normal(mean, sd), data(SEEN)).sum()

    chains = compile_function(total, in_axes=0)
    means, sds = RNG.normal(3.0, 1.0, CHAINS), RNG.gamma(2.0, 1.0, CHAINS)
    (kernel,) = explain(chains, "mean", [means, sds]).kernels
    assert kernel.bytes_read < 8 * len(SEEN) / 10
    values, (of_means, of_sds) = chains.value_and_grad(means, sds)
    for place, (mean, sd) in enumerate(zip(means, sds, strict=True)):
        z = (SEEN - mean) / sd
        value = (-0.5 * z**2 - np.log(sd) - 0.5 * np.log(2 * np.pi)).sum()
        np.testing.assert_allclose(values[place], value, rtol=1e-12)
        slopes = (z / sd).sum(), ((z**2 - 1) / sd).sum()
        np.testing.assert_allclose([of_means[place], of_sds[place]], slopes, rtol=1e-9)


def test_log_densities_of_many_vectors(uncompiled):
    def model(y):
        return lambda a, t: {"prior": logpdf(Gamma(2.0, 1.0), a), "likelihood": logpdf(Gamma(a, t), y)}

    once, plain = (LogDensity(model(y), a=positive(), t=positive()) for y in (data(SEEN), SEEN))
    for found, wanted in zip(once.logdensity_and_gradient(POINTS), plain.logdensity_and_gradient(POINTS), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_means_of_groups_of_data(uncompiled):
    """A mean over data that differ from row to row is no number, and is computed anew."""
    y, mu = RNG.normal(size=(ROWS, COLUMNS)), RNG.normal(size=(ROWS, 1))
    density = LogDensity(lambda m: logpdf(Normal(m[:, None], 1.0), data(y)).sum(axis=1).sum(), m=real(ROWS))
    value, slope = density.logdensity_and_gradient(mu[:, 0])
    np.testing.assert_allclose(value, (-0.5 * (y - mu) ** 2 - 0.5 * np.log(2 * np.pi)).sum(), rtol=1e-12)
    np.testing.assert_allclose(slope, (y - mu).sum(axis=1), rtol=1e-12)
