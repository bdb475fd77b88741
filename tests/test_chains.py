"""Compiled for many chains: each chain has the value and the derivatives that the function gives it alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from programs import programs
from reference import interpreted, interpreted_bound
from scipy import stats

from vecdist import InvalidParameter, compile, data, hessian, lazy, logpdf, vjp  # noqa: A004
from vecdist.distributions import Exponential, Gamma, Normal
from vecdist.graph.leaves import leaf
from vecdist.graph.node import Node, rewrite
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.batched import Chains
from vecdist.passes.bind import bind
from vecdist.primitives.structure import rebuilt
from vecdist.runtime import pipeline

CHAINS = 4
RNG = np.random.default_rng(5)
A, B, M = RNG.uniform(0.5, 2.0, CHAINS), RNG.normal(size=(CHAINS, 3)), RNG.normal(size=(CHAINS, 2, 3))
X, Y = RNG.normal(size=3), np.array([3, 1, 2])


def chain(axes, arrays, number):
    """The arguments of one chain."""
    return [array if axis is None else np.asarray(array)[number] for axis, array in zip(axes, arrays, strict=True)]


def check_values(function, axes, *arrays):
    """The values of all chains are those of each."""
    together, single = compile(function, in_axes=axes)(*arrays), compile(function)
    alone = np.stack([single(*chain(axes, arrays, number)) for number in range(CHAINS)])
    assert together.shape == alone.shape and together.dtype == alone.dtype
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def check_derivatives(function, axes, *arrays, method="value_and_grad"):
    """The derivatives of all chains, in every floating-point argument, are those of each."""
    values, found = getattr(compile(function, in_axes=axes), method)(*arrays)
    single = getattr(compile(function), method)
    rtol = 1e-5 if values.dtype == np.float32 else 1e-11
    for number in range(CHAINS):
        value, wanted = single(*chain(axes, arrays, number))
        np.testing.assert_allclose(values[number], value, rtol=rtol)
        assert len(found) == len(wanted)
        for mine, reference in zip(found, wanted, strict=True):
            assert mine.shape == (CHAINS, *np.shape(reference)) and mine.dtype == reference.dtype
            np.testing.assert_allclose(mine[number], reference, rtol=rtol, atol=1e-14)


def posterior(scale, mean, x):
    return logpdf(Normal(mean, scale), x).sum() + logpdf(Exponential(1.0), scale)


def test_a_posterior_against_scipy():
    f = compile(posterior, in_axes=(0, 0, None))
    values, (of_scale, of_mean) = f.value_and_grad(A, B, X, wrt=("scale", "mean"))
    assert values.shape == (CHAINS,) and of_scale.shape == (CHAINS,) and of_mean.shape == (CHAINS, 3)
    standard = (X - B) / A[:, None]
    np.testing.assert_allclose(values, stats.norm.logpdf(X, B, A[:, None]).sum(axis=1) - A, rtol=1e-13)
    np.testing.assert_allclose(of_mean, standard / A[:, None], rtol=1e-13)
    np.testing.assert_allclose(of_scale, ((standard**2 - 1.0) / A[:, None]).sum(axis=1) - 1.0, rtol=1e-12)


@pytest.mark.usefixtures("execution")
def test_a_gradient_in_an_argument_that_chains_share_is_one_for_each_chain():
    _, (of_x,) = compile(posterior, in_axes=(0, 0, None)).value_and_grad(A, B, X, wrt=("x",))
    np.testing.assert_allclose(of_x, (B - X) / np.square(A[:, None]), rtol=1e-13)


SCALARS = {
    "product": (lambda a, b: (a * b).sum(), (0, 0), (A, B)),
    "shared": (lambda a, b: (a * b).sum(), (0, None), (A, X)),
    "shared scalar": (lambda a, b: (a * b).sum(), (None, 0), (np.array(2.5), B)),
    "number": (lambda a, b: (a * b).sum(), (0, None), (B, 2.5)),
    "matrix": (lambda a, m: (np.exp(m) @ a).sum(), (0, 0), (B, M)),
    "shared matrix": (lambda a, m: np.square(m @ a).sum(), (0, None), (B, M[0])),
    "row sums": (lambda m, b: (m.sum(axis=1) ** 2).sum() * b[1], (0, 0), (M, B)),
    "mean": (lambda m, b: (np.square(m - m.mean(axis=0)) * b.mean()).sum(), (0, 0), (M, B)),
    "mean of what is shared": (lambda a, x: ((x - x.mean()) * a).mean(), (0, None), (A, X)),
    "views": (lambda m, b: (m[::-1, 1:] * m.T[:2].T * b[:2]).sum() + m[0, 2], (0, 0), (M, B)),
    "reshape": (lambda m, b: (m.reshape(3, 2).T * b).sum() + m.ravel()[1:].sum(), (0, 0), (M, B)),
    "broadcast": (lambda a, b: (np.broadcast_to(a, (2, 3)) * np.broadcast_to(b, (2, 3))).sum(), (0, 0), (A, B)),
    "choice": (lambda a, b: np.where(b < 0.1, a * b, np.exp(b)).sum(), (0, 0), (A, B)),
    "integers": (lambda k, b: (k * b).sum(), (0, 0), (np.arange(12).reshape(4, 3), B)),
    "density": (lambda a, y: logpdf(Gamma(a, 2.0), np.abs(y)).sum(), (0, None), (A, X)),
    "float32": (lambda a, b: (np.exp(a) * b).sum(), (0, 0), (A.astype("f4"), B.astype("f4"))),
    "not contiguous": (lambda a, b: (np.exp(a) * b).sum(), (0, 0), (np.repeat(A, 2)[::2], np.asfortranarray(B))),
    "unused": (lambda a, b: (b * b).sum(), (0, None), (A, X)),
    "a row of its own": (lambda a, b: (a[None] * b[:, None]).sum(), (0, 0), (A[:, None], B)),
    "list": (lambda a, b: (a * b).sum(), [0, None], (A, X)),
}


COMPILED = ["matrix", "row sums", "choice", "density", "float32", "not contiguous"]  # each has code of its own


@pytest.mark.parametrize("name", SCALARS)
def test_gradients(uncompiled, name):
    function, axes, arrays = SCALARS[name]
    check_derivatives(function, axes, *arrays)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_compiled_gradients(name):
    function, axes, arrays = SCALARS[name]
    check_derivatives(function, axes, *arrays)


ELEMENTWISE = {
    "product": (lambda a, b: a * b, (0, 0), (A, B)),
    "shared": (lambda a, x: np.exp(a) * x, (0, None), (A, X)),
    "broadcast": (lambda m, b: np.sin(m) * b, (0, 0), (M, B)),
    "more axes": (lambda a, m: a * np.exp(m), (0, None), (A, M[0])),
    "density": (lambda a, b, x: logpdf(Normal(b, a), x), (0, 0, None), (A, B, X)),
    "scalar": (lambda a, x: a * a + 2.0, (0, None), (A, X)),
}


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_partials(name):
    function, axes, arrays = ELEMENTWISE[name]
    check_derivatives(function, axes, *arrays, method="value_and_partials")


@pytest.mark.usefixtures("execution")
def test_partials_beside_a_sum_of_more_axes():
    """What stands beside the elementwise part has more axes than its value."""
    values, of_a = compile(lambda a, m: a * m.sum(), in_axes=(0, 0)).value_and_partials(A, M, wrt=0)
    np.testing.assert_allclose(values, A * M.sum(axis=(1, 2)))
    np.testing.assert_allclose(of_a, M.sum(axis=(1, 2)))


@settings(max_examples=60)
@given(programs(dtypes=("f8",), lengths=(1, 2, 3), most_steps=6))
def test_random_programs(program):
    """A random scalar, as a function of its first array, by the interpreter: nothing is compiled."""
    first, scalar = leaf(program.arrays[0]), program.scalar().node
    rows = leaf(np.stack([program.arrays[0] * (number + 1.0) for number in range(3)]))
    chains = Chains((0,))
    bound = bind(chains.apply(_with(scalar, first, chains.singles([rows])[0]), [rows], [0]))
    values, slopes = interpreted_bound(bound, gradient_of(bound.roots))
    for number, row in enumerate(rows.attrs[0].array):
        single = leaf(row)
        value, slope = interpreted((_with(scalar, first, single), single), gradient_of)
        np.testing.assert_array_equal(values.ravel()[number], value)
        np.testing.assert_array_equal(slopes.reshape(3, *row.shape)[number], slope)


def _with(root, old, new):
    """``root`` with another leaf."""

    def rule(node, args):
        if node.op == "extent" and args:
            return Node("extent", args, node.attrs, node.shape, node.dtype)
        return new if node is old else rebuilt(node, args)

    return rewrite((root,), rule)[0]


@pytest.mark.usefixtures("execution")
def test_values_of_any_shape():
    check_values(lambda a, b: (a * b)[::-1], (0, 0), A, B)
    check_values(lambda m, x: m @ x, (0, None), M, X)
    check_values(lambda a, y: a * y[0] > y, (0, None), A, Y)


@pytest.mark.usefixtures("execution")
def test_names_in_place_of_positions():
    by_name = compile(posterior, in_axes={"mean": 0, "scale": 0, "x": None})
    np.testing.assert_array_equal(by_name(A, B, X), compile(posterior, in_axes=(0, 0, None))(A, B, X))
    np.testing.assert_array_equal(compile(posterior, in_axes={"mean": 0})(1.5, B, X).shape, (CHAINS,))
    np.testing.assert_array_equal(compile(lambda a, b: a * b, in_axes=0)(A, B), A[:, None] * B)


def test_one_kernel_for_any_number_of_chains():
    f = compile(lambda a, b, x: np.square(a * b - x).sum(), in_axes=(0, 0, None))
    f.value_and_grad(A, B, X)
    before = pipeline.compilations()
    for count in (2, 7, 0, 100):
        values, (of_a, of_b, of_x) = f.value_and_grad(np.resize(A, count), np.resize(B, (count, 3)), X)
        assert values.shape == of_a.shape == (count,) and of_b.shape == of_x.shape == (count, 3)
    assert pipeline.compilations() == before


@pytest.mark.usefixtures("execution")
def test_one_chain():
    value, (slope,) = compile(posterior, in_axes=(0, 0, None)).value_and_grad(A[:1], B[:1], X, wrt=("scale",))
    wanted, (reference,) = compile(posterior).value_and_grad(A[0], B[0], X, wrt=("scale",))
    np.testing.assert_allclose(value, [wanted])
    np.testing.assert_allclose(slope, [reference])


@pytest.mark.usefixtures("execution")
def test_arrays_that_the_function_holds_are_shared():
    held = lazy(X, "held")
    f = compile(lambda a: (a * held * X).sum(), in_axes=(0,))
    np.testing.assert_allclose(f(A), A * (X * X).sum())


@pytest.mark.usefixtures("execution")
def test_invalid_parameters():
    scale = A.copy()
    scale[2] = -1.0
    f = compile(lambda s, x: logpdf(Normal(0.0, s), x).sum(), in_axes=(0, None))
    np.testing.assert_array_equal(np.isnan(f(scale, X)), [False, False, True, False])
    with_errors = compile(f.function, in_axes=(0, None), errors="raise")
    assert np.isfinite(with_errors(A, X)).all()
    for call in (with_errors, with_errors.value_and_grad):
        with pytest.raises(InvalidParameter, match=r"Normal: scale\[2\] = -1\.0 is invalid; wanted a finite positive"):
            call(scale, X)


@pytest.mark.usefixtures("execution")
def test_invalid_parameters_are_named_where_they_lie():
    scales = np.abs(B) + 0.1
    scales[1, 2] = np.inf
    f = compile(lambda s, m: logpdf(Normal(m, s), X).sum(), in_axes={"s": 0}, errors="raise")
    with pytest.raises(InvalidParameter, match=r"Normal: scale\[1, 2\] = inf is invalid"):
        f(scales, 0.0)
    f = compile(f.function, in_axes={"m": 0}, errors="raise")
    with pytest.raises(InvalidParameter, match=r"Normal: scale\[1\] = -3\.0 is invalid"):
        f(np.array([1.0, -3.0, 1.0]), A)
    with pytest.raises(InvalidParameter, match=r"Normal: loc\[3\] = nan is invalid"):
        f(1.0, np.array([0.0, 1.0, 2.0, np.nan]))


@pytest.mark.usefixtures("execution")
def test_results_in_given_arrays():
    value, of_scale, of_x = np.empty(CHAINS), np.empty(CHAINS), np.empty((CHAINS, 3))
    f = compile(posterior, in_axes=(0, 0, None))
    f.value_and_grad(A, B, X, wrt=("scale", "x"), out=(value, of_scale, of_x))
    wanted = f.value_and_grad(A, B, X, wrt=("scale", "x"))
    for mine, reference in zip((value, of_scale, of_x), (wanted[0], *wanted[1]), strict=True):
        np.testing.assert_array_equal(mine, reference)


def two(a, b):
    return (a * b).sum()


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: compile(two, in_axes=(0, 0))(A, B[:3]), ValueError, "differ in their numbers of chains: a has 4, b has 3"),
    (lambda: compile(two, in_axes=(0, 0))(A, 2.0), ValueError, "says that b has an axis of chains, but it has no axis"),
    (lambda: compile(two, in_axes=(0, 0))(A[0], B), ValueError, "says that a has an axis of chains"),
    (lambda: compile(two, in_axes=(0,))(A, B), ValueError, "in_axes has 1 entries, but 2 arguments"),
    (lambda: compile(two, in_axes=(None, None)), ValueError, "gives no argument an axis of chains"),
    (lambda: compile(two, in_axes=(1, None)), ValueError, "0 or None for each argument, given 1"),
    (lambda: compile(two, in_axes=(True, None)), ValueError, "0 or None for each argument, given True"),
    (lambda: compile(two, in_axes=1), TypeError, "in_axes is a tuple, 0 or None for each argument, .* given 1"),
    (lambda: compile(two, in_axes=False), TypeError, "in_axes is a tuple, .* given False"),
    (lambda: compile(two, in_axes={"c": 0}), ValueError, "in_axes names 'c', which is no argument; they are: a, b"),
    (lambda: compile(two, in_axes=(0, 0)).value_and_grad(A, Y), ValueError, "a has 4, b has 3"),
    (lambda: compile(lambda a: a * X, in_axes=(0,)).value_and_grad(A), ValueError, r"wants a scalar.*\(3,\)"),
    (lambda: compile(lambda a: a.sum() * X, in_axes=(0,)).value_and_partials(B), ValueError, "a sum stands between"),
    (lambda: compile(lambda a: a * float(a), in_axes=(0,))(A), TypeError, "of a was asked for while its function"),
])
def test_wrong_use(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.usefixtures("execution")
def test_a_single_gradient_by_another_way():
    """The gradient of a chain is the product of its weight with the Jacobian of all."""
    values = logpdf(Normal(lazy(B), A[:, None]), X).sum(axis=1)
    _, (reference,) = vjp(values, wrt=(B,), cotangent=np.ones(CHAINS))
    _, (found,) = compile(lambda b, a: logpdf(Normal(b, a), X).sum(), in_axes=(0, 0)).value_and_grad(B, A, wrt=(0,))
    np.testing.assert_allclose(found, reference, rtol=1e-13)


@pytest.mark.usefixtures("execution")
def test_a_matrix_shared_by_chains_is_multiplied_by_a_library():
    """One product of matrices for all chains, in either direction, where the matrix is not small."""
    rng = np.random.default_rng(3)
    x, beta = rng.normal(size=(300, 5)), rng.normal(size=(7, 5))
    first = beta[0].copy()

    def density(beta):
        return -np.square(np.tanh(data(x) @ beta[:5]) - 0.5).sum() - np.square(beta).sum()

    values, (slopes,) = compile(density, in_axes=(0,)).value_and_grad(beta)
    fitted = np.tanh(beta @ x.T)
    np.testing.assert_allclose(values, -np.square(fitted - 0.5).sum(axis=1) - np.square(beta).sum(axis=1), rtol=1e-12)
    wanted = (-2 * (fitted - 0.5) * (1 - fitted**2)) @ x - 2 * beta
    np.testing.assert_allclose(slopes, wanted, rtol=1e-11, atol=1e-12)
    t = fitted[0]
    weights = -2 * (1 - t**2) ** 2 + 4 * t * (t - 0.5) * (1 - t**2)
    second = hessian(density(lazy(first)), first)
    np.testing.assert_allclose(second, x.T @ (weights[:, None] * x) - 2 * np.eye(5), rtol=1e-11, atol=1e-11)
