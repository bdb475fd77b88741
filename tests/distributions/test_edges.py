"""The limits at edges of supports and at degenerate parameters, and the regions where formulas go wrong elsewhere."""

from math import inf, log, pi, sqrt

import numpy as np
import pytest
from family_cases import density

from vecdist.distributions import FAMILIES

DIGAMMA_5_LESS_2 = 1 / 2 + 1 / 3 + 1 / 4

# The family, its parameters, x, the value there, and the partial derivatives there: limits from inside the support.
EDGES = [
    ("Beta", {"alpha": 1.0, "beta": 2.5}, 0.0, log(2.5), {"x": -1.5, "alpha": -inf, "beta": 1 / 2.5}),
    ("Beta", {"alpha": 2.5, "beta": 1.0}, 1.0, log(2.5), {"x": 1.5, "alpha": 1 / 2.5, "beta": -inf}),
    ("Beta", {"alpha": 1.0, "beta": 1.0}, 0.0, 0.0, {"x": 0.0, "alpha": -inf, "beta": 1.0}),
    ("Beta", {"alpha": 1.0, "beta": 1.0}, 1.0, 0.0, {"x": 0.0, "alpha": 1.0, "beta": -inf}),
    ("Beta", {"alpha": 0.5, "beta": 1.0}, 0.0, inf, {"x": -inf, "alpha": -inf, "beta": 2 - 2 * log(2)}),
    ("Beta", {"alpha": 2.0, "beta": 1.0}, 0.0, -inf, {"x": inf, "alpha": -inf, "beta": 1.5}),
    ("Beta", {"alpha": 1.0, "beta": 0.5}, 1.0, inf, {"x": inf, "alpha": 2 - 2 * log(2), "beta": -inf}),
    ("Beta", {"mean": 0.5, "concentration": 2.0}, 0.0, 0.0, {"x": 0.0, "mean": -inf, "concentration": -inf}),
    ("Exponential", {"scale": 2.0}, 0.0, -log(2), {"x": -0.5, "scale": -0.5}),
    ("Gamma", {"shape": 1.0, "scale": 2.0}, 0.0, -log(2), {"x": -0.5, "shape": -inf, "scale": -0.5}),
    ("Gamma", {"shape": 2.0, "scale": 2.0}, 0.0, -inf, {"x": inf, "shape": -inf, "scale": -1.0}),
    ("Gamma", {"shape": 0.5, "scale": 2.0}, 0.0, inf, {"x": -inf, "shape": -inf, "scale": -0.25}),
    ("Gamma", {"shape": 1.0, "rate": 2.0}, 0.0, log(2), {"x": -2.0, "shape": -inf, "rate": 0.5}),
    ("Gamma", {"mean": 2.0, "sd": 2.0}, 0.0, -log(2), {"x": -0.5, "mean": -inf, "sd": inf}),
    ("HalfCauchy", {"scale": 2.0}, 0.0, -log(pi), {"x": 0.0, "scale": -0.5}),
    ("HalfNormal", {"scale": 2.0}, 0.0, log(2 / (2 * sqrt(2 * pi))), {"x": 0.0, "scale": -0.5}),
    ("InverseGamma", {"shape": 1.0, "scale": 2.0}, 0.0, -inf, {"x": 0.0, "shape": 0.0, "scale": 0.0}),
    ("Laplace", {"loc": 1.5, "scale": 2.0}, 1.5, -log(4), {"x": 0.0, "loc": 0.0, "scale": -0.5}),
    ("LogNormal", {"loc": 0.5, "scale": 2.0}, 0.0, -inf, {"x": 0.0, "loc": 0.0, "scale": 0.0}),
    ("Uniform", {"low": -1.0, "high": 3.0}, -1.0, -log(4), {"x": 0.0, "low": 0.25, "high": -0.25}),
    ("Uniform", {"low": -1.0, "high": 3.0}, 3.0, -log(4), {"x": 0.0, "low": 0.25, "high": -0.25}),
    ("Weibull", {"shape": 1.0, "scale": 2.0}, 0.0, -log(2), {"x": -0.5, "shape": -inf, "scale": -0.5}),
    ("Weibull", {"shape": 2.0, "scale": 2.0}, 0.0, -inf, {"x": inf, "shape": -inf, "scale": -1.0}),
    ("Weibull", {"shape": 0.5, "scale": 2.0}, 0.0, inf, {"x": -inf, "shape": -inf, "scale": -0.25}),
    ("StudentT", {"df": inf, "loc": 0.5, "scale": 2.0}, 2.5, -0.5 - log(2 * sqrt(2 * pi)),
     {"x": -0.5, "df": 0.0, "loc": 0.5, "scale": 0.0}),
    ("StudentT", {"df": inf, "loc": 0.5, "precision": 0.25}, 0.5, -log(2 * sqrt(2 * pi)),
     {"x": 0.0, "df": 0.0, "loc": 0.0, "precision": 2.0}),
    ("Bernoulli", {"p": 0.0}, 0.0, 0.0, {"p": -1.0}),
    ("Bernoulli", {"p": 0.0}, 1.0, -inf, {"p": inf}),
    ("Bernoulli", {"p": 1.0}, 1.0, 0.0, {"p": 1.0}),
    ("Bernoulli", {"p": 1.0}, 0.0, -inf, {"p": -inf}),
    ("Bernoulli", {"logit": inf}, 1.0, 0.0, {"logit": 0.0}),
    ("Bernoulli", {"logit": inf}, 0.0, -inf, {"logit": -1.0}),
    ("Bernoulli", {"logit": -inf}, 0.0, 0.0, {"logit": 0.0}),
    ("Bernoulli", {"logit": -inf}, 1.0, -inf, {"logit": 1.0}),
    ("Binomial", {"n": 3.0, "p": 0.0}, 0.0, 0.0, {"n": 0.0, "p": -3.0}),
    ("Binomial", {"n": 3.0, "p": 0.0}, 1.0, -inf, {"n": 1 / 3, "p": inf}),
    ("Binomial", {"n": 3.0, "p": 1.0}, 3.0, 0.0, {"n": -inf, "p": 3.0}),
    ("Binomial", {"n": 3.0, "p": 1.0}, 2.0, -inf, {"n": -inf, "p": -inf}),
    ("Binomial", {"n": 0.0, "p": 0.25}, 0.0, 0.0, {"n": log(0.75), "p": 0.0}),
    ("Binomial", {"n": 0.0, "p": 0.0}, 0.0, 0.0, {"n": 0.0, "p": 0.0}),
    ("Binomial", {"n": 3.0, "logit": inf}, 3.0, 0.0, {"n": -inf, "logit": 0.0}),
    ("Binomial", {"n": 3.0, "logit": inf}, 2.0, -inf, {"n": -inf, "logit": -1.0}),
    ("Binomial", {"n": 3.0, "logit": -inf}, 0.0, 0.0, {"n": 0.0, "logit": 0.0}),
    ("Geometric", {"p": 1.0}, 0.0, 0.0, {"p": 1.0}),
    ("Geometric", {"p": 1.0}, 2.0, -inf, {"p": -inf}),
    ("Geometric", {"logit": inf}, 0.0, 0.0, {"logit": 0.0}),
    ("Geometric", {"logit": inf}, 2.0, -inf, {"logit": -2.0}),
    ("NegativeBinomial", {"r": 2.0, "p": 1.0}, 0.0, 0.0, {"r": 0.0, "p": 2.0}),
    ("NegativeBinomial", {"r": 2.0, "p": 1.0}, 3.0, -inf, {"r": DIGAMMA_5_LESS_2, "p": -inf}),
    ("NegativeBinomial", {"mean": 0.0, "dispersion": 2.0}, 0.0, 0.0, {"mean": -1.0, "dispersion": 0.0}),
    ("NegativeBinomial", {"mean": 0.0, "dispersion": 2.0}, 3.0, -inf,
     {"mean": inf, "dispersion": DIGAMMA_5_LESS_2 - 1.5}),
    ("NegativeBinomial", {"log_mean": -inf, "dispersion": 2.0}, 0.0, 0.0, {"log_mean": 0.0, "dispersion": 0.0}),
    ("NegativeBinomial", {"log_mean": -inf, "dispersion": 2.0}, 3.0, -inf,
     {"log_mean": 3.0, "dispersion": DIGAMMA_5_LESS_2 - 1.5}),
    ("Poisson", {"rate": 0.0}, 0.0, 0.0, {"rate": -1.0}),
    ("Poisson", {"rate": 0.0}, 2.0, -inf, {"rate": inf}),
    ("Poisson", {"log_rate": -inf}, 0.0, 0.0, {"log_rate": 0.0}),
    ("Poisson", {"log_rate": -inf}, 2.0, -inf, {"log_rate": 2.0}),
]
EDGE_IDS = [f"{name}-{'-'.join(f'{k}={v:g}' for k, v in given.items())}-x={x:g}" for name, given, x, _, _ in EDGES]


def at(name, given, x, dtype=np.float64):
    """The value and the partial derivatives by name, at one point."""
    parameters = [np.array([value], dtype) for value in given.values()]
    value, partials = density(FAMILIES[name], tuple(given), np.array([x], dtype), parameters)
    return value[0], {key: partial[0] for key, partial in zip(("x", *given), partials, strict=True)}


def assert_edge(name, given, x, expected, partials, dtype):
    value, found = at(name, given, x, dtype)
    few = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(value, expected, rtol=few, atol=few)
    for key, partial in partials.items():
        np.testing.assert_allclose(found[key], partial, rtol=few, atol=few, err_msg=f"d/d{key}")


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("edge", EDGES, ids=EDGE_IDS)
def test_limits(interpreter, edge, dtype):
    assert_edge(*edge, dtype)


@pytest.mark.parametrize("edge", EDGES, ids=EDGE_IDS)
def test_limits_of_the_kernel(uncompiled, edge):
    assert_edge(*edge, np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("edge", [e for e in EDGES if e[0] in {"Gamma", "Poisson"}], ids=lambda e: f"{e[1]}-{e[2]}")
def test_limits_of_the_compiled_kernel(edge):
    assert_edge(*edge, np.float64)
