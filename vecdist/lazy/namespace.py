"""The namespace of lazy arrays for code that follows the Python array API standard: NumPy's, but for a few functions.

NumPy's functions ask lazy arrays for their own forms, so that they are what the standard says; here stand those that do
not ask, or have not all that the standard has.  What is not lazy stays NumPy's.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

from vecdist.lazy.array import LazyArray

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def of_version(version: str | None) -> ModuleType:
    """This namespace, of a version that it is one of."""
    if version is not None and version not in VERSIONS:
        raise ValueError(f"lazy arrays follow the array API standard of {', '.join(VERSIONS)}, not of {version}")
    return sys.modules[__name__]


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """A lazy array as it is, also in a sequence of them; anything else as an array of NumPy's."""
    if isinstance(obj, list | tuple) and any(isinstance(each, LazyArray) for each in obj):
        obj = np.stack([asarray(each) for each in obj])  # type: ignore[arg-type]
    if isinstance(obj, LazyArray):
        obj = obj if device is None else obj.to_device(device)
        return obj if dtype is None else obj.astype(dtype)
    return np.asarray(obj, dtype=dtype, device=device, copy=copy)


def finfo(type: Any, /) -> Any:  # noqa: A002 (the standard's name)
    return np.finfo(getattr(type, "dtype", type))


def iinfo(type: Any, /) -> Any:  # noqa: A002
    return np.iinfo(getattr(type, "dtype", type))


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    found = np.sort(x, axis=axis, stable=stable)
    return np.flip(found, axis=axis) if descending else found


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """In descending order, too, equal elements stay in theirs."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    found = np.flip(np.argsort(np.flip(x, axis=axis), axis=axis, stable=stable), axis=axis)
    return x.shape[axis] - 1 - found


def __getattr__(name: str) -> Any:
    return getattr(np, name)
