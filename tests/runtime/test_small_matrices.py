"""Machine code of small matrices: random ones of many shapes and conditions, judged by residuals in long double."""

import numpy as np
import pytest
from interpreting import by_interpreter
from scipy import stats

import vecdist
from vecdist import lazy, linalg, logpdf
from vecdist.distributions import LKJ, MvNormal, MvStudentT, Wishart
from vecdist.graph.node import topological
from vecdist.lazy.array import LazyArray
from vecdist.passes.entries import WRITTEN, by_entries
from vecdist.primitives import factorisations, orders
from vecdist.runtime.cpu.matrices import ROWS, small

LEADS = [(), (1,), (3,), (2, 4), (15,), (16,), (17,), (5, 9), (400,)]
FEW = {np.float32: 2e-7, np.float64: 4e-16}  # a rounding, and what sums add to it


def drawn(rng, lead, rows, dtype, digits=None):
    """Positive definite matrices whose conditions have up to so many digits, in a dtype."""
    digits = rng.uniform(0.0, 3.0 if dtype == np.float32 else 8.0) if digits is None else digits
    turns = np.linalg.qr(rng.normal(size=(*lead, rows, rows)))[0]
    values = 10.0 ** (rng.uniform(-digits, 0.0, size=(*lead, 1, rows)) + rng.integers(-3, 4))
    found = (turns * values) @ turns.swapaxes(-1, -2)
    return ((found + found.swapaxes(-1, -2)) / 2.0).astype(dtype)


def computed(call, *given):
    """What the machine code gives, in fresh memory and in other that is given."""
    shape, dtype = given[-1].shape, given[-1].dtype
    own = small(call, shape, dtype)
    assert (own is call) == (shape[-2] > ROWS)
    found = own.function(*given)
    if own is not call:
        out = np.full(shape, 7.0, dtype)
        assert own.function(*given, out=out) is out
        np.testing.assert_array_equal(out, found)
    assert found.dtype == dtype
    return found


def wide(x):
    return np.asarray(x, np.longdouble)


def product(a, b):
    return np.einsum("...ij,...jk->...ik", wide(a), wide(b))


def is_near(found, wanted, size, dtype, rows):
    """Whether an array is what is wanted, but for the roundings of sums of this size."""
    assert (np.abs(wide(found) - wide(wanted)) <= 4.0 * (rows + 2) * FEW[dtype] * size).all()


@pytest.mark.parametrize("seed", range(60))
def test_random_matrices(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 41)), int(rng.integers(1, 20))
    lead, dtype = LEADS[rng.integers(len(LEADS))], (np.float32, np.float64)[rng.integers(2)]
    a = drawn(rng, lead, rows, dtype)
    factor = computed(factorisations.CHOLESKY, a + np.triu(np.full_like(a, 5.0), 1))  # which nothing reads
    assert (np.triu(factor, 1) == 0.0).all()
    size = product(abs(factor), abs(factor).swapaxes(-1, -2))
    is_near(product(factor, factor.swapaxes(-1, -2)), a, size, dtype, rows)
    b = rng.normal(size=(*lead, rows, columns)).astype(dtype)
    other = factor + np.triu(np.full_like(factor, np.nan), 1) * (rows <= ROWS)
    for call, side in (
        (factorisations.SOLVE_LOWER, factor), (factorisations.SOLVE_UPPER, factor.swapaxes(-1, -2)),
    ):  # fmt: skip
        x = computed(call, other, b)
        is_near(product(side, x), b, product(abs(side), abs(x)) + abs(b), dtype, rows)
    condition = np.linalg.cond(a.astype("f8"))[..., None, None]
    inverse = computed(factorisations.INVERT_DEFINITE, a, factor)
    np.testing.assert_array_equal(inverse, inverse.swapaxes(-1, -2))
    is_near(product(a, inverse), np.broadcast_to(np.eye(rows), a.shape), rows * condition, dtype, rows)
    x = computed(factorisations.SOLVE_DEFINITE, a, factor, b)
    is_near(product(a, x), b, rows * condition * abs(b).max(axis=(-2, -1), keepdims=True), dtype, rows)


