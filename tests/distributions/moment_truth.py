"""Means, variances and entropies of families in ball arithmetic: textbook formulas of their first parameters."""

from ball_formulas import conway_maxwell_poisson_masses
from flint import acb, arb

ONE, PI, EULER = arb(1), arb.pi, arb.const_euler


def beta(a, b):
    return a.gamma() * b.gamma() / (a + b).gamma()


def log_beta(a, b):
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def conway_maxwell_poisson_mean(rate, nu):
    masses = conway_maxwell_poisson_masses(rate, nu)
    return sum(k * mass for k, mass in enumerate(masses)) / sum(masses)


def conway_maxwell_poisson_variance(rate, nu):
    masses = conway_maxwell_poisson_masses(rate, nu)
    total, first, second = (sum(k**power * mass for k, mass in enumerate(masses)) for power in (0, 1, 2))
    return second / total - (first / total) ** 2


def gamma_entropy(k):
    return k + k.lgamma() + (1 - k) * k.digamma()


def inverse_gamma_entropy(k):
    return k + k.lgamma() - (k + 1) * k.digamma()


def beta_entropy(a, b):
    s = a + b
    return log_beta(a, b) - (a - 1) * a.digamma() - (b - 1) * b.digamma() + (s - 2) * s.digamma()


def pert_shapes(low, high, peak, weight):
    return 1 + weight * (peak - low) / (high - low), 1 + weight * (high - peak) / (high - low)


def pert_variance(low, high, peak, weight):
    a, b = pert_shapes(low, high, peak, weight)
    return (high - low) ** 2 * a * b / (a + b) ** 2 / (a + b + 1)


def odds_entropy(a, b):
    return log_beta(a, b) - (a - 1) * a.digamma() - (b + 1) * b.digamma() + (a + b) * (a + b).digamma()


def student_entropy(v):
    h = v / 2
    return (h + ONE / 2) * ((h + ONE / 2).digamma() - h.digamma()) + v.log() / 2 + log_beta(h, ONE / 2)


def chi_mean(v):
    return arb(2).sqrt() * ((v + 1) / 2).lgamma().exp() / (v / 2).lgamma().exp()


def rising(k, power):
    """The mean of the power of a Weibull variable of shape 1 / k, or of a Fréchet variable where it is negative."""
    return (1 + power * k).gamma()


def half_student_mean(v):
    return 2 * (v / PI()).sqrt() * ((v + 1) / 2).lgamma().exp() / ((v / 2).lgamma().exp() * (v - 1))


def t_shift(v):
    """The mean of sqrt(v / u) for a chi-squared u."""
    return (v / 2).sqrt() * (((v - 1) / 2).lgamma() - (v / 2).lgamma()).exp()


def kumaraswamy(a, b, power):
    return b * (log_beta(1 + power / a, b)).exp()


def of_count(c, nc):
    """The mean of 1 / (c + j) for a Poisson variable j of rate nc / 2, by DLMF 13.4.1."""
    return (-nc / 2).exp() * (nc / 2).hypgeom_1f1(c, c + 1) / c


def noncentral_beta_variance(a, b, nc):
    total = a + b
    return b * (b + 1) * (of_count(total, nc) - of_count(total + 1, nc)) - (b * of_count(total, nc)) ** 2


def bernoulli_entropy(p):
    return -(p * p.log() + (1 - p) * (1 - p).log())


def bessel_ratio(k):
    return (acb(k).bessel_i(1) / acb(k).bessel_i(0)).real


def kernel_entropy(s, power, height):
    """The mean of log(1 - z^2) by digamma functions, DLMF 5.12.1."""
    n = arb(power)
    gap = 2 * ((n + 1).digamma() - (2 * n + 2).digamma() + arb(2).log())
    return s.log() - (arb(height[0]) / height[1]).log() - n * gap


def truncated_power(low, high, power):
    return (high**power - low**power) / (power * (high / low).log())


def angle(k):
    return PI() / k


