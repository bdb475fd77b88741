"""The beta distribution function of the odds x / (1 - x): x and 1 - x are both known to the last digit."""

from vecdist.expr import Node, const, where
from vecdist.primitives import beta_of_odds
from vecdist.primitives.beta_of_odds import ODDS
from vecdist.primitives.incomplete_beta import betainccinv, betaincinv
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
    x, rest = betaincinv(a, b, q), betainccinv(b, a, q)
    return where(x < 0.5, x / (1.0 - x), (1.0 - rest) / rest)


def odds_of_sf(q: Node, a: Node, b: Node) -> Node:
    """The odds of the x where 1 - I_x(a, b) is ``q``."""
    x, rest = betainccinv(a, b, q), betaincinv(b, a, q)
    return where(x < 0.5, x / (1.0 - x), (1.0 - rest) / rest)
