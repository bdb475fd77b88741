"""Derivatives: against analytical ones and finite differences, and against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreting import by_interpreter, counted_launches

from vecdist import hessian, hvp, jvp, lazy, logpdf, value_and_grad, value_and_partials, vjp
from vecdist.distributions import Normal

A, B = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]), np.array([0.3, 1.2, -0.7])


def scalar(a, b):
    """A scalar of two arrays, with products between and sums used again."""
    row = (a * b).sum(axis=-1, keepdims=True)
    return (np.tanh(a - row) * b).sum() + ((b - b.mean()) ** 2).sum() * a.sum() ** 2


def numerical(function, *arrays, step=1e-6):
    """The derivatives of an array-valued function in each element of each array, by central differences."""
    found = []
    for place, array in enumerate(arrays):
        columns = []
        for index in np.ndindex(array.shape):
            up, down = ([x.copy() for x in arrays] for _ in range(2))
            up[place][index] += step
            down[place][index] -= step
            columns.append((np.asarray(function(*up)) - np.asarray(function(*down))) / (2 * step))
        jacobian = np.reshape(columns, (*array.shape, *np.shape(columns[0])))
        found.append(np.moveaxis(jacobian, range(array.ndim), range(-array.ndim, 0)))
    return found


def both():
    a, b = A.copy(), B.copy()
    return a, b, scalar(lazy(a), lazy(b))


def test_value_and_grad():
    a, b, expr = both()
    with by_interpreter():
        value, grads = value_and_grad(expr, wrt=(a, b))
    assert isinstance(grads, tuple)
    np.testing.assert_allclose(value, scalar(a, b), rtol=1e-13)
    for found, wanted in zip(grads, numerical(scalar, a, b), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


def test_the_gradients_come_as_wrt_does():
    a, b, expr = both()
    with by_interpreter():
        _, (both_a, both_b) = value_and_grad(expr, wrt=(a, b))
        for wrt in (b, lazy(b)):
            _, alone = value_and_grad(expr, wrt=wrt)
            np.testing.assert_array_equal(alone, both_b)
        _, swapped = value_and_grad(expr, wrt=[b, a])
        np.testing.assert_array_equal(swapped[1], both_a)
        assert value_and_grad(expr, wrt=())[1] == ()


def test_wrt_by_name():
    mu = np.array(0.5)
    target = logpdf(Normal(lazy(mu, name="mu"), 2.0), lazy(B, name="x")).sum()
    with by_interpreter():
        value, (d_mu, d_x) = value_and_grad(target, wrt=("mu", "x"))
        assert value_and_grad(target, wrt=mu)[1] == value_and_grad(target, wrt="mu")[1] == d_mu
    np.testing.assert_allclose(d_mu, ((B - mu) / 4).sum())
    np.testing.assert_allclose(d_x, (mu - B) / 4)
    assert np.isfinite(value)


def test_a_name_given_late_names_the_same_array():
    b = np.ones(3)
    early = lazy(b) * 2
    expr = (early * lazy(b, name="b")).sum()
    with by_interpreter():
        for wrt in (b, "b", lazy(b)):
            np.testing.assert_array_equal(value_and_grad(expr, wrt=wrt)[1], [4, 4, 4])


def test_one_array_under_two_names_is_two_inputs():
    b = np.array([1.0, 2.0])
    expr = (lazy(b, name="left") * lazy(b, name="right") ** 2).sum()
    with by_interpreter():
        _, (left, right) = value_and_grad(expr, wrt=("left", "right"))
    np.testing.assert_array_equal(left, [1, 4])
    np.testing.assert_array_equal(right, [2, 8])
    with pytest.raises(ValueError, match="holds as left and right"):
        value_and_grad(expr, wrt=b)


def test_an_array_that_is_broadcast_gets_the_sum():
    mu, scale = np.array([[0.5], [1.0]]), np.array(2.0)
    with by_interpreter():
        _, (d_mu, d_scale) = value_and_grad((lazy(mu) * scale * B).sum(), wrt=(mu, scale))
    np.testing.assert_allclose(d_mu, np.full((2, 1), 2 * B.sum()))
    np.testing.assert_allclose(d_scale, (mu * B).sum())


def test_an_array_without_influence_has_gradient_zero():
    a, b = A.copy(), B.copy()
    with by_interpreter():
        _, (d_a, d_b) = value_and_grad((lazy(a) * 0 + np.floor(lazy(b)) + (b > lazy(b))).sum(), wrt=(a, b))
    np.testing.assert_array_equal(d_a, 0 * a)
    np.testing.assert_array_equal(d_b, 0 * b)


def test_choices_do_not_leak_what_they_leave():
    x = np.array([-1.0, 0.0, 4.0])
    with by_interpreter():
        y = np.where(lazy(x) > 0, np.sqrt(lazy(x)) + np.log(lazy(x)), 0.0)
        value, grad = value_and_grad(y.sum(), wrt=x)
    assert value == 2 + np.log(4)
    np.testing.assert_array_equal(grad, [0, 0, 0.5])


@pytest.mark.usefixtures("execution")
def test_value_and_partials():
    a, b = A.copy(), B.copy()
    with counted_launches() as launches:
        value, (d_a, d_b) = value_and_partials(np.exp(lazy(a)) * lazy(b) ** 2, wrt=(a, b))
    assert launches.call_count == 1
    for found, wanted in ((value, np.exp(a) * b**2), (d_a, np.exp(a) * b**2), (d_b, 2 * np.exp(a) * b)):
        assert found.shape == a.shape, "nothing is summed"
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
    with by_interpreter():
        _, of_scalar = value_and_partials(lazy(a) * np.float64(3), wrt=a)
        np.testing.assert_array_equal(of_scalar, np.full(a.shape, 3.0))


def test_partials_are_those_of_an_elementwise_expression():
    a = A.copy()
    with pytest.raises(ValueError, match=r"elementwise.*use vjp"):
        value_and_partials(lazy(a).sum(axis=0), wrt=a)


def vector(a, b):
    return (a * b).sum(axis=1) + np.sin(a[:, 0]) * a[::-1, 2]


@pytest.mark.usefixtures("execution")
def test_vjp_and_jvp_compiled():
    a, b = A.copy(), B.copy()
    jacobians = numerical(vector, a, b)
    cotangent, tangents = np.array([2.0, -3.0]), (A**2, B + 1)
    value, grads = vjp(vector(lazy(a), lazy(b)), (a, b), cotangent)
    np.testing.assert_allclose(value, vector(a, b), rtol=1e-13)
    for found, jacobian in zip(grads, jacobians, strict=True):
        np.testing.assert_allclose(found, np.tensordot(cotangent, jacobian, 1), rtol=1e-6, atol=1e-8)
    value, derivative = jvp(vector(lazy(a), lazy(b)), (a, b), tangents)
    np.testing.assert_allclose(value, vector(a, b), rtol=1e-13)
    wanted = sum((j * t).sum(axis=tuple(range(1, j.ndim))) for j, t in zip(jacobians, tangents, strict=True))
    np.testing.assert_allclose(derivative, wanted, rtol=1e-6)


def test_a_cotangent_may_be_broadcast_or_lazy():
    a = A.copy()
    with by_interpreter():
        for cotangent in (2.0, [[2.0]], np.full(3, 2, "f4"), lazy(np.full((2, 1), 2.0))):
            np.testing.assert_allclose(vjp(lazy(a) ** 2, a, cotangent)[1], 4 * a)
        np.testing.assert_allclose(jvp(lazy(a) ** 2, a, lazy(a) * 0 + 1)[1], 2 * a)
        np.testing.assert_allclose(vjp(lazy(a) ** 2, a, a)[1], 2 * a**2)


def test_second_derivatives_are_derivatives_of_the_first():
    a, b, expr = both()

    def gradients(*arrays):
        return value_and_grad(scalar(*map(lazy, arrays)), wrt=arrays)[1]

    with by_interpreter():
        blocks = hessian(expr, wrt=(a, b))
        assert [[block.shape for block in row] for row in blocks] == [[(2, 3, 2, 3), (2, 3, 3)], [(3, 2, 3), (3, 3)]]
        for place, row in enumerate(blocks):
            wanted = numerical(lambda *arrays, at=place: gradients(*arrays)[at], a, b)
            for found, reference in zip(row, wanted, strict=True):
                np.testing.assert_allclose(found, reference, rtol=1e-5, atol=1e-7)


def test_second_derivatives_compiled():
    a, b = A.copy(), B.copy()
    expr = np.exp(lazy(a) * b).sum()
    with counted_launches() as launches:
        (aa, ab), (_, bb) = hessian(expr, wrt=(a, b))
        h_a, h_b = hvp(expr, (a, b), (a**2, b + 1))
    assert launches.call_count == 2
    e = np.exp(a * b)
    np.testing.assert_allclose(aa.reshape(6, 6), np.diag((e * b**2).ravel()), rtol=1e-12)
    np.testing.assert_allclose(bb, np.diag((e * a**2).sum(axis=0)), rtol=1e-12)
    np.testing.assert_allclose(ab, (e * (1 + a * b))[..., None] * np.eye(3), rtol=1e-12)
    np.testing.assert_allclose(h_a, e * (b**2 * a**2 + (1 + a * b) * (b + 1)), rtol=1e-12)
    np.testing.assert_allclose(h_b, (e * (a**2 * (b + 1) + (1 + a * b) * a**2)).sum(axis=0), rtol=1e-12)


def test_a_hessian_of_one_array_is_one_block():
    x = np.array([1.0, 2.0])
    with by_interpreter():
        np.testing.assert_array_equal(hessian((lazy(x) ** 3).sum(), wrt=x), np.diag(6 * x))
        np.testing.assert_array_equal(hvp((lazy(x) ** 3).sum(), x, np.ones(2)), 6 * x)
        mu = np.array(0.5)
        assert hessian(lazy(mu) ** 3, wrt=mu) == 3 and np.shape(hessian(lazy(mu) ** 3, wrt=mu)) == ()
        assert hessian(lazy(x).sum(), wrt=x).tolist() == [[0, 0], [0, 0]]


def test_derivatives_of_nothing():
    empty, b = np.ones(0), np.ones(2)
    with by_interpreter():
        value, grad = value_and_grad((lazy(empty) ** 2).sum(), wrt=empty)
        assert value == 0 and grad.shape == (0,)
        assert hessian((lazy(empty) ** 2).sum(), wrt=empty).shape == (0, 0)
        blocks = hessian((lazy(empty) ** 2).sum() + (lazy(b) ** 2).sum(), wrt=(empty, b))
        assert [[block.shape for block in row] for row in blocks] == [[(0, 0), (0, 2)], [(2, 0), (2, 2)]]


arrays = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).normal(size=(4, 6)))


@given(arrays)
def test_the_derivatives_agree_with_each_other(numbers):
    a, u, cotangent = numbers[:2, :3].copy(), numbers[:2, 3:], numbers[2, :2]
    b, v = numbers[3, :3].copy(), numbers[3, 3:]
    with by_interpreter():
        _, (d_a, d_b) = vjp(vector(lazy(a), lazy(b)), (a, b), cotangent)
        _, forward = jvp(vector(lazy(a), lazy(b)), (a, b), (u, v))
        np.testing.assert_allclose(forward @ cotangent, (d_a * u).sum() + (d_b * v).sum(), rtol=1e-9, atol=1e-9)
        (aa, ab), (ba, bb) = hessian(scalar(lazy(a), lazy(b)), wrt=(a, b))
        np.testing.assert_allclose(aa, aa.transpose(2, 3, 0, 1), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(ab, ba.transpose(1, 2, 0), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(bb, bb.T, rtol=1e-8, atol=1e-8)
        h_a, h_b = hvp(scalar(lazy(a), lazy(b)), (a, b), (u, v))
        np.testing.assert_allclose(h_a, np.tensordot(aa, u, 2) + ab @ v, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(h_b, np.tensordot(ba, u, 2) + bb @ v, rtol=1e-8, atol=1e-8)


def test_matrix_products_have_gradients():
    x, w = A.copy(), np.arange(6.0).reshape(3, 2)
    with by_interpreter():
        _, (d_x, d_w) = value_and_grad(((lazy(x) @ lazy(w)) ** 2).sum(), wrt=(x, w))
    residual = 2 * x @ w
    np.testing.assert_allclose(d_x, residual @ w.T)
    np.testing.assert_allclose(d_w, x.T @ residual)
