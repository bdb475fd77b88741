"""Numbers in two parts: what rounding takes from a result, by exact fractions and by balls."""

import operator
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, evaluate, one, points

import vecdist.distributions  # noqa: F401 (where arcsinh_rest is)

FACTORS = {np.float64: [((-1e60, 1e60),) * 2, ((1e-60, 1e60),) * 2, ((0.5, 2.0), (-2.0, -0.5))],
           np.float32: [((-1e8, 1e8),) * 2, ((1e-8, 1e8),) * 2, ((0.5, 2.0), (-2.0, -0.5))]}
POSITIVE, POSITIVE_SINGLE = one((1e-300, 1e300), (0.5, 0.99), (1.01, 2.0)), one((1e-36, 1e36), (0.5, 0.99), (1.01, 2.0))
CASES = [Case("log_high", arb.log, POSITIVE, POSITIVE_SINGLE, (1.0, 1.0))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_error_in_units_in_the_last_place(dtype):
    assert_accurate(CASES[0], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "operation"), [
    ("sum_rest", operator.add), ("product_rest", operator.mul), ("quotient_rest", operator.truediv),
])
def test_both_parts_are_the_result_to_twice_as_many_digits(name, operation, dtype):
    """That of a sum is exact; the halves of a float64 have a digit too many for their products to be."""
    x, y = points(FACTORS[dtype], dtype)
    rounded, rest = operation(x, y), evaluate(name, [x, y])
    exact = [operation(*map(Fraction, pair)) for pair in zip(x.tolist(), y.tolist(), strict=True)]
    left = [true - Fraction(a) - Fraction(b) for true, a, b in zip(exact, rounded.tolist(), rest.tolist(), strict=True)]
    bound = 0 if name == "sum_rest" else float(np.finfo(dtype).eps) ** 2
    assert rest.any()
    assert max(abs(error / size) for error, size in zip(left, exact, strict=True)) <= bound


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_parts_are_the_root_to_twice_as_many_digits(dtype):
    (x,) = points(one((1e-60, 1e60) if dtype == np.float64 else (1e-8, 1e8), (0.5, 0.99), (1.01, 2.0)), dtype)
    parts = zip(x.tolist(), np.sqrt(x).tolist(), evaluate("root_rest", [x]).tolist(), strict=True)
    with flint.ctx.workprec(400):
        worst = max(abs(float((arb(high) + arb(rest)) / arb(at).sqrt() - 1)) for at, high, rest in parts)
    assert worst <= float(np.finfo(dtype).eps) ** 2


@pytest.mark.parametrize(("dtype", "relative"), [(np.float64, 5e-20), (np.float32, 1e-10)])
def test_a_logarithm_has_half_as_many_digits_again(dtype, relative):
    (x,) = points(POSITIVE if dtype == np.float64 else POSITIVE_SINGLE, dtype)
    parts = zip(x.tolist(), *(evaluate(name, [x]).tolist() for name in ("log_high", "log_rest")), strict=True)
    with flint.ctx.workprec(400):
        worst = max(abs(float((arb(high) + arb(rest)) / arb(at).log() - 1)) for at, high, rest in parts)
    assert worst < relative


@pytest.mark.parametrize(("dtype", "relative"), [(np.float64, 1e-19), (np.float32, 2e-10)])
def test_an_inverse_hyperbolic_sine_has_half_as_many_digits_again(dtype, relative):
    ranges = [((1e-9, 1e-3), (0.1, 30.0)), ((0.1, 30.0), (0.1, 30.0)), ((-1e15, -1e3), (1e-3, 1.0))]
    x, y = points(ranges, dtype)
    found = evaluate("arcsinh_quotient", [x, y]), evaluate("arcsinh_rest", [x, np.zeros_like(x), y])
    with flint.ctx.workprec(400):
        rows = zip(x.tolist(), y.tolist(), *(each.tolist() for each in found), strict=True)
        worst = max(abs(float((arb(high) + arb(rest)) / (arb(a) / arb(b)).asinh() - 1)) for a, b, high, rest in rows)
    assert worst < relative


@pytest.mark.parametrize(("dtype", "relative"), [(np.float64, 2.0**-64), (np.float32, 1e-10)])  # NumPy's by processor
@pytest.mark.parametrize(("names", "ranges", "truth"), [
    (("log", "plain_log_rest"), [(1e-6, 0.5), (0.5, 0.999)], arb.log),
    (("log1p", "log1p_rest"), [(-0.9, -1e-6), (1e-6, 20.0)], arb.log1p),
])
def test_what_is_lost_of_a_logarithm_as_it_is_computed(names, ranges, truth, dtype, relative):
    (x,) = points(one(*ranges), dtype)
    parts = zip(x.tolist(), *(evaluate(each, [x]).tolist() for each in names), strict=True)
    with flint.ctx.workprec(400):
        worst = max(abs(float((arb(high) + arb(rest)) / truth(arb(at)) - 1)) for at, high, rest in parts)
    assert worst < relative


@pytest.mark.parametrize(("dtype", "relative"), [(np.float64, 5e-20), (np.float32, 1e-9)])
def test_the_logarithm_of_a_quotient_in_two_parts(dtype, relative):
    ranges = [((0.99, 1.01), (0.99, 1.01)), ((0.1, 30.0), (0.1, 30.0)), ((1e15, 1e30), (1e-30, 1e-3))]
    x, y = points(ranges, dtype)
    found = evaluate("log_quotient_high", [x, y]), evaluate("log_quotient_rest", [x, y])
    with flint.ctx.workprec(400):
        rows = zip(x.tolist(), y.tolist(), *(each.tolist() for each in found), strict=True)
        pairs = [(arb(high) + arb(rest), (arb(a) / arb(b)).log()) for a, b, high, rest in rows if a != b]
        worst = max(abs(float(got / wanted - 1)) for got, wanted in pairs)
    assert worst < relative


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "at", "wanted"), [
    ("sum_rest", (INF, 1.0), 0.0), ("sum_rest", (INF, -INF), 0.0), ("product_rest", (INF, 0.0), 0.0),
    ("quotient_rest", (1.0, 0.0), 0.0), ("quotient_rest", (INF, 2.0), 0.0), ("log_rest", (0.0,), 0.0),
    ("log_rest", (INF,), 0.0), ("log_quotient_rest", (0.0, 1.0), 0.0), ("log_quotient_high", (0.0, 2.0), -INF),
    ("log_quotient_high", (INF, 2.0), INF), ("log_quotient_high", (2.0, INF), -INF), ("log_quotient", (-1.0, 2.0), NAN),
    ("log_product", (0.0, 2.0), -INF), ("log_product", (INF, 2.0), INF), ("log_product", (INF, 0.0), NAN),
    ("log_high", (0.0,), -INF), ("log_high", (INF,), INF), ("log_high", (-1.0,), NAN),
])
def test_what_is_not_finite_has_no_rest(name, at, wanted, dtype):
    np.testing.assert_array_equal(evaluate(name, [np.array([v], dtype) for v in at]), [dtype(wanted)])
