"""The normal distribution function and all that is made of it, in both tails and between any two bounds."""

from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, ctx
from interpreting import by_interpreter
from scipy import special
from ulps import DTYPES, INF, NAN, Case, assert_accurate, both, errors, evaluate, one, precisely

from vecdist import LazyArray, lazy, value_and_partials
from vecdist.graph.node import Node
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret


def root_two() -> arb:
    return arb(2).sqrt()


def density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def mass(x: arb) -> arb:
    return (-x / root_two()).erfc() / 2


def far_series(x: arb) -> arb:
    """Phi(x) |x| / phi(x) below -60 to 20 digits, DLMF 7.12.1."""
    terms, z = [arb(1)], x * x
    for k in range(1, 12):
        terms.append(-terms[-1] * (2 * k - 1) / z)
    return sum(terms, arb(0))


def log_mass(x: arb) -> arb:
    if x < -60:
        return far_series(x).log() - x * x / 2 - (-x).log() - (2 * arb.pi()).log() / 2
    return mass(x).log() if x < 0 else (-mass(-x)).log1p()


def mills(x: arb) -> arb:
    return -x / far_series(x) if x < -60 else density(x) / mass(x)


def inverse(start: Callable, function: Callable, slope: Callable, bits: int = 3000) -> Callable[[arb], arb]:
    """Newton's method from a guess in float64."""

    def solved(y: arb) -> arb:
        x = arb(float(start(float(y))))
        for _ in range(7):
            at = x.mid()
            x = at - (function(at) - y) / slope(at)
        return x

    return precisely(solved, bits)


def guess(p: float) -> float:
    return special.ndtri(p) if p < 0.9 else -special.ndtri_exp(np.log1p(-p))


def log_interval(b: arb, a: arb) -> arb:
    return (mass(b) - mass(a) if a + b < 0 else mass(-a) - mass(-b)).log()


TAIL = (-37.0, -5.0)
MIDDLE = [(-5.0, -1.0), (-1.0, -1e-3), (1e-3, 1.0), (1.0, 5.0)]
LOWER = one((-1e6, -40.0), TAIL, *MIDDLE, (5.0, 37.0))
LOWER_SINGLE = one((-1e6, -40.0), (-12.0, -5.0), *MIDDLE, (5.0, 12.0))
SHARES = [(0.01, 0.2), (0.19, 0.21), (0.2, 0.5), (0.4999, 0.5001), (0.5, 0.8), (0.79, 0.81), (0.8, 0.999)]
RATES = [(-2.0, -1.0), (-1.0, -0.5), (-0.7, -0.69), (-0.5, -0.1), (-0.1, -1e-10)]

