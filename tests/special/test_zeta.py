"""Zeta functions, and the derivatives of lgamma that are made of them."""

import math

import flint
import numpy as np
import pytest
from flint import arb
from ulps import DTYPES, INF, NAN, Case, assert_accurate, errors, evaluate, precisely

from vecdist.graph.node import Node
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret
from vecdist.special.gamma_functions import polygamma


def zeta(s: arb, q: arb) -> arb:
    return s.zeta(q)


def zeta_ds(s: arb, q: arb) -> arb:
    """A central difference of order six: its error is below 1e-90."""
    h = arb(2) ** -60
    odd = [(s + k * h).zeta(q) - (s - k * h).zeta(q) for k in (1, 2, 3)]
    return (45 * odd[0] - 9 * odd[1] + odd[2]) / (60 * h)


NEAR = [((1.0001, 2.0), (1e-3, 1.0)), ((1.5, 6.0), (1e-2, 30.0)), ((4.0, 20.0), (0.1, 60.0))]
FAR = [((1.2, 4.0), (1e3, 1e12))]
NEAR_SINGLE = [((1.01, 2.0), (1e-3, 1.0)), ((1.5, 6.0), (1e-2, 30.0)), ((1.2, 4.0), (1e3, 1e6))]
# Where exponents are large, the rounding of q + k counts s times.
STEEP = [((20.0, 60.0), (0.5, 50.0))]

CASES = [
    Case("zeta", zeta, NEAR + FAR, NEAR_SINGLE, (5.0, 0.51)),
    Case("zeta", zeta, STEEP, [((10.0, 20.0), (0.5, 5.0))], (16.0, 0.51)),
    Case("riemann_zeta", lambda s: s.zeta(), [((1.0001, 2.0),), ((2.0, 60.0),)], [((1.01, 2.0),), ((2.0, 20.0),)],
         (4.0, 0.51)),
    Case("zeta_ds", precisely(zeta_ds, 600), NEAR + FAR, NEAR_SINGLE, (8.0, 0.51), zeta),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.name}-{n}") for n, case in enumerate(CASES)])
def test_error_in_units_in_the_last_place(case: Case, dtype: type) -> None:
    assert_accurate(case, dtype, 25)


def test_edges() -> None:
    rows = [(2.0, 0.0, INF), (1.0, 1.0, INF), (0.5, 1.0, NAN), (2.0, -1.0, NAN), (NAN, 1.0, NAN), (2.0, NAN, NAN),
            (2.0, INF, 0), (3.0, 1e-200, INF), (3.0, 1e200, 0), (INF, 1.0, 1), (INF, 2.0, 0)]
    *arguments, expected = np.array(rows).T
    np.testing.assert_array_equal(evaluate("zeta", arguments), expected)


@pytest.mark.parametrize("n", range(1, 9))
def test_lgamma_is_differentiated_any_number_of_times(n: int) -> None:
    """psi of order n is (-1)**(n + 1) n! zeta(n + 1, x), DLMF 25.11.12."""
    x = np.random.default_rng(n).uniform(0.2, 30.0, 40)
    leaf = Node("slot", (), (0,), ("n0",), np.dtype(float))
    node = PRIMITIVES["digamma"](leaf)
    for _ in range(n):
        (node,) = partials(node, [leaf])
    by_name, by_rule = interpret([polygamma(n, leaf), node], [x], {"n0": 40})
    with flint.ctx.workprec(200):
        exact = [float((-1) ** (n + 1) * math.factorial(n) * arb(n + 1).zeta(arb(v)).mid()) for v in x.tolist()]
    np.testing.assert_allclose(by_name, exact, rtol=4e-15)
    np.testing.assert_allclose(by_rule, exact, rtol=4e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lgamma_is_exact_next_to_its_zeros(dtype: type) -> None:
    """A unit or two in the last place of the value, whatever the distance from 1 and 2."""
    distance = np.ldexp(1.0, np.arange(-1, -np.finfo(dtype).nmant, -1))
    x = np.concatenate([zero + sign * distance for zero in (1.0, 2.0) for sign in (-1, 1)]).astype(dtype)
    assert errors("lgamma", arb.lgamma, [x], lambda *_: arb(0)).max() <= 4.0
