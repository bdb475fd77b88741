"""Lazy log densities, fused with their gradients into one kernel."""

from vecdist.array import LazyArray, lazy
from vecdist.compiled import Compiled, compile  # noqa: A004
from vecdist.derivatives import hessian, hvp, jvp, value_and_grad, value_and_partials, vjp
from vecdist.explain import explain
from vecdist.pipeline import InvalidParameter
from vecdist.vectorize import Vectorize, logpdf, logpmf

__version__ = "0.1.0"

__all__ = [
    "Compiled",
    "InvalidParameter",
    "LazyArray",
    "Vectorize",
    "compile",
    "explain",
    "hessian",
    "hvp",
    "jvp",
    "lazy",
    "logpdf",
    "logpmf",
    "value_and_grad",
    "value_and_partials",
    "vjp",
]
