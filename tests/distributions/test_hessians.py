"""Second derivatives of log densities: of every family, at drawn and at round parameters, modes, kinks and ends."""

import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from family_cases import EVERY_WAY, WAY_IDS, parameters_of, points_of, way_of
from family_truth import true_density
from hessian_truth import wrong

from vecdist import hessian, hvp, jvp, lazy, logpdf
from vecdist.distributions import (
    Binomial,
    Biweight,
    Cosine,
    GeneralizedNormal,
    Kumaraswamy,
    Laplace,
    NegativeBinomial,
    Semicircle,
    SkewedExponentialPower,
    TruncatedCauchy,
    TruncatedNormal,
)
from vecdist.graph.node import Node
from vecdist.lazy.derivatives import leaves_of
from vecdist.passes.differentiate import partials
from vecdist.runtime import pipeline
from vecdist.runtime.interpreter import interpret

ways = pytest.mark.parametrize(("family", "names"), EVERY_WAY, ids=WAY_IDS)
FIRST = [(family, names) for family, names in EVERY_WAY if names == family.parametrisations[0].names]


def seconds(roots):
    """A value and its second partials in the leaves behind it."""
    value, *leaves = roots
    return value, *(second for first in partials(value, leaves) for second in partials(first, leaves))


def second_partials(expr, wrt):
    """The value, and each elementwise second derivative: an array of shape (arguments, arguments, points)."""
    leaves = leaves_of(expr, wrt)
    shapes = [expr.shape] * (1 + len(leaves) ** 2)
    value, *found = pipeline.evaluate((expr.node, *leaves), seconds, shapes)
    return value, np.reshape(found, (len(leaves), len(leaves), -1))


def products(expr, wrt):
    """The same by products of the Hessian of the sum with unit vectors."""
    each = [tuple(np.full_like(w, float(w is one)) for w in wrt) for one in wrt]
    return np.stack([hvp(expr.sum(), wrt, tangents) for tangents in each], axis=1)


def whole(expr, wrt):
    """The Hessian of the sum in all elements of arrays, of shape (arguments, arguments, points, points)."""
    return np.array(hessian(expr.sum(), wrt))


def real_arguments(family, names):
    """The places among x and the parameters of those that are real numbers."""
    constraints = way_of(family, names).constraints
    return [*([] if family.discrete else [0]), *(i for i, n in enumerate(names, 1) if not constraints[n].whole)]


def round_values(constraint):
    """Round numbers inside a constraint, and its ends where they are inside."""
    if constraint.whole:
        return [1.0, 2.0, 3.0, 5.0]
    ends = [constraint.lower] if constraint.lower == 0 and not constraint.open_lower else []
    ends += [constraint.upper] if constraint.upper in (1, np.inf) and not constraint.open_upper else []
    if constraint.lower == 0 and constraint.upper == 1:
        return [0.5, 0.25, 0.75, *ends]
    return [1.0, 2.0, 0.5, 3.0, 0.25, *ends] if constraint.lower == 0 else [0.0, 1.0, -1.0, 2.0, *ends]


def are_valid(family, names, rows):
    """Whether x is finite, and each parameter what its constraint allows."""
    given = dict(zip(names, columns(rows)[1:], strict=True))
    slots = SimpleNamespace(**{n: Node("slot", (), (i,), ("n0",), np.dtype(float)) for i, n in enumerate(names)})
    allowed = way_of(family, names).constraints.items()
    tests = [constraint.among(slots).satisfied(getattr(slots, name)) for name, constraint in allowed]
    holds = np.all(interpret(tests, [*given.values()], {"n0": len(rows)}), axis=0)
    return holds & np.isfinite(rows[:, 0]) & (given.get("low", -1.0) < given.get("high", 1.0))


