"""Expressions of arrays on a GPU hold no others: what NumPy's functions, lists and compiled functions bring goes there.

Nothing is computed here: arrays stand for those of a GPU, and expressions are asked for the libraries of their leaves.
"""

import gc
import sys
import weakref
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import random_array_programs
from array_api import CALLS
from array_operations import ELEMENTWISE, WITH_AXIS, constants_by
from test_array_api import ARRAYS, parts

import vecdist
from vecdist import lazy, logpdf, mixture
from vecdist.distributions import Gamma, Normal
from vecdist.graph.leaves import argument
from vecdist.graph.node import below
from vecdist.lazy.complex_arrays import ComplexArray
from vecdist.multivariate import Dirichlet, MvNormal

NAME_A_DEVICE = {"astype", "empty_like", "full_like", "linspace", "zeros_like"}  # the CPU


def _refused(self, *args, **keywords):
    raise TypeError("implicit conversion to a NumPy array")


There = type("ndarray", (np.ndarray,), {
    "__module__": "cupy", "device": SimpleNamespace(id=0), "__array__": _refused,
})  # fmt: skip


@pytest.fixture(autouse=True)
def there(monkeypatch):
    """A library whose arrays are taken for CuPy's."""
    library = ModuleType("cupy")
    library.asarray = lambda given: np.asarray(given).view(There)
    monkeypatch.setitem(sys.modules, "cupy", library)
    return library.asarray


@pytest.fixture
def given(there):
    return SimpleNamespace(**{name: lazy(there(array)) for name, array in ARRAYS.items()})


def kinds(found):
    """The kinds of all leaves of results."""
    real = [part for each in found if isinstance(each, ComplexArray) for part in (each.real, each.imag)]
    nodes = below(each.node for each in (*real, *found) if hasattr(each, "node"))
    return {node.attrs[0].kind for node in nodes if node.op == "leaf"}


@pytest.mark.parametrize("name", sorted({*CALLS} - NAME_A_DEVICE))
def test_functions_of_the_array_api(name, given):
    assert "numpy" not in kinds(parts(CALLS[name](given.x.__array_namespace__(), given)))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_elements(name, given):
    assert "numpy" not in kinds([ELEMENTWISE[name](given.x)])


@pytest.mark.parametrize("name", WITH_AXIS)
def test_functions_along_an_axis(name, given):
    for axis in (0, 1):
        assert "numpy" not in kinds([WITH_AXIS[name](given.x, axis=axis)])


OF_LISTS = {
    "arithmetic": lambda x: x * [1.0, 2.0, 3.0] + np.where(x > 0.5, x, [0.1, 0.2, 0.3]),
    "clip": lambda x: x.clip([0.1, 0.2, 0.3], None),
    "average": lambda x: np.average(x, weights=[1.0, 2.0, 3.0], axis=0),
    "polynomial": lambda x: np.polyval([1.0, 2.0], x),
    "interpolation": lambda x: np.interp(x, [0.0, 1.0], [2.0, 3.0]),
    "trapezoid": lambda x: np.trapezoid(x, [0.0, 1.0, 3.0], axis=0),
    "gradient": lambda x: np.gradient(x[0], [0.0, 1.0, 3.0]),
    "search": lambda x: np.searchsorted([0.1, 0.5], x),
    "bins": lambda x: np.digitize(x, [0.1, 0.5]),
    "quantiles": lambda x: np.percentile(x, [10, 50], axis=0),
    "rows": lambda x: x[[0, 2, 1]] + x[np.array([2, 0, 1])] + x[:, [True, True, True]],
    "pairs": lambda x: x[np.triu_indices(3)],
    "table": lambda x: x[np.ix_([0, 2], [1, 0])],
    "inserted": lambda x: np.insert(x, [0, 1], [5.0, 6.0, 7.0], 0),
    "taken": lambda x: np.take(x, [[1, 0], [2, 2]], axis=1),
    "density": lambda x: logpdf(Normal([0.0, 1.0, 2.0], [[1.0], [2.0], [3.0]]), x),
    "quantile": lambda x: vecdist.ppf(Gamma([1.0, 2.0, 3.0], 0.5), x),
    "mixture": lambda x: logpdf(mixture([0.3, 0.2, 0.5], Normal([0.0, 1.0, 2.0], 1.0)), x[0]),
    "vectors": lambda x: logpdf(MvNormal([0.0, 1.0], [[2.0, 0.3], [0.3, 1.0]]), x[:, :2]),
    "simplex": lambda x: logpdf(Dirichlet([1.0, 2.0, 3.0]), x),
    "system": lambda x: vecdist.linalg.solve_triangular([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0]], x),
}


@pytest.mark.parametrize("name", OF_LISTS)
def test_lists(name, given):
    assert "numpy" not in kinds([OF_LISTS[name](given.x)])


def test_arrays_that_a_compiled_function_holds(there):
    for seed in range(10):
        made = random_array_programs.program(seed)
        arguments = [argument(there(array), f"x{place}") for place, array in enumerate(made.arrays)]
        with constants_by(there):
            traced = vecdist.compile(made).traced(arguments)
        assert kinds([traced]) <= {"cupy", "number"}, seed


def test_an_array_is_copied_once(there, monkeypatch):
    offsets, copies = np.array([1.0, 2.0]), []
    function = vecdist.compile(lambda x: (x + offsets) * np.sin(lazy(offsets)))
    monkeypatch.setattr(sys.modules["cupy"], "asarray", lambda given: copies.append(given) or there(given))
    for size in (3, 4):
        function.traced([argument(there(np.ones((size, 2))), "x")])
    assert len(copies) == 1 and np.shares_memory(copies[0], offsets)


def test_copies_go_with_what_was_traced(there, monkeypatch):
    """What a function makes anew in each trace is not kept for ever."""
    copies = []

    def asarray(given):
        copies.append(weakref.ref(found := there(given)))
        return found

    function = vecdist.compile(lambda x: x + np.ones(x.shape))
    monkeypatch.setattr(sys.modules["cupy"], "asarray", asarray)
    for size in range(1, 80):
        function.traced([argument(there(np.ones(size)), "x")])
    gc.collect()
    assert len(copies) == 79 and copies[0]() is None and copies[-1]() is not None


def test_arrays_given_as_arguments_are_not_moved(there):
    function = vecdist.compile(lambda x, y: x + y)
    with pytest.raises(TypeError, match=r"arrays are mixed: y is a NumPy array and x a CuPy array"):
        function(there(np.ones(3)), np.ones(3))
