"""Distributions made of others: truncated, censored, inflated, moved, raised to powers, folded, rounded, repeated."""

from vecdist.wrappers.affine import affine
from vecdist.wrappers.bijectors import Bijector
from vecdist.wrappers.censored import censored
from vecdist.wrappers.discretised import discretised
from vecdist.wrappers.folded import folded
from vecdist.wrappers.hurdle import hurdle
from vecdist.wrappers.iid import iid
from vecdist.wrappers.interval_censored import interval_censored
from vecdist.wrappers.powered import powered
from vecdist.wrappers.transformed import transformed
from vecdist.wrappers.truncated import truncated
from vecdist.wrappers.zero_inflated import zero_inflated

__all__ = [
    "Bijector",
    "affine",
    "censored",
    "discretised",
    "folded",
    "hurdle",
    "iid",
    "interval_censored",
    "powered",
    "transformed",
    "truncated",
    "zero_inflated",
]
