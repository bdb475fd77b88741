"""True values of log densities, distribution functions and their derivatives, with the rounding no one escapes.

Formulas are those of ``tests/distributions/family_truth.py`` and the distribution functions below, in ball arithmetic
(python-flint).  A value is read as a sum: beside it stands its largest addend, whose rounding in floats is the least
error that computing it so can have.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import timing
from flint import acb, arb, ctx

sys.path.insert(0, str(timing.ROOT / "tests" / "distributions"))

import family_truth
from ball_formulas import log_beta, log_binomial, logistic, normal_cdf
from family_integrals import INTEGRALS
from family_truth import LOG_DENSITY

BITS = 700
STEP = arb(2) ** -160  # of a difference, relative to its argument
SMOOTH = arb(2) ** -80  # what the slopes on both sides may differ by
LONGEST = 100_000  # terms of a series
ZERO = arb(2) ** -300  # radius of a ball that is small enough whatever it holds
HALF = arb(1) / 2

Number = tuple[arb, float]  # a true value, and the size of its largest addend


class Sum:
    """A ball that knows its addends; products and functions of it are one addend."""

    def __init__(self, *addends: arb) -> None:
        self.addends = addends

    @property
    def ball(self) -> arb:
        return sum(self.addends, arb(0))

    def __neg__(self) -> Sum:
        return Sum(*(-addend for addend in self.addends))

    def __add__(self, other: Any) -> Sum:
        return Sum(*self.addends, *addends(other))

    def __radd__(self, other: Any) -> Sum:
        return Sum(*addends(other), *self.addends)

    def __sub__(self, other: Any) -> Sum:
        return self + -Sum(*addends(other))

    def __rsub__(self, other: Any) -> Sum:
        return -self + other

    def __abs__(self) -> Sum:
        return Sum(abs(self.ball))

    def __float__(self) -> float:
        return float(self.ball)

    def __getattr__(self, name: str) -> Callable[..., Sum]:
        """A function of a ball, as one of a sum."""
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *others: Sum(getattr(self.ball, name)(*map(plain, others)))


def plain(value: Any) -> Any:
    return value.ball if isinstance(value, Sum) else value


def addends(value: Any) -> tuple[arb, ...]:
    return value.addends if isinstance(value, Sum) else (arb(value),)


def on_balls(operation: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Sum, Any], Any]:
    """An operation on the balls of its operands."""

    def applied(self: Sum, other: Any) -> Any:
        found = operation(plain(other), self.ball) if swapped else operation(self.ball, plain(other))
        return Sum(found) if isinstance(found, arb) else found

    return applied


for _name in ("mul", "truediv", "pow"):
    setattr(Sum, f"__{_name}__", on_balls(getattr(operator, _name)))
    setattr(Sum, f"__r{_name}__", on_balls(getattr(operator, _name), swapped=True))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Sum, f"__{_name}__", on_balls(getattr(operator, _name)))


class OfSums:
    """A complex ball made of a sum, for Bessel functions."""

    def __init__(self, value: Any) -> None:
        self.ball = acb(plain(value))

    def bessel_i(self, order: Any) -> acb:
        return self.ball.bessel_i(plain(order))

    def bessel_k(self, order: Any) -> acb:
        """That of Arb; where it takes minutes, the integral of DLMF 10.32.9 by the trapezoidal rule, of no radius."""
        z = self.ball.real
        if not 20 < z < 700:
            return self.ball.bessel_k(order)
        total, length = (-z).exp() / 2, arb(1) / 160
        for n in range(1, 10_000):
            cosh = (n * length).cosh()
            total += (-z * cosh).exp() * (order * n * length).cosh()
            if z * (cosh - 1) > BITS:
                break
        return acb(total * length)


def one_addend(function: Callable[..., arb]) -> Callable[..., Sum]:
    """A function whose own sum is not one that has to be made so."""
    return lambda *arguments: Sum(function(*map(plain, arguments)))


# What cancels inside these is the formula's own business: floats have better ones.
family_truth.log_beta, family_truth.log_binomial = one_addend(log_beta), one_addend(log_binomial)
family_truth.acb = OfSums


def lower_gamma(shape: arb, x: arb) -> arb:
    """P(shape, x) by its series, DLMF 8.7.1; by Arb's asymptotic one where x is much larger than the shape."""
    if x > 2000 and x > 3 * shape:
        return x.gamma_lower(shape, 1)
    head = (x.log() * shape - x - (shape + 1).lgamma()).exp()
    return head * geometric(lambda n: x / (shape + n))


