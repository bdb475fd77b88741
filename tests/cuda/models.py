"""Kernels for the GPU: densities with their gradients, and every shape of loop nest."""

import numpy as np

from vecdist import lazy, logpdf
from vecdist.distributions import Gamma, NegativeBinomial, Normal
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values

POINTS, ROWS = np.linspace(0.5, 3.0, 12), np.linspace(0.5, 3.0, 12).reshape(3, 4)


def density(family):
    """The log density at each point, and in how many scalars it is differentiated."""
    return lambda x, a, b: (logpdf(family(a, b), x), (a, b))


MODELS = {
    "Normal": density(Normal),
    "Gamma": density(Gamma),
    "NegativeBinomial": density(lambda a, b: NegativeBinomial(mean=a, dispersion=b)),
}
NESTS = {
    "row sums": lambda x: (lazy(x) * 2.0).sum(axis=1),
    "row sums used again": lambda x: lazy(x) - np.log(np.exp(lazy(x)).sum(axis=1, keepdims=True)),
    "sum used again": lambda x: (lazy(x) - lazy(x).mean()) ** 2,
    "running sums": lambda x: lazy(x).cumsum(1),
    "column sums used again": lambda x: lazy(x) - lazy(x).sum(axis=0),
}


def model_kernel(name, dtype, summed):
    """The kernel of a model: every density, or their sum with its gradient."""
    x, a, b = POINTS.astype(dtype), np.array(0.75, dtype), np.array(1.5, dtype)
    each, wrt = MODELS[name](np.floor(x) if name == "NegativeBinomial" else x, a, b)
    if not summed:
        return lower(bind((each.node,)), values, "raise", Cuda)[1]
    return lower(bind((each.sum().node, *map(leaf, wrt))), gradient_of, "raise", Cuda)[1]


def nest_kernel(name, dtype):
    """The kernel of a loop nest."""
    return lower(bind((NESTS[name](ROWS.astype(dtype)).node,)), values, "raise", Cuda)[1]