def graded(rng, lead, rows, dtype):
    """Matrices of any kind, with rows of different sizes, in which pivots have to be looked for."""
    found = rng.normal(size=(*lead, rows, rows)) * 10.0 ** rng.uniform(-2.0, 2.0, (*lead, rows, 1))
    return np.where(rng.random(found.shape) < 0.3, 0.0, found + 1e-3 * np.eye(rows)).astype(dtype)


def determinant_of(a):
    """The sign of a determinant, and the logarithm of its size, as programs are run."""
    with np.errstate(all="ignore"):
        return small(factorisations.DETERMINANT, a.shape, a.dtype).function(a)


@pytest.mark.parametrize("seed", range(60))
def test_random_matrices_of_any_kind(seed):
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 41)), int(rng.integers(1, 60))
    lead, dtype = LEADS[rng.integers(len(LEADS))], (np.float32, np.float64)[rng.integers(2)]
    a, b = graded(rng, lead, rows, dtype), rng.normal(size=(*lead, rows, columns)).astype(dtype)
    determinant, (sign, size) = determinant_of(a), np.linalg.slogdet(a.astype("f8"))
    regular = sign != 0.0
    x, inverse = computed(factorisations.SOLVE, a, b), computed(factorisations.INVERSE, a)
    other = np.ascontiguousarray(a.swapaxes(-1, -2))
    np.testing.assert_array_equal(computed(factorisations.SOLVE_TRANSPOSED, other, b), x)
    for found in (x, inverse):
        np.testing.assert_array_equal(np.isnan(found).all(axis=(-2, -1)), ~regular)
    a, b, x, inverse = (each[regular] for each in (a, b, x, inverse))
    size_of = lambda x: product(abs(a), abs(x)).max(axis=(-2, -1), keepdims=True)  # noqa: E731
    is_near(product(a, x), b, 8.0 * size_of(x), dtype, rows)
    is_near(product(a, inverse), np.broadcast_to(np.eye(rows), a.shape), 8.0 * size_of(inverse), dtype, rows)
    condition = np.linalg.cond(a.astype("f8"))
    told = 4.0 * rows * FEW[dtype] * condition < 0.5  # where roundings leave the sign
    np.testing.assert_array_equal(determinant[0][regular][told], sign[regular][told])
    np.testing.assert_array_equal(determinant[0][~regular], 0.0)
    near = 4.0 * (rows + 2) * FEW[dtype] * (condition + abs(size[regular]))
    assert (abs(determinant[1][regular] - size[regular])[told] <= near[told]).all()


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("rows", [1, 2, 9, 32])
def test_singular_matrices_are_nan_and_no_others(lead, rows):
    rng = np.random.default_rng(rows)
    a, bad = rng.normal(size=(*lead, rows, rows)), rng.random(lead) < 0.4
    a[..., rng.integers(rows)] *= ~bad[..., None]
    sign, size = determinant_of(a)
    np.testing.assert_array_equal(sign == 0.0, bad)
    np.testing.assert_array_equal(size == -np.inf, bad)
    for found in (computed(factorisations.SOLVE, a, np.ones((*lead, rows, 2))), computed(factorisations.INVERSE, a)):
        np.testing.assert_array_equal(np.isnan(found), np.broadcast_to(bad[..., None, None], found.shape))
    a = np.where(bad[..., None, None], np.nan, rng.normal(size=a.shape))
    np.testing.assert_array_equal(np.isnan(determinant_of(a)[1]), bad)


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("rows", [1, 9, 32])
def test_what_is_not_definite_is_nan_and_nothing_else(lead, rows):
    rng = np.random.default_rng(rows)
    a = drawn(rng, lead, rows, np.float64, 1.0)
    bad = rng.random(lead) < 0.4
    place = rng.integers(rows)
    a[..., place, place] = np.where(bad, rng.choice([0.0, -1.0, np.nan]), a[..., place, place])
    found = computed(factorisations.CHOLESKY, a)
    np.testing.assert_array_equal(np.isnan(found), np.broadcast_to(bad[..., None, None], found.shape))
    factor = np.linalg.cholesky(drawn(rng, lead, rows, np.float64, 1.0))
    factor[..., place, place] = np.where(bad, 0.0, factor[..., place, place])
    for call in (factorisations.SOLVE_LOWER, factorisations.SOLVE_UPPER):
        found = computed(call, factor, np.ones((*lead, rows, 2)))
        np.testing.assert_array_equal(np.isnan(found), np.broadcast_to(bad[..., None, None], found.shape))


