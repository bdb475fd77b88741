"""Log densities with their partial derivatives, computed by the reference interpreter: no compilation."""

import numpy as np

from vecdist import logpdf
from vecdist.backends.interpreter import interpret
from vecdist.leaves import find_leaf
from vecdist.passes.bind import bind
from vecdist.passes.checks import split_checks
from vecdist.passes.differentiate import partials


def value_and_partials(expr, wrt):
    """The value of ``expr`` and its partial derivative in each array of ``wrt``."""
    bound = bind((expr.node, *map(find_leaf, wrt)))
    (value, *leaves), _ = split_checks(bound.roots)
    found = interpret((value, *partials(value, leaves)), [leaf.array for leaf in bound.leaves], bound.lengths)
    value, *derivatives = (array.reshape(expr.shape) for array in found)
    return value, derivatives


def density(family, names, x, parameters, dtype=np.float64):
    """The log density of a family at ``x``, and its partial derivatives in ``x`` and in each parameter."""
    x, *parameters = (np.array(v, dtype) for v in (x, *parameters))
    expr = logpdf(family(**dict(zip(names, parameters, strict=True))), x)
    return value_and_partials(expr, [x, *parameters])
