"""Modified Bessel functions of any real order, scaled, and their logarithms: I for v > -1, K for every v.

Both are integrals of a positive function along a path of steepest descent, so that the trapezoidal rule converges
exponentially and nothing cancels, whatever order and argument are (Temme 1994, DLMF 10.32.9, 10.32.12).  The means of
other functions along the path are the derivatives in order and argument.  Where x is small I is a power series.
"""

from __future__ import annotations

from math import asinh, cos, cosh, exp, factorial, inf, lgamma, log, log1p, nan, pi, sin, sinh, sqrt

from vecdist.expr import Node
from vecdist.primitives.elementary import exp as node_exp
from vecdist.primitives.scalar import LEAST, horner, log_less_digamma
from vecdist.primitives.table import primitive

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


def _log_kve(v: float, x: float) -> float:
    if not (x > 0.0 and -inf < v < inf):
        y = inf if x == 0.0 else nan
    elif x == inf:
        y = -inf
    else:
        e, w, _, _ = second_kind(abs(v), x)
        y = e + log(w)
    return y


def _kve(v: float, x: float) -> float:
    if not (x > 0.0 and -inf < v < inf):
        y = inf if x == 0.0 else nan
    elif x == inf:
        y = 0.0
    else:
        e, w, _, _ = second_kind(abs(v), x)
        y = exp(e) * w if e < 700.0 else inf
    return y


def _log_kve_dv(v: float, x: float) -> float:
    y = nan
    if 0.0 < x < inf and -inf < v < inf:
        _, _, mean, _ = second_kind(abs(v), x)
        y = mean if v > 0.0 else -mean if v < 0.0 else 0.0
    elif x == inf:
        y = 0.0
    return y


def _log_kve_dx(v: float, x: float) -> float:
    y = nan
    if 0.0 < x < inf and -inf < v < inf:
        _, _, _, rise = second_kind(abs(v), x)
        y = -rise
    elif x == inf:
        y = 0.0
    elif x == 0.0:
        y = -inf
    return y


def first_kind(v: float, m: float, x: float) -> float:
    """log(I(v, x)) - x; m is v + 1, which a v next to -1 does not tell."""
    y = nan
    if x == 0.0 and m > 0.0:
        y = 0.0 if v == 0.0 else -inf if v > 0.0 else inf
    elif x == inf and 0.0 < m < inf:
        y = -inf
    elif 0.0 < x <= SERIES and 0.0 < m < inf:
        total, _, _ = series(m, x)
        power = v * log(0.5 * x)
        if m < 1.0:  # noqa: SIM108
            y = power - lgamma(m + 1.0) + (log(m + m * total) - x)
        else:
            y = power - lgamma(m) + (log1p(total) - x)
    elif x > SERIES and 0.0 < m < inf:
        e, w, _, _ = path(abs(v), x)
        y = e + log(w)
    return y


def first_kind_dv(v: float, m: float, x: float) -> float:
    y = nan
    if PEAK < x <= SERIES and 0.0 < m < inf:
        y = slope_at_peak(m, x)
    elif 0.0 < x <= SERIES and 0.0 < m < inf:
        total, slope, _ = series(m, x)
        y = log(0.5 * x) - digamma_of_next(m) + (1.0 / m + slope) / (1.0 + total)
    elif SERIES < x < inf and 0.0 < m < inf:
        _, _, order, _ = path(abs(v), x)
        y = order if v >= 0.0 else -order
    elif x == inf:
        y = 0.0
    elif x == 0.0:
        y = -inf
    return y


def first_kind_dx(v: float, m: float, x: float) -> float:
    y = nan
    if 0.0 < x <= SERIES and 0.0 < m < inf:
        total, _, moment = series(m, x)
        y = (v + 2.0 * moment / (1.0 + total)) / x - 1.0
    elif SERIES < x < inf and 0.0 < m < inf:
        _, _, _, rise = path(abs(v), x)
        y = rise
    elif x == inf:
        y = 0.0
    elif x == 0.0:
        y = -1.0 if v == 0.0 else inf if v > 0.0 else -inf
    return y


def _log_ive(v: float, x: float) -> float:
    return first_kind(v, v + 1.0, x)


def _log_ive_dv(v: float, x: float) -> float:
    return first_kind_dv(v, v + 1.0, x)


def _log_ive_dx(v: float, x: float) -> float:
    return first_kind_dx(v, v + 1.0, x)


def _log_iv_dx(v: float, x: float) -> float:
    y = nan
    if 0.0 < x <= SERIES and 0.0 <= v < inf:
        total, _, moment = series(v + 1.0, x)
        y = (v + 2.0 * moment / (1.0 + total)) / x
    else:
        y = 1.0 + first_kind_dx(v, v + 1.0, x)
    return y


