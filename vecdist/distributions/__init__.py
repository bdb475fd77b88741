"""Families of distributions: one file each, found by being in this folder."""

import importlib
import pkgutil
from typing import Any

from vecdist.distributions.base import FAMILIES, Distribution, parametrisation

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

globals().update(FAMILIES)


def __getattr__(name: str) -> Any:
    from vecdist.multivariate import MULTIVARIATE

    if name in MULTIVARIATE:
        return MULTIVARIATE[name]
    raise AttributeError(f"there is no family {name}; there are {', '.join(sorted([*FAMILIES, *MULTIVARIATE]))}")


__all__ = ["FAMILIES", "Distribution", "parametrisation", *sorted(FAMILIES)]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll]