def round_rows(family, names, count=60):
    """Rows of x and parameters: round numbers, equal ones among them, with x at one of them or at an end."""
    rng = np.random.default_rng(zlib.crc32(repr((family.__name__, names)).encode()))
    constraints = way_of(family, names).constraints
    given = {name: rng.choice(round_values(each), 8 * count) for name, each in constraints.items()}
    if family.__name__ == "NormalInverseGaussian":
        given["beta"] /= 4.0
    points = [1.0, 2.0, 3.0, 0.0] if family.discrete else [0.0, 0.5, 1.0, 2.0, -1.0]
    among = [rng.choice(points, 8 * count), *(given.values() if not family.discrete else ())]
    x = np.choose(rng.integers(len(among), size=8 * count), among)
    rows = np.unique(np.array([x, *given.values()]).T, axis=0)
    return rng.permutation(rows[are_valid(family, names, rows)])[:count]


def columns(rows, dtype=np.float64):
    return [np.ascontiguousarray(column, dtype) for column in rows.T]


def log_density(family, names, arguments):
    x, *parameters = arguments
    return logpdf(family(**dict(zip(names, parameters, strict=True))), x)


def mistakes(found, family, names, rows, tolerance):
    """The points at which a Hessian is wrong, with the places and what was found there."""
    active = real_arguments(family, names)

    def formula(x, *parameters):
        return true_density(family, names, x, parameters)

    bad = [(row, wrong(found[..., k], formula, row, active, tolerance)) for k, row in enumerate(rows)]
    return [
        (*map(float, row), [(int(i), int(j), float(found[i, j, k])) for i, j in np.argwhere(places)])
        for k, (row, places) in enumerate(bad) if places.any()
    ]


@ways
def test_hessians_are_true(interpreter, family, names):
    """At drawn and at round arguments and next to them, of which some are compared; nowhere is any NaN."""
    active = real_arguments(family, names)
    if not active:
        return
    drawn = parameters_of(family, names, size=3)
    exact = round_rows(family, names)
    near = exact[np.isfinite(exact).all(axis=1)][-4:]
    near[:, active] += 1e-6 * np.where(near == 0.0, 1.0, near)[:, active] * np.linspace(1.0, -1.0, len(active))
    near = near[are_valid(family, names, near)]
    rows = np.concatenate([np.array([points_of(family, names, drawn), *drawn]).T, near, exact])
    arguments = columns(rows)
    wrt = tuple(arguments[i] for i in active)
    expr = log_density(family, names, arguments)
    value, found = second_partials(expr, wrt)
    assert not np.isnan(found).any()
    inside = np.flatnonzero(np.isfinite(value))[:18]
    assert mistakes(found[..., inside], family, names, rows[inside], 1e-9) == []
    if (family, names) in FIRST:
        np.testing.assert_allclose(products(expr, wrt), found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("family", "names"), FIRST, ids=lambda each: getattr(each, "__name__", ""))
