"""Families and their signatures, for editors and type checkers."""

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.

from typing import overload

from vecdist.lazy.array import Operand
from vecdist.distributions.base import FAMILIES, Distribution, parametrisation
from vecdist.multivariate import Categorical, Dirichlet, DirichletMultinomial, GeneralizedDirichlet, InverseWishart, InverseWishartCholesky, LKJ, LKJCholesky, LogisticNormal, MatrixNormal, Multinomial, MultivariateHypergeometric, MvLaplace, MvLogNormal, MvNormal, MvStudentT, NegativeMultinomial, OrderedLogistic, OrderedProbit, PlackettLuce, PoissonBinomial, VonMisesFisher, Wishart, WishartCholesky, ZeroSumNormal
from vecdist.distributions.arcsine import Arcsine as _Arcsine
from vecdist.distributions.asymmetric_laplace import AsymmetricLaplace as _AsymmetricLaplace
from vecdist.distributions.bernoulli import Bernoulli as _Bernoulli
from vecdist.distributions.beta import Beta as _Beta
from vecdist.distributions.beta_binomial import BetaBinomial as _BetaBinomial
from vecdist.distributions.beta_negative_binomial import BetaNegativeBinomial as _BetaNegativeBinomial
from vecdist.distributions.beta_prime import BetaPrime as _BetaPrime
from vecdist.distributions.binomial import Binomial as _Binomial
from vecdist.distributions.birnbaum_saunders import BirnbaumSaunders as _BirnbaumSaunders
from vecdist.distributions.biweight import Biweight as _Biweight
from vecdist.distributions.bradford import Bradford as _Bradford
from vecdist.distributions.cauchy import Cauchy as _Cauchy
from vecdist.distributions.chi import Chi as _Chi
from vecdist.distributions.chi2 import Chi2 as _Chi2
from vecdist.distributions.continuous_bernoulli import ContinuousBernoulli as _ContinuousBernoulli
from vecdist.distributions.conway_maxwell_poisson import ConwayMaxwellPoisson as _ConwayMaxwellPoisson
from vecdist.distributions.cosine import Cosine as _Cosine
from vecdist.distributions.dirac import Dirac as _Dirac
from vecdist.distributions.discrete_laplace import DiscreteLaplace as _DiscreteLaplace
from vecdist.distributions.discrete_uniform import DiscreteUniform as _DiscreteUniform
from vecdist.distributions.discrete_weibull import DiscreteWeibull as _DiscreteWeibull
from vecdist.distributions.epanechnikov import Epanechnikov as _Epanechnikov
from vecdist.distributions.erlang import Erlang as _Erlang
from vecdist.distributions.ex_gaussian import ExGaussian as _ExGaussian
from vecdist.distributions.exponential import Exponential as _Exponential
from vecdist.distributions.exponentiated_weibull import ExponentiatedWeibull as _ExponentiatedWeibull
from vecdist.distributions.fisher_snedecor import FisherSnedecor as _FisherSnedecor
from vecdist.distributions.frechet import Frechet as _Frechet
from vecdist.distributions.gamma import Gamma as _Gamma
from vecdist.distributions.generalized_extreme_value import GeneralizedExtremeValue as _GeneralizedExtremeValue
from vecdist.distributions.generalized_logistic import GeneralizedLogistic as _GeneralizedLogistic
from vecdist.distributions.generalized_normal import GeneralizedNormal as _GeneralizedNormal
from vecdist.distributions.generalized_pareto import GeneralizedPareto as _GeneralizedPareto
from vecdist.distributions.geometric import Geometric as _Geometric
from vecdist.distributions.gompertz import Gompertz as _Gompertz
from vecdist.distributions.gumbel import Gumbel as _Gumbel
from vecdist.distributions.half_cauchy import HalfCauchy as _HalfCauchy
from vecdist.distributions.half_logistic import HalfLogistic as _HalfLogistic
from vecdist.distributions.half_normal import HalfNormal as _HalfNormal
from vecdist.distributions.half_student_t import HalfStudentT as _HalfStudentT
from vecdist.distributions.hurdle_gamma import HurdleGamma as _HurdleGamma
from vecdist.distributions.hurdle_log_normal import HurdleLogNormal as _HurdleLogNormal
from vecdist.distributions.hurdle_negative_binomial import HurdleNegativeBinomial as _HurdleNegativeBinomial
from vecdist.distributions.hurdle_poisson import HurdlePoisson as _HurdlePoisson
from vecdist.distributions.hyperbolic_secant import HyperbolicSecant as _HyperbolicSecant
from vecdist.distributions.hypergeometric import Hypergeometric as _Hypergeometric
from vecdist.distributions.inverse_chi2 import InverseChi2 as _InverseChi2
from vecdist.distributions.inverse_gamma import InverseGamma as _InverseGamma
from vecdist.distributions.inverse_gaussian import InverseGaussian as _InverseGaussian
from vecdist.distributions.johnson_sb import JohnsonSB as _JohnsonSB
from vecdist.distributions.johnson_su import JohnsonSU as _JohnsonSU
from vecdist.distributions.kumaraswamy import Kumaraswamy as _Kumaraswamy
from vecdist.distributions.laplace import Laplace as _Laplace
from vecdist.distributions.levy import Levy as _Levy
from vecdist.distributions.lindley import Lindley as _Lindley
from vecdist.distributions.log_laplace import LogLaplace as _LogLaplace
from vecdist.distributions.log_logistic import LogLogistic as _LogLogistic
from vecdist.distributions.log_normal import LogNormal as _LogNormal
from vecdist.distributions.log_series import LogSeries as _LogSeries
from vecdist.distributions.log_uniform import LogUniform as _LogUniform
from vecdist.distributions.logistic import Logistic as _Logistic
from vecdist.distributions.logit_normal import LogitNormal as _LogitNormal
from vecdist.distributions.lomax import Lomax as _Lomax
from vecdist.distributions.maxwell import Maxwell as _Maxwell
from vecdist.distributions.moyal import Moyal as _Moyal
from vecdist.distributions.nakagami import Nakagami as _Nakagami
from vecdist.distributions.negative_binomial import NegativeBinomial as _NegativeBinomial
from vecdist.distributions.noncentral_beta import NoncentralBeta as _NoncentralBeta
from vecdist.distributions.noncentral_chi2 import NoncentralChi2 as _NoncentralChi2
from vecdist.distributions.noncentral_fisher_snedecor import NoncentralFisherSnedecor as _NoncentralFisherSnedecor
from vecdist.distributions.noncentral_student_t import NoncentralStudentT as _NoncentralStudentT
from vecdist.distributions.normal import Normal as _Normal
from vecdist.distributions.normal_inverse_gaussian import NormalInverseGaussian as _NormalInverseGaussian
from vecdist.distributions.pareto import Pareto as _Pareto
from vecdist.distributions.pert import Pert as _Pert
from vecdist.distributions.poisson import Poisson as _Poisson
from vecdist.distributions.polya_gamma import PolyaGamma as _PolyaGamma
from vecdist.distributions.rayleigh import Rayleigh as _Rayleigh
from vecdist.distributions.relaxed_bernoulli import RelaxedBernoulli as _RelaxedBernoulli
from vecdist.distributions.rice import Rice as _Rice
from vecdist.distributions.scaled_inverse_chi2 import ScaledInverseChi2 as _ScaledInverseChi2
from vecdist.distributions.semicircle import Semicircle as _Semicircle
from vecdist.distributions.skellam import Skellam as _Skellam
from vecdist.distributions.skew_normal import SkewNormal as _SkewNormal
from vecdist.distributions.skewed_exponential_power import SkewedExponentialPower as _SkewedExponentialPower
from vecdist.distributions.soliton import Soliton as _Soliton
from vecdist.distributions.student_t import StudentT as _StudentT
from vecdist.distributions.symmetric_triangular import SymmetricTriangular as _SymmetricTriangular
from vecdist.distributions.triangular import Triangular as _Triangular
from vecdist.distributions.triweight import Triweight as _Triweight
from vecdist.distributions.truncated_cauchy import TruncatedCauchy as _TruncatedCauchy
from vecdist.distributions.truncated_normal import TruncatedNormal as _TruncatedNormal
from vecdist.distributions.uniform import Uniform as _Uniform
from vecdist.distributions.von_mises import VonMises as _VonMises
from vecdist.distributions.weibull import Weibull as _Weibull
from vecdist.distributions.wiener_first_passage import WienerFirstPassage as _WienerFirstPassage
from vecdist.distributions.yule_simon import YuleSimon as _YuleSimon
from vecdist.distributions.zero_inflated_binomial import ZeroInflatedBinomial as _ZeroInflatedBinomial
from vecdist.distributions.zero_inflated_negative_binomial import ZeroInflatedNegativeBinomial as _ZeroInflatedNegativeBinomial
from vecdist.distributions.zero_inflated_poisson import ZeroInflatedPoisson as _ZeroInflatedPoisson
from vecdist.distributions.zipf import Zipf as _Zipf


