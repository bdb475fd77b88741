"""``scan`` as users call it: structures, lengths, masks, checks, models; and what it refuses."""

import numpy as np
import pytest

import vecdist
from vecdist import LogDensity, lazy, logpdf, scan
from vecdist.distributions import Gamma, Normal
from vecdist.parameters import positive, real
from vecdist.runtime.pipeline import InvalidParameter, compilations

X = np.array([0.5, -1.0, 2.0, 0.25])


def total_and_twice(carry, x):
    return carry + x, 2.0 * carry


@pytest.mark.usefixtures("execution")
def test_it_gives_the_last_carry_and_every_y():
    last, ys = scan(total_and_twice, 1.0, X)
    assert float(last) == pytest.approx(1.0 + X.sum())
    np.testing.assert_allclose(np.asarray(ys), 2.0 * (1.0 + np.array([0.0, 0.5, -0.5, 1.5])))


@pytest.mark.usefixtures("execution")
def test_it_may_run_from_the_end():
    last, ys = scan(total_and_twice, 1.0, X, reverse=True)
    assert float(last) == pytest.approx(1.0 + X.sum())
    np.testing.assert_allclose(np.asarray(ys), 2.0 * (1.0 + np.array([1.25, 2.25, 0.25, 0.0])))


@pytest.mark.usefixtures("execution")
def test_carries_elements_and_results_are_of_any_structure():
    def step(carry, x):
        level, (trend, _) = carry["level"], carry["rest"]
        return {"level": level + trend, "rest": (trend + x["a"], None)}, [level * x["b"][0], None, (level,)]

    last, ys = scan(step, {"level": 0.0, "rest": (1.0, None)}, {"a": X, "b": (X, None)})
    level, trend, levels = 0.0, 1.0, []
    for x in X:
        levels.append(level)
        level, trend = level + trend, trend + x
    assert float(last["level"]) == pytest.approx(level)
    assert float(last["rest"][0]) == pytest.approx(trend)
    assert last["rest"][1] is None and ys[1] is None
    np.testing.assert_allclose(np.asarray(ys[0]), np.array(levels) * X)
    np.testing.assert_allclose(np.asarray(ys[2][0]), levels)


@pytest.mark.usefixtures("execution")
def test_without_elements_its_length_says_how_often():
    last, ys = scan(lambda c, _: (0.5 * c, c), np.array([8.0, 4.0]), length=3)
    assert np.asarray(last).tolist() == [1.0, 0.5]
    assert np.asarray(ys).tolist() == [[8.0, 4.0], [4.0, 2.0], [2.0, 1.0]]


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("shape", [(0,), (1,), (0, 3), (1, 3)])
def test_no_step_and_one_step(shape):
    start = np.full(shape[1:], 2.0)
    last, ys = scan(lambda c, x: (c * np.tanh(c) + x, c), start, np.ones(shape))
    assert ys.shape == shape
    wanted = start if shape[0] == 0 else start * np.tanh(start) + 1.0
    np.testing.assert_allclose(np.asarray(last), wanted)
    np.testing.assert_allclose(np.asarray(ys), np.full(shape, 2.0))


def test_masked_steps_leave_the_carry_and_give_zero():
    """Two series of different lengths, side by side."""
    x, taken = np.stack([X, X[::-1]], 1), np.arange(4)[:, None] < np.array([4, 2])
    last, ys = scan(lambda c, x: (np.sin(c) + x, c), np.array([0.1, 0.2]), x, mask=taken)
    for series, count in enumerate((4, 2)):
        alone, each = scan(lambda c, x: (np.sin(c) + x, c), 0.1 * (series + 1), x[:count, series])
        assert float(last[series]) == pytest.approx(float(alone))
        np.testing.assert_allclose(np.asarray(ys)[:count, series], np.asarray(each))
        assert not np.asarray(ys)[count:, series].any()


def test_numbers_to_begin_with_take_the_dtype_of_the_step():
    assert scan(total_and_twice, 0.0, X.astype("f4"))[0].dtype == np.float32
    assert scan(total_and_twice, 0, X)[0].dtype == np.float64
    assert scan(lambda c, x: (c + x, None), 0, np.arange(3))[0].dtype == np.int64
    assert scan(lambda c, _: (0.5 * c, None), 1.0, length=3)[0].dtype == np.float64


@pytest.mark.usefixtures("execution")
def test_arrays_from_around_the_step_have_derivatives_too():
    matrix, start = np.array([[0.5, 0.1], [-0.2, 0.3]]), np.array([1.0, 2.0])
    last, ys = scan(lambda c, x: (lazy(matrix) @ np.tanh(c) + x, c.sum()), lazy(start), X)
    value, (of_matrix, of_start) = vecdist.value_and_grad(last.sum() + (ys * ys).sum(), wrt=(matrix, start))

    def by_loop(matrix, start):
        carry, total = start, 0.0
        for x in X:
            total, carry = total + carry.sum() ** 2, matrix @ np.tanh(carry) + x
        return total + carry.sum()

    assert value == pytest.approx(by_loop(matrix, start))
    for place in np.ndindex(2, 2):
        step = np.zeros((2, 2), complex)
        step[place] = 1e-30j
        assert of_matrix[place] == pytest.approx(by_loop(matrix + step, start).imag / 1e-30)
    for place in range(2):
        step = np.zeros(2, complex)
        step[place] = 1e-30j
        assert of_start[place] == pytest.approx(by_loop(matrix, start + step).imag / 1e-30)


