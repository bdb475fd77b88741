"""Random expressions: the interpreter against NumPy, kernels against the interpreter, derivatives against both."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from interpreting import by_interpreter

from vecdist import compile, hessian, hvp, jvp, lazy, value_and_grad, vjp  # noqa: A004


def deviation(x):
    return x - x.mean()


# Each keeps values near 1, so that no depth of nesting overflows and all derivatives are of moderate size.
UNARY = (
    np.tanh, np.sin, np.negative, np.square, lambda x: np.exp(np.sin(x)), lambda x: np.log(np.square(x) + 1.0),
    lambda x: np.sqrt(np.square(x) + 0.5), lambda x: 1.0 / (2.0 + np.cos(x)), lambda x: x * 0.5 + 1, deviation,
    lambda x: np.where(np.sin(3 * x) > 0, x, 0.5 * x),
)
BINARY = (
    np.add, np.subtract, np.multiply, lambda x, y: x / (np.square(y) + 1.0), np.maximum, np.hypot,
    lambda x, y: np.where(x > y, x * 0.25, np.tanh(y)),
)


def summed(x, axis):
    """The mean square, so that long axes do not grow."""
    return np.mean(np.square(x), axis=axis % x.ndim, keepdims=True) if x.ndim else x


def flipped(x, axis):
    return x[(..., slice(None, None, -1))] if x.ndim else x


def neighbours(x, axis):
    return x[..., 1:] * x[..., :-1] if x.ndim and x.shape[-1] > 2 else x


def transposed(x, axis):
    return np.reshape(np.transpose(x), np.shape(x))


STRUCTURAL = (summed, flipped, neighbours, transposed)


@dataclass(frozen=True)
class Case:
    """Arrays, and a function of them that takes lazy arrays and arrays alike."""

    arrays: list
    steps: list

    def __call__(self, *arrays):
        pool = list(arrays)
        for function, places, extra in self.steps:
            x = pool[places[0] % len(pool)]
            if function in UNARY:
                pool.append(function(x))
            elif function in STRUCTURAL:
                pool.append(function(x, extra))
            else:
                y = pool[places[1] % len(pool)]
                pool.append(function(x, y) if fits(np.shape(x), np.shape(y)) else np.tanh(x))
        return sum((np.square(part) * 0.5).sum() for part in pool)

    @property
    def lazy(self):
        return self(*map(lazy, self.arrays))


def fits(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


@st.composite
def cases(draw, dtypes=("f8",)):
    shapes = draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=1, max_side=4)).input_shapes
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arrays = [rng.normal(size=shape).astype(draw(st.sampled_from(dtypes))) for shape in shapes]
    step = st.tuples(
        st.sampled_from(UNARY + BINARY + STRUCTURAL), st.tuples(*[st.integers(0, 9)] * 2), st.integers(0, 2)
    )
    return Case(arrays, draw(st.lists(step, min_size=1, max_size=6)))


def close(found, wanted, rtol=1e-9):
    scale = np.max(np.abs(wanted), initial=1.0)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * scale)


@given(cases())
def test_the_interpreter_agrees_with_numpy(case):
    with by_interpreter():
        close(float(case.lazy), float(case(*case.arrays)))


@given(cases(("f4",)))
def test_float32_agrees_with_float64(case):
    with by_interpreter():
        assert case.lazy.dtype == np.float32
        wide = float(case(*(array.astype("f8") for array in case.arrays)))
        if _smooth(case):
            close(float(case.lazy), wide, 1e-3)


def _smooth(case):
    """Whether no step chooses, for a rounding may turn a choice."""
    choosing = (UNARY[-1], BINARY[-1])
    return not any(function in choosing for function, _, _ in case.steps)


@given(cases(), st.integers(0, 2**32 - 1))
def test_gradients_agree_with_finite_differences(case, seed):
    """Along a random direction, wherever the expression is smooth there: where one-sided differences agree."""
    rng = np.random.default_rng(seed)
    directions = [rng.normal(size=array.shape) for array in case.arrays]
    h = 1e-5

    def along(t):
        return float(case(*(array + t * d for array, d in zip(case.arrays, directions, strict=True))))

    ahead, behind = (along(h) - along(0)) / h, (along(0) - along(-h)) / h
    if not np.isclose(ahead, behind, rtol=1e-2, atol=1e-2):
        return
    with by_interpreter():
        _, grads = value_and_grad(case.lazy, wrt=tuple(case.arrays))
        _, forward = jvp(case.lazy, tuple(case.arrays), tuple(directions))
    slope = sum((grad * d).sum() for grad, d in zip(grads, directions, strict=True))
    close(slope, (along(h) - along(-h)) / (2 * h), 1e-4)
    close(forward, slope)


@given(cases(), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_second_derivatives_are_symmetric_and_agree(case, seed):
    rng = np.random.default_rng(seed)
    wrt = tuple(case.arrays)
    tangents = tuple(rng.normal(size=array.shape) for array in wrt)
    with by_interpreter():
        blocks = hessian(case.lazy, wrt)
        products = hvp(case.lazy, wrt, tangents)
    sizes = [array.size for array in wrt]
    matrix = np.block([[np.reshape(blocks[i][j], (m, n)) for j, n in enumerate(sizes)] for i, m in enumerate(sizes)])
    close(matrix, matrix.T)
    close(np.concatenate([np.ravel(p) for p in products]), matrix @ np.concatenate([t.ravel() for t in tangents]))


@given(cases())
def test_a_cotangent_scales_the_gradient(case):
    with by_interpreter():
        _, grads = value_and_grad(case.lazy, wrt=tuple(case.arrays))
        _, scaled = vjp(case.lazy, tuple(case.arrays), 3.0)
    for once, thrice in zip(grads, scaled, strict=True):
        close(thrice, 3 * once)


def agree(case, rtol):
    """The kernels of a case against the interpreter, and the compiled function against the kernels."""
    wrt = tuple(case.arrays)
    value, grads = value_and_grad(case.lazy, wrt)
    with by_interpreter():
        wanted, gradients = value_and_grad(case.lazy, wrt)
    close(value, wanted, rtol)
    for found, reference in zip(grads, gradients, strict=True):
        assert found.dtype == reference.dtype and found.shape == reference.shape
        close(found, reference, rtol)
    again, same = compile(case).value_and_grad(*case.arrays)
    assert again == value and all(map(np.array_equal, same, grads))


FIXED = [
    [(np.multiply, (0, 1), 0), (deviation, (2, 0), 0), (neighbours, (3, 0), 0)],
    [(summed, (0, 0), 1), (BINARY[3], (2, 1), 0), (transposed, (3, 0), 0)],
]


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize(("steps", "dtype"), [(FIXED[0], "f8"), (FIXED[1], "f4")], ids=["neighbours", "transposed"])
def test_kernels_agree_with_the_interpreter(steps, dtype):
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=shape).astype(dtype) for shape in ((3, 4), (4,))]
    agree(Case(arrays, steps), 1e-10 if dtype == "f8" else 1e-4)


@pytest.mark.slow
@given(cases())
@settings(max_examples=6)
def test_random_kernels_agree_with_the_interpreter(case):
    agree(case, 1e-9)
