"""Kernels of the CPU without a compiler: their generated source, run by Python as it stands.

Everything else is as it is for a user, from the cache of structures to the arrays that are returned.  The words of the
generated language are spoken here by NumPy's scalars, which have the same types and wrap around alike, and no index may
leave its array.  What is left for compiled kernels to show is that Numba and LLVM make the same of the source.
"""

import contextlib
import ctypes
import functools
import math
import operator
import struct
from types import FunctionType, ModuleType, SimpleNamespace
from unittest import mock

import numba
import numpy as np

from vecdist.graph.memo import Memo
from vecdist.model.native import entries
from vecdist.runtime import cache, pipeline, sources
from vecdist.runtime.cpu import backend as cpu
from vecdist.runtime.cpu import language as cpu_language
from vecdist.runtime.cpu import threads

ROUTINES = {}  # whose names say what they compute


@contextlib.contextmanager
def uncompiled():
    """Inside, kernels of the CPU are run by Python, and none that was compiled before is used."""
    with (
        mock.patch.object(pipeline, "_plans", Memo(cache.most)),
        mock.patch.object(pipeline, "_launches", Memo(cache.most)),
        mock.patch.object(cpu, "_routines", ROUTINES),
        mock.patch.object(cpu, "_compile_once", spoken_once),
        mock.patch.object(cpu, "Packed", SpokenPart),
        mock.patch.object(entries, "_entry", return_value=None),  # there is nothing that C could call
        mock.patch.object(sources, "imported", import_source),
        mock.patch.object(threads, "WORTH_TRYING", np.inf),  # nothing is learnt from how long Python takes
    ):
        yield


def import_source(name, text, functions, given, make):
    """The module of generated source, in the words of this one."""
    module = ModuleType(name)
    module.__dict__.update(given | LANGUAGE)
    exec(translated(name, text), module.__dict__)
    return module


@functools.lru_cache(maxsize=1024)
def translated(name, text):
    """Generated source as Python's code, which the tests of one model share."""
    return compile(text.replace(f"from {cpu_language.__name__} import *", ""), name, "exec")


def spoken_once(module, exports, shared):
    """What is compiled elsewhere is run as it is; it has no address, but is itself."""
    for each, types in exports.values():
        each.compile(types)
    return [each for each, _ in exports.values()]


class SpokenPart:
    """A kernel, or a part of one, for arguments that are not packed."""

    def __init__(self, spoken, signature):
        self.spoken = spoken

    def __call__(self, *arguments):
        self.spoken(*arguments)

    def at(self, lengths):
        return self

    def shared(self, *arguments):
        return SpokenShare(self.spoken, arguments)


class SpokenShare:
    """The parts of nests, one after another, the last of them first."""

    def __init__(self, spoken, arguments):
        self.spoken, self.arguments = spoken, arguments

    def given(self, *arguments):
        return SpokenShare(self.spoken, (*self.arguments, *arguments))

    def alone(self, nest, last):
        self.spoken(nest, 0, last, *self.arguments)

    def together(self, crew, nest, job):
        for first, last in zip(job.cuts[-2::-1], job.cuts[:0:-1], strict=True):
            self.spoken(nest, int(first), int(last), *self.arguments)
        return True


class Spoken:
    """A function of generated source: numbers that it is called with are converted to the types it was compiled for."""

    def __init__(self, function):
        self.py_func, self.written, self.types = function, self, {}

    @property
    def function(self):
        """What names its parameters."""
        return SimpleNamespace(parameters=self.py_func.__code__.co_varnames[: self.py_func.__code__.co_argcount])

    def __call__(self, *arguments):
        given = [self.types.get(place, lambda value: value)(value) for place, value in enumerate(arguments)]
        with np.errstate(all="ignore"):
            return self.py_func(*given)

    def compile(self, signature):
        numbers = ((place, each) for place, each in enumerate(signature) if isinstance(each, numba.types.Number))
        self.types = {place: getattr(np, each.name) for place, each in numbers if each != numba.types.int64}

    def disable_compile(self):
        """There is nothing to disable."""


