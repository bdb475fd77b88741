"""Whole models: value and gradient against SciPy, in every way to compute them, from one kernel for every length."""

import numpy as np
import pytest
from catalogue import MODELS
from interpreting import by_interpreter

from vecdist import compile as compile_function
from vecdist import explain, hessian, lazy, value_and_grad
from vecdist.runtime import pipeline

FEW, MANY = 19, 150
QUICK = ("eight schools, centred", "logistic regression", "eight schools, non-centred")
EVERY_DAY, *SELDOM = QUICK
CURVED = ("logistic regression", "normal mixture", "crossed intercepts and slopes")


def differences(function, x, step=1e-3):
    """The derivative of ``function``, whose values may be arrays, in each element of ``x``: five points, order four."""
    result = []
    for place in np.ndindex(x.shape):
        shift = np.zeros(x.shape)
        shift[place] = step
        near, far = (function(np.asarray(x + k * shift)) - function(np.asarray(x - k * shift)) for k in (1, 2))
        result.append((8 * near - far) / (12 * step))
    return np.reshape(result, (*x.shape, *np.shape(result[0])))


def eager(model, arguments):
    """The value, and the gradient in each parameter by name."""
    wrt = tuple(arguments[name] for name in model.parameters)
    value, slopes = value_and_grad(model.density(*map(lazy, arguments.values())), wrt)
    return value, dict(zip(model.parameters, slopes, strict=True))


def check(model, arguments, found):
    """The value and gradient against those of the reference."""
    value, slopes = found
    np.testing.assert_allclose(value, model.oracle(*arguments.values()), rtol=1e-12)
    for name, slope in slopes.items():
        wanted = differences(lambda x, name=name: model.oracle(*{**arguments, name: x}.values()), arguments[name])
        np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_values_and_gradients(name):
    arguments = MODELS[name].arguments(FEW)
    with by_interpreter():
        check(MODELS[name], arguments, eager(MODELS[name], arguments))


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", MODELS)
def test_one_kernel_for_every_length_eager_and_compiled(name):
    """One launch gives value and gradient, and no other length or way to call is compiled for again."""
    model = MODELS[name]
    compiled, before = compile_function(model.density, errors="raise"), pipeline.compilations()
    for n in (FEW, MANY):
        arguments = model.arguments(n)
        value, slopes = eager(model, arguments)
        if n == FEW:
            check(model, arguments, (value, slopes))
        np.testing.assert_allclose(value, model.oracle(*arguments.values()), rtol=1e-12)
        again, others = compiled.value_and_grad(*arguments.values(), wrt=model.parameters)
        assert again == value and all(map(np.array_equal, others, slopes.values()))
        target = model.density(*map(lazy, arguments.values()))
        kernels = explain(target, wrt=tuple(arguments[name] for name in model.parameters)).kernels
        assert [kernel.launches for kernel in kernels] == [1]
    assert pipeline.compilations() == before + 1


@pytest.mark.parametrize("name", [EVERY_DAY, *(pytest.param(name, marks=pytest.mark.slow) for name in SELDOM)])
def test_functions_compiled_without_errors(name):
    model = MODELS[name]
    arguments, compiled = model.arguments(FEW), compile_function(model.density)
    value, slopes = compiled.value_and_grad(*arguments.values(), wrt=model.parameters)
    check(model, arguments, (value, dict(zip(model.parameters, slopes, strict=True))))
    np.testing.assert_allclose(compiled(*arguments.values()), value, rtol=1e-13)


def check_single_precision(model):
    """float32 arguments give float32 results, as exact as sums of so many float32 terms of order one can be."""
    single = model.arguments(FEW, "f4")
    double = {name: a.astype("f8") if a.dtype == "f4" else a for name, a in single.items()}
    (value, slopes), (wanted, references) = eager(model, single), eager(model, double)
    assert value.dtype == np.float32
    np.testing.assert_allclose(value, wanted, rtol=1e-5)
    for name, slope in slopes.items():
        assert slope.dtype == np.float32
        np.testing.assert_allclose(slope, references[name], rtol=1e-5, atol=1e-6 * FEW)


@pytest.mark.parametrize("name", MODELS)
def test_single_precision(name):
    with by_interpreter():
        check_single_precision(MODELS[name])


@pytest.mark.slow
def test_single_precision_compiled():
    check_single_precision(MODELS[EVERY_DAY])


def hessian_of(model, arguments):
    wrt = tuple(arguments[name] for name in model.parameters)
    return hessian(model.density(*map(lazy, arguments.values())), wrt)


@pytest.mark.parametrize("name", CURVED)
def test_hessians(name):
    """Second derivatives are the differences of the gradient."""
    model = MODELS[name]
    arguments = model.arguments(8)

    def gradient(changed):
        return np.concatenate([np.ravel(slope) for slope in eager(model, {**arguments, **changed})[1].values()])

    with by_interpreter():
        blocks = hessian_of(model, arguments)
        for column, by in enumerate(model.parameters):
            count = arguments[by].size
            assert [row[column].shape for row in blocks] == [
                (*arguments[of].shape, *arguments[by].shape) for of in model.parameters
            ]
            found = np.concatenate([np.reshape(row[column], (-1, count)) for row in blocks])
            wanted = differences(lambda x, by=by: gradient({by: x}), arguments[by]).reshape(count, -1).T
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic regression", "crossed intercepts and slopes"])
def test_compiled_hessians(name):
    arguments = MODELS[name].arguments(FEW)
    with by_interpreter():
        wanted = hessian_of(MODELS[name], arguments)
    for found_row, row in zip(hessian_of(MODELS[name], arguments), wanted, strict=True):
        for found, block in zip(found_row, row, strict=True):
            np.testing.assert_allclose(found, block, rtol=1e-9, atol=1e-11)
