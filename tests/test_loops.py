"""Loops of elements: their values and derivatives on every target, and how many of them run."""

import pickle

import numpy as np
import pytest
import random_loops
from interpreting import by_interpreter
from loop_executor import statements
from reference import interpreted
from scipy import special
from uncompiled import uncompiled

import vecdist
from vecdist import data, lazy
from vecdist.codegen.cpu.render import render
from vecdist.graph.leaves import leaf
from vecdist.graph.node import cast, const, where
from vecdist.lazy.array import LazyArray
from vecdist.passes.bind import bind
from vecdist.passes.derivations import partials_of, values
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.loops import TURNS, Loop, complaint_of, local, loop
from vecdist.runtime import pipeline

TRUE, ZERO = const(True, np.bool_), const(0, np.int64)
X, A = np.linspace(0.3, 2.5, 7), np.linspace(1.5, 4.0, 7)
sin, cos, floor = (PRIMITIVES[name] for name in ("sin", "cos", "floor"))
COUNT, FIRST, SECOND = local(0, np.int64), local(1, np.float64), local(2, np.float64)


def root(a, start=None):
    """The square root by Newton's steps, and how many there were."""
    x, count, given = local(0, np.float64), local(1, np.int64), local(2, np.float64)
    inits = const(1.0) if start is None else lazy(start).node, ZERO
    steps = 0.5 * (x + given / x), count + 1
    return [LazyArray(node) for node in loop(TRUE, inits, [lazy(a).node], abs(x * x - given) > 1e-14 * given, steps)]


def anomaly(mean, eccentricity):
    """The eccentric anomaly by Kepler's equation."""
    e, m, ecc = (local(place, np.float64) for place in range(3))
    wrong = e - ecc * sin(e) - m
    test, new = abs(wrong) > 1e-13, e - wrong / (1.0 - ecc * cos(e))
    inits, frees = [lazy(mean).node], [lazy(mean).node, lazy(eccentricity).node]
    return LazyArray(loop(TRUE, inits, frees, test, [new])[0])


def power(x, count):
    """A whole power by multiplication."""
    bound = local(3, np.int64)
    frees = [lazy(x).node, lazy(count).node]
    return LazyArray(loop(TRUE, [ZERO, const(1.0)], frees, COUNT < bound, [COUNT + 1, FIRST * SECOND])[1])


# Random loops


@pytest.mark.parametrize("seed", range(12))
def test_values_and_derivatives_are_those_of_dual_numbers(seed):
    program = random_loops.program(seed)
    found = interpreted(program.roots())
    wanted, first, second = random_loops.judged(program)
    for mine, reference in zip(found, wanted, strict=False):
        np.testing.assert_allclose(mine, reference, rtol=1e-11, atol=1e-12)
    smooth = np.isfinite(wanted[0])
    for leaf_ in program.smooth:  # what a NaN would be multiplied by, if it were not forgotten, is no derivative
        smooth &= np.isfinite(leaf_.attrs[0].array)
    slopes = np.concatenate([first, second.reshape(-1, *smooth.shape)])
    for mine, reference in zip(found[len(wanted) :], slopes, strict=True):
        np.testing.assert_allclose(mine[smooth], reference[smooth], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("seed", range(16))
def test_generated_source_computes_what_the_interpreter_does(seed):
    roots = random_loops.program(seed, ("f8", "f4")[seed % 2]).roots()
    with uncompiled():
        found = pipeline.evaluate(roots, values, [each.shape for each in roots])
    random_loops.compare(found, roots)


@pytest.mark.parametrize("seed", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(100, 130))])
def test_kernels_of_the_cpu_compute_what_the_interpreter_does(seed):
    roots = random_loops.program(seed, ("f8", "f4")[seed % 2], 300).roots()
    random_loops.compare(pipeline.evaluate(roots, values, [each.shape for each in roots]), roots)


