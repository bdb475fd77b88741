"""Incomplete gamma and beta functions against ball arithmetic: both tails, derivatives, inverses, edges, and no hangs.

An error is counted in units of 2**-53 of the true value times its condition: what a relative error of 2**-53 in the
arguments would do to it, where that is more.  Derivatives of truths are differences to hundreds of bits.
"""

import itertools
import math
import time
from functools import cache

import flint
import numpy as np
import pytest
from flint import arb

from vecdist import lazy, value_and_grad
from vecdist.graph.node import Node
from vecdist.lazy.ufuncs import apply
from vecdist.passes.differentiate import partials
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret

scipy_special = pytest.importorskip("scipy.special")

BITS, STEP = 500, 120
COUNT = 12  # points of each region
INF, NAN = math.inf, math.nan
ORDERS = {"gamma": (0, 1), "beta": (0, 1, 2)}


def evaluate(name: str, *columns) -> np.ndarray:
    """A primitive at points, in the interpreter."""
    arrays = [np.asarray(column, np.float64) for column in columns]
    slots = [Node("slot", (), (i,), ("n0",), a.dtype) for i, a in enumerate(arrays)]
    (found,) = interpret([PRIMITIVES[name](*slots)], arrays, {"n0": len(arrays[0])})
    return found


def spread(rng, low: float, high: float) -> np.ndarray:
    return np.exp(rng.uniform(math.log(low), math.log(high), COUNT))


def gamma_regions() -> dict[str, tuple[np.ndarray, ...]]:
    """Points on both sides of every branch: x and a about 1, a about 3 and 20, x about a."""
    rng = np.random.default_rng(5)
    middle, large = spread(rng, 20.0, 1e3), spread(rng, 1e4, 1e8)
    small, ordinary = spread(rng, 1e-6, 1.0), spread(rng, 1.0, 20.0)
    return {
        "small": (small, spread(rng, 1e-6, 1.0)),
        "small, tiny x": (small, spread(rng, 1e-250, 1e-6)),
        "small, long tail": (small, spread(rng, 1.0, 100.0)),
        "ordinary, below": (ordinary, ordinary * rng.uniform(0.01, 1.0, COUNT)),
        "ordinary, above": (ordinary, ordinary * (1.0 + spread(rng, 1e-6, 10.0))),
        "next to branches": (np.repeat([1.0, 3.0, 20.0], 4) * np.tile([1.0, 1.0 - 1e-9], 6),
                             np.tile([1.0 - 1e-9, 1.0, 3.0, 20.0], 3)),
        "middle": (middle, middle * (1.0 + rng.normal(size=COUNT) * 3.0 / np.sqrt(middle))),
        "middle, far": (middle, middle * rng.uniform(0.6, 1.6, COUNT)),
        "large": (large, large * (1.0 + rng.normal(size=COUNT) * 3.0 / np.sqrt(large))),
    }


def beta_regions() -> dict[str, tuple[np.ndarray, ...]]:
    """Points where a series, a power series or the quadrature is used, turned round and not, and next to branches."""
    rng = np.random.default_rng(6)

    def near(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + b / a * np.exp(rng.normal(size=COUNT) * np.sqrt(1.0 / a + 1.0 / b)))

    tiny, other = spread(rng, 1e-4, 1.0), spread(rng, 1e-4, 1.0)
    ordinary, more = spread(rng, 1.0, 20.0), spread(rng, 1.0, 20.0)
    middle, wide = spread(rng, 20.0, 1e3), spread(rng, 20.0, 1e3)
    huge, vast = spread(rng, 1e4, 2e4), spread(rng, 1e4, 2e4)
    tails = np.concatenate([spread(rng, 1e-12, 0.1)[:6], 1.0 - spread(rng, 1e-9, 0.1)[:6]])
    branches = np.repeat([1.0, 3.0, 20.0], 4), np.tile([1.0, 3.0], 6), np.tile([0.5, 0.9, 0.25, 0.89], 3)
    return {
        "both tiny": (tiny, other, rng.uniform(0.0, 1.0, COUNT)),
        "both tiny, tails": (tiny, other, tails),
        "tiny and ordinary": (tiny, more, np.minimum(0.99, spread(rng, 1e-3, 20.0) / more)),
        "tiny and huge": (tiny, huge, spread(rng, 1e-3, 20.0) / huge),
        "ordinary": (ordinary, more, rng.uniform(0.02, 0.98, COUNT)),
        "ordinary and middle": (ordinary, middle, near(ordinary, middle)),
        "middle and ordinary": (middle, ordinary, near(middle, ordinary)),
        "middle": (middle, wide, near(middle, wide)),
        "huge and ordinary": (huge, ordinary, near(huge, ordinary)),
        "huge": (10.0 * huge[:4], vast[:4], near(10.0 * huge, vast)[:4]),
        "next to branches": branches,
        "long tails": (ordinary + 9.0, 1.5 * other, 1.0 - spread(rng, 1.0, 1.5) / (ordinary + 9.0)),
    }


