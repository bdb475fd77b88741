"""Functions of arrays that no kernel contains: values, shapes, derivatives, chains, and what is refused."""

import numpy as np
import pytest
from reference import interpreted

import vecdist
from vecdist import external, lazy
from vecdist.passes.derivations import gradient_of

SINE = external(
    np.sin, vjp=lambda given, results, back: (back[0] * np.cos(given[0]),),
    jvp=lambda given, results, dots: dots[0] * np.cos(given[0]), name="sine",
)  # fmt: skip


def products(a, b):
    return a @ b, (a * a).sum()


PRODUCTS = external(
    products, shape=lambda a, b: (a[:-1] + b[1:], ()),
    vjp=lambda given, results, back: (back[0] @ given[1].T + 2.0 * given[0] * back[1], given[0].T @ back[0]),
)  # fmt: skip
rng = np.random.default_rng(20261123)
X = rng.normal(size=5)


STEPS = [
    lambda one, other, sine: sine(one), lambda one, other, sine: np.tanh(one) * other,
    lambda one, other, sine: sine(other + one.sum()), lambda one, other, sine: one - other,
]  # fmt: skip


def program(seed):
    """A random expression of calls and formulas of a vector, for lazy arrays and for NumPy's, complex ones too."""
    draw = np.random.default_rng(seed)
    steps = [(int(draw.integers(4)), *draw.integers(1, 6, size=2)) for _ in range(6)]

    def run(x, sine):
        found = [x, 0.5 * x]
        for kind, first, second in steps:
            one, other = found[-1 - first % len(found)], found[-1 - second % len(found)]
            found.append(STEPS[kind](one, other, sine))
        return sum(each.sum() for each in found[-2:])

    return run


def slope(function, x):
    """The gradient by complex steps."""
    steps = [np.where(np.arange(len(x)) == place, 1e-30j, 0.0) for place in range(len(x))]
    return np.array([function(x + step).imag / 1e-30 for step in steps])


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("seed", range(12))
def test_calls_among_formulas(seed):
    run = program(seed)
    x = lazy(X)
    value, found = vecdist.value_and_grad(run(x, SINE), x)
    assert value == pytest.approx(run(X, np.sin), rel=1e-12)
    np.testing.assert_allclose(found, slope(lambda z: run(z, np.sin), X), rtol=1e-11, atol=1e-12)
    again = interpreted([run(x, SINE).node, x.node], gradient_of)
    np.testing.assert_allclose(again[1], found, rtol=1e-12)
    _, along = vecdist.jvp(run(x, SINE), [x], [np.ones(5)])
    assert along == pytest.approx(found.sum(), rel=1e-10, abs=1e-12)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("seed", range(4))
def test_chains_are_called_one_by_one(seed):
    run = program(seed)
    function = vecdist.compile(lambda x: run(x, SINE), in_axes=(0,))
    many = rng.normal(size=(3, 5))
    values, slopes = function.value_and_grad(many)
    for row, value, (found,) in zip(many, values, zip(*slopes, strict=True), strict=True):
        assert value == pytest.approx(run(row, np.sin), rel=1e-12)
        np.testing.assert_allclose(found, slope(lambda z: run(z, np.sin), row), rtol=1e-11, atol=1e-12)


def test_several_results_of_several_shapes():
    a, b = lazy(rng.normal(size=(3, 4))), lazy(rng.normal(size=(4, 2)))
    product, squares = PRODUCTS(a, np.exp(b))
    assert product.shape == (3, 2) and squares.shape == ()
    value, (of_a, of_b) = vecdist.value_and_grad(np.sin(product).sum() * squares, (a, b))
    given, powers = a.compute(), np.exp(b.compute())
    inner = given @ powers
    assert value == pytest.approx(np.sin(inner).sum() * (given**2).sum())
    back = np.cos(inner) * (given**2).sum()
    np.testing.assert_allclose(of_a, back @ powers.T + 2.0 * given * np.sin(inner).sum(), rtol=1e-12)
    np.testing.assert_allclose(of_b, given.T @ back * powers, rtol=1e-12)
    (of_squares,) = vecdist.value_and_grad(squares, (a,))[1]
    np.testing.assert_allclose(of_squares, 2.0 * given, rtol=1e-12)


def test_a_call_is_made_once_for_all_its_results():
    calls = []

    def twice(x):
        calls.append(x.shape)
        return x + 1.0, x * 2.0

    one, other = external(twice, shape=lambda x: (x, x))(lazy(X))
    np.testing.assert_allclose((one * other).sum().compute(), ((X + 1.0) * X * 2.0).sum())
    assert calls == [(5,)]


def test_lengths_share_kernels():
    function = vecdist.compile(lambda x: np.exp(SINE(x) * 2.0).sum())
    for length in (4, 7, 1, 0):
        x = np.linspace(0.0, 1.0, length)
        assert function(x) == pytest.approx(np.exp(np.sin(x) * 2.0).sum())


def test_single_precision_stays_single():
    x = X.astype(np.float32)
    assert (SINE(lazy(x)) + 1.0).compute().dtype == np.float32
    rounded = external(lambda z: np.rint(z).astype(np.int64), dtype=np.int64)
    assert rounded(lazy(x)).compute().tolist() == np.rint(x).astype(int).tolist()