@pytest.mark.parametrize(("seed", "elements"), [*enumerate([1, 63, 64, 65, 130, 257])])
def test_elements_that_take_turns_together_end_apart(seed, elements):
    roots = random_loops.program(seed, ("f8", "f4")[seed % 2], elements, straight=True).results
    with uncompiled():
        found = pipeline.evaluate(roots, values, [each.shape for each in roots])
    random_loops.compare(found, roots)


@pytest.mark.parametrize("seed", [1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(200, 230))])
def test_vectors_compute_what_the_interpreter_does(seed):
    roots = random_loops.program(seed, ("f8", "f4")[seed % 2], 700, straight=True).roots()
    random_loops.compare(pipeline.evaluate(roots, values, [each.shape for each in roots]), roots)


def test_few_that_go_on_longer_than_all_others_may_take_too_many_turns():
    """They are counted on from the turns that they took together."""
    x, n = local(0, np.float64), local(1, np.int64)
    ends = np.where(np.arange(130) % 40 == 3, np.arange(130.0), 5.0)
    found = loop(TRUE, [const(0.0), ZERO], [lazy(ends).node], x < local(2, np.float64), [x + 1.0, n + 1], limit=83)
    with uncompiled():
        count, turns = pipeline.evaluate(found, values, [(130,)] * 2)
    np.testing.assert_array_equal(count, np.where(ends > 83, np.nan, ends))
    np.testing.assert_array_equal(turns, np.minimum(ends, 83))


def test_what_few_elements_want_in_a_turn_is_not_asked_for_by_those_that_have_ended():
    """Angles that are far, which all elements have for as long as they go on, or some."""
    bounds, x, n = (np.arange(150) * 7) % 31, local(1, np.float64), local(2, np.int64)
    far = where(x > 1e9, x * 1e-9, x * 2.5)
    inits, frees = [ZERO, lazy(np.linspace(-3, 3, 150)).node], [lazy(bounds).node]
    (_, found) = loop(TRUE, inits, frees, COUNT < n, [COUNT + 1, far + sin(x)])
    with uncompiled():
        ends = np.asarray(LazyArray(found))
    np.testing.assert_allclose(ends, interpreted((found,))[0], rtol=1e-13)
    assert abs(ends).max() > 1e6


def test_a_grid_takes_turns_along_its_rows():
    """Of points that stay bounded, and how long the others do: by columns that are read once and rows that are not."""
    re, im = local(0, np.float64), local(1, np.float64)
    n, x, y = local(2, np.int64), local(3, np.float64), local(4, np.float64)
    across, down = np.linspace(-2.0, 0.6, 70), np.linspace(-1.1, 1.2, 3)
    frees, test = [lazy(across).node, lazy(down)[:, None].node], (n < 30) & (re * re + im * im < 4.0)
    turn = [re * re - im * im + x, 2.0 * re * im + y, n + 1]
    real, _, turns = (LazyArray(each) for each in loop(TRUE, [const(0.0), const(0.0), ZERO], frees, test, turn))

    def results():
        total = (np.minimum(abs(real), 2.0) * across).sum(axis=1)
        return np.asarray(turns), np.asarray(total), np.asarray(vecdist.value_and_grad(real.sum(), wrt=down)[1])

    with by_interpreter():
        wanted = results()
    real, turns = LazyArray(real.node), LazyArray(turns.node)
    with uncompiled():
        found = results()
    for mine, reference in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-11)
    assert wanted[0].max() == 30


# Derivatives


def test_derivatives_of_a_fixed_point_are_those_of_the_equation():
    ecc = np.array(0.4)
    e = np.asarray(anomaly(X, ecc))
    with uncompiled():
        value, (slope,) = vecdist.value_and_grad(anomaly(X, ecc).sum(), wrt=(ecc,))
        hessian = vecdist.hessian(anomaly(X, ecc).sum(), wrt=ecc)
    wide = 1 - ecc * np.cos(e)
    np.testing.assert_allclose(value, e.sum(), rtol=1e-14)
    first = np.sin(e) / wide
    np.testing.assert_allclose(slope, first.sum(), rtol=1e-12)
    second = (2 * np.cos(e) * first - ecc * np.sin(e) * first**2) / wide
    np.testing.assert_allclose(hessian, second.sum(), rtol=1e-7)  # the last steps find the equation's half as exactly


