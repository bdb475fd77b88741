"""The beta distribution function of the odds x / (1 - x): x and 1 - x are both known to the last digit."""

from collections.abc import Callable

from vecdist.expr import Node, where
from vecdist.primitives.incomplete_beta import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    log_betainc,
    log_betaincc,
)


def _by_lesser(odds: Node, a: Node, b: Node, one: Callable[..., Node], other: Callable[..., Node]) -> Node:
    """``one(a, b, x)``, or the same as ``other(b, a, 1 - x)`` where 1 - x is the lesser."""
    near = odds < 1.0
    least = where(near, odds, 1.0 / odds)
    least = least / (1.0 + least)
    return where(near, one(a, b, least), other(b, a, least))


def cdf_of_odds(odds: Node, a: Node, b: Node) -> Node:
    """I_x(a, b)."""
    return _by_lesser(odds, a, b, betainc, betaincc)


def sf_of_odds(odds: Node, a: Node, b: Node) -> Node:
    """1 - I_x(a, b)."""
    return _by_lesser(odds, a, b, betaincc, betainc)


def log_cdf_of_odds(odds: Node, a: Node, b: Node) -> Node:
    """log I_x(a, b)."""
    return _by_lesser(odds, a, b, log_betainc, log_betaincc)


def log_sf_of_odds(odds: Node, a: Node, b: Node) -> Node:
    """log(1 - I_x(a, b))."""
    return _by_lesser(odds, a, b, log_betaincc, log_betainc)


def odds_of_cdf(q: Node, a: Node, b: Node) -> Node:
    """The odds of the x where I_x(a, b) is ``q``."""
    x, rest = betaincinv(a, b, q), betainccinv(b, a, q)
    return where(x < 0.5, x / (1.0 - x), (1.0 - rest) / rest)


def odds_of_sf(q: Node, a: Node, b: Node) -> Node:
    """The odds of the x where 1 - I_x(a, b) is ``q``."""
    x, rest = betainccinv(a, b, q), betaincinv(b, a, q)
    return where(x < 0.5, x / (1.0 - x), (1.0 - rest) / rest)
