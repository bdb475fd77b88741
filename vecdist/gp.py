"""Gaussian processes: covariance functions of points, and log densities of what is observed of a process.

Covariances are lazy arrays, to be added, multiplied and masked as any others.  Points have shape (n,) or (n, d).
C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine Learning* (2006), chapters 2 and 4.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vecdist.distributions import MvNormal, Normal
from vecdist.lazy.array import LazyArray, Operand, as_lazy, where
from vecdist.linalg import cho_solve, cholesky
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.structure import position
from vecdist.verbs.density import logpdf

Number: TypeAlias = LazyArray | NDArray[Any] | float
JITTER = 1e-6


def squared_exponential(
    x: Operand, y: Operand | None = None, *, amplitude: Number = 1.0, length_scale: Number = 1.0
) -> LazyArray:
    """k(x, y) = a^2 exp(-r^2 / 2), r = |x - y| / l; Rasmussen and Williams (4.9).

    ``x`` has shape (n,) or (n, d), ``y`` (m,) or (m, d), that of ``x`` where it is not given; ``length_scale`` is a
    number or one for each of d axes.  The result has shape (n, m).  Raises ``ValueError`` where d differs.

    >>> import numpy as np
    >>> from vecdist import gp
    >>> np.asarray(gp.squared_exponential(np.array([0.0, 1.0]), length_scale=2.0)).round(4).tolist()
    [[1.0, 0.8825], [0.8825, 1.0]]
    """
    return _scaled(amplitude, np.exp(-0.5 * _squared_distance(x, y, length_scale)))


def matern(
    x: Operand, y: Operand | None = None, *, nu: float = 1.5, amplitude: Number = 1.0, length_scale: Number = 1.0
) -> LazyArray:
    """Matern's covariance of smoothness ``nu``, 0.5, 1.5 or 2.5; Rasmussen and Williams (4.17).

    a^2 exp(-r), a^2 (1 + s) exp(-s) with s = sqrt(3) r, and a^2 (1 + s + s^2 / 3) exp(-s) with s = sqrt(5) r, where
    r = |x - y| / l.  Shapes and errors are those of ``squared_exponential``; ``ValueError`` for another ``nu``.

    >>> import numpy as np
    >>> from vecdist import gp
    >>> np.asarray(gp.matern(np.array([0.0, 1.0]), nu=2.5)).round(4).tolist()
    [[1.0, 0.524], [0.524, 1.0]]
    """
    if nu not in {0.5, 1.5, 2.5}:
        raise ValueError(f"matern is there for nu of 0.5, 1.5 and 2.5, not for {nu}")
    squares = 2.0 * nu * _squared_distance(x, y, length_scale)
    apart = squares > 0.0
    s = where(apart, np.sqrt(where(apart, squares, 1.0)), 0.0)  # whose slope at 0 is none of the covariance's
    smooth = {0.5: 1.0, 1.5: 1.0 + s, 2.5: 1.0 + s + squares / 3.0}[nu]
    return _scaled(amplitude, smooth * np.exp(-s))


def periodic(
    x: Operand, y: Operand | None = None, *, period: Number = 1.0, amplitude: Number = 1.0,
    length_scale: Number = 1.0,
) -> LazyArray:  # fmt: skip
    """k(x, y) = a^2 exp(-2 sin^2(pi |x - y| / p) / l^2), summed over axes; Rasmussen and Williams (4.31).

    Shapes and errors are those of ``squared_exponential``.

    >>> import numpy as np
    >>> from vecdist import gp
    >>> np.asarray(gp.periodic(np.array([0.0, 0.5, 2.0]), period=2.0)).round(4).tolist()
    [[1.0, 0.3679, 1.0], [0.3679, 1.0, 0.3679], [1.0, 0.3679, 1.0]]
    """
    first, second = _points(x, y)
    turns = np.sin(np.pi * (first[:, None, :] - second) / period) / length_scale
    return _scaled(amplitude, np.exp(-2.0 * (turns * turns).sum(axis=-1)))


def linear(
    x: Operand, y: Operand | None = None, *, bias: Number = 0.0, amplitude: Number = 1.0, length_scale: Number = 1.0
) -> LazyArray:
    """k(x, y) = a^2 (b^2 + x . y / l^2), of straight lines; Rasmussen and Williams, chapter 4.2.2.

    Shapes and errors are those of ``squared_exponential``.

    >>> import numpy as np
    >>> from vecdist import gp
    >>> np.asarray(gp.linear(np.array([1.0, 2.0]), bias=1.0)).tolist()
    [[2.0, 3.0], [3.0, 5.0]]
    """
    first, second = (as_lazy(each / length_scale) for each in _points(x, y))
    return _scaled(amplitude, bias * bias + (first[:, None, :] * second).sum(axis=-1))


def marginal(covariance: Operand, y: Operand, noise: Number, mean: Operand = 0.0) -> LazyArray:
    """The log density of observations of a process: y ~ Normal(mean, K + noise^2 I); Rasmussen and Williams (2.30).

    ``covariance`` has shape (n, n), ``y`` (n,); ``noise`` is a standard deviation, or one for each.

    >>> import numpy as np
    >>> from vecdist import gp
    >>> x, y = np.array([0.0, 1.0]), np.array([0.5, -0.2])
    >>> round(float(gp.marginal(gp.squared_exponential(x), y, 0.3)), 4)
    -2.0054
    """
    values = as_lazy(y)
    return logpdf(MvNormal(mean + 0.0 * values, _with_diagonal(covariance, noise * noise)), values)


def latent(covariance: Operand, white: Operand, jitter: float = JITTER) -> LazyArray:
    """The values f = L z of a process by white noise z, where L L' = K + jitter I: with z ~ Normal(0, 1), f ~ N(0, K).

    It is the non-centred form, in which a sampler moves z: ``white`` has shape (n,), as the result.  ``jitter`` keeps
    K positive definite in floating point.

    >>> import numpy as np
    >>> from vecdist import gp
    >>> np.asarray(gp.latent(gp.squared_exponential(np.array([0.0, 1.0])), np.array([1.0, 1.0]))).round(4).tolist()
    [1.0, 1.4016]
    """
    factor = cholesky(_with_diagonal(covariance, jitter))
    return (factor * as_lazy(white)).sum(axis=-1)


def conditional(
    covariance: Operand, cross: Operand, y: Operand, noise: Number = 0.0, jitter: float = JITTER
) -> tuple[LazyArray, LazyArray]:
    """The mean at new points given observations, and what those explain of the variance there.

    m = K* (K + noise^2 I)^-1 y and diag(K* (K + noise^2 I)^-1 K*'), with ``cross`` = K* of shape (m, n): the variance
    is k(x, x) less the second.  Rasmussen and Williams (2.25) and (2.26).

    >>> import numpy as np
    >>> from vecdist import gp
    >>> x, new = np.array([0.0, 1.0]), np.array([0.5])
    >>> K, cross = gp.squared_exponential(x), gp.squared_exponential(new, x)
    >>> [np.asarray(each).round(4).tolist() for each in gp.conditional(K, cross, np.array([1.0, 2.0]), noise=0.1)]
    [[1.6378], [0.9635]]
    """
    across, factor = as_lazy(cross), cholesky(_with_diagonal(covariance, noise * noise + jitter))
    solved, of_y = (cho_solve((factor, True), each) for each in (across.swapaxes(-1, -2), as_lazy(y)[..., None]))
    explained = (across * solved.swapaxes(-1, -2)).sum(axis=-1)
    return (across * of_y[..., 0]).sum(axis=-1), explained


def observed(values: Operand, y: Operand, noise: Number) -> LazyArray:
    """The log density of observations about the values of a process, y ~ Normal(values, noise), of each.

    >>> import numpy as np
    >>> from vecdist import gp
    >>> np.asarray(gp.observed(np.zeros(2), np.array([0.0, 1.0]), 1.0)).round(4).tolist()
    [-0.9189, -1.4189]
    """
    return logpdf(Normal(values, noise), y)


def _scaled(amplitude: Number, correlation: Operand) -> LazyArray:
    return as_lazy(correlation) * (amplitude * amplitude)


def _points(x: Operand, y: Operand | None) -> tuple[LazyArray, LazyArray]:
    """Points of both sides, as rows."""
    first = as_lazy(x)
    second = first if y is None else as_lazy(y)
    rows = [each[:, None] if each.ndim == 1 else each for each in (first, second)]
    if rows[0].ndim != 2 or rows[1].ndim != 2 or rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(f"points of shapes {first.shape} and {second.shape} do not fit; wanted (n,) or (n, d)")
    return rows[0], rows[1]


def _squared_distance(x: Operand, y: Operand | None, length_scale: Number) -> LazyArray:
    first, second = (as_lazy(each / length_scale) for each in _points(x, y))
    apart = first[:, None, :] - second
    return (apart * apart).sum(axis=-1)


def _with_diagonal(matrix: Operand, added: Number) -> LazyArray:
    """A matrix with a number, or one for each row, added to its diagonal."""
    whole = as_lazy(matrix)
    length = whole.shape[-1]
    on_diagonal = LazyArray(eq(position(length, 1), position(1, length)))
    return where(on_diagonal, whole + added, whole)
