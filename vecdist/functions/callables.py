"""Functions that have a meaning on nodes: those of Python, math, NumPy and SciPy, and primitives."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any, final

import numpy as np

from vecdist.functions.numbers import Numbers, kind
from vecdist.functions.source import Problem
from vecdist.graph.node import Node, cast, const, where
from vecdist.lazy.ufuncs import apply, has_form
from vecdist.primitives.arithmetic import bits, ceil, eq, floor, isfinite, ne, rint, square, trunc
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.table import Primitive

Known = Callable[..., Any]
"""Called with ``Numbers`` and the arguments."""

OWN = ("vecdist.primitives", "vecdist.special")


@final
@dataclass(frozen=True)
class Range:
    """A range whose ends are not known by now."""

    start: Any
    stop: Any
    step: int


def known_call(callee: Any) -> Known | None:
    """What a function means on nodes, ``None`` where nobody knows."""
    try:
        found = KNOWN.get(callee)
    except TypeError:  # what cannot be hashed
        return None
    if found is not None:
        return found
    if isinstance(callee, np.ufunc):
        return _of_ufunc(callee) if has_form(callee) else MADE.get(callee.__name__)
    if isinstance(callee, Primitive) or (isinstance(callee, FunctionType) and callee.__module__.startswith(OWN)):
        return lambda numbers, *args: numbers.settled(callee(*numbers.floats(*args)))
    return None


@lru_cache(None)
def _of_ufunc(ufunc: np.ufunc) -> Known:
    def known(numbers: Numbers, *args: Any) -> Any:
        if len(args) != ufunc.nin:
            raise Problem(f"{ufunc.__name__} takes {ufunc.nin} arguments here, {len(args)} are given")
        if not any(isinstance(arg, Node) for arg in args):
            return ufunc(*args).item()
        return numbers.settled(apply(ufunc, *numbers.common(*args)))

    return known


def _plain(function: Callable[..., Any], on_nodes: Known) -> Known:
    """A function of math or Python, which has numbers that are known by now computed at once."""

    def either(numbers: Numbers, *args: Any, **keywords: Any) -> Any:
        known = not any(isinstance(each, Node) for each in (*args, *keywords.values()))
        return function(*args, **keywords) if known else on_nodes(numbers, *args, **keywords)

    return either


def _by_ufunc(name: str) -> Known:
    """A function of floats that is a ufunc of NumPy or SciPy under this name."""

    def known(numbers: Numbers, *args: Any) -> Node:
        ufunc = getattr(np, name, None)
        if ufunc is None:
            import scipy.special

            ufunc = getattr(scipy.special, name)
        return numbers.settled(apply(ufunc, *numbers.floats(*args)))

    return known


def _rounded(function: Callable[[Node], Node]) -> Known:
    """A function that gives a whole number."""

    def known(numbers: Numbers, x: Any) -> Node:
        return numbers.node(x, "i") if kind(x) != "f" else cast(function(x), np.int64)

    return known


def _round(numbers: Numbers, x: Any, digits: int | None = None) -> Node:
    if digits is not None:
        raise Problem("round(x, digits) rounds decimals, which floats have not; round(x) is a whole number")
    return _rounded(rint)(numbers, x)


def _log(numbers: Numbers, x: Any, base: Any = None) -> Node:
    of_x = log(numbers.node(x, "f"))
    return of_x if base is None else of_x / log(numbers.node(base, "f"))


def _copysign(numbers: Numbers, x: Any, y: Any) -> Node:
    size, sign = numbers.floats(x, y)
    size = abs(size)
    return where(bits(sign) < 0, -size, size)


def _atan2(numbers: Numbers, y: Any, x: Any) -> Node:
    """By the quotient that is at most 1, whose arc tangent is taken from a multiple of a right angle."""
    y, x = numbers.floats(y, x)
    a, b = abs(y), abs(x)
    steep = a > b
    long, short = where(steep, a, b), where(steep, b, a)
    equal = eq(a, b) & (eq(a, 0) | eq(a, math.inf))
    ratio = where(equal, where(eq(a, 0), const(0, a.dtype), const(1, a.dtype)), short / long)
    angle = apply(np.arctan, ratio)
    angle = where(steep, math.pi / 2 - angle, angle)
    angle = where(bits(x) < 0, math.pi - angle, angle)
    return where(bits(y) < 0, -angle, angle)


def _abs(numbers: Numbers, x: Any) -> Node:
    return abs(*numbers.common(x, least="i"))


def _cbrt(numbers: Numbers, x: Any) -> Node:
    """The cube root by a power and a step of Newton's method."""
    (x,) = numbers.floats(x)
    size = abs(x)
    root = size ** (1 / 3)
    better = root - (root * square(root) - size) / (3.0 * square(root))
    return _copysign(numbers, where(eq(size, 0) | eq(size, math.inf), size, better), x)


def _lgamma(numbers: Numbers, x: Any) -> Node:
    """log|gamma|, of negative numbers too."""
    from vecdist.special.reflection import log_abs_gamma

    return log_abs_gamma(numbers.node(x, "f"))


def _gamma(numbers: Numbers, x: Any) -> Node:
    """exp(log|gamma|) with its sign, which changes at whole numbers below 0; nan there."""
    (x,) = numbers.floats(x)
    size = exp(_lgamma(numbers, x))
    below = floor(x)
    odd = ne(below * 0.5, floor(below * 0.5))
    value = where((x < 0) & odd, -size, size)
    return where((x < 0) & eq(below, x), const(math.nan, x.dtype), value)


def _loggamma(numbers: Numbers, x: Any) -> Node:
    """The logarithm of gamma where that is positive on the real line from 0 on; nan below, as of SciPy's."""
    (x,) = numbers.floats(x)
    return where(x < 0, const(math.nan, x.dtype), _by_ufunc("gammaln")(numbers, x))


