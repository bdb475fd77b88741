"""Input that cannot work: the error names what was given and what was wanted, and nothing is lost."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from interpreting import by_interpreter, nothing_computed
from uncompiled import uncompiled

from vecdist import InvalidParameter, LogDensity, data, lazy, logpdf, value_and_grad, value_and_partials, vjp
from vecdist import compile as compiled
from vecdist.distributions import Exponential, Gamma, MvNormal, Normal
from vecdist.lazy.derivatives import hessian, hvp, jvp
from vecdist.parameters import real

X, M = np.array([1.0, 2.0, 3.0]), np.ones((2, 4))


@pytest.mark.parametrize("call", [
    lambda x: x + M, lambda x: M * x, lambda x: x < M, lambda x: np.where(x > 0, x, M), lambda x: np.where(M > 0, x, 0),
    lambda x: np.logaddexp(x, M), lambda x: np.clip(x, M, None),
])
def test_shapes_that_do_not_broadcast(call):
    with nothing_computed(), pytest.raises(ValueError, match="do not broadcast") as caught:
        call(lazy(X))
    assert "np." in str(caught.value) and "(3,)" in str(caught.value) and "(2, 4)" in str(caught.value)


@pytest.mark.parametrize("array", [
    np.ones(3, complex), np.ones(3, "f2"), np.ones(3, np.longdouble), np.array([None] * 3), np.array(["a"] * 3),
    np.array([b"a"] * 3), np.ones(3, "M8[s]"), np.ones(3, "m8[s]"), np.zeros(3, "f8,i4"), [1, "a", 3], [None], "text",
    None, 1j,
], ids=lambda array: str(np.asarray(array).dtype))
def test_dtypes_that_kernels_cannot_read(array):
    dtype = re.escape(str(np.asarray(array).dtype))
    message = rf"arrays of dtype {dtype} cannot enter an expression; wanted booleans, integers, float32 or float64"
    choose = lambda a: np.where(lazy(X) > 0, a, 0)  # noqa: E731
    for use in (lazy, lambda a: lazy(X) + a, lambda a: logpdf(Normal(0.0, 1.0), a), choose):
        with pytest.raises(TypeError, match=message):
            use(array)


def test_ragged_lists_are_numpys_error():
    with pytest.raises(ValueError, match="inhomogeneous"):
        lazy([[1, 2], [3]])


class Device:
    id = 0


Array = type("ndarray", (), {"__module__": "cupy", "shape": (3,), "dtype": np.dtype("f8"), "device": Device})


def test_numpy_and_cupy_do_not_mix():
    on_device = Array()
    expr = lazy(on_device, name="there") * lazy(X, name="here")
    assert expr.shape == (3,) and expr.device == "cuda:0"
    on_device.flags = np.ones(1).flags
    with pytest.raises(TypeError, match="arrays are mixed: here is a NumPy array and there a CuPy array"):
        expr.compute()
    on_device.__class__.ndim = 1
    with pytest.raises(TypeError, match=r"mixed.*cupy\.asarray\(x\) or x\.get\(\)"):
        value_and_grad(logpdf(Normal(X, 1.0), on_device).sum(), wrt=X)


@pytest.mark.parametrize(("derive", "message"), [
    (lambda e: value_and_grad(e, wrt=X), r"wants a scalar, given .* shape \(3,\).*value_and_partials.*vjp"),
    (lambda e: hessian(e, wrt=X), r"want a scalar, given an expression of shape \(3,\)"),
    (lambda e: hvp(e, X, X), r"want a scalar, given an expression of shape \(3,\)"),
    (lambda e: value_and_grad(e.sum(), wrt=M), r"an array of shape \(2, 4\) and dtype float64, which is not in"),
    (lambda e: value_and_grad(e.sum(), wrt=X.copy()), r"not in the expression; its arrays are: x, int64\[3\]"),
    (lambda e: value_and_grad(e.sum(), wrt="y"), "the name 'y', which is not in the expression; its arrays are: x"),
    (lambda e: value_and_grad(e.sum(), wrt=(X, "y")), "the name 'y'"),
    (lambda e: value_and_grad(e.sum(), wrt=lazy(X) * 2), r"an expression of shape \(3,\)"),
    (lambda e: value_and_grad(e.sum(), wrt=None), "wrt names None"),
    (lambda e: value_and_grad(e.sum(), wrt=np.ones(3)), r"computed at once, and is a constant: np.exp\(a\); write"),
    (lambda e: value_and_grad(lazy(np.ones(2)).sum() * 0 + 1.0, wrt=X), r"its arrays are: float64\[2\]"),
    (lambda e: vjp(e, X, np.ones(2)), r"a cotangent of shape \(2,\) does not fit an expression of shape \(3,\)"),
    (lambda e: vjp(e, X, np.ones((1, 3))), r"a cotangent of shape \(1, 3\) does not fit"),
    (lambda e: jvp(e, X, np.ones(2)), r"a tangent of shape \(2,\) for an array of shape \(3,\)"),
    (lambda e: jvp(e, (X,), (X, X)), "1 arrays in wrt, but 2 tangents"),
])
def test_derivatives_that_are_not_there(derive, message):
    expr = lazy(X, name="x") * np.arange(3)
    with nothing_computed(), pytest.raises(ValueError, match=message):
        derive(expr)


@pytest.mark.parametrize(("derive", "message"), [
    (lambda e, n: value_and_grad(e.sum(), wrt=n), "floating-point arrays; wrt names one of dtype int64"),
    (lambda e, n: value_and_grad(e.sum(), wrt=2.0), r"the number 2\.0; make it an array first, np\.asarray\(2\.0\)"),
    (lambda e, n: value_and_grad(e.sum(), wrt=np.float64(2)), r"the number np.float64\(2\.0\); make it an array first"),
    (lambda e, n: value_and_grad(e.sum(), wrt=np.float32(2)), r"the number np.float32\(2\.0\); make it an array first"),
    (lambda e, n: value_and_grad(3.0, wrt=n), "those of a lazy array, given float"),
    (lambda e, n: value_and_partials(X, wrt=n), "those of a lazy array, given ndarray"),
    (lambda e, n: hessian(X, wrt=n), "given ndarray"),
    (lambda e, n: vjp(X, n, X), "given ndarray"),
    (lambda e, n: jvp(X, n, X), "given ndarray"),
])
def test_derivatives_of_and_in_what_has_none(derive, message):
    n = np.arange(3)
    with nothing_computed(), pytest.raises(TypeError, match=message):
        derive(lazy(X) * n * 2.0, n)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize(("distribution", "message"), [
    (Normal(0.0, -1.0), r"Normal: scale = -1\.0 is invalid; wanted a finite positive number"),
    (Normal(0.0, np.array([[1.0, 1.0, 1.0], [1.0, -2.0, 1.0]])), r"Normal: scale\[1, 1\] = -2\.0 is invalid"),
    (Gamma(mean=1.0, sd=np.array([1.0, 1.0, 0.0])), r"Gamma: sd\[2\] = 0\.0 is invalid"),
], ids=repr)
def test_invalid_parameters(distribution, message):
    target = logpdf(distribution, X).sum()
    for _ in range(2):
        with pytest.raises(InvalidParameter, match=message):
            float(target)


@pytest.mark.usefixtures("execution")
def test_invalid_parameters_are_found_with_the_gradient():
    scale = np.array([1.0, -1.0, 2.0])
    target = logpdf(Exponential(scale), X).sum()
    with pytest.raises(InvalidParameter, match=r"Exponential: \w+\[1\] = -1\.0"):
        value_and_grad(target, wrt=scale)
    scale[1] = 1.0
    assert np.isfinite(value_and_grad(target, wrt=scale)[0]), "the expression is as good as it was"


def test_nan_in_data_is_no_error():
    with by_interpreter():
        found = np.asarray(logpdf(Normal(0.0, 1.0), np.array([np.nan, 0.0])))
    assert np.isnan(found[0]) and np.isfinite(found[1])


@pytest.mark.parametrize(("loc", "message"), [
    (None, "loc: arrays of dtype object cannot enter"), ("a", "loc: arrays of dtype <U1 cannot enter"),
    ([None, 1.0], "loc: arrays of dtype object cannot enter"), (X * 1j, "loc: arrays of dtype complex128 cannot"),
    (10**400, "loc: an integer of 1329 bits"), (np.ma.array(X), "loc: a masked array would lose its mask"),
    ({}, "loc: arrays of dtype object cannot"), (Normal, "loc: arrays of dtype object cannot"),
])
def test_what_is_no_array_is_named_by_its_parameter(loc, message):
    with nothing_computed(), pytest.raises((TypeError, OverflowError), match=message):
        logpdf(Normal(loc, 1.0), X)


def test_nan_as_a_parameter_is_one():
    """Named in an expression, NaN in a compiled function, and no place to go for a sampler."""
    loc = np.array([0.0, np.nan])
    with uncompiled():
        with pytest.raises(InvalidParameter, match=r"Normal: loc\[1\] = nan is invalid"):
            np.asarray(logpdf(Normal(loc, 1.0), 0.0))
        found = compiled(lambda loc: logpdf(Normal(loc, 1.0), 0.0))(loc)
        assert np.isfinite(found[0]) and np.isnan(found[1])
        density = LogDensity(lambda loc: logpdf(Normal(loc, 1.0), 0.0), loc=real())
        value, slope = density.logdensity_and_gradient(np.array([np.nan]))
        assert value == -np.inf and slope.tolist() == [0.0]



@pytest.mark.usefixtures("execution")
def test_empty_arrays():
    empty, flat = np.ones(0), np.ones((0, 3))
    with by_interpreter():
        assert lazy(empty).sum().item() == 0 and np.isnan(lazy(empty).mean().item())
        assert np.asarray(lazy(flat) * 2).shape == (0, 3)
        assert np.asarray(lazy(flat).sum(axis=0)).tolist() == [0, 0, 0] and lazy(flat).sum(axis=1).shape == (0,)
        assert np.isnan(np.asarray(lazy(flat).mean(axis=0))).all()
    value, grad = value_and_grad(logpdf(Normal(empty, 1.0), empty).sum(), wrt=empty)
    assert value == 0 and grad.shape == (0,)
    with pytest.raises(ValueError, match="one element"):
        lazy(empty).item()


PROGRAM = """
    import warnings
    import numpy as np
    from vecdist import lazy
    x = lazy(np.arange(1.0, 5.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(*(float(each) for each in (x.sum(), x.prod(), x.max(), x.min(), x[0] * 2.0)))
    print(*[str(w.message) for w in caught], sep="\\n")
"""
PRINTED = "10.0 24.0 4.0 1.0 2.0"  # by five kernels


def run(folder):
    """The results and the warnings of a program in a process of its own, with its cache in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "VECDIST_CACHE_DIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    result, *warned = done.stdout.strip().splitlines()
    return result, [line for line in warned if line]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache folder that a process has filled."""
    folder = tmp_path_factory.mktemp("cache")
    assert run(folder) == (PRINTED, [])
    return folder


DAMAGES = [  # to one kernel each: the files, and what becomes of their content
    (".py", lambda content: b"\0garbage"), (".nbc", lambda content: content[: len(content) // 2]),
    (".nbc", lambda content: b"garbage" * 9), (".nbc", lambda content: content[:32]), (".nbc", lambda content: b""),
]


@pytest.mark.slow
def test_a_damaged_cache_is_built_again_with_one_warning(filled, tmp_path):
    folder = shutil.copytree(filled, tmp_path / "cache")
    for (suffix, change), source in zip(DAMAGES, sorted(folder.glob("*.py")), strict=True):
        files = [file for file in folder.rglob(f"{source.stem}*") if file.suffix == suffix]
        assert files
        for file in files:
            file.write_bytes(change(file.read_bytes()))
    result, warned = run(folder)
    assert result == PRINTED and len(warned) == 1 and "was damaged" in warned[0], warned
    assert run(folder) == (PRINTED, []), "it is whole again"


def test_a_cache_that_cannot_be_written_is_done_without_with_one_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result, warned = run(tmp_path / "file" / "cache")
    assert result == PRINTED
    assert len(warned) == 1 and "cannot write its cache folder" in warned[0] and "VECDIST_CACHE_DIR" in warned[0]


DENSITY = LogDensity(lambda mu: logpdf(Normal(0.0, 1.0), mu).sum(), mu=real(3))
MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
Tensor = type("Tensor", (), {  # of PyTorch, in the memory of the CPU
    "__module__": "torch", "shape": (3,), "dtype": "torch.float64", "ndim": 1, "__array__": lambda self, *_, **__: X,
})
USES = [
    lazy, data, lambda a: lazy(X) + a, lambda a: logpdf(Normal(0.0, 1.0), a), lambda a: logpdf(Normal(a, 1.0), X),
    lambda a: logpdf(MvNormal(loc=X, scale_diag=a), X), compiled(lambda a: (a * a).sum()), DENSITY.logdensity,
    lambda a: DENSITY.logdensity_and_gradient(a), lambda a: DENSITY.pack({"mu": a}),
]


@pytest.mark.parametrize("use", USES)
def test_arrays_of_which_something_would_be_lost(uncompiled, use):
    with contextlib.suppress(TypeError, ValueError):
        use(X)  # what was prepared for an array of this shape does not take the other
    with pytest.raises(TypeError, match=r"lose its mask; .* np\.where.* x\.compressed\(\)"):
        use(MASKED)


@pytest.mark.parametrize("vector", [np.ones(3, complex), np.array([None] * 3), [None, 1.0, 2.0], np.array(["a"] * 3)])
def test_vectors_of_a_log_density_that_are_not_real(vector):
    for method in (DENSITY.logdensity, DENSITY.logdensity_and_gradient, DENSITY.hessian):
        with pytest.raises(TypeError, match="a log density of real numbers, given an array of dtype"):
            method(vector)


def test_tensors_of_the_cpu_are_arrays():
    with by_interpreter():
        for given in (lazy(Tensor()), Tensor()):
            found = np.asarray(logpdf(Gamma(given, 1.0), Tensor()))
            np.testing.assert_array_equal(found, np.asarray(logpdf(Gamma(X, 1.0), X)))


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Gamma(2.0, rate=3.0), r"those of Gamma\(shape, scale\) alone; name all of them: Gamma\(shape=..., rate="),
    (lambda: MvNormal(X, scale_tril=M), r"those of MvNormal\(loc, covariance\) alone; .*\(loc=..., scale_tril="),
])
def test_positions_of_one_parametrisation_and_names_of_another(make, message):
    with pytest.raises(TypeError, match=message):
        make()
