"""The short cut for elements away from every edge has the value of the whole computation, on both sides of an edge."""

import numpy as np
import pytest
from loop_executor import run_loops, statements
from reference import assert_same

from vecdist import lazy, logpdf
from vecdist.distributions import Gamma, LogNormal, StudentT
from vecdist.graph.leaves import leaf
from vecdist.graph.node import topological
from vecdist.kernel.ir import Cases
from vecdist.kernel.statements import Load
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.fast_path import fast_path
from vecdist.runtime.base import Backend
from vecdist.runtime.cuda.backend import Cuda
from vecdist.runtime.pipeline import lower, values

INFO = np.finfo(float)
EDGES = np.array([
    0.0, -0.0, 1.0, -1.0, INFO.tiny, INFO.tiny / 2, -INFO.tiny, INFO.max, -INFO.max, np.inf, -np.inf, np.nan, 0.5, 2.0,
])
MODELS = {
    "Gamma": lambda x: logpdf(Gamma(np.array(2.0), np.array(3.0)), x),
    "LogNormal": lambda x: logpdf(LogNormal(np.array(0.5), np.array(2.0)), x),
    "log": lambda x: np.log(lazy(x)) * lazy(x),
    "StudentT": lambda x: logpdf(StudentT(np.array(4.0), np.array(0.0), np.array(1.0)), x),
}


def outputs(kernel, bound):
    return run_loops(kernel, [leaf.array for leaf in bound.leaves], bound.lengths)[0]


@pytest.mark.parametrize("name", MODELS)
def test_values_on_both_sides_of_every_edge(name):
    bound = bind((MODELS[name](EDGES).node,))
    plain, short = (lower(bound, values, "nan", target)[1] for target in (Backend, Cuda))
    assert_same(outputs(short, bound), outputs(plain, bound))


@pytest.mark.parametrize("name", ["Gamma", "log"])
def test_sums_and_gradients_are_the_same(name):
    x = EDGES[(EDGES > 0) & np.isfinite(EDGES)][:4]
    bound = bind((MODELS[name](x).sum().node, leaf(x)))
    plain, short = (lower(bound, gradient_of, "nan", target)[1] for target in (Backend, Cuda))
    assert any(isinstance(item, Cases) for _, loop in short.nests() for _, item in loop.body.items)
    assert_same(outputs(short, bound), outputs(plain, bound))


def test_the_short_side_is_shorter_and_loads_nothing():
    x = np.ones(3)
    _, kernel = lower(bind((MODELS["Gamma"](x).sum().node, leaf(x))), gradient_of, "nan", Cuda)
    (case,) = [item for _, loop in kernel.nests() for _, item in loop.body.items if isinstance(item, Cases)]
    assert len(case.short.items) < len(case.long.items)
    assert not any(isinstance(item, Load) for side in (case.short, case.long) for item in side.walk())
    assert len(statements(kernel, Load)) == 3


def test_expressions_without_edges_have_no_cases():
    bound = bind(((lazy(np.ones(3)) * 2.0).node,))
    assert fast_path(bound.roots) == bound.roots
    assert not any(node.op == "cases" for node in topological(fast_path(bound.roots)))