__all__ = [
    "Arcsine",
    "AsymmetricLaplace",
    "Bernoulli",
    "Beta",
    "BetaBinomial",
    "BetaNegativeBinomial",
    "BetaPrime",
    "Binomial",
    "BirnbaumSaunders",
    "Biweight",
    "Bradford",
    "Categorical",
    "Cauchy",
    "Chi",
    "Chi2",
    "ContinuousBernoulli",
    "ConwayMaxwellPoisson",
    "Cosine",
    "Dirac",
    "Dirichlet",
    "DirichletMultinomial",
    "DiscreteLaplace",
    "DiscreteUniform",
    "DiscreteWeibull",
    "Distribution",
    "Epanechnikov",
    "Erlang",
    "ExGaussian",
    "Exponential",
    "ExponentiatedWeibull",
    "FAMILIES",
    "FisherSnedecor",
    "Frechet",
    "Gamma",
    "GeneralizedDirichlet",
    "GeneralizedExtremeValue",
    "GeneralizedLogistic",
    "GeneralizedNormal",
    "GeneralizedPareto",
    "Geometric",
    "Gompertz",
    "Gumbel",
    "HalfCauchy",
    "HalfLogistic",
    "HalfNormal",
    "HalfStudentT",
    "HurdleGamma",
    "HurdleLogNormal",
    "HurdleNegativeBinomial",
    "HurdlePoisson",
    "HyperbolicSecant",
    "Hypergeometric",
    "InverseChi2",
    "InverseGamma",
    "InverseGaussian",
    "InverseWishart",
    "InverseWishartCholesky",
    "JohnsonSB",
    "JohnsonSU",
    "Kumaraswamy",
    "LKJ",
    "LKJCholesky",
    "Laplace",
    "Levy",
    "Lindley",
    "LogLaplace",
    "LogLogistic",
    "LogNormal",
    "LogSeries",
    "LogUniform",
    "Logistic",
    "LogisticNormal",
    "LogitNormal",
    "Lomax",
    "MatrixNormal",
    "Maxwell",
    "Moyal",
    "Multinomial",
    "MultivariateHypergeometric",
    "MvLaplace",
    "MvLogNormal",
    "MvNormal",
    "MvStudentT",
    "Nakagami",
    "NegativeBinomial",
    "NegativeMultinomial",
    "NoncentralBeta",
    "NoncentralChi2",
    "NoncentralFisherSnedecor",
    "NoncentralStudentT",
    "Normal",
    "NormalInverseGaussian",
    "OrderedLogistic",
    "OrderedProbit",
    "Pareto",
    "Pert",
    "PlackettLuce",
    "Poisson",
    "PoissonBinomial",
    "PolyaGamma",
    "Rayleigh",
    "RelaxedBernoulli",
    "Rice",
    "ScaledInverseChi2",
    "Semicircle",
    "Skellam",
    "SkewNormal",
    "SkewedExponentialPower",
    "Soliton",
    "StudentT",
    "SymmetricTriangular",
    "Triangular",
    "Triweight",
    "TruncatedCauchy",
    "TruncatedNormal",
    "Uniform",
    "VonMises",
    "VonMisesFisher",
    "Weibull",
    "WienerFirstPassage",
    "Wishart",
    "WishartCholesky",
    "YuleSimon",
    "ZeroInflatedBinomial",
    "ZeroInflatedNegativeBinomial",
    "ZeroInflatedPoisson",
    "ZeroSumNormal",
    "Zipf",
    "parametrisation",
]


