"""Code that follows the Python array API standard on lazy arrays: every function of it, and programs of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from array_api import CALLS, REFUSED
from interpreting import by_interpreter, nothing_computed
from numerical import differences

from vecdist import LazyArray, lazy, value_and_grad
from vecdist.lazy import namespace
from vecdist.lazy.complex_arrays import ComplexArray

rng = np.random.default_rng(11)
X = rng.uniform(0.1, 0.9, size=(3, 3))
ARRAYS = {"x": X, "i": np.array([[1, 2, 5], [0, 3, 1], [7, 2, 2]]), "b": X > 0.5, "s": X @ X.T + np.eye(3)}


def parts(found):
    return list(found) if isinstance(found, tuple | list) else [found]


@pytest.mark.parametrize("name", CALLS)
def test_every_function_is_lazy_and_numpys(name):
    with np.errstate(all="ignore"):
        wanted = parts(CALLS[name](namespace, SimpleNamespace(**ARRAYS)))
    given = SimpleNamespace(**{key: lazy(each) for key, each in ARRAYS.items()})
    with nothing_computed():
        found = parts(CALLS[name](given.x.__array_namespace__(api_version="2024.12"), given))
    for mine, truth in zip(found, wanted, strict=True):
        if not isinstance(truth, np.ndarray | np.generic) or not isinstance(mine, LazyArray | ComplexArray):
            assert mine == truth  # a dtype, a limit or an answer
            continue
        assert (mine.shape, mine.dtype) == (truth.shape, truth.dtype)
        with by_interpreter():
            np.testing.assert_allclose(np.asarray(mine), truth, rtol=1e-5 if truth.dtype == "f4" else 1e-9, atol=1e-12)


def test_results_are_lazy():
    given = SimpleNamespace(**{key: lazy(each) for key, each in ARRAYS.items()})
    of_shapes = {"can_cast", "finfo", "iinfo", "isdtype", "result_type"}
    for name, call in CALLS.items():
        every = parts(call(namespace, given))
        assert name in of_shapes or all(isinstance(each, LazyArray | ComplexArray) for each in every), name


@pytest.mark.parametrize("name", REFUSED)
def test_what_depends_on_values_is_refused_by_name(name):
    with nothing_computed(), pytest.raises(TypeError, match=f"np.{name} has no lazy form: how long the result is"):
        REFUSED[name](namespace, SimpleNamespace(x=lazy(X)))


def softmax(xp, x):
    apart = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return apart / xp.sum(apart, axis=-1, keepdims=True)


def whitened(xp, x):
    centred = x - xp.mean(x, axis=0)
    values, vectors = xp.linalg.eigh(xp.matmul(centred.mT, centred) + xp.eye(3, dtype=x.dtype))
    return xp.matmul(centred, vectors / xp.sqrt(values)) ** 2


def trimmed(xp, x):
    ranked = xp.sort(xp.reshape(x, (-1,)), descending=True)
    kept = ranked[2:-2]
    scale = xp.sqrt(xp.var(kept, correction=1.0)) + xp.asarray(0.1, dtype=xp.float64)
    return xp.where(xp.abs(x - xp.mean(kept)) > scale, scale * xp.sign(x), x * xp.e) + xp.finfo(x.dtype).eps


@pytest.mark.parametrize("program", [softmax, whitened, trimmed])
def test_programs_and_their_gradients(program):
    def run(x):
        found = program(x.__array_namespace__() if isinstance(x, LazyArray) else namespace, x)
        return (found * np.cos(np.arange(9.0)).reshape(3, 3)).sum()

    with by_interpreter():
        value, slope = value_and_grad(run(lazy(X)), X)
    np.testing.assert_allclose(value, run(X), rtol=1e-11)
    np.testing.assert_allclose(slope, differences(run, 0, X), rtol=1e-6, atol=1e-8)


def test_devices_and_versions():
    x = lazy(X)
    assert x.to_device("cpu") is x and namespace.asarray(x, device="cpu") is x
    assert isinstance(namespace.asarray([x[0], 1.0 + X[1]]), LazyArray) and namespace.zeros is np.zeros
    with pytest.raises(ValueError, match="on cpu, not on cuda:0"):
        x.to_device("cuda:0")
    with pytest.raises(ValueError, match=r"not of 2030\.12"):
        x.__array_namespace__(api_version="2030.12")
    assert {each.partition(".")[0] for each in CALLS} <= set(dir(np)) and not hasattr(namespace, "no_such_function")
