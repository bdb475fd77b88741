"""Logarithms of differences of exponentials, and the inverses of hyperbolic and circular functions."""

import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, at_least_one, both, evaluate, one, precisely

from vecdist.graph.node import Node
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret

SMALL, SMALL_SINGLE = (1e-300, 1e-6), (1e-36, 1e-6)
SIZES = [(1e-6, 0.4), (0.35, 0.5), (0.5, 0.7), (0.68, 0.71), (0.7, 1.2), (1.0, 3.0), (3.0, 30.0)]
POSITIVE, POSITIVE_SINGLE = one(SMALL, *SIZES, (30.0, 700.0)), one(SMALL_SINGLE, *SIZES, (30.0, 80.0))
NEGATIVE, NEGATIVE_SINGLE = ([((-b, -a),) for ((a, b),) in ranges] for ranges in (POSITIVE, POSITIVE_SINGLE))
UNIT = [(1e-6, 0.25), (0.2, 0.3), (0.25, 0.5), (0.49, 0.51), (0.5, 0.9)]
INSIDE = [(1e-6, 0.5), (0.5, 0.9), (0.9, 0.99999)]
PRODUCTS_NEXT_TO_1 = [((0.99, 1.01), (0.99, 1.01)), ((0.5, 0.51), (1.9, 2.1))]
WIDE = [(1e-6, 0.5), (0.5, 2.0), (2.0, 1e6)]


def log1mexp(x: arb) -> arb:
    return (-x.expm1()).log() if x > -1 else (-x.exp()).log1p()


def logit(p: arb) -> arb:
    return (p / (1 - p)).log()