def load(array, offset, output, outputs):
    if 0 <= offset < array.size:  # nothing is called as often
        return array[offset]
    return array[inside(array, offset)]


def store(array, offset, value, output, outputs):
    array[inside(array, offset)] = value


def add_at(array, offset, value, output, outputs):
    array[inside(array, offset)] += value


def inside(array, offset):
    """The offset, after a check that it is one of the array."""
    assert 0 <= offset < array.size, f"element {offset} of {array.size}"
    return offset


def load_bytes(array, offset, output, outputs):
    address = array.__array_interface__["data"][0] + int(offset)
    first, behind = np.lib.array_utils.byte_bounds(array)
    assert first <= address <= behind - array.itemsize, f"byte {offset} of an array of strides {array.strides}"
    return np.frombuffer(ctypes.string_at(address, array.itemsize), array.dtype)[0]


def gemv(x, first, step, vector, place, rows, columns, out, target):
    """Each row of a matrix in an array times a vector."""
    own = elements(vector, place, columns)
    for row in range(rows):
        terms = elements(x, first + row * step, columns).astype(np.float64) * own
        out[inside(out, target + row)] = terms.sum()


def gemv_transposed(x, first, step, vector, place, rows, columns, out, target):
    """A vector times the rows of a matrix in an array, added to what is there."""
    total = elements(out, target, columns)
    for row in range(rows):
        total += elements(x, first + row * step, columns) * vector[inside(vector, place + row)]


def pack(x, first, step, rows, columns, out, target, width):
    """Copy the rows of a matrix in an array to another."""
    for row in range(rows):
        elements(out, target + row * width, columns)[...] = elements(x, first + row * step, columns)


def elements(array, first, count):
    """So many elements of an array, all of which it has."""
    if count:
        inside(array, first), inside(array, first + count - 1)
    return array[first : first + count]


def select(condition, yes, no):
    chosen = yes if condition else no
    return np.float64(chosen) if type(chosen) is float else chosen


def accumulate(function):
    """A value taken into a total, in the type of the total."""

    def accumulated(total, value):
        return function(total, value if type(value) is type(total) else type(total)(value))

    return accumulated


def patterned(kind, usual, packed, unpacked):
    """What reads the bits of a number as one of another kind: of the ``usual``, in a third of the time of a view."""
    kinds = {size: np.dtype(f"{kind}{size}") for size in (4, 8)}
    made, pack, unpack = kinds[8].type, struct.Struct(packed).pack, struct.Struct(unpacked).unpack

    def pattern(value):
        if type(value) is usual:
            return made(unpack(pack(value))[0])
        number = value if isinstance(value, np.generic) else np.asarray(value)[()]
        return number.view(kinds[number.itemsize])

    return pattern


NUMBERS = {name: np.dtype(name).type for name in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")}
WORDS = NUMBERS | {
    "accumulate_max": accumulate(np.maximum), "accumulate_min": accumulate(np.minimum),
    "accumulate_prod": accumulate(operator.mul), "accumulate_sum": accumulate(operator.add), "add_at": add_at,
    "as_element": lambda array, value: array.dtype.type(value), "b1": np.bool_,
    "bits": patterned("i", np.float64, "d", "q"), "compiled": Spoken, "empty": np.empty, "float": np.float64,
    "floor": np.floor, "fmod": np.fmod,
    "from_bits": patterned("f", np.int64, "q", "d"), "gemv": gemv, "gemv_transposed": gemv_transposed,
    "load": load, "load_bytes": load_bytes, "merged": Spoken, "np": np, "pack": pack,
    "rint": np.rint,
    "select": select, "sqrt": np.sqrt, "store": store, "widest": lambda: None, "room": np.empty, "zeros": np.zeros,
}
LANGUAGE = WORDS | {"math": math}
for each in vars(cpu_language).values():
    if isinstance(each, FunctionType) and hasattr(each, "written"):  # in the same words
        LANGUAGE[each.__name__] = FunctionType(each.__code__, LANGUAGE)