REGIONS = {"gamma": gamma_regions(), "beta": beta_regions()}


def gamma_tails(a: arb, x: arb) -> tuple[arb, arb]:
    """The lower tail by itself where it may be tiny; for large a flint is slow at it."""
    upper = x.gamma_upper(a, 1)
    return (x.gamma_lower(a, 1) if x < 1 else 1 - upper), upper


def beta_tails(a: arb, b: arb, x: arb) -> tuple[arb, arb]:
    """By the series of positive terms, DLMF 8.17.8, around the nearer end."""
    if x > 0.5:
        return beta_tails(b, a, 1 - x)[::-1]
    term = total = arb(1)
    n = 0
    while not term < total * arb(2) ** -BITS:
        term = term * (a + b + n) * x / (a + 1 + n)
        total, n = total + term, n + 1
    factor = (a + b).lgamma() - (a + 1).lgamma() - b.lgamma() + a * x.log() + b * (1 - x).log()
    lower = factor.exp() * total
    return lower, 1 - lower


class Truth:
    """Both tails around a point, and quantities made of them: ``P``, ``logQ``, or with a digit a derivative."""

    def __init__(self, family: str, point: tuple[float, ...]) -> None:
        self.tails = cache({"gamma": gamma_tails, "beta": beta_tails}[family])
        self.point = tuple(map(arb, point))
        self.step = arb(2) ** -STEP

    def moved(self, point: tuple[arb, ...], i: int, sign: int) -> tuple[arb, ...]:
        return tuple(x * (1 + sign * self.step) if i == j else x for j, x in enumerate(point))

    def quantity(self, name: str, point: tuple[arb, ...]) -> arb:
        if name[-1].isdigit():
            return self.change(name[:-1], point, int(name[-1])) / point[int(name[-1])]
        value = self.tails(*point)["PQ".index(name[-1])]
        return value.log() if name.startswith("log") else value

    def change(self, name: str, point: tuple[arb, ...], i: int) -> arb:
        """The derivative in the logarithm of an argument."""
        after, before = (self.quantity(name, self.moved(point, i, sign)) for sign in (1, -1))
        return (after - before) / (2 * self.step)

    def error(self, name: str, found: float) -> float:
        """The error of ``found`` in the units of this file."""
        exact = self.quantity(name, self.point)
        if abs(float(exact.mid())) < 1e-290:
            return 0.0 if abs(found) < 1e-289 else INF
        condition = sum(abs(float((self.change(name, self.point, i) / exact).mid())) for i in range(len(self.point)))
        return abs(float((arb(float(found)) / exact - 1).mid())) * 2.0**53 / max(1.0, condition)


