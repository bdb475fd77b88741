"""Whether a log density falls far away from its draws, as it must where it can be sampled from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vecdist.graph.leaves import on_host

FAR = (1e6, 1e3, 1e1)  # in spreads of the draws, so far out that a density which has a total is less than at the draws
FALLS = 1.0  # by so much at least: a Cauchy density by 4.6 at the nearest of these
COORDINATES = 16  # that are looked at one by one, of the many that a density may have
MOST = 256  # coordinates of which a direction that no gradient has a part in is looked for
CHAINS = 256  # whose draws say how far these are apart
FEWEST = 4  # draws of each chain that have a spread

Evaluate = Callable[[np.ndarray], np.ndarray]


def warn_of_flat_directions(
    draws: Any, evaluate: Evaluate, names: Any, budget: int, gradients: Evaluate | None = None
) -> None:
    """Warn where the log density does not fall, however far the last of ``draws``, of shape (C, N, D), are moved.

    Draws may lie on a GPU; how far they are apart is asked of some hundred chains alone.

    They are moved along the direction in which draws differ most, along that in which gradients at draws have the least
    part, none where the density is the same all along it, and along the coordinates that they went farthest in between
    the first quarter and the last.  ``evaluate`` gives the log densities at positions (C, D), ``gradients`` those of
    their shape; of a density that falls they are called some ``budget`` times at most, but twice.  ``names`` are of
    coordinates, or ``None``.
    """
    if draws.shape[1] < FEWEST:  # of none there is no last
        return
    some, last = on_host(draws[:: -(-draws.shape[0] // CHAINS)]), on_host(draws[:, -1])
    if not (np.isfinite(some).all() and np.isfinite(last).all()):
        return
    before = evaluate(last)

    def slopes(number: int) -> np.ndarray:
        assert gradients is not None
        places = np.linspace(0, draws.shape[1] - 1, number).astype(int)
        return np.concatenate([gradients(on_host(draws[:, place])) for place in places])

    needed = -(-draws.shape[2] // draws.shape[0]) + 1
    for direction in _directions(some, max(1, budget // 2), needed, None if gradients is None else slopes):
        for along in (direction, -direction):
            if all((evaluate(last + far * along) >= before - FALLS).mean() >= 0.5 for far in FAR):
                warnings.warn(
                    f"the log density does not fall along {_told(direction, names)}: {FAR[0]:.0e} times as far out as "
                    "the draws are apart it is no less than there. A density that does not fall has no total, so "
                    "these draws are of no distribution; is a prior missing?",
                    stacklevel=6,
                )
                return


def _directions(
    draws: np.ndarray, count: int, needed: int, slopes: Callable[[int], np.ndarray] | None
) -> Iterator[np.ndarray]:
    """Steps of one spread: that in which draws differ most first, then the flattest, then coordinates."""
    flat = draws.reshape(-1, draws.shape[2])
    centred = flat - flat.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    largest = spread.max()
    if not 0.0 < largest < np.inf:
        return
    _, vectors = np.linalg.eigh((centred / largest).T @ (centred / largest))
    yield vectors[:, -1] * largest
    if slopes is not None and 1 < draws.shape[2] <= MOST and needed < count and spread.all():
        flattest = _flattest(slopes(needed) * spread)
        if flattest is not None:
            count -= needed
            yield flattest * spread * (centred / spread @ flattest).std()
    quarter = -(-draws.shape[1] // 4)
    went = abs(np.median(draws[:, -quarter:], axis=1) - np.median(draws[:, :quarter], axis=1)).max(axis=0)
    went = np.divide(went, spread, out=np.zeros_like(spread), where=spread > 0.0)
    for place in np.argsort(-went)[: min(COORDINATES, count - 1)]:
        if spread[place] > 0.0:
            step = np.zeros(draws.shape[2])
            step[place] = spread[place]
            yield step


def _flattest(gradients: np.ndarray) -> np.ndarray | None:
    """The direction of length 1 that gradients, of lengths of which none counts, have the least part in."""
    lengths = np.sqrt((gradients**2).sum(axis=1))
    usable = np.isfinite(lengths) & (lengths > 0.0)
    if usable.sum() < gradients.shape[1]:
        return None
    return np.linalg.svd(gradients[usable] / lengths[usable, None], full_matrices=False)[2][-1]


def _told(direction: np.ndarray, names: Any) -> str:
    """The coordinates that a direction is of, by their parts in it."""
    part = abs(direction) / abs(direction).max()
    places = [int(place) for place in np.argsort(-part, kind="stable") if part[place] > 0.1]
    told = [names[place] if names else f"x[{place}]" for place in places[:3]]
    return " and ".join(told) + (" and others" if len(places) > 3 else "")