# The family: its mean, variance and entropy, None where it has none of that name or where that is trivial.
TRUTH = {
    "Arcsine": (lambda a, b: (a + b) / 2, lambda a, b: (b - a) ** 2 / 8, lambda a, b: ((b - a) * PI() / 4).log()),
    "AsymmetricLaplace": (
        lambda m, s, k: m + s * (1 / k - k), lambda m, s, k: s**2 * (k**-2 + k**2),
        lambda m, s, k: 1 + (s * (k + 1 / k)).log(),
    ),
    "Bernoulli": (lambda p: p, lambda p: p * (1 - p), bernoulli_entropy),
    "Beta": (lambda a, b: a / (a + b), lambda a, b: a * b / (a + b) ** 2 / (a + b + 1), beta_entropy),
    "BetaBinomial": (
        lambda n, a, b: n * a / (a + b), lambda n, a, b: n * a * b * (a + b + n) / (a + b) ** 2 / (a + b + 1), None,
    ),
    "BetaPrime": (
        lambda a, b: a / (b - 1), lambda a, b: a * (a + b - 1) / ((b - 2) * (b - 1) ** 2), odds_entropy,
    ),
    "Binomial": (lambda n, p: n * p, lambda n, p: n * p * (1 - p), None),
    "Cauchy": (None, None, lambda m, s: (4 * PI() * s).log()),
    "Chi": (
        chi_mean, lambda v: v - chi_mean(v) ** 2,
        lambda v: (v / 2).lgamma() + (v - arb(2).log() - (v - 1) * (v / 2).digamma()) / 2,
    ),
    "Chi2": (lambda v: v, lambda v: 2 * v, lambda v: gamma_entropy(v / 2) + arb(2).log()),
    "ConwayMaxwellPoisson": (
        conway_maxwell_poisson_mean, conway_maxwell_poisson_variance, None,
    ),
    "Cosine": (None, lambda m, s: s**2 * (ONE / 3 - 2 / PI() ** 2), lambda m, s: (4 * s).log() - 1),
    "DiscreteUniform": (None, lambda a, b: ((b - a + 1) ** 2 - 1) / 12, lambda a, b: (b - a + 1).log()),
    "Erlang": (lambda k, s: k * s, lambda k, s: k * s**2, lambda k, s: gamma_entropy(k) + s.log()),
    "ExGaussian": (lambda m, s, r: m + 1 / r, lambda m, s, r: s**2 + r**-2, None),
    "Exponential": (lambda s: s, lambda s: s**2, lambda s: 1 + s.log()),
    "FisherSnedecor": (
        lambda a, b: b / (b - 2), lambda a, b: 2 * b**2 * (a + b - 2) / (a * (b - 2) ** 2 * (b - 4)),
        lambda a, b: odds_entropy(a / 2, b / 2) + (b / a).log(),
    ),
    "Frechet": (
        lambda k, s: s * rising(1 / k, -1), lambda k, s: s**2 * (rising(1 / k, -2) - rising(1 / k, -1) ** 2),
        lambda k, s: 1 + EULER() * (1 + 1 / k) + (s / k).log(),
    ),
    "Gamma": (lambda k, s: k * s, lambda k, s: k * s**2, lambda k, s: gamma_entropy(k) + s.log()),
    "GeneralizedExtremeValue": (
        lambda m, s, k: m + s * (rising(k, -1) - 1) / k,
        lambda m, s, k: s**2 * (rising(k, -2) - rising(k, -1) ** 2) / k**2,
        lambda m, s, k: s.log() + EULER() * (1 + k) + 1,
    ),
    "GeneralizedNormal": (
        None, lambda m, s, p: s**2 * (3 / p).gamma() / (1 / p).gamma(),
        lambda m, s, p: 1 / p + (2 * s).log() + (1 + 1 / p).lgamma(),
    ),
    "GeneralizedPareto": (
        lambda m, s, k: m + s / (1 - k), lambda m, s, k: s**2 / ((1 - k) ** 2 * (1 - 2 * k)),
        lambda m, s, k: s.log() + 1 + k,
    ),
    "Geometric": (lambda p: (1 - p) / p, lambda p: (1 - p) / p**2, lambda p: bernoulli_entropy(p) / p),
    "Gumbel": (
        lambda m, s: m + EULER() * s, lambda m, s: (PI() * s) ** 2 / 6, lambda m, s: s.log() + EULER() + 1,
    ),
    "HalfCauchy": (None, None, lambda s: (2 * PI() * s).log()),
    "HalfNormal": (
        lambda s: s * (2 / PI()).sqrt(), lambda s: s**2 * (1 - 2 / PI()),
        lambda s: (PI() * s**2 / 2).log() / 2 + ONE / 2,
    ),
    "HalfStudentT": (
        lambda v, s: s * half_student_mean(v), lambda v, s: s**2 * (v / (v - 2) - half_student_mean(v) ** 2),
        lambda v, s: student_entropy(v) + s.log() - arb(2).log(),
    ),
    "InverseChi2": (
        lambda v: 1 / (v - 2), lambda v: 2 / ((v - 2) ** 2 * (v - 4)),
        lambda v: inverse_gamma_entropy(v / 2) - arb(2).log(),
    ),
    "InverseGamma": (
        lambda k, s: s / (k - 1), lambda k, s: s**2 / ((k - 1) ** 2 * (k - 2)),
        lambda k, s: inverse_gamma_entropy(k) + s.log(),
    ),
    "InverseGaussian": (lambda m, k: m, lambda m, k: m**3 / k, None),
    "Kumaraswamy": (
        lambda a, b: kumaraswamy(a, b, 1), lambda a, b: kumaraswamy(a, b, 2) - kumaraswamy(a, b, 1) ** 2,
        lambda a, b: 1 - 1 / b + (1 - 1 / a) * ((b + 1).digamma() + EULER()) - (a * b).log(),
    ),
    "Laplace": (None, lambda m, s: 2 * s**2, lambda m, s: 1 + (2 * s).log()),
    "Levy": (None, None, lambda m, s: (1 + 3 * EULER() + (16 * PI() * s**2).log()) / 2),
    "Lindley": (
        lambda k: (k + 2) / (k * (k + 1)), lambda k: (k**2 + 4 * k + 2) / (k * (k + 1)) ** 2, None,
    ),
    "LogLogistic": (
        lambda s, k: s * angle(k) / angle(k).sin(),
        lambda s, k: s**2 * (2 * angle(k) / (2 * angle(k)).sin() - (angle(k) / angle(k).sin()) ** 2),
        lambda s, k: 2 + (s / k).log(),
    ),
    "LogNormal": (
        lambda m, s: (m + s**2 / 2).exp(), lambda m, s: (2 * m + s**2).exp() * ((s**2).exp() - 1),
        lambda m, s: m + ONE / 2 + (2 * PI() * s**2).log() / 2,
    ),
    "LogUniform": (
        lambda a, b: truncated_power(a, b, 1), lambda a, b: truncated_power(a, b, 2) - truncated_power(a, b, 1) ** 2,
        lambda a, b: (a * b).log() / 2 + (b / a).log().log(),
    ),
    "Logistic": (None, lambda m, s: (PI() * s) ** 2 / 3, lambda m, s: s.log() + 2),
    "Lomax": (
        lambda m, s, k: m + s / (k - 1), lambda m, s, k: s**2 * k / ((k - 1) ** 2 * (k - 2)),
        lambda m, s, k: 1 + 1 / k + (s / k).log(),
    ),
    "Moyal": (
        lambda m, s: m + s * (EULER() + arb(2).log()), lambda m, s: (PI() * s) ** 2 / 2,
        lambda m, s: s.log() + (1 + EULER() + (4 * PI()).log()) / 2,
    ),
    "NegativeBinomial": (lambda r, p: r * (1 - p) / p, lambda r, p: r * (1 - p) / p**2, None),
    "NoncentralBeta": (
        lambda a, b, c: 1 - b * of_count(a + b, c), lambda a, b, c: noncentral_beta_variance(a, b, c), None,
    ),
    "NoncentralChi2": (lambda v, c: v + c, lambda v, c: 2 * v + 4 * c, None),
    "NoncentralFisherSnedecor": (
        lambda a, b, c: b * (a + c) / (a * (b - 2)),
        lambda a, b, c: (b / a) ** 2 * 2 * ((a + c) ** 2 + (a + 2 * c) * (b - 2)) / ((b - 2) ** 2 * (b - 4)), None,
    ),
    "NoncentralStudentT": (
        lambda v, c, m, s: m + s * c * t_shift(v),
        lambda v, c, m, s: s**2 * (v / (v - 2) * (1 + c**2) - (c * t_shift(v)) ** 2), None,
    ),
    "Normal": (None, lambda m, s: s**2, lambda m, s: (2 * PI() * s**2).log() / 2 + ONE / 2),
    "Pareto": (
        lambda k, s: k * s / (k - 1), lambda k, s: s**2 * k / ((k - 1) ** 2 * (k - 2)),
        lambda k, s: (s / k).log() + 1 + 1 / k,
    ),
    "Poisson": (lambda r: r, lambda r: r, None),
    "DiscreteLaplace": (
        None, lambda a: 1 / (2 * (a / 2).sinh() ** 2), lambda a: a / a.sinh() - (a / 2).tanh().log(),
    ),
    "HalfLogistic": (
        lambda s: 2 * arb(2).log() * s, lambda s: (PI() ** 2 / 3 - 4 * arb(2).log() ** 2) * s**2,
        lambda s: s.log() + 2 - arb(2).log(),
    ),
    "GeneralizedLogistic": (
        lambda c, m, s: m + s * (c.digamma() + EULER()), lambda c, m, s: s**2 * (arb(2).zeta(c) + PI() ** 2 / 6),
        lambda c, m, s: (s / c).log() + c.digamma() + 1 / c + 1 + EULER(),
    ),
    "HyperbolicSecant": (
        None, lambda m, s: (PI() * s / 2) ** 2, lambda m, s: (2 * PI() * s).log(),
    ),
    "Maxwell": (
        lambda s: s * (8 / PI()).sqrt(), lambda s: s**2 * (3 - 8 / PI()),
        lambda s: s.log() + (2 * PI()).log() / 2 + EULER() - ONE / 2,
    ),
    "LogSeries": (
        lambda p: -p / ((1 - p) * (1 - p).log()),
        lambda p: -p * (p + (1 - p).log()) / ((1 - p) * (1 - p).log()) ** 2, None,
    ),
    "LogLaplace": (
        lambda s, k: s * k**2 / (k**2 - 1), lambda s, k: s**2 * k**2 * (2 * k**2 + 1) / ((k**2 - 4) * (k**2 - 1) ** 2),
        lambda s, k: (2 * s / k).log() + 1,
    ),
    "BirnbaumSaunders": (lambda c, s: s * (1 + c**2 / 2), lambda c, s: (c * s) ** 2 * (1 + 5 * c**2 / 4), None),
    "Nakagami": (
        lambda m, w: (w / m).sqrt() * ((m + ONE / 2).lgamma() - m.lgamma()).exp(),
        lambda m, w: w * (1 - (2 * (m + ONE / 2).lgamma() - 2 * m.lgamma()).exp() / m),
        lambda m, w: (2 * m + (w / m).log() + 2 * m.lgamma() + (1 - 2 * m) * m.digamma()) / 2 - arb(2).log(),
    ),
    "Pert": (
        lambda low, high, peak, w: (low + w * peak + high) / (w + 2), pert_variance,
        lambda low, high, peak, w: (high - low).log() + beta_entropy(*pert_shapes(low, high, peak, w)),
    ),
    "PolyaGamma": (
        lambda b, z: b * (z / 2).tanh() / (2 * z),
        lambda b, z: b * (z.sinh() - z) / (4 * z**3 * (z / 2).cosh() ** 2), None,
    ),
    "Rayleigh": (
        lambda s: s * (PI() / 2).sqrt(), lambda s: s**2 * (2 - PI() / 2),
        lambda s: 1 + (s**2 / 2).log() / 2 + EULER() / 2,
    ),
    "ScaledInverseChi2": (
        lambda v, s: v * s**2 / (v - 2), lambda v, s: 2 * v**2 * s**4 / ((v - 2) ** 2 * (v - 4)),
        lambda v, s: inverse_gamma_entropy(v / 2) + (v * s**2 / 2).log(),
    ),
    "Semicircle": (None, lambda r: r**2 / 4, lambda r: (PI() * r).log() - ONE / 2),
    "Skellam": (lambda a, b: a - b, lambda a, b: a + b, None),
    "SkewNormal": (
        lambda m, s, k: m + s * (2 / PI()).sqrt() * k / (1 + k**2).sqrt(),
        lambda m, s, k: s**2 * (1 - 2 * k**2 / (PI() * (1 + k**2))), None,
    ),
    "StudentT": (None, lambda v, m, s: s**2 * v / (v - 2), lambda v, m, s: student_entropy(v) + s.log()),
    "SymmetricTriangular": (None, lambda m, s: s**2 / 6, lambda m, s: s.log() + ONE / 2),
    "Uniform": (lambda a, b: (a + b) / 2, lambda a, b: (b - a) ** 2 / 12, lambda a, b: (b - a).log()),
    "VonMises": (
        None, None, lambda m, k: (2 * PI() * acb(k).bessel_i(0).real).log() - k * bessel_ratio(k),
    ),
    "Weibull": (
        lambda k, s: s * rising(1 / k, 1), lambda k, s: s**2 * (rising(1 / k, 2) - rising(1 / k, 1) ** 2),
        lambda k, s: EULER() * (1 - 1 / k) + (s / k).log() + 1,
    ),
    "YuleSimon": (lambda a: a / (a - 1), lambda a: a**2 / ((a - 1) ** 2 * (a - 2)), None),
    "Biweight": (None, lambda m, s: s**2 / 7, lambda m, s: kernel_entropy(s, 2, (15, 16))),
    "Epanechnikov": (None, lambda m, s: s**2 / 5, lambda m, s: kernel_entropy(s, 1, (3, 4))),
    "Triweight": (None, lambda m, s: s**2 / 9, lambda m, s: kernel_entropy(s, 3, (35, 32))),
}
