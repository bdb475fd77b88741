"""How well chains have mixed, and how many independent draws theirs are worth.

Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Rank-normalization, folding, and localization: an improved
R-hat for assessing convergence of MCMC, Bayesian Analysis 16 (2).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vecdist.graph.leaves import on_host


def ess(draws: ArrayLike, rank_normalised: bool = False) -> Any:
    """The effective sample size of the mean of draws, of shape (C, N, ...): one number for each of the last axes.

    Chains are split in half; autocorrelations are those of Geyer's initial monotone sequence (section 3.2 of the
    paper).  ``rank_normalised`` gives that of ranks, which needs no moments ("bulk"; section 4.1).  NaN where draws are
    not finite or all alike.  Raises ``ValueError`` for fewer than 4 draws.

    >>> import numpy as np
    >>> from vecdist.samplers import ess
    >>> draws = np.random.default_rng(0).normal(size=(4, 1000, 2))
    >>> bool((abs(ess(draws) - 4000) < 800).all())
    True
    """
    return _each(_ess, _halves(draws), rank_normalised)


def rhat(draws: ArrayLike) -> Any:
    """The scale reduction of draws, of shape (C, N, ...): near 1 where chains agree.

    The larger of those of ranks and of ranks of distances from the median, chains split in half (section 4.1 of the
    paper).  NaN where draws are not finite or all alike.  Raises ``ValueError`` for fewer than 4 draws.

    >>> import numpy as np
    >>> from vecdist.samplers import rhat
    >>> draws = np.random.default_rng(0).normal(size=(4, 1000))
    >>> bool(rhat(draws) < 1.01), bool(rhat(draws + np.arange(4.0)[:, None]) > 1.5)
    (True, True)
    """
    return _each(_rhat, _halves(draws), True)


def _halves(draws: Any) -> np.ndarray:
    """The first and the second half of each chain as chains of their own; an odd draw is left out."""
    host = np.asarray(on_host(draws), np.float64)
    if host.ndim < 2 or host.shape[1] < 4:
        raise ValueError(f"draws have shape (chains, draws, ...) with at least 4 draws, given {host.shape}")
    half = host.shape[1] // 2
    return np.concatenate([host[:, :half], host[:, -half:]])


def _each(measure: Any, chains: np.ndarray, ranks: bool) -> Any:
    flat = chains.reshape(*chains.shape[:2], -1)
    columns = (np.ascontiguousarray(flat[:, :, place]) for place in range(flat.shape[2]))
    found = [measure(c, ranks) if np.isfinite(c).all() and np.ptp(c) > 0 else np.nan for c in columns]
    return np.array(found).reshape(chains.shape[2:])[()]


def _ess(chains: np.ndarray, ranks: bool) -> float:
    values = _normal_scores(chains) if ranks else chains
    count, length = values.shape
    centred = values - values.mean(axis=1, keepdims=True)
    size = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(centred, size, axis=1)
    covariances = np.fft.irfft(spectrum * spectrum.conj(), size, axis=1)[:, :length].mean(axis=0) / length
    within = covariances[0] * length / (length - 1)
    total = covariances[0] + values.mean(axis=1).var(ddof=1)
    correlations = 1.0 - (within - covariances * length / (length - 1)) / total
    correlations[0] = 1.0
    pairs = correlations[: length - length % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0.0)
    pairs = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    sequence = max(-1.0 + 2.0 * pairs.sum(), 1.0 / np.log10(count * length))
    return count * length / sequence


def _rhat(chains: np.ndarray, ranks: bool) -> float:
    folded = abs(chains - np.median(chains))
    return max(_reduction(_normal_scores(each)) for each in (chains, folded))


def _reduction(values: np.ndarray) -> float:
    """The split R-hat of section 3.1 of the paper."""
    length = values.shape[1]
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1)
    return float(np.sqrt((length - 1) / length + between / within)) if within > 0 else np.inf


def _normal_scores(values: np.ndarray) -> np.ndarray:
    """The normal quantiles of average ranks (Blom 1958; section 4.1 of the paper)."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - 0.5 * (counts - 1)
    quantile = NormalDist().inv_cdf
    scores = np.array([quantile((rank - 0.375) / (values.size + 0.25)) for rank in ranks.tolist()])
    return scores[places.reshape(values.shape)]
