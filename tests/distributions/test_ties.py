"""Quantiles where q is exactly a value of a distribution function, by rational arithmetic."""

from fractions import Fraction
from functools import cache
from itertools import chain, product
from math import comb

import numpy as np
import pytest

from vecdist import cdf, ppf
from vecdist.distributions import (
    Bernoulli,
    BetaBinomial,
    BetaNegativeBinomial,
    Binomial,
    DiscreteUniform,
    DiscreteWeibull,
    Geometric,
    HurdleNegativeBinomial,
    Hypergeometric,
    NegativeBinomial,
    YuleSimon,
    ZeroInflatedBinomial,
    ZeroInflatedNegativeBinomial,
)

pytestmark = pytest.mark.usefixtures("interpreter")

HALF = Fraction(1, 2)
SHARES = [Fraction(1, 4), HALF, Fraction(7, 8)]
SMALL = range(1, 5)
STEPS = 24  # of a count that has no most


def binomial(n, p):
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


@cache
def rising(a, k):
    return rising(a, k - 1) * (a + k - 1) if k else Fraction(1)


def negative_binomial(r, p):
    return [rising(r, k) / rising(Fraction(1), k) * p**r * (1 - p) ** k for k in range(STEPS)]


def beta_binomial(n, a, b):
    return [comb(n, k) * rising(a, k) * rising(b, n - k) / rising(a + b, n) for k in range(n + 1)]


def beta_negative_binomial(r, a, b):
    share = rising(a, r) / rising(a + b, r)
    return [
        rising(r, k) / rising(Fraction(1), k) * share * rising(b, k) / rising(a + b + r, k) for k in range(STEPS)
    ]


def hypergeometric(successes, failures, draws):
    return [
        Fraction(comb(successes, k) * comb(failures, draws - k), comb(successes + failures, draws))
        for k in range(min(successes, draws) + 1) if draws - k >= 0
    ]


def gated(gate, masses):
    return [gate * (k == 0) + (1 - gate) * mass for k, mass in enumerate(masses)]


def hurdled(gate, masses):
    return [gate] + [(1 - gate) * mass / (1 - masses[0]) for mass in masses[1:]]


def of_shares():
    """Of families of a probability: parameters, the first of the counts, and their masses."""
    for p in SHARES:
        yield Bernoulli, (p,), 0, [1 - p, p]
        yield Geometric, (p,), 0, [p * (1 - p) ** k for k in range(STEPS)]
        for beta in (1, 2):
            yield DiscreteWeibull, (p, beta), 0, [p ** (k**beta) - p ** ((k + 1) ** beta) for k in range(8)]
        for n in (*range(1, 10), 15, 23, 47):
            yield Binomial, (n, p), 0, binomial(n, p)
        for r in SMALL:
            yield NegativeBinomial, (r, p), 0, negative_binomial(r, p)
        for n in SMALL:
            yield ZeroInflatedBinomial, (HALF, n, p), 0, gated(HALF, binomial(n, p))
            yield ZeroInflatedNegativeBinomial, (HALF, n, p), 0, gated(HALF, negative_binomial(n, p))
            yield HurdleNegativeBinomial, (HALF, n, p), 0, hurdled(HALF, negative_binomial(n, p))


def of_counts():
    """Likewise, of whole numbers alone."""
    for n in (*range(1, 17), 31):
        yield DiscreteUniform, (0, n), 0, [Fraction(1, n + 1)] * (n + 1)
    for a in SMALL:
        yield YuleSimon, (a,), 1, [a * rising(Fraction(1), k) / rising(a + 1, k + 1) for k in range(STEPS)]
    for a, b in product(SMALL, SMALL):
        for n in (1, 2, 3, 7, 15, 31):
            yield BetaBinomial, (n, a, b), 0, beta_binomial(n, Fraction(a), Fraction(b))
        for r in SMALL:
            yield BetaNegativeBinomial, (r, a, b), 0, beta_negative_binomial(r, Fraction(a), Fraction(b))
    for successes, failures in product(SMALL, range(1, 9)):
        for draws in range(1, successes + failures):
            yield Hypergeometric, (successes, failures, draws), 0, hypergeometric(successes, failures, draws)


@cache
def ties(dtype):
    """Of each family: parameters, q and the count that is just as likely as q not to be exceeded."""
    found = {}
    for family, parameters, k, masses in chain(of_shares(), of_counts()):
        total = Fraction(0)
        for at, mass in enumerate(masses, k):
            total += mass
            if mass and total < 1 and Fraction(float(dtype(total.numerator / total.denominator))) == total:
                found.setdefault(family, []).append((*map(float, parameters), float(total), at))
    return {family: np.array(rows).T for family, rows in found.items()}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_quantile_of_an_exact_value_is_where_it_is(dtype):
    for family, (*parameters, q, k) in ties(dtype).items():
        distribution = family(*(parameter.astype(dtype) for parameter in parameters))
        found = np.asarray(ppf(distribution, q.astype(dtype)))
        wrong = found != k
        assert not wrong.any(), (family.__name__, wrong.sum(), np.array([*parameters, q, k, found]).T[wrong][:5])
        more = (q * (1 + 1e-4)).astype(dtype)
        here, above = (np.asarray(cdf(distribution, each.astype(dtype))) for each in (k, k + 1))
        told = (more > here * (1 + 1e-5)) & (more < above * (1 - 1e-5))
        np.testing.assert_array_equal(np.asarray(ppf(distribution, more))[told], k[told] + 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_quantile_of_a_value_as_computed_is_where_it_was(dtype):
    """Of all steps that the dtype tells apart."""
    for family, (*parameters, _, k) in ties(dtype).items():
        distribution = family(*(parameter.astype(dtype) for parameter in parameters))
        x = k.astype(dtype)
        before, q = np.asarray(cdf(distribution, x - 1)), np.asarray(cdf(distribution, x))
        told = before < q
        np.testing.assert_array_equal(np.asarray(ppf(distribution, q))[told], x[told], family.__name__)
