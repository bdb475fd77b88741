"""Random parameters and points of every family, and the same distribution in SciPy."""

import functools
import zlib

import numpy as np
import scipy.special
import scipy.stats
from family_truth import CONVERSIONS, true_density
from flint import arb, ctx

from vecdist import logpdf, value_and_partials
from vecdist.distributions import FAMILIES

EVERY_FAMILY = [*FAMILIES.values()]
EVERY_WAY = [(family, way.names) for family in EVERY_FAMILY for way in family.parametrisations]
WAY_IDS = [f"{family.__name__}-{'-'.join(names)}" for family, names in EVERY_WAY]


def way_of(family, names):
    """The parametrisation with these names."""
    return next(way for way in family.parametrisations if way.names == names)


def parameters_of(family, names, dtype=np.float64, size=24):
    """Arrays of valid parameters, of the size that real problems have; the same ones at every call."""
    rng = np.random.default_rng(zlib.crc32(repr((family.__name__, names)).encode()))
    drawn = {name: _draw(rng, constraint, size) for name, constraint in way_of(family, names).constraints.items()}
    if "low" in drawn:
        drawn["high"] = drawn["low"] + np.ceil(abs(drawn["high"])) + (0 if family.discrete else 0.1)
    if "sd" in drawn:
        most = np.sqrt(drawn["mean"] * (1 - drawn["mean"])) if family.__name__ == "Beta" else abs(drawn["mean"])
        drawn["sd"] = most * rng.uniform(0.4, 0.9, size)
    for name, constrained in CONSTRAINED.get((family.__name__, names), {}).items():
        drawn[name] = constrained(drawn, rng.uniform(0.1, 0.9, size))
    return [values.astype(dtype) for values in drawn.values()]


# Parameters within bounds that others set, or of the size that matters: by what is drawn and 0.1 < u < 0.9.
CONSTRAINED = {
    ("BetaNegativeBinomial", ("r", "alpha", "beta")): {"alpha": lambda p, u: p["alpha"] + 1},
    ("ConwayMaxwellPoisson", ("rate", "nu")): {"nu": lambda p, u: 0.4 + 2 * u},
    ("DiscreteWeibull", ("q", "beta")): {"beta": lambda p, u: 0.5 + 2 * u},
    ("GeneralizedExtremeValue", ("loc", "scale", "shape")): {"shape": lambda p, u: u - 0.5},
    ("GeneralizedPareto", ("loc", "scale", "shape")): {"shape": lambda p, u: u - 0.5},
    ("HurdleNegativeBinomial", ("gate", "r", "p")): {"p": lambda p, u: u},
    ("Hypergeometric", ("successes", "failures", "draws")): {
        "draws": lambda p, u: np.ceil((p["successes"] + p["failures"]) * u),
    },
    ("Hypergeometric", ("population", "successes", "draws")): {
        "successes": lambda p, u: np.floor(p["population"] * u), "draws": lambda p, u: np.ceil(p["population"] * u),
    },
    ("NormalInverseGaussian", ("loc", "alpha", "beta", "delta")): {"beta": lambda p, u: p["alpha"] * (2 * u - 1)},
    ("Soliton", ("k", "m", "delta")): {"m": lambda p, u: np.ceil(p["k"] * u)},
    ("TruncatedNormal", ("loc", "scale", "low", "high")): {"scale": lambda p, u: p["scale"] + 1},
    ("Zipf", ("power",)): {"power": lambda p, u: 1 + 4 * u},
    ("ZeroInflatedPoisson", ("gate", "log_rate")): {"log_rate": lambda p, u: 4 * u},
    ("Pert", ("low", "high", "peak", "weight")): {"peak": lambda p, u: p["low"] + (p["high"] - p["low"]) * u},
    ("Triangular", ("low", "high", "peak")): {"peak": lambda p, u: p["low"] + (p["high"] - p["low"]) * u},
}


def _draw(rng, constraint, size):
    if constraint.whole:
        return rng.integers(1, 40, size).astype(float)
    if constraint.lower == 0 and constraint.upper == 1:
        return rng.uniform(0.02, 0.98, size)
    if constraint.lower == 0:
        return np.exp(rng.uniform(-1.5, 2.5, size))
    return rng.normal(0.0, 2.0, size)


