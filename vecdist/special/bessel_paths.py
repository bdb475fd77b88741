"""The integrals and the series of modified Bessel functions of any real order, and the means along them.

Both kinds are integrals of a positive function along a path of steepest descent, so that the trapezoidal rule converges
exponentially and nothing cancels, whatever order and argument are (Temme 1994, DLMF 10.32.9, 10.32.12).  The means of
other functions along the path are the derivatives in order and argument, their covariances the second ones.  Where x is
small I is a power series.
"""

from __future__ import annotations

from math import asinh, cos, cosh, exp, factorial, inf, log, log1p, pi, sin, sinh, sqrt

from vecdist.primitives.scalar import horner
from vecdist.special.scalar import LEAST, log_less_digamma

SERIES = 20.0  # up to here the power series of I has few terms; from here on exp(-2 x) is nothing
PEAK = 2.0  # from here on the largest term of that series may not be its first
STEP = 0.6  # of the trapezoidal rule, in standard deviations of the integrand
MOST = 8000  # steps to one side: enough for the least argument and the order 0
NOTHING = 1e-19
WAVE = tuple(1 / factorial(n) for n in range(15, 2, -2))  # (sinh(u) - u) / u**3 in u**2


def saddle(v: float, x: float) -> tuple[float, float, float]:
    """t = arsinh(v / x) and r = sqrt(v**2 + x**2), and the exponent v t - (r - x) of K, for v >= 0 and x > 0."""
    t = asinh(v / x) if v < 1e15 * x else log(2.0 * v) - log(x)
    big = v if v > x else x
    small = x if v > x else v
    r = big * sqrt(1.0 + (small / big) * (small / big))
    return t, r, v * t - v * (v / (x + r))


def wave(u: float) -> float:
    """sinh(u) - u."""
    if -0.5 < u < 0.5:  # noqa: SIM108
        y = u * u * u * horner(u * u, WAVE)
    else:
        y = sinh(u) - u
    return y


def fall(v: float, x: float, t: float, r: float, u: float) -> float:
    """How far x cosh(t + u) - v (t + u) lies above its least value, at u = 0."""
    if u > -1.0:
        s = sinh(0.5 * u)
        y = 2.0 * r * s * s + v * wave(u)
    else:
        size = log(x)
        y = (exp(size + t + 0.5 * u) - exp(size - t - 0.5 * u)) * sinh(0.5 * u) - v * u
    return y


def cosh_less(t: float) -> float:
    """cosh(t) - 1, inf where that is too large."""
    s = sinh(0.5 * t) if -1400.0 < t < 1400.0 else inf
    return 2.0 * s * s


def second_kind(v: float, x: float) -> tuple[float, float, float, float]:
    """exp(x) K as exp(e) w, and the means of t and of cosh(t) - 1 over exp(v t - x cosh(t)), DLMF 10.32.9."""
    t, r, e = saddle(v, x)
    h = STEP / sqrt(r + 6.0)
    total, mean, rise = 1.0, 0.0, cosh_less(t)
    for side in range(2):
        turn = 1.0 - 2.0 * side
        term, k = 1.0, 1
        while k < MOST and term > NOTHING * total:
            u = turn * h * k
            term = exp(-fall(v, x, t, r, u))
            total += term
            mean += term * u
            rise += term * cosh_less(t + u)
            k += 1
    return e, 0.5 * h * total, t + mean / total, rise / total


def series(m: float, x: float) -> tuple[float, float, float]:
    """gamma(m) (2 / x)**(m - 1) I(m - 1, x) less 1 = S, S' + S / m, and x / 2 times S' in x, DLMF 10.25.2."""
    square = 0.25 * x * x
    term, harmonic, k = square / m, 0.0, 1.0
    total, slope, moment = term, 0.0, term
    while k < 200.0 and term > NOTHING * total:
        term = term * square / ((k + 1.0) * (k + m))
        harmonic += 1.0 / (k + m)
        total += term
        slope -= term * harmonic
        k += 1.0
        moment += term * k
    return total, slope, moment


def slope_at_peak(m: float, x: float) -> float:
    """The mean of log(x / 2) - digamma(k + m) over the terms of the series, from one next to the largest on.

    So the two do not cancel, as where all is taken from the first term.
    """
    square, top = 0.25 * x * x, 0.0
    while (top + 1.0) * (top + m) < square or top + m < LEAST:
        top += 1.0
    n, half = top + m, 0.5 * x
    first = (log1p((half - n) / n) if n < x else log(half / n)) + log_less_digamma(n)
    total, mean = 1.0, first
    term, slope, k = 1.0, first, top
    while term > NOTHING * total:
        slope -= 1.0 / (k + m)
        term = term * square / ((k + 1.0) * (k + m))
        k += 1.0
        total += term
        mean += term * slope
    term, slope, k = 1.0, first, top
    while k > 0.0:
        k -= 1.0
        slope += 1.0 / (k + m)
        term = term * ((k + 1.0) * (k + m)) / square
        total += term
        mean += term * slope
    return mean / total


def digamma_of_next(v: float) -> float:
    """The digamma function of v + 1 > 0, DLMF 5.5.2."""
    w = v + 4.0
    return log(w) - log_less_digamma(w) - (1.0 / (v + 1.0) + 1.0 / (v + 2.0) + 1.0 / (v + 3.0))


