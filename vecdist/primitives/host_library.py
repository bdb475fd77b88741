"""BLAS and LAPACK of the CPU: which library is called, and with how many threads.

NumPy and SciPy each come with an OpenBLAS, whose threads spin for some 25 ms after each call.  On two cores a product
by one and a solution by the other, 0.1 ms of work, took 8 ms, for which the scheduler lets a thread spin, or 16.  So
what is worth threads is called in SciPy's, which has all of it, and the rest takes none.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, final

import numpy as np

NUMPY, SCIPY = "numpy.linalg._umath_linalg", "scipy.linalg.cython_lapack"  # modules that are linked with the libraries
NAMES = tuple(itertools.product(("scipy_openblas", "openblas"), ("64_", "")))  # before and after names of functions
KINDS = {np.dtype(np.float32): ("s", ctypes.c_float), np.dtype(np.float64): ("d", ctypes.c_double)}

FEW = 2**23
"""Multiplications up to which threads gain little: 0.2 to 0.4 ms of work."""


@final
class Quiet:
    """A context in which a library takes no threads of its own; any number of threads may be in it at once."""

    def __init__(self, count: Callable[[], int], limit: Callable[[int], object]) -> None:
        self._count, self._limit = count, limit
        self._before = self._inside = 0
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._left_by_all)

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = self._count()
                self._limit(1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._restore()

    def _restore(self) -> None:
        if self._count() == 1:  # else somebody has set it meanwhile
            self._limit(self._before)

    def _left_by_all(self) -> None:
        """In a child, which has none of the threads that were inside."""
        self._lock = threading.Lock()
        if self._inside:
            self._inside = 0
            self._restore()


@cache
def quiet(module: str) -> contextlib.AbstractContextManager[None]:
    """The context of the library that a module is linked with; it changes nothing where this is not OpenBLAS."""
    try:
        library = ctypes.PyDLL(importlib.import_module(module).__file__)  # the GIL is kept: calls take nanoseconds
    except (ImportError, OSError):
        return contextlib.nullcontext()
    for before, after in NAMES:
        count, limit = (getattr(library, f"{before}_{each}_num_threads{after}", None) for each in ("get", "set"))
        if count is not None and limit is not None:
            limit.restype = None
            return Quiet(count, limit)
    return contextlib.nullcontext()


def threads_for(work: int, module: str = SCIPY) -> contextlib.AbstractContextManager[None]:
    """The context for so many multiplications by a library: without threads, where these would gain little."""
    return quiet(module) if work <= FEW else contextlib.nullcontext()


@cache
def routine(name: str, dtype: np.dtype) -> Callable[..., None] | None:
    """SciPy's function of BLAS or LAPACK, called without the GIL; none where SciPy is not installed, or for no floats.

    It takes letters, sizes, factors and arrays; what it writes, a state too, is in arrays.
    """
    from numba.extending import get_cython_function_address

    if dtype not in KINDS:
        return None
    library, _, own = name.partition(".")
    letter, real = KINDS[dtype]
    try:
        address = get_cython_function_address(f"scipy.linalg.cython_{library}", letter + own)
    except ImportError:
        return None
    function = ctypes.CFUNCTYPE(None)(address)
    return lambda *given: function(*[_passed(each, real) for each in given])


def _passed(value: Any, real: Any) -> Any:
    """An argument as Fortran has it: by its place."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, bytes):
        return value
    return ctypes.byref(real(value) if isinstance(value, float) else ctypes.c_int(value))
