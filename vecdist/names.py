"""Public names that are found when they are first asked for: a program loads what it names, and what that needs."""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

PATIENCE = 2.0  # seconds
_turn = threading.RLock()


def found_later(
    package: str, where: Mapping[str, str], registers: Mapping[str, Sequence[str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``where`` has for each name the module that defines it; modules are found, too, as attributes of their package.  In
    ``registers`` are tables that modules enter things in, with the packages whose modules these are: all of them are
    loaded before the table is shown.
    """

    def find(name: str) -> Any:
        with _one_by_one():
            return found(name)

    def found(name: str) -> Any:
        for each in (registers or {}).get(name, ()):
            load(each)
        if name in where:
            value = getattr(importlib.import_module(where[name]), name)
        elif name in _modules(package):
            value = importlib.import_module(f"{package}.{name}")
        else:
            said = f"module {package!r} has no attribute {name!r}; there are {', '.join(sorted(where))}"
            raise AttributeError(said, name=name, obj=sys.modules[package])
        setattr(sys.modules[package], name, value)  # which is all that the next time costs
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where, *_modules(package)})

    return find, listed, sorted(where)


@contextlib.contextmanager
def _one_by_one() -> Iterator[None]:
    """One thread at a time loads modules for a name: where several do, in other orders, Python breaks the knot of their
    locks by showing one of them a module that is half done.

    A thread that is in the midst of an import may be what another waits for, so that nobody waits for ever.
    """
    held = _turn.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if held:
            _turn.release()


def load(package: str) -> None:
    """Import every module of a package."""
    for name in _modules(package):
        importlib.import_module(f"{package}.{name}")


@functools.cache
def _modules(package: str) -> list[str]:
    """Read from the folder once: whoever looks around, as doctest does, asks a hundred times for what is not there."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [each.name for each in found if not each.name.startswith("_")]