def trigamma_of_next(v: float) -> float:
    """The trigamma function of v + 1 > 0, DLMF 5.15.5 and 5.15.8."""
    total, w = 0.0, v + 1.0
    while w < 12.0:
        total += 1.0 / (w * w)
        w += 1.0
    y = 1.0 / (w * w)
    series = y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * (5 / 66 - y * (691 / 2730 - y * (7 / 6)))))))
    return total + (1.0 + 0.5 / w + series) / w


def path(v: float, x: float) -> tuple[float, float, float, float]:
    """exp(-x) I as exp(e) w, and its logarithmic derivatives in v and in x, for v >= 0 and large x.

    exp(x cosh(s + i y) - v (s + i y)) is real where x sinh(s) sin(y) = v y, and positive.
    """
    t, r, e = saddle(v, x)
    h = STEP / sqrt(r + 6.0)
    total, order, rise = 0.5, -0.5 * t, 0.5 * v * (v / x / (x + r))
    term, k = 1.0, 1
    while k < MOST and h * k < pi and term > NOTHING * total:
        y = h * k
        s = asinh(v / x * (y / sin(y)))
        turn = v / x * (sin(y) - y * cos(y)) / (sin(y) * sin(y) * cosh(s))
        low, half = sin(0.5 * y), sinh(0.5 * (s - t))
        growth = r * (2.0 * half * half) + v * wave(s - t)
        term = exp(growth - 2.0 * x * cosh(s) * low * low)
        total += term
        order -= term * (s + y * turn)
        rise += term * (cosh_less(s) * cos(y) - 2.0 * low * low + sinh(s) * sin(y) * turn)
        k += 1
    return -e, h * total / pi, order / total, rise / total


def curvatures_of_second_kind(v: float, x: float) -> tuple[float, float]:
    """The second derivatives of log K in v twice and in v and x, v >= 0: of the means of ``second_kind``, the variance

    of t and its covariance with -cosh(t), by what they differ from the peak.
    """
    t, r, _ = saddle(v, x)
    h = STEP / sqrt(r + 6.0)
    total, mean, square, rise, both = 1.0, 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        turn = 1.0 - 2.0 * side
        term, k = 1.0, 1
        while k < MOST and term > NOTHING * total:
            u = turn * h * k
            term = exp(-fall(v, x, t, r, u))
            size = t + 0.5 * u
            rises = 2.0 * sinh(size) * sinh(0.5 * u) if -700.0 < size < 700.0 else 0.0
            total += term
            mean += term * u
            square += term * u * u
            rise += term * rises
            both += term * u * rises
            k += 1
    mean = mean / total
    return square / total - mean * mean, mean * (rise / total) - both / total


def curvatures_of_series(m: float, x: float) -> tuple[float, float]:
    """The second derivatives of log I(m - 1, x) in m twice and in m and x, by the terms of its series, DLMF 10.25.2.

    Term k has the derivative -digamma(k + m), which is ``lag`` less than -digamma(1 + m).  Of the first the square
    of that and the derivative cancel.
    """
    square = 0.25 * x * x
    term, lag, bend, k = square / m, 0.0, 0.0, 1.0
    total, mean, second, count, both = 1.0 + term, -1.0 / m, 0.0, term, 0.0
    while k < 200.0 and term > NOTHING * total:
        lag += 1.0 / (k + m)
        bend += 1.0 / ((k + m) * (k + m))
        term = term * square / ((k + 1.0) * (k + m))
        k += 1.0
        total += term
        mean += term * lag
        second += term * (lag * lag + bend)
        count += term * k
        both += term * k * lag
    mean = mean / total
    return second / total - mean * mean - trigamma_of_next(m), (1.0 - 2.0 * (both - count * mean) / total) / x


def curvatures_on_path(v: float, x: float) -> tuple[float, float]:
    """The second derivatives of log I in v twice and in v and x along ``path``, by the complex distance from its peak.

    That is u + i y, and cosh(t + u + i y) is more than cosh(t) by a + i b.
    """
    t, r, _ = saddle(v, x)
    h = STEP / sqrt(r + 6.0)
    total, mean, square, rise, both = 0.5, 0.0, 0.0, 0.0, 0.0
    term, k = 1.0, 1
    while k < MOST and h * k < pi and term > NOTHING * total:
        y = h * k
        s = asinh(v / x * (y / sin(y)))
        turn = v / x * (sin(y) - y * cos(y)) / (sin(y) * sin(y) * cosh(s))
        u, low, half = s - t, sin(0.5 * y), sinh(0.5 * (s - t))
        term = exp(r * (2.0 * half * half) + v * wave(u) - 2.0 * x * cosh(s) * low * low)
        a, b = 2.0 * sinh(0.5 * (s + t)) * half - 2.0 * cosh(s) * low * low, sinh(s) * sin(y)
        total += term
        mean += term * (u + y * turn)
        square += term * (u * u - y * y + 2.0 * u * y * turn)
        rise += term * (a + b * turn)
        both += term * (u * a - y * b + (u * b + y * a) * turn)
        k += 1
    mean = mean / total
    return square / total - mean * mean, mean * (rise / total) - both / total
