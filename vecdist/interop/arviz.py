"""ArviZ: draws of a posterior as labelled data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.model.logdensity import LogDensity

arviz: Any = client("arviz")


def data(density: LogDensity, draws: Any, observed: Mapping[str, Any] | None = None, key: int | None = None) -> Any:
    """Draws, of shape (chains, draws, D), as ArviZ has them, with the names of axes and their labels.

    That is a ``DataTree``, with ArviZ before 1.0 its ``InferenceData``.

    Its group ``posterior`` has the constrained parameters; ``log_likelihood`` that of each datum, where the model parts
    it from the prior; ``posterior_predictive`` draws with ``key``, where that is given; ``observed_data`` the arrays
    ``observed``, by name.  ``ValueError`` for draws of another shape.

    >>> import numpy as np, vecdist, vecdist.interop
    >>> from vecdist.parameters import positive
    >>> density = vecdist.LogDensity(lambda tau: -tau.sum(), tau=positive(3), dims={"tau": ("school",)})
    >>> tree = vecdist.interop.arviz.data(density, np.zeros((4, 100, 3)))
    >>> dict(tree["posterior"].sizes)
    {'chain': 4, 'draw': 100, 'school': 3}
    """
    draws = np.asarray(draws)
    if draws.ndim != 3 or draws.shape[-1] != density.ndim:
        raise ValueError(f"draws have shape (chains, draws, {density.ndim}), given {draws.shape}")
    groups: dict[str, Mapping[str, Any]] = {"posterior": density.unpack(draws)}
    if density.pointwise_shapes:
        groups["log_likelihood"] = density.pointwise_loglikelihood(draws)
    if key is not None:
        groups["posterior_predictive"] = density.predictive(draws, key)
    if observed is not None:
        groups["observed_data"] = {name: np.asarray(array) for name, array in observed.items()}
    labels = {"coords": dict(density.coords), "dims": {name: list(axes) for name, axes in density.dims.items()}}
    if arviz.__version__.startswith("0."):  # the last for Python 3.11
        return arviz.from_dict(**groups, **labels)
    return arviz.from_dict(groups, **labels)
