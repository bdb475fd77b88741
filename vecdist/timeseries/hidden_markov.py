"""Hidden Markov models: series of which each element comes from a state that is not seen.

All of it is in logarithms: what is unlikely by any factor is not lost beside what is likely.
"""

from __future__ import annotations

import numpy as np

from vecdist.lazy.array import LazyArray, Operand, as_lazy, where
from vecdist.lazy.scan import scan
from vecdist.timeseries.starts import start
from vecdist.wrappers.mixture import logsumexp, softmax

Filtered = tuple[LazyArray, tuple[LazyArray, LazyArray]]


def hmm(log_densities: Operand, log_transition: Operand, log_initial: Operand) -> LazyArray:
    """The log density of each element of a hidden Markov series, given those before it; their sum is the likelihood.

    log p(x_t | x_0, ..., x_{t-1}) = log sum_k p(z_t = k | x_0, ..., x_{t-1}) p(x_t | z_t = k), by the forward
    algorithm.

    ``log_densities`` has shape (T, ..., K): of each element, log p(x_t | z_t = k); further axes between are other
    series.  ``log_transition`` has shape (..., K, K), a row for each state before, ``log_initial`` (..., K).  The
    result has shape (T, ...); -inf, and nothing but that behind it, where an element is impossible.  Raises
    ``ValueError`` where the numbers of states differ.  After L. R. Rabiner, "A tutorial on hidden Markov models",
    Proc. IEEE 77 (1989), equations (19) to (21).

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> from vecdist.timeseries import hmm
    >>> x, means = np.array([0.1, 1.2, 0.9]), np.array([0.0, 1.0])
    >>> stay = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> np.asarray(hmm(vecdist.logpdf(Normal(means, 0.5), x[:, None]), stay, np.log([0.5, 0.5]))).round(4).tolist()
    [-0.755, -1.6332, -0.5467]
    """
    return _forward(*_checked(log_densities, log_transition, log_initial))[0]


def hmm_filtered(log_densities: Operand, log_transition: Operand, log_initial: Operand) -> LazyArray:
    """The probabilities of the states at each time, given the series up to then: p(z_t = k | x_0, ..., x_t).

    Arguments and errors are those of ``hmm``; the result has the shape of ``log_densities``.

    >>> import numpy as np, vecdist
    >>> from vecdist.timeseries import hmm_filtered
    >>> stay = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> np.asarray(hmm_filtered(np.log([[0.5, 0.5], [0.1, 0.9]]), stay, np.log([0.5, 0.5]))).round(4).tolist()
    [[0.5, 0.5], [0.1196, 0.8804]]
    """
    return as_lazy(np.exp(_forward(*_checked(log_densities, log_transition, log_initial))[1]))


def hmm_smoothed(log_densities: Operand, log_transition: Operand, log_initial: Operand) -> LazyArray:
    """The probabilities of the states at each time, given the whole series: p(z_t = k | x_0, ..., x_{T-1}).

    By the forward and the backward algorithm (Rabiner 1989, equations (25) and (27)).  Arguments and errors are those
    of ``hmm``; the result has the shape of ``log_densities``.

    >>> import numpy as np, vecdist
    >>> from vecdist.timeseries import hmm_smoothed
    >>> stay = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> np.asarray(hmm_smoothed(np.log([[0.5, 0.5], [0.1, 0.9]]), stay, np.log([0.5, 0.5]))).round(4).tolist()
    [[0.1957, 0.8043], [0.1196, 0.8804]]
    """
    densities, transition, initial = _checked(log_densities, log_transition, log_initial)
    filtered = _forward(densities, transition, initial)[1]

    def step(ahead: LazyArray, density: LazyArray) -> tuple[LazyArray, LazyArray]:
        before = logsumexp(transition + (ahead + density)[..., None, :], axis=-1)
        return before - _or_zero(logsumexp(before, axis=-1, keepdims=True)), ahead

    _, ahead = scan(step, start(0.0, initial, densities[0], transition[..., 0, :]), densities, reverse=True)
    return softmax(filtered + ahead, axis=-1)


def _checked(*given: Operand) -> tuple[LazyArray, LazyArray, LazyArray]:
    densities, transition, initial = map(as_lazy, given)
    states = densities.shape[-1]
    if transition.shape[-2:] != (states, states) or initial.shape[-1:] != (states,):
        raise ValueError(
            f"log densities of {states} states want transitions of shape (..., {states}, {states}) and initial "
            f"probabilities of shape (..., {states}), given {transition.shape} and {initial.shape}"
        )
    return densities, transition, initial


def _forward(densities: LazyArray, transition: LazyArray, initial: LazyArray) -> tuple[LazyArray, LazyArray]:
    """The log density of each element, and the log probabilities of the states given all up to it."""

    def step(predicted: LazyArray, density: LazyArray) -> Filtered:
        joint = predicted + density
        total = logsumexp(joint, axis=-1)
        filtered = joint - _or_zero(total)[..., None]
        return logsumexp(filtered[..., :, None] + transition, axis=-2), (total, filtered)

    _, found = scan(step, start(initial, densities[0], transition[..., 0, :]), densities)
    return found


def _or_zero(total: LazyArray) -> LazyArray:
    """What is taken from logarithms to make them sum to one; 0 where nothing is possible."""
    return where(total == -np.inf, 0.0, total)
