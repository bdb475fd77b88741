"""Mills' ratio of the normal distribution, M(a) = Phi(-a) / phi(a), added and subtracted, of Python floats.

M(a) is the integral of exp(-u**2 / 2 - a u) over u > 0, so that M(a) - M(a + gap) is an integral of what is positive
throughout: nothing cancels (DLMF 7.7.1).
"""

from __future__ import annotations

from math import exp, expm1, inf, sqrt

from vecdist.special.scalar import DECAY, NODES, WEIGHTS

REACH = 9.5  # standard deviations beyond which a normal density is nothing


def path(a: float) -> tuple[float, int]:
    """How far the integrand reaches, in panels of a length that 32 points of Gauss and Legendre suffice for."""
    end, panels = REACH - a, 2
    if a >= 0.0:
        end, panels = 2.0 * DECAY / (a + sqrt(a * a + 2.0 * DECAY)), 1
    return end / panels, panels


def quadrature(a: float, gap: float, sign: float) -> float:
    """The integral of exp(-u**2 / 2 - a u) (1 + sign exp(-gap u)) over u > 0."""
    length, panels = path(a)
    total = 0.0
    for k in range(32 * panels):
        node = NODES[k % 32 // 2]
        if k % 2 == 1:
            node = 1.0 - node
        u = length * (node + k // 32)
        both = -expm1(-gap * u) if sign < 0.0 else 1.0 + exp(-gap * u)
        total += WEIGHTS[k % 32 // 2] * exp(-u * (0.5 * u + a)) * both
    return length * total


def mills(a: float) -> float:
    """M(a) for a >= -REACH."""
    return quadrature(a, inf, 1.0)


def two_mills(a: float, gap: float, sign: float) -> float:
    """M(a) + sign M(a + gap) for a >= -REACH and gap >= 0, where sign is 1 or -1.

    As they stand where the gap is too steep for the nodes; then the second term is at most half of the first.
    """
    length, _ = path(a)
    steep = gap * length > DECAY
    total = quadrature(a, inf if steep else gap, sign)
    if steep:
        total += sign * mills(a + gap)
    return total
