"""Linear recurrences along an axis, against a loop in NumPy: values, first and second derivatives."""

import numpy as np
import pytest
from reference import assert_same, interpreted, ops
from test_scans import jacobian

import vecdist as vd
from vecdist import lazy
from vecdist.lazy.array import LazyArray
from vecdist.primitives.scans import linear_recurrence, shifted

RNG = np.random.default_rng(11)
SHAPE = (3, 5, 4)
FACTORS, TERMS = RNG.uniform(-1.5, 1.5, SHAPE), RNG.normal(size=SHAPE)
FACTORS[0, 2], FACTORS[1, 1:4], FACTORS[2] = 0.0, 0.0, 0.0


def recurrence(factors, terms, axis=-1, backwards=False):
    return LazyArray(linear_recurrence(lazy(factors).node, lazy(terms).node, axis, backwards))


def reference(factors, terms, axis=-1, backwards=False):
    """As a loop over the axis."""
    turn = slice(None, None, -1 if backwards else 1)
    factors, terms = (np.moveaxis(x, axis, 0)[turn] for x in (factors, terms))
    found, last = np.zeros(terms.shape), np.zeros(terms.shape[1:])
    for place, (a, b) in enumerate(zip(factors, terms, strict=True)):
        found[place] = last = a * last + b
    return np.moveaxis(found[turn], 0, axis)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_values(axis, backwards):
    pairs = [(FACTORS, TERMS), (FACTORS[:, ::2, ::-1], TERMS[:, ::2]), (FACTORS.T, TERMS.T)]
    pairs += [(x[:1], y[:1]) for x, y in pairs] + [(FACTORS[:, :0], TERMS[:, :0])]
    for factors, terms in pairs:
        found = np.asarray(recurrence(factors, terms, axis, backwards))
        np.testing.assert_allclose(found, reference(factors, terms, axis, backwards), rtol=1e-14, atol=1e-14)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("axis", [-1, -2])
def test_float32_runs_in_float64(axis):
    factors, terms = FACTORS.astype("f4"), TERMS.astype("f4")
    found = np.asarray(recurrence(factors, terms, axis))
    np.testing.assert_allclose(found, reference(factors, terms, axis).astype("f4"), rtol=2e-7)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("axis", [-1, -2])
