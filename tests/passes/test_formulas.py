"""Very many scalars: what occurs often is a formula, written once, and all values are what they were."""

import numpy as np
import pytest
from interpreting import by_interpreter
from reference import slot
from uncompiled import uncompiled

from vecdist import compile as compile_function
from vecdist import function, lazy, logpdf, value_and_grad
from vecdist.codegen.cpu import fission
from vecdist.distributions import Beta, Gamma, Laplace, LogNormal, Normal, Poisson, StudentT
from vecdist.graph.node import const, topological
from vecdist.passes.expand import MANY, expand_but_many
from vecdist.passes.formulas import OFTEN, formulas
from vecdist.passes.order import ON_TARGET, passed
from vecdist.primitives import PRIMITIVES
from vecdist.runtime.interpreter import interpret

EXP, LOG = PRIMITIVES["exp"], PRIMITIVES["log"]
ARRAYS = [np.float64(value) for value in np.linspace(0.2, 1.9, 64)]
SLOTS = [slot(place, ()) for place in range(64)]


def found(roots):
    """The graph with formulas, and the calls of each."""
    better = formulas(roots, lambda graph: passed(graph, ON_TARGET))
    calls = {}
    for node in topological(better):
        if node.op == "formula":
            calls.setdefault(node.attrs[0], []).append(node)
    return better, calls


def assert_same(roots, better):
    for one, other in zip(interpret(roots, ARRAYS, {}), interpret(better, ARRAYS, {}), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_occurs_often_is_one_formula():
    roots = tuple(EXP(x * 0.5 - LOG(y)) / (x + y) + x * y for x, y in zip(SLOTS, SLOTS[1:], strict=False))
    better, calls = found(roots)
    assert [len(each) for each in calls.values()] == [len(roots)]
    assert all(call.args == pair for call, pair in zip(better, zip(SLOTS, SLOTS[1:], strict=False), strict=True))
    assert_same(roots, better)


def test_leaves_that_are_one_and_constants_tell_formulas_apart():
    kinds = (lambda x, y: (x * x, x), lambda x, y: (x * y, x), lambda x, y: (x * y, y), lambda x, y: (x * 2.0, y))
    roots = []
    for kind in kinds:
        for x, y in zip(SLOTS[:40], SLOTS[1:41], strict=True):
            first, second = kind(x, y)
            roots.append((EXP(first) - second) * (first + 1.5 * second) / (2.0 + first * first))
    better, calls = found(tuple(roots))
    assert sorted(map(len, calls.values())) == [40] * 4
    assert sorted(len(formula[0].args) for formula in calls.values()) == [1, 2, 2, 2]
    assert_same(tuple(roots), better)


def test_few_scalars_stay_as_they_are():
    roots = tuple(EXP(x * 0.5 - LOG(y)) / (x + y) for x, y in zip(SLOTS[:9], SLOTS[1:], strict=False))
    assert formulas(roots, tuple) is roots or formulas(roots, tuple) == roots


def test_elementary_functions_of_which_there_are_many_are_calls():
    for count in (MANY - 1, MANY):
        roots = tuple(LOG(x) * const(2.0, np.float64) for x in SLOTS[:count])
        kept = [node for node in topological(expand_but_many(roots)) if node.op == "log"]
        assert len(kept) == (count if count >= MANY else 0)
    row = slot(0, ("n",))
    assert not [node for node in topological(expand_but_many((LOG(row), *map(LOG, SLOTS[:9])))) if node.op == "log"][9:]


FAMILIES = {
    "Normal": lambda x, m, s: logpdf(Normal(m, np.exp(s)), x),
    "Laplace": lambda x, m, s: logpdf(Laplace(m, np.exp(s)), x),
    "StudentT": lambda x, m, s: logpdf(StudentT(3.0, m, np.exp(0.1 * s)), x),
    "LogNormal": lambda x, m, s: logpdf(LogNormal(m, 1.5), np.exp(x)) + s,
    "Gamma": lambda x, m, s: logpdf(Gamma(np.exp(m), np.exp(s)), x * x + 0.1),
    "Beta": lambda x, m, s: logpdf(Beta(np.exp(m), np.exp(s)), 1.0 / (1.0 + np.exp(x))),
    "Poisson": lambda x, m, s: logpdf(Poisson(np.exp(m + s)), 3) + 0.1 * x,
}


def random_terms(seed):
    """Terms of several families, each of three scalars: parameters, numbers, or what is made of the last ones."""
    rng = np.random.default_rng(seed)
    parameters = [np.array(value) for value in rng.normal(0.0, 0.5, rng.integers(3, 50))]
    chosen = rng.choice(list(FAMILIES), size=rng.integers(1, 4), replace=False)
    terms = []
    for number in range(int(rng.integers(30, 90))):
        make = FAMILIES[chosen[int(rng.integers(len(chosen))) if rng.random() < 0.3 else number % len(chosen)]]
        places, numbers, few = rng.integers(len(parameters), size=3), rng.normal(0.0, 0.5, 3), rng.random(3) < 0.4
        terms.append((make, [number if own else parameters[place]
                             for number, place, own in zip(numbers, places, few, strict=True)]))  # fmt: skip
    return parameters, terms


def total(terms):
    return sum(make(*[lazy(each) if isinstance(each, np.ndarray) else each for each in given]) for make, given in terms)


def of_each(parameters, terms):
    """The value, and the gradient by the ids of parameters, of terms one by one: these are small graphs."""
    value, slopes = 0.0, dict.fromkeys(map(id, parameters), 0.0)
    for term in terms:
        own = list({id(each): each for each in term[1] if isinstance(each, np.ndarray)}.values())
        one, partials = value_and_grad(total([term]), wrt=tuple(own)) if own else (total([term]).compute(), ())
        value += float(one)
        for each, partial in zip(own, partials, strict=True):
            slopes[id(each)] += float(partial)
    return value, [slopes[id(each)] for each in parameters]


@pytest.mark.parametrize("seed", range(10))
def test_random_sums_of_very_many_scalars(seed):
    parameters, terms = random_terms(seed)
    used = {id(each) for _, given in terms for each in given}
    parameters = [each for each in parameters if id(each) in used]
    with by_interpreter():
        wanted, slopes = of_each(parameters, terms)
    with uncompiled():
        value, found = value_and_grad(total(terms), wrt=tuple(parameters))
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(found, slopes, rtol=1e-10, atol=1e-10)


def test_a_compiled_walk_of_many_steps():
    steps = [np.array(value) for value in np.random.default_rng(0).normal(size=80)]

    def walk(*xs):
        moves = (logpdf(Normal(0.5 * before, 1.0 + place), after)
                 for place, (before, after) in enumerate(zip(xs, xs[1:], strict=False)))  # fmt: skip
        return logpdf(Normal(0.0, 1.0), xs[0]) + sum(moves)

    value, slopes = compile_function(walk).value_and_grad(*steps, wrt=tuple(range(len(steps))))
    x, scales = np.array(steps), np.r_[1.0, 1.0 + np.arange(79)]
    z = np.r_[x[0], x[1:] - 0.5 * x[:-1]] / scales
    np.testing.assert_allclose(value, (-0.5 * z**2 - np.log(scales) - 0.5 * np.log(2 * np.pi)).sum(), rtol=1e-13)
    wanted = -z / scales + np.r_[0.5 * (z / scales)[1:], 0.0]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-12, atol=1e-14)
    assert len(steps) > OFTEN


