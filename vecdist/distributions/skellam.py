"""The Skellam distribution."""

from vecdist.constraints import Constraint, integer, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.bessel_orders import log_iv_dx, log_ive, log_ive_dv
from vecdist.special.count_quantiles import skellam_quantile
from vecdist.special.draws import poisson_draw
from vecdist.special.marcum import log_marcum_p, log_marcum_q, marcum_p, marcum_q
from vecdist.special.staircase import eased


def _log_meeting(v: Node, rate1: Node, rate2: Node) -> Node:
    root1, root2 = sqrt(rate1), sqrt(rate2)
    return log_ive(v, 2.0 * root1 * root2) - square(root1 - root2)


def _log_meeting_partials(v: Node, rate1: Node, rate2: Node, out: Node) -> tuple[Node, Node, Node]:
    """With the derivative of log I, of which nothing is left of a derivative of log I - x where x is small."""
    root1, root2 = sqrt(rate1), sqrt(rate2)
    x = 2.0 * root1 * root2
    rise = log_iv_dx(v, x)
    return log_ive_dv(v, x), rise * (root2 / root1) - 1.0, rise * (root1 / root2) - 1.0


log_meeting: Primitive = primitive(  # log I_v(2 sqrt(rate1 rate2)) - rate1 - rate2
    "skellam_log_meeting", 3, expand=_log_meeting, partials=_log_meeting_partials, floating=True,
    domain=((0.2, 12.0), (0.5, 10.0), (0.5, 10.0)),
)


class Skellam(Distribution):
    """Skellam distribution, f(x) = exp(-rate1 - rate2) (rate1 / rate2)^(x / 2) I|x|(2 sqrt(rate1 rate2)), x whole.

    Written ``Skellam(rate1, rate2)``; it is the distribution of the difference of two Poisson variables.
    Skellam (1946), The frequency distribution of the difference between two Poisson variates, Journal of the Royal
    Statistical Society 109.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Skellam(2.0, 1.0), np.array([-1, 0, 1]))).round(4)
    array([-2.1267, -1.5525, -1.4335])
    """

    discrete = True
    oracle = "scipy.stats.skellam(rate1, rate2)"

    @parametrisation(rate1=positive, rate2=positive)
    @staticmethod
    def by_rates(rate1: Node, rate2: Node) -> dict[str, Node]:
        return {"rate1": rate1, "rate2": rate2}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return integer

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return 0.5 * x * (log(p.rate1) - log(p.rate2)) + log_meeting(abs(x), p.rate1, p.rate2)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return random.draw(poisson_draw, p.rate1) - random.draw(poisson_draw, p.rate2)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.rate1 - p.rate2

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.rate1 + p.rate2

    @staticmethod
    def arguments(x: Node, p: Parameters) -> tuple[Node, Node, Node]:
        """Those of Marcum's functions, whose P is the lower tail below 0 and the upper one from 0 on.

        Johnson (1959), On an extension of the connexion between Poisson and chi-squared distributions, Biometrika 46.
        """
        below = x < 0.0
        return where(below, -x, x + 1.0), where(below, p.rate1, p.rate2), where(below, p.rate2, p.rate1)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        at = Skellam.arguments(x, p)
        return where(x < 0.0, marcum_p(*at), marcum_q(*at))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        at = Skellam.arguments(x, p)
        return where(x < 0.0, marcum_q(*at), marcum_p(*at))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        at = Skellam.arguments(x, p)
        return where(x < 0.0, log_marcum_p(*at), log_marcum_q(*at))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        at = Skellam.arguments(x, p)
        return where(x < 0.0, log_marcum_q(*at), log_marcum_p(*at))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return skellam_quantile(p.rate1, p.rate2, eased(q))
