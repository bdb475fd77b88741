"""Generated code as modules, which a compiler finds by their names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from vecdist.kernel.code import Function
from vecdist.runtime import store


def imported(
    name: str,
    text: str,
    functions: Iterable[Function],
    meanings: Mapping[str, Any],
    make: Callable[[Function, Mapping[str, Any]], Any],
) -> ModuleType:
    """The module of functions of this text, which is also written where kernels are kept, to be read.

    ``meanings`` are the words that they are written in; ``make`` makes what is called of a function and its names.
    """
    path = store.kept(f"{name}.py", text.encode()) or f"<{name}>"
    module = ModuleType(name)
    module.__file__ = str(path)
    known(module)
    names = vars(module)
    names.update(meanings)
    for function in functions:
        names[function.name] = make(function, names)
    return module


def known(module: ModuleType) -> None:
    """Have a module found by its name: Numba looks it up when it compiles, and loads what was compiled."""
    sys.modules[module.__name__] = module


def forget(module: ModuleType) -> None:
    """Let a module go that is compiled; not another of its name, which another thread compiles."""
    if sys.modules.get(module.__name__) is module:
        sys.modules.pop(module.__name__, None)
