"""Second derivatives by high-precision differences of ball formulas: at a point, or what they tend to next to it."""

from collections.abc import Callable, Sequence

import numpy as np
from flint import arb, ctx

Formula = Callable[..., arb]

DISTANCES = (200, 400)  # of the points next to one, in halvings of each argument
KINK = 1e25  # a difference of this size is one across a kink
DIRECTIONS = np.random.default_rng(0).uniform(0.5, 1.5, (2, 12)) * [[1, -1] * 6, [1, 1, -1, -1] * 3]


def differences(formula: Formula, at: Sequence[arb], active: Sequence[int], bits: int) -> np.ndarray:
    """The Hessian in the ``active`` arguments with the gradient below it, by central differences over 2**-bits."""
    steps = [arb(2) ** -bits * (abs(v) if abs(v) > arb(2) ** -50 else 1) for v in at]

    def moved(*moves: tuple[int, int]) -> arb:
        to = list(at)
        for place, sign in moves:
            to[place] = to[place] + sign * steps[place]
        return formula(*to)

    middle = moved()
    up, down = ({i: moved((i, sign)) for i in active} for sign in (1, -1))
    found = np.empty((1 + len(active), len(active)))
    found[-1] = [float((up[i] - down[i]) / (2 * steps[i])) for i in active]
    for a, i in enumerate(active):
        found[a, a] = float((up[i] + down[i] - 2 * middle) / steps[i] ** 2)
        for b, j in enumerate(active[:a]):
            both = moved((i, 1), (j, 1)) + moved((i, -1), (j, -1))
            product = both - up[i] - down[i] - up[j] - down[j] + 2 * middle
            found[a, b] = found[b, a] = float(product / (2 * steps[i] * steps[j]))
    return found


def true_hessian(formula: Formula, row: Sequence[float], active: Sequence[int]) -> np.ndarray:
    """The Hessian at a point; NaN where the formula has none there, and numbers beyond ``KINK`` across a kink."""
    ctx.prec = 500
    return differences(formula, [arb(float(v)) for v in row], active, 120)[:-1]


def limits(formula: Formula, row: Sequence[float], active: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest limit of each derivative from the sides that have one, inf where it grows.

    From both sides of x, or if there is none (at parameters where a formula has 0 / 0) of all arguments at once.  The
    first derivatives stand below the second ones.
    """
    found = [_from_side(formula, row, active, side) for side in (np.eye(12)[0], -np.eye(12)[0])]
    if all(each is None for each in found):
        found = [_from_side(formula, row, active, sign * way) for way in DIRECTIONS for sign in (1, -1)]
    known = np.array([each for each in found if each is not None])
    anything = np.full((1 + len(active), len(active)), np.inf)
    return (known.min(axis=0), known.max(axis=0)) if len(known) else (-anything, anything)


def _from_side(formula: Formula, row: Sequence[float], active: Sequence[int], way: np.ndarray) -> np.ndarray | None:
    two = []
    for bits in DISTANCES:
        ctx.prec = 6 * bits + 500
        sizes = [arb(float(w)) * arb(2) ** -bits * (abs(float(v)) or 1.0) for v, w in zip(row, way, strict=False)]
        at = [arb(float(v)) + (size if i in active else 0) for i, (v, size) in enumerate(zip(row, sizes, strict=True))]
        two.append(differences(formula, at, active, 2 * bits + 20))
    far, near = two
    if not (np.isfinite(far).all() and np.isfinite(near).all()):
        return None
    grows = (abs(near) > 1.3 * abs(far)) & (abs(near) > 1)
    return np.where(grows, np.copysign(np.inf, near), near)


def wrong(
    found: np.ndarray, formula: Formula, row: Sequence[float], active: Sequence[int], tolerance: float
) -> np.ndarray:
    """Where a Hessian is not the true one.

    Errors are relative to the entry, or to a thousandth of its row and column.  Where limits differ, an entry may be
    anything between them; at a kink, where first derivatives do, also 0; where it is infinite, anything but NaN.
    """
    true = true_hessian(formula, row, active)
    size = abs(np.diag(true)) ** 0.5
    near = abs(found - true) <= tolerance * np.maximum(abs(true), 1e-3 * np.outer(size, size)) + 1e-3 * tolerance
    right = near & (abs(true) < KINK)
    if not right.all():
        (least, *_), (most, *_) = ends = [np.split(each, [-1]) for each in limits(formula, row, active)]
        slack = max(tolerance, 1e-7) * np.maximum(1.0, np.minimum(abs(least), abs(most)))
        with np.errstate(invalid="ignore"):
            kinked = (ends[1][1] - ends[0][1] > 1e-6)[0]
            inside = (found >= least - slack) & (found <= most + slack)
        infinite = np.isinf(least) & np.isinf(most) & ~np.isnan(found)
        right |= inside | infinite | (found == 0.0) & (kinked | kinked[:, None])
    return ~right
