"""Lazy log densities, fused with their gradients into one kernel."""

import vecdist.lazy  # noqa: F401 (before the function of that name, which takes its place)
from vecdist import names

__version__ = "0.1.0"

_WHERE = {
    "Compiled": "vecdist.lazy.compiled",
    "InvalidIndex": "vecdist.runtime.pipeline",
    "InvalidParameter": "vecdist.runtime.pipeline",
    "LazyArray": "vecdist.lazy.array",
    "LogDensity": "vecdist.model.logdensity",
    "LostDerivative": "vecdist.lazy.exits",
    "Vectorize": "vecdist.verbs.density",
    "affine": "vecdist.wrappers",
    "cdf": "vecdist.verbs.tails_and_moments",
    "censored": "vecdist.wrappers",
    "clear_cache": "vecdist.runtime.cache",
    "compile": "vecdist.lazy.compiled",
    "data": "vecdist.lazy.array",
    "device_function": "vecdist.device",
    "discretised": "vecdist.wrappers",
    "entropy": "vecdist.verbs.tails_and_moments",
    "explain": "vecdist.inspect.explain",
    "folded": "vecdist.wrappers",
    "from_numpyro": "vecdist.interop.converters",
    "from_pymc": "vecdist.interop.converters",
    "from_scipy": "vecdist.interop.converters",
    "from_stan": "vecdist.interop.converters",
    "hessian": "vecdist.lazy.derivatives",
    "hurdle": "vecdist.wrappers",
    "hvp": "vecdist.lazy.derivatives",
    "iid": "vecdist.wrappers",
    "interval_censored": "vecdist.wrappers",
    "jvp": "vecdist.lazy.derivatives",
    "lazy": "vecdist.lazy.array",
    "log_mix": "vecdist.wrappers.mixture",
    "log_softmax": "vecdist.wrappers.mixture",
    "logcdf": "vecdist.verbs.tails_and_moments",
    "logpdf": "vecdist.verbs.density",
    "logpmf": "vecdist.verbs.density",
    "logsf": "vecdist.verbs.tails_and_moments",
    "logsumexp": "vecdist.wrappers.mixture",
    "mean": "vecdist.verbs.tails_and_moments",
    "median": "vecdist.verbs.tails_and_moments",
    "mixture": "vecdist.wrappers.mixture",
    "mode": "vecdist.verbs.tails_and_moments",
    "ppf": "vecdist.verbs.tails_and_moments",
    "sample": "vecdist.verbs.draws",
    "scan": "vecdist.lazy.scan",
    "sf": "vecdist.verbs.tails_and_moments",
    "softmax": "vecdist.wrappers.mixture",
    "transformed": "vecdist.wrappers",
    "truncated": "vecdist.wrappers",
    "value_and_grad": "vecdist.lazy.derivatives",
    "value_and_partials": "vecdist.lazy.derivatives",
    "variance": "vecdist.verbs.tails_and_moments",
    "vjp": "vecdist.lazy.derivatives",
    "zero_inflated": "vecdist.wrappers",
}

__getattr__, __dir__, __all__ = names.found_later(__name__, _WHERE)
globals().pop("lazy", None)
