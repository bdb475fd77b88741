"""The one place that knows what Numba keeps, and where: functions on disk, and what holds memory after them."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures.thread import ThreadPoolExecutor
from typing import Any, final

import llvmlite
import numba
from llvmlite import binding
from numba.core import sigutils
from numba.core.ccallback import CFunc
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.runtime._nrt_python import c_helpers
from numba.core.serialize import dumps

from vecdist.graph.memo import in_children
from vecdist.runtime import store
from vecdist.runtime.turns import making_something

_next = threading.Lock()  # of the thread that is the next to compile: who has just done so comes behind it


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """While one thread compiles or loads a function, to be asked for anew for each, so that others come between.

    Numba has one lock for whoever compiles, and llvmlite one for each call of LLVM.  No process is forked meanwhile,
    which would have half of it for ever.
    """
    with contextlib.nullcontext() if global_compiler_lock.is_locked() else _next:
        global_compiler_lock.acquire()
    try:
        with _passes_disposed_of(), _modules_alone_optimised(), _garbage_disposed_of_here(), making_something():
            yield
    finally:
        global_compiler_lock.release()


def _forget_next() -> None:
    if _next.locked():
        _next.release()  # of a thread that is not in this child


in_children(_forget_next)


def _hold() -> None:
    global_compiler_lock.acquire()
    binding.ffi.lib._lock.__enter__()


def _release() -> None:
    binding.ffi.lib._lock.__exit__(None, None, None)
    global_compiler_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release)


def crew(count: int) -> ThreadPoolExecutor:
    """Threads that help the one that compiles.

    It asks for a lock of theirs, so that a fork must not hold that and wait for the one that compiles: what is
    registered later, as here behind what was imported, is called earlier.
    """
    return ThreadPoolExecutor(count)


@contextlib.contextmanager
def _passes_disposed_of() -> Iterator[None]:
    """Have pass managers disposed of, which is most of the memory that a compilation takes.

    llvmlite 0.50 and earlier have the method for it, and another with nothing in it that hides it.
    """
    passes = binding.newpassmanagers
    kinds = [passes.ModulePassManager, passes.FunctionPassManager]
    hidden = [kind for kind in kinds if kind._dispose is binding.ffi.ObjectRef._dispose]
    for kind in hidden:
        kind._dispose = passes.NewPassManager._dispose
    try:
        yield
    finally:
        for kind in hidden:
            del kind._dispose


@contextlib.contextmanager
def _modules_alone_optimised() -> Iterator[None]:
    """Leave out the passes over each function before its module, whose own begin with the same ones.

    They take a tenth of the time of a compilation; what the models of tests compute has the same bits without them.
    """
    kind: Any = CPUCodeLibrary
    each: Callable[[Any, Any], None] = kind._optimize_functions

    def only_laid_out(library: Any, module: Any) -> None:
        module.data_layout = library._codegen._data_layout  # all else that Numba does there

    kind._optimize_functions = only_laid_out
    try:
        yield
    finally:
        kind._optimize_functions = each


@contextlib.contextmanager
def _garbage_disposed_of_here() -> Iterator[None]:
    """Have this thread dispose of what LLVM made, whichever collects the garbage: others would wait for LLVM's lock."""
    kind: Any = binding.ffi.ObjectRef
    here, left = threading.get_ident(), []
    dispose: Callable[[Any], None] = kind.__del__

    def dispose_here(found: Any) -> None:
        if threading.get_ident() == here:
            dispose(found)
        else:
            left.append(found)

    kind.__del__ = dispose_here
    try:
        yield
    finally:
        kind.__del__ = dispose
        for found in left:
            dispose(found)


def release(function: Any) -> None:
    """Let go of what only a compiler wants of a function: its types, and its LLVM module.

    It can be called as before.  Machine code stays as long as the process: Numba has one engine for all of it.
    """
    if not isinstance(function, Dispatcher):
        return
    compiled: Any = function
    results: dict[Any, Any] = compiled.overloads.copy()
    compiled.held = [result.entry_point for result in results.values()]  # C code calls them, and does not hold them
    for types, result in results.items():
        with contextlib.suppress(KeyError):
            compiled.targetctx.remove_user_function(result.entry_point)
        drop_llvm(result.library)
        known = {"signature": result.signature, "objectmode": result.objectmode}
        compiled.overloads[types] = result._replace(**dict.fromkeys(result._fields) | known)


def c_function(signature: Any, function: Callable[..., Any], cache: CodeCache | None = None) -> Any:
    """A function that C can call at its ``address``, with no more kept of it than that needs."""
    with alone():
        compiled: Any = CFunc(function, sigutils.normalize_signature(signature), {}, {"error_model": "numpy"})
        compiled._cache = cache or compiled._cache
        compiled.compile()
        drop_llvm(compiled._library)
    return compiled


def drop_llvm(library: Any) -> None:
    """Let go of the LLVM module of a library, whose machine code stays."""
    with contextlib.suppress(AttributeError):  # another Numba keeps them elsewhere
        engine, module = library.codegen._engine._ee, library._final_module
        engine.remove_module(module)
        module.close()
        library._final_module = library._shared_module = None


@functools.cache
def _name_runtime() -> None:
    """Tell LLVM where the functions of Numba's runtime are, which machine code calls.

    That, and not what Numba loads before it compiles (``target.refresh()``, which SciPy is a part of), is all that code
    wants that is there.
    """
    for name, address in c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@final
class CodeCache:
    """Where machine code is kept: one file for each signature, behind a digest; for Numba, that of a function.

    What is compiled is known by a ``name`` that says its content, but for the ``version`` of the language it is in.
    """

    cache_path = None

    def __init__(self, name: str, version: str) -> None:
        self.name: str = name
        self.version: str = version

    @classmethod
    def of(cls, function: Callable[..., Any], version: str) -> CodeCache:
        """That of a function, whose module is called by its content."""
        module = function.__module__.rpartition(".")[2].removesuffix(f"_{version}")
        return cls(f"{module}_{version}.{function.__qualname__}", version)

    def _file(self, signature: Any, codegen: Any) -> str:
        versions = (self.version, numba.__version__, llvmlite.__version__, sys.implementation.cache_tag)
        told = repr((*versions, str(signature), codegen.magic_tuple()))
        return f"{self.name}.{hashlib.sha256(told.encode()).hexdigest()[:12]}.nbc"

    def read(self, signature: Any, codegen: Any) -> bytes | None:
        """What was written for a signature; ``None`` where there is nothing whole."""
        _name_runtime()
        return store.read_checked(self._file(signature, codegen))

    def write(self, signature: Any, codegen: Any, content: bytes) -> None:
        store.write_checked(self._file(signature, codegen), content)

    def load_overload(self, signature: Any, target: Any) -> CompileResult | None:
        """What was compiled for a signature, for Numba."""
        content = self.read(signature, target.codegen())
        return None if content is None else CompileResult._rebuild(target, *pickle.loads(content))

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        """Keep what was compiled."""
        if not (result.library.has_dynamic_globals or any(not each.can_cache for each in result.lifted)):
            self.write(signature, result.codegen, dumps(result._reduce()))