def lower_beta(x: arb, a: arb, b: arb) -> arb:
    """I_x(a, b) by its series, DLMF 8.17.8, at x or at 1 - x; by Arb where that would be long."""
    if x * (a + b + 2) > a + 1:
        return 1 - lower_beta(1 - x, b, a)
    if x > 0.99:
        return x.beta_lower(a, b, 1)
    head = (a * x.log() + b * (1 - x).log() - a.log() - log_beta(a, b)).exp()
    return head * geometric(lambda n: (a + b + n - 1) / (a + n) * x)


def geometric(ratio: Callable[[int], arb]) -> arb:
    """1 + r(1) + r(1) r(2) + ..., whose ratios fall; NaN where it takes too many terms."""
    total, term, least = arb(1), arb(1), arb(2) ** -BITS
    for n in range(1, LONGEST):
        next_ratio = ratio(n)
        term *= next_ratio
        total += term
        if next_ratio < 0.999 and term < least * total:
            rest = (term * next_ratio / (1 - next_ratio)).abs_upper()
            return total + arb(0, rest)
    return arb("nan")


def power(x: arb, y: arb) -> arb:
    return (x.log() * y).exp() if x > 0 else 0 * x if y > 0 else arb("nan")


def smoothing(order: arb | float) -> Callable[..., arb]:
    """The distribution function of the density proportional to (1 - z²)^(order - 1)."""
    return lambda x, loc, s: lower_beta((1 + (x - loc) / s) / 2, arb(order), arb(order))


def two_sided(upper_half: Callable[..., arb]) -> Callable[..., arb]:
    """A symmetric distribution function by the mass between -z and z."""
    return lambda x, loc, s, *shape: HALF + (1 if x > loc else -1) * upper_half(abs(x - loc) / s, *shape) / 2


def student_mass(z: arb, df: arb) -> arb:
    return lower_beta(z**2 / (df + z**2), HALF, df / 2)


def asymmetric_laplace(x: arb, loc: arb, s: arb, k: arb) -> arb:
    below, above = k**2 * (-(loc - x) / (s * k)).exp(), (-(x - loc) * k / s).exp()
    return below / (1 + k**2) if x < loc else 1 - above / (1 + k**2)


def ex_gaussian(x: arb, loc: arb, s: arb, rate: arb) -> arb:
    z, ratio = (x - loc) / s, rate * s
    return normal_cdf(z) - (ratio**2 / 2 - ratio * z).exp() * normal_cdf(z - ratio)


def inverse_gaussian(x: arb, m: arb, k: arb) -> arb:
    root = (k / x).sqrt()
    return normal_cdf(root * (x / m - 1)) + (2 * k / m).exp() * normal_cdf(-root * (x / m + 1))


def skewed_power(x: arb, loc: arb, s: arb, p: arb, skew: arb) -> arb:
    side = skew if x < loc else 1 - skew
    mass = lower_gamma(1 / p, power(abs(x - loc) / (2 * s * side), p) / p)
    return skew * (1 - mass) if x < loc else skew + (1 - skew) * mass


def triangular(x: arb, low: arb, high: arb, peak: arb) -> arb:
    if x < peak:
        return (x - low) ** 2 / ((high - low) * (peak - low))
    return 1 - (high - x) ** 2 / ((high - low) * (high - peak))


