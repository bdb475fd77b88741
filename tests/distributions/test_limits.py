"""Values and partial derivatives at the ends of supports and of parameters and at kinks: limits, and never NaN."""

import numpy as np
import pytest
from family_cases import EVERY_FAMILY
from limits import ATOMS, CLOSE, ends_of, limit, round_parameters, sites_of, special_points

from vecdist import cdf, logcdf, logpdf, logsf, ppf, sf, truncated, value_and_partials
from vecdist.distributions import (
    Beta,
    Chi,
    Chi2,
    FisherSnedecor,
    Gamma,
    HurdleNegativeBinomial,
    HurdlePoisson,
    InverseGaussian,
    Kumaraswamy,
    NegativeBinomial,
    NoncentralChi2,
    NormalInverseGaussian,
    Rice,
)
from vecdist.distributions.base import LIGHT
from vecdist.verbs.tails_and_moments import known

VERBS = {"logpdf": logpdf, "cdf": cdf, "log_cdf": logcdf, "sf": sf, "log_sf": logsf}
RANGES = {"logpdf": np.inf, "cdf": 1.0, "log_cdf": 0.0, "sf": 1.0, "log_sf": 0.0}


def pairs():
    """Each family with each verb that it has."""
    for family in EVERY_FAMILY:
        for name in VERBS:
            if name == "logpdf" or known(family, name):
                yield pytest.param(family, name, id=f"{family.__name__}-{name}")


def evaluated(family, name, rows):
    """Columns of the value and of the partials in x and in each parameter that is a real number; what they are."""
    x, *parameters = (np.ascontiguousarray(column) for column in rows.T)
    constraints = family.parametrisations[0].constraints
    given = dict(zip(constraints, parameters, strict=True))
    real = {name: given[name] for name, constraint in constraints.items() if not constraint.whole}
    value, partials = value_and_partials(VERBS[name](family(**given), x), (x, *real.values()))
    return np.stack([value, *partials], axis=-1), ["value", "d/dx", *(f"d/d{name}" for name in real)]


def wrong_at_sites(family, name, sites, found, narrow, labels):
    """What is NaN or not the limit, at each site, in words: by what was found at it and next to it."""
    start = 0
    for site, in_float32 in zip(sites, narrow, strict=True):
        at, approaches = found[start], found[start + 1 : start + 1 + 4 * len(site.sides)]
        start += 1 + len(approaches)
        limits = limit(approaches.reshape(len(site.sides), 4, len(labels)).swapaxes(1, 2))
        if name == "logpdf" and family.__name__ in ATOMS:
            limits = limits[:0]
        if not site.within:
            limits[:, 1:] = 0.0
        exact = (np.float32(site.at) == site.at).all()
        for values, dtype in ((at, "float64"), (in_float32, "float32")):
            for label, value, near in zip(labels, values, limits.T, strict=True):
                if np.isnan(value) or ((dtype == "float64" or exact) and not agree(value, near)):
                    yield f"{dtype} {label} at {site.at}: {value}, near it {near}"
        if np.isnan(approaches).any():
            yield f"NaN next to {site.at}"


def agree(value, near):
    """Whether a value is the limit, or between the limits from two sides."""
    if not near.size or np.isnan(near).any():
        return True
    low, high = near.min(), near.max()
    room = CLOSE * max(1.0, min(abs(low), abs(high))) if np.isfinite([low, high]).any() else 0.0
    return low - room <= value <= high + room if not (np.isinf(low) and low == high) else value == low


def wrong_at_special_points(name, rows, found, labels):
    """What is NaN, and values that no probability or its logarithm has."""
    for place, k in np.argwhere(np.isnan(found)):
        yield f"{rows.dtype} {labels[k]} at {rows[place]}: nan"
    value = found[:, 0]
    for place in np.flatnonzero((value > RANGES[name]) | ((value < 0) & (name in {"cdf", "sf"}))):
        yield f"{rows.dtype} at {rows[place]}: {value[place]}"


@pytest.mark.parametrize(("family", "name"), [*pairs()])
def test_limits(interpreter, family, name):
    sites, wrong, at_sites = sites_of(family), [], []
    near = [row for site in sites for side in ([site.at], *site.sides) for row in side]
    for dtype, rows in ((np.float64, near), (np.float32, [site.at for site in sites])):
        special = special_points(family, dtype)
        found, labels = evaluated(family, name, np.array([*rows, *special], dtype))  # in one expression
        wrong += wrong_at_special_points(name, special, found[len(rows) :], labels)
        at_sites.append(found[: len(rows)])
    wrong += wrong_at_sites(family, name, sites, *at_sites, labels)
    assert not wrong, "\n".join([f"{len(wrong)} are wrong:", *wrong])


