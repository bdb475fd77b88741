"""Divergences between two distributions, in closed form: one row for each pair of families.

A row is a formula of the quantities of both.  Scales and probabilities take part by r - 1 - log r of their ratio r,
which is never less than 0 and does not cancel where the two are nearly equal.  So the formulas are our own: each is
written of the means that its function names, and is that of the literature but for the order of its terms.

Collections are Gil, Alajaji and Linder (2013), Rényi divergence measures for commonly used univariate continuous
distributions, Information Sciences 249, and Nawa and Nadarajah (2024), Exact expressions for Kullback-Leibler
divergence for univariate distributions, Entropy 26, 959.  Of an exponential family a divergence is that of Bregman of
its log normaliser, of the natural parameters in the reverse order: Nielsen and Nock (2010), Entropies and
cross-entropies of exponential families, ICIP.  No change of variables changes one (Kullback 1959, Information Theory
and Statistics, chapter 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from vecdist.distributions.base import Compound, Distribution, Parameters
from vecdist.distributions.saddle_point import log1p_excess
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, const, where
from vecdist.lazy.array import LazyArray
from vecdist.passes.template import Template, templated
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.structure import drop_axes, summed
from vecdist.primitives.trigonometric import cos
from vecdist.runtime.cache import of_structures
from vecdist.special.bessel import bessel_ratio, log_i0
from vecdist.special.beta_ratios import digamma_rise
from vecdist.special.error_functions import digamma, lbeta, lgamma
from vecdist.special.formulas import EULER
from vecdist.verbs.density import as_floats, checked, stating
from vecdist.verbs.tails_and_moments import entropy

Formula = Callable[[Parameters, Parameters], Node]


def kl_divergence(p: Distribution | Compound, q: Distribution | Compound) -> LazyArray:
    """The Kullback-Leibler divergence of ``q`` from ``p``: the mean under ``p`` of logpdf(p, x) - logpdf(q, x).

    In nats, in closed form, of the shape of the parameters of both, broadcast; differentiated in all of them.  It is
    infinite where ``p`` has something where ``q`` has nothing, and NaN for counts of which each has another number
    (``n``, ``r``).  Raises ``TypeError``, naming both, for families of which there is no closed form here.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> np.asarray(vecdist.kl_divergence(Normal(np.array([0.0, 1.0]), 1.0), Normal(0.0, 2.0))).round(4)
    array([0.3181, 0.4431])
    """
    return _evaluated("kl_divergence", p, q)


def cross_entropy(p: Distribution | Compound, q: Distribution | Compound) -> LazyArray:
    """The mean under ``p`` of -logpdf(q, x), in nats: the entropy of ``p`` and the divergence of ``q`` from it.

    For what has both: raises what ``kl_divergence`` and ``entropy`` do.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Bernoulli
    >>> round(float(vecdist.cross_entropy(Bernoulli(0.5), Bernoulli(0.25))), 4)
    0.837
    """
    divergence = kl_divergence(p, q)
    return entropy(p) + divergence


def _surplus(excess: Node, log_ratio: Node) -> Node:
    """r - 1 - log r, given r - 1, and log r for where r is not near 1."""
    far = (excess < -0.9) | (excess > 8.0)
    return where(far, excess - log_ratio, -log1p_excess(where(far, 0.0, excess)))


def _of_ratio(x: Node, y: Node) -> Node:
    """r - 1 - log r for r = x / y."""
    return _surplus((x - y) / y, log(x) - log(y))


def _of_rates(p: Parameters, q: Parameters) -> Node:
    return _surplus((q.rate - p.rate) / p.rate, q.log_rate - p.log_rate)


def _of_scales(p: Parameters, q: Parameters) -> Node:
    """By the ratio of the scales themselves."""
    return _surplus((q.inverse_scale - p.inverse_scale) / p.inverse_scale, p.log_scale - q.log_scale)


def _of_squares(p: Parameters, q: Parameters) -> Node:
    """By the ratio of their squares."""
    ratio, excess = q.inverse_scale / p.inverse_scale, (q.inverse_scale - p.inverse_scale) / p.inverse_scale
    return _surplus(excess * (ratio + 1.0), 2.0 * (p.log_scale - q.log_scale))


def _masses(x: Node, away: Node, y: Node, log_ratio: Node) -> Node:
    """y - x - x log(y / x) of two masses or rates, where ``away`` = y - x; y where x is 0.

    A sum of these over masses is the divergence, for y - x add up to 0; one of rates is that of Poisson variables.
    """
    none = eq(x, 0.0)
    some = where(none, 1.0, x)
    return where(none, y, some * _surplus(away / some, where(none, 0.0, log_ratio)))


def _normal(p: Parameters, q: Parameters) -> Node:
    """Of E (x - m)^2 = scale^2 + (loc - m)^2."""
    return 0.5 * (_of_squares(p, q) + square((p.loc - q.loc) * q.inverse_scale))


def _bregman(x: Node, y: Node) -> Node:
    """lgamma(y) - lgamma(x) - (y - x) digamma(x)."""
    return (lgamma(y) - lgamma(x)) - (y - x) * digamma(x)


def _gamma(p: Parameters, q: Parameters) -> Node:
    """Of E x = shape / rate and E log x = digamma(shape) - log(rate); Penny (2001), as ``_dirichlet``."""
    steps = (p.shape - q.shape) * (q.log_rate - p.log_rate)
    return _bregman(p.shape, q.shape) + (p.shape * _of_rates(p, q) + steps)


def _beta(p: Parameters, q: Parameters) -> Node:
    """Of E log x = digamma(alpha) - digamma(alpha + beta), and likewise of 1 - x."""
    means = (q.alpha - p.alpha) * digamma_rise(p.alpha, p.beta) + (q.beta - p.beta) * digamma_rise(p.beta, p.alpha)
    return (lbeta(q.alpha, q.beta) - lbeta(p.alpha, p.beta)) + means


def _weibull(p: Parameters, q: Parameters) -> Node:
    """Of E z = Γ(1 + ratio) exp(-log_ratio) for z = (x / scale)^shape of q.

    Bauckhage (2013), Computing the Kullback-Leibler
    divergence between two Weibull distributions, arXiv:1310.3713, has E z and E log x = log(scale) - EULER / shape.
    """
    ratio, log_ratio = q.shape / p.shape, q.shape * (q.log_scale - p.log_scale)
    of_shape = (log(p.shape) - log(q.shape)) + EULER * (ratio - 1.0)
    return of_shape + (log_ratio + expm1(lgamma(1.0 + ratio) - log_ratio))


def _laplace(p: Parameters, q: Parameters) -> Node:
    """Of E |x - m| = |loc - m| + scale exp(-|loc - m| / scale)."""
    distance = abs(p.loc - q.loc) * p.inverse_scale
    return _of_scales(p, q) + q.inverse_scale / p.inverse_scale * (distance + expm1(-distance))


def _pareto(p: Parameters, q: Parameters) -> Node:
    """Of E log(x / scale) = 1 / shape."""
    within = _of_ratio(q.shape, p.shape) + q.shape * (log(p.scale) - log(q.scale))
    return where(p.scale < q.scale, math.inf, within)


def _within(p: Parameters, q: Parameters, log_ratio: Node) -> Node:
    """That of what is even between bounds, and the same for all x."""
    return where((p.low < q.low) | (p.high > q.high), math.inf, log_ratio)


def _bernoulli(p: Parameters, q: Parameters) -> Node:
    more = where(p.p < 0.5, q.p - p.p, p.q - q.q)
    return _masses(p.p, more, q.p, q.log_p - p.log_p) + _masses(p.q, -more, q.q, q.log_q - p.log_q)


def _binomial(p: Parameters, q: Parameters) -> Node:
    """Of n independent events: the binomial coefficients are the same in both."""
    return where(eq(p.n, q.n), p.n * _bernoulli(p, q), math.nan)


def _negative_binomial(p: Parameters, q: Parameters) -> Node:
    """Of E x = r (1 - p) / p failures and r successes, r / p events in all."""
    return where(eq(p.r, q.r), p.r / p.p * _bernoulli(p, q), math.nan)


def _geometric(p: Parameters, q: Parameters) -> Node:
    """As of one success."""
    first, second = (Parameters(**vars(each) | {"p": exp(each.log_p)}) for each in (p, q))
    return _bernoulli(first, second) / first.p


def _inverse_gaussian(p: Parameters, q: Parameters) -> Node:
    """Of E x = mean and E 1 / x = 1 / mean + 1 / shape.

    Tweedie (1957), Statistical properties of inverse Gaussian
    distributions I, Annals of Mathematical Statistics 28.
    """
    away = (p.location - q.location) / q.location
    return 0.5 * (_of_ratio(q.shape, p.shape) + square(away) * (q.shape / p.location))


def _cauchy(p: Parameters, q: Parameters) -> Node:
    """log(((s + t)^2 + (loc - m)^2) / (4 s t)) of scales s and t.

    Chyzak and Nielsen (2019), A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions,
    arXiv:1905.10965; the ratio less 1 is written as a sum of squares.
    """
    product, gap = p.inverse_scale * q.inverse_scale, p.inverse_scale - q.inverse_scale
    return log1p(0.25 * (square(gap) / product + square(p.loc - q.loc) * product))


def _von_mises(p: Parameters, q: Parameters) -> Node:
    """Of E cos(x - loc) = I1 / I0, Mardia and Jupp (2000), Directional Statistics, equation (3.5.25)."""
    turned = p.concentration - q.concentration * cos(p.loc - q.loc)
    return (log_i0(q.concentration) - log_i0(p.concentration)) + bessel_ratio(p.concentration) * turned


def _over_event(x: Node) -> Node:
    return drop_axes(summed(x, (-1,)), (-1,))


def _categorical(p: Parameters, q: Parameters) -> Node:
    mass, other = exp(p.log_probs), exp(q.log_probs)
    return _over_event(_masses(mass, other - mass, other, q.log_probs - p.log_probs))


def _dirichlet(p: Parameters, q: Parameters) -> Node:
    """Of E log x_k = digamma(alpha_k) - digamma(sum of alpha).

    Penny (2001), Kullback-Leibler divergences of normal, gamma, Dirichlet and Wishart densities, Wellcome Department of
    Cognitive Neurology, University College London.
    """
    whole, other, more = _over_event(p.alpha), _over_event(q.alpha), q.alpha - p.alpha
    of_whole = (lgamma(whole) - lgamma(other)) + (other - whole) * digamma(whole)
    return _over_event((lgamma(q.alpha) - lgamma(p.alpha)) - more * digamma(p.alpha)) + of_whole


def _mv_normal(p: Parameters, q: Parameters) -> Node:
    """By columns whose outer products add up to the covariance; of E (x - m)(x - m)', Penny (2001)."""
    spread = [q.scatter.distance(column) for column in p.scatter.columns()]
    distance = sum(spread, q.scatter.distance(p.loc - q.loc) - float(p.loc.shape[-1]))
    return 0.5 * distance + (q.scatter.log_volume - p.scatter.log_volume)


