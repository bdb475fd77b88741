"""The noncentral F distribution."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import ClassVar

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.fisher_snedecor import FisherSnedecor, f_decay
from vecdist.distributions.saddle_point import poisson
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import floor, maximum, minimum, sqrt, square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import width
from vecdist.primitives.power import hypot
from vecdist.special.beta_of_odds import RATIO
from vecdist.special.draws import poisson_draw
from vecdist.special.error_functions import log_beta_peak
from vecdist.special.formulas import infinite_where
from vecdist.special.noncentral_beta_tails import (
    log_noncentral_beta_tail,
    noncentral_beta_quantile,
    noncentral_beta_tail,
)
from vecdist.special.quadrature import integral

SMALL = {8: 1e-8, 4: 1e-4}  # the square of which is lost
DECAY = 40.0  # terms are added up until they have fallen by exp(-DECAY)


def log_term(count: Node, x: Node, a: Node, b: Node, rate: Node, log_rate: Node) -> Node:
    """The log of a Poisson mass times the log density, but for 1 / x, of a central ratio with shape a + count."""
    shape = a + count
    mass = poisson(count, SimpleNamespace(rate=rate, log_rate=log_rate))
    return mass + f_decay(x * (a / shape), shape, b) + log_beta_peak(shape, b)


def log_mixture(log_term: Callable[..., Node], w: Node, a: Node, b: Node, given: Sequence[Node]) -> Node:
    """The log of the sum of ``exp(log_term(count, *given))``, which are those of M(a + b, a, w) times a constant.

    Of every term, or of so few at equal steps that the sum is that of all (see ``integral``).
    """
    root = hypot(w - a, 2.0 * sqrt(w) * sqrt(a + b))
    middle = floor(where(w > a, 0.5 * (w - a + root), 2.0 * w * ((a + b) / (a - w + root))))
    deviation = 1.0 / sqrt(1.0 / (middle + 1.0) + b / (a + middle) / (a + b + middle))
    stride = maximum(floor(0.5 * deviation), 1.0)
    before = minimum(middle, sqrt(2.0 * DECAY * middle))  # by Poisson masses, which fall off less
    after = DECAY / 3.0 + sqrt((DECAY / 3.0) ** 2 + 2.0 * DECAY * middle)
    largest = log_term(middle, *given)

    def term(step: Node, middle: Node, stride: Node, largest: Node, *given: Node) -> Node:
        return exp(log_term(middle + step * stride, *given) - largest)

    total = integral(term, -floor(before / stride), after / stride, 1.0, (middle, stride, largest, *given))
    return largest + log(stride * total)


class OfShapes:
    """The distribution functions of a family of shapes alpha and beta whose numbers are odds or shares of ``form``."""

    form: ClassVar[float]

    @classmethod
    def given(cls, x: Node, p: Parameters) -> tuple[Node, ...]:
        return const(cls.form, x.dtype), p.alpha, p.beta, p.rate, x

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return noncentral_beta_tail(const(1.0, x.dtype), *cls.given(x, p))

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return noncentral_beta_tail(const(0.0, x.dtype), *cls.given(x, p))

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return log_noncentral_beta_tail(const(1.0, x.dtype), *cls.given(x, p))

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return log_noncentral_beta_tail(const(0.0, x.dtype), *cls.given(x, p))

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        return noncentral_beta_quantile(const(1.0, q.dtype), *cls.given(q, p))

    @classmethod
    def upper_quantile(cls, q: Node, p: Parameters) -> Node:
        return noncentral_beta_quantile(const(0.0, q.dtype), *cls.given(q, p))


class NoncentralFisherSnedecor(OfShapes, Distribution):
    """Noncentral F distribution, f(x) = exp(-nc / 2) g(x) M((dfn + dfd) / 2, dfn / 2, nc y / 2) for x >= 0.

    Written ``NoncentralFisherSnedecor(dfn, dfd, nc)``; g is the density of ``FisherSnedecor(dfn, dfd)``, which it is
    without ``nc``, M Kummer's function, and y = r x / (1 + r x) for r = dfn / dfd.  It is the distribution of the ratio
    of a noncentral mean square to a central one.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 30.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(NoncentralFisherSnedecor(2.0, 4.0, 1.0), np.array([0.0, 2.0]))).round(4)
    array([-0.5   , -1.9034])
    """

    oracle = "scipy.stats.ncf(dfn, dfd, nc)"
    form = RATIO

    @parametrisation(dfn=positive, dfd=positive, nc=nonnegative)
    @staticmethod
    def by_df(dfn: Node, dfd: Node, nc: Node) -> dict[str, Node]:
        return {"df1": dfn, "df2": dfd, "alpha": 0.5 * dfn, "beta": 0.5 * dfd, "rate": 0.5 * nc}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """With the first terms of the series of M where they are small, DLMF 13.2.2."""
        total = p.alpha + p.beta
        first = p.rate * (x / (x + p.df2 / p.df1)) * (total / p.alpha)
        near = first < SMALL[width(x)]
        second = 0.5 * square(first) * (p.beta / total / (p.alpha + 1.0))
        edge = FisherSnedecor.log_density(x, p) + (first - second - p.rate)
        at, rate = where(near, 1.0, x), where(near, 1.0, p.rate)
        w, given = rate * (at / (at + p.df2 / p.df1)), (at, p.alpha, p.beta, rate, log(rate))
        return where(near, edge, log_mixture(log_term, w, p.alpha, p.beta, given) - log(at))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A mixture of central ones by a Poisson distribution."""
        shape = p.alpha + random.draw(poisson_draw, p.rate)
        return exp(random.log_gamma(shape) - random.log_gamma(p.beta)) * (p.df2 / p.df1)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.df2 <= 2.0, p.df2 / (p.df2 - 2.0) * (1.0 + p.rate / p.alpha))

    @staticmethod
    def variance(p: Parameters) -> Node:
        d, more = p.df2 - 2.0, 1.0 + p.rate / p.alpha
        spread = 2.0 * square(p.df2 / d) * (square(more) + (more + p.rate / p.alpha) * (d / p.df1)) / (d - 2.0)
        return infinite_where(d <= 2.0, spread)
