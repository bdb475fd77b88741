"""Families of distributions: one file each, found by being in this folder."""

import importlib
import pkgutil
from typing import Any

from vecdist.distributions.base import FAMILIES, Distribution, parametrisation  # noqa: F401 (parts of __all__)

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

globals().update(FAMILIES)


def __getattr__(name: str) -> Any:
    """Families of vectors, which are made of what is here, and ``__all__`` with them."""
    from vecdist.multivariate import MULTIVARIATE

    if name == "__all__":
        return ["FAMILIES", "Distribution", "parametrisation", *sorted([*FAMILIES, *MULTIVARIATE])]
    if name in MULTIVARIATE:
        return MULTIVARIATE[name]
    raise AttributeError(f"there is no family {name}; there are {', '.join(sorted([*FAMILIES, *MULTIVARIATE]))}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
