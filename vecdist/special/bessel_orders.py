"""Modified Bessel functions of any real order, scaled, and their logarithms: I for v > -1, K for every v."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, lgamma, log, log1p, nan

from vecdist.graph.node import Node
from vecdist.primitives.elementary import exp as node_exp
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.bessel_paths import (
    PEAK,
    SERIES,
    curvatures_of_second_kind,
    curvatures_of_series,
    curvatures_on_path,
    digamma_of_next,
    path,
    second_kind,
    series,
    slope_at_peak,
)

ENORMOUS = 1e305  # the logarithm of its gamma function overflows
TINY = 1e-290  # over the square of x, how much nearer to -1 an order is the same


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
    elif (x == inf and 0.0 < m < inf) or ENORMOUS < m < inf:
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


def not_tiny(m: float, x: float) -> float:
    """m, over which x**2 is to be finite: nothing depends on it where it is less."""
    least = TINY * min(x, 1.0) * min(x, 1.0)
    return least if 0.0 < m < least else m


def _log_ive_below(m: float, x: float) -> float:
    return first_kind(m - 1.0, not_tiny(m, x), x)


def _log_ive_below_dm(m: float, x: float) -> float:
    return first_kind_dv(m - 1.0, not_tiny(m, x), x)


def _log_ive_below_dx(m: float, x: float) -> float:
    return first_kind_dx(m - 1.0, not_tiny(m, x), x)


def _log_kve_dvdv(v: float, x: float) -> float:
    y = nan
    if 0.0 < x < inf and -inf < v < inf:
        y, _ = curvatures_of_second_kind(abs(v), x)
    elif x == inf:
        y = 0.0
    return y


def _log_kve_dvdx(v: float, x: float) -> float:
    y = nan
    if 0.0 < x < inf and -inf < v < inf:
        _, mixed = curvatures_of_second_kind(abs(v), x)
        y = mixed if v > 0.0 else -mixed if v < 0.0 else 0.0
    elif x == inf:
        y = 0.0
    return y


def first_kind_dvdv(v: float, m: float, x: float) -> float:
    y = nan
    if 0.0 < x <= SERIES and 0.0 < m < inf:
        y, _ = curvatures_of_series(m, x)
    elif SERIES < x < inf and 0.0 < m < inf:
        y, _ = curvatures_on_path(abs(v), x)
    elif x == inf:
        y = 0.0
    return y


def first_kind_dvdx(v: float, m: float, x: float) -> float:
    y = nan
    if 0.0 < x <= SERIES and 0.0 < m < inf:
        _, y = curvatures_of_series(m, x)
    elif SERIES < x < inf and 0.0 < m < inf:
        _, mixed = curvatures_on_path(abs(v), x)
        y = mixed if v >= 0.0 else -mixed
    elif x == inf:
        y = 0.0
    elif x == 0.0:
        y = inf
    return y


def _log_ive_dvdv(v: float, x: float) -> float:
    return first_kind_dvdv(v, v + 1.0, x)


def _log_ive_dvdx(v: float, x: float) -> float:
    return first_kind_dvdx(v, v + 1.0, x)


def _log_ive_below_dmdm(m: float, x: float) -> float:
    return first_kind_dvdv(m - 1.0, m, x)


def _log_ive_below_dmdx(m: float, x: float) -> float:
    return first_kind_dvdx(m - 1.0, m, x)


def _log_kve_dx_slope(v: Node, x: Node, out: Node) -> Node:
    """From K'' = (1 + v**2 / x**2) K - K' / x, DLMF 10.25.1."""
    w = v / x
    return w * w + (2.0 * out - out * out) + (1.0 - out) / x


def _log_ive_dx_slope(v: Node, x: Node, out: Node) -> Node:
    w = v / x
    return w * w - (2.0 * out + out * out) - (1.0 + out) / x


def _log_iv_dx_slope(v: Node, x: Node, out: Node) -> Node:
    w = v / x
    return 1.0 + w * w - out * out - out / x


ORDERS, ARGUMENTS = (0.2, 12.0), (0.3, 40.0)