def scipys(family, names, parameters):
    """The distribution as SciPy has it, by the family's ``oracle`` of its first parametrisation; or ``Drawn``."""
    parameters = np.asarray(parameters, float)
    return _scipys(family, names, parameters.shape, parameters.tobytes())


@functools.cache  # SciPy takes a millisecond to make one, and tests ask for the same ones again
def _scipys(family, names, shape, numbers):
    first, parameters = family.parametrisations[0].names, np.frombuffer(numbers).reshape(shape)
    if names != first:
        rows = [CONVERSIONS[family.__name__, names](*map(arb, row)) for row in zip(*parameters, strict=True)]
        parameters = np.array([[float(value) for value in row] for row in rows]).T
    if not family.oracle:
        return Drawn(family, parameters)
    return eval(family.oracle, {"scipy": scipy, "numpy": np}, dict(zip(first, parameters, strict=True)))


class Drawn:
    """What SciPy has not, like its distributions: by a way to draw from it, its support and its true log density."""

    def __init__(self, family, parameters):
        assert family.__name__ in DRAWS, f"{family.__name__} names no oracle to test it against"
        self.family, self.parameters = family, parameters
        self.draw, self.ends = DRAWS[family.__name__]

    def rvs(self, random_state, size):
        rng = np.random.default_rng(random_state)
        return np.broadcast_to(self.draw(rng, *self.parameters), np.broadcast(*self.parameters).shape)

    def support(self):
        return tuple(np.zeros_like(self.parameters[0]) + end for end in self.ends(*self.parameters))

    def median(self):
        rng = np.random.default_rng(1)
        return np.median([self.draw(rng, *self.parameters) for _ in range(101)], axis=0)

    def logpdf(self, x):
        names = self.family.parametrisations[0].names
        rows = zip(x, *self.parameters, strict=True)
        with ctx.workprec(200):
            balls = (true_density(self.family, names, v, p) for v, *p in (map(arb, row) for row in rows))
            return np.array([*map(float, balls)])

    logpmf = logpdf


def _draw_soliton(rng, k, m, delta):
    """By the sum of the masses as they are defined."""

    def one(k, m, delta):
        x = np.arange(1.0, k + 1)
        ideal = np.concatenate([[1 / k], 1 / (x[1:] * (x[1:] - 1))])
        robust = np.where(x < m, 1 / (x * m), np.where(x == m, np.log(k / (m * delta)) / m, 0.0))
        return rng.choice(x, p=(ideal + robust) / (ideal + robust).sum())

    return np.array([one(*row) for row in zip(k, m, delta, strict=True)])


def _draw_conway_maxwell_poisson(rng, rate, nu):
    """By the sum of the masses as they are defined."""
    k = np.arange(450.0)[:, None]
    log_mass = k * np.log(rate) - nu * scipy.special.gammaln(k + 1)
    sums = np.cumsum(np.exp(log_mass - log_mass.max(axis=0)), axis=0)
    return (sums < rng.uniform(size=nu.shape) * sums[-1]).sum(axis=0).astype(float)


def _draw_polya_gamma(rng, b, z):
    """By the first of the gamma variables that it is the sum of, and the mean of the others."""
    shares = 1 / (2 * np.pi**2 * ((np.arange(400.0)[:, None] + 0.5) ** 2 + (z / (2 * np.pi)) ** 2))
    rest = b * np.tanh(z / 2) / (2 * z) - b * shares.sum(axis=0)
    return (rng.gamma(np.broadcast_to(b, shares.shape)) * shares).sum(axis=0) + rest


def _draw_skewed(rng, loc, scale, power, skew):
    distance = 2 * scale * (power * rng.gamma(1 / power)) ** (1 / power)
    return loc + np.where(rng.uniform(size=skew.shape) < skew, -skew * distance, (1 - skew) * distance)


def _draw_truncated(rng, loc, scale, low, high):
    ends = np.arctan((low - loc) / scale), np.arctan((high - loc) / scale)
    return np.clip(loc + scale * np.tan(rng.uniform(*ends)), low, high)


