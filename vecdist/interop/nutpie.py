"""nutpie: a log density as a model that its NUTS samples."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np

from vecdist.interop import calls_python, client
from vecdist.interop.nutpie_native import KNOWN, by_address
from vecdist.model.logdensity import LogDensity

pyfunc: Any = client("nutpie.compiled_pyfunc")


def model(density: LogDensity, native: bool = True) -> Any:
    """A model for ``nutpie.sample``, whose draws have the constrained parameters by name, with their dims and coords.

    nutpie's threads call the kernel by its address, without Python; with ``native=False``, for log densities that have
    none, and where nutpie is of another version than 0.16, they call Python, as a warning says.  That holds the lock:
    with cheap kernels ``cores=1`` is faster then.  Chains start at ``density.initial_point``.

    >>> import vecdist, vecdist.interop
    >>> from vecdist.parameters import positive
    >>> density = vecdist.LogDensity(lambda tau: -tau.sum(), tau=positive(3))
    >>> vecdist.interop.nutpie.model(density).n_dim
    3
    """
    dims = {name: axes for name, axes in density.dims.items() if name in density.names}
    lengths = {axis: n for name, axes in dims.items() for axis, n in zip(axes, density.shapes[name], strict=True)}
    coords = {axis: _labels(density.coords.get(axis, range(n))) for axis, n in lengths.items()}
    version = metadata.version("nutpie")
    if native and not version.startswith(KNOWN):
        calls_python("nutpie", f"that is known for nutpie {KNOWN}*, and this is {version}")
    elif native:
        try:
            return by_address(density, dims, coords, lambda seed: _start(density, seed))
        except (AttributeError, NotImplementedError, TypeError) as error:
            if density.device == "cpu":
                calls_python("nutpie", error)
    return _by_python(density, dims, coords)


def _by_python(density: LogDensity, dims: Any, coords: Any) -> Any:
    def expand(x: Any) -> dict[str, Any]:
        return {name: np.asarray(array, np.float64) for name, array in density.unpack(x).items()}

    def evaluate(x: Any) -> tuple[float, Any]:
        value, gradient = density.logdensity_and_gradient(x)
        return float(value), np.asarray(gradient, np.float64)

    shapes, kinds = list(density.shapes.values()), [np.dtype(np.float64)] * len(density.names)
    return pyfunc.from_pyfunc(
        density.ndim, lambda: evaluate, lambda *seeds: expand, kinds, shapes, list(density.names),
        coords=coords, dims=dims, make_initial_point_fn=lambda seed: _start(density, seed),
    )  # fmt: skip


def _labels(labels: Any) -> Any:
    """Labels as nutpie takes them: an array of numbers, or a list of strings."""
    array = np.asarray(labels)
    return array if array.dtype.kind in "bif" else [str(label) for label in labels]


def _start(density: LogDensity, seed: Any) -> Any:
    return np.asarray(density.initial_point(seed), np.float64)
