"""What log densities and their derivatives are: textbook formulas in ball arithmetic, up to 1000 bits wide."""

import numpy as np
from ball_formulas import (
    asymmetric_laplace,
    continuous_bernoulli,
    conway_maxwell_poisson,
    ex_gaussian,
    extreme_value,
    f_density,
    first_passage,
    kernel,
    log_beta,
    log_binomial,
    log_normal_density,
    logistic,
    negative_binomial,
    noncentral_f,
    noncentral_t,
    normal_cdf,
    normal_inverse_gaussian,
    pert,
    polya_gamma,
    power,
    relaxed_bernoulli,
    skewed_power,
    soliton,
    student_t,
    triangular,
)
from balls import certified
from flint import acb, arb

BITS = 500, 1000
CERTAIN = 80  # bits that are right, of the value and of each derivative
ONE, HALF = arb(1), arb(1) / 2

LOG_DENSITY = {
    "ConwayMaxwellPoisson": conway_maxwell_poisson,
    "ContinuousBernoulli": continuous_bernoulli,
    "DiscreteWeibull": lambda x, q, b: (power(q, power(x, b)) - power(q, power(x + 1, b))).log(),
    "Arcsine": lambda x, low, high: -(arb.pi() * ((x - low) * (high - x)).sqrt()).log(),
    "AsymmetricLaplace": asymmetric_laplace,
    "BetaBinomial": lambda x, n, a, b: log_binomial(n, x) + log_beta(x + a, n - x + b) - log_beta(a, b),
    "BetaNegativeBinomial": lambda x, r, a, b: (
        (r + x).lgamma() - (x + 1).lgamma() - r.lgamma() + log_beta(a + r, b + x) - log_beta(a, b)
    ),
    "BetaPrime": lambda x, a, b: (a - 1) * x.log() - (a + b) * (1 + x).log() - log_beta(a, b),
    "Biweight": kernel(2, (15, 16)),
    "Chi": lambda x, df: (df - 1) * x.log() - x**2 / 2 - (df / 2 - 1) * arb(2).log() - (df / 2).lgamma(),
    "Chi2": lambda x, df: (df / 2 - 1) * x.log() - x / 2 - df / 2 * arb(2).log() - (df / 2).lgamma(),
    "Cosine": lambda x, loc, s: ((1 + (arb.pi() * (x - loc) / s).cos()) / (2 * s)).log(),
    "Dirac": lambda x, value: 0 * x,
    "DiscreteUniform": lambda x, low, high: -(high - low + 1).log(),
    "Epanechnikov": kernel(1, (3, 4)),
    "Erlang": lambda x, k, s: (k - 1) * (x / s).log() - x / s - k.lgamma() - s.log(),
    "FisherSnedecor": f_density,
    "Frechet": lambda x, k, s: (k / s).log() - (k + 1) * (x / s).log() - ((x / s).log() * -k).exp(),
    "GeneralizedExtremeValue": extreme_value,
    "GeneralizedNormal": lambda x, loc, s, p: (
        -((abs(x - loc) / s).log() * p).exp() - (2 * s).log() - (1 + 1 / p).lgamma()
    ),
    "GeneralizedPareto": lambda x, loc, s, k: -(1 + 1 / k) * (1 + k * (x - loc) / s).log() - s.log(),
    "Gompertz": lambda x, k, rate: (k * rate).log() + rate * x - k * ((rate * x).exp() - 1),
    "Gumbel": lambda x, loc, s: -(x - loc) / s - (-(x - loc) / s).exp() - s.log(),
    "HalfStudentT": lambda x, df, s: student_t(x / s, df) + (2 / s).log(),
    "Hypergeometric": lambda x, a, b, n: log_binomial(a, x) + log_binomial(b, n - x) - log_binomial(a + b, n),
    "InverseChi2": lambda x, df: (
        -(df / 2) * arb(2).log() - (df / 2 + 1) * x.log() - 1 / (2 * x) - (df / 2).lgamma()
    ),
    "InverseGaussian": lambda x, m, k: (k / (2 * arb.pi() * x**3)).log() / 2 - k * (x - m) ** 2 / (2 * m**2 * x),
    "JohnsonSU": lambda x, loc, s, gamma, delta: (
        log_normal_density(gamma + delta * ((x - loc) / s).asinh(), s / delta) - (1 + ((x - loc) / s) ** 2).log() / 2
    ),
    "Kumaraswamy": lambda x, a, b: (
        (a * b).log() + (a - 1) * x.log() + (b - 1) * (1 - (x.log() * a).exp()).log()
    ),
    "Levy": lambda x, loc, s: (s / (2 * arb.pi())).log() / 2 - 3 * (x - loc).log() / 2 - s / (2 * (x - loc)),
    "Lindley": lambda x, k: (k**2 * (1 + x) / (1 + k)).log() - k * x,
    "LogitNormal": lambda x, loc, s: (
        log_normal_density(((x / (1 - x)).log() - loc) / s, s) - x.log() - (1 - x).log()
    ),
    "LogLogistic": lambda x, s, k: (
        (k / s).log() + (k - 1) * (x / s).log() - 2 * (1 + ((x / s).log() * k).exp()).log()
    ),
    "LogUniform": lambda x, low, high: -(x * (high / low).log()).log(),
    "Lomax": lambda x, loc, s, k: (k / s).log() - (k + 1) * (1 + (x - loc) / s).log(),
    "Moyal": lambda x, loc, s: (
        -((x - loc) / s + (-(x - loc) / s).exp()) / 2 - s.log() - (2 * arb.pi()).log() / 2
    ),
    "Pareto": lambda x, k, s: k.log() + k * s.log() - (k + 1) * x.log(),
    "HalfLogistic": lambda x, s: (2 / s).log() - x / s - 2 * (1 + (-x / s).exp()).log(),
    "GeneralizedLogistic": lambda x, c, loc, s: (
        (c / s).log() - (x - loc) / s - (c + 1) * (1 + (-(x - loc) / s).exp()).log()
    ),
    "HyperbolicSecant": lambda x, loc, s: -((x - loc) / s).cosh().log() - (arb.pi() * s).log(),
    "Maxwell": lambda x, s: (2 / arb.pi()).log() / 2 + 2 * x.log() - 3 * s.log() - (x / s) ** 2 / 2,
    "BirnbaumSaunders": lambda x, c, s: (
        ((x + s) / (2 * c * x * (s * x).sqrt())).log() - (x - s) ** 2 / (2 * c**2 * s * x) - (2 * arb.pi()).log() / 2
    ),
    "Nakagami": lambda x, m, w: (
        arb(2).log() + m * (m / w).log() - m.lgamma() + (2 * m - 1) * x.log() - m * x**2 / w
    ),
    "Rayleigh": lambda x, s: x.log() - 2 * s.log() - (x / s) ** 2 / 2,
    "RelaxedBernoulli": relaxed_bernoulli,
    "ScaledInverseChi2": lambda x, df, s: (
        df / 2 * (df / 2 * s**2).log() - (df / 2 + 1) * x.log() - df / 2 * s**2 / x - (df / 2).lgamma()
    ),
    "Semicircle": lambda x, r: (2 * (r**2 - x**2).sqrt() / (arb.pi() * r**2)).log(),
    "SkewedExponentialPower": skewed_power,
    "NoncentralChi2": lambda x, df, nc: (
        -(x + nc) / 2 + (df / 4 - HALF) * (x / nc).log() + (acb((nc * x).sqrt()).bessel_i(df / 2 - 1).real / 2).log()
    ),
    "NoncentralBeta": lambda x, a, b, nc: (
        (a - 1) * x.log() + (b - 1) * (1 - x).log() - log_beta(a, b) - nc / 2 + (nc * x / 2).hypgeom_1f1(a + b, a).log()
    ),
    "NoncentralFisherSnedecor": noncentral_f,
    "NoncentralStudentT": lambda x, df, nc, loc, s: noncentral_t((x - loc) / s, df, nc) - s.log(),
    "NormalInverseGaussian": normal_inverse_gaussian,
    "Pert": pert,
    "PolyaGamma": polya_gamma,
    "Rice": lambda x, nu, s: (
        (x / s**2).log() - (x**2 + nu**2) / (2 * s**2) + acb(x * nu / s**2).bessel_i(0).real.log()
    ),
    "Skellam": lambda x, a, b: (
        -(a + b) + x / 2 * (a / b).log() + acb(2 * (a * b).sqrt()).bessel_i(abs(x)).real.log()
    ),
    "SkewNormal": lambda x, loc, s, k: (
        log_normal_density((x - loc) / s, s) + (2 * normal_cdf(k * (x - loc) / s)).log()
    ),
    "Soliton": soliton,
    "SymmetricTriangular": lambda x, loc, s: ((1 - abs(x - loc) / s) / s).log(),
    "Triangular": triangular,
    "Triweight": kernel(3, (35, 32)),
    "VonMises": lambda x, loc, k: k * (x - loc).cos() - (2 * arb.pi() * acb(k).bessel_i(0).real).log(),
    "LogSeries": lambda x, p: x * p.log() - x.log() - (-(1 - p).log()).log(),
    "Zipf": lambda x, s: -s * x.log() - s.zeta().log(),
    "WienerFirstPassage": first_passage,
    "YuleSimon": lambda x, a: a.log() + log_beta(x, a + 1),
    "Bernoulli": lambda x, p: x * p.log() + (1 - x) * (1 - p).log(),
    "Beta": lambda x, a, b: (a - 1) * x.log() + (b - 1) * (1 - x).log() - log_beta(a, b),
    "Binomial": lambda x, n, p: log_binomial(n, x) + x * p.log() + (n - x) * (1 - p).log(),
    "Cauchy": lambda x, loc, s: -(1 + ((x - loc) / s) ** 2).log() - (arb.pi() * s).log(),
    "ExGaussian": ex_gaussian,
    "Exponential": lambda x, s: -x / s - s.log(),
    "Gamma": lambda x, k, s: (k - 1) * (x / s).log() - x / s - k.lgamma() - s.log(),
    "DiscreteLaplace": lambda x, a: (a / 2).tanh().log() - a * abs(x),
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
    "StudentT": lambda x, df, loc, s: student_t((x - loc) / s, df) - s.log(),
    "TruncatedCauchy": lambda x, loc, s, low, high: (
        -(1 + ((x - loc) / s) ** 2).log() - (s * (((high - loc) / s).atan() - ((low - loc) / s).atan())).log()
    ),
    "TruncatedNormal": lambda x, loc, s, low, high: (
        log_normal_density((x - loc) / s, s) - (normal_cdf((high - loc) / s) - normal_cdf((low - loc) / s)).log()
    ),
    "Uniform": lambda x, low, high: -(high - low).log() + 0 * x,
    "ExponentiatedWeibull": lambda x, k, s, a: (
        (a * k / s).log() + (a - 1) * (1 - (-((x / s).log() * k).exp()).exp()).log() + (k - 1) * (x / s).log()
        - ((x / s).log() * k).exp()
    ),
    "Bradford": lambda x, c, low, high: (c / ((1 + c).log() * (high - low + c * (x - low)))).log(),
    "LogLaplace": lambda x, s, k: (k / (2 * s)).log() + (k - 1 if x < s else -k - 1) * (x / s).log(),
    "JohnsonSB": lambda x, g, d, low, high: (
        -((g + d * ((x - low) / (high - x)).log()) ** 2) / 2 + (d * (high - low) / ((x - low) * (high - x))).log()
        - (2 * arb.pi()).log() / 2
    ),
    "Weibull": lambda x, k, s: (k / s).log() + (k - 1) * (x / s).log() - ((x / s).log() * k).exp(),
}

