"""Random variables that are found by loops: routines of a key, the place of an element, a tag and parameters.

All of these are floats: the two words of the key, the place, which is below 2^53, and the tag, a number of its own for
each draw of an element.  A try has a counter of its own.  Tries are bounded, so that no parameter can hang: two in five
fail at the most, and the last of ``TRIES`` is taken as it is in fewer than one of 10^25 draws.
"""

from __future__ import annotations

from collections.abc import Callable
from math import asin, cos, exp, expm1, inf, log, log1p, nan, pi, sin, sqrt

from vecdist.graph.node import Node
from vecdist.primitives.philox import MULTIPLIERS, ROUNDS, WEYL, WORD
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.scalar import log1p_less, log_less, stirling

TRIES = 64
STEPS = 200  # more than an inversion of a mean below FEW takes
FEW = 10.0
FIRST, SECOND = MULTIPLIERS
FIRST_WEYL, SECOND_WEYL = WEYL


def uniforms(low: float, high: float, place: float, tag: float, turn: float) -> tuple[float, float, float]:
    """Numbers in (0, 1) of 52, 44 and 32 bits by Philox4x32-10; integers that overflow have the same low bits."""
    k0, k1, c0, c1, c2, c3 = int(low), int(high), int(place) & WORD, int(place) >> 32, int(turn), int(tag)
    for _ in range(ROUNDS):
        one = FIRST * c0
        other = SECOND * c2
        c0 = ((other >> 32) & WORD) ^ c1 ^ k0
        c2 = ((one >> 32) & WORD) ^ c3 ^ k1
        c1 = other & WORD
        c3 = one & WORD
        k0 = (k0 + FIRST_WEYL) & WORD
        k1 = (k1 + SECOND_WEYL) & WORD
    u = (float((c1 << 20) | (c0 >> 12)) + 0.5) * 2.0**-52
    v = (float((c3 << 12) | (c0 & 4095)) + 0.5) * 2.0**-44
    w = (float(c2) + 0.5) * 2.0**-32
    return u, v, w


def whole(x: float) -> float:
    """The largest whole number not above x, whatever its size."""
    return x - x % 1.0


def log_poisson(k: float, rate: float) -> float:
    """The log mass of a Poisson distribution: log(rate^k exp(-rate) / k!) for rate > 0, with nothing that cancels.

    Loader (2000), Fast and accurate computation of binomial probabilities, equation (6).
    """
    y = -rate
    if k > 0.5:
        y = k * log_less(rate, k, (rate - k) / k) - 0.5 * log(2.0 * pi * k)
        if k > 2.5:
            y = y - stirling(k)
        elif k > 1.5:
            y = y - 0.0413406959554093
        else:
            y = y - 0.08106146679532726
    return y


def gamma_parts(low: float, high: float, place: float, tag: float, shape: float) -> tuple[float, float]:
    """A gamma variable as y exp(boost), whose second factor may underflow: Marsaglia and Tsang (2000), A simple method
    for generating gamma variables, ACM Transactions on Mathematical Software 26.

    What is accepted is rejected once in 20 at the most.  Of a shape below 1, by their section 6.
    """
    boost, shift = 0.0, 0.0
    if shape < 1.0:
        u, _, _ = uniforms(low, high, place, tag, 0.0)
        boost = log(u) / shape if shape > 0.0 else nan
        shift = 1.0
    d = shape + shift - 1.0 / 3.0
    c, y, turn = nan, d, 1.0
    if 0.0 < d < inf:
        c = 1.0 / sqrt(9.0 * d)
    while c > 0.0 and turn < TRIES:
        u, v, w = uniforms(low, high, place, tag, turn)
        t = c * (sqrt(-2.0 * log(u)) * cos(2.0 * pi * v))
        turn += 1.0
        if t > -1.0:
            y = d * ((1.0 + t) * (1.0 + t) * (1.0 + t))
            if log(w) < d * (1.5 * t * t - t * t * t + 3.0 * log1p_less(t)):
                turn = inf
    return y, boost


def _gamma(low: float, high: float, place: float, tag: float, shape: float) -> float:
    y, boost = gamma_parts(low, high, place, tag, shape)
    return y * exp(boost)