log_kve: Primitive = primitive(  # log(K(v, x)) + x
    "log_kve", 2, routine=_log_kve, partials=lambda v, x, out: (log_kve_dv(v, x), log_kve_dx(v, x)),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_kve_dv: Primitive = primitive(
    "log_kve_dv", 2, routine=_log_kve_dv, partials=lambda v, x, out: (log_kve_dvdv(v, x), log_kve_dvdx(v, x)),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_kve_dx: Primitive = primitive(
    "log_kve_dx", 2, routine=_log_kve_dx, partials=lambda v, x, out: (
        log_kve_dvdx(v, x), _log_kve_dx_slope(v, x, out)
    ),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive: Primitive = primitive(  # log(I(v, x)) - x
    "log_ive", 2, routine=_log_ive, partials=lambda v, x, out: (log_ive_dv(v, x), log_ive_dx(v, x)),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_dv: Primitive = primitive(
    "log_ive_dv", 2, routine=_log_ive_dv, partials=lambda v, x, out: (log_ive_dvdv(v, x), log_ive_dvdx(v, x)),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_dx: Primitive = primitive(
    "log_ive_dx", 2, routine=_log_ive_dx, partials=lambda v, x, out: (
        log_ive_dvdx(v, x), _log_ive_dx_slope(v, x, out)
    ),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_iv_dx: Primitive = primitive(  # I' / I, which is small where x is
    "log_iv_dx", 2, routine=_log_iv_dx, partials=lambda v, x, out: (log_ive_dvdx(v, x), _log_iv_dx_slope(v, x, out)),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_below: Primitive = primitive(  # log(I(m - 1, x)) - x for m > 0
    "log_ive_below", 2, routine=_log_ive_below, partials=lambda m, x, out: (
        log_ive_below_dm(m, x), log_ive_below_dx(m, x)
    ),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_below_dm: Primitive = primitive(
    "log_ive_below_dm", 2, routine=_log_ive_below_dm, partials=lambda m, x, out: (
        log_ive_below_dmdm(m, x), log_ive_below_dmdx(m, x)
    ),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
log_ive_below_dx: Primitive = primitive(
    "log_ive_below_dx", 2, routine=_log_ive_below_dx, partials=lambda m, x, out: (
        log_ive_below_dmdx(m, x), _log_ive_dx_slope(m - 1.0, x, out)
    ),
    floating=True, domain=(ORDERS, ARGUMENTS),
)
kve: Primitive = primitive(
    "kve", 2, routine=_kve, partials=lambda v, x, out: (out * log_kve_dv(v, x), out * log_kve_dx(v, x)),
    floating=True, ufuncs=("kve",), domain=(ORDERS, ARGUMENTS),  # SciPy is off by 600 units in the last place
)
ive: Primitive = primitive(
    "ive", 2, expand=lambda v, x: node_exp(log_ive(v, x)),
    partials=lambda v, x, out: (out * log_ive_dv(v, x), out * log_ive_dx(v, x)),
    floating=True, ufuncs=("ive",), domain=(ORDERS, ARGUMENTS), oracle="scipy.special.ive",
)


def _second(name: str, routine: Callable[..., float]) -> Primitive:
    """A second derivative, which has none of its own."""
    return primitive(
        name, 2, routine=routine, tangent=no_derivatives(name), floating=True, domain=(ORDERS, ARGUMENTS)
    )


log_kve_dvdv: Primitive = _second("log_kve_dvdv", _log_kve_dvdv)
log_kve_dvdx: Primitive = _second("log_kve_dvdx", _log_kve_dvdx)
log_ive_dvdv: Primitive = _second("log_ive_dvdv", _log_ive_dvdv)
log_ive_dvdx: Primitive = _second("log_ive_dvdx", _log_ive_dvdx)
log_ive_below_dmdm: Primitive = _second("log_ive_below_dmdm", _log_ive_below_dmdm)
log_ive_below_dmdx: Primitive = _second("log_ive_below_dmdx", _log_ive_below_dmdx)
