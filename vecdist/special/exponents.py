"""Large exponents in two parts, a number and what its rounding lost: an exponential amplifies that by their size."""

from __future__ import annotations

from vecdist.primitives.floating import FORMATS
from vecdist.primitives.power import ATANH, THIRD
from vecdist.primitives.scalar import exact_product, exact_sum, horner

LOG_2 = FORMATS[8].ln2
ARTANH_SERIES, ARTANH_THIRDS = ATANH[8][::-1], THIRD[8]
MOST, LEAST = 0.414, -0.293  # where the series converges: from sqrt(1 / 2) to sqrt(2), less 1
AMPLIFIED, VANISHED = 4.0, 800.0  # an exponent worth a second part, and one whose exponential is 0 in any case


def exact_quotient(x: float, x_low: float, y: float) -> tuple[float, float]:
    """(x + x_low) / y."""
    quotient = x / y
    product, rest = exact_product(quotient, y)
    return quotient, ((x - product) - rest + x_low) / y


def log1p_less_parts(w: float, w_low: float) -> tuple[float, float]:
    """log(1 + w + w_low) less w + w_low, between LEAST and MOST: 2 (artanh(s) - s) - s w for s = w / (2 + w)."""
    whole, whole_low = exact_sum(2.0, w)
    s, s_low = exact_quotient(w, w_low, whole)
    s_low -= s * ((whole_low + w_low) / whole)
    z, z_low = exact_product(s, s)
    z_low += 2.0 * s * s_low
    cube, cube_low = exact_product(s, z)
    cube_low += s * z_low + s_low * z
    first, first_low = exact_product(-s, w)
    second, second_low = exact_product(2.0 * ARTANH_THIRDS[0], cube)
    y, lost = exact_sum(first, second)
    third = ARTANH_THIRDS[0] * cube_low + cube * (ARTANH_THIRDS[1] + z * horner(z, ARTANH_SERIES))
    y, low = exact_sum(y, lost + first_low + second_low + (2.0 * third - (s * w_low + s_low * w)))
    return y, low


def log_times(a: float, x: float, x_low: float) -> tuple[float, float]:
    """a log(x + x_low)."""
    k = 0.0
    while x > 4294967296.0:
        x, x_low, k = x / 4294967296.0, x_low / 4294967296.0, k + 32.0
    while x < 1.0 / 4294967296.0:
        x, x_low, k = x * 4294967296.0, x_low * 4294967296.0, k - 32.0
    while x > 1.0 + MOST:
        x, x_low, k = 0.5 * x, 0.5 * x_low, k + 1.0
    while x < 1.0 + LEAST:
        x, x_low, k = 2.0 * x, 2.0 * x_low, k - 1.0
    y, y_low = log1p_less_parts(x - 1.0, x_low)
    near, lost = exact_sum(x - 1.0, y)
    total, lost_too = exact_sum(k * LOG_2[0], near)
    product, rest = exact_product(a, total)
    return product, rest + a * (k * LOG_2[1] + lost + lost_too + (x_low + y_low))


def gamma_exponent(a: float, x: float) -> tuple[float, float]:
    """a log(x / a) + a - x."""
    away, away_low = exact_sum(x, -a)
    w, w_low = exact_quotient(away, away_low, a)
    if LEAST < w < MOST:
        y, y_low = log1p_less_parts(w, w_low)
        e, low = exact_product(a, y)
        low += a * y_low
    else:
        q, q_low = exact_quotient(x, 0.0, a)
        y, y_low = log_times(a, q, q_low)
        e, low = exact_sum(y, -away)
        low += y_low - away_low
    return e, low


def growth_exponent(a: float, rest: float, u: float, growth: float) -> tuple[float, float]:
    """a (v - expm1(v)) for v = u + rest and ``growth`` = exp(u), whose own logarithm is what v is compared with."""
    w, w_low = exact_sum(growth, -1.0)
    if LEAST < w < MOST:
        y, y_low = log1p_less_parts(w, w_low)
        log_growth, low = exact_sum(w, y)
        log_low = low + (w_low + y_low)
    else:
        log_growth, log_low = log_times(1.0, growth, 0.0)
        y, low = exact_sum(log_growth, -w)
        y_low = low + (log_low - w_low)
    beyond = ((u - log_growth) - log_low) + rest
    e, lost = exact_product(a, y)
    return e, lost + a * (y_low - w * beyond)


def beta_exponent(a: float, b: float, x: float, x_low: float, y: float, y_low: float) -> tuple[float, float]:
    """a log(x / m) + b log(y / (1 - m)) for m = a / (a + b) and y = 1 - x, both in two parts."""
    first, first_low = exact_product(a, y)
    second, second_low = exact_product(b, x)
    distance, low = exact_sum(first, -second)
    low += (first_low - second_low) + (a * y_low - b * x_low)
    v, v_low = exact_quotient(-distance, -low, a)
    w, w_low = exact_quotient(distance, low, b)
    if LEAST < v < MOST and LEAST < w < MOST:
        y_a, low_a = log1p_less_parts(v, v_low)
        y_b, low_b = log1p_less_parts(w, w_low)
        of_a, lost_a = exact_product(a, y_a)
        of_b, lost_b = exact_product(b, y_b)
        lost_a += a * low_a
        lost_b += b * low_b
    else:
        total, lost = exact_sum(a, b)
        of_a, lost_a = log_of_share(a, x, x_low, total, lost)
        of_b, lost_b = log_of_share(b, y, y_low, total, lost)
    e, lost = exact_sum(of_a, of_b)
    return e, lost + (lost_a + lost_b)


def log_of_share(a: float, x: float, x_low: float, total: float, rest: float) -> tuple[float, float]:
    """a log((x + x_low) (total + rest) / a)."""
    product, low = exact_product(x, total)
    q, q_low = exact_quotient(product, low + (x * rest + x_low * total), a)
    y, y_low = log_times(a, q, q_low)
    return y, y_low


def power_exponent(
    a: float, x: float, x_low: float, scale: float, b: float, y: float, y_low: float
) -> tuple[float, float]:
    """a log(scale (x + x_low)) + b log(y + y_low)."""
    product, low = exact_product(x, scale)
    of_x, lost_x = log_times(a, product, low + x_low * scale)
    of_y, lost_y = log_times(b, y, y_low)
    e, lost = exact_sum(of_x, of_y)
    return e, lost + (lost_x + lost_y)


def saddle_exponent(m: float, x: float, y: float, g: float) -> tuple[float, float]:
    """m log(g) - (g - 1) (y / g - x), at the g where that is stationary or next to it."""
    less, less_low = exact_sum(g, -1.0)
    quotient, rest = exact_quotient(y, 0.0, g)
    slope, slope_low = exact_sum(quotient, -x)
    slope_low += rest
    product, low = exact_product(less, slope)
    logarithm, lost = log_times(m, g, 0.0)
    e, lost_too = exact_sum(logarithm, -product)
    return e, lost_too + (lost - low - (less * slope_low + less_low * slope))
