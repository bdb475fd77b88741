"""Whole models: value and gradient against SciPy, in every way to compute them, from one kernel for every length."""

import numpy as np
import pytest
from catalogue import MODELS
from interpreting import by_interpreter

from vecdist import compile as compile_function
from vecdist import explain, hessian, lazy, pipeline, value_and_grad

FEW, MANY = 19, 150


def differences(function, x, step=1e-3):
    """The derivative of ``function``, whose values may be arrays, in each element of ``x``: five points, order four."""
    result = []
    for place in np.ndindex(x.shape):
        shifted = np.zeros(x.shape)
        shifted[place] = step
        near, far = (function(x + k * shifted) - function(x - k * shifted) for k in (1, 2))
        result.append((8 * near - far) / (12 * step))
    return np.reshape(result, (*x.shape, *np.shape(result[0])))


def close(found, wanted, rtol=1e-6):
    """Each element to ``rtol``, or, where terms cancel, to that of the largest."""
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * np.max(np.abs(wanted), initial=0.0) * 1e-2)


def eager(model, arguments):
    """The value and gradient, each by itself."""
    wrt = tuple(arguments[name] for name in model.parameters)
    return value_and_grad(model.density(*map(lazy, arguments.values())), wrt)


def oracle_of(model, arguments, name):
    """The reference as a function of one argument."""
    return lambda changed: model.oracle(**{**arguments, name: changed})


@pytest.mark.parametrize("name", MODELS)
def test_values_and_gradients(name):
    model = MODELS[name]
    arguments = model.arguments(FEW)
    value, slopes = eager(model, arguments)
    np.testing.assert_allclose(value, model.oracle(**arguments), rtol=1e-12)
    for parameter, slope in zip(model.parameters, slopes, strict=True):
        close(slope, differences(oracle_of(model, arguments, parameter), arguments[parameter]))


@pytest.mark.parametrize("name", MODELS)
def test_other_lengths_and_compiled_functions_take_the_same_kernel(name):
    model = MODELS[name]
    eager(model, model.arguments(FEW))
    before = pipeline.compilations()
    compiled = compile_function(model.density, errors="raise")
    for n in (FEW, MANY):
        arguments = model.arguments(n)
        value, slopes = eager(model, arguments)
        np.testing.assert_allclose(value, model.oracle(**arguments), rtol=1e-12)
        again, others = compiled.value_and_grad(*arguments.values(), wrt=model.parameters)
        assert again == value and all(map(np.array_equal, others, slopes))
    assert pipeline.compilations() == before


@pytest.mark.parametrize("name", MODELS)
def test_value_and_gradient_are_one_launch(name):
    model = MODELS[name]
    arguments = model.arguments(FEW)
    target = model.density(*map(lazy, arguments.values()))
    kernels = explain(target, wrt=tuple(arguments[name] for name in model.parameters)).kernels
    assert [kernel.launches for kernel in kernels] == [1]


def check_single_precision(model):
    single = model.arguments(FEW, "f4")
    value, slopes = eager(model, single)
    wanted, references = eager(model, {name: a.astype("f8") if a.dtype == "f4" else a for name, a in single.items()})
    assert value.dtype == np.float32 and all(slope.dtype == np.float32 for slope in slopes)
    close(value, wanted, 1e-5)
    for slope, reference in zip(slopes, references, strict=True):
        np.testing.assert_allclose(slope, reference, rtol=1e-5, atol=1e-5 * np.abs(reference).max())


@pytest.mark.parametrize("name", MODELS)
def test_single_precision(name):
    with by_interpreter():
        check_single_precision(MODELS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_single_precision_compiled(name):
    check_single_precision(MODELS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_compiled_functions_without_errors(name):
    model = MODELS[name]
    arguments = model.arguments(FEW)
    value, slopes = eager(model, arguments)
    again, others = compile_function(model.density).value_and_grad(*arguments.values(), wrt=model.parameters)
    np.testing.assert_allclose(again, value, rtol=1e-13)
    np.testing.assert_allclose(compile_function(model.density)(*arguments.values()), value, rtol=1e-13)
    for slope, other in zip(slopes, others, strict=True):
        close(other, slope, 1e-12)


@pytest.mark.parametrize("name", ["logistic regression", "normal mixture", "crossed intercepts and slopes"])
def test_hessians(name):
    """Second derivatives are those of the gradient."""
    model = MODELS[name]
    arguments = model.arguments(FEW)
    names = model.parameters
    blocks = hessian(model.density(*map(lazy, arguments.values())), tuple(arguments[name] for name in names))

    def slope_in(place, name):
        return lambda changed: eager(model, {**arguments, name: changed})[1][place]

    for row, parameter in enumerate(names):
        for column, other in enumerate(names):
            found = differences(slope_in(row, other), arguments[other])
            wanted = np.moveaxis(found, range(arguments[other].ndim), range(-arguments[other].ndim, 0))
            assert blocks[row][column].shape == (*arguments[parameter].shape, *arguments[other].shape)
            close(blocks[row][column], wanted)
