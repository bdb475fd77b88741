"""Every generated source is a Python module, named by its content."""

import builtins
import os
import subprocess
import symtable
import sys

import numpy as np
import pytest
from kernels import CASES, kernel_of

from vecdist import logpdf
from vecdist.codegen.cpu import render as cpu
from vecdist.codegen.cuda import render as cuda
from vecdist.distributions import FAMILIES
from vecdist.graph.leaves import leaf
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.cpu import language as cpu_language
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower

X = np.array([0.25, 0.5, 0.75])


def free_names(text):
    """The names that a module and its functions read and that it does not set."""
    tables = [symtable.symtable(text, "source", "exec")]
    for table in tables:  # which grow meanwhile
        tables += table.get_children()
    known = {each.get_name() for each in tables[0].get_symbols() if each.is_assigned() or each.is_imported()}
    found = [each for table in tables for each in table.get_symbols() if each.is_global() and each.is_referenced()]
    return {each.get_name() for each in found} - known - set(dir(builtins))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.__name__)
def test_densities_render_for_a_gpu(family, dtype):
    """The log density of each family, summed, with its gradient; on the CPU their sources are run every day."""
    way = family.parametrisations[0]
    parameters = [np.full(3, 0.5, dtype) + number for number in range(len(way.names))]
    density = logpdf(family(*parameters), X.astype(dtype))
    leaves = tuple(leaf(array) for array in parameters)
    _, kernel = lower(bind((density.sum().node, *leaves)), gradient_of, "raise", Cuda)
    source = cuda.render(kernel)
    compile(source.text, source.name, "exec")
    free = free_names(source.text)
    typed = {name for name in free if name.rstrip("48").rstrip("fi").endswith("_")}
    called = {routine.name for routine in source.routines}
    vectors = {"aligned", *(f"{verb}_{count}" for verb in ("load", "store") for count in (2, 4))}
    assert free <= {*cpu_language.__all__, "cuda", "as_f8", "as_i8"} | vectors | typed | called


@pytest.mark.parametrize("renderer", [cpu, cuda])
def test_names_are_those_of_the_content(renderer):
    sources = [renderer.render(kernel_of(name)) for name in CASES]
    assert len({source.name for source in sources}) == len(CASES)
    assert [renderer.render(kernel_of(name)).name for name in CASES] == [source.name for source in sources]


def test_names_are_the_same_in_every_process():
    """Nothing in a source depends on hash seeds or addresses."""
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from kernels import CASES, kernel_of
from vecdist.codegen.cpu import render as cpu
print([cpu.render(kernel_of(name)).name for name in CASES])
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{[cpu.render(kernel_of(name)).name for name in CASES]}\n"}


@pytest.mark.parametrize("name", CASES)
def test_single_precision_stays_single(name):
    """No constant or index of a float32 kernel widens it: every number is typed."""
    if name == "elementwise_float32":
        text = cpu.render(kernel_of(name)).text
        assert "f8(" not in text and "float64" not in text
