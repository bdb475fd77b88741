"""Kernels compile to machine code for an H100 without a GPU, within their budgets of registers."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from models import MODELS, NESTS, model_kernel, nest_kernel

from vecdist import lazy
from vecdist.graph.node import const
from vecdist.passes.bind import bind
from vecdist.passes.differentiate import partials
from vecdist.primitives.loops import local, loop
from vecdist.runtime import folder
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values

HOPPER = (9, 0)
# Registers of a thread.  A multiprocessor has 65536: up to 64 leave room for 4 blocks of 256 threads, up to 40 for 6.
# up to 80 for 3.  Those of rows hold the next row, too.
BUDGETS = {
    ("Normal", "f4", False): 48, ("Normal", "f8", False): 48, ("Normal", "f4", True): 64, ("Normal", "f8", True): 72,
    ("Gamma", "f4", False): 56, ("Gamma", "f8", False): 80, ("Gamma", "f4", True): 80, ("Gamma", "f8", True): 96,
    ("NegativeBinomial", "f4", False): 64, ("NegativeBinomial", "f8", False): 80,
    ("NegativeBinomial", "f4", True): 64, ("NegativeBinomial", "f8", True): 104,
    ("row sums", "f4"): 48, ("row sums", "f8"): 48,
    ("row sums used again", "f4"): 48, ("row sums used again", "f8"): 80,
    ("sum used again", "f4"): 48, ("sum used again", "f8"): 48,
    ("column sums used again", "f4"): 56, ("column sums used again", "f8"): 56,
    ("running sums", "f4"): 112, ("running sums", "f8"): 112,
}
EVERY_DAY = {  # these compile in less than two seconds each
    ("Normal", "f4", True), ("row sums", "f4"), ("row sums used again", "f8"), ("sum used again", "f8"),
    ("column sums used again", "f4"),
}


@pytest.fixture
def compiler():
    """The adapter to numba-cuda, where that is installed with all it needs."""
    pytest.importorskip("cuda.core", reason="cuda-core, which links CUDA kernels, is not installed")
    from vecdist.runtime.cuda import compiler as cuda_compiler

    if not getattr(cuda_compiler.cuda, "compile", None) or cuda_compiler.cuda.implementation != "NVIDIA":
        pytest.skip("numba-cuda, which compiles CUDA kernels, is not installed")
    return cuda_compiler


def cubin(kernel):
    from vecdist.runtime.cuda import backend as cuda

    return cuda.cubin(kernel, HOPPER)


def kernel_of(case):
    return model_kernel(*case) if case[0] in MODELS else nest_kernel(*case)


@pytest.mark.parametrize("case", [
    pytest.param(case, id="-".join(map(str, case)), marks=[] if case in EVERY_DAY else [pytest.mark.slow])
    for case in BUDGETS
])
def test_registers_stay_within_their_budget(case, compiler):
    source, name, code = cubin(kernel_of(case))
    assert code.startswith(b"\x7fELF") and name.encode() in code
    assert compiler.registers(code) <= BUDGETS[case], source.text


def test_every_case_has_a_budget():
    assert {case[0] for case in BUDGETS} == {*MODELS, *NESTS}


def test_a_loop_takes_the_registers_of_one_written_by_hand(compiler):
    """Newton's steps to a square root, and the derivative that they carry."""
    from numba import types

    cuda, pointer = compiler.cuda, types.CPointer(types.float64)

    def by_hand(given, roots, slopes, count):
        for i in range(cuda.grid(1), count, cuda.gridsize(1)):
            x, slope, a = 1.0, 0.0, given[i]
            while abs(x * x - a) > 1e-14 * a:
                x, slope = 0.5 * (x + a / x), 0.5 * (slope + (1.0 / x - a / x * (slope / x)))
            roots[i], slopes[i] = x, slope

    told = {"output": "ltoir", "abi": "numba", "abi_info": {"abi_name": "by_hand"}, "launch_bounds": (256, 1)}
    code = cuda.compile(by_hand, (pointer, pointer, pointer, types.int64), cc=HOPPER, device=False, **told)[0]
    own = compiler.registers(cubin(newton_kernel())[2])
    assert own <= compiler.registers(compiler.link([code], HOPPER))


def newton_kernel():
    x, a, given = local(0, np.float64), local(1, np.float64), lazy(np.ones(1000)).node
    test, turn = abs(x * x - a) > 1e-14 * a, [0.5 * (x + a / x)]
    (root,) = loop(const(True, np.bool_), [const(1.0)], [given], test, turn)
    return lower(bind((root, *partials(root, [given]))), values, "nan", Cuda)[1]