# The quantity of each primitive, and the error that it may have.
VALUES = {"{}inc": ("P", 5), "{}incc": ("Q", 5), "log_{}inc": ("logP", 5), "log_{}incc": ("logQ", 5)}
SLOPES = {
    "{}inc_da": ("P0", 15), "log_{}inc_da": ("logP0", 15), "log_{}incc_da": ("logQ0", 15),
    "log_{}inc_dx": ("logP{x}", 15), "log_{}incc_dx": ("logQ{x}", 15), "{}_density": ("P{x}", 6),
}
SLOPES_IN_B = {"{}inc_db": ("P1", 15), "log_{}inc_db": ("logP1", 15), "log_{}incc_db": ("logQ1", 15)}


def quantities(family: str) -> dict[str, tuple[str, int]]:
    entries = VALUES | SLOPES | (SLOPES_IN_B if family == "beta" else {})
    last = len(REGIONS[family]["next to branches"]) - 1
    return {name.format(family): (quantity.format(x=last), bound) for name, (quantity, bound) in entries.items()}


@pytest.mark.parametrize(
    ("family", "region"), [pytest.param(f, r, id=f"{f}-{r}") for f, regions in REGIONS.items() for r in regions]
)
def test_values_and_derivatives_are_accurate(family: str, region: str) -> None:
    columns = REGIONS[family][region]
    found = {name: evaluate(name, *columns) for name in quantities(family)}
    worst: dict[str, tuple] = {}
    with flint.ctx.workprec(BITS):
        for k, point in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            truth = Truth(family, point)
            for name, (quantity, _) in quantities(family).items():
                worst[name] = max(worst.get(name, (0.0,)), (truth.error(quantity, found[name][k]), point))
    assert {name: error for name, error in worst.items() if not error[0] <= quantities(family)[name][1]} == {}


def quantile_points(family: str) -> tuple[np.ndarray, ...]:
    """Parameters of many sizes, and probabilities in both tails."""
    rng = np.random.default_rng(9)
    columns = [np.exp(rng.uniform(math.log(1e-2), math.log(1e4), 60)) for _ in ORDERS[family][1:]]
    deep = np.exp(rng.uniform(math.log(1e-200), 0.0, 30))
    return (*columns, np.concatenate([deep, rng.uniform(0.001, 0.999, 30)]))


@pytest.mark.parametrize("name", ["gammaincinv", "gammainccinv", "betaincinv", "betainccinv"])
def test_quantiles_are_as_right_as_their_arguments(name: str) -> None:
    """The tail at the result, in balls, against the one asked for, by the slope that leads from one to the other."""
    family, upper = name[:-len("incinv" if name.endswith("incinv") else "inccinv")], name.endswith("ccinv")
    columns = quantile_points(family)
    found = evaluate(name, *columns)
    errors = []
    with flint.ctx.workprec(BITS):
        for *parameters, p, x in zip(*(column.tolist() for column in columns), found.tolist(), strict=True):
            if not (1e-280 < x < 1.0 - 1e-12 if family == "beta" else 1e-280 < x):
                continue
            truth = Truth(family, (*parameters, x))
            tail = truth.quantity("Q" if upper else "P", truth.point)
            slope = truth.change("Q" if upper else "P", truth.point, len(parameters))
            scale = truth.point[-1] / truth.point[-1]
            step = (arb(p) - tail) / slope * scale
            size = 1 + abs(float((tail / slope).mid())) * max(1.0, abs(math.log(p)))
            errors.append((abs(float(step.mid())) * 2.0**53 / size, parameters, p, x))
    assert len(errors) >= 40
    assert max(errors)[0] <= 4.0, max(errors)