def _gated(draw, least=0.0):
    """Zeros with the probability of a gate, and draws, no less than ``least``."""

    def drawn(rng, gate, *parameters):
        return np.where(rng.uniform(size=gate.shape) < gate, 0.0, np.maximum(draw(rng, *parameters), least))

    return drawn


def _negative_binomial(rng, r, p):
    return rng.negative_binomial(r, p).astype(float)


def _continuous_bernoulli(rng, p):
    u = rng.uniform(size=p.shape)
    with np.errstate(invalid="ignore"):
        return np.where(p == 0.5, u, np.log1p(u * (2 * p - 1) / (1 - p)) / np.log(p / (1 - p)))


def _real_line(*parameters):
    return -np.inf, np.inf


def _half_line(*parameters):
    return 0.0, np.inf


def _unit(*parameters):
    return 0.0, 1.0


# A way to draw from each family that SciPy has not, and its support.
DRAWS = {
    "BetaNegativeBinomial": (
        lambda rng, r, a, b: rng.poisson(rng.gamma(r) * rng.gamma(b) / rng.gamma(a)).astype(float), _half_line
    ),
    "ConwayMaxwellPoisson": (_draw_conway_maxwell_poisson, _half_line),
    "ContinuousBernoulli": (_continuous_bernoulli, _unit),
    "Dirac": (lambda rng, value: value, lambda value: (value, value)),
    "HalfStudentT": (lambda rng, df, scale: abs(rng.standard_t(df)) * scale, _half_line),
    "DiscreteWeibull": (
        lambda rng, q, beta: np.ceil((np.log(rng.uniform(size=q.shape)) / np.log(q)) ** (1 / beta)) - 1, _half_line
    ),
    "HurdleGamma": (_gated(lambda rng, shape, scale: rng.gamma(shape, scale)), _half_line),
    "HurdleLogNormal": (_gated(lambda rng, loc, scale: rng.lognormal(loc, scale)), _half_line),
    "HurdleNegativeBinomial": (_gated(_negative_binomial, 1.0), _half_line),
    "HurdlePoisson": (_gated(lambda rng, rate: rng.poisson(rate), 1.0), _half_line),
    "Kumaraswamy": (lambda rng, a, b: (1 - rng.uniform(size=a.shape) ** (1 / b)) ** (1 / a), _unit),
    "Lindley": (
        lambda rng, shape: rng.gamma(np.where(rng.uniform(size=shape.shape) < shape / (1 + shape), 1.0, 2.0)) / shape,
        _half_line,
    ),
    "LogitNormal": (lambda rng, loc, scale: 1 / (1 + np.exp(-rng.normal(loc, scale))), _unit),
    "NoncentralBeta": (lambda rng, a, b, nc: rng.beta(a + rng.poisson(nc / 2), b), _unit),
    "PolyaGamma": (_draw_polya_gamma, _half_line),
    "RelaxedBernoulli": (
        lambda rng, t, p: 1 / (1 + np.exp(-(np.log(p / (1 - p)) + rng.logistic(size=p.shape)) / t)), _unit
    ),
    "SkewedExponentialPower": (_draw_skewed, _real_line),
    "Soliton": (_draw_soliton, lambda k, m, delta: (1.0, k)),
    "WienerFirstPassage": (
        lambda rng, alpha, tau, beta, delta: tau + alpha**2 * rng.beta(1.0, 5.0, size=tau.shape),
        lambda alpha, tau, beta, delta: (tau, np.inf),
    ),
    "VonMises": (lambda rng, loc, concentration: rng.vonmises(0.0, concentration) + loc, _real_line),
    "TruncatedCauchy": (_draw_truncated, lambda loc, scale, low, high: (low, high)),
    "ZeroInflatedBinomial": (
        _gated(lambda rng, n, p: rng.binomial(n.astype(int), p)), lambda gate, n, p: (0.0, n)
    ),
    "ZeroInflatedNegativeBinomial": (_gated(_negative_binomial), _half_line),
    "ZeroInflatedPoisson": (_gated(lambda rng, rate: rng.poisson(rate)), _half_line),
}


