"""The Fréchet distribution."""


from vecdist.constraints import Constraint, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import lgamma
from vecdist.special.formulas import EULER, gamma_spread, infinite_where, log1mexp_of_exp
from vecdist.special.parts import NOTHING, Parts, log_of_minus_log, log_parts


def _log_density(x: Node, shape: Node, scale: Node) -> Node:
    log_scale = log_parts(scale)
    ratio = log_parts(x) - log_scale
    return (log_parts(shape) - log_scale).whole - ((shape + 1.0) * ratio.whole + (-ratio.times(shape)).exp())


def _log_density_partials(x: Node, shape: Node, scale: Node, out: Node) -> tuple[Node, ...]:
    """That in x as one product: the difference of two terms that are infinite is no number."""
    ratio, inverse = log_parts(x) - log_parts(scale), 1.0 / shape
    power = (-ratio.times(shape)).exp()
    of_shape = inverse + (power * ratio.whole - ratio.whole)
    return (power - (1.0 + inverse)) * (shape / x), of_shape, (1.0 - power) * (shape * (1.0 / scale))


log_density: Primitive = primitive(
    "frechet_log_density", 3, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 3.0), (0.3, 4.0), (0.5, 2.0)),
)


class Frechet(Distribution):
    """Fréchet distribution, f(x) = shape / scale z^(-shape - 1) exp(-z^(-shape)) with z = x / scale, for x > 0.

    Written ``Frechet(shape, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 22.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Frechet(2.0, 1.0), np.array([0.0, 1.0]))).round(4)
    array([   -inf, -0.3069])
    """

    oracle = "scipy.stats.invweibull(shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        log_scale, rest = log_parts(scale)
        return {"shape": shape, "scale": scale, "log_scale": log_scale, "log_scale_rest": rest}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x, p.shape, p.scale)

    @staticmethod
    def log_ratio(x: Node, p: Parameters) -> Parts:
        """log(x / scale), in two parts because a large shape multiplies it."""
        return log_parts(x) - Parts(p.log_scale, p.log_scale_rest)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return -Frechet.log_ratio(x, p).times(-p.shape).exp()

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return exp(at_least(Frechet.log_cdf(x, p), NOTHING))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return -expm1(at_least(Frechet.log_cdf(x, p), NOTHING))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log1mexp_of_exp(p.shape * Frechet.log_ratio(x, p).whole)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.scale * exp(-log_of_minus_log(Parts(q, 0.0 * q), -log(q)) / p.shape)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.scale * exp(-log(-log1p(-q)) / p.shape)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.shape <= 1.0, p.scale * exp(lgamma((p.shape - 1.0) / p.shape)))

    @staticmethod
    def variance(p: Parameters) -> Node:
        a = 1.0 / p.shape
        return infinite_where(p.shape <= 2.0, square(a * Frechet.mean(p)) * gamma_spread(a))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 + EULER + EULER / p.shape + (p.log_scale - log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.scale * exp(-log1p(1.0 / p.shape) / p.shape)