# The parameters of each other parametrisation as those of the first.
CONVERSIONS = {
    ("Rice", ("b", "scale")): lambda b, scale: (b * scale, scale),
    ("ContinuousBernoulli", ("logit",)): lambda logit: (logistic(logit),),
    ("NegativeBinomial", ("r", "q")): lambda r, q: (r, 1 - q),
    ("NegativeBinomial", ("r", "log_odds")): lambda r, log_odds: (r, logistic(-log_odds)),
    ("NegativeBinomial", ("shape", "rate")): lambda shape, rate: (shape, rate / (1 + rate)),
    ("Normal", ("eta", "precision")): lambda eta, precision: (eta / precision, 1 / precision.sqrt()),
    ("Bernoulli", ("probit",)): lambda probit: (normal_cdf(probit),),
    ("ExGaussian", ("loc", "scale", "nu")): lambda loc, scale, nu: (loc, scale, 1 / nu),
    ("SkewNormal", ("loc", "precision", "shape")): lambda loc, precision, shape: (loc, 1 / precision.sqrt(), shape),
    ("AsymmetricLaplace", ("loc", "rate", "asymmetry")): lambda loc, rate, k: (loc, 1 / rate, k),
    ("AsymmetricLaplace", ("loc", "scale", "quantile")): lambda loc, s, q: (
        loc, s / (q * (1 - q)).sqrt(), (q / (1 - q)).sqrt()
    ),
    ("BetaBinomial", ("n", "mean", "concentration")): lambda n, m, c: (n, m * c, (1 - m) * c),
    ("Erlang", ("shape", "rate")): lambda shape, rate: (shape, 1 / rate),
    ("Gompertz", ("shape", "scale")): lambda shape, scale: (shape, 1 / scale),
    ("HalfStudentT", ("df", "precision")): lambda df, precision: (df, 1 / precision.sqrt()),
    ("Hypergeometric", ("population", "successes", "draws")): lambda n, k, draws: (k, n - k, draws),
    ("InverseGaussian", ("mean", "phi")): lambda mean, phi: (mean, mean * phi),
    ("LogitNormal", ("loc", "precision")): lambda loc, precision: (loc, 1 / precision.sqrt()),
    ("LogLaplace", ("loc", "scale")): lambda loc, scale: (loc.exp(), 1 / scale),
    ("LogLogistic", ("loc", "scale")): lambda loc, scale: (loc.exp(), 1 / scale),
    ("RelaxedBernoulli", ("temperature", "logit")): lambda t, logit: (t, logistic(logit)),
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


def gated(base, hurdle=None):
    """The log density of 0 behind a gate, and otherwise of another family, whose zeros a hurdle leaves out."""

    def log_density(x, gate, *parameters):
        density = LOG_DENSITY[base]
        if hurdle is None:
            mass = (1 - gate) * density(x, *parameters).exp()
            return (gate + mass if abs(x) < arb(2) ** -100 else mass).log()
        if abs(x) < arb(2) ** -100:
            return gate.log()
        rest = 1 - density(arb(0), *parameters).exp() if hurdle else ONE
        return ((1 - gate) / rest).log() + density(x, *parameters)

    return log_density


GATED = {
    "HurdleGamma": ("Gamma", False), "HurdleLogNormal": ("LogNormal", False),
    "HurdleNegativeBinomial": ("NegativeBinomial", True), "HurdlePoisson": ("Poisson", True),
    "ZeroInflatedBinomial": ("Binomial", None), "ZeroInflatedNegativeBinomial": ("NegativeBinomial", None),
    "ZeroInflatedPoisson": ("Poisson", None),
}
LOG_DENSITY |= {name: gated(*made) for name, made in GATED.items()}
CONVERSIONS |= {
    (name, ("gate", *names)): lambda gate, *rest, convert=convert: (gate, *convert(*rest))
    for name, (base, _) in GATED.items() for (of, names), convert in CONVERSIONS.items() if of == base
}


def true_density(family, names, x, parameters):
    """The log density of a family in the parametrisation ``names``, as a function of balls ``(x, *parameters)``."""
    first = names == family.parametrisations[0].names
    converted = parameters if first else CONVERSIONS[family.__name__, names](*parameters)
    return LOG_DENSITY[family.__name__](x, *converted)


def truth(family, names, x, parameters):
    """The value and the partial derivatives in x and each parameter, correctly rounded; all arguments are floats."""
    at = [arb(float(v)) for v in (x, *parameters)]
    least = min((abs(float(v)) for v in (x, *parameters) if v != 0), default=1)

    def density(place=0, step=0):
        moved = [v + step if i == place else v for i, v in enumerate(at)]
        return true_density(family, names, moved[0], moved[1:])

    def balls():
        steps = [arb(2) ** -200 * (abs(v) if v != 0 else least) for v in at]
        slopes = ((density(place, step) - density(place, -step)) / (2 * step) for place, step in enumerate(steps))
        return [density(), *slopes]

    value, *partials = map(float, certified(balls, CERTAIN, BITS))
    return value, partials


def truths(family, names, x, parameters):
    """``truth`` of each element: an array of values, and one of partial derivatives per argument."""
    rows = [truth(family, names, *row) for row in zip(x, zip(*parameters, strict=True), strict=True)]
    return np.array([value for value, _ in rows]), list(np.array([partials for _, partials in rows]).T)