class Arcsine(_Arcsine):
    """Arcsine distribution, f(x) = 1 / (pi sqrt((x - low) (high - x))) for low <= x <= high."""

    def __init__(self, low: Operand, high: Operand) -> None: ...


class AsymmetricLaplace(_AsymmetricLaplace):
    """Asymmetric Laplace distribution, f(x) = exp(-|x - loc| / s) / (left + right), s = left below loc and right above."""

    @overload
    def __init__(self, loc: Operand, scale: Operand, asymmetry: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, rate: Operand, asymmetry: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale: Operand, quantile: Operand) -> None: ...


class Bernoulli(_Bernoulli):
    """Bernoulli distribution, f(1) = p and f(0) = 1 - p."""

    @overload
    def __init__(self, p: Operand) -> None: ...

    @overload
    def __init__(self, *, logit: Operand) -> None: ...

    @overload
    def __init__(self, *, probit: Operand) -> None: ...


class Beta(_Beta):
    """Beta distribution, f(x) = x^(alpha - 1) (1 - x)^(beta - 1) / B(alpha, beta) for 0 <= x <= 1."""

    @overload
    def __init__(self, alpha: Operand, beta: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, concentration: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, sd: Operand) -> None: ...


class BetaBinomial(_BetaBinomial):
    """Beta-binomial distribution, f(x) = C(n, x) B(x + alpha, n - x + beta) / B(alpha, beta) for x = 0, ..., n."""

    @overload
    def __init__(self, n: Operand, alpha: Operand, beta: Operand) -> None: ...

    @overload
    def __init__(self, *, n: Operand, mean: Operand, concentration: Operand) -> None: ...


class BetaNegativeBinomial(_BetaNegativeBinomial):
    """Beta negative binomial distribution, f(x) = Γ(r + x) / (x! Γ(r)) B(alpha + r, beta + x) / B(alpha, beta)."""

    def __init__(self, r: Operand, alpha: Operand, beta: Operand) -> None: ...


class BetaPrime(_BetaPrime):
    """Beta prime distribution, f(x) = x^(alpha - 1) (1 + x)^(-alpha - beta) / B(alpha, beta) for x >= 0."""

    def __init__(self, alpha: Operand, beta: Operand) -> None: ...


class Binomial(_Binomial):
    """Binomial distribution, f(x) = C(n, x) p^x (1 - p)^(n - x) for x = 0, ..., n."""

    @overload
    def __init__(self, n: Operand, p: Operand) -> None: ...

    @overload
    def __init__(self, *, n: Operand, logit: Operand) -> None: ...


class BirnbaumSaunders(_BirnbaumSaunders):
    """Birnbaum-Saunders distribution, f(x) = (r + 1 / r) exp(-((r - 1 / r) / shape)^2 / 2) / (2 sqrt(2 pi) shape x)."""

    def __init__(self, shape: Operand, scale: Operand) -> None: ...