def truncated(whole: Callable[[arb], arb]) -> Callable[..., arb]:
    def cdf(x: arb, loc: arb, s: arb, low: arb, high: arb) -> arb:
        """By the tail below loc, which does not cancel."""
        if low + high > 2 * loc:
            end = whole((loc - low) / s)
            return (end - whole((loc - x) / s)) / (end - whole((loc - high) / s))
        start = whole((low - loc) / s)
        return (whole((x - loc) / s) - start) / (whole((high - loc) / s) - start)

    return cdf


def beta_negative_binomial(x: arb, r: arb, a: arb, b: arb) -> arb:
    """The sum of the masses, each by its ratio to the one before."""
    if not x < LONGEST:
        raise ValueError("more terms than are summed")
    mass = (log_beta(a + r, b) - log_beta(a, b)).exp()
    total = mass
    for k in range(round(float(x))):
        mass *= (r + k) * (b + k) / ((k + 1) * (a + r + b + k))
        total += mass
    return total


def pert(x: arb, low: arb, high: arb, peak: arb, weight: arb) -> arb:
    width = high - low
    return lower_beta((x - low) / width, 1 + weight * (peak - low) / width, 1 + weight * (high - peak) / width)


def inflated(base: str) -> Callable[..., arb]:
    return lambda x, gate, *parameters: gate + (1 - gate) * CDF[base](x, *parameters)


