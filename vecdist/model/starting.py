"""Where samplers of a log density may begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vecdist.lazy.on_device import to_device

if TYPE_CHECKING:
    from vecdist.model.logdensity import LogDensity

TRIES = 100  # as in Stan


def starting_point(density: LogDensity, seed: int | None) -> Any:
    """A vector of uniform numbers between -2 and 2 where value and gradient are finite, of the density's device."""
    random = np.random.default_rng(seed)
    for _ in range(TRIES):
        x = random.uniform(-2.0, 2.0, density.ndim).astype(density.dtype)
        point = x if density.device == "cpu" else to_device(x)
        value, gradient = density.logdensity_and_gradient(point)
        if np.isfinite(value) and np.isfinite(gradient).all():
            return point
    raise ValueError(
        f"no start was found: none of {TRIES} points between -2 and 2 has a finite log density and gradient; begin "
        "with a point of your own, such as pack(...)"
    )
