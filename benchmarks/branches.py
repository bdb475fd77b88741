"""Formulas with true branches: an LSTM cell and products of tanh, written with Python's if and with np.where.

They are the experiments A and B of Revels, Besard, Churavy, De Sutter and Vielma (2018), arXiv 1810.08297.  Beside them
stand kernels written by hand for Numba, with branches and dual numbers; and what branches cost and save by the steps of
a side, from which it is known how many deserve one (`vecdist/codegen/reverse_if_conversion.py`).
"""

from __future__ import annotations

import functools
import math
import operator
from argparse import Namespace
from collections.abc import Callable
from typing import Any
from unittest import mock

import arity
import lstm_cell
import numpy as np
import timing
from contest import Contest
from scipy.special import expit
from timing import Contender

SIZES = {"cpu": [1024], "cuda": [2048, 8192]}
FACTORS = (1, 4, 10)
SIDES = (8, 32, 128, 256, 512, 1024)  # steps of the dear side
THREADS = 256


def cell(c: float, f: float, i: float, g: float, z: float, zb: float) -> float:
    """The cell as it is told: flush, copy or update."""
    if z == 1.0:
        return expit(i) * math.tanh(g)
    if zb == 0.0:
        return c
    return expit(f) * c + expit(i) * math.tanh(g)


def factor(x: float) -> float:
    """The hyperbolic tangent, whose sign depends on a branch."""
    if x > 0.5:
        return math.tanh(x)
    return math.tanh(-x)


def cell_by_if(c: Contest) -> Contender:
    """The cell with branches, by vecdist."""
    import vecdist

    return c.vecdist(vecdist.function(cell))


def product_by_if(c: Contest) -> Contender:
    """A product of factors with branches, by vecdist."""
    import vecdist

    signed = vecdist.function(factor)
    return c.vecdist(lambda *given: functools.reduce(operator.mul, map(signed, given)))


def cell_by_hand(c: Contest) -> Contender:
    """A kernel for Numba: branches, and each partial where it is not zero."""
    rows, columns = c.given[0].shape
    one, zero = np.ones(2, c.given[0].dtype)[0], np.zeros(2, c.given[0].dtype)[0]

    def element(at: int, given: Any, results: Any) -> None:
        c, f, i, g, z, zb = given
        column = at % columns
        flush = z[column] == one
        value, of_c, of_f, of_i, of_g = zero, zero, zero, zero, zero
        if flush or zb[column] != zero:
            s, t = one / (one + math.exp(-i[at])), math.tanh(g[at])
            value, of_i, of_g = s * t, s * (one - s) * t, s * (one - t * t)
            if not flush:
                gate = one / (one + math.exp(-f[at]))
                value, of_c, of_f = value + gate * c[at], gate, gate * (one - gate) * c[at]
        else:
            value, of_c = c[at], one
        results[0][at], results[1][at], results[2][at] = value, of_c, of_f
        results[3][at], results[4][at] = of_i, of_g

    return numba_kernel(c, element, rows * columns)


def product_by_hand(c: Contest) -> Contender:
    """A kernel for Numba of dual numbers: each factor multiplies the value, and all partials before it."""
    count, dtype = c.count, c.given[0].dtype
    one, half = np.ones(2, dtype)[0], np.full(2, 0.5, dtype)[0]

    def element(at: int, given: Any, results: Any) -> None:
        value = one
        for place in range(count):
            x = given[place][at]
            if x > half:
                factor, slope = math.tanh(x), one
            else:
                factor, slope = math.tanh(-x), -one
            for before in range(place):
                results[1 + before][at] *= factor
            results[1 + place][at] = value * slope * (one - factor * factor)
            value *= factor
        results[0][at] = value

    return numba_kernel(c, element, c.given[0].size)


def numba_kernel(c: Contest, element: Callable[..., None], size: int) -> Contender:
    """What each thread does with an element, as a kernel of Numba on flat arrays."""
    library = timing.array_library(c.device)
    given = tuple(library.asarray(array).reshape(-1) for array in c.given)
    results = tuple(library.empty_like(given[0]) for _ in range(1 + c.count))
    run = on_gpu(element, given, results, size) if c.device == "cuda" else on_cpu(element, given, results, size)

    def call() -> Any:
        run()
        return [result.reshape(c.given[0].shape) for result in results]

    return Contender(call, timing.wait_for(c.device), lambda: 1)