@function
def root(x):
    """Newton's method: a loop that carries several numbers."""
    y, last = 0.5 * (1.0 + x), 0.0
    while abs(y - last) > 1e-15 * y:
        last, y = y, 0.5 * (y + x / y)
    return y + 0.0 * last


@pytest.mark.parametrize("way", [uncompiled, np.errstate])
def test_loops_of_elements_in_lines_that_are_long(way, monkeypatch):
    monkeypatch.setattr(fission, "LONG", 1500)
    x = np.linspace(0.5, 3.0, 300)
    expression, wanted, slope = lazy(x), x, np.ones_like(x)
    for number in range(50):
        if number % 8 == 3:
            expression, wanted = root(expression), np.sqrt(wanted)
            slope = slope * 0.5 / wanted
        else:
            expression, wanted = np.tanh(expression) + 1.5, np.tanh(wanted) + 1.5
            slope = slope * (1.0 - (wanted - 1.5) ** 2)
    with way():
        value, found = value_and_grad(expression.sum(), x)
    np.testing.assert_allclose(value, wanted.sum(), rtol=1e-12)
    np.testing.assert_allclose(found, slope, rtol=1e-9)


def test_lines_that_are_long_are_parted(monkeypatch):
    x, y = np.linspace(-1.0, 1.0, 700), np.linspace(-1.0, 1.0, 700)
    expression, slope = lazy(x), np.ones_like(x)
    monkeypatch.setattr(fission, "LONG", 1500)
    for number in range(60):
        expression = np.tanh(expression) + number / 60.0 if number % 2 else 0.9 * expression + 0.1
        slope = slope * (1.0 / np.cosh(y) ** 2 if number % 2 else 0.9)
        y = np.tanh(y) + number / 60.0 if number % 2 else 0.9 * y + 0.1
    for way in (uncompiled, None):
        with way() if way else np.errstate():
            value, found = value_and_grad(expression.sum(), x)
        np.testing.assert_allclose(value, y.sum(), rtol=1e-13)
        np.testing.assert_allclose(found, slope, rtol=1e-12)
