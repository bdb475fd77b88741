"""The distribution functions of the families that SciPy has not, or is slow at, by those that it has."""

import functools

import numpy as np
import scipy.interpolate
import scipy.special as sc
import scipy.stats as st
from ball_formulas import normal_cdf
from family_cases import scipys
from flint import arb, ctx


def cdf_of(family, names, parameters):
    """The distribution function of a family with parameters that are arrays, right from the left at no step."""
    own = CDFS.get(family.__name__)
    return (lambda x: own(x, *parameters)) if own else scipys(family, names, parameters).cdf


def _gated(cdf):
    return lambda x, gate, *parameters: np.where(x < 0, 0, gate + (1 - gate) * cdf(x, *parameters))


def _hurdled(cdf):
    """Of what is above 0."""

    def above(x, *parameters):
        at_zero = cdf(0, *parameters)
        return (cdf(x, *parameters) - at_zero) / (1 - at_zero)

    return _gated(above)


def _normal_inverse_gaussian(x, loc, alpha, beta, delta):
    """Of a normal variable, over the quantiles of its variance; SciPy integrates for each x anew."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    mean, shape = delta / np.sqrt(alpha**2 - beta**2), delta**2
    variance = st.invgauss.ppf((0.5 + 0.5 * nodes)[:, None], mean / shape, scale=shape)
    terms = zip(0.5 * weights, variance, strict=True)
    return sum(weight * st.norm.cdf(x, loc + beta * v, np.sqrt(v)) for weight, v in terms)


def _skewed_exponential_power(x, loc, scale, power, skew):
    share = np.where(x < loc, skew, 1 - skew)
    tail = share * sc.gammaincc(1 / power, (abs(x - loc) / (2 * scale * share)) ** power / power)
    return np.where(x < loc, tail, 1 - tail)


def _soliton(x, k, m, delta):
    """By the sums of the masses as they are defined."""

    def sums(k, m, delta):
        places = np.arange(1.0, k + 1)
        ideal = np.concatenate([[1 / k], 1 / (places[1:] * (places[1:] - 1))])
        spike = np.where(places == m, np.log(k / (m * delta)) / m, 0.0)
        whole = np.cumsum(ideal + np.where(places < m, 1 / (places * m), spike))
        return np.concatenate([[0.0], whole / whole[-1]])

    columns = [sums(*row)[np.maximum(x[..., j], 0).astype(int)] for j, row in enumerate(zip(k, m, delta, strict=True))]
    return np.stack(columns, axis=-1)


def _truncated_cauchy(x, loc, scale, low, high):
    first, last, at = (np.arctan((end - loc) / scale) for end in (low, high, x))
    return (at - first) / (last - first)


def _polya_gamma(x, b, z):
    """Between points, at which it is the alternating series of inverse Gaussian distribution functions."""
    between = [_polya_gamma_between(float(shape), float(tilt)) for shape, tilt in zip(b, z, strict=True)]
    columns = [cdf(np.log(x[..., place])) for place, cdf in enumerate(between)]
    return np.clip(np.stack(columns, axis=-1), 0.0, 1.0)


@functools.cache
def _polya_gamma_between(shape, tilt):
    """The distribution function of a logarithm."""

    def at(x, b, z, weights):
        total = arb(0)
        for n, weight in enumerate(weights):
            a = n + b / 2
            sides = (side.exp() * normal_cdf((-side * x / a - a) / x.sqrt()) for side in (z * a, -z * a))
            term = weight * sum(sides)
            total += (-1) ** n * term
            if abs(term) < 1e-60:  # they fall like exp(-a^2 / (2 x)) from some term on
                break
        return float(total * (b * (2 * (z / 2).cosh()).log()).exp())

    with ctx.workprec(400):
        grid = shape * np.tanh(tilt / 2) / (2 * tilt) * np.exp(np.linspace(-7.0, 2.5, 50))
        weights = [arb(shape).rising(n) / arb(n + 1).gamma() for n in range(60)]
        values = [at(arb(each), arb(shape), arb(tilt), weights) for each in grid]
    return scipy.interpolate.PchipInterpolator(np.log(grid), values)


def _wiener_first_passage(x, alpha, tau, beta, delta):
    """By images, each a first passage of one boundary; what does not get there does so at infinity."""
    t, m, w = (x - tau) / alpha**2, alpha * delta, 1 - beta
    with np.errstate(invalid="ignore"):
        total = np.zeros(t.shape)
        for v in (w + 2 * k for k in range(-60, 61)):
            ends = (sc.log_ndtr((side * t - abs(v)) / np.sqrt(t)) - side * abs(v) for side in (m, -m))
            total += np.sign(v) * sum(np.exp(m * w + end) for end in ends)
    share = np.expm1(-2 * m * beta) / np.expm1(-2 * m)
    return np.where(x == np.inf, 1.0, np.where(t > 3, np.minimum(total, share), total))


def _von_mises(x, loc, concentration):
    """Of the turn around loc; SciPy's goes on above 1 behind it."""
    return np.clip(st.vonmises.cdf(x - loc, concentration), 0.0, 1.0)