@pytest.mark.parametrize("many", [16, 1000])
def test_a_matrix_has_the_same_bits_wherever_it_stands(many):
    rng = np.random.default_rng(5)
    a = drawn(rng, (many,), 12, np.float64)
    found = computed(factorisations.CHOLESKY, a)
    order = rng.permutation(many)
    np.testing.assert_array_equal(computed(factorisations.CHOLESKY, a[order]), found[order])


@pytest.mark.parametrize("seed", range(12))
def test_densities_and_gradients_of_random_lengths(seed):
    """By the formulas of the gradients, of one matrix and of a batch."""
    rng = np.random.default_rng(100 + seed)
    rows, lead = int(rng.integers(2, 36)), [(), (3,), (20,)][seed % 3]
    loc, a, x = rng.normal(size=(*lead, rows)), drawn(rng, lead, rows, np.float64, 2.0), rng.normal(size=(*lead, rows))
    inverse = np.linalg.inv(a)
    weighted = np.einsum("...ij,...j->...i", inverse, x - loc)
    distance = ((x - loc) * weighted).sum(axis=-1)
    outer = weighted[..., :, None] * weighted[..., None, :]
    one = lambda family, *given: [family(*each) for each in zip(*(g.reshape(-1, *s) for g, s in given), strict=True)]  # noqa: E731
    of_loc, of_x, of_a = (loc, (rows,)), (x, (rows,)), (a, (rows, rows))
    wanted = sum(one(lambda *p: stats.multivariate_normal.logpdf(p[1], p[0], p[2]), of_loc, of_x, of_a))
    density = logpdf(MvNormal(lazy(loc, "loc"), lazy(a, "a")), x).sum()
    value, (slope, of_matrix) = vecdist.value_and_grad(density, ("loc", "a"))
    assert float(value) == pytest.approx(wanted, rel=1e-10)
    np.testing.assert_allclose(slope, weighted, rtol=1e-8, atol=1e-8 * abs(weighted).max())
    np.testing.assert_allclose(of_matrix, 0.5 * (outer - inverse), rtol=1e-7, atol=1e-9 * abs(outer - inverse).max())
    wanted = sum(one(lambda *p: stats.multivariate_t.logpdf(p[1], p[0], p[2], df=4.5), of_loc, of_x, of_a))
    value, of_matrix = vecdist.value_and_grad(logpdf(MvStudentT(4.5, loc, lazy(a, "a")), x).sum(), "a")
    assert float(value) == pytest.approx(wanted, rel=1e-10)
    scale = ((4.5 + rows) / (4.5 + distance))[..., None, None]
    wanted = 0.5 * (scale * outer - inverse)
    np.testing.assert_allclose(of_matrix, wanted, rtol=1e-7, atol=1e-9 * abs(wanted).max())


@pytest.mark.parametrize("rows", [9, 14, 32])
def test_gradients_of_families_of_matrices(rows):
    """Muirhead (1982), theorem 3.2.1, and the determinant of LKJ, derived."""
    rng = np.random.default_rng(rows)
    df, scale, x = rows + 2.5, drawn(rng, (4,), rows, np.float64, 1.0), drawn(rng, (4,), rows, np.float64, 1.0)
    density = logpdf(Wishart(df, lazy(scale, "scale")), lazy(x, "x")).sum()
    value, (of_scale, of_x) = vecdist.value_and_grad(density, ("scale", "x"))
    wanted = sum(stats.wishart.logpdf(each, df, v) for each, v in zip(x, scale, strict=True))
    assert float(value) == pytest.approx(wanted, rel=1e-9)
    inverse = np.linalg.inv(scale)
    wanted = 0.5 * (inverse @ x @ inverse - df * inverse)
    np.testing.assert_allclose(of_scale, wanted, rtol=1e-7, atol=1e-9 * abs(wanted).max())
    wanted = 0.5 * ((df - rows - 1.0) * np.linalg.inv(x) - inverse)
    np.testing.assert_allclose(of_x, wanted, rtol=1e-7, atol=1e-9 * abs(wanted).max())
    spread = np.sqrt(np.diagonal(x, axis1=-2, axis2=-1))
    r = x / spread[:, :, None] / spread[:, None, :]
    of_r = vecdist.value_and_grad(logpdf(LKJ(3.0), lazy(r, "r")).sum(), "r")[1]
    np.testing.assert_allclose(of_r, 2.0 * np.linalg.inv(r), rtol=1e-7, atol=1e-9 * abs(np.linalg.inv(r)).max())


