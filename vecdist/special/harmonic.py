"""Generalised harmonic numbers: the sum of k**-s over whole numbers k up to n, for real s > 1, DLMF 25.11.4."""

from __future__ import annotations

from math import exp, expm1, log, nan

from vecdist.graph.node import Node
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.scalar import expm1_less
from vecdist.special.zeta import NEGLIGIBLE, corrections, head, inverse_power


def parts(s: float, n: float) -> tuple[float, float]:
    """The sum of k**-s over k <= n, and its derivative in s: the difference of the series at both ends.

    Of the integrals that is m**(1 - s) (1 - exp(-u)) / (s - 1) for u = (s - 1) log((n + 1) / m).
    """
    total, slope = nan, nan
    if s > 1.0 and n >= 0.0:
        total, slope, w = head(s, 1.0, n)
        power = inverse_power(w, s)
        if w <= n and power > NEGLIGIBLE * total:
            u = min((s - 1.0) * (log(n + 1.0) - log(w)), 700.0)
            integral = -expm1(-u) / (s - 1.0)
            bent = exp(-u) * expm1_less(u) / (s - 1.0) / (s - 1.0)
            last = inverse_power(n + 1.0, s)
            at, at_slope = corrections(s, w)
            end, end_slope = corrections(s, n + 1.0)
            total += power * (w * integral + at) - last * end
            slope += power * (at_slope - w * bent - log(w) * (w * integral + at))
            slope -= last * (end_slope - log(n + 1.0) * end)
    return total, slope


def _harmonic(s: float, n: float) -> float:
    total, _ = parts(s, n)
    return total


def _harmonic_ds(s: float, n: float) -> float:
    _, slope = parts(s, n)
    return slope


def _of_exponent(dots: tuple[Node | None, ...], s: Node, n: Node, out: Node) -> Node | None:
    """A sum over whole numbers has no derivative in their number."""
    return None if dots[0] is None else harmonic_ds(s, n) * dots[0]


harmonic: Primitive = primitive(  # the sum of k**-s over k <= n
    "harmonic", 2, routine=_harmonic, tangent=_of_exponent, floating=True, domain=((1.1, 2.0), (4.3, 4.6)),
)
harmonic_ds: Primitive = primitive(
    "harmonic_ds", 2, routine=_harmonic_ds, tangent=no_derivatives("harmonic_ds"), floating=True,
    domain=((1.1, 2.0), (4.3, 4.6)),
)