class Biweight(_Biweight):
    """Biweight distribution, f(x) = 15 / (16 scale) (1 - z^2)^2 with z = (x - loc) / scale, for -1 <= z <= 1."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Bradford(_Bradford):
    """Bradford's distribution, f(x) = c / (w log(1 + c) (1 + c (x - low) / w)) for low <= x <= high, w = high - low."""

    def __init__(self, c: Operand, low: Operand, high: Operand) -> None: ...


class Cauchy(_Cauchy):
    """Cauchy distribution, f(x) = 1 / (pi scale (1 + ((x - loc) / scale)^2))."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Chi(_Chi):
    """Chi distribution, f(x) = x^(df - 1) exp(-x^2 / 2) / (2^(df/2 - 1) Γ(df/2)) for x >= 0."""

    def __init__(self, df: Operand) -> None: ...


class Chi2(_Chi2):
    """Chi-squared distribution, f(x) = x^(df/2 - 1) exp(-x/2) / (2^(df/2) Γ(df/2)) for x >= 0."""

    def __init__(self, df: Operand) -> None: ...


class ContinuousBernoulli(_ContinuousBernoulli):
    """Continuous Bernoulli distribution, f(x) = c p^x (1 - p)^(1 - x) for 0 <= x <= 1, with c = l / tanh(l / 2)."""

    @overload
    def __init__(self, p: Operand) -> None: ...

    @overload
    def __init__(self, *, logit: Operand) -> None: ...


class ConwayMaxwellPoisson(_ConwayMaxwellPoisson):
    """Conway-Maxwell-Poisson distribution, f(x) = rate^x / (x!^nu Z(rate, nu)) for x = 0, 1, ..."""

    def __init__(self, rate: Operand, nu: Operand) -> None: ...


class Cosine(_Cosine):
    """Raised cosine distribution, f(x) = (1 + cos(pi z)) / (2 scale) with z = (x - loc) / scale, for -1 <= z <= 1."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Dirac(_Dirac):
    """Dirac distribution, which puts the mass 1 on one value."""

    def __init__(self, value: Operand) -> None: ...


class DiscreteLaplace(_DiscreteLaplace):
    """Discrete Laplace distribution, f(x) = tanh(rate / 2) exp(-rate |x|) for whole x."""

    def __init__(self, rate: Operand) -> None: ...


class DiscreteUniform(_DiscreteUniform):
    """Discrete uniform distribution, f(x) = 1 / (high - low + 1) for x = low, ..., high."""

    def __init__(self, low: Operand, high: Operand) -> None: ...


class DiscreteWeibull(_DiscreteWeibull):
    """Discrete Weibull distribution, f(x) = q^(x^beta) - q^((x + 1)^beta) for x = 0, 1, ..."""

    def __init__(self, q: Operand, beta: Operand) -> None: ...


