"""Logarithms of sums of exponentials, and the mixtures that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final, overload

import numpy as np

from vecdist.distributions.base import Compound, Distribution
from vecdist.graph.node import Node, cast
from vecdist.graph.shapes import Lengths, broadcast
from vecdist.lazy.array import Axes, LazyArray, Operand, as_lazy, operands
from vecdist.multivariate.events import chosen, place_of
from vecdist.primitives.reductions import along, reduced
from vecdist.primitives.structure import drop_axes, full
from vecdist.random import fold_in, lengths, uniform
from vecdist.verbs import tails_and_moments as verbs
from vecdist.verbs.density import as_floats, logpdf
from vecdist.verbs.draws import sample
from vecdist.verbs.intervals import logdiffcdf


def logsumexp(x: Operand, axis: Axes = None, keepdims: bool = False) -> LazyArray:
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


def softmax(x: Operand, axis: Axes = -1) -> LazyArray:
    """Exponentials as parts of their sum over ``axis``, exp(x_i - logsumexp(x)), of the shape of ``x``.

    Parts are 0 where they are below 2e-38 of the largest in float32, or 4e-308 in float64, next to subnormal numbers.
    Raises ``ValueError`` for an axis that does not exist.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.softmax(np.log([1.0, 3.0]))).round(12)
    array([0.25, 0.75])
    """
    return _along("softmax", x, axis)


def log_softmax(x: Operand, axis: Axes = -1) -> LazyArray:
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


@overload
def log_mix(log_weights: Operand, log_densities: Operand, axis: Axes = -1) -> LazyArray: ...


@overload
def log_mix(theta: Operand, log_density_1: Operand, log_density_2: Operand, /) -> LazyArray: ...


def log_mix(log_weights: Operand, log_densities: Operand, axis: Any = -1) -> LazyArray:
    """The log density of a mixture, log sum_k exp(log w_k + log f_k), the components along ``axis``.

    Of two components, Stan's ``log_mix(theta, l_1, l_2)``: log(theta exp(l_1) + (1 - theta) exp(l_2)) of a probability
    theta, elementwise; its derivatives are right where theta is 0 or 1.  (Of vectors, Stan takes weights, not their
    logarithms.)  Raises ``ValueError`` where the shapes do not broadcast, or for an axis that does not exist.

    >>> import numpy as np, vecdist
    >>> round(float(np.exp(vecdist.log_mix(np.log([0.25, 0.75]), np.log([0.4, 0.8])))), 12)
    0.7
    >>> round(float(np.exp(vecdist.log_mix(0.25, np.log(0.4), np.log(0.8)))), 12)
    0.7
    """
    if not _is_axis(axis):
        weights = np.stack([as_lazy(log_weights), 1.0 - as_lazy(log_weights)], -1)
        return _log_of_sum(as_lazy(weights), as_lazy(np.stack(np.broadcast_arrays(as_lazy(log_densities), axis), -1)))
    joint = as_lazy(log_weights) + log_densities
    if not joint.ndim:
        raise ValueError(
            "log_mix takes arrays with the components along an axis, log_mix(np.stack([log_w1, log_w2]), "
            "np.stack([l1, l2])), or of two components log_mix(theta, l1, l2), with a probability theta"
        )
    return logsumexp(joint, axis)


def _is_axis(value: Any) -> bool:
    """Whether a value names axes, rather than being a log density."""
    if isinstance(value, tuple | list):
        return all(map(_is_axis, value))
    return value is None or isinstance(value, int | np.integer)


def _log_of_sum(weights: LazyArray, logarithms: LazyArray) -> LazyArray:
    """log sum_k w_k exp(l_k); the derivative in a weight of 0, whose logarithm has none, comes of a last term."""
    absent = weights == 0
    total = logsumexp(as_lazy(np.where(absent, -np.inf, np.log(weights))) + logarithms, -1)
    format_ = np.finfo(total.dtype)
    excess = np.where(logarithms < np.inf, logarithms - np.maximum(total, format_.min)[..., None], 0.0)
    share = np.exp(np.minimum(excess, np.log(format_.max) - 1.0))
    return total + np.where(absent, weights * share, 0.0).sum(axis=-1)


@final
@dataclass(frozen=True)
class Mixture(Compound):
    """What ``mixture`` gives: a distribution for the verbs, but for quantiles, ``entropy``, ``mode`` and ``median``."""

    weights: Operand
    components: Distribution

    def logpdf(self, x: Operand) -> LazyArray:
        """The log density at ``x``, whose elements each component is asked for; a component of weight 0 has no part."""
        return self._log_sum(logpdf(self.components, _each(x)))

    def cdf(self, x: Operand) -> LazyArray:
        return self._sum(verbs.cdf(self.components, _each(x)))

    def sf(self, x: Operand) -> LazyArray:
        return self._sum(verbs.sf(self.components, _each(x)))

    def logcdf(self, x: Operand) -> LazyArray:
        return _from_the_less(self._log_sum(verbs.logcdf(self.components, _each(x))), self.sf(x))

    def logsf(self, x: Operand) -> LazyArray:
        return _from_the_less(self._log_sum(verbs.logsf(self.components, _each(x))), self.cdf(x))

    def logdiffcdf(self, lower: Operand, upper: Operand) -> LazyArray:
        return self._log_sum(logdiffcdf(self.components, _each(lower), _each(upper)))

    def mean(self) -> LazyArray:
        return self._sum(verbs.mean(self.components))

    def variance(self) -> LazyArray:
        """The mean of the variances and the variance of the means; an infinite one is all of it."""
        means, inside = verbs.mean(self.components), verbs.variance(self.components)
        spread = inside + (means - self.mean()[..., None]) ** 2
        return self._sum(as_lazy(np.where(np.isinf(inside), inside, spread)))

    def sample(self, key: Operand, shape: Lengths) -> LazyArray:
        """Draws of the component that a uniform number chooses; its parameters alone are read."""
        weights = _floats(self.weights)
        given = as_floats(self.components.parameters)
        batch: Any = broadcast((weights.shape[:-1], *(node.shape[:-1] for node in given.values())))
        u = uniform(fold_in(key, 0), (*lengths(shape), *batch), weights.dtype)
        place = place_of(u.node, weights)
        picked = {name: chosen(node, place) if node.ndim else full(node, place.shape) for name, node in given.items()}
        components = type(self.components)(**{name: LazyArray(node) for name, node in picked.items()})
        return sample(fold_in(key, 1), components)

    def _sum(self, values: LazyArray) -> LazyArray:
        weights = as_lazy(self.weights)
        return as_lazy(np.where((weights == 0) & ~np.isfinite(values), 0.0, weights * values)).sum(axis=-1)

    def _log_sum(self, logarithms: LazyArray) -> LazyArray:
        return _log_of_sum(as_lazy(self.weights), logarithms)


def _from_the_less(logarithm: LazyArray, other: LazyArray) -> Any:
    """The logarithm of a tail, from the other tail where that is the less."""
    return np.where(other < 0.5, np.log1p(-other), logarithm)


def _each(x: Any) -> LazyArray:
    """``x`` for each component."""
    return as_lazy(x)[..., None]


def mixture(weights: Operand, components: Distribution) -> Mixture:
    """The mixture sum_k w_k f_k of the components along the last axis of ``components``.

    For ``logpdf``, ``cdf``, ``sf``, ``logcdf``, ``logsf``, ``logdiffcdf``, ``mean``, ``variance`` and ``sample``, and
    what is made of them.  ``weights`` are probabilities along the last axis, whose sum is not checked; with a weight of
    0 its component takes no part.  Raises ``TypeError`` where ``components`` is no distribution, ``ValueError`` where
    the numbers of weights and of components differ.

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