def test_a_log_density_with_a_call():
    density = vecdist.LogDensity(lambda z: -0.5 * (SINE(z) ** 2).sum(), z=vecdist.parameters.real(5))
    value, found = density.logdensity_and_gradient(X)
    assert value == pytest.approx(-0.5 * (np.sin(X) ** 2).sum())
    np.testing.assert_allclose(found, -np.sin(X) * np.cos(X), rtol=1e-12)


def test_what_data_alone_decide_is_called_once():
    calls = []

    def counted(x):
        calls.append(x)
        return np.sin(x)

    wave = external(counted)
    x = vecdist.data(X)
    density = vecdist.LogDensity(lambda z: -((z * wave(x)) ** 2).sum(), z=vecdist.parameters.real(5))
    for scale in (1.0, 2.0, 3.0):
        assert density(scale * np.ones(5)) == pytest.approx(-((scale * np.sin(X)) ** 2).sum())
    assert len(calls) == 1


def test_steps_of_scans():
    """What a step calls of elements is called for all steps; of a carry no step can call anything."""
    start, xs = lazy(np.ones(3)), rng.normal(size=(4, 3))
    carry, _ = vecdist.scan(lambda c, x: (c * SINE(x), None), start, xs)
    np.testing.assert_allclose(carry.compute(), np.sin(xs).prod(axis=0), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="sine is a call between kernels: of a carry no step"):
        vecdist.scan(lambda c, x: (SINE(c) + x, None), start, xs)


def test_explain_shows_calls():
    x = lazy(X, "x")
    kernels = vecdist.explain(np.exp(SINE(2.0 * x)).sum(), wrt=(x,)).kernels
    notes = [note for kernel in kernels for note in kernel.notes]
    assert any(note.startswith("after it sine is called, and gives 40 bytes") for note in notes)
    assert any("vjp of sine" in note for note in notes)


@pytest.mark.parametrize(("made", "error", "said"), [
    (lambda: external(np.linalg.norm)(lazy(X)).compute(), ValueError, r"norm gave an array of shape \(\) where \(5,\)"),
    (lambda: external(lambda x: (x, x), name="pair")(lazy(X)).compute(), ValueError, "pair gave 2 results where 1"),
    (lambda: vecdist.value_and_grad(external(np.sin)(lazy(X)).sum(), "x"), ValueError, "wrt"),
    (lambda: external(np.sin, shape=lambda x: (x, x), dtype=("f8",))(lazy(X)), ValueError, "2 results by its shapes"),
], ids=["shape", "count", "wrt", "dtypes"])  # fmt: skip
def test_what_does_not_fit_is_told(made, error, said):
    with pytest.raises(error, match=said):
        made()


def test_rules_that_are_missing_or_wrong_are_told():
    x, plain = lazy(X), external(np.sin, name="plain")
    with pytest.raises(ValueError, match="plain has no derivative rule; give it a vjp"):
        vecdist.value_and_grad(plain(x).sum(), x)
    with pytest.raises(ValueError, match="plain has no rule for derivatives along a direction; give it a jvp"):
        vecdist.jvp(plain(x).sum(), [x], [X])
    with pytest.raises(ValueError, match="vjp of odd gives a tuple"):
        vecdist.value_and_grad(external(np.sin, vjp=lambda *_: X, name="odd")(x).sum(), x)
    short = external(np.sin, vjp=lambda *_: (X[:2],), name="short")
    with pytest.raises(ValueError, match=r"vjp of short gave an array of shape \(2,\) where \(5,\)"):
        vecdist.value_and_grad(short(x).sum(), x)
    with pytest.raises(TypeError, match="plain is a call between kernels"):
        vecdist.device_function(lambda z: plain(z).sum(), [X])


SLOPE = external(
    lambda x, sine, back: (back * np.cos(x),), shape=lambda x, sine, back: (x,), name="slope of sine",
    jvp=lambda given, results, dots: (dots[2] * np.cos(given[0]) - dots[0] * given[2] * np.sin(given[0]),),
)  # fmt: skip
SMOOTH = external(np.sin, vjp=SLOPE, jvp=SLOPE, name="sine")  # the derivative of each element is both


@pytest.mark.usefixtures("execution")
def test_rules_that_are_calls_have_rules():
    """The Hessian of sin(x)' M sin(x), whose second derivatives are those of the call's rule."""
    matrix, x = rng.normal(size=(5, 5)), lazy(X)
    y = SMOOTH(x)
    found = vecdist.hessian((y * (matrix * y).sum(axis=1)).sum(), x)
    both, sine, cosine = matrix + matrix.T, np.sin(X), np.cos(X)
    expected = both * np.outer(cosine, cosine) - np.diag((both @ sine) * sine)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-14)


def test_batches_and_the_address_of_a_log_density_with_a_call():
    density = vecdist.LogDensity(lambda z: -0.5 * (SINE(z) ** 2).sum(), z=vecdist.parameters.real(5))
    many = rng.normal(size=(3, 5))
    values, slopes = density.logdensity_and_gradient(many)
    np.testing.assert_allclose(values, -0.5 * (np.sin(many) ** 2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(slopes, -np.sin(many) * np.cos(many), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="calls between kernels"):
        _ = density.c_logp_address
