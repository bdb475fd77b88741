"""Series whose variance has a memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.distributions import Normal
from vecdist.distributions.base import Distribution
from vecdist.lazy.array import LazyArray, Operand, as_lazy
from vecdist.lazy.scan import scan
from vecdist.timeseries.starts import start
from vecdist.verbs.density import logpdf


def garch(
    x: Operand,
    omega: Any,
    alpha: Any,
    beta: Any,
    loc: Any = 0.0,
    variance: Any = None,
    family: Callable[[Any, LazyArray], Distribution] = Normal,
) -> LazyArray:
    """The log density of each element of a GARCH(1, 1) series, given those before it.

    x_t ~ family(loc, sqrt(h_t)), h_t = omega + alpha (x_{t-1} - loc)^2 + beta h_{t-1}; h_0 is ``variance``, or the
    mean of h where that is left out, omega / (1 - alpha - beta), which wants alpha + beta < 1.

    ``x`` has shape (T, ...), where further axes are other series, with which all others broadcast; the result has its
    shape.  ``family`` takes location and scale; another than Normal is scaled by sqrt(h_t), whatever its variance:
    ``lambda loc, scale: StudentT(df, loc, scale)``.  After T. Bollerslev, "Generalized autoregressive conditional
    heteroskedasticity", J. Econometrics 31 (1986), equations (1) and (2).

    >>> import numpy as np, vecdist
    >>> from vecdist.timeseries import garch
    >>> np.asarray(garch(np.array([0.5, -1.0, 0.3]), 0.1, 0.2, 0.7)).round(4).tolist()
    [-1.0439, -1.4259, -0.9138]
    """
    series = as_lazy(x)
    squares = (series - loc) ** 2
    first = omega / (1.0 - alpha - beta) if variance is None else variance

    def step(h: LazyArray, square: LazyArray) -> tuple[LazyArray, LazyArray]:
        return omega + alpha * square + beta * h, h

    _, h = scan(step, start(first, squares[0], omega, alpha, beta), squares)
    return logpdf(family(loc, np.sqrt(h)), series)