CASES = [
    Case("erfcx", precisely(lambda x: (x * x).exp() * x.erfc(), 3000), both((1e-6, 1.0), (1.0, 5.0), (5.0, 26.5)),
         both((1e-6, 1.0), (1.0, 5.0), (5.0, 9.3)), (5.0, 5.0)),
    Case("normal_pdf", precisely(density), LOWER[1:], LOWER_SINGLE[1:], (2.0, 2.0)),
    Case("ndtr", precisely(mass), LOWER[1:], LOWER_SINGLE[1:], (5.0, 5.0)),
    Case("log_ndtr", precisely(log_mass, 6000), LOWER, LOWER_SINGLE, (5.0, 5.0)),
    Case("inverse_mills", precisely(mills, 6000), LOWER, LOWER_SINGLE, (6.0, 5.0)),
    Case("inverse_mills_gap", precisely(lambda x: x + mills(x), 6000), LOWER, LOWER_SINGLE, (5.0, 5.0)),
    Case("ndtri", inverse(guess, mass, density), one((1e-320, 1e-308), (1e-300, 1e-20), (1e-20, 0.01), *SHARES),
         one((1e-44, 1e-38), (1e-37, 1e-20), (1e-20, 0.01), *SHARES), (4.0, 4.0)),
    Case("ndtri_exp", inverse(special.ndtri_exp, log_mass, mills),
         one((-1e300, -1e5), (-1e5, -760.0), (-760.0, -2.0), *RATES),
         one((-1e30, -1e5), (-1e5, -110.0), (-110.0, -2.0), *RATES), (5.0, 5.0)),
    Case("erfinv", inverse(special.erfinv, arb.erf, lambda x: 2 * (-x * x).exp() / arb.pi().sqrt()),
         both((1e-300, 1e-6), (1e-6, 0.7), (0.5, 0.99)), both((1e-36, 1e-6), (1e-6, 0.7), (0.5, 0.99)), (5.0, 5.0)),
    Case("erfcinv", inverse(special.erfcinv, arb.erfc, lambda x: -2 * (-x * x).exp() / arb.pi().sqrt()),
         one((1e-300, 1e-6), (1e-6, 0.5), (0.39, 0.41), (0.5, 1.5), (1.5, 1.99999)),
         one((1e-36, 1e-6), (1e-6, 0.5), (0.39, 0.41), (0.5, 1.5), (1.5, 1.99999)), (5.0, 5.0)),
    Case("log_diff_ndtr", precisely(log_interval, 4000), [((0.3, 4.0), (-4.0, 0.2)), ((5.0, 12.0), (-12.0, -5.0))],
         [((0.3, 4.0), (-4.0, 0.2)), ((5.0, 8.0), (-8.0, -5.0))], (6.0, 6.0)),
    Case("edge_share", precisely(lambda b, a: density(b) / log_interval(b, a).exp(), 4000),
         [((0.3, 4.0), (-4.0, 0.2)), ((5.0, 12.0), (-12.0, -5.0))],
         [((0.3, 4.0), (-4.0, 0.2)), ((5.0, 8.0), (-8.0, -5.0))], (16.0, 16.0)),
]
EDGES = {
    "erfcx": [(0.0, 1), (INF, 0), (-INF, INF), (-30.0, INF), (NAN, NAN)],
    "ndtr": [(0.0, 0.5), (INF, 1), (-INF, 0), (-50.0, 0), (50.0, 1), (NAN, NAN)],
    "log_ndtr": [(INF, 0), (-INF, -INF), (50.0, 0), (-1e200, -INF), (NAN, NAN)],
    "inverse_mills": [(INF, 0), (-INF, INF), (50.0, 0), (NAN, NAN)],
    "inverse_mills_gap": [(INF, INF), (-INF, 0), (NAN, NAN)],
    "ndtri": [(0.0, -INF), (1.0, INF), (0.5, 0), (-0.1, NAN), (1.1, NAN), (NAN, NAN)],
    "ndtri_exp": [(0.0, INF), (-INF, -INF), (0.1, NAN), (NAN, NAN)],
    "erfinv": [(0.0, 0), (1.0, INF), (-1.0, -INF), (1.1, NAN), (NAN, NAN)],
    "erfcinv": [(1.0, 0), (0.0, INF), (2.0, -INF), (2.1, NAN), (-0.1, NAN), (NAN, NAN)],
    "log_diff_ndtr": [(INF, -INF, 0), (1.0, 1.0, -INF), (1.0, 2.0, NAN), (NAN, 1.0, NAN), (1.0, NAN, NAN)],
    "edge_share": [(INF, -INF, 0), (INF, 3.0, 0), (-INF, -INF, 0)],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 15)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str, dtype: type) -> None:
    with np.errstate(over="ignore"):
        *arguments, expected = np.array(EDGES[name]).astype(dtype).T
    np.testing.assert_array_equal(evaluate(name, arguments), expected)