def _log_gamma(low: float, high: float, place: float, tag: float, shape: float) -> float:
    y, boost = gamma_parts(low, high, place, tag, shape)
    return log(y) + boost if y > 0.0 else nan


def _poisson(low: float, high: float, place: float, tag: float, rate: float) -> float:
    """By inversion where the mean is small; else by the transformed rejection of Hörmann (1993), The transformed
    rejection method for generating Poisson random variables, Insurance: Mathematics and Economics 12, algorithm PTRS.
    """
    k, turn = nan, inf
    b = 0.931 + 2.53 * sqrt(max(rate, 0.0))
    if 0.0 <= rate < FEW:
        u, _, _ = uniforms(low, high, place, tag, 0.0)
        mass = exp(-rate)
        reached, k = mass, 0.0
        while u > reached and k < STEPS:
            k += 1.0
            mass *= rate / k
            reached += mass
    elif rate >= FEW:
        k = rate
        turn = 0.0 if rate < 1e300 else inf
    a = 0.02483 * b - 0.059
    while turn < TRIES:
        u, v, _ = uniforms(low, high, place, tag, turn)
        side = 0.5 - abs(u - 0.5)
        j = whole((2.0 * a / side + b) * (u - 0.5) + rate + 0.43)
        turn += 1.0
        if j >= 0.0 and (side >= 0.013 or v <= side):
            k = j
            if side >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
                turn = inf
            else:
                bar = log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (side * side) + b))
                if bar <= log_poisson(j, rate):
                    turn = inf
    return k


def _binomial(low: float, high: float, place: float, tag: float, n: float, log_p: float, log_q: float) -> float:
    """By inversion where few are expected; else by the transformed rejection of Hörmann (1993), The generation of
    binomial random variates, Journal of Statistical Computation and Simulation 46, algorithm BTRS.
    """
    less, more, p, q, k, turn = min(log_p, log_q), max(log_p, log_q), nan, nan, nan, inf
    if n >= 0.0 and -1.0 < more < 1.0:
        p, q = exp(less), exp(more)
    few, rest = n * p, n * q
    spread = sqrt(max(few * q, 0.0))
    if 0.0 <= few < FEW:
        u, _, _ = uniforms(low, high, place, tag, 0.0)
        k = few_successes(u, n, p / q, exp(n * more))
    elif FEW <= few < 1e300:
        k, turn = whole(few), 0.0
    b = 1.15 + 2.53 * spread
    a = 0.0248 * b + 0.01 * p - 0.0873
    scale = (2.83 + 5.1 / b) * spread
    middle = whole(min(few + p, n))
    while turn < TRIES:
        u, v, _ = uniforms(low, high, place, tag, turn)
        side = 0.5 - abs(u - 0.5)
        j = whole((2.0 * a / side + b) * (u - 0.5) + few + 0.5)
        turn += 1.0
        if 0.0 <= j <= n:
            k = j
            if side >= 0.07 and v <= 0.92 - 4.2 / b:
                turn = inf
            else:
                bar = log(v * scale / (a / (side * side) + b))
                for kind in range(4):  # of both outcomes, for j and for the middle
                    count = j if kind < 2 else middle
                    mass = log_poisson(count if kind % 2 == 0 else n - count, few if kind % 2 == 0 else rest)
                    bar += -mass if kind < 2 else mass
                if bar <= 0.0:
                    turn = inf
    return k if log_p <= log_q else n - k


def few_successes(u: float, n: float, odds: float, mass: float) -> float:
    """Where the masses, added up from ``mass`` at 0 on, reach u."""
    reached, k = mass, 0.0
    while u > reached and k < min(n, 1.0 * STEPS):
        mass *= odds * ((n - k) / (k + 1.0))
        k += 1.0
        reached += mass
    return k


