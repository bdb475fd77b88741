"""Lazy log densities, fused with their gradients into one kernel."""

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.

from vecdist import distributions as distributions, linalg as linalg, parameters as parameters, random as random
from vecdist.device import device_function as device_function
from vecdist.functions.function import function as function
from vecdist.inspect.explain import explain as explain
from vecdist.interop.converters import from_numpyro as from_numpyro, from_pymc as from_pymc, from_scipy as from_scipy, from_stan as from_stan
from vecdist.lazy.accumulating import logcumsumexp as logcumsumexp
from vecdist.lazy.array import LazyArray as LazyArray, data as data, lazy as lazy
from vecdist.lazy.chunks import chunked as chunked
from vecdist.lazy.compiled import Compiled as Compiled, compile as compile
from vecdist.lazy.derivatives import hessian as hessian, hessian_diagonal as hessian_diagonal, hvp as hvp, jacobian as jacobian, jvp as jvp, value_and_grad as value_and_grad, value_and_partials as value_and_partials, vjp as vjp
from vecdist.lazy.devices import devices as devices
from vecdist.lazy.exits import LostDerivative as LostDerivative
from vecdist.lazy.external import external as external
from vecdist.lazy.scan import scan as scan
from vecdist.lazy.scattering import add_at as add_at
from vecdist.model.logdensity import LogDensity as LogDensity
from vecdist.runtime.cache import clear_cache as clear_cache
from vecdist.runtime.pipeline import InvalidIndex as InvalidIndex, InvalidMatrix as InvalidMatrix, InvalidParameter as InvalidParameter
from vecdist.verbs.density import Vectorize as Vectorize, logpdf as logpdf, logpmf as logpmf, pdf as pdf, pmf as pmf
from vecdist.verbs.divergences import cross_entropy as cross_entropy, kl_divergence as kl_divergence
from vecdist.verbs.draws import sample as sample
from vecdist.verbs.information import fisher_information as fisher_information, score as score
from vecdist.verbs.intervals import interval as interval, isf as isf, logdiffcdf as logdiffcdf
from vecdist.verbs.tails_and_moments import cdf as cdf, entropy as entropy, logcdf as logcdf, logsf as logsf, mean as mean, median as median, mode as mode, ppf as ppf, sf as sf, std as std, variance as variance
from vecdist.wrappers import affine as affine, censored as censored, discretised as discretised, folded as folded, hurdle as hurdle, iid as iid, interval_censored as interval_censored, powered as powered, transformed as transformed, truncated as truncated, zero_inflated as zero_inflated
from vecdist.wrappers.mixture import log_mix as log_mix, log_softmax as log_softmax, logsumexp as logsumexp, mixture as mixture, softmax as softmax


__version__: str


__all__ = [
    "Compiled",
    "InvalidIndex",
    "InvalidMatrix",
    "InvalidParameter",
    "LazyArray",
    "LogDensity",
    "LostDerivative",
    "Vectorize",
    "add_at",
    "affine",
    "cdf",
    "censored",
    "chunked",
    "clear_cache",
    "compile",
    "cross_entropy",
    "data",
    "device_function",
    "devices",
    "discretised",
    "entropy",
    "explain",
    "external",
    "fisher_information",
    "folded",
    "from_numpyro",
    "from_pymc",
    "from_scipy",
    "from_stan",
    "function",
    "hessian",
    "hessian_diagonal",
    "hurdle",
    "hvp",
    "iid",
    "interval",
    "interval_censored",
    "isf",
    "jacobian",
    "jvp",
    "kl_divergence",
    "lazy",
    "log_mix",
    "log_softmax",
    "logcdf",
    "logcumsumexp",
    "logdiffcdf",
    "logpdf",
    "logpmf",
    "logsf",
    "logsumexp",
    "mean",
    "median",
    "mixture",
    "mode",
    "pdf",
    "pmf",
    "powered",
    "ppf",
    "sample",
    "scan",
    "score",
    "sf",
    "softmax",
    "std",
    "transformed",
    "truncated",
    "value_and_grad",
    "value_and_partials",
    "variance",
    "vjp",
    "zero_inflated",
]
