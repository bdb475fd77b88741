"""Accuracy of the primitives against ball arithmetic (python-flint), in units in the last place, and their edges."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import flint
import numpy as np
import pytest
from flint import arb

from vecdist.backends.interpreter import interpret
from vecdist.expr import Node
from vecdist.primitives import PRIMITIVES

DTYPES = [np.float64, np.float32]
PRECISION = 400  # bits: the differences of lgamma at 1e15 keep 50 digits
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
    columns = []
    for bounds in ranges:
        columns.append([
            rng.uniform(low, high, count) if low * high <= 0 else spread(rng, low, high, count) for low, high in bounds
        ])
    return [np.concatenate(column).astype(dtype) for column in zip(*columns, strict=True)]


def errors(name: str, truth: Callable[..., arb], arrays: list[np.ndarray], floor: Callable[..., arb]) -> np.ndarray:
    """The errors in units in the last place of the true value, or of ``floor`` where that is larger."""
    values = evaluate(name, arrays)
    kind = np.finfo(values.dtype)
    result = np.zeros(len(values))
    with flint.ctx.workprec(PRECISION):
        for i, row in enumerate(zip(*(a.tolist() for a in arrays), strict=True)):
            exact = truth(*map(arb, row))
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


def log_gamma_delta(x: arb, d: arb) -> arb:
    return (x + d).lgamma() - x.lgamma()


def polygamma(order: int) -> Callable[[arb], arb]:
    """(-1)**(m + 1) m! zeta(m + 1, x), DLMF 25.11.12."""
    return lambda x: (-1) ** (order + 1) * arb(order + 1).gamma() * arb(order + 1).zeta(x)


def log_beta(a: arb, b: arb) -> arb:
    return a.lgamma() + b.lgamma() - (a + b).lgamma()


def beta_parts(a: arb, b: arb) -> arb:
    """The largest term of the logarithm of the beta function when both arguments are moved up by 3."""
    low, high = (a, b) if a < b else (b, a)
    return (low * ((low + high + 1) / (low + 1)).log()).max(arb(1)) + (low + 1).log()


def log_choose(n: arb, k: arb) -> arb:
    return (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()


NEAR = (1e-6, 1.0)
ALL = both((1e-300, 1e-6), NEAR, (1.0, 700.0))
ALL_SINGLE = both((1e-36, 1e-6), NEAR, (1.0, 87.0))
WIDE = one((1e-300, 1e-6), NEAR, (0.9, 1.1), (1.0, 1e6), (1e6, 1e300))
WIDE_SINGLE = one((1e-36, 1e-6), NEAR, (0.9, 1.1), (1.0, 1e6), (1e6, 1e36))
SUBNORMAL, SUBNORMAL_SINGLE = (5e-324, 2e-308), (1.5e-45, 1e-38)
ABOVE_MINUS_ONE = both((1e-300, 1e-6), (1e-6, 0.9)) + one((-0.9999999, -0.5), (1.0, 1e6), (1e6, 1e300))
ABOVE_MINUS_ONE_SINGLE = both((1e-36, 1e-6), (1e-6, 0.9)) + one((-0.999999, -0.5), (1.0, 1e6), (1e6, 3e38))
PAIRS = [((1e-6, 1e6), (1e-6, 1e6)), ((1e-3, 10.0), (1e-3, 10.0)), ((1e4, 1e14), (1e-2, 1e2))]
PAIRS_SINGLE = [((1e-6, 1e6), (1e-6, 1e6)), ((1e-3, 10.0), (1e-3, 10.0)), ((1e3, 1e7), (1e-2, 1e2))]
LARGE = [((1e3, 1e15), (1e3, 1e15))]

CASES = [
    Case("exp", arb.exp, ALL + one((-745.0, -708.0), (709.0, 709.78)),
         ALL_SINGLE + one((-103.9, -87.0), (88.0, 88.7)), (1.0, 1.0)),
    Case("exp2", lambda x: (x * arb(2).log()).exp(), ALL + one((-1074.0, -1000.0), (1000.0, 1023.9)),
         ALL_SINGLE + one((-149.0, -120.0), (120.0, 127.9)), (1.0, 1.0)),
    Case("expm1", arb.expm1, ALL + one((709.0, 709.78)), ALL_SINGLE + one((88.0, 88.7)), (1.5, 1.5)),
    Case("log", arb.log, WIDE + one(SUBNORMAL), WIDE_SINGLE + one(SUBNORMAL_SINGLE), (1.0, 1.0)),
    Case("log2", lambda x: x.log() / arb(2).log(), WIDE + one(SUBNORMAL), WIDE_SINGLE + one(SUBNORMAL_SINGLE), (2.0, 2.0)),
    Case("log10", lambda x: x.log() / arb(10).log(), WIDE + one(SUBNORMAL), WIDE_SINGLE + one(SUBNORMAL_SINGLE), (2.0, 2.0)),
    Case("log1p", arb.log1p, ABOVE_MINUS_ONE, ABOVE_MINUS_ONE_SINGLE, (1.5, 1.5)),
    Case("sigmoid", lambda x: 1 / (1 + (-x).exp()), ALL, ALL_SINGLE, (2.0, 2.0)),
    Case("log_sigmoid", lambda x: -(-x).exp().log1p(), ALL, ALL_SINGLE, (2.0, 2.0)),
    Case("softplus", lambda x: x.exp().log1p(), ALL, ALL_SINGLE, (2.0, 2.0)),
    Case("logaddexp", lambda x, y: x + (y - x).exp().log1p(), [((-30.0, 30.0),) * 2, ((-700.0, 700.0),) * 2],
         [((-30.0, 30.0),) * 2, ((-80.0, 80.0),) * 2], (2.0, 2.0), at_least_one),
    Case("tanh", arb.tanh, both((1e-300, 1e-6), NEAR, (0.3, 25.0)), both((1e-36, 1e-6), NEAR, (0.3, 12.0)), (2.0, 2.0)),
    Case("sinh", arb.sinh, ALL + one((709.0, 710.47)), ALL_SINGLE + one((88.0, 89.4)), (2.5, 2.5)),
    Case("cosh", arb.cosh, ALL + one((709.0, 710.47)), ALL_SINGLE + one((88.0, 89.4)), (2.0, 2.0)),
    Case("sin", arb.sin, both((1e-300, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**20)),
         both((1e-36, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**13)), (2.0, 2.0)),
    Case("cos", arb.cos, both((1e-300, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**20)),
         both((1e-36, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**13)), (2.0, 2.0)),
    Case("tan", arb.tan, both((1e-300, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**20)),
         both((1e-36, 1e-6), NEAR, (0.5, 10.0), (10.0, 2.0**13)), (4.0, 4.0)),
    Case("arctan", arb.atan, both((1e-300, 1e-6), NEAR, (0.8, 1.2), (1.0, 1e300)),
         both((1e-36, 1e-6), NEAR, (0.8, 1.2), (1.0, 1e36)), (2.0, 2.5)),
    Case("pow", lambda x, y: (y * x.log()).exp(),
         [((1e-6, 1e6), (-40.0, 40.0)), ((1e-300, 1e300), (-1.0, 1.0)), ((0.9, 1.1), (-6e3, 6e3)), ((2.0, 3.0), (500.0, 640.0))],
         [((1e-6, 1e6), (-5.0, 5.0)), ((1e-36, 1e36), (-1.0, 1.0)), ((0.9, 1.1), (-700.0, 700.0)), ((2.0, 3.0), (60.0, 80.0))],
         (2.0, 2.0)),
    Case("hypot", lambda x, y: (x * x + y * y).sqrt(), [((1e-300, 1e300),) * 2, ((1e-3, 1e3),) * 2],
         [((1e-36, 1e36),) * 2, ((1e-3, 1e3),) * 2], (2.0, 2.0)),
    Case("erf", arb.erf, both((1e-300, 1e-6), NEAR, (0.8, 7.0)), both((1e-36, 1e-6), NEAR, (0.8, 5.0)), (2.0, 2.0)),
    Case("erfc", arb.erfc, both((1e-6, 1.0), (0.5, 5.0)) + one((5.0, 27.2)),
         both((1e-6, 1.0), (0.5, 5.0)) + one((5.0, 10.05)), (4.0, 4.0)),
    Case("xlogy", lambda x, y: x * y.log(), [((1e-6, 1e6), (1e-6, 1e6))], [((1e-6, 1e6), (1e-6, 1e6))], (2.5, 2.5)),
    Case("xlog1py", lambda x, y: x * y.log1p(), [((1e-6, 1e6), (1e-6, 1e6))], [((1e-6, 1e6), (1e-6, 1e6))], (2.5, 2.5)),
    Case("lgamma", arb.lgamma, WIDE, WIDE_SINGLE, (9.0, 5.0), at_least_one),
    Case("digamma", arb.digamma, WIDE, WIDE_SINGLE, (4.0, 4.0), at_least_one),
    Case("trigamma", polygamma(1), one((1e-150, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)),
         one((1e-17, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)), (4.0, 4.0)),
    Case("tetragamma", polygamma(2), one((1e-100, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)),
         one((1e-11, 1e-6), NEAR, (1.0, 1e6), (1e6, 1e18)), (6.0, 6.0)),
    Case("lgamma_delta", log_gamma_delta, PAIRS + LARGE, PAIRS_SINGLE, (8.0, 8.0), at_least_one),
    Case("digamma_delta", lambda x, d: (x + d).digamma() - x.digamma(), PAIRS + LARGE, PAIRS_SINGLE, (8.0, 8.0)),
    Case("lbeta", log_beta, PAIRS + LARGE, PAIRS_SINGLE, (8.0, 8.0), beta_parts),
    Case("log_choose", log_choose, [((50.0, 1e8), (1e-3, 49.0))], [((50.0, 1e5), (1e-3, 49.0))], (8.0, 8.0), beta_parts),
]
