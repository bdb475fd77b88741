"""Routines of a distribution function with one parameter, from one function that has a tail of it, and its slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vecdist.special.scalar import log_tail, log_tail_slope, tail, tail_slope

Routine = Callable[[float, float, float], float]


class TwoTails(NamedTuple):
    """The distribution function and its logarithm, and the slopes of both in x and in the parameter."""

    cdf: Routine
    slope: Routine
    slope_in_parameter: Routine
    log_cdf: Routine
    log_slope: Routine
    log_slope_in_parameter: Routine


def routines(parts: Callable[[float, float, float], tuple[bool, float, float, float, float]]) -> TwoTails:
    """Those of ``parts(x, rest, parameter)``, which gives a tail that may be small, as exp(e) w.

    It says whether that is the lower one, e, w, and the slopes of the distribution function over exp(e): in x, and in
    the parameter.
    """

    def cdf(x: float, rest: float, parameter: float) -> float:
        lower, e, w, _, _ = parts(x, rest, parameter)
        return tail(lower, e, w)

    def slope(x: float, rest: float, parameter: float) -> float:
        lower, e, _, of_x, _ = parts(x, rest, parameter)
        return tail_slope(lower, e, of_x)

    def slope_in_parameter(x: float, rest: float, parameter: float) -> float:
        lower, e, _, _, of_parameter = parts(x, rest, parameter)
        return tail_slope(lower, e, of_parameter)

    def log_cdf(x: float, rest: float, parameter: float) -> float:
        lower, e, w, _, _ = parts(x, rest, parameter)
        return log_tail(lower, e, w)

    def log_slope(x: float, rest: float, parameter: float) -> float:
        lower, e, w, of_x, _ = parts(x, rest, parameter)
        return log_tail_slope(lower, e, w, of_x)

    def log_slope_in_parameter(x: float, rest: float, parameter: float) -> float:
        lower, e, w, _, of_parameter = parts(x, rest, parameter)
        return log_tail_slope(lower, e, w, of_parameter)

    return TwoTails(cdf, slope, slope_in_parameter, log_cdf, log_slope, log_slope_in_parameter)