class Epanechnikov(_Epanechnikov):
    """Epanechnikov distribution, f(x) = 3 / (4 scale) (1 - z^2) with z = (x - loc) / scale, for -1 <= z <= 1."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Erlang(_Erlang):
    """Erlang distribution, f(x) = x^(shape - 1) exp(-x / scale) / ((shape - 1)! scale^shape) for x >= 0."""

    @overload
    def __init__(self, shape: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, shape: Operand, rate: Operand) -> None: ...


class ExGaussian(_ExGaussian):
    """Exponentially modified Gaussian distribution, f(x) = rate exp(s^2 / 2 - s z) Phi(z - s) with s = rate scale."""

    @overload
    def __init__(self, loc: Operand, scale: Operand, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale: Operand, nu: Operand) -> None: ...


class Exponential(_Exponential):
    """Exponential distribution, f(x) = exp(-x / scale) / scale for x >= 0."""

    @overload
    def __init__(self, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand) -> None: ...


class ExponentiatedWeibull(_ExponentiatedWeibull):
    """Exponentiated Weibull distribution, F(x) = (1 - exp(-(x / scale)^shape))^power for x >= 0."""

    def __init__(self, shape: Operand, scale: Operand, power: Operand) -> None: ...


class FisherSnedecor(_FisherSnedecor):
    """F distribution, f(x) = r^(df1/2) x^(df1/2 - 1) (1 + r x)^(-(df1 + df2)/2) / B(df1/2, df2/2), r = df1/df2."""

    def __init__(self, df1: Operand, df2: Operand) -> None: ...


class Frechet(_Frechet):
    """Fréchet distribution, f(x) = shape / scale z^(-shape - 1) exp(-z^(-shape)) with z = x / scale, for x > 0."""

    def __init__(self, shape: Operand, scale: Operand) -> None: ...


class Gamma(_Gamma):
    """Gamma distribution, f(x) = x^(shape - 1) exp(-x / scale) / (Γ(shape) scale^shape) for x >= 0."""

    @overload
    def __init__(self, shape: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, shape: Operand, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, shape: Operand, log_rate: Operand) -> None: ...

    @overload
    def __init__(self, *, shape: Operand, mean: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, sd: Operand) -> None: ...


class GeneralizedExtremeValue(_GeneralizedExtremeValue):
    """Generalized extreme value distribution, f(x) = t^(shape + 1) exp(-t) / scale with t = (1 + shape z)^(-1 / shape)."""

    def __init__(self, loc: Operand, scale: Operand, shape: Operand) -> None: ...


class GeneralizedLogistic(_GeneralizedLogistic):
    """Generalised logistic distribution of type I, f(x) = shape exp(-z) / (scale (1 + exp(-z))^(shape + 1))."""

    def __init__(self, shape: Operand, loc: Operand, scale: Operand) -> None: ...


class GeneralizedNormal(_GeneralizedNormal):
    """Generalized normal distribution, f(x) = exp(-|z|^power) / (2 scale Γ(1 + 1 / power)) with z = (x - loc) / scale."""

    def __init__(self, loc: Operand, scale: Operand, power: Operand) -> None: ...


class GeneralizedPareto(_GeneralizedPareto):
    """Generalized Pareto distribution, f(x) = (1 + shape z)^(-1 / shape - 1) / scale with z = (x - loc) / scale >= 0."""

    def __init__(self, loc: Operand, scale: Operand, shape: Operand) -> None: ...


class Geometric(_Geometric):
    """Geometric distribution, f(x) = p (1 - p)^x for x = 0, 1, ...: the failures before the first success."""

    @overload
    def __init__(self, p: Operand) -> None: ...

    @overload
    def __init__(self, *, logit: Operand) -> None: ...


class Gompertz(_Gompertz):
    """Gompertz distribution, f(x) = shape rate exp(rate x - shape (exp(rate x) - 1)) for x >= 0."""

    @overload
    def __init__(self, shape: Operand, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, shape: Operand, scale: Operand) -> None: ...


class Gumbel(_Gumbel):
    """Gumbel distribution of a maximum, f(x) = exp(-z - exp(-z)) / scale with z = (x - loc) / scale."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class HalfCauchy(_HalfCauchy):
    """Half-Cauchy distribution, f(x) = 2 / (pi scale (1 + (x / scale)^2)) for x >= 0."""

    def __init__(self, scale: Operand) -> None: ...


class HalfLogistic(_HalfLogistic):
    """Half-logistic distribution, f(x) = 2 σ(z) σ(-z) / scale with z = x / scale, for x >= 0: |X| for a logistic X."""

    def __init__(self, scale: Operand) -> None: ...


class HalfNormal(_HalfNormal):
    """Half-normal distribution, f(x) = exp(-(x / scale)^2 / 2) sqrt(2 / pi) / scale for x >= 0."""

    @overload
    def __init__(self, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, precision: Operand) -> None: ...


class HalfStudentT(_HalfStudentT):
    """Half-Student t distribution, f(x) = 2 (1 + z^2 / df)^(-(df + 1) / 2) / (B(df/2, 1/2) sqrt(df) scale) for x >= 0."""

    @overload
    def __init__(self, df: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, df: Operand, precision: Operand) -> None: ...


class HurdleGamma(_HurdleGamma):
    """Hurdle gamma distribution: 0 with the probability gate, otherwise x > 0 of a gamma distribution."""

    @overload
    def __init__(self, gate: Operand, shape: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, shape: Operand, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, mean: Operand, sd: Operand) -> None: ...


class HurdleLogNormal(_HurdleLogNormal):
    """Hurdle log-normal distribution: 0 with the probability gate, otherwise x > 0 of a log-normal distribution."""

    def __init__(self, gate: Operand, loc: Operand, scale: Operand) -> None: ...


class HurdleNegativeBinomial(_HurdleNegativeBinomial):
    """Hurdle negative binomial distribution: 0 with the probability gate, otherwise x = 1, 2, ... of that one."""

    @overload
    def __init__(self, gate: Operand, r: Operand, p: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, mean: Operand, dispersion: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, log_mean: Operand, dispersion: Operand) -> None: ...


class HurdlePoisson(_HurdlePoisson):
    """Hurdle Poisson distribution: 0 with the probability gate, otherwise x = 1, 2, ... of a Poisson distribution."""

    @overload
    def __init__(self, gate: Operand, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, log_rate: Operand) -> None: ...


class HyperbolicSecant(_HyperbolicSecant):
    """Hyperbolic secant distribution, f(x) = sech(z) / (pi scale) with z = (x - loc) / scale."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Hypergeometric(_Hypergeometric):
    """Hypergeometric distribution, f(x) = C(successes, x) C(failures, draws - x) / C(successes + failures, draws)."""

    @overload
    def __init__(self, successes: Operand, failures: Operand, draws: Operand) -> None: ...

    @overload
    def __init__(self, *, population: Operand, successes: Operand, draws: Operand) -> None: ...


class InverseChi2(_InverseChi2):
    """Inverse chi-squared distribution, f(x) = x^(-df/2 - 1) exp(-1 / (2 x)) / (2^(df/2) Γ(df/2)) for x > 0."""

    def __init__(self, df: Operand) -> None: ...


class InverseGamma(_InverseGamma):
    """Inverse gamma distribution, f(x) = scale^shape x^(-shape - 1) exp(-scale / x) / Γ(shape) for x > 0."""

    @overload
    def __init__(self, shape: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, sd: Operand) -> None: ...


class InverseGaussian(_InverseGaussian):
    """Inverse Gaussian distribution, f(x) = sqrt(shape / (2 pi x^3)) exp(-shape (x - mean)^2 / (2 mean^2 x)) for x > 0."""

    @overload
    def __init__(self, mean: Operand, shape: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, phi: Operand) -> None: ...


class JohnsonSB(_JohnsonSB):
    """Johnson's SB distribution, f(x) = delta w exp(-z^2 / 2) / (sqrt(2 pi) (x - low) (high - x)), w = high - low."""

    def __init__(self, gamma: Operand, delta: Operand, low: Operand, high: Operand) -> None: ...