CASES = [
    Case("bose_einstein", lambda x: 1 / x.expm1(), POSITIVE + NEGATIVE, POSITIVE_SINGLE + NEGATIVE_SINGLE, (2.0, 2.0)),
    Case("log1mexp", log1mexp, NEGATIVE, NEGATIVE_SINGLE, (2.0, 2.0)),
    Case("logexpm1", lambda x: x.expm1().log(), POSITIVE, POSITIVE_SINGLE, (4.0, 4.0)),
    Case("log_diff_exp", lambda x, y: x + log1mexp(y - x),
         [((0.5, 30.0), (-30.0, 0.4)), ((100.0, 700.0), (-700.0, 99.0))],
         [((0.5, 30.0), (-30.0, 0.4)), ((40.0, 80.0), (-80.0, 39.0))], (3.0, 3.0), lambda x, y: abs(x)),
    Case("logit", precisely(logit), one((1e-320, 1e-308), (1e-300, 1e-6), *UNIT, (0.9, 1 - 1e-12)),
         one((1e-44, 1e-38), (1e-36, 1e-6), *UNIT, (0.9, 1 - 1e-6)), (4.0, 4.0)),
    Case("arcsinh", arb.asinh, both(SMALL, *WIDE, (1e6, 1e300)), both(SMALL_SINGLE, *WIDE, (1e6, 1e36)), (2.0, 2.0)),
    Case("arcsinh_quotient", lambda x, y: (x / y).asinh(),
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e100, 1e300), (1e-300, 1e-3)), ((-1e6, -1e-6), (1e-3, 1e3))],
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e10, 1e38), (1e-36, 1e-3)), ((-1e6, -1e-6), (1e-3, 1e3))], (4.0, 4.0)),
    Case("log_twice", lambda x: (2 * x).log(), one((5e-324, 1e-308), (1e-300, 0.5), (0.4, 0.6), (0.5, 1.7e308)),
         one((1e-45, 1e-38), (1e-36, 0.5), (0.4, 0.6), (0.5, 3.4e38)), (2.0, 2.0)),
    Case("log_plus", lambda one, x: (one + x).log(), [((1.0, 1.0), (1e-12, 1e6)), ((1.0, 1.0), (-0.99, -1e-12))],
         [((1.0, 1.0), (1e-12, 1e6)), ((1.0, 1.0), (-0.99, -1e-12))], (2.0, 2.0)),
    Case("log_plus", lambda one, x: (one + x).log(), [((0.0, 0.0), (1e-320, 1e308)), ((0.0, 0.0), (0.9, 1.1))],
         [((0.0, 0.0), (1e-44, 3e38)), ((0.0, 0.0), (0.9, 1.1))], (2.0, 2.0)),
    Case("log_quotient_high", lambda x, y: (x / y).log(), [((1e-300, 1e300), (1e-2, 1e6)), ((0.9, 1.1), (0.9, 1.1))],
         [((1e-30, 1e30), (1e-2, 1e6)), ((0.9, 1.1), (0.9, 1.1))], (1.0, 1.0)),
    Case("log_quotient", lambda x, y: (x / y).log(),
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e-300, 1e-9), (1e30, 1e300)), ((0.99, 1.01), (0.99, 1.01))],
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e-36, 1e-9), (1e3, 1e36)), ((0.99, 1.01), (0.99, 1.01))], (3.0, 3.0)),
    Case("log_product", lambda x, y: (x * y).log(),
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e-300, 1e-9), (1e-20, 1e300)), *PRODUCTS_NEXT_TO_1],
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e-44, 1e-9), (1e-3, 1e36)), *PRODUCTS_NEXT_TO_1],
         (3.0, 3.0)),
    Case("quotient_beyond", lambda x, y: x / (x + y) / y, [((1e-3, 1e3),) * 2, ((1e-150, 1e150),) * 2],
         [((1e-3, 1e3),) * 2, ((1e-18, 1e18),) * 2], (2.1, 2.1)),
    # next to 1 the logarithm is no better known than the quotient
    Case("log_quotient_by_square", lambda x, y: (x / y**2).log(),
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e-9, 1.0), (1e30, 1e200))],
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e-9, 1.0), (1e15, 1e30))], (3.0, 3.0), at_least_one),
    Case("log_cauchy", lambda x, y: (y / (x * x + y * y) / arb.pi()).log(),
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e200, 1e300), (1e-3, 1e3)), ((-1e3, -1e-3), (1e-3, 1e3))],
         [((1e-6, 1e6), (1e-3, 1e3)), ((1e30, 1e37), (1e-3, 1e3)), ((-1e3, -1e-3), (1e-3, 1e3))],
         (4.0, 4.0), at_least_one),
    Case("leg", lambda x, y: (x * x - y * y).sqrt(), [((2.0, 1e6), (-1.9, 1.9)), ((1.0, 1.1), (-1.0, 0.999))],
         [((2.0, 1e6), (-1.9, 1.9)), ((1.0, 1.1), (-1.0, 0.999))], (2.0, 2.0)),
    Case("log1p_quotient", precisely(lambda x, y: (x / y).log1p()),
         [((1e-9, 1e308), (1e-6, 1e6)), ((0.1, 9.0), (0.1, 9.0))],
         [((1e-9, 1e38), (1e-6, 1e6)), ((0.1, 9.0), (0.1, 9.0))], (2.0, 2.0)),
    Case("arccosh", arb.acosh, one((1.0, 1.0001), (1.0, 2.0), (2.0, 1e6), (1e6, 1e300)),
         one((1.0, 1.01), (1.0, 2.0), (2.0, 1e6), (1e6, 1e36)), (3.0, 3.0)),
    Case("arctanh", arb.atanh, both(SMALL, *INSIDE), both(SMALL_SINGLE, *INSIDE), (3.0, 3.0)),
    Case("arcsin", arb.asin, both(SMALL, *INSIDE), both(SMALL_SINGLE, *INSIDE), (3.0, 3.0)),
    Case("arccos", arb.acos, both(*INSIDE, (1e-9, 1e-6)), both(*INSIDE, (1e-9, 1e-6)), (4.0, 4.0)),
]
EDGES = {
    "bose_einstein": [(0.0, INF), (INF, 0), (-INF, -1), (NAN, NAN)],
    "log1mexp": [(0.0, -INF), (-INF, 0), (1.0, NAN), (NAN, NAN)],
    "logexpm1": [(0.0, -INF), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "log_diff_exp": [(1.0, 1.0, -INF), (2.0, -INF, 2), (-INF, -INF, -INF), (INF, 1.0, INF), (1.0, 2.0, NAN),
                     (NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "logit": [(0.0, -INF), (1.0, INF), (0.5, 0), (-0.1, NAN), (1.1, NAN), (NAN, NAN)],
    "arcsinh": [(0.0, 0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "arccosh": [(1.0, 0), (INF, INF), (0.9, NAN), (-3.0, NAN), (-INF, NAN), (NAN, NAN)],
    "arctanh": [(0.0, 0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (NAN, NAN)],
    "arcsin": [(0.0, 0), (1.5, NAN), (-INF, NAN), (NAN, NAN)],
    "arccos": [(1.0, 0), (1.5, NAN), (-1.5, NAN), (NAN, NAN)],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 60)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str, dtype: type) -> None:
    *arguments, expected = np.array(EDGES[name], dtype).T
    np.testing.assert_array_equal(evaluate(name, arguments), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_quarter_turn_is_within_half_a_unit(dtype: type) -> None:
    x = np.array([1.0, -1.0], dtype)
    np.testing.assert_array_max_ulp(evaluate("arcsin", [x]), (x * np.pi / 2).astype(dtype), 1)
    np.testing.assert_array_max_ulp(evaluate("arccos", [-x])[:1], np.array([np.pi], dtype), 1)


@pytest.mark.parametrize(("name", "arguments", "expected"), [
    ("softplus", (0.0,), (0.5,)), ("log1mexp", (-800.0,), (0.0,)), ("log1mexp", (0.0,), (-INF,)),
    ("logexpm1", (0.0,), (INF,)), ("logexpm1", (800.0,), (1.0,)), ("log_diff_exp", (2.0, -INF), (1.0, -0.0)),
    ("log_diff_exp", (1.0, 1.0), (INF, -INF)), ("log_diff_exp", (900.0, -900.0), (1.0, -0.0)),
    ("logit", (0.5,), (4.0,)), ("arcsinh", (0.0,), (1.0,)), ("arctanh", (0.0,), (1.0,)),
])
def test_derivatives_at_edges(name: str, arguments: tuple, expected: tuple) -> None:
    leaves = [Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(len(arguments))]
    found = partials(PRIMITIVES[name](*leaves), leaves)
    values = [value_at(node, arguments) for node in found]
    np.testing.assert_array_equal(values, expected)


def value_at(node: Node, arguments: tuple) -> float:
    (result,) = interpret([node], [np.array([x]) for x in arguments], {"n0": 1})
    return float(result[0])