def _exponential_as_gamma(p: Parameters) -> Parameters:
    return Parameters(shape=const(1.0, p.rate.dtype), rate=p.rate, log_rate=p.log_rate)


def _exponential_as_weibull(p: Parameters) -> Parameters:
    return Parameters(shape=const(1.0, p.rate.dtype), log_scale=-p.log_rate)


def _rayleigh_as_weibull(p: Parameters) -> Parameters:
    return Parameters(shape=const(2.0, p.scale.dtype), log_scale=p.log_scale + 0.5 * math.log(2.0))


def _inverse_gamma(p: Parameters) -> Parameters:
    """The gamma distribution of 1 / x."""
    return Parameters(shape=p.shape, rate=p.scale, log_rate=p.log_scale)


def _frechet(p: Parameters) -> Parameters:
    """The Weibull distribution of 1 / x."""
    return Parameters(shape=p.shape, log_scale=-p.log_scale)


def _gumbel(p: Parameters) -> Parameters:
    """The Weibull distribution of exp(-x)."""
    return Parameters(shape=p.inverse_scale, log_scale=-p.loc)


# By the families that state the log densities of both.
DIVERGENCES: dict[tuple[str, str], Formula] = {
    ("Bernoulli", "Bernoulli"): _bernoulli,
    ("Beta", "Beta"): _beta,
    ("BetaPrime", "BetaPrime"): _beta,  # of x / (1 - x), which changes no divergence
    ("Binomial", "Binomial"): _binomial,
    ("Categorical", "Categorical"): _categorical,
    ("Cauchy", "Cauchy"): _cauchy,
    ("Chi", "Chi"): lambda p, q: _bregman(0.5 * p.df, 0.5 * q.df),  # of x^2 / 2, a gamma variable of rate 1
    ("Dirichlet", "Dirichlet"): _dirichlet,
    ("DiscreteUniform", "DiscreteUniform"): lambda p, q: _within(p, q, log(q.size) - log(p.size)),
    ("Exponential", "Exponential"): _of_rates,
    ("Exponential", "Gamma"): lambda p, q: _gamma(_exponential_as_gamma(p), q),
    ("Exponential", "Weibull"): lambda p, q: _weibull(_exponential_as_weibull(p), q),
    ("Frechet", "Frechet"): lambda p, q: _weibull(_frechet(p), _frechet(q)),
    ("Gamma", "Exponential"): lambda p, q: _gamma(p, _exponential_as_gamma(q)),
    ("Gamma", "Gamma"): _gamma,
    ("Geometric", "Geometric"): _geometric,
    ("Gumbel", "Gumbel"): lambda p, q: _weibull(_gumbel(p), _gumbel(q)),
    ("HalfNormal", "HalfNormal"): lambda p, q: 0.5 * _of_squares(p, q),
    ("InverseGamma", "InverseGamma"): lambda p, q: _gamma(_inverse_gamma(p), _inverse_gamma(q)),
    ("InverseGaussian", "InverseGaussian"): _inverse_gaussian,
    ("Laplace", "Laplace"): _laplace,
    ("LogNormal", "LogNormal"): _normal,  # of log(x)
    ("LogUniform", "LogUniform"): lambda p, q: _within(p, q, log(q.width) - log(p.width)),
    ("LogitNormal", "LogitNormal"): _normal,  # of logit(x)
    ("MvNormal", "MvNormal"): _mv_normal,
    ("NegativeBinomial", "NegativeBinomial"): _negative_binomial,
    ("Normal", "Normal"): _normal,
    ("Pareto", "Pareto"): _pareto,
    ("Poisson", "Poisson"): lambda p, q: _masses(p.rate, q.rate - p.rate, q.rate, q.log_rate - p.log_rate),
    ("Rayleigh", "Rayleigh"): _of_squares,  # of x^2, an exponential variable
    ("Rayleigh", "Weibull"): lambda p, q: _weibull(_rayleigh_as_weibull(p), q),
    ("Uniform", "Uniform"): lambda p, q: _within(p, q, log(q.high - q.low) - log(p.high - p.low)),
    ("VonMises", "VonMises"): _von_mises,
    ("Weibull", "Exponential"): lambda p, q: _weibull(p, _exponential_as_weibull(q)),
    ("Weibull", "Rayleigh"): lambda p, q: _weibull(p, _rayleigh_as_weibull(q)),
    ("Weibull", "Weibull"): _weibull,
}