CDF: dict[str, Callable[..., arb]] = INTEGRALS | {
    "Arcsine": lambda x, low, high: 2 / arb.pi() * ((x - low) / (high - low)).sqrt().asin(),
    "AsymmetricLaplace": asymmetric_laplace,
    "Bernoulli": lambda x, p: 1 - p if x < 1 else 1 + 0 * p,
    "Beta": lower_beta,
    "BetaNegativeBinomial": beta_negative_binomial,
    "BetaPrime": lambda x, a, b: lower_beta(x / (1 + x), a, b),
    "Binomial": lambda x, n, p: lower_beta(1 - p, n - x, x + 1) if x < n else 1 + 0 * p,
    "Biweight": smoothing(3),
    "Cauchy": lambda x, loc, s: HALF + ((x - loc) / s).atan() / arb.pi(),
    "Chi": lambda x, df: lower_gamma(df / 2, x**2 / 2),
    "Chi2": lambda x, df: lower_gamma(df / 2, x / 2),
    "ContinuousBernoulli": lambda x, p: (power(p / (1 - p), x) - 1) / (p / (1 - p) - 1),
    "Cosine": lambda x, loc, s: (1 + (x - loc) / s + (arb.pi() * (x - loc) / s).sin() / arb.pi()) / 2,
    "DiscreteUniform": lambda x, low, high: (x - low + 1) / (high - low + 1),
    "DiscreteWeibull": lambda x, q, b: 1 - power(q, power(x + 1, b)),
    "Epanechnikov": smoothing(2),
    "Erlang": lambda x, k, s: lower_gamma(k, x / s),
    "ExGaussian": ex_gaussian,
    "Exponential": lambda x, s: 1 - (-x / s).exp(),
    "FisherSnedecor": lambda x, a, b: lower_beta(a * x / (a * x + b), a / 2, b / 2),
    "Frechet": lambda x, k, s: (-power(x / s, -k)).exp(),
    "Gamma": lambda x, k, s: lower_gamma(k, x / s),
    "GeneralizedExtremeValue": lambda x, loc, s, k: (-power(1 + k * (x - loc) / s, -1 / k)).exp(),
    "GeneralizedNormal": two_sided(lambda z, p: lower_gamma(1 / p, power(z, p))),
    "GeneralizedPareto": lambda x, loc, s, k: 1 - power(1 + k * (x - loc) / s, -1 / k),
    "Geometric": lambda x, p: 1 - power(1 - p, x + 1),
    "BirnbaumSaunders": lambda x, c, s: normal_cdf((x - s) / (c * (x * s).sqrt())),
    "Gompertz": lambda x, k, rate: 1 - (-k * ((rate * x).exp() - 1)).exp(),
    "Gumbel": lambda x, loc, s: (-(-(x - loc) / s).exp()).exp(),
    "HalfCauchy": lambda x, s: 2 * (x / s).atan() / arb.pi(),
    "HalfNormal": lambda x, s: (x / s / arb(2).sqrt()).erf(),
    "HalfStudentT": lambda x, df, s: student_mass(x / s, df),
    "HurdleGamma": inflated("Gamma"),
    "HurdleLogNormal": inflated("LogNormal"),
    "InverseChi2": lambda x, df: 1 - lower_gamma(df / 2, 1 / (2 * x)),
    "InverseGamma": lambda x, k, s: 1 - lower_gamma(k, s / x),
    "InverseGaussian": inverse_gaussian,
    "JohnsonSU": lambda x, loc, s, gamma, delta: normal_cdf(gamma + delta * ((x - loc) / s).asinh()),
    "Kumaraswamy": lambda x, a, b: 1 - power(1 - power(x, a), b),
    "Laplace": two_sided(lambda z: 1 - (-z).exp()),
    "Levy": lambda x, loc, s: (s / (2 * (x - loc))).sqrt().erfc(),
    "Lindley": lambda x, k: 1 - (1 + k * x / (1 + k)) * (-k * x).exp(),
    "LogLogistic": lambda x, s, k: 1 / (1 + power(x / s, -k)),
    "LogNormal": lambda x, loc, s: normal_cdf((x.log() - loc) / s),
    "LogUniform": lambda x, low, high: (x / low).log() / (high / low).log(),
    "Logistic": lambda x, loc, s: logistic((x - loc) / s),
    "LogitNormal": lambda x, loc, s: normal_cdf(((x / (1 - x)).log() - loc) / s),
    "Lomax": lambda x, loc, s, k: 1 - power(1 + (x - loc) / s, -k),
    "Moyal": lambda x, loc, s: ((-(x - loc) / s / 2).exp() / arb(2).sqrt()).erfc(),
    "NegativeBinomial": lambda x, r, p: lower_beta(p, r, x + 1),
    "Normal": lambda x, loc, s: normal_cdf((x - loc) / s),
    "Pareto": lambda x, k, s: 1 - power(s / x, k),
    "Pert": pert,
    "Poisson": lambda x, rate: 1 - lower_gamma(x + 1, rate),
    "Rayleigh": lambda x, s: 1 - (-((x / s) ** 2) / 2).exp(),
    "RelaxedBernoulli": lambda x, t, p: logistic(t * (x / (1 - x)).log() - (p / (1 - p)).log()),
    "ScaledInverseChi2": lambda x, df, s: 1 - lower_gamma(df / 2, df * s**2 / (2 * x)),
    "Semicircle": lambda x, r: smoothing(1.5)(x, arb(0), r),
    "SkewedExponentialPower": skewed_power,
    "StudentT": lambda x, df, loc, s: two_sided(student_mass)(x, loc, s, df),
    "SymmetricTriangular": lambda x, loc, s: triangular(x, loc - s, loc + s, loc),
    "Triangular": triangular,
    "Triweight": smoothing(4),
    "TruncatedCauchy": truncated(arb.atan),
    "TruncatedNormal": truncated(normal_cdf),
    "Uniform": lambda x, low, high: (x - low) / (high - low),
    "Weibull": lambda x, k, s: 1 - (-power(x / s, k)).exp(),
    "YuleSimon": lambda x, a: 1 - x * log_beta(x, a + 1).exp(),
    "ZeroInflatedBinomial": inflated("Binomial"),
    "ZeroInflatedNegativeBinomial": inflated("NegativeBinomial"),
    "ZeroInflatedPoisson": inflated("Poisson"),
    "Zipf": lambda x, s: 1 - s.zeta(x + 1) / s.zeta(),
}

