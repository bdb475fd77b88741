"""Loops over special functions become vector instructions, and none of them calls a mathematical library."""

import platform
import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from vecdist import LazyArray, explain, lazy
from vecdist.kernel.statements import Assign
from vecdist.passes.bind import bind
from vecdist.primitives import PRIMITIVES
from vecdist.runtime import pipeline
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
