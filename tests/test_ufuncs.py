"""NumPy's ufuncs and Python's operators on lazy arrays: values and dtypes are NumPy's, on either side."""

import operator

import numpy as np
import pytest
import scipy.special
from interpreting import by_interpreter, nothing_computed

from vecdist import LazyArray, lazy, value_and_partials
from vecdist.primitives import PRIMITIVES

COMPOSITES = (
    "conjugate", "deg2rad", "degrees", "fmax", "fmin", "invert", "logical_xor", "rad2deg", "radians",
)
NAMES = sorted({*COMPOSITES, *(name for entry in PRIMITIVES.values() for name in entry.ufuncs)})
PLACES = (np, scipy.special, scipy.special._ufuncs)
UFUNCS = [next(f for place in PLACES if isinstance(f := getattr(place, name, None), np.ufunc)) for name in NAMES]
DTYPES = ("f8", "f4", "i8", "i4", "u2", "i1", "?")
LEFT, RIGHT = [0, 1, 2, 3, 7, 1], [1, 2, 1, 2, 2, 3]
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.floordiv, operator.mod,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)
NUMBERS = (2, 0.5, True, np.float64(1.5), np.float32(1.5), np.int64(3), np.int8(2))


def by_numpy(function, *values):
    with np.errstate(all="ignore"):
        return function(*values)


def assert_like_numpy(found, wanted):
    """The value and dtype that NumPy finds, with float32 for float16."""
    wanted = np.asarray(wanted)
    wanted = wanted.astype("f4") if wanted.dtype == "f2" else wanted
    assert isinstance(found, LazyArray) and found.dtype == wanted.dtype and found.shape == wanted.shape
    tolerance = 1e-13 if wanted.dtype == "f8" else 1e-3 if wanted.dtype == "f4" else 0
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_every_ufunc_is_numpys(ufunc, dtype):
    arrays = [np.array(values).astype(dtype) for values in (LEFT, RIGHT)[: ufunc.nin]]
    try:
        wanted = by_numpy(ufunc, *arrays)
    except TypeError:
        wanted = None
    if wanted is None or (ufunc is np.power and wanted.dtype.kind != "f"):
        with pytest.raises(TypeError):
            ufunc(*map(lazy, arrays))
        return
    if ufunc is np.reciprocal and arrays[0].dtype.kind in "biu":
        arrays, wanted = [arrays[0][1:]], by_numpy(ufunc, arrays[0][1:])
    with nothing_computed():
        found = ufunc(*map(lazy, arrays))
    with by_interpreter():
        assert_like_numpy(found, wanted)