class JohnsonSU(_JohnsonSU):
    """Johnson's SU distribution, f(x) = delta exp(-(gamma + delta arsinh z)^2 / 2) / (scale sqrt(2 pi (1 + z^2)))."""

    def __init__(self, loc: Operand, scale: Operand, gamma: Operand, delta: Operand) -> None: ...


class Kumaraswamy(_Kumaraswamy):
    """Kumaraswamy distribution, f(x) = a b x^(a - 1) (1 - x^a)^(b - 1) for 0 <= x <= 1."""

    def __init__(self, a: Operand, b: Operand) -> None: ...


class Laplace(_Laplace):
    """Laplace distribution, f(x) = exp(-|x - loc| / scale) / (2 scale); at its peak the derivatives in x and loc are 0."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Levy(_Levy):
    """Lévy distribution, f(x) = sqrt(scale / (2 pi)) (x - loc)^(-3/2) exp(-scale / (2 (x - loc))) for x > loc."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Lindley(_Lindley):
    """Lindley distribution, f(x) = shape^2 (1 + x) exp(-shape x) / (1 + shape) for x >= 0."""

    def __init__(self, shape: Operand) -> None: ...


class LogLaplace(_LogLaplace):
    """Log-Laplace distribution, f(x) = shape / (2 scale) z^(shape - 1) for z = x / scale < 1, z^(-shape - 1) above."""

    @overload
    def __init__(self, scale: Operand, shape: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale: Operand) -> None: ...


class LogLogistic(_LogLogistic):
    """Log-logistic distribution, f(x) = shape / scale z^(shape - 1) / (1 + z^shape)^2 with z = x / scale, for x >= 0."""

    @overload
    def __init__(self, scale: Operand, shape: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale: Operand) -> None: ...


class LogNormal(_LogNormal):
    """Log-normal distribution, f(x) = exp(-((log x - loc) / scale)^2 / 2) / (x scale sqrt(2 pi)) for x > 0."""

    @overload
    def __init__(self, loc: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, precision: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, sd: Operand) -> None: ...


class LogSeries(_LogSeries):
    """Logarithmic series distribution, f(x) = p^x / (-x log(1 - p)) for x = 1, 2, ..."""

    def __init__(self, p: Operand) -> None: ...


class LogUniform(_LogUniform):
    """Log-uniform distribution, f(x) = 1 / (x log(high / low)) for low <= x <= high."""

    def __init__(self, low: Operand, high: Operand) -> None: ...


class Logistic(_Logistic):
    """Logistic distribution, f(x) = σ(z) σ(-z) / scale with z = (x - loc) / scale and σ(z) = 1 / (1 + exp(-z))."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class LogitNormal(_LogitNormal):
    """Logit-normal distribution, f(x) = exp(-z^2 / 2) / (x (1 - x) scale sqrt(2 pi)), z = (logit(x) - loc) / scale."""

    @overload
    def __init__(self, loc: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, precision: Operand) -> None: ...


class Lomax(_Lomax):
    """Lomax distribution, f(x) = shape / scale (1 + z)^(-shape - 1) with z = (x - loc) / scale >= 0."""

    def __init__(self, loc: Operand, scale: Operand, shape: Operand) -> None: ...


class Maxwell(_Maxwell):
    """Maxwell distribution, f(x) = sqrt(2 / pi) x^2 / scale^3 exp(-(x / scale)^2 / 2) for x >= 0."""

    def __init__(self, scale: Operand) -> None: ...


class Moyal(_Moyal):
    """Moyal distribution, f(x) = exp(-(z + exp(-z)) / 2) / (scale sqrt(2 pi)) with z = (x - loc) / scale."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Nakagami(_Nakagami):
    """Nakagami distribution, f(x) = 2 (m / spread)^m x^(2 m - 1) exp(-m x^2 / spread) / Γ(m), m = shape, for x >= 0."""

    def __init__(self, shape: Operand, spread: Operand) -> None: ...


