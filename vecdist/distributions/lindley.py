"""The Lindley distribution."""

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.saddle_point import log1p_excess
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import maximum, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least, width
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.lambert_w import lambertw_lower
from vecdist.special.parts import NOTHING

MOST = {8: 500.0, 4: 60.0}  # a shape whose exponential is a number


def _log_sf(x: Node, shape: Node) -> Node:
    """Of two terms of one sign."""
    part = shape / (1.0 + shape) * x
    return log1p_excess(part) - shape * part


def _hazard(x: Node, shape: Node) -> Node:
    """The density over the upper tail."""
    return shape * ((1.0 + x) * (shape / (1.0 + shape + shape * x)))


def _quantile(q: Node, shape: Node) -> Node:
    """By Lambert's function, or for a large shape the exponential distribution; then three of Newton's steps."""
    near = shape < MOST[width(q)]
    s = where(near, shape, 1.0)
    root = lambertw_lower((q - 1.0) * (1.0 + s) * exp(-1.0 - s))
    x = maximum(where(near, -1.0 - (1.0 + root) / s, -log1p(-q) / shape), 0.0)
    for _ in range(3):
        x = x + (_log_sf(x, shape) - log1p(-q)) / _hazard(x, shape)
    return x


def _quantile_partials(q: Node, shape: Node, out: Node) -> tuple[Node, Node]:
    falls = out * ((2.0 + shape) + out * (1.0 + shape)) / ((1.0 + shape) * (1.0 + out))
    return 1.0 / _hazard(out, shape) / (1.0 - q), -falls / shape


lindley_quantile: Primitive = primitive(
    "lindley_quantile", 2, expand=_quantile, partials=_quantile_partials, floating=True,
    domain=((0.02, 0.98), (0.05, 30.0)),
)


class Lindley(Distribution):
    """Lindley distribution, f(x) = shape^2 (1 + x) exp(-shape x) / (1 + shape) for x >= 0.

    Written ``Lindley(shape)``.
    Ghitany, Atieh and Nadarajah (2008), Lindley distribution and its application, Mathematics and Computers in
    Simulation 78.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Lindley(1.0), np.array([0.0, 1.0]))).round(4)
    array([-0.6931, -1.    ])
    """

    @parametrisation(shape=positive)
    @staticmethod
    def by_shape(shape: Node) -> dict[str, Node]:
        return {"shape": shape}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return 2.0 * log(p.shape) - log1p(p.shape) + log1p(x) - p.shape * x

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return _log_sf(x, p.shape)

    @staticmethod
    def least_log_sf(x: Node, p: Parameters) -> Node:
        """No less than what has 0 as its exponential, and a slope of 0 there."""
        return at_least(Lindley.log_sf(x, p), NOTHING)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(Lindley.least_log_sf(x, p))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(Lindley.least_log_sf(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return lindley_quantile(q, p.shape)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A mixture of two gamma distributions, of shapes 1 and 2."""
        one = random.uniform() * (1.0 + p.shape) < p.shape
        return (random.exponential() + where(one, 0.0, random.exponential())) / p.shape

    @staticmethod
    def mean(p: Parameters) -> Node:
        return (p.shape + 2.0) / (p.shape * (p.shape + 1.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        return 2.0 * square(1.0 / p.shape) - square(1.0 / (1.0 + p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(1.0 - p.shape, 0.0) / p.shape
