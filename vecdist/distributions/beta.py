"""The beta distribution."""

from vecdist.constraints import Constraint, open_unit_interval, positive, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node
from vecdist.primitives.arithmetic import sqrt
from vecdist.primitives.special import lbeta, xlog1py, xlogy

below_widest = Constraint(
    "a positive number below sqrt(mean (1 - mean))",
    lower=0.0,
    upper=lambda p: sqrt(p.mean * (1.0 - p.mean)),
    open_lower=True,
    open_upper=True,
)


class Beta(Distribution):
    """Beta distribution, f(x) = x^(alpha - 1) (1 - x)^(beta - 1) / B(alpha, beta) for 0 <= x <= 1.

    Written ``Beta(alpha, beta)``, ``Beta(mean=, concentration=)``, where the concentration is alpha + beta, or
    ``Beta(mean=, sd=)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 25.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Beta(1.0, 2.0), np.array([0.0, 0.5, 1.0]))).round(4)
    array([0.6931, 0.    ,   -inf])
    """

    oracle = "scipy.stats.beta(alpha, beta)"

    @parametrisation(alpha=positive, beta=positive)
    @staticmethod
    def by_counts(alpha: Node, beta: Node) -> dict[str, Node]:
        return {"alpha": alpha, "beta": beta}

    @parametrisation(mean=open_unit_interval, concentration=positive)
    @staticmethod
    def by_concentration(mean: Node, concentration: Node) -> dict[str, Node]:
        return {"alpha": mean * concentration, "beta": (1.0 - mean) * concentration}

    @parametrisation(mean=open_unit_interval, sd=below_widest)
    @staticmethod
    def by_sd(mean: Node, sd: Node) -> dict[str, Node]:
        concentration = mean / sd * ((1.0 - mean) / sd) - 1.0
        return {"alpha": mean * concentration, "beta": (1.0 - mean) * concentration}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return unit_interval

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return xlogy(p.alpha - 1.0, x) + xlog1py(p.beta - 1.0, -x) - lbeta(p.alpha, p.beta)