def _hypergeometric(
    low: float, high: float, place: float, tag: float, successes: float, failures: float, draws: float
) -> float:
    """By inversion where few are expected; else by ratios of uniforms: Stadlober (1990), The ratio of uniforms approach
    for generating discrete random variates, Journal of Computational and Applied Mathematics 31.

    Of successes and failures the fewer are counted, and of drawn and left, too.
    """
    total = successes + failures
    fewer, others, n = min(successes, failures), max(successes, failures), min(draws, total - draws)
    k, turn, few = nan, inf, 0.0
    part = fewer / total if total > 0.0 else 0.0
    if n >= 0.0 and fewer >= 0.0 and total >= 0.0:
        few = n * part
        turn = 0.0 if FEW <= few < 1e300 else inf
        k = whole(few)
    if few < FEW and k >= 0.0:
        u, _, _ = uniforms(low, high, place, tag, 0.0)
        k = few_drawn(u, fewer, others, n)
    spread = few * (1.0 - part) * (total - n) / max(total - 1.0, 1.0)
    root = sqrt(max(spread, 0.0) + 0.5)
    width = 1.7155277699214135 * root + 0.8989161620588988  # 2 sqrt(2 / e) and 3 - 2 sqrt(3 / e)
    last = min(n + 1.0, fewer + 1.0, few + 0.5 + 16.0 * root)
    middle = whole((n + 1.0) * ((fewer + 1.0) / (max(total, 0.0) + 2.0)))
    while turn < TRIES:
        u, v, _ = uniforms(low, high, place, tag, turn)
        x = few + 0.5 + width * (v - 0.5) / u
        turn += 1.0
        if 0.0 <= x < last:
            k = whole(x)
            if 2.0 * log(u) <= log_steps(k - middle, middle, fewer - middle, n - middle, others - n + middle):
                turn = inf
    k = n - k if successes > failures else k
    return k if draws <= total - draws else successes - k


def few_drawn(u: float, fewer: float, others: float, n: float) -> float:
    """Where the masses, added up from 0 on, reach u."""
    mass, k = exp(log_none(fewer + others, fewer, n)), 0.0
    reached = mass
    while u > reached and k < min(n, fewer, 1.0 * STEPS):
        mass *= (fewer - k) / (k + 1.0) * ((n - k) / (others - n + k + 1.0))
        k += 1.0
        reached += mass
    return k


def log_none(total: float, fewer: float, n: float) -> float:
    """The log probability that no one of ``fewer`` is among n drawn, by the factorials of what is left of the total."""
    y = 0.0
    if n > 0.0:
        for kind in range(4):
            rest = total - (fewer if kind % 2 == 1 else 0.0) - (n if kind > 1 else 0.0)
            mass = log_poisson(rest, total)
            y += mass if kind == 0 or kind == 3 else -mass
    return y


def log_steps(step: float, a: float, b: float, c: float, d: float) -> float:
    """The logarithm of a! b! c! d! / ((a + step)! (b - step)! (c - step)! (d + step)!), all of a to d at least 1."""
    y = -step * log(a / b * (d / c))
    for kind in range(8):
        start = a if kind < 2 else b if kind < 4 else c if kind < 6 else d
        there = start + (step if kind < 2 or kind > 5 else -step)
        mass = log_poisson(there if kind % 2 == 0 else start, start)
        y += mass if kind % 2 == 0 else -mass
    return y


def _zipf(low: float, high: float, place: float, tag: float, power: float) -> float:
    """Devroye (1986), Non-Uniform Random Variate Generation, section X.6.1; infinite where no float is as large."""
    less, x, turn = power - 1.0, nan, inf
    if power > 1.0:
        x, turn = 1.0, (0.0 if less < 60.0 else inf)
    top = expm1(min(less, 60.0) * log(2.0))
    while turn < TRIES:
        u, v, _ = uniforms(low, high, place, tag, turn)
        turn += 1.0
        exponent = -log(u) / less
        x = whole(exp(exponent)) if exponent < 700.0 else inf
        grown, steep = 0.0, less
        if x < 1e15:
            grown = expm1(less * log1p(1.0 / x))
            steep = x * grown
        if v * steep / top <= (1.0 + grown) / (1.0 + top):
            turn = inf
    return x


def _harmonic(low: float, high: float, place: float, tag: float, m: float) -> float:
    """Of the numbers from 1 to m - 1, each as probable as its reciprocal is large: a power of m rounded down."""
    x, turn = nan, inf
    if m >= 1.0:
        x = 1.0
        turn = 0.0 if m > 1.0 else inf
    while turn < TRIES:
        u, v, _ = uniforms(low, high, place, tag, turn)
        turn += 1.0
        x = min(whole(exp(u * log(m))), m - 1.0)
        if v * log1p(1.0 / x) * x <= log(2.0):
            turn = inf
    return x