def test_gradients(axis, backwards):
    factors, terms = FACTORS[0].copy(), TERMS[0].copy()
    weights = RNG.normal(size=factors.shape)

    def by_hand(*given):
        return (np.sin(reference(*given, axis, backwards)) * weights).sum()

    target = (np.sin(recurrence(factors, terms, axis, backwards)) * weights).sum()
    value, slopes = vd.value_and_grad(target, (factors, terms))
    np.testing.assert_allclose(value, by_hand(factors, terms))
    wanted = jacobian(lambda x: by_hand(x, terms), factors), jacobian(lambda x: by_hand(factors, x), terms)
    for slope, each in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(slope, each, rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("backwards", [False, True])
def test_second_derivatives(backwards):
    """Of terms and factors that depend on the same numbers, differences of gradients."""
    x = TERMS[0, 0].copy()

    def target(x):
        return np.square(recurrence(np.sin(lazy(x)), lazy(x) * lazy(x), -1, backwards)).sum()

    found = np.asarray(vd.hessian(target(x), x))
    np.testing.assert_allclose(found, jacobian(lambda x: vd.value_and_grad(target(x), (x,))[1][0], x), rtol=1e-5)
    for e in np.eye(x.size):
        np.testing.assert_allclose(np.asarray(vd.hvp(target(x), x, e)), found @ e, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("seed", range(6))
def test_random_shapes_of_expressions(seed):
    """With tangents, in any layout, beside other operations: what the interpreter says."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))
    axis, backwards = -int(rng.integers(1, len(shape) + 1)), bool(rng.integers(2))
    factors, terms = (np.asfortranarray(rng.normal(size=shape)) if rng.integers(2) else rng.normal(size=shape)
                      for _ in range(2))

    def result(factors):
        return recurrence(np.tanh(lazy(factors)), lazy(terms) * 2.0, axis, backwards) - lazy(factors)

    found = result(factors)
    moved = LazyArray(shifted((found * terms).node, axis, not backwards, 1)) * found
    for each in (found, moved, moved.sum()):
        assert_same([np.asarray(each)], interpreted((each.node,)), rtol=1e-12)
    for step in [e.reshape(shape) for e in np.eye(factors.size)][:3]:
        wanted = (np.asarray(result(factors + 1e-6 * step)) - np.asarray(result(factors - 1e-6 * step))) / 2e-6
        np.testing.assert_allclose(np.asarray(vd.jvp(found, (factors,), (step,))[1]), wanted, atol=1e-8)


def step(h, x):
    """Linear in the carry ``h``, by every operation that keeps it so."""
    factor, term = x
    new = -(factor * h) + (term - h / 4.0) * 0.5 + np.where(factor < 0.0, h, 0.5)
    return new, (h, np.sin(new))


def by_hand(factors, terms, start, turn):
    """The last carry, and those before and behind each step."""
    h, found = start, {}
    for t in range(len(terms))[turn]:
        before = h
        h = -(factors[t] * h) + (terms[t] - h / 4.0) * 0.5 + np.where(factors[t] < 0.0, h, 0.5)
        found[t] = before, np.sin(h)
    return h, *(np.array([found[t][place] for t in range(len(terms))]) for place in (0, 1))


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("shape", [(6,), (5, 3), (1, 2)])
def test_scans_with_linear_steps(shape, backwards):
    """They are no loop over steps, and have the values and derivatives of one."""
    rng, turn = np.random.default_rng(3), slice(None, None, -1 if backwards else 1)
    factors, terms, start = (rng.normal(size=each) for each in (shape, shape, shape[1:]))
    last, found = vd.scan(step, lazy(start), (lazy(factors), lazy(terms)), reverse=backwards)
    assert "recurrence" not in ops([last.node, *(each.node for each in found)])
    for mine, wanted in zip((last, *found), by_hand(factors, terms, start, turn), strict=True):
        np.testing.assert_allclose(np.asarray(mine), wanted, rtol=1e-13, atol=1e-13)

    def total(factors, terms, start):
        last, before, behind = by_hand(factors, terms, start, turn)
        return np.sum(last**2) + np.sum(before * behind)

    value = (last**2).sum() + (found[0] * found[1]).sum()
    _, slopes = vd.value_and_grad(value, (factors, terms, start))
    given = (factors, terms, start)
    for place, slope in enumerate(slopes):
        wanted = jacobian(lambda x, place=place: total(*given[:place], x, *given[place + 1 :]), given[place])
        np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-7)


def test_sums_of_a_scan_are_running_sums_and_masks_leave_carries_alone():
    x, taken = np.arange(1.0, 6.0), np.array([True, False, True, True, False])
    last, sums = vd.scan(lambda total, x: (total + x, total + x), 2.0, x, mask=taken)
    np.testing.assert_array_equal(np.asarray(sums), [3.0, 0.0, 6.0, 10.0, 0.0])
    assert float(last) == 10.0
    plain, _ = vd.scan(lambda total, x: (total + x, None), 2.0, x)
    assert "cumsum" in ops([plain.node]) and float(plain) == 17.0


@pytest.mark.parametrize("body", [lambda h, x: np.tanh(h) + x, lambda h, x: h * h, lambda h, x: x / h, lambda h, x: x])
def test_steps_that_are_not_linear_in_their_carry_stay_steps(body):
    last, _ = vd.scan(lambda h, x: (body(h, x), None), 1.0, np.arange(1.0, 4.0))
    assert not {"linear_recurrence", "cumsum"} & ops([last.node])
