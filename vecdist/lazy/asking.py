"""Who asks for a value that is not there yet, as the user wrote it, and what to write instead."""

from __future__ import annotations

import ast
import builtins
import contextlib
import linecache
import math
import sys
from collections.abc import Iterator, Sequence
from dis import opmap
from types import FrameType

import numpy as np

from vecdist.graph.leaves import NoValueYet
from vecdist.lazy.exits import calls_outwards, module_of

LONGEST = 80  # of a user's words that are repeated
DOORS = {"__array__", "__bool__", "__float__", "__format__", "__index__", "__int__", "__round__"}
WRITES = opmap["STORE_SUBSCR"]  # an element, or several, of an array

_SHOWN = "what is only looked at has a value outside of the function"
_WRITTEN = (
    "elements of a NumPy array cannot be lazy: write np.stack, np.concatenate or np.block to make the whole of parts, "
    "x = np.where(np.arange(n) == i, a, x) to replace an element, or x = vecdist.add_at(x, i, a) to add to it"
)
_INDEXED = "index a lazy array, vecdist.lazy(x)[i]; np.r_ and np.c_ are np.concatenate and np.column_stack"
_OF_DOORS = {
    "__array__": (
        "leave a lazy array as it is; for a list of lazy arrays write np.stack([a, b]), for nested lists "
        "np.block([[a, b], [c, d]])"
    ),
    "__bool__": "choose by np.where(condition, a, b), or by branches of a vecdist.function; join conditions by & and |",
    "__format__": _SHOWN,
    "__index__": "lengths, and the indices of lists, are plain numbers, which are known when the function is called",
}
_OF_NUMBERS = f"write it by NumPy's functions of arrays; {_SHOWN}"
_OF_FUNCTIONS = {f"math.{name}": f"np.{name}" for name in vars(math) if hasattr(np, name)} | {
    "builtins.all": "np.all", "builtins.any": "np.any", "builtins.max": "np.maximum, or np.max of an array",
    "builtins.min": "np.minimum, or np.min of an array", "builtins.round": "np.round", "builtins.sorted": "np.sort",
    "math.erf": "scipy.special.erf", "math.erfc": "scipy.special.erfc", "math.fsum": "np.sum",
    "math.gamma": "scipy.special.gamma", "math.lgamma": "scipy.special.gammaln", "math.pow": "np.power",
    "numpy.arange": "np.linspace(a, b, n)", "numpy.fromiter": "np.stack", "numpy.full": "np.ones(shape) * a",
    "numpy.vectorize": "what it does for whole arrays, or a vecdist.function",
}  # fmt: skip
_BY_HAND = "vecdist.external takes a function with its derivatives"
_OF_SCIPY = {
    "integrate": f"np.trapezoid is lazy, and vecdist.scan takes steps; {_BY_HAND}",
    "linalg": f"functions of np.linalg and vecdist.linalg are lazy; {_BY_HAND}",
    "signal": f"functions of vecdist.signal are lazy; {_BY_HAND}",
    "stats": "vecdist.logpdf(Normal(mu, sd), x) is lazy, as are cdf and the like, of all families",
}


def explained(error: NoValueYet) -> NoValueYet:
    """The error with the words by which the user asked, where they are to be found, and what is meant instead."""
    frames = [*calls_outwards(sys._getframe(1))]
    words = _words(frames[-1])
    return error.asked(words if len(words) <= LONGEST else "", _instead(frames, words))


@contextlib.contextmanager
def in_front() -> Iterator[None]:
    """Inside, where NumPy puts a general error in front of this one, as it does for an element, it is raised itself."""
    try:
        yield
    except ValueError as error:
        if isinstance(error.__cause__, NoValueYet):
            raise error.__cause__.with_traceback(error.__traceback__) from None
        raise


def _instead(frames: Sequence[FrameType], words: str) -> str | None:
    door = next((frame.f_code.co_name for frame in frames if frame.f_code.co_name in DOORS), None)
    if door is None:
        return None
    if frames[-1].f_code.co_code[frames[-1].f_lasti] == WRITES:
        return _WRITTEN
    asked = _called(words, frames[-1])
    modules = [module_of(frame) for frame in frames[:-1]] + ([asked] if isinstance(asked, str) else [])
    scipy = [names[1] for names in (module.split(".") for module in modules) if names[0] == "scipy"]
    if scipy:
        return next((_OF_SCIPY[package] for package in reversed(scipy) if package in _OF_SCIPY), _BY_HAND)
    if isinstance(asked, ast.Subscript) and door != "__bool__":
        return _INDEXED
    function = _OF_FUNCTIONS.get(asked) if isinstance(asked, str) else None
    return f"write {function}" if function else _OF_DOORS.get(door, _OF_NUMBERS)


def _called(words: str, frame: FrameType) -> str | ast.expr:
    """The function that words call, with its module, where it goes by a name, or else what they are."""
    try:
        found = ast.parse(words, mode="eval").body
    except SyntaxError:
        return ""
    while isinstance(found, ast.Call):
        found = found.func
    first, *others = ast.unparse(found).split(".")
    if not all(name.isidentifier() for name in (first, *others)):
        return found
    function = (vars(builtins) | frame.f_globals | frame.f_locals).get(first)
    for name in others:
        function = getattr(function, name, None)
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"


def _words(frame: FrameType) -> str:
    """What a frame is about to do in the words of its source, on one line; nothing where that is not there."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    first, last, begin, end = [*frame.f_code.co_positions()][frame.f_lasti // 2]
    if first is None or last is None or begin is None or end is None or last > len(lines):
        return ""
    part = [line.encode() for line in lines[first - 1 : last]]
    part[-1] = part[-1][:end]
    part[0] = part[0][begin:]
    return " ".join(b"".join(part).decode(errors="replace").split())