def _von_mises(low: float, high: float, place: float, tag: float, concentration: float) -> float:
    """Best and Fisher (1979), Efficient simulation of the von Mises distribution, Applied Statistics 28.

    Written with r = (1 + root) / (2 concentration) and r - 1 = start / (2 concentration), which cancels nowhere.
    """
    angle, turn = nan, (0.0 if concentration >= 0.0 else inf)
    root = sqrt(1.0 + 4.0 * concentration * concentration)
    start = 1.0 + 1.0 / (root + 2.0 * concentration) if concentration >= 0.0 else nan
    while turn < TRIES:
        u, v, w = uniforms(low, high, place, tag, turn)
        turn += 1.0
        part = sin(0.5 * pi * u)
        part = part * part
        away = start * part / (1.0 + root + 2.0 * concentration * (1.0 - 2.0 * part))  # (1 - cos(angle)) / 2
        angle = 2.0 * asin(sqrt(min(away, 1.0)))
        angle = angle if v < 0.5 else -angle
        c = 0.5 * start + 2.0 * concentration * away
        if log(c / w) + 1.0 - c >= 0.0:
            turn = inf
    return angle


def _von_mises_fisher(low: float, high: float, place: float, tag: float, concentration: float, size: float) -> float:
    """How much less than 1 the cosine of the angle is: Wood (1994), Simulation of the von Mises Fisher distribution,
    Communications in Statistics 23.

    The symmetric beta variable of his step 1 is half of 1 less a coordinate of Ulrich (1984), Applied Statistics 33.
    """
    away, turn, more, sharp = nan, inf, 1.0, 0.0
    if 0.0 <= concentration <= 1e300 and 2.0 <= size <= 1e150:
        turn, more, sharp = 0.0, size - 1.0, concentration
    root = sqrt(4.0 * sharp * sharp + more * more) if sharp < 1e150 else 2.0 * sharp
    b = more / (2.0 * sharp + root)
    while turn < TRIES:
        u, v, w = uniforms(low, high, place, tag, turn)
        turn += 1.0
        radius = sqrt(-expm1(2.0 * log(u) / (size - 2.0))) if size > 2.0 else 1.0
        z = 0.5 - 0.5 * radius * cos(2.0 * pi * v)
        away = 2.0 * b * z / (1.0 - (1.0 - b) * z)
        ratio = (0.5 + (1.0 - b) * (away / (4.0 * b))) * (1.0 + b)
        if sharp * (2.0 * b / (1.0 + b) - away) + more * log(ratio) >= log(w):
            turn = inf
    return 0.0 if concentration == inf and size >= 2.0 else away


def drawn(name: str, parameters: int, routine: Callable[..., float]) -> Primitive:
    """A routine as a primitive that has no derivative: what is accepted jumps."""

    def tangent(dots: tuple[Node | None, ...], *operands: Node) -> Node | None:
        raise NotImplementedError(
            f"{name}s have no derivative in their parameters: they are accepted or rejected, and jump; draw by a "
            "quantile, vecdist.ppf of uniform numbers, where that has one"
        )

    return primitive(name.replace(" ", "_"), 4 + parameters, routine=routine, tangent=tangent, floating=True)


gamma_draw: Primitive = drawn("gamma draw", 1, _gamma)
log_gamma_draw: Primitive = drawn("log gamma draw", 1, _log_gamma)
poisson_draw: Primitive = drawn("poisson draw", 1, _poisson)
binomial_draw: Primitive = drawn("binomial draw", 3, _binomial)
hypergeometric_draw: Primitive = drawn("hypergeometric draw", 3, _hypergeometric)
zipf_draw: Primitive = drawn("zipf draw", 1, _zipf)
harmonic_draw: Primitive = drawn("harmonic draw", 1, _harmonic)
von_mises_draw: Primitive = drawn("von mises draw", 1, _von_mises)
von_mises_fisher_draw: Primitive = drawn("von mises fisher draw", 2, _von_mises_fisher)
