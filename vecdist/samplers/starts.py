"""Where chains start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist import random
from vecdist.graph.leaves import on_host
from vecdist.samplers.density import Target
from vecdist.samplers.kernels import evaluated

STARTS = 100  # points that are tried for each chain
_TRIES = 1 << 62  # numbers of streams for starting points begin here; those of draws end long before


def started(target: Target, keys: Any, initial: Any, finite: Callable[[Any], Any]) -> Any:
    """Positions of shape (chains, D) at which all chains are ``finite``: the initial ones, or found at random.

    ``finite`` is asked of the result last.
    """
    library, shape = target.library, (len(keys), target.ndim)
    if initial is not None:
        if np.shape(initial) not in (shape, shape[1:]):
            raise ValueError(f"initial has shape {np.shape(initial)}; wanted {shape[1:]} or {shape}")
        found = library.broadcast_to(library.asarray(initial, dtype=np.float64), shape).copy()
        wrong = np.flatnonzero(~on_host(finite(found)))
        if len(wrong):
            raise ValueError(f"the log density or its gradient is not finite where chain {wrong[0]} is to start")
        return found
    found, good, host = library.zeros(shape), library.zeros(len(keys), bool), on_host(keys)
    for attempt in range(STARTS):
        stream = random.fold_in(host, _TRIES + attempt)[:, None]
        tried = evaluated(4.0 * random.uniform(stream, shape[1]) - 2.0)
        found = library.where(good[:, None], found, library.asarray(tried))
        good = finite(found)
        if bool(good.all()):
            return found
    raise ValueError(
        f"the log density or its gradient is finite at none of {STARTS} points tried for a chain; give initial"
    )
