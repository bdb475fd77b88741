"""Worst points of benchmarks/ACCURACY.md that were mended: what once cancelled, was amplified or overflowed there.

Errors are in units in the last place of the result itself, or of the term that is named where that cannot be better.
"""

from typing import Any

import numpy as np
import pytest
from family_cases import density
from family_truth import truth

from vecdist.distributions import FAMILIES

BOUND = 4.0  # units in the last place

Point = tuple[str, dict[str, float], float, str, float]

# The family, its parameters, x, the quantities, and the size of the largest term of the formula, if it is larger.
POINTS: list[Point] = [
    # the angle, or the mass, of a narrow interval, and of one far out
    ("TruncatedCauchy", {"loc": 0.0439387, "scale": 711.61, "low": -0.00157047, "high": 0.0143949}, 0.00167776,
     "logpdf low high", 0.0),
    ("TruncatedCauchy", {"loc": 0.0439387, "scale": 711.61, "low": -0.00157047, "high": 0.0143949}, 0.00167776,
     "loc", 1.6e-7),
    ("TruncatedCauchy", {"loc": 0.0439387, "scale": 711.61, "low": -0.00157047, "high": 0.0143949}, 0.00167776,
     "scale", 9e-12),
    ("TruncatedCauchy", {"loc": -0.00127145, "scale": 957.379, "low": -614.32, "high": -614.312}, -614.318,
     "logpdf low high", 0.0),
    ("TruncatedCauchy", {"loc": -0.00127145, "scale": 957.379, "low": -614.32, "high": -614.312}, -614.318,
     "loc", 9e-4),
    ("TruncatedNormal", {"loc": -0.100651, "scale": 142.33, "low": -0.00763659, "high": -0.00346349}, -0.00763634,
     "logpdf low high", 0.0),
    ("TruncatedNormal", {"loc": -0.100651, "scale": 142.33, "low": -0.00763659, "high": -0.00346349}, -0.00763634,
     "loc", 4.5e-6),
    ("TruncatedNormal", {"loc": 40.9269, "scale": 0.027196, "low": -80.5221, "high": -80.5208}, -80.5208,
     "low high", 0.0),
    ("TruncatedNormal", {"loc": -0.250932, "scale": 47.0262, "low": 992.994, "high": 992.995}, 992.995,
     "low high", 0.0),
    ("TruncatedNormal", {"loc": 724.755, "scale": 8.51917, "low": 0.633464, "high": 913.821}, 756.642, "low high", 0.0),
    # gaps of digamma that nearly cancel
    ("BetaBinomial", {"n": 83224.0, "alpha": 355.363, "beta": 0.00150855}, 83224.0, "alpha beta", 0.0),
    ("BetaBinomial", {"n": 36111.0, "alpha": 0.00206598, "beta": 170.729}, 1.0, "alpha beta", 0.0),
    ("BetaNegativeBinomial", {"r": 17.2855, "alpha": 15.465, "beta": 0.0117998}, 0.0, "r alpha beta", 0.0),
    ("BetaNegativeBinomial", {"r": 0.00250605, "alpha": 0.0149123, "beta": 2.06868}, 660.0, "r alpha beta", 0.0),
    ("NegativeBinomial", {"r": 0.991256, "p": 0.999578}, 0.0, "logpdf r p", 0.0),
    ("ZeroInflatedNegativeBinomial", {"gate": 0.347964, "r": 0.00217507, "p": 0.99998}, 0.0,
     "logpdf gate r p", 0.0),
    ("ZeroInflatedBinomial", {"gate": 0.99984, "n": 7.0, "p": 2.29653e-06}, 0.0, "logpdf gate p", 0.0),
    # a mass of 0 that is much less than the gate
    ("ZeroInflatedPoisson", {"gate": 4.884155598265295e-05, "rate": 17.119148774274713}, 0.0, "logpdf gate rate", 0.0),
    ("ZeroInflatedBinomial", {"gate": 0.9058980204193762, "n": 13916.0, "p": 0.008762626646314203}, 0.0,
     "logpdf gate p", 0.0),
    ("ZeroInflatedNegativeBinomial", {"gate": 0.9999989356839734, "r": 22.030420069942874,
                                      "p": 1.0882658911542551e-06}, 0.0, "logpdf gate r p", 0.0),
    # an order next to -1
    ("NoncentralChi2", {"df": 0.006836174006422163, "noncentrality": 1.3540080053223442}, 0.015058486040488178,
     "logpdf x df noncentrality", 2.0),
    ("NoncentralChi2", {"df": 0.00120989, "noncentrality": 2.68284}, 109.468, "x df", 2.7),
    ("NoncentralChi2", {"df": 0.0185149, "noncentrality": 27.7886}, 13.7265, "df", 0.1),
    ("NoncentralChi2", {"df": 0.0625257, "noncentrality": 5.4049}, 2.05261, "df", 0.2),
    # powers of what is next to 1
    ("Weibull", {"shape": 890.776, "scale": 182.238}, 182.315, "logpdf x shape scale", 0.0),
    ("Frechet", {"shape": 714.152, "scale": 137.074}, 137.007, "x scale", 0.0),
    ("Frechet", {"shape": 714.152, "scale": 137.074}, 137.007, "logpdf", 1.6),
    ("LogLogistic", {"scale": 0.0129319, "shape": 714.108}, 0.0128973, "x scale shape", 0.0),
    ("LogLogistic", {"scale": 0.0192365, "shape": 736.323}, 0.0192544, "logpdf", 11.0),
    ("RelaxedBernoulli", {"temperature": 854.665, "p": 0.581779}, 0.500481, "logpdf x p", 0.0),
    ("RelaxedBernoulli", {"temperature": 854.665, "p": 0.581779}, 0.500481, "temperature", 1e-3),
    ("GeneralizedNormal", {"loc": 0.00146413, "scale": 0.55465, "power": 898.086}, -0.978883,
     "logpdf x loc scale power", 0.0),
    ("SkewedExponentialPower", {"loc": 367.697, "scale": 529.327, "power": 193.516, "skew": 0.998185}, -2547.46,
     "logpdf x loc scale power skew", 0.0),
    # exponentials of large numbers
    ("Gumbel", {"loc": -121.818, "scale": 0.26299}, -205.711, "logpdf x loc scale", 0.0),
    ("Moyal", {"loc": 0.0142673, "scale": 0.0234076}, -7.45269, "logpdf x loc scale", 0.0),
    ("Moyal", {"loc": -0.0342585, "scale": 20.9406}, 0.119184, "x loc", 0.0),
    ("Gompertz", {"shape": 133.088, "rate": 0.583327}, 660.013, "logpdf x shape rate", 0.0),
    ("GeneralizedExtremeValue", {"loc": -1.67705, "scale": 0.904778, "shape": 0.0743908}, -13.8395,
     "logpdf x loc scale shape", 0.0),
    ("GeneralizedPareto", {"loc": -34.4207, "scale": 0.0384647, "shape": -0.000768813}, 15.61,
     "logpdf x loc scale shape", 0.0),
    # a derivative in the shape next to its zero, and by a logarithm less what nearly cancels it
    *[("GeneralizedPareto", {"loc": loc, "scale": scale, "shape": shape}, x, "x loc scale shape", 0.0)
      for loc, scale, shape, x in [
          (-0.22403377735763086, 46.8765389669452, -0.0005983312876691431, 92.7834007118196),
          (-9.278605694733578, 0.18489579869797032, 0.012081591435169752, -8.890101024251196),
          (0.0, 1.0, 0.2, 2.437), (0.0, 1.0, 0.7, 3.633), (0.0, 1.0, -0.3, 1.491),
      ]],
    ("GeneralizedExtremeValue", {"loc": 89.29054646936811, "scale": 164.70947609527377,
                                 "shape": -0.00035456684602681166}, -18703.431130050376, "shape", 0.0),
    ("GeneralizedExtremeValue", {"loc": -14.279985403965222, "scale": 0.0029484637904096597,
                                 "shape": 0.12311168428351044}, -14.287389851335186, "shape", 0.0),
    # a difference of powers of neighbours
    ("DiscreteWeibull", {"q": 0.00011896096874015048, "beta": 0.6921647223679701}, 0.0, "logpdf q", 0.0),
    ("DiscreteWeibull", {"q": 0.9999722718121803, "beta": 18.048787585545277}, 1.0, "logpdf q", 0.0),
    ("DiscreteWeibull", {"q": 0.9906461921048291, "beta": 8.0277073428316}, 1.0, "logpdf beta", 0.0),
    *[("DiscreteWeibull", {"q": q, "beta": beta}, x, "logpdf q beta", 0.0) for q, beta, x in [
        (0.999975, 22.7685, 1.0), (0.960962, 0.962053, 27.0), (0.963629, 0.0223972, 4.22359e59),
        (0.0026885, 107.911, 34.0), (0.00185756, 0.0298139, 65.0), (0.512838, 1.12234, 1.0),
    ]],
    # a normal score whose terms nearly cancel, and a quotient next to 1
    ("JohnsonSU", {"loc": 4.050729097454828, "scale": 0.0012593722397270567, "gamma": -720.5004503115129,
                   "delta": 497.633598423023}, 4.053256541815855, "logpdf x loc scale gamma delta", 0.0),
    ("JohnsonSU", {"loc": 1.1792599798304761, "scale": 0.0014389525601666685, "gamma": -311.1676484564859,
                   "delta": 0.4817445730550134}, 1.0102756573237407e278, "logpdf x gamma delta", 0.0),
    ("JohnsonSU", {"loc": 0.0, "scale": 3.0, "gamma": -700.0, "delta": 700.0000001e8}, 3e-8,
     "logpdf x gamma delta", 0.0),
    ("JohnsonSU", {"loc": 4.033364427713562, "scale": 0.015207252628750093, "gamma": 0.6874007343811928,
                   "delta": 0.018183782773017534}, 4.033417637788837, "logpdf", 0.0),
    # next to an end of the support, or to a location
    *[(family, {"loc": -0.288702, "scale": 5.31533}, -5.60403, "logpdf x loc scale", 2.0)
      for family in ("Epanechnikov", "Biweight", "Triweight", "Cosine", "SymmetricTriangular")],
    ("Semicircle", {"radius": 0.0337926}, 0.03379259, "x radius", 0.0),
    # a density next to 1, and its derivative next to 0
    ("Beta", {"alpha": 1.0178989490486854, "beta": 1.0}, 0.8274972065998082, "logpdf x alpha beta", 0.0),
    ("Beta", {"alpha": 1.0, "beta": 0.9375}, 0.03125, "logpdf x alpha beta", 0.0),
    ("BetaPrime", {"alpha": 0.9999998777653674, "beta": 1.0}, 1e-7, "logpdf x alpha beta", 0.0),
    ("Uniform", {"low": 0.9999999574658066, "high": 2.0053588833114553}, 1.989021729660732, "logpdf low high", 0.0),
    ("Semicircle", {"radius": 0.06702267446010611}, -0.06663273568155093, "logpdf x radius", 0.0),
    ("Semicircle", {"radius": 0.043713454696016014}, -0.030928135989240824, "logpdf x radius", 0.0),
    ("LogNormal", {"loc": 583.074, "scale": 0.00160763}, 1.69576e253, "x loc scale", 0.0),
    ("LogitNormal", {"loc": 6.51786, "scale": 0.0071912}, 0.998529, "x loc scale", 0.0),
    ("InverseGaussian", {"mean": 0.00104895, "shape": 179.009}, 0.00104996, "mean", 0.0),
    ("Pareto", {"shape": 0.00119134, "scale": 0.405373}, 0.405374, "x shape scale", 0.0),
    ("Lomax", {"loc": -0.0315243, "scale": 0.0171373, "shape": 0.0189574}, -0.0315243, "logpdf x loc scale shape", 0.0),
    ("Zipf", {"power": 10.6366}, 1.0, "logpdf power", 0.0),
    ("LogUniform", {"low": 0.579798, "high": 2.87499}, 0.624646, "logpdf low high", 0.0),
    ("LogUniform", {"low": 0.0546293, "high": 0.53534}, 0.438196, "logpdf low high", 0.0),
    # normalising constants next to 1, and their derivatives next to 0
    ("ContinuousBernoulli", {"p": 0.498362}, 0.0588896, "logpdf x p", 0.0),
    ("GeneralizedNormal", {"loc": -449.263, "scale": 0.503704, "power": 52.5548}, -449.537, "logpdf power", 0.0),
    ("GeneralizedNormal", {"loc": 8.84705, "scale": 226.812, "power": 2.82664}, 52.3192, "power", 0.016),
    ("SkewedExponentialPower", {"loc": 0.653741, "scale": 0.515439, "power": 2.71979, "skew": 0.985292}, 0.435032,
     "power", 0.015),
    ("SkewedExponentialPower", {"loc": -220.096, "scale": 27.2573, "power": 4.60924, "skew": 0.0002199}, -200.192,
     "power", 0.0),
    ("Skellam", {"rate1": 0.459955, "rate2": 0.00527261}, 0.0, "rate1 rate2", 1.0),
    ("Skellam", {"rate1": 0.00245996, "rate2": 0.544822}, 0.0, "rate1 rate2", 1.0),
    ("StudentT", {"df": 90.3031, "loc": 0.0021632, "scale": 46.1794}, -254.321, "x loc scale", 0.0),
    # what is next to 1 less a power, and tiny powers of tiny numbers
    *[("Kumaraswamy", {"a": a, "b": b}, x, "logpdf x b", 0.0) for a, b, x in [
        (7.36792, 0.00103094, 1.0 - 2.0**-50), (0.00421417, 0.00465147, 1.0 - 2.0**-44), (2.0, 3.0, 1.0 - 2.0**-53),
        (0.00267862, 42.2599, 1.49167e-154), (1.0, 5.0, 1e-28), (0.5, 2.0, 0.25),
    ]],
    ("Kumaraswamy", {"a": 7.36792, "b": 0.00103094}, 1.0 - 2.0**-50, "a", 1 / 7.36792),
    ("Kumaraswamy", {"a": 0.00421417, "b": 0.00465147}, 1.0 - 2.0**-44, "a", 1 / 0.00421417),
    # beyond the squares and quotients that floats hold
    ("FisherSnedecor", {"df1": 0.518495, "df2": 0.00204685}, 1.77418e305, "x df1", 354.0),
    ("StudentT", {"df": 0.108123, "loc": 0.0632085, "scale": 1e-3}, 1e306, "logpdf x df scale", 1e3),
    ("InverseGaussian", {"mean": 3.0, "shape": 1.0}, 1e160, "logpdf x mean shape", 0.0),
]
SINGLE: list[Point] = [
    ("Kumaraswamy", {"a": 1.0, "b": 40.0}, 1e-28, "logpdf x a b", 0.0),
    ("Kumaraswamy", {"a": 7.36792, "b": 0.00103094}, 0.9999998, "logpdf x b", 0.0),
    ("Beta", {"alpha": 1.0178989490486854, "beta": 1.0}, 0.8274972065998082, "logpdf x alpha beta", 0.0),
    ("LogUniform", {"low": 0.579798, "high": 2.87499}, 0.624646, "logpdf low high", 0.0),
    ("ContinuousBernoulli", {"p": 0.498362}, 0.0588896, "logpdf x p", 0.0),
    ("GeneralizedNormal", {"loc": -449.263, "scale": 0.503704, "power": 52.5548}, -449.537, "logpdf power", 0.0),
    ("SkewedExponentialPower", {"loc": 0.00469384, "scale": 18.4641, "power": 3.37405, "skew": 7.15423e-05}, 16.3644,
     "power", 0.0),
    ("Skellam", {"rate1": 0.00214941, "rate2": 0.228098}, 0.0, "rate1 rate2", 1.0),
    ("NoncentralChi2", {"df": 0.0012459038, "noncentrality": 0.9396537}, 0.01862295, "x df", 26.0),
    ("NoncentralChi2", {"df": 0.20996395, "noncentrality": 136.15982}, 136.26357, "df", 0.0),
    ("ZeroInflatedBinomial", {"gate": 0.9539265, "n": 13749.0, "p": 0.0039969464}, 0.0, "logpdf gate p", 0.0),
    ("DiscreteWeibull", {"q": 0.9999988, "beta": 0.02460748}, 8.5070587e37, "logpdf q beta", 0.0),
    ("DiscreteWeibull", {"q": 0.8646742, "beta": 0.0037837548}, 8.5070587e37, "logpdf q beta", 0.0),
    *[("DiscreteWeibull", {"q": q, "beta": beta}, x, "logpdf q beta", 0.0) for q, beta, x in [
        (0.9998069, 1.6, 3.0), (0.325892, 5.38611, 1.0), (0.999894, 0.206431, 1.03924e19),
        (0.999994, 0.388743, 2.82965e13), (0.999894, 35.492, 1.0),
    ]],
    ("GeneralizedPareto", {"loc": -0.0011969861, "scale": 0.18749157, "shape": -0.00014560249}, 0.36908343,
     "x loc scale shape", 0.0),
    ("Semicircle", {"radius": 0.002515757}, 0.002515738, "logpdf x radius", 0.0),
    ("Semicircle", {"radius": 0.043713454}, -0.030928135, "logpdf x radius", 0.0),
    ("JohnsonSU", {"loc": 0.00166774, "scale": 28.0238, "gamma": 982.76, "delta": 22.6227}, -1.35732e20,
     "logpdf x loc scale gamma delta", 0.0),
    ("StudentT", {"df": 0.108123, "loc": 0.0632085, "scale": 0.21335}, -8.50706e37, "logpdf x df loc scale", 0.0),
    ("HalfStudentT", {"df": 0.108123, "scale": 0.21335}, 8.50706e37, "logpdf x df scale", 0.0),
    ("Lomax", {"loc": 1.46624, "scale": 0.0420002, "shape": 0.00894081}, 8.50706e37, "logpdf x loc scale shape", 0.0),
    ("Cauchy", {"loc": 0.0632085, "scale": 0.01}, -8.50706e37, "logpdf x loc scale", 0.0),
    ("HalfCauchy", {"scale": 0.01}, 8.50706e37, "logpdf x scale", 0.0),
    ("Pareto", {"shape": 0.0143954, "scale": 0.145535}, 8.50706e37, "logpdf x shape scale", 0.0),
    ("FisherSnedecor", {"df1": 512.0, "df2": 0.03125}, 8.50706e37, "x", 0.0),
    ("InverseGaussian", {"mean": 361.0, "shape": 0.0019}, 4.4e28, "logpdf x mean shape", 0.0),
    ("GeneralizedNormal", {"loc": -0.113822, "scale": 0.1617, "power": 0.001}, 8e37, "logpdf x loc scale", 0.0),
]


def units(dtype: type, name: str, given: dict[str, float], x: float, size: float) -> dict[str, float]:
    """The error of the value and of each partial derivative."""
    family, names = FAMILIES[name], tuple(given)
    row = [np.array([each], dtype) for each in (x, *given.values())]
    value, partials = density(family, names, row[0], row[1:])
    true_value, true_partials = truth(family, names, row[0][0], [each[0] for each in row[1:]])
    triples = zip(("logpdf", "x", *names), (value, *partials), (true_value, *true_partials), strict=True)
    return {
        key: abs(float(mine[0]) - true) / float(np.spacing(dtype(max(abs(true), size)))) for key, mine, true in triples
    }


@pytest.mark.parametrize(("dtype", "point"), [
    *((np.float64, point) for point in POINTS), *((np.float32, point) for point in SINGLE),
], ids=lambda each: each[0] if isinstance(each, tuple) else each.__name__)
def test_within_four_units(interpreter: Any, dtype: type, point: Point) -> None:
    name, given, x, quantities, size = point
    errors = units(dtype, name, given, x, size)
    assert {each: errors[each] for each in quantities.split() if not errors[each] <= BOUND} == {}
