"""Scores, and what they tell of parameters: Fisher's information, expected, observed and empirical."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from vecdist.distributions.base import Compound, Distribution, Parameters
from vecdist.graph.node import Node, rewrite
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray, Operand, Wrt
from vecdist.lazy.derivatives import hessian, jacobian
from vecdist.passes.differentiate import partials
from vecdist.primitives.arithmetic import square
from vecdist.primitives.entries import placed, total
from vecdist.primitives.structure import full, rebuilt
from vecdist.special.bessel import bessel_ratio, bessel_ratio_slope
from vecdist.special.error_functions import trigamma
from vecdist.special.formulas import EULER
from vecdist.verbs.density import checked, logpdf, operands_of, stating

Kind = Literal["expected", "observed", "empirical"]
Entries = Mapping[tuple[str, str], Node | float]
Rows = Callable[[Parameters], Entries]


def score(distribution: Distribution | Compound, x: Operand, wrt: Wrt) -> Any:
    """The derivatives of each observation's ``logpdf`` in every element of an array, in one launch.

    That in an array ``a`` has the shape ``logpdf(distribution, x).shape + a.shape``; one for each array of ``wrt``,
    which are arrays that parameters are, or are computed from.  Outside the support it is 0.  Raises ``ValueError``
    where the log density does not contain an array.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> mu = np.array(1.0)
    >>> vecdist.score(Normal(mu, 2.0), np.array([1.0, 3.0]), wrt=mu)
    array([0. , 0.5])
    """
    return jacobian(logpdf(distribution, x), wrt)


def fisher_information(
    distribution: Distribution | Compound, x: Operand | None = None, wrt: Wrt | None = None, kind: Kind = "expected"
) -> Any:
    """Fisher's information: the mean of the outer product of the score with itself, or what is seen of it at ``x``.

    *expected*: that of one observation in the parameters as they are written, but those that are whole numbers: a lazy
    array of the shape of the parameters, broadcast, and two axes more, in the order of the parameters.  In closed form,
    J' I J of the information I in the quantities of the family's formulas; ``NotImplementedError`` names a family for
    which there is none here.  *observed*: minus the Hessian of the sum of ``logpdf`` over ``x``; *empirical*: the mean
    over ``x`` of the outer products of scores.  Both are computed, in the arrays of ``wrt``, in blocks like those of
    ``hessian``.  Raises ``ValueError`` for another kind, ``TypeError`` for these two without ``x`` and ``wrt``.
    Lehmann and Casella (1998), Theory of Point Estimation, second edition, section 2.5 and table 5.1.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> np.asarray(vecdist.fisher_information(Normal(0.0, 2.0)))
    array([[0.25, 0.  ],
           [0.  , 0.5 ]])
    >>> mu, x = np.array(1.0), np.array([1.0, 3.0])
    >>> [float(vecdist.fisher_information(Normal(mu, 2.0), x, mu, kind)) for kind in ("observed", "empirical")]
    [0.5, 0.125]
    """
    if kind == "expected":
        return _expected(distribution)
    if kind not in ("observed", "empirical"):
        raise ValueError(f"fisher_information is expected, observed or empirical, not {kind!r}")
    if x is None or wrt is None:
        raise TypeError(f"fisher_information that is {kind} wants observations, and arrays in wrt")
    density = logpdf(distribution, x)
    return _negative(hessian(density.sum(), wrt)) if kind == "observed" else _outer(jacobian(density, wrt), density)


def _negative(blocks: Any) -> Any:
    return tuple(map(_negative, blocks)) if isinstance(blocks, tuple) else -blocks


def _outer(scores: Any, density: LazyArray) -> Any:
    """Means over all observations, of each pair of scores."""
    if not isinstance(scores, tuple):
        return _outer((scores,), density)[0][0]
    count, ndim = int(np.prod(density.shape, dtype=np.int64)), len(density.shape)
    shapes = [each.shape[ndim:] for each in scores]
    flat = [each.reshape((count, int(np.prod(shape)))) for each, shape in zip(scores, shapes, strict=True)]
    return tuple(
        tuple((a.T @ b / count).reshape((*rows, *columns))[()] for b, columns in zip(flat, shapes, strict=True))
        for a, rows in zip(flat, shapes, strict=True)
    )


def _location(of_loc: float, of_scale: float, both: float = 0.0) -> Rows:
    """Of a location and the logarithm of a scale."""
    return lambda p: {
        ("loc", "loc"): of_loc * square(p.inverse_scale), ("loc", "log_scale"): both * p.inverse_scale,
        ("log_scale", "log_scale"): of_scale,
    }


def _scale(information: float) -> Rows:
    """Of the logarithm of a scale alone."""
    return lambda p: {("log_scale", "log_scale"): information}


def _gamma(scale: str, sign: float) -> Rows:
    """Of a shape and the logarithm of a scale, or of its inverse."""
    return lambda p: {("shape", "shape"): trigamma(p.shape), ("shape", scale): sign, (scale, scale): p.shape}


def _weibull(sign: float) -> Rows:
    """By the least value of a Gumbel distribution, of log x or, of the Fréchet distribution, of -log x."""
    return lambda p: {
        ("shape", "shape"): EXTREME / square(p.shape), ("shape", "log_scale"): sign * (1.0 - EULER),
        ("log_scale", "log_scale"): square(p.shape),
    }


def _beta(p: Parameters) -> Entries:
    both = -trigamma(p.alpha + p.beta)
    alpha, beta = ("alpha", "alpha"), ("beta", "beta")
    return {alpha: trigamma(p.alpha) + both, ("alpha", "beta"): both, beta: trigamma(p.beta) + both}


def _inverse_gaussian(p: Parameters) -> Entries:
    of_location = p.shape / p.location / square(p.location)
    return {("location", "location"): of_location, ("shape", "shape"): 0.5 / square(p.shape)}


def _von_mises(p: Parameters) -> Entries:
    """Mardia and Jupp (2000), Directional Statistics, equation (5.3.5)."""
    of_loc = p.concentration * bessel_ratio(p.concentration)
    return {("loc", "loc"): of_loc, ("concentration", "concentration"): bessel_ratio_slope(p.concentration)}


def _log_logistic(p: Parameters) -> Entries:
    of_scale = square(p.shape) / 3.0
    return {("log_scale", "log_scale"): of_scale, ("shape", "shape"): LOGISTIC / square(p.shape)}


EXTREME = math.pi**2 / 6 + (1.0 - EULER) ** 2  # of the logarithm of the scale of a Gumbel distribution
LOGISTIC = (3.0 + math.pi**2) / 9.0  # of a logistic one
# The entries that are not 0, by the quantities of the formulas of the family that states the log density.
INFORMATION: dict[str, Rows] = {
    "Bernoulli": lambda p: {("p", "p"): 1.0 / (p.p * p.q)},
    "Beta": _beta,
    "BetaPrime": _beta,
    "Binomial": lambda p: {("p", "p"): p.n / (p.p * p.q)},
    "Cauchy": _location(0.5, 0.5),
    "Chi": lambda p: {("df", "df"): 0.25 * trigamma(0.5 * p.df)},
    "Exponential": lambda p: {("log_rate", "log_rate"): 1.0},
    "Frechet": _weibull(1.0),
    "Gamma": _gamma("log_rate", -1.0),
    "Geometric": lambda p: {("log_p", "log_p"): 1.0 / p.q},
    "Gumbel": _location(1.0, EXTREME, EULER - 1.0),
    "HalfCauchy": _scale(0.5),
    "HalfNormal": _scale(2.0),
    "InverseGamma": _gamma("log_scale", -1.0),
    "InverseGaussian": _inverse_gaussian,
    "Laplace": _location(1.0, 1.0),
    "LogLogistic": _log_logistic,
    "LogNormal": _location(1.0, 2.0),
    "Logistic": _location(1.0 / 3.0, LOGISTIC),
    "LogitNormal": _location(1.0, 2.0),
    "Normal": _location(1.0, 2.0),
    "Poisson": lambda p: {("log_rate", "log_rate"): p.rate},
    "Rayleigh": _scale(4.0),
    "VonMises": _von_mises,
    "Weibull": _weibull(-1.0),
}


def _expected(distribution: Any) -> LazyArray:
    nodes = operands_of("fisher_information", distribution)
    family, way = type(distribution), distribution.parametrised
    rows = INFORMATION.get(stating(family))
    names = [name for name, constraint in way.constraints.items() if not constraint.whole]
    if rows is None or not names:
        raise NotImplementedError(
            f"fisher_information of {family.__name__} is not there: no closed form is known; that of observations is, "
            'kind="observed" or "empirical"'
        )
    places = enumerate(nodes.items())
    free = {name: Node("direction", (), (place,), each.shape, each.dtype) for place, (name, each) in places}
    p = Parameters(**way.convert(**free), whole=False)
    inside = rows(p)
    slopes = {each: partials(getattr(p, each), [free[name] for name in names]) for pair in inside for each in pair}
    shape = broadcast(node.shape for node in nodes.values())
    entries, numbers = [], np.zeros((len(names), len(names)), np.int64)
    for i in range(len(names)):
        for j in range(i + 1):
            numbers[i, j] = numbers[j, i] = len(entries)
            entries.append(full(_entry(inside, slopes, i, j), shape))
    known = dict(zip(free.values(), nodes.values(), strict=True))
    given = rewrite(entries, lambda node, args: known[node] if node in known else rebuilt(node, args))
    each_checked = [checked(each, "fisher_information", family.__name__, way, nodes, {}) for each in given]
    return LazyArray(placed(each_checked, numbers))


def _entry(inside: Entries, slopes: Mapping[str, Sequence[Node]], i: int, j: int) -> Node:
    """An element of J' I J."""
    terms = []
    for (one, other), information in inside.items():
        product = slopes[one][i] * slopes[other][j]
        twice = product if one == other else product + slopes[other][i] * slopes[one][j]
        terms.append(information * twice)
    return total(terms)
