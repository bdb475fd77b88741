"""Draws of Pólya-Gamma variables: for a small whole b sums of exits from an interval, otherwise by the quantile.

Polson, Scott and Windle (2013), Bayesian inference for logistic models using Pólya-Gamma latent variables, Journal of
the American Statistical Association 108, sections 2.2 and 4: with b = 1 and z it is a quarter of the time of an exit at
distance 1 with the drift z / 2.
"""

from __future__ import annotations

from vecdist.primitives.table import Primitive
from vecdist.special.draws import TRIES, drawn, uniforms
from vecdist.special.passage_draws import exit_time
from vecdist.special.polya_gamma_tails import _quantile

SUMMED = 64.0  # exits that take as long as a quantile


def _polya_gamma(low: float, high: float, place: float, tag: float, b: float, z: float) -> float:
    total, k = 0.0, 0.0
    if 0.0 < b <= SUMMED and b % 1.0 == 0.0:
        while k < b:
            total += 0.25 * exit_time(low, high, place, tag, 2.0 * TRIES * k, 0.5 * abs(z))
            k += 1.0
    else:
        u, _, _ = uniforms(low, high, place, tag, 0.0)
        total = _quantile(1.0, b, z, u)
    return total


polya_gamma_draw: Primitive = drawn("polya gamma draw", 2, _polya_gamma)
