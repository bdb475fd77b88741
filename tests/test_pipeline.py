"""The straight line: its stages in order, its cache by structure, and one launch for everything."""

import numpy as np
import pytest
from reference import assert_same, interpreted

from vecdist import lazy, logpdf, value_and_grad
from vecdist.distributions import Normal
from vecdist.graph.leaves import leaf
from vecdist.graph.memo import Memo
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime import pipeline
from vecdist.runtime.cpu.backend import Cpu
from vecdist.runtime.libraries import target_of


@pytest.fixture
def compiled(monkeypatch):
    """The kernels that are compiled while the test runs, from an empty cache in memory."""
    kernels = []
    monkeypatch.setattr(pipeline, "_plans", Memo())
    monkeypatch.setattr(pipeline, "_launches", Memo())
    compile_kernel = Cpu.compile
    monkeypatch.setattr(Cpu, "compile", lambda self, kernel: kernels.append(kernel) or compile_kernel(self, kernel))
    return kernels


def test_structure_is_the_key_not_data(compiled):
    for length in (3, 10, 1000):
        x = np.arange(float(length))
        assert float((np.square(lazy(x)) * float(length) - 0.125).sum()) == (x * x * length - 0.125).sum()
    assert len(compiled) == 1


def test_another_dtype_or_layout_is_another_kernel(compiled):
    x = np.arange(6.0)
    for array in (x, x.astype("f4"), np.repeat(x, 2)[::2]):
        assert float((lazy(array) * 1.375 + 0.0).sum()) == 20.625
    assert len(compiled) == 3


@pytest.mark.usefixtures("execution")
def test_one_launch_for_the_value_and_all_gradients(monkeypatch):
    launches = []
    launch = pipeline.launch
    monkeypatch.setattr(pipeline, "launch", lambda *args: launches.append(args) or launch(*args))
    x, mean, spread = np.linspace(-1, 1, 9), np.array(0.5), np.array(2.0)
    value_and_grad(logpdf(Normal(mean, spread), x).sum(), (mean, spread, x))
    assert len(launches) == 1


@pytest.mark.usefixtures("execution")
def test_passes_keep_the_value_at_every_stage():
    x, mean, spread = np.linspace(-1, 1, 9), np.array(0.5), np.array(2.0)
    roots = (logpdf(Normal(mean, spread), x).sum().node, leaf(mean), leaf(spread))
    bound = bind(roots)
    graph, kernel = pipeline.lower(bound, gradient_of, "nan")
    assert not kernel.flagged and len(graph) == 3
    wanted = interpreted(roots, gradient_of)
    found = pipeline.evaluate(roots, gradient_of, [array.shape for array in wanted])
    assert_same(map(np.asarray, found), wanted, rtol=1e-14)


@pytest.mark.usefixtures("execution")
def test_flags_are_only_raised_where_errors_are_wanted():
    x, spread = np.linspace(-1, 1, 9), np.array(-2.0)
    node = logpdf(Normal(0.0, spread), x).node
    assert np.isnan(pipeline.evaluate((node,), pipeline.values, (node.shape,), "nan")[0]).all()
    with pytest.raises(pipeline.InvalidParameter, match=r"Normal: scale = -2.0 is invalid"):
        pipeline.evaluate((node,), pipeline.values, (node.shape,))


@pytest.mark.usefixtures("execution")
def test_several_roots_come_from_one_kernel(compiled):
    x = np.arange(8.0)
    roots = ((lazy(x) * 1.625).node, (lazy(x) * 1.625).sum().node, (lazy(x) < 3.5).node)
    found = pipeline.evaluate(roots, pipeline.values, [node.shape for node in roots])
    assert_same(map(np.asarray, found), interpreted(roots))
    assert len(compiled) == 1


def test_an_expression_of_constants_alone():
    assert float(lazy(2.0) * lazy(3.0)) == 6.0


def test_mixed_libraries_are_named():
    class Fake:
        kind = "cupy"

        def __repr__(self):
            return "float64[3]"

    leaves = [leaf(np.ones(4)).attrs[0], Fake()]
    with pytest.raises(TypeError, match=r"float64\[4\] is a NumPy array and float64\[3\] a CuPy array"):
        target_of(leaves)
    assert target_of([leaf(np.ones(4)).attrs[0]]) == "cpu" and target_of([Fake()]) == "cuda"
