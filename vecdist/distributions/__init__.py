"""Families of distributions: one file each, found by being in this folder."""

import importlib
import pkgutil

from vecdist.distributions.base import FAMILIES, Distribution, parametrisation

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

globals().update(FAMILIES)
__all__ = ["FAMILIES", "Distribution", "parametrisation", *sorted(FAMILIES)]  # noqa: PLE0604
