"""Means, variances and entropies: where they are infinite, and with all their digits at parameters of any size."""

from functools import partial

import numpy as np
import pytest
from balls import certified
from family_cases import EVERY_FAMILY, parameters_of
from flint import arb
from moment_truth import TRUTH

from vecdist import affine, entropy, hurdle, mean, mixture, value_and_partials, variance, zero_inflated
from vecdist.distributions import FAMILIES, Pareto, YuleSimon
from vecdist.verbs.tails_and_moments import known

pytestmark = pytest.mark.usefixtures("interpreter")

# The parameter of a tail that falls as a power of x, and up to where the mean and the variance are infinite.
HEAVY = {
    "BetaNegativeBinomial": ("alpha", 1, 2), "BetaPrime": ("beta", 1, 2), "FisherSnedecor": ("df2", 2, 4),
    "Frechet": ("shape", 1, 2), "HalfStudentT": ("df", 1, 2), "InverseChi2": ("df", 2, 4),
    "InverseGamma": ("shape", 1, 2), "LogLaplace": ("shape", 1, 2),
    "LogLogistic": ("shape", 1, 2), "Lomax": ("shape", 1, 2),
    "NoncentralFisherSnedecor": ("dfd", 2, 4), "NoncentralStudentT": ("df", 1, 2),
    "Pareto": ("shape", 1, 2), "ScaledInverseChi2": ("df", 2, 4), "StudentT": ("df", 1, 2),
    "YuleSimon": ("alpha", 1, 2), "Zipf": ("power", 2, 3),
}
INDEX = {"GeneralizedExtremeValue": ("shape", 1, 0.5), "GeneralizedPareto": ("shape", 1, 0.5)}  # from where on
ALWAYS = {"Cauchy": np.nan, "HalfCauchy": np.inf, "Levy": np.inf, "WienerFirstPassage": np.inf}
TAILS = np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0,
                  11.0, 12.0, 13.0, 14.0, 15.0])  # one for each of what parameters_of draws


@pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.__name__)
def test_moments_are_infinite_where_their_integrals_are(family):
    """Of what is positive in its tail; with two such tails a mean that is not there has no variance either: NaN."""
    name, names = family.__name__, family.parametrisations[0].names
    parameters = dict(zip(names, parameters_of(family, names, np.float64), strict=True))
    tail, *ends = {**HEAVY, **INDEX}.get(name, (None, None, None))
    if tail:
        parameters[tail] = TAILS - 1.0 if name in INDEX else TAILS
        parameters |= {"power": TAILS + 1.0} if name == "Zipf" else {}
    for verb, end in zip((mean, variance), ends, strict=True):
        if known(family, verb.__name__) is None:
            continue
        found = np.asarray(verb(family(**parameters)))
        if name in ALWAYS:
            np.testing.assert_array_equal(found, np.full(24, ALWAYS[name]))
            continue
        at = parameters.get(tail, np.zeros(24))
        infinite = np.zeros(24, bool) if end is None else at >= end if name in INDEX else at <= end
        undefined = infinite & name.endswith("StudentT") & (name != "HalfStudentT") & ((verb is mean) | (at <= 1))
        np.testing.assert_array_equal(np.isnan(found), undefined)
        np.testing.assert_array_equal(found == np.inf, infinite & ~undefined)


def test_moments_of_what_is_made_of_others_are_infinite_likewise():
    """A part of weight 0 has none; and an infinite mean takes no digits of a variance with it, only all of it."""
    shape = np.array([0.5, 1.5, 2.5])
    gated = [hurdle(Pareto(shape, 1.0), gate=0.25), affine(Pareto(shape, 1.0), 1.0, 2.0)]
    gated += [zero_inflated(YuleSimon(shape), 0.25), hurdle(Pareto(shape, 1.0), gate=0.0)]
    both = np.stack([shape, np.full(3, 3.0)], axis=-1)
    for made in (*gated, mixture(np.array([0.25, 0.75]), Pareto(both, 1.0))):
        np.testing.assert_array_equal(np.isfinite(mean(made)), [False, True, True])
        np.testing.assert_array_equal(np.isfinite(variance(made)), [False, False, True])
        assert not np.isnan(mean(made)).any() and not np.isnan(variance(made)).any()
    for made in (hurdle(Pareto(shape, 1.0), gate=1.0), zero_inflated(YuleSimon(shape), 1.0)):
        np.testing.assert_array_equal([mean(made), variance(made)], np.zeros((2, 3)))
    alone = mixture(np.array([0.0, 1.0]), Pareto(both, 1.0))
    np.testing.assert_allclose(variance(alone), np.full(3, 0.75), rtol=1e-14)


