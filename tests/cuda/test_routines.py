"""Kernels with routines compile to machine code for an H100 without a GPU, those that they call linked in."""

import numpy as np
import pytest

from vecdist import lazy, logcdf, sample
from vecdist.codegen.cuda.grid import THREADS
from vecdist.distributions import Binomial, Gamma, Hypergeometric, Poisson, VonMises, WienerFirstPassage
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower, values

special = pytest.importorskip("scipy.special")

A, B, X = np.array([0.5, 2.0, 30.0]), np.array([3.0, 0.5, 40.0]), np.array([0.25, 0.5, 0.75])
CASES = {
    "gammainc": lambda dtype: (special.gammainc(lazy(A.astype(dtype)), lazy(B.astype(dtype))), ()),
    "gammainc with gradient": lambda dtype: (special.gammainc(lazy(A), lazy(B)).sum(), (A, B)),
    "gammaincinv": lambda dtype: (special.gammaincinv(lazy(A), lazy(X)), ()),
    "betainc with gradient": lambda dtype: (special.betainc(lazy(A), lazy(B), lazy(X)).sum(), (A, B)),
    "betaincinv": lambda dtype: (special.betaincinv(lazy(A), lazy(B), lazy(X)), ()),
    "gamma draws": lambda dtype: (sample(1, Gamma(lazy(A.astype(dtype)), 1.0), 5), ()),
    "poisson draws": lambda dtype: (sample(1, Poisson(lazy(A)), 5), ()),
    "binomial draws": lambda dtype: (sample(1, Binomial(20, lazy(X)), 5), ()),
    "hypergeometric draws": lambda dtype: (sample(1, Hypergeometric(lazy(B), 40, 30), 5), ()),
    "first passages with gradient": lambda dtype: (logcdf(WienerFirstPassage(A, 0.0, lazy(X), B), X).sum(), (A, X)),
    "far angles": lambda dtype: (np.sin(lazy(A.astype(dtype))).sum(), ()),
    "von mises draws": lambda dtype: (sample(1, VonMises(0.0, lazy(A)), 5), ()),
}
REGISTERS = 65_536 // (2 * THREADS)  # of a thread: at least two blocks on a multiprocessor
LONG = {*CASES} - {"gammainc", "gammainc with gradient", "gamma draws", "far angles"}


@pytest.mark.parametrize(("name", "dtype"), [
    pytest.param(name, dtype, marks=[pytest.mark.slow] if name in LONG else [])
    for name in CASES
    for dtype in (["f4", "f8"] if name in {"gammainc", "far angles"} else ["f8"])
])
def test_routines_compile_for_a_gpu(name, dtype):
    pytest.importorskip("cuda.core", reason="cuda-core, which links CUDA kernels, is not installed")
    from vecdist.runtime.cuda import backend as cuda
    from vecdist.runtime.cuda import compiler as cuda_compiler

    if not getattr(cuda_compiler.cuda, "compile", None) or cuda_compiler.cuda.implementation != "NVIDIA":
        pytest.skip("numba-cuda, which compiles CUDA kernels, is not installed")
    result, wrt = CASES[name](dtype)
    _, kernel = lower(bind((result.node, *map(leaf, wrt))), gradient_of if wrt else values, "nan", cuda.Cuda)
    _, _, code = cuda.cubin(kernel, (9, 0))
    assert code.startswith(b"\x7fELF") and cuda_compiler.registers(code) <= REGISTERS