def _log_ive_below(m: float, x: float) -> float:
    return first_kind(m - 1.0, m, x)


def _log_ive_below_dm(m: float, x: float) -> float:
    return first_kind_dv(m - 1.0, m, x)


def _log_ive_below_dx(m: float, x: float) -> float:
    return first_kind_dx(m - 1.0, m, x)


def _log_ive_below_dm_tangent(dots: tuple, m: Node, x: Node, out: Node) -> None:
    _refused("log_ive_below_dm")


def _refused(name: str) -> None:
    raise NotImplementedError(f"{name} has no derivative in the order")


def _log_kve_dx_tangent(dots: tuple, v: Node, x: Node, out: Node) -> Node | None:
    """From K'' = (1 + v**2 / x**2) K - K' / x, DLMF 10.25.1."""
    if dots[0] is not None:
        _refused("log_kve_dx")
    w = v / x
    return None if dots[1] is None else dots[1] * (w * w + (2.0 * out - out * out) + (1.0 - out) / x)


def _log_ive_dx_tangent(dots: tuple, v: Node, x: Node, out: Node) -> Node | None:
    if dots[0] is not None:
        _refused("log_ive_dx")
    w = v / x
    return None if dots[1] is None else dots[1] * (w * w - (2.0 * out + out * out) - (1.0 + out) / x)


def _log_iv_dx_tangent(dots: tuple, v: Node, x: Node, out: Node) -> Node | None:
    if dots[0] is not None:
        _refused("log_iv_dx")
    w = v / x
    return None if dots[1] is None else dots[1] * (1.0 + w * w - out * out - out / x)


def _log_ive_below_dx_tangent(dots: tuple, m: Node, x: Node, out: Node) -> Node | None:
    if dots[0] is not None:
        _refused("log_ive_below_dx")
    return _log_ive_dx_tangent(dots, m - 1.0, x, out)


def _log_kve_dv_tangent(dots: tuple, v: Node, x: Node, out: Node) -> None:
    _refused("log_kve_dv")


def _log_ive_dv_tangent(dots: tuple, v: Node, x: Node, out: Node) -> None:
    _refused("log_ive_dv")


ORDERS, ARGUMENTS = (0.2, 12.0), (0.3, 40.0)

log_kve = primitive(  # log(K(v, x)) + x
    "log_kve", 2, routine=_log_kve, partials=lambda v, x, out: (log_kve_dv(v, x), log_kve_dx(v, x)),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_kve_dv = primitive(
    "log_kve_dv", 2, routine=_log_kve_dv, tangent=_log_kve_dv_tangent, floating=True, domain=(ORDERS, ARGUMENTS),
)
log_kve_dx = primitive(
    "log_kve_dx", 2, routine=_log_kve_dx, tangent=_log_kve_dx_tangent, floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive = primitive(  # log(I(v, x)) - x
    "log_ive", 2, routine=_log_ive, partials=lambda v, x, out: (log_ive_dv(v, x), log_ive_dx(v, x)),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_dv = primitive(
    "log_ive_dv", 2, routine=_log_ive_dv, tangent=_log_ive_dv_tangent, floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_dx = primitive(
    "log_ive_dx", 2, routine=_log_ive_dx, tangent=_log_ive_dx_tangent, floating=True, domain=(ORDERS, ARGUMENTS),
)
log_iv_dx = primitive(  # I' / I, which is small where x is
    "log_iv_dx", 2, routine=_log_iv_dx, tangent=_log_iv_dx_tangent, floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_below = primitive(  # log(I(m - 1, x)) - x for m > 0
    "log_ive_below", 2, routine=_log_ive_below, partials=lambda m, x, out: (
        log_ive_below_dm(m, x), log_ive_below_dx(m, x)
    ),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_below_dm = primitive(
    "log_ive_below_dm", 2, routine=_log_ive_below_dm, tangent=_log_ive_below_dm_tangent, floating=True,
    domain=(ORDERS, ARGUMENTS),
)
log_ive_below_dx = primitive(
    "log_ive_below_dx", 2, routine=_log_ive_below_dx, tangent=_log_ive_below_dx_tangent, floating=True,
    domain=(ORDERS, ARGUMENTS),
)
kve = primitive(
    "kve", 2, routine=_kve, partials=lambda v, x, out: (out * log_kve_dv(v, x), out * log_kve_dx(v, x)),
    floating=True, ufuncs=("kve",), domain=(ORDERS, ARGUMENTS),  # SciPy is off by 600 units in the last place
)
ive = primitive(
    "ive", 2, expand=lambda v, x: node_exp(log_ive(v, x)),
    partials=lambda v, x, out: (out * log_ive_dv(v, x), out * log_ive_dx(v, x)),
    floating=True, ufuncs=("ive",), domain=(ORDERS, ARGUMENTS), oracle="scipy.special.ive",
)
