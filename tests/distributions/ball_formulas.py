"""Densities of families in ball arithmetic, and what they are made of."""

from flint import acb, arb

HALF = arb(1) / 2


def log_beta(a, b):
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def log_binomial(n, k):
    return (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()


def log_normal_density(z, scale):
    return -(z * z) / 2 - scale.log() - (2 * arb.pi()).log() / 2


def negative_binomial(x, r, p):
    return (x + r).lgamma() - r.lgamma() - (x + 1).lgamma() + r * p.log() + x * (1 - p).log()


def normal_inverse_gaussian(x, loc, alpha, beta, delta):
    q = (delta**2 + (x - loc) ** 2).sqrt()
    bessel = acb(alpha * q).bessel_k(1).real
    return (alpha * delta * bessel / (arb.pi() * q)).log() + delta * (alpha**2 - beta**2).sqrt() + beta * (x - loc)


def power(x, y):
    """x to the power of y, also where x is 0."""
    return (x.log() * y).exp() if x > 0 else 0 * x


def logistic(z):
    return 1 / (1 + (-z).exp())


def normal_cdf(z):
    return (-z / arb(2).sqrt()).erfc() / 2


def ex_gaussian(x, loc, s, rate):
    z, ratio = (x - loc) / s, rate * s
    return rate.log() + ratio**2 / 2 - ratio * z + normal_cdf(z - ratio).log()


def student_t(z, df):
    return -(df + 1) / 2 * (1 + z**2 / df).log() - log_beta(df / 2, HALF) - df.log() / 2


def noncentral_t(x, df, nc):
    """By Kummer's functions of both parities."""
    total = df + x**2
    u, half = nc**2 * x**2 / (2 * total), df / 2
    odd = arb(2).sqrt() * nc * x * u.hypgeom_1f1(half + 1, 3 * HALF) / (total * (half + HALF).gamma())
    even = u.hypgeom_1f1(half + HALF, HALF) / (total.sqrt() * (half + 1).gamma())
    scale = half * (df / total).log() + (df + 1).lgamma() - half.lgamma() - df * arb(2).log()
    return scale - nc**2 / 2 + (odd + even).log()


def f_density(x, d1, d2):
    r = d1 / d2
    return d1 / 2 * r.log() + (d1 / 2 - 1) * x.log() - (d1 + d2) / 2 * (1 + r * x).log() - log_beta(d1 / 2, d2 / 2)


def noncentral_f(x, d1, d2, nc):
    odds = d1 / d2 * x
    kummer = (nc / 2 * odds / (1 + odds)).hypgeom_1f1((d1 + d2) / 2, d1 / 2)
    return f_density(x, d1, d2) - nc / 2 + kummer.log()


def asymmetric_laplace(x, loc, s, k):
    return -abs(x - loc) / (s * k if x < loc else s / k) - (s * k + s / k).log()


def kernel(power, height):
    """The density height / s (1 - z²)^power of a smoothing kernel."""
    return lambda x, loc, s: power * (1 - ((x - loc) / s) ** 2).log() + (arb(height[0]) / height[1] / s).log()


def extreme_value(x, loc, s, k):
    log_t = -(1 + k * (x - loc) / s).log() / k
    return (k + 1) * log_t - log_t.exp() - s.log()


def skewed_power(x, loc, s, p, skew):
    z = abs(x - loc) / (2 * s * (skew if x < loc else 1 - skew))
    return -(z.log() * p).exp() / p - (2 * s).log() - p.log() / p - (1 + 1 / p).lgamma()


def soliton(x, k, m, delta):
    at, spike = round(float(x)), round(float(m))
    ideal = 1 / (x * (x - 1)) if at > 1 else 1 / k
    robust = 1 / (x * m) if at < spike else (k / (m * delta)).log() / m if at == spike else arb(0)
    return (ideal + robust).log() - (1 + (m.digamma() + arb.const_euler() + (k / (m * delta)).log()) / m).log()


def triangular(x, low, high, peak):
    rising = x < peak
    return (2 / (high - low)).log() + ((x - low) / (peak - low) if rising else (high - x) / (high - peak)).log()


def relaxed_bernoulli(x, t, p):
    odds, y = p / (1 - p), x / (1 - x)
    power = (y.log() * -t).exp()
    return (t * odds * power).log() - x.log() - (1 - x).log() - 2 * (1 + odds * power).log()


def continuous_bernoulli(x, p):
    logit = (p / (1 - p)).log()
    return x * logit + (logit / (logit.exp() - 1)).log()


def first_passage(x, alpha, tau, beta, delta):
    """By the sum over images for little time, and over waves for much."""
    t, w = (x - tau) / alpha**2, 1 - beta
    if t < 1:
        images = ((w + 2 * k, -((w + 2 * k) ** 2) / (2 * t)) for k in range(-40, 41))
        total = sum(v * e.exp() for v, e in images) / (2 * arb.pi() * t**3).sqrt()
    else:
        rates = [k * arb.pi() for k in range(1, 40)]
        total = sum(k * (k * w).sin() * (-(k**2) * t / 2).exp() for k in rates)
    return delta * alpha * w - delta**2 * (x - tau) / 2 - 2 * alpha.log() + total.log()


LEAST_FACTORS = [next((p for p in range(2, 22) if k % p == 0), k) for k in range(450)]


def conway_maxwell_poisson_masses(rate, nu):
    """rate^k / k!^nu up to where it has long begun to fall, for a mean of 160 at most; powers of primes give others."""
    powers, masses = [arb(0), arb(1)], [arb(1), rate]
    for k, factor in [*enumerate(LEAST_FACTORS)][2:]:
        powers.append((-nu * arb(k).log()).exp() if factor == k else powers[factor] * powers[k // factor])
        masses.append(masses[-1] * rate * powers[k])
    return masses


def conway_maxwell_poisson(x, rate, nu):
    total = sum(conway_maxwell_poisson_masses(rate, nu))
    return x * rate.log() - nu * (x + 1).lgamma() - total.log()


def pert(x, low, high, peak, weight):
    before, after = (weight * side / (high - low) for side in (peak - low, high - peak))
    rising = before * (x - low).log() + after * (high - x).log()
    return rising - log_beta(1 + before, 1 + after) - (1 + weight) * (high - low).log()


def polya_gamma(x, b, z):
    """By the alternating series as it is defined: (2 n + b) gamma(b + n) / gamma(b) / n! exp(-(2 n + b)^2 / (8 x))."""
    total, term = arb(0), (-(b**2) / (8 * x)).exp()
    fall, further = (-(b + 1) / (2 * x)).exp(), (-1 / x).exp()  # of a power from one term to the next, and of that
    for n in range(160):
        total += (2 * n + b) * term
        term *= -(b + n) / (n + 1) * fall
        fall *= further
    constant = b * (z / 2).cosh().log() + (b - 1) * arb(2).log() - (2 * arb.pi() * x**3).log() / 2
    return constant - z**2 * x / 2 + total.log()
