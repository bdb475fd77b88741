"""Public names that are found when they are first asked for: a program loads what it names, and what that needs."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def found_later(
    package: str, where: Mapping[str, str], registers: Mapping[str, Sequence[str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``where`` has for each name the module that defines it; modules are found, too, as attributes of their package.  In
    ``registers`` are tables that modules enter things in, with the packages whose modules these are: all of them are
    loaded before the table is shown.
    """

    def find(name: str) -> Any:
        for each in (registers or {}).get(name, ()):
            load(each)
        if name in where:
            found = getattr(importlib.import_module(where[name]), name)
        elif name in _modules(package):
            found = importlib.import_module(f"{package}.{name}")
        else:
            said = f"module {package!r} has no attribute {name!r}; there are {', '.join(sorted(where))}"
            raise AttributeError(said, name=name, obj=sys.modules[package])
        setattr(sys.modules[package], name, found)  # which is all that the next time costs
        return found

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where, *_modules(package)})

    return find, listed, sorted(where)


def load(package: str) -> None:
    """Import every module of a package."""
    for name in _modules(package):
        importlib.import_module(f"{package}.{name}")


def _modules(package: str) -> list[str]:
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [each.name for each in found if not each.name.startswith("_")]