def on_gpu(element: Callable[..., None], given: Any, results: Any, size: int) -> Callable[[], None]:
    """A thread for each element, in a grid that covers all of them; arrays are handed over once."""
    from numba import cuda

    each = cuda.jit(device=True)(element)

    @cuda.jit
    def kernel(given: Any, results: Any) -> None:
        at = cuda.grid(1)
        if at < size:
            each(at, given, results)

    arrays = tuple(map(cuda.as_cuda_array, given)), tuple(map(cuda.as_cuda_array, results))
    launch = kernel[(size + THREADS - 1) // THREADS, THREADS]
    return lambda: launch(*arrays)


def on_cpu(element: Callable[..., None], given: Any, results: Any, size: int) -> Callable[[], None]:
    """All elements, shared by threads."""
    import numba

    each = numba.njit(element)

    @numba.njit(parallel=True)
    def kernel(given: Any, results: Any) -> None:
        for at in numba.prange(size):
            each(at, given, results)

    return lambda: kernel(given, results)


def compete(c: Contest, theirs: dict[str, Callable[[], Contender]], by_if: Any, by_hand: Any) -> None:
    """A table of the same in every way; that with ``np.where`` is first."""
    own = {"vecdist": theirs.pop("vecdist"), "vecdist, if": lambda: by_if(c), "Numba, by hand": lambda: by_hand(c)}
    c.run({**own, **theirs})


def side(chosen: Namespace, steps: int, uniform: bool, dear: int) -> Contender:
    """A choice between an element and a polynomial of it, where ``dear`` steps deserve a branch."""
    import vecdist
    from vecdist.codegen.cuda import plan
    from vecdist.codegen.reverse_if_conversion import branched
    from vecdist.graph.memo import Memo
    from vecdist.runtime import pipeline

    library, rng = timing.array_library(chosen.device), np.random.default_rng(steps)
    n = 2**22
    x, test = library.asarray(rng.random(n).astype(chosen.dtype)), np.arange(n) // 1024 % 2 == 0
    test = library.asarray(test if uniform else rng.permutation(test))
    coefficients = rng.random(steps // 2).astype(chosen.dtype)

    def formula(x: Any, test: Any) -> Any:
        found = 1.0 + x
        for coefficient in coefficients:
            found = found * x + coefficient
        return np.where(test, found, x)

    fast = vecdist.compile(formula)
    wait = timing.wait_for(chosen.device)
    apart = mock.patch.multiple(pipeline, _plans=Memo(1), _launches=Memo(1))  # not the plan of the same formula before
    with apart, mock.patch.object(plan, "branched", lambda items, *_: branched(items, dear)):
        wait(fast(x, test))
    return Contender(lambda: fast(x, test), wait)


def sides(chosen: Namespace) -> None:
    """What a branch costs and saves, by the steps of one side of a choice."""
    kinds = [(uniform, dear) for uniform in (False, True) for dear in (1, 10**9)]
    rows = []
    for steps in SIDES:
        entries = {kind: timing.attempt(functools.partial(side, chosen, steps, *kind))[0] for kind in kinds}
        timing.race(entries, chosen.device)
        times = [timing.duration(e.median) if isinstance(e, Contender) else e for e in entries.values()]
        rows.append((str(steps), *times))
    timing.heading(f"A choice with a side of some steps, {2**22} elements of {chosen.dtype}", chosen.device)
    timing.table(("steps", "branch, random", "both, random", "branch, uniform", "both, uniform"), rows)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for n in [chosen.size] if chosen.size else SIZES[chosen.device]:
        for uniform in (False, True):
            c = lstm_cell.contest(chosen, n, uniform)
            c.title = c.title.replace("LSTM cell", "LSTM cell with branches,")
            compete(c, lstm_cell.contenders(c), cell_by_if, cell_by_hand)
    chosen.size = chosen.size or SIZES[chosen.device][0]
    for k in FACTORS:
        c = arity.contest(chosen, k)
        c.title = c.title.replace("Product", "Product with branches")
        theirs = {name: functools.partial(arity.build, c, name) for name in arity.NAMES}
        compete(c, theirs, product_by_if, product_by_hand)
    if chosen.device == "cuda":
        sides(chosen)