def points_of(family, names, parameters):
    """A point inside the support for each row of parameters, of their dtype."""
    drawn = scipys(family, names, parameters).rvs(random_state=1, size=len(parameters[0]))
    if family.__name__ in {"Beta", "Kumaraswamy", "LogitNormal", "NoncentralBeta", "RelaxedBernoulli"}:
        drawn = np.clip(drawn, 1e-3, 1 - 1e-3)
    return np.asarray(drawn, parameters[0].dtype)


def integration(family):
    """Parameters, and points with weights whose densities there sum to 1; the points fill the support."""
    names = family.parametrisations[0].names
    drawn = dict(zip(names, parameters_of(family, names, size=8), strict=True))
    drawn |= {name: tamed(drawn) for name, tamed in TAMED.get(family.__name__, {}).items()}
    oracle = scipys(family, names, [*drawn.values()])
    if family.discrete:
        lower, upper = np.maximum(oracle.support()[0], -1000.0), oracle.support()[1]
        return drawn, lower + np.arange(1.0 + min(2000, np.max(upper - lower)))[:, None], 1.0
    middle = drawn[CUSPS[family.__name__]] if family.__name__ in CUSPS else oracle.median()
    if family.__name__ == "VonMises":
        return drawn, *quadrature(middle - np.pi, middle + np.pi, middle)
    return drawn, *quadrature(*oracle.support(), middle)


# Where much of the mass lies beyond what is summed, at one point or far from the median, or where floats cannot tell x
# from an end, other parameters.
TAMED = {
    "Beta": {"beta": lambda p: p["beta"] + 1},
    "BetaNegativeBinomial": {"alpha": lambda p: p["alpha"] + 12},
    "JohnsonSB": {"delta": lambda p: p["delta"] + 1},
    "Kumaraswamy": {"b": lambda p: p["b"] + 1},
    "LogitNormal": {"scale": lambda p: p["scale"] / 5},
    "RelaxedBernoulli": {"temperature": lambda p: p["temperature"] + 1},
    "SkewedExponentialPower": {"power": lambda p: np.minimum(p["power"], 4)},
    "HurdleGamma": {"gate": lambda p: 0.0 * p["gate"]},
    "HurdleLogNormal": {"gate": lambda p: 0.0 * p["gate"], "scale": lambda p: p["scale"] / 5},
    "NoncentralBeta": {"beta": lambda p: p["beta"] + 1},
    "NoncentralStudentT": {"df": lambda p: p["df"] + 1},
    "YuleSimon": {"alpha": lambda p: p["alpha"] + 6},
    "Zipf": {"power": lambda p: p["power"] + 6},
}
# What a density integrates to where not to 1: the rest is at infinity.
DEFECTIVE = {
    "WienerFirstPassage": lambda p: (
        np.expm1(-2 * p["alpha"] * p["beta"] * p["delta"]) / np.expm1(-2 * p["alpha"] * p["delta"])
    ),
}
CUSPS = {"AsymmetricLaplace": "loc", "SkewedExponentialPower": "loc", "Triangular": "peak"}


def quadrature(lower, upper, middle):
    """Points and weights of double-exponential quadrature from ``lower`` to ``middle`` and on to ``upper``."""
    t = np.arange(-5.0, 5.0, 1 / 32)[:, None]
    s, ds = np.pi / 2 * np.sinh(t), np.pi / 2 * np.cosh(t) / 32
    parts = []
    for end, inwards in ((lower, 1.0), (upper, -1.0)):
        near, far = 1.0 / (1.0 + np.exp(-2 * s)), 1.0 / (1.0 + np.exp(2 * s))
        bounded, length = np.isfinite(end), np.where(np.isfinite(end), abs(middle - end), 1.0)
        start = np.where(bounded, end, middle)
        parts.append((
            start + inwards * np.where(bounded, length * near, -np.exp(s)),
            ds * np.where(bounded, 2 * length * near * far, np.exp(s)),
        ))
    return np.concatenate([x for x, _ in parts]), np.concatenate([weights for _, weights in parts])


def density(family, names, x, parameters):
    """The log density at ``x``, and its partial derivatives in ``x`` and in each parameter."""
    distribution = family(**dict(zip(names, parameters, strict=True)))
    return value_and_partials(logpdf(distribution, x), (x, *parameters))