def test_derivatives_of_every_kind():
    """Of the n-th power, along one array and another."""
    x, n = np.array([0.5, 1.5, -2.0, 3.0]), np.array([0, 1, 3, 6])
    total, v = power(x, n).sum(), np.array([1.0, -1.0, 2.0, 0.5])
    first, second = n * x ** np.maximum(n - 1, 0), n * (n - 1) * x ** np.maximum(n - 2, 0)
    with by_interpreter():
        np.testing.assert_allclose(vecdist.value_and_grad(total, wrt=x)[1], first)
        np.testing.assert_allclose(vecdist.hessian(total, wrt=x), np.diag(second))
        np.testing.assert_allclose(vecdist.hvp(total, x, v), second * v)
        np.testing.assert_allclose(vecdist.jvp(power(x, n), x, v)[1], first * v)


def test_a_batch_of_loops_is_a_loop():
    def density(a):
        return -(np.square(root(a)[0] - 1.3)).sum()

    points = np.array([[2.0, 3.0], [1.5, 0.7], [9.0, 4.0]])
    with uncompiled():
        found, (slopes,) = vecdist.compile(density, in_axes=0).value_and_grad(points, wrt=(0,))
    np.testing.assert_allclose(found, -np.square(np.sqrt(points) - 1.3).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(slopes, -2 * (np.sqrt(points) - 1.3) * 0.5 / np.sqrt(points), rtol=1e-13)


# How many run


def kernel_of(roots, derivation=values):
    return pipeline.lower(bind(roots), derivation, "nan")[1]


def runs(kernel):
    """The loops that a kernel runs."""
    return [item for _, item in statements(kernel) if isinstance(item.op, Loop)]


def test_values_and_derivatives_come_from_one_loop():
    x, steps = root(A, X)
    roots = (x.node, *partials(x.node, [leaf(X), leaf(A)]), steps.node)
    (one,) = runs(kernel_of(roots))
    assert len(one.op.news) == 4


def test_what_nobody_reads_is_not_carried():
    (one,) = runs(kernel_of((root(A, X)[0].node, leaf(A)), partials_of))
    assert [new.dtype.kind for new in one.op.news] == ["f", "f"]
    assert len(one.args) == 1 + 2 + 1


def test_second_derivatives_come_from_the_loop_of_the_first():
    x = lazy(X).node
    value = power(X, np.arange(7)).node
    (first,) = partials(value, [x])
    (second,) = partials(first, [x])
    (one,) = runs(kernel_of((value, first, second)))
    assert len(one.op.news) == 4  # with the count


def test_loops_that_take_other_turns_stay_apart():
    x = lazy(X).node
    found = [loop(TRUE, [ZERO, x], [], COUNT < turns, [COUNT + 1, FIRST * 2.0])[1] for turns in (2, 3)]
    assert len(runs(kernel_of(tuple(found)))) == 2


def test_one_loop_after_another_is_none_inside_it():
    x = lazy(X).node
    for _ in range(2):
        x = loop(TRUE, [ZERO, x], [], COUNT < 2, [COUNT + 1, FIRST * FIRST])[1]
    slope = partials(x, [lazy(X).node])[0]
    assert len(runs(kernel_of((x, slope)))) == 2
    found = interpreted((x, slope))
    np.testing.assert_allclose(found[0], X**16)
    np.testing.assert_allclose(found[1], 16 * X**15)


def test_what_is_the_same_for_many_is_run_once():
    """A loop that varies along columns alone is not run again for each row."""
    table = np.ones((3, 7))
    with uncompiled():
        found = np.asarray((lazy(table) * root(A)[0]).sum(axis=1))
    np.testing.assert_allclose(found, np.sqrt(A).sum() * np.ones(3))
    kernel = kernel_of(((lazy(table) * root(A)[0]).sum(axis=1).node,))
    assert [depth for depth, item in statements(kernel) if isinstance(item.op, Loop)] == [1]


def test_a_loop_of_rows_is_run_once_whatever_its_inner_loops_read_of_it():
    """Its value is read by one inner loop, its derivative behind that: all of it waits in buffers of a strip."""
    rows, theta = np.linspace(-1, 1, 7 * 40).reshape(7, 40), np.linspace(1.5, 4.0, 7)

    def model():
        x, _ = root(theta)
        return (np.exp(-np.square(lazy(rows) - x[:, None])).sum(axis=1) * x).sum()

    with uncompiled():
        value, slope = vecdist.value_and_grad(model(), wrt=theta)
    with by_interpreter():
        wanted = vecdist.value_and_grad(model(), wrt=theta)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
    np.testing.assert_allclose(slope, wanted[1], rtol=1e-10)
    source = str(vecdist.explain(model(), wrt=theta).kernels[0].source)
    assert source.count("= loop_") == 1


def test_a_loop_of_data_is_run_before_all_launches():
    fixed, scale = data(A.copy()), np.array(2.0)
    total = (LazyArray(root(fixed)[0].node) * scale).sum()
    with uncompiled():
        value, slope = vecdist.value_and_grad(total, wrt=scale)
    np.testing.assert_allclose([value, slope], [2 * np.sqrt(A).sum(), np.sqrt(A).sum()], rtol=1e-14)
    plan, _ = pipeline.fed(pipeline.structure((total.node,), values), values, "cpu", "nan")
    assert not runs(plan.kernel)


# Turns without an end


def test_a_test_that_never_fails_gives_nan():
    x, n = local(0, np.float64), local(1, np.int64)
    start = np.array([0.0, 0.1, np.nan])
    ends = loop(TRUE, [lazy(start).node, ZERO], [], ~(PRIMITIVES["eq"](x, 0.1)), [x + 0.01, n + 1], limit=50)
    slope = partials(ends[0], [lazy(start).node])[0]
    wanted = [np.nan, 0.1, np.nan], [50, 0, 50], [np.nan, 1.0, np.nan]
    for found, expected in zip(interpreted((*ends, slope)), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)
    with uncompiled():
        for found, expected in zip(pipeline.evaluate((*ends, slope), values, [(3,)] * 3), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_as_many_turns_as_may_be_are_no_error():
    for limit, wanted in ((4, 16.0), (3, np.nan)):
        test = FIRST < 16.0
        (found, _) = interpreted(loop(TRUE, [ZERO, const(1.0)], [], test, [COUNT, FIRST * 2.0], limit=limit)[::-1])
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("test", "new", "limit"), [
    (COUNT < 10, COUNT + 1, None),
    (COUNT < local(2, np.int64), COUNT + 3, None),
    ((FIRST < 2.0) & (COUNT <= 9), COUNT + 1, None),
    (COUNT < 10, COUNT - 1, TURNS),
    (COUNT < 10, where(FIRST < 2.0, COUNT + 1, COUNT), TURNS),
    (FIRST < 10.0, COUNT + 1, TURNS),
    ((FIRST < 2.0) | (COUNT < 10), COUNT + 1, TURNS),
])  # fmt: skip
def test_what_counts_up_to_a_bound_has_no_limit(test, new, limit):
    found = loop(TRUE, [ZERO, lazy(X).node], [lazy(np.arange(7)).node], test, [new, FIRST * 1.5])
    assert found[0].attrs[0].limit == limit


# What a loop is


@pytest.mark.parametrize(("parts", "said"), [
    ((TRUE, [ZERO], [], COUNT, [COUNT + 1]), "booleans"),
    ((ZERO, [ZERO], [], COUNT < 3, [COUNT + 1]), "booleans"),
    ((TRUE, [ZERO], [], COUNT < 3, [cast(COUNT, np.float64)]), "the dtype that it starts with"),
    ((TRUE, [ZERO], [], COUNT < 3, [COUNT + lazy(np.arange(3)).node]), "scalars"),
    ((TRUE, [ZERO], [], FIRST < 3.0, [COUNT + 1]), "local 1, a float64"),
    ((TRUE, [ZERO], [lazy(np.arange(3)).node], FIRST < 3.0, [COUNT + 1]), "local 1, a float64"),
])  # fmt: skip
def test_what_is_no_loop_is_said(parts, said):
    with pytest.raises(ValueError, match=said):
        loop(*parts)


def test_a_loop_can_be_pickled():
    node = power(X, np.arange(7)).node
    copy = pickle.loads(pickle.dumps(bind((node,)).roots[0]))
    assert copy is bind((node,)).roots[0]
    assert complaint_of(copy.attrs[0], copy.args) is None


def test_functions_of_loops_are_named_by_what_they_say():
    """Of two that differ in dtypes alone, too; those of equal ones are the same, which caches on disk go by."""
    def names(a):
        kernel = kernel_of((root(a)[0].node,))
        return [each.name for each in render(kernel).routines]

    assert names(A) == names(A[:3])
    narrow = loop(TRUE, [const(1.0, np.float32)], [], local(0, np.float32) < 9.0, [local(0, np.float32) * 2.0])
    wide = loop(TRUE, [const(1.0)], [], local(0, np.float64) < 9.0, [local(0, np.float64) * 2.0])
    found = [render(kernel_of(each)).routines[0].name for each in (narrow, wide)]
    assert len(set(found)) == 2


# Programs of users


def test_collatz():
    n, steps = local(0, np.int64), local(1, np.int64)
    half = cast(floor(cast(n, np.float64) * 0.5), np.int64)
    even = PRIMITIVES["eq"](n, half * 2)
    starts = np.arange(1, 30)
    found = loop(TRUE, [lazy(starts).node, ZERO], [], 1 < n, [where(even, half, n * 3 + 1), steps + 1])[1]

    def plain(n):
        return 0 if n == 1 else 1 + plain(n // 2 if n % 2 == 0 else 3 * n + 1)

    with uncompiled():
        assert np.asarray(LazyArray(found)).tolist() == [plain(n) for n in starts]


def test_the_series_of_the_incomplete_gamma_function():
    """P(a, x) = x^a e^-x / Gamma(a + 1) * sum of x^n / ((a + 1) ... (a + n)), and its derivatives."""
    term, total, n, a, x = (local(place, np.float64) for place in range(5))
    nodes, one = [lazy(A).node, lazy(X).node], const(1.0)
    turn = [term * x / (a + n), total + term * x / (a + n), n + 1.0]
    series = LazyArray(loop(TRUE, [one, one, one], nodes, term > 1e-17 * total, turn)[1])
    lgamma = LazyArray(PRIMITIVES["lgamma"](nodes[0] + 1.0))
    mass = np.exp(np.log(lazy(X)) * lazy(A) - lazy(X) - lgamma) * series
    with uncompiled():
        value, (in_a, in_x) = vecdist.value_and_partials(mass, wrt=(A, X))
    np.testing.assert_allclose(value, special.gammainc(A, X), rtol=1e-13)
    np.testing.assert_allclose(in_x, np.exp((A - 1) * np.log(X) - X - special.gammaln(A)), rtol=1e-12)
    step = 1e-5
    rise = special.gammainc(A + step, X) - special.gammainc(A - step, X)
    np.testing.assert_allclose(in_a, rise / (2 * step), rtol=1e-7)