def test_other_lengths_are_no_other_program():
    function = vecdist.compile(lambda a, x: scan(lambda c, x: (np.sin(a * c) + x, None), 0.0, x)[0])
    function.value_and_grad(np.array(0.5), X)
    made = compilations()
    for length in (3, 7, 1000):
        function.value_and_grad(np.array(0.5), np.ones(length))
    assert compilations() == made


@pytest.mark.usefixtures("execution")
def test_hessians_run_forward_over_back():
    a, x = np.array([0.3, 0.7]), X

    def total(a):
        return scan(lambda c, x: (np.sin(a[0] * c) + a[1] * x * c, None), 0.5, x)[0]

    found = vecdist.hessian(total(lazy(a)), wrt=a)
    function, step = vecdist.compile(total), 1e-5
    for place in range(2):
        move = step * np.eye(2)[place]
        ahead, behind = (function.value_and_grad(a + sign * move, wrt=0)[1] for sign in (1, -1))
        np.testing.assert_allclose(found[place], (ahead - behind) / (2 * step), rtol=1e-8)


@pytest.mark.usefixtures("execution")
def test_parameters_are_checked_in_every_step():
    scale = np.array(1.0)

    def step(c, x):
        return c - 1.0 + 0.0 * logpdf(Normal(0.0, c), x), None

    assert float(scan(step, lazy(scale), np.zeros(1))[0]) == 0.0
    with pytest.raises(InvalidParameter, match="Normal: scale"):
        float(scan(step, lazy(scale), np.zeros(3))[0])


def test_a_model_with_a_hidden_path_is_a_log_density():
    """Stochastic volatility, whose shocks are parameters."""
    y = np.array([0.3, -0.5, 1.2, 0.1, -0.9])

    def model(mean, phi, sigma, shocks):
        _, h = scan(lambda h, z: (mean + phi * (h - mean) + sigma * z,) * 2, mean, shocks)
        return logpdf(Normal(0.0, np.exp(h / 2)), y).sum() + logpdf(Normal(0.0, 1.0), shocks).sum() + (
            logpdf(Normal(0.0, 1.0), mean) + logpdf(Gamma(2.0, 4.0), sigma) + logpdf(Normal(0.0, 0.5), phi)
        )

    density = LogDensity(model, mean=real(), phi=real(), sigma=positive(), shocks=real(5))
    q = np.linspace(-0.4, 0.5, density.ndim)
    value, gradient = density.logdensity_and_gradient(q)
    for place in range(density.ndim):
        move = 1e-6 * np.eye(density.ndim)[place]
        ahead, behind = (density.logdensity(q + sign * move) for sign in (1, -1))
        assert gradient[place] == pytest.approx((ahead - behind) / 2e-6, rel=1e-6, abs=1e-8)
    many, slopes = density.logdensity_and_gradient(np.stack([q, 0.5 * q, -q]))
    assert many[0] == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(slopes[0], gradient, rtol=1e-12)


def test_users_functions_with_loops_stand_in_steps():
    @vecdist.function
    def root(x):
        found = x
        while abs(found * found - x) > 1e-12 * x:
            found = 0.5 * (found + x / found)
        return found

    a = np.array(2.0)
    last, _ = scan(lambda c, x: (root(c) + lazy(a) * x, None), 4.0, np.ones(3))
    value, slope = vecdist.value_and_grad(last, wrt=a)
    c, d = 4.0, 0.0
    for _ in range(3):
        c, d = np.sqrt(c) + 2.0, 0.5 * d / np.sqrt(c) + 1.0
    assert value == pytest.approx(c, rel=1e-12)
    assert slope == pytest.approx(d, rel=1e-10)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: scan(total_and_twice, 0.0), ValueError, "wants its length"),
        (lambda: scan(total_and_twice, 0.0, (X, X[:2])), ValueError, "differ: 4, 2"),
        (lambda: scan(total_and_twice, 0.0, X, length=3), ValueError, "differ: 4, 3"),
        (lambda: scan(total_and_twice, 0.0, np.array(1.0)), ValueError, "leading axis"),
        (lambda: scan(lambda c, x: c + x, 0.0, X), TypeError, "two results"),
        (lambda: scan(lambda c, x: (c + X, None), 0.0, X), TypeError, r"shape \(\) .* makes it \(4,\)"),
        (lambda: scan(lambda c, x: (c + x, None), np.float32(0.0), X), TypeError, "float32, but .* float64"),
        (lambda: scan(lambda c, x: ((c, x), None), 0.0, X), TypeError, "returned a carry"),
        (lambda: scan(total_and_twice, 0.0, X, mask=np.ones(3, bool)), ValueError, "mask of shape"),
        (lambda: scan(lambda c, x: (c if c > x else x, None), 0.0, X), TypeError, "step"),
    ],
)
def test_what_is_no_scan_is_told(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_a_scan_in_a_step_of_its_carry_is_refused_and_one_of_anything_else_is_not():
    inner = lambda start: scan(lambda c, x: (np.tanh(c) + x, None), start, X)[0]  # noqa: E731
    with pytest.raises(NotImplementedError, match="one scan whose carry holds both"):
        scan(lambda c, x: (inner(c) + x, None), 0.0, X)
    last, _ = scan(lambda c, x: (np.sin(c) + inner(x), None), 0.0, X)
    carry = 0.0
    for x in X:
        found = x
        for each in X:
            found = np.tanh(found) + each
        carry = np.sin(carry) + found
    assert float(last) == pytest.approx(carry)