@pytest.mark.parametrize(("name", "arguments", "expected"), [
    ("gammainc", (2.0, 0.0), 0), ("gammainc", (2.0, INF), 1), ("gammainc", (0.0, 1.0), 1), ("gammainc", (INF, 3.0), 0),
    ("gammainc", (0.0, 0.0), NAN), ("gammainc", (-1.0, 1.0), NAN), ("gammainc", (1.0, -1.0), NAN),
    ("gammainc", (NAN, 1.0), NAN), ("gammainc", (1.0, NAN), NAN), ("gammainc", (INF, INF), NAN),
    ("gammaincc", (2.0, 0.0), 1), ("gammaincc", (2.0, INF), 0), ("gammaincc", (0.0, 1.0), 0),
    ("log_gammainc", (2.0, 0.0), -INF), ("log_gammainc", (2.0, INF), 0), ("log_gammaincc", (2.0, 0.0), 0),
    ("log_gammaincc", (2.0, INF), -INF), ("gammainc_da", (2.0, 0.0), 0), ("gammainc_da", (2.0, INF), 0),
    ("log_gammainc_da", (2.0, 0.0), -INF), ("log_gammaincc_da", (2.0, INF), INF), ("log_gammainc_dx", (2.0, 0.0), INF),
    ("log_gammaincc_dx", (2.0, INF), -1), ("gamma_density", (1.0, 0.0), 1), ("gamma_density", (0.5, 0.0), INF),
    ("gamma_density", (2.0, 0.0), 0), ("gammaincinv", (2.0, 0.0), 0), ("gammaincinv", (2.0, 1.0), INF),
    ("gammaincinv", (2.0, 1.5), NAN), ("gammaincinv", (-2.0, 0.5), NAN), ("gammainccinv", (2.0, 0.0), INF),
    ("gammainccinv", (2.0, 1.0), 0), ("gammaincinv", (1e-3, 0.1), 0),
    ("betainc", (2.0, 3.0, 0.0), 0), ("betainc", (2.0, 3.0, 1.0), 1), ("betainc", (1.0, 1.0, 0.25), 0.25),
    ("betainc", (2.0, 3.0, 1.5), NAN), ("betainc", (2.0, 3.0, -0.5), NAN), ("betainc", (-2.0, 3.0, 0.5), NAN),
    ("betainc", (NAN, 3.0, 0.5), NAN), ("betainc", (2.0, 3.0, NAN), NAN), ("betainc", (0.0, 2.0, 0.5), 1),
    ("betainc", (2.0, 0.0, 0.5), 0), ("betainc", (0.0, 0.0, 0.5), NAN), ("betaincc", (2.0, 3.0, 1.0), 0),
    ("log_betainc", (2.0, 3.0, 0.0), -INF), ("log_betaincc", (2.0, 3.0, 1.0), -INF), ("betainc_da", (2.0, 3.0, 0.0), 0),
    ("betainc_db", (2.0, 3.0, 1.0), 0), ("log_betainc_da", (2.0, 3.0, 0.0), -INF), ("beta_density", (1.0, 3.0, 0.0), 3),
    ("beta_density", (2.0, 0.5, 1.0), INF), ("betaincinv", (2.0, 3.0, 0.0), 0), ("betaincinv", (2.0, 3.0, 1.0), 1),
    ("betaincinv", (2.0, 3.0, -0.1), NAN), ("betainccinv", (2.0, 3.0, 1.0), 0), ("betaincinv", (0.0, 1.0, 0.5), NAN),
])
def test_edges(name: str, arguments: tuple, expected: float) -> None:
    (found,) = evaluate(name, *([x] for x in arguments))
    assert found == pytest.approx(expected, rel=1e-15, abs=0, nan_ok=True)


SIZES = [0.0, 5e-324, 1e-300, 1e-100, 1e-10, 0.3, 0.999999, 1.0, 2.9999, 3.0, 20.0, 1e3, 1e8, 1e16, 1e100, 1e300, INF]
INCOMPLETE = sorted(name for name in PRIMITIVES if "gammainc" in name or "betainc" in name or "_quantile_d" in name)


@pytest.mark.parametrize("name", INCOMPLETE)
def test_no_argument_hangs_or_raises(name: str) -> None:
    """Pure Python raises where compiled code goes on, so that what passes here divides by zero nowhere."""
    routine = PRIMITIVES[name].routine
    if routine is None:
        return
    unit = [0.0, 5e-324, 1e-100, 1e-10, 0.3, 0.5, 0.50001, 0.9, 1.0 - 1e-16, 1.0, 1.5, -0.5, NAN]
    last = unit if PRIMITIVES[name].arity == 3 or name.endswith("inv") else [*SIZES, -1.0, NAN]
    for arguments in itertools.product(*[[*SIZES, -1.0]] * (PRIMITIVES[name].arity - 1), last):
        start = time.perf_counter()
        found = routine(*arguments)
        assert isinstance(found, float), arguments
        assert time.perf_counter() - start < 5.0, arguments


