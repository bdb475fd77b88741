"""A metric of a diagonal and a few directions, for densities that are long, or short, along these.

The factor of the metric is A = S (I + sum_j c_j u_j u_j^T), where S is diagonal and the directions u_j are orthonormal.
It is learnt from positions x and gradients g of the log density: the covariance C that minimises the Fisher divergence
between the density and a normal distribution solves C cov(g) C = cov(x), as for a normal distribution itself, whatever
was drawn of it.  Directions beside a diagonal: Bales, Pourzanjani, Vehtari and Petzold (2019), Selecting the metric in
Hamiltonian Monte Carlo; of positions and gradients: Seyboldt, Carlson and Carpenter, Preconditioning Hamiltonian Monte
Carlo by minimizing Fisher divergence, as nutpie does it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

RANK = 32  # directions, at most: a leapfrog step computes two products with each
STRONG = 1.5  # times as long, or as short, in standard deviations: what is between is left to the diagonal
RIDGE = 1e-5  # of the variances of scaled positions and gradients, as nutpie has it
DRAWS = 4  # for each direction that is looked for in positions, and in gradients: so many more than there are unknowns


class LowRank(NamedTuple):
    """The parts of a factor: ``scale`` (D,), ``directions`` (K, D) and by how much each is stretched, ``more`` (K,)."""

    scale: np.ndarray
    directions: np.ndarray
    more: np.ndarray

    @staticmethod
    def unit(ndim: int) -> LowRank:
        """The factor of the unit metric."""
        return LowRank(np.ones(ndim), np.zeros((0, ndim)), np.zeros(0))

    @property
    def matrix(self) -> np.ndarray:
        """The factor A, (D, D)."""
        return self.scale[:, None] * (np.eye(len(self.scale)) + (self.directions.T * self.more) @ self.directions)

    def gradients(self, whitened: np.ndarray) -> np.ndarray:
        """The gradients g of whitened ones h = A^T g, (..., D)."""
        less = 1.0 / (1.0 + self.more) - 1.0
        return (whitened + (whitened @ self.directions.T * less) @ self.directions) / self.scale

    @property
    def packed(self) -> np.ndarray:
        """One array, (1, 2 RANK + 1, D), for A = diag(first row) + P^T Q: rows of P, then of Q (``packed_rank``)."""
        rank, (used, ndim) = packed_rank(len(self.scale)), self.directions.shape
        found = np.zeros((1, 2 * rank + 1, ndim))
        found[0, 0] = self.scale
        found[0, 1 : used + 1] = self.more[:, None] * self.directions * self.scale
        found[0, rank + 1 : rank + 1 + used] = self.directions
        return found


def packed_rank(ndim: int) -> int:
    """How many directions there is room for."""
    return min(ndim, RANK)


def applied(packed: Any, x: Any) -> Any:
    """A x for each row of x, lazy arrays (C, D)."""
    rank = (packed.shape[1] - 1) // 2
    along = (packed[0, rank + 1 :] * x[:, None, :]).sum(axis=2)
    return packed[0, 0] * x + (packed[0, 1 : rank + 1] * along[:, :, None]).sum(axis=1)


def packed_inverse(packed: np.ndarray) -> np.ndarray:
    """The inverse, packed alike: each direction is shortened by as much as it was stretched."""
    rank, scale = (packed.shape[1] - 1) // 2, packed[0, 0]
    directions = packed[0, rank + 1 :]
    more = (packed[0, 1 : rank + 1] / scale * directions).sum(axis=1)[:, None]
    rows = scale[None] ** -1.0, (1.0 / (1.0 + more) - 1.0) * directions, directions / scale
    return np.concatenate(rows)[None]


def unpacked(packed: np.ndarray) -> np.ndarray:
    """The matrix that is packed, (D, D)."""
    rank = (packed.shape[1] - 1) // 2
    return np.diag(packed[0, 0]) + packed[0, 1 : rank + 1].T @ packed[0, rank + 1 :]


def of_rows(positions: np.ndarray, gradients: np.ndarray) -> LowRank | None:
    """What positions and their gradients, (N, D), say; ``None`` where that is nothing."""
    if len(positions) < 2:
        return None
    long, short = (np.cov(each, rowvar=False).reshape(each.shape[1], -1) for each in (positions, gradients))
    return of_covariances(long, short, len(positions))


def of_covariances(positions: np.ndarray, gradients: np.ndarray, count: int) -> LowRank | None:
    """What the covariances of so many positions, and of their gradients, say; ``None`` where that is nothing."""
    with np.errstate(all="ignore"):
        scale = np.diag(positions) ** 0.25 / np.diag(gradients) ** 0.25
    if not ((scale > 0.0).all() and all(np.isfinite(each).all() for each in (scale, positions, gradients))):
        return None
    long, short = positions / np.outer(scale, scale), gradients * np.outer(scale, scale)
    basis = _basis(long, short, count)
    ridge = RIDGE * np.eye(basis.shape[1])
    variances, directions = np.linalg.eigh(_mean(basis.T @ long @ basis + ridge, basis.T @ short @ basis + ridge))
    stretch = np.sqrt(variances)
    order = np.argsort(-np.abs(np.log(stretch)))[: packed_rank(len(scale))]
    chosen = order[np.abs(np.log(stretch[order])) > np.log(STRONG)]
    return LowRank(scale, (basis @ directions[:, chosen]).T, stretch[chosen] - 1.0)


def _basis(long: np.ndarray, short: np.ndarray, count: int) -> np.ndarray:
    """Directions in which covariances of so many draws can be told: those of the largest variances of either."""
    most = count // DRAWS
    if 2 * most >= len(long):
        return np.eye(len(long))
    leading = [np.linalg.eigh(each)[1][:, -most:] for each in (long, short)] if most else [long[:, :0]]
    return np.linalg.qr(np.hstack(leading))[0]


def _mean(long: np.ndarray, short: np.ndarray) -> np.ndarray:
    """The C for which C short C = long: the geometric mean of one and the inverse of the other (Bhatia 2007, 4.1)."""
    values, vectors = np.linalg.eigh(short)
    root = np.sqrt(np.maximum(values, RIDGE))
    half, back = (vectors * root) @ vectors.T, (vectors / root) @ vectors.T
    values, vectors = np.linalg.eigh(half @ long @ half)
    return back @ (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T @ back
