"""Worst points of distribution functions in benchmarks/ACCURACY.md that were mended, with their derivatives.

Truths are balls (python-flint), derivatives differences of them.  A probability next to 0 is no better known than its
logarithm: errors are in units in the last place times that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import vecdist
from vecdist.distributions import FAMILIES

BITS, STEP = 1500, arb(2) ** -400
BOUND = 4.0  # units in the last place
HALF = arb(1) / 2


def below(z: arb) -> arb:
    return (-z / arb(2).sqrt()).erfc() / 2


def truncated(x: arb, loc: arb, scale: arb, low: arb, high: arb) -> arb:
    """By the tail that does not cancel."""
    at, start, end = ((v - loc) / scale for v in (x, low, high))
    if start + end > 0:
        return (below(-start) - below(-at)) / (below(-start) - below(-end))
    return (below(at) - below(start)) / (below(end) - below(start))


def semicircle(x: arb, radius: arb) -> arb:
    return ((1 + x / radius) / 2).beta_lower(HALF * 3, HALF * 3, 1)


def extreme(x: arb, loc: arb, scale: arb, shape: arb) -> arb:
    return (-((1 + shape * (x - loc) / scale).log() / -shape).exp()).exp()


def johnson(x: arb, loc: arb, scale: arb, gamma: arb, delta: arb) -> arb:
    return below(gamma + delta * ((x - loc) / scale).asinh())


def discrete(x: arb, q: arb, beta: arb) -> arb:
    return 1 - (q.log() * ((x + 1).log() * beta).exp()).exp()


def inflated(x: arb, gate: arb, rate: arb) -> arb:
    return gate + (1 - gate) * rate.gamma_upper(x + 1, 1)


def kernel(order: int) -> Callable[..., arb]:
    return lambda x, loc, scale: ((1 + (x - loc) / scale) / 2).beta_lower(arb(order), arb(order), 1)


def cosine(x: arb, loc: arb, scale: arb) -> arb:
    z = (x - loc) / scale
    return (1 + z + (arb.pi() * z).sin() / arb.pi()) / 2


def triangular(x: arb, low: arb, high: arb, peak: arb) -> arb:
    if x < peak:
        return (x - low) ** 2 / ((high - low) * (peak - low))
    return 1 - (high - x) ** 2 / ((high - low) * (high - peak))


def continuous(x: arb, p: arb) -> arb:
    odds = p / (1 - p)
    return ((odds.log() * x).exp() - 1) / (odds - 1)


def truncated_cauchy(x: arb, loc: arb, scale: arb, low: arb, high: arb) -> arb:
    at, start, end = (((v - loc) / scale).atan() for v in (x, low, high))
    return (at - start) / (end - start)


def laplace(x: arb, loc: arb, scale: arb, asymmetry: arb) -> arb:
    square = asymmetry**2
    if x < loc:
        return square / (1 + square) * ((x - loc) / scale / asymmetry).exp()
    return 1 - ((loc - x) / scale * asymmetry).exp() / (1 + square)


def relaxed(x: arb, temperature: arb, p: arb) -> arb:
    return 1 / (1 + ((p / (1 - p)).log() - temperature * (x / (1 - x)).log()).exp())


def lindley(x: arb, shape: arb) -> arb:
    return 1 - (1 + shape * x / (1 + shape)) * (-shape * x).exp()


def lower_beta(x: arb, a: arb, b: arb) -> arb:
    return x.beta_lower(a, b, 1)


def student(x: arb, df: arb, loc: arb, scale: arb) -> arb:
    z = (x - loc) / scale
    tail = lower_beta(df / (df + z**2), df / 2, HALF) / 2
    return tail if z < 0 else 1 - tail


def fisher(x: arb, df1: arb, df2: arb) -> arb:
    return lower_beta(df1 * x / (df1 * x + df2), df1 / 2, df2 / 2)


def wald(x: arb, mean: arb, shape: arb) -> arb:
    root = (shape / x).sqrt()
    return below(root * (x / mean - 1)) + (2 * shape / mean).exp() * below(-root * (x / mean + 1))


def chromatographic(x: arb, loc: arb, scale: arb, rate: arb) -> arb:
    z, ratio = (x - loc) / scale, rate * scale
    return below(z) - (ratio**2 / 2 - ratio * z).exp() * below(z - ratio)


def inverse_chi2(x: arb, df: arb) -> arb:
    return (1 / (2 * x)).gamma_upper(df / 2, 1)


def skewed(x: arb, loc: arb, scale: arb, power: arb, skew: arb) -> arb:
    side = skew if x < loc else 1 - skew
    decay = ((abs(x - loc) / (2 * scale * side)).log() * power).exp() / power
    tail = side * decay.gamma_upper(1 / power, 1)
    return tail if x < loc else 1 - tail


CDF = {
    "AsymmetricLaplace": laplace, "Biweight": kernel(3), "ContinuousBernoulli": continuous, "Cosine": cosine,
    "DiscreteWeibull": discrete, "Epanechnikov": kernel(2), "ExGaussian": chromatographic, "FisherSnedecor": fisher,
    "GeneralizedExtremeValue": extreme, "InverseChi2": inverse_chi2, "InverseGaussian": wald, "JohnsonSU": johnson,
    "Lindley": lindley, "LogNormal": lambda x, loc, scale: below((x.log() - loc) / scale),
    "LogitNormal": lambda x, loc, scale: below(((x / (1 - x)).log() - loc) / scale), "RelaxedBernoulli": relaxed,
    "Semicircle": semicircle, "SkewedExponentialPower": skewed, "StudentT": student,
    "SymmetricTriangular": lambda x, loc, scale: triangular(x, loc - scale, loc + scale, loc),
    "Triangular": triangular, "Triweight": kernel(4), "TruncatedCauchy": truncated_cauchy,
    "TruncatedNormal": truncated, "Uniform": lambda x, low, high: (x - low) / (high - low),
    "ZeroInflatedPoisson": inflated,
}
END = 391.15625 - 2.0**-14  # next to loc + scale
COMPACT = ("Biweight", "Cosine", "Epanechnikov", "SymmetricTriangular", "Triweight")
FAR = [
    ({"loc": 0.01572176320675179, "scale": 0.007156984570073687, "low": -83.32442294273322, "high": -65.68403921962944},
     -65.6840402624246),
    ({"loc": 40.92689080275735, "scale": 0.027195960053461754, "low": -80.52210062018172, "high": -80.52078709008386},
     -80.52078967746496),
    ({"loc": 246.20860434058716, "scale": 0.020787468224982186, "low": 8.87360421337865, "high": 8.88915177194955},
     8.889107018051334),
    ({"loc": 838.312, "scale": 80.08, "low": -0.354617, "high": -0.353597}, -0.354091),
    ({"loc": 0.0, "scale": 0.01, "low": 30.0, "high": 50.0}, 30.00001),
]
POINTS = [
    *(("TruncatedNormal", *row) for row in FAR),
    ("Semicircle", {"radius": 0.961185}, 0.9611849999999),
    ("Semicircle", {"radius": 0.961185}, -0.9611849999999),
    ("JohnsonSU", {"loc": 1.15563, "scale": 294.529, "gamma": 685.423, "delta": 30.5428}, -8.02665e11),
    ("GeneralizedExtremeValue", {"loc": -914.85, "scale": 20.2619, "shape": 0.105134}, -908.066),
    ("DiscreteWeibull", {"q": 0.25, "beta": 2.5}, 3.0),
    *((name, {"loc": 0.03125, "scale": 391.125}, END) for name in COMPACT),
    *((name, {"loc": -0.03125, "scale": 391.125}, -END) for name in COMPACT),
    *((name, {"loc": -17.673, "scale": 0.112157}, -17.6585) for name in COMPACT),
    ("Uniform", {"low": -7.25926, "high": 7.85114}, 7.85113),
    ("Triangular", {"low": -0.328105, "high": 202.033, "peak": 35.1545}, 64.8625),
    ("Triangular", {"low": 0.25, "high": 202.033, "peak": 0.250001}, 0.26),
    ("ContinuousBernoulli", {"p": 5.87681e-06}, 0.9999),
    ("ContinuousBernoulli", {"p": 0.568962}, 1e-30),
    ("TruncatedCauchy", {"loc": 1.00822, "scale": 0.074386, "low": 55.9713, "high": 56.3998}, 56.3997),
    ("TruncatedCauchy", {"loc": 31.2968, "scale": 0.554784, "low": 0.00181811, "high": 2.87407}, 2.874),
    ("AsymmetricLaplace", {"loc": -643.01, "scale": 0.00405116, "asymmetry": 0.00676086}, -643.0099),
    ("LogNormal", {"loc": 583.074 / 8, "scale": 0.00160763}, 4.51e31),
    ("LogNormal", {"loc": 4.69889, "scale": 0.00166456}, 109.717),
    ("LogitNormal", {"loc": 6.51786, "scale": 0.0071912}, 0.998529),
    ("RelaxedBernoulli", {"temperature": 384.809, "p": 0.999999}, 0.508068),
    ("Lindley", {"shape": 0.00187269}, 0.262227),
    ("ZeroInflatedPoisson", {"gate": 0.375731, "rate": 2.15036}, 24.0),
    ("StudentT", {"df": 0.108123, "loc": 0.0632085, "scale": 0.21335}, -8.50706e37),
    ("StudentT", {"df": 845.893, "loc": 0.0, "scale": 59.459}, 29.6858),
    ("FisherSnedecor", {"df1": 939.722, "df2": 0.054136}, 8.50706e37),
    ("FisherSnedecor", {"df1": 538.266, "df2": 0.0216259}, 7.32914),
    ("InverseChi2", {"df": 0.232187}, 2.58705e23),
    ("InverseGaussian", {"mean": 180.109, "shape": 0.00298335}, 7.78497e07),
    ("InverseGaussian", {"mean": 0.081554, "shape": 16.9131}, 0.0482735),
    ("ExGaussian", {"loc": 0.290394, "scale": 5.33684, "rate": 0.0025539}, 0.251288),
    ("SkewedExponentialPower", {"loc": -1.3, "scale": 0.004, "power": 447.5, "skew": 0.25}, -1.3021),
]
GONE = [  # what has to be 0 although a power overflows
    ("GeneralizedExtremeValue", {"loc": -0.014490062652846273, "scale": 53.57510870212425,
                                 "shape": 0.027528241603180816}, -1946.2015903652657),
    ("DiscreteWeibull", {"q": 0.25, "beta": 900.0}, 5.0),
    ("Gumbel", {"loc": 0.185133, "scale": 0.358512}, -274.558),
    ("Kumaraswamy", {"a": 1.26211, "b": 335.929}, 1.0),
]


def found(verb: str, name: str, given: dict[str, float], x: float, dtype: type) -> tuple[list[Any], list[arb]]:
    """The value, the partials in the parameters, and the exact arguments."""
    row = [np.array([each], dtype) for each in (x, *given.values())]
    distribution = FAMILIES[name](**dict(zip(given, row[1:], strict=True)))
    value, partials = vecdist.value_and_partials(getattr(vecdist, verb)(distribution, row[0]), tuple(row[1:]))
    return [value[0], *(each[0] for each in partials)], [arb(float(each[0])) for each in row]


def truth(name: str, at: list[arb]) -> list[arb]:
    values = [CDF[name](*at)]
    for place in range(1, len(at)):
        step = STEP * abs(at[place]) if at[place] != 0 else STEP
        up, down = ([v + s if i == place else v for i, v in enumerate(at)] for s in (step, -step))
        values.append((CDF[name](*up) - CDF[name](*down)) / (2 * step))
    return values


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point[0])
def test_within_four_units(interpreter: Any, point: tuple[str, dict[str, float], float], dtype: type) -> None:
    name, given, x = point
    if dtype is np.float32 and name == "Semicircle":
        x = float(np.float32(x * (1 - 1e-6)))
    values, at = found("cdf", name, given, x, dtype)
    with ctx.workprec(BITS):
        true = truth(name, at)
        steepness = max(1.0, *(abs(float(tail.log())) for tail in (true[0], 1 - true[0])))
    errors = [
        abs(float(mine) - float(exact)) / float(np.spacing(dtype(abs(float(exact)) or 1.0)))
        for mine, exact in zip(values, true, strict=True)
    ]
    assert max(errors) <= BOUND * steepness, dict(zip(("cdf", *given), errors, strict=True))


@pytest.mark.parametrize("verb", ["cdf", "sf"])
@pytest.mark.parametrize("point", GONE, ids=lambda point: point[0])
def test_slopes_are_zero_where_a_power_overflows(interpreter: Any, point: Any, verb: str) -> None:
    values, _ = found(verb, *point, np.float64)
    assert values[0] in {0.0, 1.0}
    np.testing.assert_array_equal(values[1:], 0.0)