@pytest.mark.parametrize("family", [f for f in EVERY_FAMILY if f.certain == LIGHT], ids=lambda f: f.__name__)
def test_far_away_nothing_changes_a_certain_tail(interpreter, family):
    """Though the distance in units of the scale, or its product with 1 / scale, be more than the largest float."""
    x, scale = (m.ravel() for m in np.meshgrid([1e90, 1e110, 1e200, 1e308], [1e-50, 1e-100, 1e-160, 1e-200, 1e-300]))
    given = {name: np.zeros_like(x) for name in family.parametrisations[0].names} | {"scale": scale}
    given |= {"asymmetry": np.ones_like(x)} if "asymmetry" in given else {}
    for at in (x, -x) if "loc" in given else (x,):
        for name in VERBS.keys() - {"logpdf"}:
            more = float(name.endswith("cdf") == (at[0] > 0))
            if name.startswith("log") and not more:
                continue
            value, partials = value_and_partials(VERBS[name](family(**given), at), (at, *given.values()))
            np.testing.assert_array_equal(value, 0.0 if name.startswith("log") else more)
            assert not np.any(partials)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_exponent_is_all_of_a_far_tail(interpreter, dtype):
    """That of an inverse Gaussian variable, -shape (x - mean)^2 / (2 mean^2 x), as far as floats go on either side."""
    far = np.finfo(dtype).max ** np.linspace(0.3, 0.99, 24).astype(dtype)
    for verb, x in ((logcdf, 1 / far[:-4]), (logsf, far)):
        mean, shape = np.full_like(x, 2.0), np.full_like(x, 3.0)
        value, (of_x, of_mean, of_shape) = value_and_partials(verb(InverseGaussian(mean, shape), x), (x, mean, shape))
        away = (x - mean) / (mean * mean)
        np.testing.assert_allclose(value, -0.5 * shape * (away * ((x - mean) / x)), rtol=3e-6)
        np.testing.assert_allclose(of_mean, shape * away / mean, rtol=3e-6)
        np.testing.assert_allclose(of_shape, -0.5 * (away * ((x - mean) / x)), rtol=3e-6)
        if verb is logsf:
            np.testing.assert_allclose(of_x, -0.5 * shape / (mean * mean), rtol=3e-6)


@pytest.mark.parametrize(("verb", "sign"), [(logpdf, 1.0), (logpdf, -1.0), (logsf, 1.0), (logcdf, -1.0)])
def test_far_tails_of_a_normal_inverse_gaussian_variable(interpreter, verb, sign):
    """Their logarithm falls like (alpha -+ beta) |x|, and rises with delta like gamma delta + log(delta)."""
    far = 10.0 ** np.array([9, 12, 30, 60, 99, 101, 120, 154, 155, 200, 250, 290, 300, 307.5])
    x, (loc, alpha, beta, delta) = sign * far, (np.full_like(far, value) for value in (0.0, 3.0, 1.0, 2.0))
    distribution = NormalInverseGaussian(loc, alpha, beta, delta)
    value, partials = value_and_partials(verb(distribution, x), (x, alpha, beta, delta))
    steep = 3.0 - sign
    np.testing.assert_allclose(value, -steep * far, rtol=1e-6)
    of_delta = np.sqrt(8.0) + 0.5 - 3.0 / far
    for slope, expected in zip(partials, (-sign * steep, -far, sign * far, of_delta), strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-8)


