"""How many compiled structures are kept in memory, and how they are forgotten."""

from __future__ import annotations

import gc
import os
import weakref
from typing import Any

from vecdist.graph.memo import Memo

VARIABLE, STRUCTURES = "VECDIST_CACHE_STRUCTURES", 512

_memos: weakref.WeakSet[Memo] = weakref.WeakSet()


def of_structures() -> Memo[Any]:
    """A memo of what is made of structures; of those that were last used as many are kept as ``most`` says."""
    memo = Memo(most)
    _memos.add(memo)
    return memo


def most() -> int:
    """How many structures are kept: ``VECDIST_CACHE_STRUCTURES``, or 512."""
    given = os.environ.get(VARIABLE) or str(STRUCTURES)
    if not given.isdecimal():
        raise ValueError(f"{VARIABLE} is a number of structures, given {given!r}")
    return int(given)


def clear_cache(disk: bool = False) -> None:
    """Forget the structures that were compiled, and with ``disk`` remove the files that they are kept in.

    Compiled functions and log densities stay as they are, with the kernels that they hold; what else is evaluated next
    is loaded from disk, or compiled again.  Memory is bounded without this: the structures that were last used are
    kept, 512 or as many as the environment variable ``VECDIST_CACHE_STRUCTURES`` says.

    >>> import numpy as np, vecdist
    >>> x = np.arange(3.0)
    >>> double = vecdist.compile(lambda x: x * 2.0)
    >>> double(x).tolist()
    [0.0, 2.0, 4.0]
    >>> vecdist.clear_cache()
    >>> double(x).tolist()
    [0.0, 2.0, 4.0]
    """
    for memo in list(_memos):
        memo.clear()
    gc.collect()  # modules of functions that call each other
    if disk:
        from vecdist.runtime import store

        store.clear()
