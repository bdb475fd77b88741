"""Functions of Python floats that routines share: logarithms without their leading terms, and parts of gamma functions.

A routine is written so that no input makes Python raise: no division by zero, no logarithm of 0, no exponential of more
than 700.  Tables are fits at Chebyshev nodes to 400 bits, or the nodes and weights of Gauss and Legendre.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, sqrt

from vecdist.primitives.scalar import horner
from vecdist.special.gamma_functions import DIGAMMA, LGAMMA

LEAST = 3.0  # where the asymptotic series of the gamma functions begin
STIRLING: tuple[float, ...] = LGAMMA[8][::-1]
STIRLING_DIGAMMA: tuple[float, ...] = DIGAMMA[8][::-1]
# (1 / gamma(1 + s) - 1) / s on 0 <= s <= 1: absolute error 2.0e-17
RECIPROCAL_GAMMA = (
    1.7200070946431934e-08, -2.1896988906648608e-07, 1.1389962411508655e-06, -1.2436534652553382e-06,
    -2.0149457390763776e-05, 0.000128063513304448, -0.00021524914822683067, -0.0011651647525430678,
    0.007218942511576732, -0.009621971400288845, -0.042197734569778066, 0.16653861138323703, -0.042002635034127836,
    -0.6558780715202535, 0.5772156649015329,
)
# (exp(s) - 1 - s) / s**2 on |s| <= 0.7: relative error 1.4e-17
EXPONENTIAL = (
    7.695527310740403e-13, 1.1552993156883394e-11, 1.605871766363409e-10, 2.0876202229958447e-09,
    2.5052109475674446e-08, 2.7557321078365733e-07, 2.7557319222115652e-06, 2.4801587298406107e-05,
    0.0001984126984127137, 0.0013888888888891487, 0.008333333333333333, 0.04166666666666666, 0.16666666666666666, 0.5,
)
# (artanh(t) - t) / t**3 in t**2, |t| <= 1/3: error of artanh relative to t 1.5e-17
ARTANH = (
    0.08082022805971766, 0.04400369243072337, 0.06000536404795356, 0.06657072104827468, 0.07692785032479312,
    0.09090894718066429, 0.11111111358713932, 0.1428571428355438, 0.20000000000007292, 0.3333333333333333,
)
# The nodes below 1/2 and the weights of the Gauss rule of 32 points on [0, 1]
NODES = (
    0.0013680690752592183, 0.007194244227365833, 0.017618872206246784, 0.03254696203113015, 0.05183942211697394,
    0.07531619313371501, 0.1027581020160288, 0.13390894062985517, 0.1684778665348924, 0.20614212137961885,
    0.2465500455338853, 0.2893243619346823, 0.33406569885893617, 0.38035631887393145, 0.42776401920860174,
    0.4758461671561308,
)
WEIGHTS = (
    0.003509305004735048, 0.008137197365452835, 0.01269603265463103, 0.017136931456510716, 0.02141794901111334,
    0.025499029631188087, 0.029342046739267772, 0.032911111388180925, 0.03617289705442425, 0.039096947893535156,
    0.041655962113473374, 0.043826046502201906, 0.045586939347881945, 0.04692219954040228, 0.04781936003963743,
    0.0482700442573639,
)
DECAY = 40.0  # an integrand is followed until it has fallen by exp(-DECAY)
STEPS = 100  # more than the search for a quantile takes
SETTLED = 1e-9  # an error of a logarithm of which the next step of Newton's leaves nothing


def divided_difference(x: float, y: float, coefficients: tuple[float, ...]) -> tuple[float, float]:
    """p(y), and (p(y) - p(x)) / (y - x) without the differences."""
    value, quotient = 0.0, 0.0
    for coefficient in coefficients:
        quotient = quotient * x + value
        value = value * y + coefficient
    return value, quotient


def expm1_less(s: float) -> float:
    """exp(s) - 1 - s, for s <= 700."""
    return s * s * horner(s, EXPONENTIAL) if -0.7 < s < 0.7 else expm1(s) - s


def log1p_less(w: float) -> float:
    """log(1 + w) - w for w > -1, from 2 artanh(t) for t = w / (2 + w) where w is small."""
    if -0.5 < w < 0.5:
        t = w / (2.0 + w)
        y = t * (2.0 * t * t * horner(t * t, ARTANH) - w)
    else:
        y = log1p(w) - w
    return y


def log_less(x: float, y: float, w: float) -> float:
    """log(x / y) - w for w = (x - y) / y, which is known better than the difference of x / y from 1."""
    if -0.5 < w < 0.5:
        z = log1p_less(w)
    elif x / y > 1e-290:
        z = log(x / y) - w
    else:
        z = log(x) - log(y) - w
    return z


def stirling(w: float) -> float:
    """lgamma(w) - (w - 1/2) log(w) + w - log(2 pi) / 2 for w >= LEAST, DLMF 5.11.1."""
    r = 1.0 / w
    return r * horner(r * r, STIRLING)


def log_less_digamma(w: float) -> float:
    """log(w) - digamma(w) for w >= LEAST, DLMF 5.11.2."""
    r = 1.0 / w
    v = r * r
    return 0.5 * r + v * horner(v, STIRLING_DIGAMMA)


def reciprocal_gamma(s: float) -> float:
    """1 / gamma(1 + s) for 0 <= s <= LEAST, DLMF 5.5.1."""
    divisor, t = 1.0, s
    while t > 1.0:
        divisor *= t
        t -= 1.0
    return (1.0 + t * horner(t, RECIPROCAL_GAMMA)) / divisor


def normal_quantile(p: float) -> float:
    """Where the lower tail of the normal distribution is p <= 1/2, to 5e-4; Abramowitz and Stegun 26.2.23."""
    t = sqrt(-2.0 * log(max(p, 5e-324)))
    above = (0.010328 * t + 0.802853) * t + 2.515517
    return above / (((0.001308 * t + 0.189269) * t + 1.432788) * t + 1.0) - t


def halley(f: float, slope: float, curvature: float) -> float:
    """The step to a root of f for f'' = slope * curvature (Halley 1694), not much longer than Newton's."""
    newton = f / slope if slope != 0.0 else 0.0
    return max(-30.0, min(30.0, -newton / max(0.5, min(2.0, 1.0 - 0.5 * newton * curvature))))


def narrowed(x: float, settled: bool, least: float, most: float) -> float:
    """The next place of a search: ``x``, or the middle between the bounds where it is not between them."""
    return x if settled or least < x < most else 0.5 * (least + most)


# A distribution function is known by one of its tails: ``known`` is that, exp(e) w, and the other is 1 less it.  Its
# derivative is exp(e) slope.  ``same`` says that the tail asked for is the known one.  A tail of 0 has e = -inf.


def tail(same: bool, e: float, w: float) -> float:
    """The tail asked for."""
    known = exp(e) * w
    return known if same else 1.0 - known


def log_tail(same: bool, e: float, w: float) -> float:
    """The logarithm of the tail asked for."""
    y = -inf if w == 0.0 else e + log(w)
    return y if same else log1p(-exp(e) * w)


def tail_slope(same: bool, e: float, slope: float) -> float:
    """The derivative of the tail asked for."""
    known = exp(e)
    y = known * slope if known > 0.0 else 0.0
    return y if same else -y


def log_tail_slope(same: bool, e: float, w: float, slope: float) -> float:
    """The derivative of the logarithm of the tail asked for."""
    y = slope / w if w != 0.0 else inf * slope if slope != 0.0 else 0.0
    return y if same else tail_slope(same, e, slope) / (1.0 - exp(e) * w)
