"""The beta distribution function of the odds x / (1 - x): x and 1 - x are both known to the last digit."""

from vecdist.expr import Node, const, where
from vecdist.primitives import beta_of_odds
from vecdist.primitives.beta_of_odds import ODDS
from vecdist.primitives.beta_quantiles import odds_below
from vecdist.primitives.rounding import quotient_rest


def cdf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """I_x(a, b)."""
    return beta_of_odds.beta_below(const(ODDS, z.dtype), a, b, rest, z)


def sf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """1 - I_x(a, b)."""
    return beta_of_odds.beta_beyond(const(ODDS, z.dtype), a, b, rest, z)


def log_cdf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """log I_x(a, b)."""
    return beta_of_odds.log_beta_below(const(ODDS, z.dtype), a, b, rest, z)


def log_sf_of_odds(z: Node, a: Node, b: Node, rest: Node | float = 0.0) -> Node:
    """log(1 - I_x(a, b))."""
    return beta_of_odds.log_beta_beyond(const(ODDS, z.dtype), a, b, rest, z)


def odds_of(p: Node, q: Node) -> tuple[Node, Node]:
    """p / q for q = 1 - p, and what rounding has taken from it; the lesser of both is the one that is known."""
    odds = p / q
    lost = where(p < q, (1.0 - q) - p, 0.0) / q
    return odds, where(q > 0.0, quotient_rest(p, q) - odds * lost, 0.0)


def odds_of_cdf(q: Node, a: Node, b: Node) -> Node:
    """The odds of the x where I_x(a, b) is ``q``."""
    return odds_below(const(ODDS, q.dtype), a, b, const(0.0, q.dtype), q)


def symmetric_quantile(q: Node, shape: float) -> Node:
    """2 x - 1 for the x where I_x(shape, shape) is ``q``, by the shorter tail."""
    low = q < 0.5
    one = const(shape, q.dtype)
    odds = odds_of_cdf(where(low, q, 1.0 - q), one, one)
    z = (1.0 - odds) / (1.0 + odds)
    return where(low, -z, z)
