"""Distribution functions that are known by integrals, in ball arithmetic (python-flint)."""

import numpy as np
import scipy.special as sc
from ball_formulas import normal_cdf
from flint import acb, arb


def skew_normal(x: arb, loc: arb, s: arb, k: arb) -> arb:
    """Phi(z) less twice Owen's function, or of a negative shape more; that as an integral up to 1 at most."""
    z = (x - loc) / s
    g, b = abs(z), abs(k)
    owen = (normal_cdf(-g) + normal_cdf(-g * b)) / 2 - normal_cdf(-g) * normal_cdf(-g * b)
    owen = wedge(g, b) if b <= 1 else owen - wedge(g * b, 1 / b)
    return normal_cdf(z) - (2 if k > 0 else -2) * owen


def wedge(h: arb, a: arb) -> arb:
    """Owen's function of h and a <= 1."""
    square = acb(h) ** 2
    owen = acb.integral(lambda x, _: (-square * (1 + x * x) / 2).exp() / (1 + x * x), 0, acb(a))
    return owen.real / (2 * arb.pi())


def von_mises(x: arb, loc: arb, k: arb) -> arb:
    """By the integral over the shorter way to an end of the turn."""
    d = x - loc
    if abs(d) >= arb.pi():
        return arb("nan")
    start = abs(d)
    tail = acb.integral(lambda t, _: (k * (t.cos() - start.cos())).exp(), acb(start), acb(arb.pi())).real
    tail *= (k * start.cos()).exp() / (2 * arb.pi() * acb(k).bessel_i(0).real)
    return 1 - tail if d > 0 else tail


def normal_inverse_gaussian(x: arb, loc: arb, alpha: arb, beta: arb, delta: arb) -> arb:
    """Of a normal variable, over the logarithm of its inverse Gaussian variance: by the trapezoidal rule, no radius.

    The shorter tail, by 400 points that depend on the floats next to the arguments alone, so that differences are good.
    """
    d, gamma = x - loc, (alpha**2 - beta**2).sqrt()
    upper = d > beta * delta**2 / (delta * gamma + 1)
    sign = -1 if upper else 1
    places, step = grid(*(float(v) for v in (sign * d, alpha, sign * beta, delta)), float(gamma))
    total = arb(0)
    for t in places:
        v = delta / gamma * arb(t).exp()
        weight = (delta * gamma - (delta**2 / v + gamma**2 * v) / 2).exp() / v.sqrt()
        total += weight * normal_cdf((sign * d - sign * beta * v) / v.sqrt())
    tail = total * step * delta / (2 * arb.pi()).sqrt()
    return 1 - tail if upper else tail


def grid(d: float, alpha: float, beta: float, delta: float, gamma: float) -> tuple[np.ndarray, float]:
    """Where the integrand is more than exp(-80) of its largest value, found by looking three times."""
    g, mean = delta * gamma, delta / gamma
    reach = np.arccosh(1 + 900 / g) + abs(np.log(np.hypot(d, delta) / alpha / mean)) + 1
    low, high = -reach, reach
    for _ in range(3):
        t = np.linspace(low, high, 4001)
        v = mean * np.exp(t)
        with np.errstate(over="ignore", under="ignore"):
            height = -2 * g * np.sinh(t / 2) ** 2 - t / 2 + sc.log_ndtr((d - beta * v) / np.sqrt(v))
        inside = np.flatnonzero(height > np.nanmax(height) - 80)
        low, high = t[max(inside[0] - 1, 0)], t[min(inside[-1] + 1, 4000)]
    places = np.linspace(low, high, 401)
    return places, (high - low) / 400


INTEGRALS = {
    "NormalInverseGaussian": normal_inverse_gaussian,
    "SkewNormal": skew_normal,
    "VonMises": von_mises,
}