class NegativeBinomial(_NegativeBinomial):
    """Negative binomial distribution, f(x) = Γ(x + r) / (x! Γ(r)) p^r (1 - p)^x for x = 0, 1, ..."""

    @overload
    def __init__(self, r: Operand, p: Operand) -> None: ...

    @overload
    def __init__(self, *, r: Operand, q: Operand) -> None: ...

    @overload
    def __init__(self, *, r: Operand, log_odds: Operand) -> None: ...

    @overload
    def __init__(self, *, shape: Operand, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, dispersion: Operand) -> None: ...

    @overload
    def __init__(self, *, log_mean: Operand, dispersion: Operand) -> None: ...


class NoncentralBeta(_NoncentralBeta):
    """Noncentral beta distribution, f(x) = exp(-nc / 2) g(x) M(alpha + beta, alpha, nc x / 2) for 0 <= x <= 1."""

    def __init__(self, alpha: Operand, beta: Operand, nc: Operand) -> None: ...


class NoncentralChi2(_NoncentralChi2):
    """Noncentral chi-squared distribution, f(x) = exp(-(x + l) / 2) (x / l)^(v / 2) Iv(sqrt(l x)) / 2 for x >= 0."""

    def __init__(self, df: Operand, noncentrality: Operand) -> None: ...


class NoncentralFisherSnedecor(_NoncentralFisherSnedecor):
    """Noncentral F distribution, f(x) = exp(-nc / 2) g(x) M((dfn + dfd) / 2, dfn / 2, nc y / 2) for x >= 0."""

    def __init__(self, dfn: Operand, dfd: Operand, nc: Operand) -> None: ...


class NoncentralStudentT(_NoncentralStudentT):
    """Noncentral t distribution, f(x) = C(df) ∫ exp(-(z s - nc)^2 / 2 - df s^2 / 2) s^df ds / scale over s > 0."""

    def __init__(self, df: Operand, nc: Operand, loc: Operand = 0.0, scale: Operand = 1.0) -> None: ...


class Normal(_Normal):
    """Normal distribution, f(x) = exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi))."""

    @overload
    def __init__(self, loc: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, sd: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, variance: Operand) -> None: ...

    @overload
    def __init__(self, *, mean: Operand, precision: Operand) -> None: ...

    @overload
    def __init__(self, *, eta: Operand, precision: Operand) -> None: ...


class NormalInverseGaussian(_NormalInverseGaussian):
    """Normal-inverse Gaussian distribution, f(x) = alpha delta K1(alpha q) exp(delta g + beta d) / (pi q)."""

    def __init__(self, loc: Operand, alpha: Operand, beta: Operand, delta: Operand) -> None: ...


class Pareto(_Pareto):
    """Pareto distribution, f(x) = shape scale^shape x^(-shape - 1) for x >= scale."""

    def __init__(self, shape: Operand, scale: Operand) -> None: ...


class Pert(_Pert):
    """PERT distribution, f(x) = (x - low)^(a - 1) (high - x)^(b - 1) / (B(a, b) (high - low)^(a + b - 1))."""

    def __init__(self, low: Operand, high: Operand, peak: Operand, weight: Operand = 4.0) -> None: ...


class Poisson(_Poisson):
    """Poisson distribution, f(x) = rate^x exp(-rate) / x! for x = 0, 1, ..."""

    @overload
    def __init__(self, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, log_rate: Operand) -> None: ...


class PolyaGamma(_PolyaGamma):
    """Pólya-Gamma distribution, f(x) = cosh(z / 2)^b exp(-z^2 x / 2) g(x) for x > 0."""

    def __init__(self, b: Operand, z: Operand = 0.0) -> None: ...


class Rayleigh(_Rayleigh):
    """Rayleigh distribution, f(x) = x / scale^2 exp(-(x / scale)^2 / 2) for x >= 0."""

    def __init__(self, scale: Operand) -> None: ...


class RelaxedBernoulli(_RelaxedBernoulli):
    """Relaxed Bernoulli distribution, f(x) = t o (x (1 - x))^(t - 1) / (o (1 - x)^t + x^t)^2 for 0 <= x <= 1."""

    @overload
    def __init__(self, temperature: Operand, p: Operand) -> None: ...

    @overload
    def __init__(self, *, temperature: Operand, logit: Operand) -> None: ...


class Rice(_Rice):
    """Rice distribution, f(x) = x / scale^2 exp(-(x^2 + nu^2) / (2 scale^2)) I0(x nu / scale^2) for x >= 0."""

    @overload
    def __init__(self, nu: Operand, scale: Operand) -> None: ...

    @overload
    def __init__(self, *, b: Operand, scale: Operand) -> None: ...


class ScaledInverseChi2(_ScaledInverseChi2):
    """Scaled inverse chi-squared distribution, f(x) = (h s^2)^h x^(-h - 1) exp(-h s^2 / x) / Γ(h) with h = df/2, x > 0."""

    def __init__(self, df: Operand, scale: Operand) -> None: ...


class Semicircle(_Semicircle):
    """Semicircle distribution, f(x) = 2 sqrt(radius^2 - x^2) / (pi radius^2) for -radius <= x <= radius."""

    def __init__(self, radius: Operand) -> None: ...


class Skellam(_Skellam):
    """Skellam distribution, f(x) = exp(-rate1 - rate2) (rate1 / rate2)^(x / 2) I|x|(2 sqrt(rate1 rate2)), x whole."""

    def __init__(self, rate1: Operand, rate2: Operand) -> None: ...