SHAPES = {
    "AsymmetricLaplace": ("asymmetry",), "Beta": ("alpha", "beta"), "BetaBinomial": ("alpha", "beta"),
    "BetaPrime": ("alpha", "beta"), "Chi": ("df",), "Chi2": ("df",), "Erlang": ("shape",),
    "FisherSnedecor": ("df1", "df2"), "Frechet": ("shape",), "Gamma": ("shape",), "GeneralizedNormal": ("power",),
    "HalfStudentT": ("df",), "InverseChi2": ("df",), "InverseGamma": ("shape",), "Kumaraswamy": ("a", "b"),
    "Lindley": ("shape",), "LogLogistic": ("shape",), "Lomax": ("shape",), "Pareto": ("shape",),
    "ScaledInverseChi2": ("df",), "StudentT": ("df",), "Weibull": ("shape",), "YuleSimon": ("alpha",),
}
SIZES = {np.float64: (-10, 18), np.float32: (-6, 9)}
BITS = 600, 1400  # those of a difference over a step of 2^-300, of numbers that cancel
CERTAIN = 80


def sized(family, dtype):
    """Parameters of all sizes: powers of ten, random ones, and round ones; locations and probabilities as they are."""
    way, count = family.parametrisations[0], 24
    rng = np.random.default_rng(11)
    low, high = SIZES[dtype]
    columns = parameters_of(family, way.names, np.float64)
    found = []
    for (name, constraint), drawn in zip(way.constraints.items(), columns, strict=True):
        tiled = np.resize(drawn, count)
        if name in SHAPES.get(family.__name__, ()):
            tiled = np.concatenate([10.0 ** np.linspace(low, high, count // 2), 10 ** rng.uniform(-1, 4, count // 2)])
            tiled = rng.permutation(np.ceil(tiled) if constraint.whole else tiled)
            tiled[:3] = 1.0, 2.0, 3.0
        found.append(tiled.astype(dtype))
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", TRUTH)
def test_moments_and_entropies_have_all_their_digits(name, dtype):
    """As far as a rounding of the parameters leaves them: shapes of every size, and the derivatives in them."""
    family, kind = FAMILIES[name], np.finfo(dtype)
    parameters = sized(family, dtype)
    for verb, truth in zip((mean, variance, entropy), TRUTH[name], strict=True):
        if truth is None:
            continue
        value, partials = value_and_partials(verb(family(*parameters)), tuple(parameters))
        for row, (found, *slopes) in enumerate(zip(value, *partials, strict=True)):
            if not np.isfinite(found) or abs(found) < 1e3 * kind.tiny:
                continue  # where it is infinite, the test above knows
            at = [arb(float(column[row])) for column in parameters]
            wanted, *exact = map(float, certified(partial(value_and_slopes, truth, at), CERTAIN, BITS))
            scale = abs(wanted) + sum(abs(float(a) * e) for a, e in zip(at, exact, strict=True))
            scale += 1.0 if verb is entropy else 0.0
            assert abs(found - wanted) <= 16 * kind.eps * scale, (verb.__name__, [float(a) for a in at], found, wanted)
            for a, slope, e in zip(at, slopes, exact, strict=True):
                room = 1.0 if abs(e) < 1e-99 else 0.0 if verb is entropy or a == 0 else abs(wanted / float(a))
                rounding = 500 * kind.eps * (abs(e) + room)
                assert abs(e) > kind.max or abs(slope - e) <= rounding + kind.tiny, (verb, at, a, slope, e)


def value_and_slopes(truth, at):
    return [truth(*at), *(slope_of(truth, at, place) for place in range(len(at)))]


def slope_of(truth, at, place):
    """A derivative, by differences of balls."""
    step = abs(at[place]) * arb(2) ** -300
    up, down = ([a + s if i == place else a for i, a in enumerate(at)] for s in (step, -step))
    return (truth(*up) - truth(*down)) / (2 * step)
