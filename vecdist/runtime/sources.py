"""Generated code as modules, which a compiler finds by their names."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterable, Mapping
from types import CodeType, ModuleType
from typing import Any

from vecdist.kernel.code import Function
from vecdist.runtime import store

TEXT = "__text__"  # the name of its own text in a module
CODE = "__code__"  # and of the statements of its functions


def imported(name: str, text: str, given: Mapping[str, Any], functions: Iterable[Function] = ()) -> ModuleType:
    """The module of generated code, whose text is also written where kernels are kept, to be read.

    ``given`` are functions that it calls and does not import; ``functions`` are its own, which are read off its text
    where they are not given.
    """
    path = store.kept(f"{name}.py", text.encode()) or f"<{name}>"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # Numba looks it up by name when it compiles, and loads what was compiled
    module.__dict__.update(given)
    module.__dict__[TEXT] = text
    module.__dict__[CODE] = {each.name: each.body for each in functions}
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


def forget(name: str) -> None:
    """Let a module go that is compiled."""
    sys.modules.pop(name, None)
