"""Every family at ordinary parameters, with points of its support, for comparing two backends."""

import numpy as np

REAL, POSITIVE, UNIT = np.linspace(-3.0, 4.0, 37), np.linspace(0.1, 6.0, 37), np.linspace(0.05, 0.95, 37)
COUNTS = np.arange(37.0) % 7

# Parameters of the first parametrisation, and points.
TABLE = {
    "Normal": ((0.3, 1.7), REAL), "HalfNormal": ((1.7,), POSITIVE), "LogNormal": ((0.3, 0.7), POSITIVE),
    "StudentT": ((4.0, 0.3, 1.7), REAL), "Cauchy": ((0.3, 1.7), REAL), "HalfCauchy": ((1.7,), POSITIVE),
    "Laplace": ((0.31, 1.7), REAL), "Logistic": ((0.3, 1.7), REAL), "Exponential": ((1.7,), POSITIVE),
    "Gamma": ((2.5, 0.8), POSITIVE), "InverseGamma": ((2.5, 0.8), POSITIVE), "Beta": ((2.5, 1.8), UNIT),
    "Uniform": ((-5.0, 7.0), REAL), "Weibull": ((1.8, 2.3), POSITIVE), "Bernoulli": ((0.3,), COUNTS % 2),
    "Binomial": ((9.0, 0.3), COUNTS), "Poisson": ((2.6,), COUNTS), "NegativeBinomial": ((2.5, 0.4), COUNTS),
    "Geometric": ((0.3,), COUNTS),
}
DISCRETE = {"Bernoulli", "Binomial", "Poisson", "NegativeBinomial", "Geometric"}
COUNTED = {("Binomial", 0)}  # parameters that are whole numbers, in which there is no derivative


def arrays(name, dtype):
    """The points, and the parameters: the first one for each point, the others one number each."""
    parameters, points = TABLE[name]
    first = parameters[0] * np.ones(37) if (name, 0) in COUNTED else parameters[0] * np.linspace(1.0, 1.2, 37)
    rest = [np.array(value) for value in parameters[1:]]
    return points.astype(dtype), [array.astype(dtype) for array in (first, *rest)]


def differentiable(name, x, parameters):
    """The arrays in which the density has a derivative."""
    kept = [array for place, array in enumerate(parameters) if (name, place) not in COUNTED]
    return kept if name in DISCRETE else [*kept, x]
