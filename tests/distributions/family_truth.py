"""What log densities and their derivatives are: textbook formulas in ball arithmetic, 1000 bits wide."""

import numpy as np
from flint import arb, ctx

BITS = 1000
ONE, HALF = arb(1), arb(1) / 2


def log_beta(a, b):
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def log_binomial(n, k):
    return (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()


def log_normal_density(z, scale):
    return -(z * z) / 2 - scale.log() - (2 * arb.pi()).log() / 2


def negative_binomial(x, r, p):
    return (x + r).lgamma() - r.lgamma() - (x + 1).lgamma() + r * p.log() + x * (1 - p).log()


def logistic(z):
    return 1 / (1 + (-z).exp())


LOG_DENSITY = {
    "Bernoulli": lambda x, p: x * p.log() + (1 - x) * (1 - p).log(),
    "Beta": lambda x, a, b: (a - 1) * x.log() + (b - 1) * (1 - x).log() - log_beta(a, b),
    "Binomial": lambda x, n, p: log_binomial(n, x) + x * p.log() + (n - x) * (1 - p).log(),
    "Cauchy": lambda x, loc, s: -(1 + ((x - loc) / s) ** 2).log() - (arb.pi() * s).log(),
    "Exponential": lambda x, s: -x / s - s.log(),
    "Gamma": lambda x, k, s: (k - 1) * (x / s).log() - x / s - k.lgamma() - s.log(),
    "Geometric": lambda x, p: p.log() + x * (1 - p).log(),
    "HalfCauchy": lambda x, s: -(1 + (x / s) ** 2).log() - (arb.pi() * s / 2).log(),
    "HalfNormal": lambda x, s: log_normal_density(x / s, s) + arb(2).log(),
    "InverseGamma": lambda x, k, s: k * s.log() - (k + 1) * x.log() - s / x - k.lgamma(),
    "Laplace": lambda x, loc, s: -abs(x - loc) / s - (2 * s).log(),
    "LogNormal": lambda x, loc, s: log_normal_density((x.log() - loc) / s, s) - x.log(),
    "Logistic": lambda x, loc, s: -(x - loc) / s - 2 * (1 + (-(x - loc) / s).exp()).log() - s.log(),
    "NegativeBinomial": negative_binomial,
    "Normal": lambda x, loc, s: log_normal_density((x - loc) / s, s),
    "Poisson": lambda x, rate: x * rate.log() - rate - (x + 1).lgamma(),
    "StudentT": lambda x, df, loc, s: (
        -(df + 1) / 2 * (1 + ((x - loc) / s) ** 2 / df).log() - log_beta(df / 2, HALF) - df.log() / 2 - s.log()
    ),
    "Uniform": lambda x, low, high: -(high - low).log() + 0 * x,
    "Weibull": lambda x, k, s: (k / s).log() + (k - 1) * (x / s).log() - ((x / s).log() * k).exp(),
}

# The parameters of each other parametrisation as those of the first.
CONVERSIONS = {
    ("Bernoulli", ("logit",)): lambda logit: (logistic(logit),),
    ("Beta", ("mean", "concentration")): lambda m, c: (m * c, (1 - m) * c),
    ("Beta", ("mean", "sd")): lambda m, sd: (m * (m * (1 - m) / sd**2 - 1), (1 - m) * (m * (1 - m) / sd**2 - 1)),
    ("Binomial", ("n", "logit")): lambda n, logit: (n, logistic(logit)),
    ("Exponential", ("rate",)): lambda rate: (1 / rate,),
    ("Exponential", ("mean",)): lambda mean: (mean,),
    ("Gamma", ("shape", "rate")): lambda shape, rate: (shape, 1 / rate),
    ("Gamma", ("shape", "log_rate")): lambda shape, log_rate: (shape, (-log_rate).exp()),
    ("Gamma", ("shape", "mean")): lambda shape, mean: (shape, mean / shape),
    ("Gamma", ("mean", "sd")): lambda mean, sd: ((mean / sd) ** 2, sd**2 / mean),
    ("Geometric", ("logit",)): lambda logit: (logistic(logit),),
    ("HalfNormal", ("precision",)): lambda precision: (1 / precision.sqrt(),),
    ("InverseGamma", ("mean", "sd")): lambda m, sd: (2 + (m / sd) ** 2, m * (1 + (m / sd) ** 2)),
    ("LogNormal", ("loc", "precision")): lambda loc, precision: (loc, 1 / precision.sqrt()),
    ("LogNormal", ("mean", "sd")): lambda m, sd: (
        m.log() - (1 + (sd / m) ** 2).log() / 2, (1 + (sd / m) ** 2).log().sqrt()
    ),
    ("NegativeBinomial", ("mean", "dispersion")): lambda m, d: (d, d / (m + d)),
    ("NegativeBinomial", ("log_mean", "dispersion")): lambda m, d: (d, d / (m.exp() + d)),
    ("Normal", ("mean", "sd")): lambda mean, sd: (mean, sd),
    ("Normal", ("mean", "variance")): lambda mean, variance: (mean, variance.sqrt()),
    ("Normal", ("mean", "precision")): lambda mean, precision: (mean, 1 / precision.sqrt()),
    ("Poisson", ("log_rate",)): lambda log_rate: (log_rate.exp(),),
    ("StudentT", ("df", "loc", "precision")): lambda df, loc, precision: (df, loc, 1 / precision.sqrt()),
}


def true_density(family, names, x, parameters):
    """The log density of a family in the parametrisation ``names``, as a function of balls ``(x, *parameters)``."""
    first = names == family.parametrisations[0].names
    converted = parameters if first else CONVERSIONS[family.__name__, names](*parameters)
    return LOG_DENSITY[family.__name__](x, *converted)


def truth(family, names, x, parameters):
    """The value and the partial derivatives in x and each parameter, correctly rounded; all arguments are floats."""
    ctx.prec = BITS
    at = [arb(float(v)) for v in (x, *parameters)]
    least = min((abs(float(v)) for v in (x, *parameters) if v != 0), default=1)

    def density(place=0, step=0):
        moved = [v + step if i == place else v for i, v in enumerate(at)]
        return true_density(family, names, moved[0], moved[1:])

    partials = []
    for place, v in enumerate(at):
        step = arb(2) ** -200 * (abs(v) if v != 0 else least)
        partials.append(float((density(place, step) - density(place, -step)) / (2 * step)))
    return float(density()), partials


def truths(family, names, x, parameters):
    """``truth`` of each element: an array of values, and one of partial derivatives per argument."""
    rows = [truth(family, names, *row) for row in zip(x, zip(*parameters, strict=True), strict=True)]
    return np.array([value for value, _ in rows]), list(np.array([partials for _, partials in rows]).T)