class SkewNormal(_SkewNormal):
    """Skew normal distribution, f(x) = 2 phi(z) Phi(shape z) / scale with z = (x - loc) / scale."""

    @overload
    def __init__(self, loc: Operand, scale: Operand, shape: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, precision: Operand, shape: Operand) -> None: ...


class SkewedExponentialPower(_SkewedExponentialPower):
    """Skewed exponential power distribution, f(x) = exp(-|z|^power / power) / (2 scale power^(1/power) Γ(1 + 1/power))."""

    def __init__(self, loc: Operand, scale: Operand, power: Operand, skew: Operand) -> None: ...


class Soliton(_Soliton):
    """Robust soliton distribution, f(x) = (r(x) + t(x)) / (1 + sum of t) for x = 1, ..., k."""

    def __init__(self, k: Operand, m: Operand, delta: Operand) -> None: ...


class StudentT(_StudentT):
    """Student's t distribution, f(x) = (1 + z^2 / df)^(-(df + 1) / 2) / (B(df / 2, 1/2) sqrt(df) scale)."""

    @overload
    def __init__(self, df: Operand, loc: Operand = 0.0, scale: Operand = 1.0) -> None: ...

    @overload
    def __init__(self, *, df: Operand, loc: Operand, precision: Operand) -> None: ...


class SymmetricTriangular(_SymmetricTriangular):
    """Symmetric triangular distribution, f(x) = (1 - |z|) / scale with z = (x - loc) / scale, for -1 <= z <= 1."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class Triangular(_Triangular):
    """Triangular distribution: f(x) rises in a line from 0 at low to 2 / (high - low) at peak, and falls to 0 at high."""

    def __init__(self, low: Operand, high: Operand, peak: Operand) -> None: ...


class Triweight(_Triweight):
    """Triweight distribution, f(x) = 35 / (32 scale) (1 - z^2)^3 with z = (x - loc) / scale, for -1 <= z <= 1."""

    def __init__(self, loc: Operand, scale: Operand) -> None: ...


class TruncatedCauchy(_TruncatedCauchy):
    """Truncated Cauchy distribution, f(x) = 1 / (angle scale (1 + z^2)) for low <= x <= high."""

    def __init__(self, loc: Operand, scale: Operand, low: Operand, high: Operand) -> None: ...


class TruncatedNormal(_TruncatedNormal):
    """Truncated normal distribution, f(x) = phi(z) / (scale (Phi(z_high) - Phi(z_low))) for low <= x <= high."""

    def __init__(self, loc: Operand, scale: Operand, low: Operand, high: Operand) -> None: ...


class Uniform(_Uniform):
    """Uniform distribution, f(x) = 1 / (high - low) for low <= x <= high."""

    def __init__(self, low: Operand, high: Operand) -> None: ...


class VonMises(_VonMises):
    """Von Mises distribution on the circle, f(x) = exp(concentration cos(x - loc)) / (2 pi I0(concentration))."""

    def __init__(self, loc: Operand, concentration: Operand) -> None: ...


class Weibull(_Weibull):
    """Weibull distribution, f(x) = shape / scale z^(shape - 1) exp(-z^shape) with z = x / scale, for x >= 0."""

    def __init__(self, shape: Operand, scale: Operand) -> None: ...


class WienerFirstPassage(_WienerFirstPassage):
    """Wiener first passage time, f(x) = exp(delta w - delta^2 t / 2) K(t / alpha^2, w / alpha) / alpha^2 for x > tau."""

    def __init__(self, alpha: Operand, tau: Operand, beta: Operand, delta: Operand) -> None: ...


class YuleSimon(_YuleSimon):
    """Yule-Simon distribution, f(x) = alpha B(x, alpha + 1) for x = 1, 2, ..."""

    def __init__(self, alpha: Operand) -> None: ...


class ZeroInflatedBinomial(_ZeroInflatedBinomial):
    """Zero-inflated binomial distribution: 0 with the probability gate, otherwise a binomially distributed x."""

    @overload
    def __init__(self, gate: Operand, n: Operand, p: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, n: Operand, logit: Operand) -> None: ...


class ZeroInflatedNegativeBinomial(_ZeroInflatedNegativeBinomial):
    """Zero-inflated negative binomial distribution: 0 with the probability gate, otherwise x = 0, 1, ... of that one."""

    @overload
    def __init__(self, gate: Operand, r: Operand, p: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, mean: Operand, dispersion: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, log_mean: Operand, dispersion: Operand) -> None: ...


class ZeroInflatedPoisson(_ZeroInflatedPoisson):
    """Zero-inflated Poisson distribution: 0 with the probability gate, otherwise a Poisson distributed x."""

    @overload
    def __init__(self, gate: Operand, rate: Operand) -> None: ...

    @overload
    def __init__(self, *, gate: Operand, log_rate: Operand) -> None: ...


class Zipf(_Zipf):
    """Zipf distribution, f(x) = x^(-power) / zeta(power) for x = 1, 2, ..."""

    def __init__(self, power: Operand) -> None: ...