_templates: Memo[Template] = of_structures()


def _evaluated(verb: str, p: Any, q: Any) -> LazyArray:
    sides = (p, q)
    for side in sides:
        if not isinstance(side, Distribution | Compound):
            raise TypeError(f"{verb} wants two distributions, given {_named(side)}")
    formula = DIVERGENCES.get((stating(type(p)), stating(type(q))))
    if formula is None:
        raise TypeError(f"{verb} of {type(p).__name__} and {type(q).__name__} is not there: no closed form is known")
    places = [(place, name) for place, side in enumerate(sides) for name in side.parameters]
    given = as_floats({f"{name} of {'pq'[place]}": sides[place].parameters[name] for place, name in places})

    def written(operands: Sequence[Node]) -> Node:
        nodes = dict(zip(places, operands, strict=True))
        each = [{name: nodes[place, name] for name in side.parameters} for place, side in enumerate(sides)]
        (first, check_first), (second, check_second) = map(_opened, sides, each, (verb, verb))
        return check_second(check_first(formula(first, second)))

    key = (verb, *((type(side), side.parametrised.convert, tuple(side.parameters)) for side in sides))
    return LazyArray(templated(_templates, key, [*given.values()], written))


def _opened(distribution: Any, nodes: dict[str, Node], verb: str) -> tuple[Parameters, Callable[[Node], Node]]:
    """The quantities of a distribution, and what gives a value its checks; a family of vectors says these itself."""
    if not isinstance(distribution, Distribution):
        return distribution.opened(nodes)
    family, way = type(distribution), distribution.parametrised
    quantities = Parameters(**way.convert(**nodes), whole=False)
    return quantities, lambda value: checked(value, verb, family.__name__, way, nodes, {})


def _named(given: Any) -> str:
    return f"the family {given.__name__}" if isinstance(given, type) else type(given).__name__