def _hypot(numbers: Numbers, *sides: Any) -> Node:
    total = numbers.node(sides[0], "f")
    for each in sides[1:]:
        total = apply(np.hypot, total, numbers.node(each, "f"))
    return abs(total)


def _ldexp(numbers: Numbers, x: Any, exponent: Any) -> Node:
    (power,) = numbers.whole(exponent)
    return numbers.node(x, "f") * apply(np.exp2, numbers.node(power, "f"))


def _isclose(numbers: Numbers, a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Node:
    x, y = numbers.floats(a, b)
    larger = where(abs(x) < abs(y), abs(y), abs(x))
    near = (abs(x - y) <= rel_tol * larger) | (abs(x - y) <= abs_tol)
    return eq(x, y) | (near & isfinite(x) & isfinite(y))


def _extreme(op: ast.cmpop) -> Known:
    """``max`` and ``min`` of Python: the first, unless a later one is beyond it."""

    def known(numbers: Numbers, first: Any, *others: Any) -> Any:
        items = (first, *others) if others else numbers.items(first)
        first = items[0]
        for each in items[1:]:
            first = numbers.merged(numbers.compare(op, each, first), each, first)
        return first

    return known


def _sum(numbers: Numbers, items: Any, start: Any = 0) -> Any:
    for each in numbers.items(items):
        start = numbers.binary(ast.Add(), start, each)
    return start


def _product(numbers: Numbers, items: Any, *, start: Any = 1) -> Any:
    for each in numbers.items(items):
        start = numbers.binary(ast.Mult(), start, each)
    return start


def _any(numbers: Numbers, items: Any) -> Any:
    found: Any = False
    for each in numbers.items(items):
        found = numbers.either(found, numbers.truth(each))
    return found


def _all(numbers: Numbers, items: Any) -> Any:
    found: Any = True
    for each in numbers.items(items):
        found = numbers.both(found, numbers.truth(each))
    return found


def _clip(numbers: Numbers, x: Any, low: Any, high: Any) -> Any:
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        x = x if bound is None else _of_ufunc(ufunc)(numbers, x, bound)
    return x


def _power(numbers: Numbers, x: Any, y: Any) -> Any:
    return numbers.binary(ast.Pow(), x, y)


def _divmod(numbers: Numbers, x: Any, y: Any) -> Any:
    return numbers.binary(ast.FloorDiv(), x, y), numbers.binary(ast.Mod(), x, y)


def _float(numbers: Numbers, x: Any = 0.0) -> Any:
    return numbers.node(x, "f")


def _sequence(function: Callable[..., Any]) -> Known:
    """A function that puts elements of sequences in another order, whatever these are."""

    def known(numbers: Numbers, *items: Any) -> tuple[Any, ...]:
        return tuple(function(*map(numbers.items, items)))

    return known


def _enumerate(numbers: Numbers, items: Any, start: int = 0) -> tuple[Any, ...]:
    return tuple(enumerate(numbers.items(items), start))


def _range(numbers: Numbers, start: Any, stop: Any = None, step: Any = 1) -> range | Range:
    start, stop = (0, start) if stop is None else (start, stop)
    if not any(isinstance(each, Node) for each in (start, stop, step)):
        return range(start, stop, step)
    numbers.whole(start, stop)
    if isinstance(step, Node) or not step:
        raise Problem("the step of a range is a number other than 0 that is known by now")
    return Range(start, stop, step)


MADE: dict[str, Known] = {
    "arctan2": _atan2, "cbrt": _cbrt, "copysign": _copysign, "gamma": _gamma, "ldexp": _ldexp, "loggamma": _loggamma,
}
# names of math's functions of floats, and those of the same ufuncs
MATH = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh",
    "cos": "cos", "cosh": "cosh", "degrees": "degrees", "erf": "erf", "erfc": "erfc", "exp": "exp", "exp2": "exp2",
    "expm1": "expm1", "fabs": "absolute", "fmod": "fmod", "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan",
    "log10": "log10", "log1p": "log1p", "log2": "log2", "pow": "float_power", "radians": "radians", "sin": "sin",
    "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
}
OTHERS: dict[Callable[..., Any], Known] = {
    math.atan2: _atan2, math.cbrt: _cbrt, math.ceil: _rounded(ceil), math.copysign: _copysign,
    math.floor: _rounded(floor), math.gamma: _gamma, math.hypot: _hypot, math.isclose: _isclose, math.ldexp: _ldexp,
    math.lgamma: _lgamma, math.log: _log, math.trunc: _rounded(trunc),
    abs: _abs, bool: lambda numbers, x=False: numbers.truth(x), float: _float, int: _rounded(trunc), round: _round,
}
KNOWN: dict[Any, Known] = {
    **{getattr(math, name): _plain(getattr(math, name), _by_ufunc(ufunc)) for name, ufunc in MATH.items()},
    **{function: _plain(function, known) for function, known in OTHERS.items()},
    builtins.max: _extreme(ast.Gt()), builtins.min: _extreme(ast.Lt()), builtins.pow: _power, builtins.divmod: _divmod,
    builtins.sum: _sum, math.fsum: _sum, math.prod: _product, builtins.any: _any, builtins.all: _all,
    builtins.len: lambda numbers, items: len(numbers.items(items)), builtins.enumerate: _enumerate,
    builtins.zip: _sequence(zip), builtins.reversed: _sequence(reversed), builtins.tuple: _sequence(tuple),
    np.where: lambda numbers, test, yes, no: numbers.merged(numbers.truth(test), yes, no), np.clip: _clip,
    np.power: _power, range: _range,
}
