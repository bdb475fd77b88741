"""What all chains keep, as arrays with a row for each, and what a user is given of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from vecdist.samplers.adaptation import Windows
from vecdist.samplers.draws import Draws
from vecdist.samplers.low_rank import LowRank, of_rows, packed_rank
from vecdist.samplers.run import Wanted, first_step
from vecdist.samplers.trees import places


@final
class Chains:
    """The arrays of the machines of all chains, ready to begin at ``start``."""

    def __init__(self, wanted: Wanted, deepest: int, keys: np.ndarray, start: np.ndarray) -> None:
        count, ndim = start.shape
        scale = wanted.scale(ndim)
        self.wanted: Wanted = wanted
        self.keys: np.ndarray = keys
        self.numbers: np.ndarray = np.zeros((count, places.NUMBERS))
        self.integers: np.ndarray = np.zeros((count, places.INTEGERS), np.int64)
        windows = Windows.of(wanted.warmup) if wanted.adapts else Windows(0, ())
        for place, given in {
            places.SIZE: ndim, places.DEEPEST: deepest, places.WARMUP: wanted.warmup,
            places.METRIC: scale.ndim - 1, places.RANK: packed_rank(ndim) if scale.ndim == 3 else 0,
            places.DRAWS: wanted.draws, places.FIRST: windows.first, places.WINDOWS: len(windows.ends),
            places.SEARCH: wanted.warmup > 0,
            places.PHASE: places.STARTING if wanted.warmup + wanted.draws else places.DONE,
        }.items():  # fmt: skip
            self.integers[:, place] = given
        self.numbers[:, places.STEP] = wanted.step_size or first_step(ndim)
        self.numbers[:, places.ACCEPTANCE] = wanted.acceptance
        self.vectors: np.ndarray = np.zeros((count, places.rows(self.integers[0]) * ndim))
        self.point[...] = start
        self.low_rank: list[LowRank] = [LowRank.unit(ndim) for _ in range(count if scale.ndim == 3 else 0)]
        self._put_scale(scale)
        self.ends: np.ndarray = np.array(windows.ends, np.int64)
        self.positions: np.ndarray = np.empty((count, wanted.draws, ndim))
        self.told: np.ndarray = np.empty((count, wanted.draws, places.TOLDS))
        longest = max(np.diff([windows.first, *windows.ends]), default=0) if scale.ndim == 3 else 0
        self.seen: np.ndarray = np.empty((count, longest, 2, ndim))

    @property
    def arrays(self) -> Sequence[np.ndarray]:
        """What the machines take."""
        state, count = (self.vectors, self.numbers, self.integers, self.keys, self.ends), len(self.keys)
        kept = [each.reshape(count, math.prod(each.shape[1:])) for each in (self.positions, self.told, self.seen)]
        return (*state, *kept)

    @property
    def point(self) -> np.ndarray:
        """Where the values and gradients are wanted, (C, D)."""
        return self._rows(places.X, 1)[:, 0]

    def _put_scale(self, scale: np.ndarray) -> None:
        if scale.ndim == 3:
            for chain in range(len(self.keys)):
                self._put_low_rank(chain)
        else:
            self.scale[...] = scale

    def _put_low_rank(self, chain: int) -> None:
        found, first = self.low_rank[chain], places.scales(self.integers[0])
        used, rank = len(found.more), self.integers[0, places.RANK]
        rows = self._rows(first, rank + 2)[chain]
        rows[0], rows[1 : used + 1], rows[-1, :used] = found.scale, found.directions, found.more
        self.integers[chain, places.USED] = used

    def learn(self) -> None:
        """Give chains that wait for it a metric of what they have seen in their last window."""
        for chain in np.flatnonzero(self.integers[:, places.PHASE] == places.WAITING).tolist():
            integers, low_rank = self.integers[chain], self.low_rank[chain]
            seen = self.seen[chain, : integers[places.SEEN]]
            self.low_rank[chain] = of_rows(seen[:, 0], low_rank.gradients(seen[:, 1])) or low_rank
            self._put_low_rank(chain)
            integers[places.SEEN], integers[places.PHASE] = 0, places.STARTING

    @property
    def scale(self) -> np.ndarray:
        """The factor of each chain's metric, (C, D) or (C, D, D)."""
        integers = self.integers[0]
        if self.low_rank:
            return np.stack([each.matrix for each in self.low_rank])
        first, dense = places.scales(integers), integers[places.METRIC] == places.DENSE
        return self._rows(first, integers[places.SIZE]) if dense else self._rows(first, 1)[:, 0]

    def _rows(self, first: int, count: int) -> np.ndarray:
        ndim = int(self.integers[0, places.SIZE])
        return self.vectors[:, first * ndim : (first + count) * ndim].reshape(-1, count, ndim)

    @property
    def unfinished(self) -> np.ndarray:
        """The numbers of the chains that are not done."""
        return np.flatnonzero(self.integers[:, places.PHASE] != places.DONE)

    @property
    def drawn(self) -> np.ndarray:
        """How many draws each chain has made, those of the warm-up among them."""
        return self.integers[:, places.NUMBER]

    def result(self, interrupted: bool, library: Any, unpacking: Any) -> Draws:
        """The draws that all chains have made."""
        kept = max(int(self.drawn.min()) - self.wanted.warmup, 0)
        told = dict(zip(places.TOLD, np.moveaxis(self.told[:, :kept], 2, 0), strict=True))
        scale = self.scale
        return Draws(
            library.asarray(self.positions[:, :kept]),
            library.asarray(told["log_density"]),
            library.asarray(told["energy"]),
            library.asarray(told["acceptance"]),
            library.asarray(told["divergent"] != 0.0),
            told["steps"].astype(np.int64),
            self.numbers[:, places.STEP].copy(),
            None,
            scale**2 if scale.ndim == 2 else scale @ scale.swapaxes(1, 2),
            interrupted,
            unpacking,
        )