def test_beside_infinite_derivatives(interpreter, family, names):
    """A point with an infinite second derivative has those of its own in the Hessian of several, and no NaN."""
    active = real_arguments(family, names)
    if not active:
        return
    arguments = columns(round_rows(family, names, 200))
    _, found = second_partials(log_density(family, names, arguments), tuple(arguments[i] for i in active))
    infinite = np.flatnonzero(np.isinf(found).any(axis=(0, 1)))[[0, 1, -1]] if np.isinf(found).any() else []
    if not len(infinite):
        return
    chosen = [*infinite, 0]
    arguments = [argument[chosen] for argument in arguments]
    expr, wrt = log_density(family, names, arguments), tuple(arguments[i] for i in active)
    expected = np.where(np.eye(len(chosen), dtype=bool), found[..., chosen, None], 0.0)
    np.testing.assert_allclose(whole(expr, wrt), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(products(expr, wrt), found[..., chosen], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("family", "row", "expected"), [
    (NegativeBinomial, (0.0, 3.0, 1.0), [[0.0, 1.0], [1.0, -3.0]]), (Binomial, (0.0, 5.0, 0.0), [[-5.0]]),
    (Binomial, (1.0, 5.0, 0.0), [[-np.inf]]), (Binomial, (4.0, 5.0, 1.0), [[-np.inf]]),
    (Kumaraswamy, (5.9e-290, 0.01, 40.0), [[np.inf, 2.17567739250e289, -2.17477033726e284],
                                           [2.17567739250e289, -32222.9856437, 0.854521825114],
                                           [-2.17477033726e284, 0.854521825114, -1 / 40**2]]),
])
def test_entries_beside_infinite_ones(uncompiled, family, row, expected):
    """By the generated source, of the point twice; the numbers of Kumaraswamy are by differences of balls."""
    arguments = [np.array([value, value]) for value in row]
    wrt = tuple(arguments[i] for i in real_arguments(family, family.parametrisations[0].names))
    expr = log_density(family, family.parametrisations[0].names, arguments)
    expected = np.where(np.eye(2, dtype=bool), np.array(expected)[..., None, None], 0.0)
    np.testing.assert_allclose(whole(expr, wrt), expected, rtol=1e-11, atol=1e-300)


def test_along_no_direction(uncompiled):
    """A tangent of 0 contributes nothing, where the derivative is infinite."""
    p = np.array([0.0, 0.5])
    value, derivative = jvp(lazy(p) ** 0.5, wrt=p, tangents=np.array([0.0, 2.0**0.5]))
    np.testing.assert_allclose([value, derivative], [[0.0, 0.5**0.5], [0.0, 1.0]], rtol=1e-15)


@pytest.mark.parametrize(("distribution", "x", "expected"), [
    (Cosine(0.0, 2.0), 0.0, -np.pi**2 / 8), (Biweight(0.0, 2.0), 0.0, -1.0), (Semicircle(2.0), 0.0, -0.25),
    (GeneralizedNormal(0.0, 1.0, 2.0), 0.0, -2.0), (GeneralizedNormal(0.0, 2.0, 2.0), 1e-200, -0.5),
    (GeneralizedNormal(0.0, 1.0, 3.0), 0.0, 0.0), (GeneralizedNormal(0.0, 1.0, 1.0), 0.0, 0.0),
    (SkewedExponentialPower(0.0, 1.0, 2.0, 0.5), 0.0, -1.0), (SkewedExponentialPower(1.0, 1.0, 2.0, 0.25), 1.0, -4 / 9),
    (Laplace(0.0, 1.0), 0.0, 0.0), (TruncatedCauchy(0.0, 1.0, -np.inf, 3.0), 0.0, -2.0),
])
def test_at_the_mode(interpreter, distribution, x, expected):
    at = np.array(x)
    np.testing.assert_allclose(hessian(logpdf(distribution, at).sum(), wrt=at), expected, rtol=1e-14)


@pytest.mark.parametrize(("family", "row", "expected"), [
    (TruncatedCauchy, (9.0, 0.3, 1.0, 8.0, np.inf), {(1, 1): 0.00908803, (1, 2): -0.00307988, (3, 3): -0.01631088}),
    (TruncatedNormal, (0.0, 0.0, 1.0, 0.0, np.inf), {(1, 1): -1 + 2 / np.pi, (2, 2): 1.0, (3, 4): 0.0}),
])
def test_infinite_bounds(interpreter, family, row, expected):
    arguments = [np.array(value) for value in row]
    found = np.array(hessian(logpdf(family(*arguments[1:]), arguments[0]).sum(), wrt=tuple(arguments)))
    np.testing.assert_allclose(found, found.T, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found[4], 0.0)
    for places, value in expected.items():
        np.testing.assert_allclose(found[places], value, atol=1e-8)


@pytest.mark.parametrize(("family", "names"), FIRST, ids=lambda each: getattr(each, "__name__", ""))
def test_hessians_in_float32(interpreter, family, names):
    active = real_arguments(family, names)
    if not active:
        return
    drawn = parameters_of(family, names, np.float32, size=3)
    rows = np.array([points_of(family, names, drawn), *drawn]).T
    arguments = columns(rows, np.float32)
    _, found = second_partials(log_density(family, names, arguments), tuple(arguments[i] for i in active))
    assert found.dtype == np.float32
    assert mistakes(found, family, names, rows, 1e-3) == []
