"""Generated source as modules, which a compiler finds by their names."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Mapping
from types import CodeType, ModuleType
from typing import Any

from vecdist.runtime import store

TEXT = "__text__"  # the name of its own text in a module


def imported(name: str, text: str, given: Mapping[str, Any]) -> ModuleType:
    """The module of generated source, which is also written where kernels are kept, to be read.

    ``given`` are functions that it calls and does not import.
    """
    path = store.kept(f"{name}.py", text.encode()) or f"<{name}>"
    module = ModuleType(name)
    module.__file__ = str(path)
    known(module)
    module.__dict__.update(given)
    module.__dict__[TEXT] = text
    exec(_code(name, text, str(path)), module.__dict__)
    return module


def _code(name: str, text: str, path: str) -> CodeType:
    """The text as Python runs it, kept beside it: where machine code is kept, too, nothing reads it again."""
    file = f"{name}.{sys.implementation.cache_tag}.pyc"
    found = store.read_checked(file)
    if found is not None:
        return marshal.loads(found)
    code = compile(text, path, "exec")
    store.write_checked(file, marshal.dumps(code))
    return code


def known(module: ModuleType) -> None:
    """Have a module found by its name: Numba looks it up when it compiles, and loads what was compiled."""
    sys.modules[module.__name__] = module


def forget(module: ModuleType) -> None:
    """Let a module go that is compiled; not another of its name, which another thread compiles."""
    if sys.modules.get(module.__name__) is module:
        sys.modules.pop(module.__name__, None)