OF_CDF: dict[str, Callable[[arb], arb]] = {
    "cdf": lambda p: p, "logcdf": arb.log, "sf": lambda p: 1 - p, "logsf": lambda p: (1 - p).log(),
}


REMEMBERED: dict[tuple, arb] = {}  # what all verbs of a family ask for


def distribution_function(name: str, *at: arb) -> arb:
    """``CDF``, remembered by its exact arguments."""
    key = (name, ctx.prec, *(ball.man_exp() for ball in at))
    if key not in REMEMBERED:
        REMEMBERED[key] = CDF[name](*at)
    return REMEMBERED[key]


def formula(verb: str, name: str) -> Callable[..., Any] | None:
    """A verb of the family ``name`` as a function of balls, where there is one."""
    if verb == "logpdf":
        return LOG_DENSITY.get(name)
    return one_addend(lambda *at: OF_CDF[verb](distribution_function(name, *at))) if name in CDF else None


def amplification(verb: str, name: str, at: Sequence[float]) -> tuple[float, float]:
    """By how much the rounding of its logarithm is larger than that of a probability; and of its derivatives.

    A tail is computed as the exponential of a large number, or as well as if it were; and so is the logarithm of the
    other tail, which is next to -1 times it.
    """
    if verb == "logpdf":
        return 1.0, 1.0
    ctx.prec = BITS
    p = distribution_function(name, *(arb(float(v)) for v in at))
    below, beyond = (max(1.0, abs(float(tail.log()))) if tail > 0 else 1.0 for tail in (p, 1 - p))
    least = max(below, beyond)
    if name.startswith("Hurdle"):  # of what is beyond the gate, its tail decides
        part = (p - at[1]) / (1 - arb(float(at[1])))
        least = max(least, abs(float(part.log()))) if part > 0 else least
    return {"cdf": below, "sf": beyond, "logcdf": beyond, "logsf": below}[verb], least


def truth(function: Callable[..., Any], at: Sequence[float], places: Sequence[int]) -> list[Number | None]:
    """The value and the partial derivatives at ``places``; ``None`` for what is not determined or not smooth."""
    ctx.prec = BITS
    balls = [arb(float(v)) for v in at]
    least = min((abs(v) for v in at if v), default=1.0)
    middle = evaluated(function, balls)
    found = [number(middle)]
    for place in places:
        step = STEP * (abs(balls[place]) if at[place] else arb(float(least)))
        up, down = (
            evaluated(function, [v + s if i == place else v for i, v in enumerate(balls)]) for s in (step, -step)
        )
        found.append(slope(up, middle, down, step))
    return found


def evaluated(function: Callable[..., Any], balls: Sequence[arb]) -> tuple[arb, ...]:
    """The addends of a value, none where the formula ends in an error."""
    try:
        return addends(function(*(Sum(ball) for ball in balls)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return (arb("nan"),)


def number(parts: Sequence[arb]) -> Number | None:
    value = sum(parts, arb(0))
    largest = max(abs(float(part)) for part in parts)
    if not value.is_finite() or not math.isfinite(largest):
        return None
    precise = value.rad() <= max(ZERO, arb(2) ** -70 * max(abs(value.mid()), arb(largest)))
    return (value, largest) if precise else None


def slope(up: Sequence[arb], middle: Sequence[arb], down: Sequence[arb], step: arb) -> Number | None:
    """The derivative and the largest of those of the addends; ``None`` at a kink."""
    if not len(up) == len(middle) == len(down):
        return None
    right, left = (sum(up, arb(0)) - sum(middle, arb(0))) / step, (sum(middle, arb(0)) - sum(down, arb(0))) / step
    found = number([(u - d) / (2 * step) for u, d in zip(up, down, strict=True)])
    if found is None:
        return None
    bend, allowed = abs((right - left).mid()), SMOOTH * (abs(right.mid()) + abs(left.mid()) + arb(found[1])) + ZERO
    return found if bend <= allowed else None
