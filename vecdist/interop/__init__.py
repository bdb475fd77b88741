"""Adapters that give a ``LogDensity`` to samplers and array libraries, each in a module that bears the client's name.

A client is loaded when its module is first used.  ``jax.function`` serves BlackJAX and NumPyro too; it and
``torch.function`` also take what ``vecdist.compile`` gives, and their ``expression`` goes the other way.  Some need no
adapter: SciPy's ``minimize`` takes ``density.neg``, emcee and zeus take the ``LogDensity`` with ``vectorize=True``.

>>> import vecdist.interop
>>> vecdist.interop.__all__
['arviz', 'jax', 'mici', 'nested', 'nutpie', 'pymc', 'torch']
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

__all__ = ["arviz", "jax", "mici", "nested", "nutpie", "pymc", "torch"]

if TYPE_CHECKING:
    from vecdist.interop import arviz, jax, mici, nested, nutpie, pymc, torch
else:
    def __getattr__(name: str) -> Any:
        """The adapter of a client, loaded where it is first named."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return importlib.import_module(f"{__name__}.{name}")


def client(name: str) -> Any:
    """A module of a client; ``ImportError`` that says how to install it where it is not there."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        package, _, _ = name.partition(".")
        if error.name not in (package, name):  # it is there, and lacks something itself
            raise
        raise ImportError(f'{package} is not installed: pip install "vecdist[clients]"', name=package) from error


def calls_python(name: str, reason: object) -> None:
    """Warn that a client calls a log density through Python, and why: it could be faster."""
    warnings.warn(f"{name} calls this log density through Python, not its C function: {reason}", stacklevel=4)
