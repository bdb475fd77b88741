"""Families of distributions, one file each: a command writes the lines that import them."""

# ruff: noqa: F401 (what is imported is public)

from typing import Any

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.
from vecdist.distributions.arcsine import Arcsine
from vecdist.distributions.asymmetric_laplace import AsymmetricLaplace
from vecdist.distributions.base import FAMILIES, Distribution, parametrisation
from vecdist.distributions.bernoulli import Bernoulli
from vecdist.distributions.beta import Beta
from vecdist.distributions.beta_binomial import BetaBinomial
from vecdist.distributions.beta_negative_binomial import BetaNegativeBinomial
from vecdist.distributions.beta_prime import BetaPrime
from vecdist.distributions.binomial import Binomial
from vecdist.distributions.biweight import Biweight
from vecdist.distributions.cauchy import Cauchy
from vecdist.distributions.chi import Chi
from vecdist.distributions.chi2 import Chi2
from vecdist.distributions.continuous_bernoulli import ContinuousBernoulli
from vecdist.distributions.cosine import Cosine
from vecdist.distributions.dirac import Dirac
from vecdist.distributions.discrete_uniform import DiscreteUniform
from vecdist.distributions.discrete_weibull import DiscreteWeibull
from vecdist.distributions.epanechnikov import Epanechnikov
from vecdist.distributions.erlang import Erlang
from vecdist.distributions.ex_gaussian import ExGaussian
from vecdist.distributions.exponential import Exponential
from vecdist.distributions.fisher_snedecor import FisherSnedecor
from vecdist.distributions.frechet import Frechet
from vecdist.distributions.gamma import Gamma
from vecdist.distributions.generalized_extreme_value import GeneralizedExtremeValue
from vecdist.distributions.generalized_normal import GeneralizedNormal
from vecdist.distributions.generalized_pareto import GeneralizedPareto
from vecdist.distributions.geometric import Geometric
from vecdist.distributions.gompertz import Gompertz
from vecdist.distributions.gumbel import Gumbel
from vecdist.distributions.half_cauchy import HalfCauchy
from vecdist.distributions.half_normal import HalfNormal
from vecdist.distributions.half_student_t import HalfStudentT
from vecdist.distributions.hurdle_gamma import HurdleGamma
from vecdist.distributions.hurdle_log_normal import HurdleLogNormal
from vecdist.distributions.hurdle_negative_binomial import HurdleNegativeBinomial
from vecdist.distributions.hurdle_poisson import HurdlePoisson
from vecdist.distributions.hypergeometric import Hypergeometric
from vecdist.distributions.inverse_chi2 import InverseChi2
from vecdist.distributions.inverse_gamma import InverseGamma
from vecdist.distributions.inverse_gaussian import InverseGaussian
from vecdist.distributions.johnson_su import JohnsonSU
from vecdist.distributions.kumaraswamy import Kumaraswamy
from vecdist.distributions.laplace import Laplace
from vecdist.distributions.levy import Levy
from vecdist.distributions.lindley import Lindley
from vecdist.distributions.log_logistic import LogLogistic
from vecdist.distributions.log_normal import LogNormal
from vecdist.distributions.log_uniform import LogUniform
from vecdist.distributions.logistic import Logistic
from vecdist.distributions.logit_normal import LogitNormal
from vecdist.distributions.lomax import Lomax
from vecdist.distributions.moyal import Moyal
from vecdist.distributions.negative_binomial import NegativeBinomial
from vecdist.distributions.noncentral_chi2 import NoncentralChi2
from vecdist.distributions.normal import Normal
from vecdist.distributions.normal_inverse_gaussian import NormalInverseGaussian
from vecdist.distributions.pareto import Pareto
from vecdist.distributions.poisson import Poisson
from vecdist.distributions.rayleigh import Rayleigh
from vecdist.distributions.relaxed_bernoulli import RelaxedBernoulli
from vecdist.distributions.rice import Rice
from vecdist.distributions.scaled_inverse_chi2 import ScaledInverseChi2
from vecdist.distributions.semicircle import Semicircle
from vecdist.distributions.skellam import Skellam
from vecdist.distributions.skew_normal import SkewNormal
from vecdist.distributions.skewed_exponential_power import SkewedExponentialPower
from vecdist.distributions.soliton import Soliton
from vecdist.distributions.student_t import StudentT
from vecdist.distributions.symmetric_triangular import SymmetricTriangular
from vecdist.distributions.triangular import Triangular
from vecdist.distributions.triweight import Triweight
from vecdist.distributions.truncated_cauchy import TruncatedCauchy
from vecdist.distributions.truncated_normal import TruncatedNormal
from vecdist.distributions.uniform import Uniform
from vecdist.distributions.von_mises import VonMises
from vecdist.distributions.weibull import Weibull
from vecdist.distributions.yule_simon import YuleSimon
from vecdist.distributions.zero_inflated_binomial import ZeroInflatedBinomial
from vecdist.distributions.zero_inflated_negative_binomial import ZeroInflatedNegativeBinomial
from vecdist.distributions.zero_inflated_poisson import ZeroInflatedPoisson
from vecdist.distributions.zipf import Zipf


def __getattr__(name: str) -> Any:
    """Families of vectors, which are made of what is here, and ``__all__`` with them."""
    from vecdist.multivariate import MULTIVARIATE

    if name == "__all__":
        return ["FAMILIES", "Distribution", "parametrisation", *sorted([*FAMILIES, *MULTIVARIATE])]
    if name in MULTIVARIATE:
        return MULTIVARIATE[name]
    raise AttributeError(f"there is no family {name}; there are {', '.join(sorted([*FAMILIES, *MULTIVARIATE]))}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
