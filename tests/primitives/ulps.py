"""Errors of primitives in units in the last place, against ball arithmetic (python-flint)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

import flint
import numpy as np
from flint import arb

from vecdist.graph.node import Node
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret

DTYPES = [np.float64, np.float32]
PRECISION = 400  # bits: the differences of lgamma at 1e15 keep 50 digits
FEW, ENOUGH = 160, 100  # bits to begin with, and those that have to be right: 2^-47 units in the last place are left
COUNT = 150  # points per range
INF, NAN = np.inf, np.nan

Ranges = tuple[tuple[float, float], ...]


def evaluate(name: str, arrays: list[np.ndarray]) -> np.ndarray:
    """The value of a primitive at arrays of one dtype, in the interpreter."""
    slots = [Node("slot", (), (i,), ("n0",), a.dtype) for i, a in enumerate(arrays)]
    (value,) = interpret([PRIMITIVES[name](*slots)], arrays, {"n0": len(arrays[0])})
    return value


def spread(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    """Numbers between two bounds of one sign, evenly on the logarithmic scale."""
    return np.sign(high) * np.exp(rng.uniform(*sorted((np.log(abs(low)), np.log(abs(high)))), count))


def points(ranges: list[Ranges], dtype: type, count: int = COUNT) -> list[np.ndarray]:
    """Arguments drawn from each of ``ranges``: one pair of bounds per argument; pairs of mixed sign are even."""
    rng = np.random.default_rng(20240607)
    columns = [
        [rng.uniform(low, high, count) if low * high <= 0 else spread(rng, low, high, count) for low, high in bounds]
        for bounds in ranges
    ]
    return [np.concatenate(column).astype(dtype) for column in zip(*columns, strict=True)]


def errors(name: str, truth: Callable[..., arb], arrays: list[np.ndarray], floor: Callable[..., arb]) -> np.ndarray:
    """The errors in units in the last place of the true value, or of ``floor`` where that is larger."""
    values = evaluate(name, arrays)
    kind = np.finfo(values.dtype)
    result, known = np.zeros(len(values)), precisely(truth, PRECISION)
    for i, row in enumerate(zip(*(a.tolist() for a in arrays), strict=True)):
        with flint.ctx.workprec(FEW):
            exact = known(*map(arb, row))
        with flint.ctx.workprec(PRECISION):
            size = max(abs(float(exact.mid())), abs(float(floor(*map(arb, row)).mid())))
            if size > float(kind.max):
                result[i] = 0.0 if np.isinf(values[i]) else INF
                continue
            unit = np.spacing(max(values.dtype.type(size), kind.smallest_subnormal))
            result[i] = abs(float((arb(float(values[i])) - exact).mid())) / float(unit)
    return result


@dataclass(frozen=True)
class Case:
    """A primitive, its true value, where it is tried in each format and how far off it may be."""

    name: str
    truth: Callable[..., arb]
    double: list[Ranges]
    single: list[Ranges]
    bounds: tuple[float, float]
    floor: Callable[..., arb] = lambda *_: arb(0)


def one(*ranges: tuple[float, float]) -> list[Ranges]:
    return [(r,) for r in ranges]


def both(*ranges: tuple[float, float]) -> list[Ranges]:
    """The ranges and their mirror images."""
    return one(*ranges, *((-high, -low) for low, high in ranges))


def at_least_one(*_: arb) -> arb:
    return arb(1)


def precisely(truth: Callable[..., arb], bits: int = 2000) -> Callable[..., arb]:
    """``truth`` with more digits, for what cancels on the way to it.

    A few are tried first, which the ball says are right or not, unless the caller has found that they do not do.
    """

    @wraps(truth)
    def with_more_digits(*arguments: arb) -> arb:
        if flint.ctx.prec < PRECISION:
            with flint.ctx.workprec(FEW):
                found = truth(*arguments)
            if found.rel_accuracy_bits() >= ENOUGH:
                return found
        with flint.ctx.workprec(bits):
            return truth(*arguments)

    return with_more_digits


def assert_accurate(case: Case, dtype: type, count: int = COUNT) -> None:
    """The errors of a case are within its bounds."""
    ranges, bound = (case.double, case.bounds[0]) if dtype == np.float64 else (case.single, case.bounds[1])
    arrays = points(ranges, dtype, count)
    found = errors(case.name, case.truth, arrays, case.floor)
    worst = int(np.argmax(found))
    assert found[worst] <= bound, f"{found[worst]} at {[a[worst] for a in arrays]}"
