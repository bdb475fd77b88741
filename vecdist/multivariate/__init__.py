"""Families of vectors and matrices: one file each, found by being in this folder."""

import importlib
import pkgutil

from vecdist.multivariate.base import MULTIVARIATE, Multivariate

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

globals().update(MULTIVARIATE)

__all__ = ["MULTIVARIATE", "Multivariate", *sorted(MULTIVARIATE)]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll]
