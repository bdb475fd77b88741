"""The multivariate log-normal distribution."""

from vecdist.distributions.base import Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.multivariate import scatter
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.events import over_event, some
from vecdist.multivariate.mv_normal import MvNormal
from vecdist.primitives.elementary import exp, expm1, log


class MvLogNormal(Multivariate):
    """Multivariate log-normal distribution, of vectors whose logarithms have the distribution ``MvNormal``.

    f(x) = g(log x) / ∏ x_k for x_k > 0, where g is the density of the normal distribution.
    Written as that one is: ``MvLogNormal(loc, covariance)``, or with ``scale_tril=``, ``precision=``, ``scale_diag=``
    or ``cov_factor=`` and ``cov_diag=``, all of the logarithms.
    Kotz, Balakrishnan and Johnson (2000), Continuous Multivariate Distributions 1, second edition, chapter 44.

    >>> import numpy as np, vecdist
    >>> some = MvLogNormal(np.zeros(2), np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> round(float(vecdist.logpdf(some, np.full(2, np.e))), 4)
    -4.7205
    """

    parametrisations = MvNormal.parametrisations

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return some(x <= 0.0)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return exp(MvNormal.draw(random, p))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        logs = log(where(x <= 0.0, 1.0, x))
        return MvNormal.log_density(logs, p) - over_event(logs)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return exp(p.loc + 0.5 * scatter.variances(p.scatter))

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        variances = scatter.variances(p.scatter)
        return expm1(variances) * exp(2.0 * p.loc + variances)