@pytest.mark.parametrize("lead", [(), (20,)])
def test_second_derivatives(lead):
    """Of log |A| and b' A^-1 b along a direction V: -A^-1 V A^-1, and A^-1 V A^-1 b b' A^-1 and its transpose."""
    rng = np.random.default_rng(8)
    a, b, v = drawn(rng, lead, 10, np.float64, 1.0), rng.normal(size=(*lead, 10)), rng.normal(size=(*lead, 10, 10))
    v = v + v.swapaxes(-1, -2)
    inverse = np.linalg.inv(a)
    found = vecdist.hvp(linalg.log_determinant(a).sum(), a, v)
    wanted = -inverse @ v @ inverse
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9 * abs(wanted).max())
    z = linalg.solve_triangular(linalg.cholesky(a), b[..., None], lower=True)
    half = inverse @ v @ inverse @ (b[..., :, None] * b[..., None, :]) @ inverse
    wanted = half + half.swapaxes(-1, -2)
    np.testing.assert_allclose(vecdist.hvp((z * z).sum(), a, v), wanted, rtol=1e-7, atol=1e-8 * abs(wanted).max())


@pytest.mark.parametrize("rows", [1, 2, 9, 16, 17])
def test_calls_are_written_out_where_none_can_be_made(rows):
    """All that there are, of as many rows as are written out, beside what the calls give."""
    rng = np.random.default_rng(rows)
    a, b = drawn(rng, (2,), rows, np.float64, 1.0), rng.normal(size=(2, rows, 3))
    general = rng.normal(size=a.shape)
    one, right, other, rounded = [lazy(each).node for each in (a, b, general, general.round())]  # which has ties
    factor = factorisations.cholesky(one)
    nodes = [
        factor, factorisations.lower_solution(factor, right),
        factorisations.upper_solution(factor, right), factorisations.times(one, right),
        factorisations.definite_solution(one, factor, right), factorisations.squared_distance(one, factor, right),
        factorisations.definite_inverse(one, factor), factorisations.log_determinant(one, factor),
        factorisations.solution(other, right), factorisations.transposed_solution(other, right),
        factorisations.inverse(other),
        *factorisations.sign_and_log_determinant(other), orders.in_order(other), orders.order(rounded),
    ]  # fmt: skip
    assert {node.attrs[0] for node in nodes} == set(WRITTEN)
    for node in nodes:
        (written,) = by_entries([node])
        assert any(each.op == "external" for each in topological([written])) == (rows > WRITTEN[node.attrs[0]].most)
        with by_interpreter():
            found, wanted = np.asarray(LazyArray(written)), np.asarray(LazyArray(node))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10 * abs(wanted).max())


def test_a_step_factors_its_carry():
    """Where no call can be made: of as many rows as are written out."""
    rng = np.random.default_rng(1)
    a, xs = drawn(rng, (), 9, np.float64, 1.0), rng.normal(size=(3, 9))

    def step(carry, x):
        z = linalg.solve_triangular(linalg.cholesky(carry), x, lower=True)
        return 0.5 * carry + 0.5 * np.eye(9), (z * z).sum()

    with by_interpreter():
        found = np.asarray(vecdist.scan(step, lazy(a), xs)[1])
    for x, distance in zip(xs, found, strict=True):
        assert distance == pytest.approx(x @ np.linalg.solve(a, x), rel=1e-9)
        a = 0.5 * a + 0.5 * np.eye(9)


def test_a_device_function_has_no_calls():
    rng = np.random.default_rng(2)
    a, x = drawn(rng, (), 9, np.float64, 1.0), rng.normal(size=9)
    target = vecdist.device_function(lambda x: logpdf(MvNormal(np.zeros(9), a), x), [x])
    assert target(x) == pytest.approx(stats.multivariate_normal.logpdf(x, np.zeros(9), a), rel=1e-10)
