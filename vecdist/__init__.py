"""Lazy log densities, fused with their gradients into one kernel."""

from vecdist.array import LazyArray, data, lazy
from vecdist.compiled import Compiled, compile  # noqa: A004
from vecdist.derivatives import hessian, hvp, jvp, value_and_grad, value_and_partials, vjp
from vecdist.explain import explain
from vecdist.mixtures import log_mix, log_softmax, logsumexp, mixture, softmax
from vecdist.pipeline import InvalidIndex, InvalidParameter
from vecdist.vectorize import Vectorize, logpdf, logpmf

__version__ = "0.1.0"

__all__ = [
    "Compiled",
    "InvalidIndex",
    "InvalidParameter",
    "LazyArray",
    "Vectorize",
    "compile",
    "data",
    "explain",
    "hessian",
    "hvp",
    "jvp",
    "lazy",
    "log_mix",
    "log_softmax",
    "logpdf",
    "logpmf",
    "logsumexp",
    "mixture",
    "softmax",
    "value_and_grad",
    "value_and_partials",
    "vjp",
]
