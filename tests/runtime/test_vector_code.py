"""Loops over special functions become vector instructions, and none of them calls a mathematical library."""

import platform
import re

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest

from vecdist import LazyArray, explain, lazy
from vecdist.kernel.statements import Assign
from vecdist.passes.bind import bind
from vecdist.primitives import PRIMITIVES
from vecdist.runtime import pipeline
from vecdist.runtime.cpu import language
from vecdist.runtime.cpu.backend import Cpu
from vecdist.runtime.pipeline import lower

FUNCTIONS = ("exp", "log", "log1p", "expm1", "tanh", "sigmoid", "erf", "sin", "cos", "lgamma", "digamma")
ARITHMETIC = {"add", "sub", "mul", "div"}

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or not llvm.get_host_cpu_features().get("avx2"),
    reason="the instructions looked for are those of x86 processors with AVX2",
)


def program(name, dtype):
    """The compiled program of one function of an array."""
    x = np.linspace(0.5, 3.0, 100).astype(dtype)
    bound = bind((LazyArray(PRIMITIVES[name](lazy(x).node)).node,))
    return Cpu().compile(lower(bound, pipeline.values)[1])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_vector_code(name, dtype):
    compiled = program(name, dtype)
    assembly = compiled.assembly()
    letter = {"f4": "s", "f8": "d"}[dtype]
    packed = re.findall(rf"\bv(?:add|sub|mul|div|fn?m(?:add|sub)\d+)p{letter}\b.*%[yz]mm", assembly)
    kernel = compiled.source.kernel
    arithmetic = [item for item in kernel.root.walk() if isinstance(item, Assign) and item.op in ARITHMETIC]
    assert len(packed) >= len(arithmetic) // 2, "two statements make one instruction at most"
    symbols = {symbol.lower() for symbol in re.findall(r"(?:call\w*|movabsq)\s+\$?([A-Za-z_]\w*)", assembly)}
    library = re.compile(rf"_*({'|'.join(FUNCTIONS)}|pow|tgamma|fma|floor|rint|round)f?\d*(_finite)?")
    assert not {symbol for symbol in symbols if library.fullmatch(symbol)}


def test_resources_name_the_vectors():
    (kernel,) = explain(np.exp(lazy(np.linspace(0.5, 3.0, 100)))).kernels
    assert kernel.resources["vector registers"] in ("256 bit", "512 bit")


EXTREME = """
def extreme(x, valid, count):
    widest()
    found = x[0]
    for place in range(count):
        found = accumulate(found, select(valid & (x[place] < 1000.0), x[place] * x[place], nan))
    return found
"""


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("word", ["accumulate_max", "accumulate_min"])
def test_extremes_of_what_may_be_nan_are_found_in_vectors(word, dtype):
    """As of densities, NaN for some scales and means: LLVM would choose between the larger number and NaN instead."""
    kind = np.dtype(dtype)
    names = {**language.WORDS, "accumulate": language.WORDS[word], "nan": kind.type(np.nan)}
    exec(EXTREME, names)
    function = numba.njit(error_model="numpy", fastmath={"contract"})(names["extreme"])
    function.compile((numba.from_dtype(kind)[::1], numba.boolean, numba.int64))
    (assembly,) = function.inspect_asm().values()
    assert re.search(rf"\bvmulp{'s' if dtype == 'f4' else 'd'}\b.*%[yz]mm", assembly)
    x = np.random.default_rng(3).normal(size=100).astype(kind)
    largest = word == "accumulate_max"
    assert function(x, True, 100) == (max(x[0], (x * x).max()) if largest else min(x[0], (x * x).min()))
    x[57] = 1e4
    assert np.isnan(function(x, True, 100)) and np.isnan(function(x, False, 100))
