"""Lazy log densities, fused with their gradients into one kernel."""

import vecdist.inspect.notebook
import vecdist.lazy.numpy_functions  # noqa: F401 (what NumPy's functions are of lazy arrays)
from vecdist import distributions as distributions
from vecdist import linalg as linalg
from vecdist import parameters as parameters
from vecdist import random as random
from vecdist.inspect.explain import explain
from vecdist.interop.converters import from_numpyro, from_pymc, from_scipy, from_stan
from vecdist.lazy.array import LazyArray, data, lazy
from vecdist.lazy.compiled import Compiled, compile  # noqa: A004
from vecdist.lazy.derivatives import hessian, hvp, jvp, value_and_grad, value_and_partials, vjp
from vecdist.lazy.exits import LostDerivative
from vecdist.model.logdensity import LogDensity
from vecdist.runtime.cache import clear_cache
from vecdist.runtime.pipeline import InvalidIndex, InvalidParameter
from vecdist.verbs.density import Vectorize, logpdf, logpmf
from vecdist.verbs.draws import sample
from vecdist.verbs.tails_and_moments import cdf, entropy, logcdf, logsf, mean, median, mode, ppf, sf, variance
from vecdist.wrappers import (
    affine,
    censored,
    discretised,
    folded,
    hurdle,
    iid,
    interval_censored,
    transformed,
    truncated,
    zero_inflated,
)
from vecdist.wrappers.mixture import log_mix, log_softmax, logsumexp, mixture, softmax

__version__ = "0.1.0"

__all__ = [
    "Compiled",
    "InvalidIndex",
    "InvalidParameter",
    "LazyArray",
    "LogDensity",
    "LostDerivative",
    "Vectorize",
    "affine",
    "cdf",
    "censored",
    "clear_cache",
    "compile",
    "data",
    "discretised",
    "entropy",
    "explain",
    "folded",
    "from_numpyro",
    "from_pymc",
    "from_scipy",
    "from_stan",
    "hessian",
    "hurdle",
    "hvp",
    "iid",
    "interval_censored",
    "jvp",
    "lazy",
    "log_mix",
    "log_softmax",
    "logcdf",
    "logpdf",
    "logpmf",
    "logsf",
    "logsumexp",
    "mean",
    "median",
    "mixture",
    "mode",
    "ppf",
    "sample",
    "sf",
    "softmax",
    "transformed",
    "truncated",
    "value_and_grad",
    "value_and_partials",
    "variance",
    "vjp",
    "zero_inflated",
]