def _beta_binomial(x, n, alpha, beta):
    """By the sums of the masses as they are defined; SciPy adds them up for each x anew."""
    places = np.arange(n.max() + 1)[:, None]
    rest = np.maximum(n - places, 0)
    log_mass = sc.betaln(places + alpha, rest + beta) - sc.betaln(alpha, beta) - sc.betaln(places + 1, rest + 1)
    sums = np.cumsum(np.where(places <= n, np.exp(log_mass) / (n + 1), 0), axis=0)
    inside = np.take_along_axis(sums, np.clip(x, 0, n).astype(int), axis=0)
    return np.where(x < 0, 0, inside)


def _beta_negative_binomial(x, r, alpha, beta):
    """By the sums of the masses as they are defined."""
    places = np.arange(max(x.max(), 0) + 1)[:, None]
    log_mass = sc.betaln(r + alpha, places + beta) - sc.betaln(alpha, beta)
    log_mass = log_mass - np.log(r + places) - sc.betaln(r, places + 1)
    sums = np.concatenate([np.zeros((1, len(r))), np.cumsum(np.exp(log_mass), axis=0)])
    return np.take_along_axis(sums, (x + 1).astype(int), axis=0)


def _conway_maxwell_poisson(x, rate, nu):
    """By the sums of the masses as they are defined."""
    k = np.arange(450.0)[:, None]
    log_mass = k * np.log(rate) - nu * sc.gammaln(k + 1)
    sums = np.cumsum(np.exp(log_mass - log_mass.max(axis=0)), axis=0)
    inside = np.take_along_axis(sums / sums[-1], np.clip(x, 0, 449).astype(int), axis=0)
    return np.where(x < 0, 0, inside)


CDFS = {
    "ConwayMaxwellPoisson": _conway_maxwell_poisson,
    "BetaBinomial": _beta_binomial,
    "BetaNegativeBinomial": _beta_negative_binomial,
    "ContinuousBernoulli": lambda x, p: (p**x * (1 - p) ** (1 - x) + p - 1) / (2 * p - 1),
    "DiscreteWeibull": lambda x, q, beta: np.where(x < 0, 0, 1 - q ** ((np.maximum(x, 0) + 1) ** beta)),
    "HalfStudentT": lambda x, df, scale: 2 * st.t.cdf(x / scale, df) - 1,
    "HurdleGamma": _gated(lambda x, shape, scale: st.gamma.cdf(x, shape, scale=scale)),
    "HurdleLogNormal": _gated(lambda x, loc, scale: st.lognorm.cdf(x, scale, scale=np.exp(loc))),
    "HurdleNegativeBinomial": _hurdled(st.nbinom.cdf),
    "HurdlePoisson": _hurdled(st.poisson.cdf),
    "Kumaraswamy": lambda x, a, b: 1 - (1 - x**a) ** b,
    "Lindley": lambda x, shape: 1 - (1 + shape * x / (1 + shape)) * np.exp(-shape * x),
    "LogitNormal": lambda x, loc, scale: st.norm.cdf(sc.logit(x), loc, scale),
    "NoncentralBeta": lambda x, a, b, nc: st.ncf.cdf(x / (1 - x) * (b / a), 2 * a, 2 * b, nc),
    "NormalInverseGaussian": _normal_inverse_gaussian,
    "PolyaGamma": _polya_gamma,
    "RelaxedBernoulli": lambda x, t, p: sc.expit(t * sc.logit(x) - sc.logit(p)),
    "SkewedExponentialPower": _skewed_exponential_power,
    "Soliton": _soliton,
    "TruncatedCauchy": _truncated_cauchy,
    "VonMises": _von_mises,
    "WienerFirstPassage": _wiener_first_passage,
    "ZeroInflatedBinomial": _gated(st.binom.cdf),
    "ZeroInflatedNegativeBinomial": _gated(st.nbinom.cdf),
    "ZeroInflatedPoisson": _gated(st.poisson.cdf),
    "Zipf": lambda x, power: 1 - sc.zeta(power, np.maximum(x, 0) + 1) / sc.zeta(power, 1),
}