def test_choices_of_every_type(compiler):
    chosen = [np.where(lazy(np.ones(5, "?")), np.ones(5, kind), lazy(np.zeros(5, kind))).node for kind in "?bBhHiIlLfd"]
    assert cubin(lower(bind(chosen), values, "nan", Cuda)[1])[2].startswith(b"\x7fELF")


def test_registers_are_those_that_the_toolkit_reads(compiler, tmp_path):
    beside = Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/bin/cuobjdump")
    tool = next(map(str, beside), None) or shutil.which("cuobjdump")
    if tool is None:
        pytest.skip("cuobjdump is not installed")
    file = tmp_path / "kernel.cubin"
    file.write_bytes(cubin(nest_kernel("sum used again", "f8"))[2])
    text = subprocess.run([tool, "--dump-resource-usage", file], check=True, capture_output=True, text=True).stdout
    assert f"REG:{compiler.registers(file.read_bytes())} " in text
    assert "STACK:0 " in text and "LOCAL:0 " in text, "nothing is spilled"


def test_numpy_is_left_as_it_was(compiler):
    """NumPy 2.5 has no ``row_stack``, for which numba-cuda asks while it is imported."""
    cubin(nest_kernel("row sums", "f4"))
    assert hasattr(np, "row_stack") == (np.lib.NumpyVersion(np.__version__) < "2.5.0")


def test_a_cubin_is_made_once_and_mended_where_it_is_damaged(compiler, tmp_path, monkeypatch):
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path))
    made = []
    compile_kernel = compiler.compile_kernel
    monkeypatch.setattr(compiler, "compile_kernel", lambda *args: made.append(args[1]) or compile_kernel(*args))
    kernel = nest_kernel("row sums", "f4")
    first, again = cubin(kernel)[2], cubin(kernel)[2]
    assert first == again and len(made) == 1
    (file,) = tmp_path.glob("*_sm90.cubin")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="was damaged") as seen:
        mended = cubin(kernel)[2]
    assert len(seen) == 1 and len(made) == 2
    assert mended == cubin(kernel)[2] and len(made) == 2


def test_what_threads_want_together_is_made_by_one(compiler, tmp_path, monkeypatch):
    from vecdist.runtime.cuda import backend as cuda

    monkeypatch.setenv(folder.VARIABLE, str(tmp_path))
    begun, go_on, made, found = threading.Event(), threading.Event(), [], []

    def make():
        made.append(None)
        begun.set()
        assert go_on.wait(60)
        return b"code"

    def fail():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        cuda._kept("kernel.cubin", fail)
    askers = [threading.Thread(target=lambda: found.append(cuda._kept("kernel.cubin", make))) for _ in range(3)]
    for asker in askers:
        asker.start()
    assert begun.wait(60)
    assert cuda._kept("other.cubin", lambda: b"other") == b"other", "which waits for nobody"
    go_on.set()
    for asker in askers:
        asker.join(60)
    assert found == [b"code"] * 3 and len(made) == 1


def test_kernels_are_compiled_while_another_is_linked(compiler, tmp_path, monkeypatch):
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path))
    begun, go_on, found, link = threading.Event(), threading.Event(), [], compiler.link

    def slowly(*given):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            assert go_on.wait(60)
        return link(*given)

    monkeypatch.setattr(compiler, "link", slowly)
    first = threading.Thread(target=lambda: found.append(cubin(nest_kernel("row sums", "f4"))), daemon=True)
    first.start()
    assert begun.wait(60)
    assert cubin(nest_kernel("row sums", "f8"))[2].startswith(b"\x7fELF") and not found
    go_on.set()
    first.join(60)
    assert len(found) == 1


def test_kernels_of_other_capabilities_are_other_files(compiler, tmp_path, monkeypatch):
    from vecdist.runtime.cuda import backend as cuda

    monkeypatch.setenv(folder.VARIABLE, str(tmp_path))
    kernel = nest_kernel("row sums", "f4")
    assert cuda.cubin(kernel, (8, 0))[2] != cuda.cubin(kernel, HOPPER)[2]
    assert {path.suffix for path in tmp_path.iterdir()} == {".py", ".cubin"}
    assert len(list(tmp_path.glob("*.cubin"))) == 2