def test_nothing_is_more_than_certain(interpreter):
    """All of a hurdle's mass lies above 0 where its gate is closed, to the last digit."""
    rng = np.random.default_rng(1)
    gate, r, p = rng.choice([0.0, 1e-300, 1e-17], 200), rng.uniform(0.3, 9.0, 200), rng.uniform(0.01, 0.99, 200)
    for family in (HurdleNegativeBinomial(gate, r, p), HurdlePoisson(gate, r)):
        for x in (np.zeros(200), np.ones(200)):
            assert (np.asarray(logsf(family, x)) <= 0.0).all()
            assert ((np.asarray(sf(family, x)) <= 1.0) & (np.asarray(cdf(family, x)) >= 0.0)).all()
        assert (np.asarray(sf(family, np.zeros(200))) == 1.0).all()


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
def test_a_bound_at_the_start_of_the_support_changes_nothing(interpreter, shape):
    """What is truncated at 0 and 3 has the slopes of what is truncated at 3; in the bound, that of its density."""
    a, s, low, high = np.full(2, shape), np.full(2, 2.0), np.zeros(2), np.full(2, 3.0)
    x = np.array([0.5, 2.0])
    for verb in VERBS.values():
        value, found = value_and_partials(verb(truncated(Gamma(a, s), low, high), x), (x, a, s, high))
        expected, partials = value_and_partials(verb(truncated(Gamma(a, s), upper=high), x), (x, a, s, high))
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(found, partials, rtol=1e-9)
    _, (of_low,) = value_and_partials(logpdf(truncated(Gamma(a, s), low, high), x), (low,))
    start = {0.5: np.inf, 1.0: 0.5 / -np.expm1(-1.5), 2.0: 0.0}[shape]
    np.testing.assert_allclose(of_low, start, rtol=1e-12)


EULER = 0.5772156649015329
# Limits in closed form: the verb, the distribution, x, and the partials in x and in each parameter.
EXACT = [
    (cdf, Gamma, (1.0, 1.0), 0.0, (1.0, 0.0, 0.0)),
    (cdf, Gamma, (0.5, 2.0), 0.0, (np.inf, 0.0, 0.0)),
    (logcdf, Gamma, (2.0, 1.5), 0.0, (np.inf, -np.inf, -2.0 / 1.5)),
    (logsf, Gamma, (1.0, 2.0), 0.0, (-0.5, 0.0, 0.0)),
    (cdf, Chi2, (2.0,), 0.0, (0.5, 0.0)),
    (cdf, Chi, (1.0,), 0.0, (np.sqrt(2.0 / np.pi), 0.0)),
    (logcdf, Beta, (2.0, 3.0), 0.0, (np.inf, -np.inf, 7.0 / 12.0)),
    (logsf, Beta, (2.0, 3.0), 1.0, (-np.inf, 1.0 / 4.0 + 1.0 / 3.0 + 1.0 / 2.0, -np.inf)),
    (logsf, Kumaraswamy, (3.0, 2.0), 0.0, (0.0, 0.0, 0.0)),
    (logsf, NegativeBinomial, (2.0, 1.0), 1.0, (0.0, 1.0 / 2.0 + 1.0 / 3.0, -np.inf)),
    (cdf, NegativeBinomial, (1.0, 1.0), 0.0, (0.0, 0.0, 1.0)),
    (logcdf, Rice, (1.0, 2.0), 1e-200, (2e200, -0.25, -0.875)),
    (logpdf, FisherSnedecor, (2.0, 2.0), 1e-20, (-2.0,)),
    (logpdf, NoncentralChi2, (1.0, 1e-20), 0.25, (-2.5, (EULER - np.log(2.0)) / 2, -0.375)),
]


@pytest.mark.parametrize("case", EXACT, ids=lambda case: f"{case[0].__name__}-{case[1].__name__}-{case[3]:g}")
def test_exact_limits(interpreter, case):
    verb, family, parameters, x, expected = case
    at = [np.array([value]) for value in (x, *parameters)]
    _, found = value_and_partials(verb(family(*at[1:]), at[0]), at)
    np.testing.assert_allclose([slope[0] for slope in found][: len(expected)], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("family", [f for f in EVERY_FAMILY if known(f, "quantile")], ids=lambda f: f.__name__)
def test_slopes_of_quantiles_at_the_ends(interpreter, family):
    """An end of the support that stays where it is has no slope in any parameter."""
    parameters = {name: np.repeat(values, 2) for name, values in round_parameters(family).items()}
    real = [n for n, constraint in family.parametrisations[0].constraints.items() if not constraint.whole]
    q = np.tile([0.0, 1.0], 8)
    value, partials = value_and_partials(ppf(family(**parameters), q), (q, *(parameters[n] for n in real)))
    assert not np.isnan([value, *partials]).any()
    ends = np.reshape(ends_of(family, round_parameters(family)), -1)
    fixed = np.isin(ends, [0.0, 1.0]) & (not {"loc", "low", "high", "scale", "radius", "tau", "value"} & {*real})
    assert all((slope[fixed] == 0.0).all() for slope in partials[1:])
