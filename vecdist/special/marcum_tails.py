"""The lesser tail of half a noncentral chi-squared variable, with its derivatives: what Marcum functions are made of.

D(m, x, t) = (t / x)**((m - 1) / 2) exp(-x - t) I(m - 1, 2 sqrt(x t)) is the density at t, of 2 m degrees of freedom and
noncentrality 2 x.  Gil, Segura and Temme (2014), Algorithm 939: computation of the Marcum Q-function, ACM Transactions
on Mathematical Software 40: their integral over a loop round 0 is taken here on the circle through its saddle point,
where nothing cancels, by the midpoint rule; the pole at 1 has its part in closed form (Hunter and Regan 1972, A note on
the evaluation of the complementary error function, Mathematics of Computation 26).  Where the circle is small, sums of
incomplete gamma functions with positive terms take its place (Shnidman 1989, The calculation of the probability of
detection and the generalized Marcum Q-function, IEEE Transactions on Information Theory 35).
"""

from __future__ import annotations

from math import cos, exp, inf, log, log1p, nan, pi, sin, sqrt

from vecdist.primitives.scalar import exact_sum
from vecdist.special.exponents import AMPLIFIED, VANISHED, saddle_exponent
from vecdist.special.incomplete_gamma import parts as gamma_parts
from vecdist.special.incomplete_gamma import prefactor
from vecdist.special.scalar import log_less

SMALL = 24.0  # up to this size of sqrt(m**2 + 4 x y) sums have few terms, and beyond it the circle is good
TERMS = 100.0  # of a sum
STEP = 0.5  # of the midpoint rule, in standard deviations of the integrand
NOTHING = 1e-19
TINY, HUGE = 1e-290, 1e305  # what is beyond is as good as 0 or infinite


def size(m: float, x: float, y: float) -> float:
    """sqrt(m**2 + 4 x y) without overflow."""
    root = 2.0 * sqrt(x) * sqrt(y)
    big, small = max(m, root), min(m, root)
    return big * sqrt(1.0 + (small / big) * (small / big)) if big > 0.0 else 0.0


def circle(m: float, x: float, y: float, r: float) -> tuple[float, float, float, float, float]:
    """The lesser tail as exp(e) w, and exp(e) times its slopes in m, x and y, by the circle through the saddle."""
    g = y / (0.5 * (m + r))  # 1 / radius
    less = g * ((y - x - m) / (y + 0.5 * (r - m))) if 0.5 < g < 2.0 else g - 1.0  # which is g - 1 too
    log_g = log1p(less) if -0.5 < less < 0.5 else log(g)
    e, low = m * log_less(y, 0.5 * (m + r), less) - x * less * less, 0.0
    if -VANISHED < e < -AMPLIFIED:
        e, low = saddle_exponent(m, x, y, g)
    h = STEP / sqrt(r)
    total, order, ahead, behind = 0.0, 0.0, 0.0, 0.0
    term, k = 1.0, 0.5
    while h * k < pi and term > NOTHING:
        t = h * k
        s = sin(0.5 * t)
        rise = 2.0 * s * s
        term = exp(-r * rise)
        lag = m * (t - sin(t))
        along, across = cos(lag), sin(lag)
        real, imaginary = less - g * rise, g * sin(t)
        scale = term / (less * less + 2.0 * g * rise)
        turned, rest = real * along + imaginary * across, imaginary * along - real * across
        total += scale * turned
        order += scale * (log_g * turned + t * rest)
        ahead += term * along
        behind += term * (along * cos(t) + across * sin(t))
        k += 1.0
    unit = (-1.0 if y < x + m else 1.0) * h / pi * exp(low)
    w = unit * total
    distance = abs(log_g)
    if distance * sqrt(r) < 7.0:  # a pole further away has no part
        w += exp(-e) / (1.0 + exp(2.0 * pi * distance / h))
    return e, w, unit * order, unit * ahead, -unit * behind / g


def below(m: float, x: float, y: float) -> tuple[float, float, float, float, float]:
    """The lower tail as exp(e) w with its slopes, by the sum of x**n exp(-x) / n! P(m + n, y), the last term first."""
    e, f, slope = prefactor(m, y)
    part, part_m, total, total_m = 1.0, 0.0, 1.0, 0.0
    bessel, moment = 1.0, m + TERMS
    n = TERMS - 1.0
    while n >= 0.0:
        a = m + n + 1.0
        r = y / a
        q = x * r / (n + 1.0)
        part_m = r * (part_m - part / a)
        part = 1.0 + r * part
        total_m = part_m + q * (total_m - total / a)
        total = part + q * total
        moment = m + n + q * moment
        bessel = 1.0 + q * bessel
        n -= 1.0
    e, low = exact_sum(e, -x)
    f *= exp(low) if e > -VANISHED else 1.0
    return e, f * total, f * (total * slope + total_m), -f * bessel, f * moment / y


def above(m: float, x: float, y: float) -> tuple[float, float, float, float, float]:
    """The upper tail as exp(e) w with its slopes, by the sum of x**n exp(-x) / n! Q(m + n, y)."""
    _, e, w, w_m, _ = gamma_parts(m, y)
    e_step, f, slope = prefactor(m, y)
    step = f * exp(e_step - e)
    step_m = step * slope
    total, total_m, bessel, moment = 0.0, 0.0, 0.0, 0.0
    n = 0.0
    while n < TERMS and w + step > NOTHING * total:
        total += w
        total_m += w_m
        bessel += step
        moment += step * (m + n)
        r = x / (n + 1.0)
        w, w_m = r * (w + step), r * (w_m + step_m)
        r *= y / (m + n + 1.0)
        step_m = r * (step_m - step / (m + n + 1.0))
        step *= r
        n += 1.0
    e, low = exact_sum(e, -x)
    f = exp(low) if e > -VANISHED else 1.0
    return e, f * total, f * total_m, f * bessel, -f * moment / y


def parts(m: float, x: float, y: float) -> tuple[bool, float, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) w: the lesser one; exp(e) times its slopes in m, x and y."""
    lower, e, w, of_m, of_x, of_y = y < x + m, 0.0, nan, nan, nan, nan
    known = m > 0.0 and x >= 0.0 and y >= 0.0 and m + x < inf
    m = max(m, TINY) if known else m
    if known and (y == 0.0 or (lower and m + x > HUGE)):
        e, w, of_m, of_x, of_y = -inf, 1.0, -inf, -1.0, inf
    elif known and y > HUGE:
        e, w, of_m, of_x, of_y = -inf, 1.0, inf, inf, -1.0
    elif known:
        r = size(m, x, y)
        if r >= SMALL and y > TINY * r:
            e, w, of_m, of_x, of_y = circle(m, x, y, r)
        elif m < 1.0 and 0.0 < y < 1.0 and x - m * log(y) < 0.5:  # of a density with a pole most is below
            lower = False
            e, w, of_m, of_x, of_y = above(m, x, y)
        elif lower:
            e, w, of_m, of_x, of_y = below(m, x, y)
        else:
            e, w, of_m, of_x, of_y = above(m, x, y)
    return lower, e, w, of_m, of_x, of_y