@pytest.mark.parametrize("family", ["gamma", "beta"])
def test_tails_add_up_to_one(family: str) -> None:
    last = SIZES if family == "gamma" else [0.0, 5e-324, 1e-10, 0.3, 0.5, 0.9, 1.0 - 1e-16, 1.0]
    positive = [x for x in SIZES if 0.0 < x < INF]
    points = np.array(list(itertools.product(*[positive] * (2 if family == "beta" else 1), last))).T
    lower, upper = evaluate(f"{family}inc", *points), evaluate(f"{family}incc", *points)
    assert (lower >= 0.0).all() and (upper >= 0.0).all()
    np.testing.assert_allclose(lower + upper, 1.0, rtol=0, atol=1e-15)


def test_second_derivatives_in_the_parameters_are_refused() -> None:
    a, x = (Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(2))
    first, _ = partials(PRIMITIVES["gammainc"](a, x), [a, x])
    with pytest.raises(NotImplementedError, match="gammainc_da has no derivative but in the last"):
        partials(first, [a])
    (mixed,) = partials(first, [x])
    arrays = [np.array([2.5]), np.array([1.5])]
    (found,) = interpret([mixed], arrays, {"n0": 1})
    density = 1.5**1.5 * math.exp(-1.5) / math.gamma(2.5)
    assert found[0] == pytest.approx(density * (math.log(1.5) - scipy_special.psi(2.5)), rel=1e-14)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "gammaincinv", "gammainccinv", "betainc", "betaincc",
                                  "betaincinv", "betainccinv"])
def test_ufuncs_of_scipy_are_these(name: str) -> None:
    leaves = [Node("slot", (), (i,), ("n0",), np.dtype(float)) for i in range(PRIMITIVES[name].arity)]
    assert apply(getattr(scipy_special, name), *leaves).op == name


def all_points(family: str) -> list[np.ndarray]:
    return [np.concatenate(column) for column in zip(*REGIONS[family].values(), strict=True)]


def test_a_compiled_kernel_has_the_gamma_function_and_its_derivatives() -> None:
    a, x = all_points("gamma")
    value, (slope_a, slope_x) = value_and_grad(scipy_special.gammainc(lazy(a), lazy(x)).sum(), wrt=(a, x))
    assert float(value) == pytest.approx(evaluate("gammainc", a, x).sum(), rel=1e-13)
    np.testing.assert_allclose(slope_a, evaluate("gammainc_da", a, x), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(slope_x, evaluate("gamma_density", a, x), rtol=1e-12, atol=1e-300)


def test_float32_is_rounded_once(execution: None) -> None:
    """Routines compute in float64: their results in float32 are right to the last digit."""
    a = np.geomspace(0.02, 500.0, 300).astype(np.float32)
    p = np.linspace(0.01, 0.99, 300).astype(np.float32)
    found = np.asarray(scipy_special.gammaincinv(lazy(a), lazy(p)))
    assert found.dtype == np.float32
    np.testing.assert_array_max_ulp(found, evaluate("gammaincinv", a, p).astype(np.float32), maxulp=1)


def test_a_kernel_has_both_derivatives_of_the_beta_function(execution: None) -> None:
    a, b, x = all_points("beta")
    value, slopes = value_and_grad(scipy_special.betainc(lazy(a), lazy(b), x).sum(), wrt=(a, b))
    assert float(value) == pytest.approx(evaluate("betainc", a, b, x).sum(), rel=1e-13)
    for slope, name in zip(slopes, ("betainc_da", "betainc_db"), strict=True):
        np.testing.assert_allclose(slope, evaluate(name, a, b, x), rtol=1e-11, atol=1e-300)