def intervals(dtype: type, middle: float, widths: tuple[float, float]) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    m, h = rng.uniform(-middle, middle, 40), np.exp(rng.uniform(*np.log(widths), 40))
    return [(m + h).astype(dtype), (m - h).astype(dtype)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("middle", [1.0, 6.0, 36.0])
@pytest.mark.parametrize("widths", [(1e-10, 1e-2), (1e-2, 0.6), (0.3, 10.0)])
def test_intervals_of_any_width_anywhere(dtype: type, middle: float, widths: tuple[float, float]) -> None:
    b, a = intervals(dtype, middle, widths)
    found = errors("log_diff_ndtr", precisely(log_interval, 6000), [b[b > a], a[b > a]], lambda *_: arb(0))
    assert found.max() <= 6.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_infinite_bound_is_no_bound(dtype: type) -> None:
    x = np.linspace(-30, 30, 61).astype(dtype)
    infinite = np.full_like(x, INF)
    unit = np.finfo(dtype).eps
    np.testing.assert_allclose(evaluate("log_diff_ndtr", [x, -infinite]), evaluate("log_ndtr", [x]), rtol=4 * unit)
    np.testing.assert_allclose(evaluate("log_diff_ndtr", [infinite, x]), evaluate("log_ndtr", [-x]), rtol=4 * unit)


def derivatives(name: str, *arguments: float) -> list[float]:
    leaves = [Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(len(arguments))]
    nodes = partials(PRIMITIVES[name](*leaves), leaves)
    return [float(v[0]) for v in interpret(nodes, [np.array([x]) for x in arguments], {"n0": 1})]


@pytest.mark.parametrize(("name", "arguments", "expected"), [
    ("log_ndtr", (-1e10,), (1e10,)), ("log_ndtr", (-1e150,), (1e150,)), ("log_ndtr", (50.0,), (0.0,)),
    ("log_ndtr", (0.0,), (2 / np.sqrt(2 * np.pi),)), ("inverse_mills", (-1e10,), (-1.0,)),
    ("inverse_mills", (INF,), (0.0,)), ("inverse_mills", (-INF,), (-1.0,)),
    ("erfcx", (1e10,), (-1e-20 / np.sqrt(np.pi),)),
    ("ndtri", (0.0,), (INF,)), ("ndtri", (0.5,), (np.sqrt(2 * np.pi),)), ("ndtri_exp", (0.0,), (INF,)),
    ("ndtri_exp", (-5e19,), (1e-10,)), ("erfinv", (1.0,), (INF,)), ("erfcinv", (0.0,), (-INF,)),
    ("log_diff_ndtr", (-1e10, -INF), (1e10, 0.0)), ("log_diff_ndtr", (INF, 1e10), (0.0, -1e10)),
    ("log_diff_ndtr", (INF, -INF), (0.0, 0.0)), ("log_diff_ndtr", (1e-8, -1e-8), (5e7, -5e7)),
    # A width of 2**-30 at 2**17, in units of the width: the density is exponential there.
    ("log_diff_ndtr", (2.0**17, 2.0**17 - 2.0**-30),
     (2.0**17 / np.expm1(2.0**-13), 2.0**17 / np.expm1(-(2.0**-13)))),
])
def test_derivatives_in_the_tails(name: str, arguments: tuple, expected: tuple) -> None:
    np.testing.assert_allclose(derivatives(name, *arguments), expected, rtol=1e-13)


def test_the_slope_of_a_quantile_is_accurate_in_both_tails() -> None:
    p = np.array([1e-300, 1e-20, 1e-3, 0.3, 0.7, 1 - 1e-3, 1 - 1e-12])
    leaf = Node("slot", (), (0,), ("n0",), np.dtype(float))
    (found,) = interpret(partials(PRIMITIVES["ndtri"](leaf), [leaf]), [p], {"n0": len(p)})
    solve = inverse(guess, mass, density)
    with ctx.workprec(400):
        exact = [float(1 / density(solve(arb(v)))) for v in p.tolist()]
    np.testing.assert_allclose(found, exact, rtol=2e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_far_below_the_logarithm_is_that_of_the_density(dtype: type) -> None:
    """As far as there are numbers, whatever becomes of the factor beside the density there."""
    last = np.log2(np.finfo(dtype).max)
    x = -np.append(np.exp2(np.linspace(0.3 * last, last, 1000, endpoint=False)), INF).astype(dtype)
    with by_interpreter():
        value, slope = value_and_partials(special.log_ndtr(lazy(x)), wrt=x)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(value, -0.5 * x * x, rtol=8 * np.finfo(dtype).eps)
    np.testing.assert_allclose(slope, -x, rtol=8 * np.finfo(dtype).eps)


COMPILED = ("ndtr", "log_ndtr", "arcsinh", "log_i0e")


def test_compiled_functions_are_those_of_the_interpreter() -> None:
    """Values and partials of all of them, in one kernel."""
    x = np.linspace(-6.0, 6.0, 33)
    sum_of_all = lazy(x) * 0.0
    for name in COMPILED:
        sum_of_all = sum_of_all + LazyArray(PRIMITIVES[name](lazy(x).node))
    value, slope = value_and_partials(sum_of_all, wrt=x)
    node = Node("slot", (), (0,), ("n0",), np.dtype(float))
    total = node * 0.0
    for name in COMPILED:
        total = total + PRIMITIVES[name](node)
    expected = interpret([total, *partials(total, [node])], [x], {"n0": len(x)})
    np.testing.assert_allclose(np.asarray(value), expected[0], rtol=1e-14)
    np.testing.assert_allclose(np.asarray(slope), expected[1], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", [
    "erfcx", "ndtr", "log_ndtr", "ndtri", "ndtri_exp", "erfinv", "erfcinv", "i0e", "i1e", "i0", "i1", "logit", "zeta",
])
def test_scipys_functions_of_lazy_arrays_are_lazy(name: str) -> None:
    x = lazy(np.array([0.25, 0.5]))
    found = getattr(special, name)(*((x + 1.5, 0.5) if name == "zeta" else (x,)))
    assert isinstance(found, LazyArray)
