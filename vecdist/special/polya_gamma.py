"""The density of Pólya-Gamma variables without a tilt, by the inverse of its Laplace transform cosh(sqrt(t / 2))^-b.

The path of integration is a parabola about the negative axis, on which the zeros of cosh are, through the saddle point
t0: t / 2 = s0 + 2 i k y - y^2.  There the integrand falls in y like exp(-2 x y^2), and midpoints of equal steps give
the integral (Trefethen and Weideman 2014, The exponentially convergent trapezoidal rule, SIAM Review 56).  Next to
nothing cancels, whatever b is, while the terms of the series of Polson, Scott and Windle (2013), Bayesian inference for
logistic models using Pólya-Gamma latent variables, Journal of the American Statistical Association 108, alternate.
"""

from __future__ import annotations

import math
from math import atan, cos, cosh, exp, inf, log, log1p, nan, pi, sqrt, tan, tanh

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import maximum, minimum, square
from vecdist.primitives.arithmetic import sqrt as root
from vecdist.primitives.elementary import exp as exponential
from vecdist.primitives.elementary import expm1
from vecdist.primitives.elementary import log as logarithm
from vecdist.primitives.power import hypot
from vecdist.primitives.table import Primitive, flat, primitive
from vecdist.primitives.trigonometric import arctan, near_cos, near_sin
from vecdist.special.quadrature import integral

NEXT = 80.0  # times x, below b + 1: the second term of the series is exp(-NEXT / 2) of the first
MOST = 1e7  # of 4 x / b: beyond, the leading term is all
REACH, FINE, NARROW = 10.0, 3.5, 8.0  # of the path, and its steps: in widths of the peak, and of the strip beside it


def saddle(rho: float) -> float:
    """The s where tanh(sqrt(s)) / sqrt(s) is rho: above 0 for rho < 1, and down to -pi^2 / 4.

    By Newton's steps from beyond the root of a concave function.
    """
    v, step, n = nan, 1.0, 0
    if 0.0 < rho < 1.0:
        v = 1.0 / rho
    elif 1.0 <= rho < inf:
        v = atan(0.5 * pi * rho)
    while n < 40 and v > 1e-6 and step > 1e-14 * v:
        t = tanh(v) if rho < 1.0 else atan(rho * v)
        over = rho * v - t if rho < 1.0 else v - t
        slope = rho - (1.0 - t * t) if rho < 1.0 else 1.0 - rho / (1.0 + rho * v * (rho * v))
        step = over / slope if slope > 0.0 else 0.0
        v -= step
        n += 1
    return v * v if rho < 1.0 else -v * v


def log_cosh_root(s: float) -> float:
    """log(cosh(sqrt(s))), which does not overflow."""
    v = sqrt(abs(s))
    return v + log1p(exp(-2.0 * v)) - log(2.0) if s > 4.0 else log(cosh(v)) if s > 0.0 else log(cos(v))


def curvature(s: float, rho: float) -> float:
    """Less the second derivative of log(cosh(sqrt(t / 2))) at t = 2 s, next to which rho is tanh(sqrt(s)) / sqrt(s)."""
    fall = 0.0 if s > 400.0 else 1.0 - rho * rho * s
    return (rho - fall) / (16.0 * s) if abs(s) > 1e-3 else 1.0 / 24.0


def vertex(x: float, b: float) -> tuple[float, float]:
    """Where the path begins, the saddle or for a small b not too near the first zero, and tanh(sqrt(s)) / sqrt(s)."""
    rho = 4.0 * x / b
    s, least = saddle(rho), 0.25 / x - 0.25 * pi * pi
    if s < least < 0.0:
        s = least
        rho = tan(sqrt(-s)) / sqrt(-s)
    return s, rho


def _saddle(which: float, x: float, b: float) -> float:
    """Where the path begins, what the logarithm is there, or the curvature."""
    s, rho = vertex(x, b)
    y = s
    if which == 1.0:
        y = log_cosh_root(s)
    elif which == 2.0:
        y = curvature(s, rho)
    return y


# on which no integral depends
polya_gamma_saddle: Primitive = primitive(
    "polya_gamma_saddle", 3, routine=_saddle, partials=flat, floating=True,
)


def _first_passage(x: Node, b: Node, z: Node) -> Node:
    lag = b - 2.0 * z * x
    return -1.5 * logarithm(x) - 0.125 * lag * (lag / x)


def _first_passage_partials(x: Node, b: Node, z: Node, out: Node) -> tuple[Node, Node, Node]:
    """That in x as one product, for the difference of two terms that are infinite is no number."""
    lag, inverse = b - 2.0 * z * x, 1.0 / x
    return inverse * (lag * (0.5 * z + 0.125 * (lag * inverse)) - 1.5), -0.25 * (lag * inverse), 0.5 * lag


# -3 / 2 log(x) - (b - 2 z x)^2 / (8 x)
log_first_passage: Primitive = primitive(
    "log_first_passage", 3, expand=_first_passage, partials=_first_passage_partials, floating=True,
    domain=((0.2, 3.0), (0.5, 4.0), (0.5, 4.0)),
)


def term(n: Node, step: Node, s: Node, k: Node, usual: Node, x: Node, b: Node) -> Node:
    """The real part of the integrand, over exp(2 s x - b usual)."""
    y = (n + 0.5) * step
    p, q = s - y * y, 2.0 * k * y
    size, right = hypot(p, q), p > 0.0
    larger = root(0.5 * (size + where(right, p, -p)))
    other = 0.5 * q / larger
    across, along = where(right, larger, other), where(right, other, larger)  # sqrt(p + i q)
    shrunk, rise = exponential(-across), 0.5 * (expm1(across) - expm1(-across))
    c, turn = near_cos(along), near_sin(along)
    log_size = 0.5 * logarithm(square(rise) + square(c))
    phase = along - arctan(shrunk * turn * c / (rise + shrunk * square(c)))
    lag = 4.0 * k * x * y - b * phase
    return exponential(-2.0 * x * y * y - b * (log_size - usual)) * (k * near_cos(lag) - y * near_sin(lag))


def log_inverse(x: Node, b: Node) -> Node:
    """The logarithm of the inverse Laplace transform, for x from (b + 1) / NEXT to b MOST / 4."""
    s, usual, bend = (polya_gamma_saddle(const(which, x.dtype), x, b) for which in (0.0, 1.0, 2.0))
    k = root(maximum(s, 0.0) + minimum(s + 0.25 * math.pi**2, 1.0))  # as wide as the strip beside it
    width = 0.25 / (k * root(b * bend))
    step = minimum(width / FINE, k / NARROW)
    reach = math.sqrt(20.0) / root(x)  # of exp(-2 x y^2)
    end = (reach + minimum(REACH * width, reach)) / step
    total = integral(term, 0.0, end, 1.0, (step, s, k, usual, x, b))
    return 2.0 * s * x - b * usual + logarithm(4.0 / math.pi * step * total)
