"""Series that are sums of their own past, of past shocks, or of steps."""

from __future__ import annotations

from vecdist.distributions import Normal
from vecdist.lazy.array import LazyArray, Operand, as_lazy
from vecdist.lazy.scan import scan
from vecdist.timeseries.starts import start
from vecdist.verbs.density import logpdf


def ar(x: Operand, coefficients: Operand, scale: Operand, constant: Operand = 0.0) -> LazyArray:
    """The log density of each element of an autoregressive series, given the p before it.

    x_t ~ Normal(c + sum_k phi_k x_{t-k}, scale), for t = p, ..., T - 1: the series is conditioned on its first p
    elements.  For a stationary series of p = 1 add that of the first, Normal(c / (1 - phi), scale / sqrt(1 - phi^2)).

    ``x`` has shape (T, ...), where further axes are other series; ``coefficients`` (p, ...), that of lag 1 first;
    ``scale`` and ``constant`` broadcast with what stands behind T.  The result has shape (T - p, ...) and the dtype
    of its operands.  Raises ``ValueError`` where T is not larger than p.  After G. E. P. Box and G. M. Jenkins, *Time
    Series Analysis* (1970), chapter 3.2; the conditional likelihood is J. D. Hamilton's, *Time Series Analysis* (1994),
    (5.3.2).

    >>> import numpy as np, vecdist
    >>> from vecdist.timeseries import ar
    >>> x, phi = np.array([0.0, 1.0, 0.5, 0.8]), np.array([0.5])
    >>> np.asarray(ar(x, phi, 1.0)).round(4).tolist()
    [-1.4189, -0.9189, -1.0702]
    """
    series, phi = as_lazy(x), as_lazy(coefficients)
    return logpdf(Normal(constant, scale), series[_order(series, phi) :] - _predicted(series, phi))


def ma(x: Operand, coefficients: Operand, scale: Operand, constant: Operand = 0.0) -> LazyArray:
    """The log density of each element of a moving average, given those before it: ``arma`` without its past.

    x_t = c + e_t + sum_j theta_j e_{t-j}, e_t ~ Normal(0, scale), with e = 0 before the series.  Shapes, dtypes and
    errors are those of ``arma``.

    >>> import numpy as np, vecdist
    >>> from vecdist.timeseries import ma
    >>> np.asarray(ma(np.array([1.0, 0.5, -0.2]), np.array([0.4]), 1.0)).round(4).tolist()
    [-1.4189, -0.9239, -0.9477]
    """
    return arma(x, None, coefficients, scale, constant)


def arma(
    x: Operand, ar: Operand | None, ma: Operand, scale: Operand, constant: Operand = 0.0
) -> LazyArray:
    """The log density of each element of an ARMA(p, q) series, given those before it.

    x_t = c + sum_k phi_k x_{t-k} + e_t + sum_j theta_j e_{t-j}, e_t ~ Normal(0, scale), for t = p, ..., T - 1, given
    the first p elements and e = 0 before t = p: the conditional likelihood, whose shocks e_t a recurrence finds.

    ``x`` has shape (T, ...), where further axes are other series; ``ar`` (p, ...) or ``None``, ``ma`` (q, ...), lag 1
    first; ``scale`` and ``constant`` broadcast with what stands behind T.  The result has shape (T - p, ...).  Raises
    ``ValueError`` where T is not larger than p.  After J. D. Hamilton, *Time Series Analysis* (1994), (5.6.1).

    >>> import numpy as np, vecdist
    >>> from vecdist.timeseries import arma
    >>> x = np.array([0.1, 1.0, 0.5, -0.2])
    >>> np.asarray(arma(x, np.array([0.5]), np.array([0.4]), 1.0)).round(4).tolist()
    [-1.3702, -0.9911, -0.9633]
    """
    series, theta = as_lazy(x), as_lazy(ma)
    phi = None if ar is None else as_lazy(ar)
    rest = series - constant if phi is None else series[_order(series, phi) :] - _predicted(series, phi) - constant

    def step(shocks: tuple[LazyArray, ...], expected: LazyArray) -> tuple[tuple[LazyArray, ...], LazyArray]:
        shock = expected
        for lag, before in enumerate(shocks):
            shock = shock - theta[lag] * before
        return (shock, *shocks[:-1]), shock

    _, shocks = scan(step, (start(0.0, rest[0], theta[0]),) * len(theta), rest)
    return logpdf(Normal(0.0, scale), shocks)


def random_walk(x: Operand, scale: Operand, drift: Operand = 0.0) -> LazyArray:
    """The log density of each step of a random walk: x_t ~ Normal(x_{t-1} + drift, scale), for t = 1, ..., T - 1.

    ``x`` has shape (T, ...), where further axes are other walks, with which ``scale`` and ``drift`` broadcast; the
    result has shape (T - 1, ...).  The first element is given; add a density of its own where it has one.

    >>> import numpy as np, vecdist
    >>> from vecdist.timeseries import random_walk
    >>> np.asarray(random_walk(np.array([0.0, 1.0, 1.5]), 1.0)).round(4).tolist()
    [-1.4189, -1.0439]
    """
    series = as_lazy(x)
    return logpdf(Normal(drift, scale), series[1:] - series[:-1])


def _order(series: LazyArray, coefficients: LazyArray) -> int:
    """The number of elements that an element depends on."""
    order = len(coefficients)
    if not order:
        raise ValueError("coefficients want a first axis of one element or more, one for each lag")
    if len(series) <= order:
        raise ValueError(f"a series of {len(series)} elements has none with {order} before it, as coefficients want")
    return order


def _predicted(series: LazyArray, coefficients: LazyArray) -> LazyArray:
    """What each element from the p-th on owes to the p before it."""
    order, last = _order(series, coefficients), len(series) - 1
    total, *others = (coefficients[lag] * series[order - 1 - lag : last - lag] for lag in range(order))
    for term in others:
        total = total + term
    return total
