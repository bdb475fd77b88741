"""Logarithms of sums of exponentials, and the mixtures that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.array import LazyArray, lazy, operands
from vecdist.distributions.base import Compound, Distribution
from vecdist.expr import Node, cast
from vecdist.primitives.reductions import along, reduced
from vecdist.primitives.structure import drop_axes
from vecdist.shapes import broadcast
from vecdist.vectorize import logpdf


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> LazyArray:
    """The logarithm of the sum of exponentials over ``axis``, log sum_i exp(x_i), without overflow.

    Every axis where ``axis`` is left out; the result has the dtype of ``x``, float64 for integers.  An empty sum is
    -inf.  Its derivative in ``x_i`` is ``exp(x_i - logsumexp(x))``, 0 where every ``x_i`` is -inf.  Raises
    ``ValueError`` for an axis that does not exist.  After P. Blanchard, D. J. Higham and N. J. Higham, "Accurately
    computing the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41 (2021), equation (1.3).

    >>> import numpy as np, vecdist
    >>> float(vecdist.logsumexp(np.log([1.0, 2.0, 3.0])) - np.log(6.0))
    0.0
    """
    node, axes = _floats(x), LazyArray(_floats(x)).axes(axis)
    if any(node.shape[each] == 0 for each in axes):
        total = LazyArray(node).sum(tuple(axes), keepdims=True) - np.inf
    else:
        total = LazyArray(reduced("logsumexp", node, axes))
    return total if keepdims else LazyArray(drop_axes(total.node, axes))


def softmax(x: Any, axis: Any = -1) -> LazyArray:
    """Exponentials as parts of their sum over ``axis``, exp(x_i - logsumexp(x)), of the shape of ``x``.

    Raises ``ValueError`` for an axis that does not exist.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.softmax(np.log([1.0, 3.0]))).round(12)
    array([0.25, 0.75])
    """
    return _along("softmax", x, axis)


def log_softmax(x: Any, axis: Any = -1) -> LazyArray:
    """The logarithm of ``softmax``, x_i - logsumexp(x), of the shape of ``x``.

    Raises ``ValueError`` for an axis that does not exist.

    >>> import numpy as np, vecdist
    >>> np.exp(np.asarray(vecdist.log_softmax(np.log([1.0, 3.0])))).round(12)
    array([0.25, 0.75])
    """
    return _along("log_softmax", x, axis)


def _along(op: str, x: Any, axis: Any) -> LazyArray:
    node, axes = _floats(x), LazyArray(_floats(x)).axes(axis)
    return LazyArray(along(op, node, axes) if axes and 0 not in node.shape else node)


def _floats(x: Any) -> Node:
    (node,) = operands(x)
    return node if node.dtype.kind == "f" else cast(node, np.float64)


def log_mix(log_weights: Any, log_densities: Any, axis: Any = -1) -> LazyArray:
    """The log density of a mixture, log sum_k exp(log w_k + log f_k), the components along ``axis``.

    Raises ``ValueError`` where the shapes do not broadcast, or for an axis that does not exist.

    >>> import numpy as np, vecdist
    >>> round(float(np.exp(vecdist.log_mix(np.log([0.25, 0.75]), np.log([0.4, 0.8])))), 12)
    0.7
    """
    return logsumexp(lazy(log_weights) + log_densities, axis)


@final
@dataclass(frozen=True)
class Mixture(Compound):
    """What ``mixture`` gives: a distribution for ``logpdf``."""

    weights: Any
    components: Distribution

    def logpdf(self, x: Any) -> LazyArray:
        """The log density at ``x``, whose elements each component is asked for; a component of weight 0 has no part."""
        weights = lazy(self.weights)
        log_weights = np.where(weights == 0, -np.inf, np.log(weights))
        return log_mix(log_weights, logpdf(self.components, lazy(x)[..., None]))


def mixture(weights: Any, components: Distribution) -> Mixture:
    """The mixture sum_k w_k f_k of the components along the last axis of ``components``, for ``logpdf``.

    ``weights`` are probabilities along the last axis, whose sum is not checked; with a weight of 0 its component takes
    no part.  Raises ``TypeError`` where ``components`` is no distribution, ``ValueError`` where the numbers of weights
    and of components differ.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> two = vecdist.mixture(np.array([0.5, 0.5]), Normal(np.array([-1.0, 1.0]), 1.0))
    >>> np.asarray(vecdist.logpdf(two, np.array([0.0, 2.0]))).round(4)
    array([-1.4189, -2.0939])
    """
    if not isinstance(components, Distribution):
        raise TypeError(f"mixture wants a distribution of all components, given {type(components).__name__}")
    shape = broadcast(np.shape(parameter) for parameter in components.parameters.values())
    if not np.shape(weights) or (shape and np.shape(weights)[-1] != shape[-1]):
        raise ValueError(f"mixture of weights of shape {np.shape(weights)} and components of shape {shape}")
    return Mixture(weights, components)