def edges(dtype):
    """Zeros, infinities, NaN, the least and the largest numbers of a dtype, and some between."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        sizes = [info.min, info.min + 1, 0, 1, 2, 3, info.max // 2 + 1, info.max - 1, info.max]
        return np.unique(np.array(sizes, kind))
    info = np.finfo(kind)
    sizes = [0.0, info.smallest_subnormal, info.tiny, info.eps, 0.5, 1.0, 1.5, 2.0, 3.0, 1e3, 1 / info.eps, info.max]
    return np.array([*sizes, *(-size for size in sizes), np.inf, -np.inf, np.nan], kind)


@pytest.mark.parametrize("dtype", [*DTYPES, "u8"])
@pytest.mark.parametrize("ufunc", [f for f in UFUNCS if getattr(np, f.__name__, None) is f], ids=lambda f: f.__name__)
def test_ufuncs_of_numpy_at_the_edges_of_numbers(ufunc, dtype):
    """NaN for NaN, infinity for infinity, and the digits of all others; an integer divided by -1 may overflow."""
    sides = [edges(dtype)] if ufunc.nin == 1 else [side.ravel() for side in np.meshgrid(edges(dtype), edges(dtype))]
    try:
        wanted = by_numpy(ufunc, *sides)
    except (TypeError, ValueError):
        return
    if ufunc is np.power and wanted.dtype.kind != "f":
        return
    with by_interpreter():
        found = np.asarray(ufunc(*map(lazy, sides)))
    if wanted.dtype == "f2":  # float32 is computed
        wanted = by_numpy(ufunc, *(side.astype("f4") for side in sides))
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
        return
    info = np.finfo(wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=20 * info.eps, atol=2 * info.smallest_subnormal)


@pytest.mark.parametrize("beside", ["f8", "f4", "i4", "?"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators_take_arrays_on_either_side(op, dtype, beside):
    x, y = np.array(LEFT, dtype), np.array(RIGHT).astype(beside)
    if op is operator.pow and dtype == "i4" and beside in {"i4", "?"}:
        with pytest.raises(TypeError, match=r"astype\(float\)"):
            op(lazy(x), y)
        return
    wanted = by_numpy(op, x, y)
    with by_interpreter():
        for found in (op(lazy(x), y), op(x, lazy(y)), op(lazy(x), lazy(y))):
            assert_like_numpy(found, wanted)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4"])
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators_take_numbers_on_either_side(op, dtype, number):
    x = np.array(RIGHT, dtype)
    with by_interpreter():
        assert_like_numpy(op(lazy(x), number), by_numpy(op, x, number))
        if op is not operator.pow or dtype[0] == "f" or isinstance(number, float | np.floating):
            assert_like_numpy(op(number, lazy(x)), by_numpy(op, number, x))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, 10, 0.5, -1, 2.5, np.float64(2), np.int64(3), True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4"])
def test_powers(exponent, dtype):
    x = np.array(RIGHT).astype(dtype)
    if exponent == -1 and dtype[0] != "f":
        with pytest.raises(ValueError, match=r"to the power -1.*astype\(float\)"):
            lazy(x) ** exponent
        return
    with by_interpreter():
        assert_like_numpy(lazy(x) ** exponent, x**exponent)


def test_large_integers_are_exact():
    big = np.array([2**62 + 3, -(2**62) - 3, 2**53 + 1, -1, 5], np.int64)
    small = np.array([7, 7, -1, 2**61, 0], np.int64)
    with by_interpreter():
        assert_like_numpy(lazy(big) // small, by_numpy(operator.floordiv, big, small))
        assert_like_numpy(lazy(big) % small, by_numpy(operator.mod, big, small))
        assert_like_numpy(lazy(small[:3]) ** 21, small[:3] ** 21)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("op", [operator.floordiv, operator.mod, np.fmod])
def test_division_is_numpys_where_the_quotient_rounds_and_at_the_edges(op, dtype):
    edges = [0.0, -0.0, 0.1, -0.1, 1.0, -1.0, 3.0, 0.7, 1e-300, 5e22, np.inf, -np.inf, np.nan]
    x, y = (side.ravel().astype(dtype) for side in np.meshgrid(edges, edges))
    wanted = by_numpy(op, x, y)
    for found in (by_interpreted(op, x, y), np.asarray(op(lazy(x), y))):
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(wanted[found == 0]))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("ufunc", [
    np.copysign, np.arctan2, np.heaviside, np.cbrt, np.rint, np.trunc, np.ceil, np.signbit,
])
def test_zeros_have_numpys_sign(ufunc, dtype):
    numbers = np.array([0.0, -0.0, 0.3, -0.3, 2.0, -2.0, np.inf, -np.inf, np.nan, -np.nan], dtype)
    sides = [numbers] if ufunc.nin == 1 else [side.ravel() for side in np.meshgrid(numbers, numbers)]
    wanted = ufunc(*sides)
    found = by_interpreted(lambda first, *rest: ufunc(first, *rest), *sides)
    zeros = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))
    if ufunc is np.copysign:
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def by_interpreted(op, x, *others):
    with by_interpreter():
        return np.asarray(op(lazy(x), *others))


@pytest.mark.parametrize("op", [operator.neg, operator.pos, abs, operator.invert])
@pytest.mark.parametrize("dtype", ["f8", "i4", "u1", "?"])
def test_unary_operators(op, dtype):
    x = np.array(LEFT).astype(dtype)
    try:
        wanted = op(x)
    except TypeError:
        with pytest.raises(TypeError):
            op(lazy(x))
        return
    with by_interpreter():
        assert_like_numpy(op(lazy(x)), wanted)


@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor])
def test_masks(op):
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    with by_interpreter():
        for found in (op(lazy(x), y), op(x, lazy(y)), op(lazy(x), True)[2:]):
            assert isinstance(found, LazyArray) and found.dtype == bool
        assert_like_numpy(op(lazy(x), y), op(x, y))


def test_bits_of_integers():
    x, y = np.array([5, 6, 0]), np.array([3, 3, 3])
    with by_interpreter():
        assert_like_numpy(lazy(x) & y, x & y)
        assert_like_numpy(x | lazy(y), x | y)
        assert_like_numpy(lazy(x) ^ -y, x ^ -y)
    with pytest.raises(TypeError, match="bitwise_and"):
        lazy(x * 1.0) & y


def partials_at(function, *values):
    """The partial derivatives of a function at a point."""
    arrays = [np.array([value]) for value in values]
    _, partials = value_and_partials(function(*map(lazy, arrays)), tuple(arrays))
    return [float(each[0]) for each in partials]


TIES = [
    (np.maximum, (1.0, 1.0), [0.5, 0.5]), (np.minimum, (1.0, 1.0), [0.5, 0.5]), (np.fmax, (2.0, 2.0), [0.5, 0.5]),
    (np.fmin, (2.0, 2.0), [0.5, 0.5]), (np.maximum, (0.0, -0.0), [0.5, 0.5]), (np.fmax, (np.nan, 2.0), [0.0, 1.0]),
    (lambda x: np.clip(x, 0.0, 1.0), (1.0,), [0.5]), (lambda x: np.clip(x, 0.0, 1.0), (0.0,), [0.5]),
    (lambda x: np.clip(x, 0.0, 1.0), (0.25,), [1.0]), (lambda x: np.maximum(x, x), (1.0,), [1.0]),
    (lambda x: np.maximum(x, 0.0) + np.log1p(np.exp(-abs(x))), (0.0,), [0.5]),
    (lambda x: np.maximum(x, 0.0) - np.minimum(x, 0.0), (0.0,), [0.0]),
    (lambda x, y: np.maximum(x, y) + np.log1p(np.exp(-abs(x - y))), (3.0, 3.0), [0.5, 0.5]),
    (lambda x: np.where(x >= 0.0, x, 0.0), (0.0,), [1.0]),
    (operator.mod, (4.0, 2.0), [1.0, -2.0]), (operator.mod, (0.0, 2.0), [1.0, 0.0]),
    (operator.mod, (-4.0, 2.0), [1.0, 2.0]), (operator.mod, (2.5, 1.0), [1.0, -2.0]),
    (np.fmod, (-4.0, 2.0), [1.0, 2.0]), (operator.floordiv, (4.0, 2.0), [0.0, 0.0]),
    (lambda x, y: x // y * y + x % y, (6.0, 2.0), [1.0, 0.0]), (np.hypot, (0.0, 0.0), [0.0, 0.0]),
    (operator.pow, (0.0, 2.0), [0.0, 0.0]), (operator.pow, (0.0, 1.0), [1.0, 0.0]), (lambda x: x**2, (0.0,), [0.0]),
    (lambda x: x**0, (0.0,), [0.0]), (lambda x: x**0.5, (0.0,), [np.inf]), (abs, (0.0,), [0.0]),
    (np.sign, (0.0,), [0.0]), (np.arctan2, (0.0, 0.0), [0.0, 0.0]), (np.arctan2, (0.0, -2.0), [-0.5, 0.0]),
    (np.arctan2, (1.0, np.inf), [0.0, 0.0]), (np.copysign, (0.0, -1.0), [0.0, 0.0]), (np.cbrt, (0.0,), [np.inf]),
    (np.copysign, (-3.0, -0.0), [1.0, 0.0]), (np.heaviside, (0.0, 0.5), [0.0, 1.0]),
    (np.heaviside, (1.0, 0.5), [0.0, 0.0]), (lambda x: np.round(x, 2), (0.3,), [0.0]),
    (lambda x: divmod(x, 2.0)[1], (3.5,), [1.0]),
    (np.rint, (0.5,), [0.0]), (np.floor, (1.0,), [0.0]), (np.ceil, (1.0,), [0.0]),
]


@pytest.mark.parametrize(("function", "values", "slopes"), TIES)
def test_derivatives_where_functions_have_kinks_and_jumps(function, values, slopes):
    """Those of a maximum are shared, as by reductions; those of a remainder are of its own piece, to the right."""
    with by_interpreter():
        assert partials_at(function, *values) == slopes


def test_a_tied_maximum_shares_its_derivative_in_a_kernel(uncompiled):
    assert partials_at(np.maximum, 1.0, 1.0) == [0.5, 0.5]
    assert partials_at(operator.mod, 4.0, 2.0) == [1.0, -2.0]


def test_a_remainder_has_the_slopes_of_its_piece():
    """By differences, wherever no multiple is near: those of the number and of the divisor."""
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-30.0, 30.0, 200), rng.choice([-1.0, 1.0], 200) * rng.uniform(0.5, 9.0, 200)
    far = abs(x / y - np.rint(x / y)) > 1e-3
    for op in (operator.mod, np.fmod, operator.floordiv):
        with by_interpreter():
            _, (of_x, of_y) = value_and_partials(op(lazy(x), y), (x, y))
        step = 1e-6
        np.testing.assert_allclose(of_x[far], ((op(x + step, y) - op(x - step, y)) / (2 * step))[far], atol=1e-7)
        np.testing.assert_allclose(of_y[far], ((op(x, y + step) - op(x, y - step)) / (2 * step))[far], atol=1e-7)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_quotients_with_what_they_leave(dtype):
    x, y = np.array(LEFT, dtype) - 3, np.array(RIGHT, dtype)
    with by_interpreter():
        for call in (divmod, np.divmod):
            for mine, wanted in zip(call(lazy(x), y) + call(7, lazy(y)), call(x, y) + call(7, y), strict=True):
                assert_like_numpy(mine, wanted)


def test_nan_and_infinity():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5])
    y = np.array([1.0, np.nan, 1.0, np.inf, 0.0, np.nan])
    with by_interpreter():
        for ufunc in (np.isnan, np.isinf, np.isfinite, np.sign, np.logical_not, np.abs):
            assert_like_numpy(ufunc(lazy(x)), ufunc(x))
        for ufunc in (
            np.maximum, np.minimum, np.fmax, np.fmin, np.equal, np.less, np.logical_and, np.logaddexp, np.hypot,
        ):
            for one, other in ((x, y), (y, x), (np.zeros(6), y), (y, np.zeros(6))):
                assert_like_numpy(ufunc(lazy(one), other), by_numpy(ufunc, one, other))


def test_the_kernel_computes_what_the_interpreter_does():
    """Mixed dtypes, masks, whole numbers and their powers, compiled."""
    x, y, n = np.array([0.5, 1.5, 2.5]), np.array([1, 2, 3], "f4"), np.array([7, -7, 2], "i4")
    mask = (lazy(x) > 1) & ~np.isnan(lazy(y))
    total = (lazy(n) // 2 + lazy(n) % 3 + n**2) * (mask + mask) + np.logical_xor(lazy(n), mask) + lazy(x) ** 3 * y
    wanted = (n // 2 + n % 3 + n**2) * (x > 1) + np.logical_xor(n, x > 1) + x**3 * y
    assert_like_numpy(total, wanted)


def test_python_numbers_stay_out_of_promotion():
    x = lazy(np.ones(2, "f4"))
    assert (x * 2.5).dtype == (2 + x).dtype == np.float32
    assert (x * np.float64(2.5)).dtype == (np.float64(2.5) * x).dtype == np.float64
    assert (lazy(np.ones(2, "i4")) * 2).dtype == np.int32
    assert (lazy(np.ones(2, "i4")) * 2.0).dtype == np.float64


def test_numpy_scalars_on_the_left_stay_lazy():
    x = lazy(np.ones(3))
    for found in (np.float64(2) * x, np.float32(2) - x, np.int64(2) / x, np.bool_(True) & (x > 0), [1, 2, 3] * x):
        assert isinstance(found, LazyArray)


def test_scipy_functions_stay_lazy():
    x = lazy(np.array([0.5, 1.5]))
    for name in ("gammaln", "psi", "digamma", "erf", "erfc", "expit", "log_expit"):
        assert isinstance(getattr(scipy.special, name)(x), LazyArray)
    assert isinstance(scipy.special.xlogy(2.0, x), LazyArray)


def test_in_place_operators_make_a_new_lazy_array():
    x = lazy(np.array([1.0, 2.0]))
    total, before = x.sum(), x.sum()
    total += x.sum()
    total *= 2
    assert isinstance(total, LazyArray)
    with by_interpreter():
        assert total.item() == 12 and before.item() == 3


def test_an_array_is_not_changed_by_a_lazy_one():
    a = np.ones(3)
    with pytest.raises(TypeError, match=r"np\.add cannot write a lazy array into another.*a = a \+ x"):
        a += lazy(np.ones(3))
    with pytest.raises(TypeError, match="out="):
        np.exp(lazy(a), out=a)
    np.testing.assert_array_equal(a, 1)


@pytest.mark.parametrize("call", [lambda x: scipy.special.jv(x, x), lambda x: np.gcd(lazy(np.array([1])), 1)])
def test_ufuncs_without_a_lazy_form_say_how_to_go_on(call):
    with pytest.raises(TypeError, match=r"no lazy form of the ufunc \w+; vecdist\.external"):
        call(lazy(np.ones(3)))


def test_dask_arrays_take_precedence():
    class Chunked:
        __dask_graph__ = None

        def __array_ufunc__(self, *args, **keywords):
            return "chunked"

    assert lazy(np.ones(3)) + Chunked() == "chunked"
