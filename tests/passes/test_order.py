"""Every pass earns its place in the order: without it some expression is another graph."""

import numpy as np
import pytest

import vecdist
from vecdist import lazy, logpdf, logpmf, scan
from vecdist.distributions import (
    Arcsine,
    Categorical,
    Cauchy,
    Gamma,
    Geometric,
    MvNormal,
    Normal,
    Poisson,
    ScaledInverseChi2,
    Uniform,
)
from vecdist.graph.leaves import leaf
from vecdist.graph.node import below, const
from vecdist.lazy.array import LazyArray
from vecdist.passes import order
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of
from vecdist.passes.order import Structure, derived
from vecdist.primitives import PRIMITIVES
from vecdist.primitives.loops import local, loop


def counted(turn):
    """What three turns make of B and A."""
    count, carry, free = local(0, np.int64), local(1, np.float64), local(2, np.float64)
    inits = const(0, np.int64), lazy(B).node
    return LazyArray(loop(const(True, np.bool_), inits, [lazy(A).node], count < 3, [count + 1, turn(carry, free)])[1])


X, A, B = np.linspace(0.25, 0.75, 5), np.array(0.5), np.array(0.6)
LGAMMA = PRIMITIVES["lgamma"]
NEEDED_BY = {
    ("ON_VALUES", "links", 0): lambda: logpmf(Poisson(np.exp(lazy(A))), [0, 3]),
    ("ON_VALUES", "steps_changed", 1): lambda: scan(lambda c, x: (np.log1p(np.exp(c * x)), None), lazy(B), X)[0],
    ("ON_VALUES", "factors", 2): lambda: np.log(np.diagonal(np.linalg.cholesky(lazy(A) * np.eye(9)))).sum(),
    ("ON_VALUES", "picks", 3): lambda: logpmf(Categorical((lazy(A) * np.outer(X, X))[[0, 2]]), [1, 4]),
    ("ON_VALUES", "sink_selects", 4): lambda: np.where(lazy(A) > 0.5, np.tanh(lazy(A)), np.tanh(-lazy(A))),
    ("ON_VALUES", "steps_changed", 5): lambda: scan(
        lambda c, x: (np.where(c > x, np.tanh(c), np.tanh(-c)), None), lazy(B), X
    )[0],
    ("ON_PRIMITIVES", "simplify", 0): lambda: logpdf(ScaledInverseChi2(A, B), X),
    ("ON_PRIMITIVES", "factor", 1): lambda: logpdf(Cauchy(A, B), X),
    ("ON_PRIMITIVES", "powers", 2): lambda: logpdf(Cauchy(A, B), X),
    ("ON_PRIMITIVES", "simplify", 3): lambda: logpdf(Gamma(A, B), X),
    ("ON_PRIMITIVES", "merged", 4): lambda: counted(lambda power, x: power * x),
    ("ON_TARGET", "definite", 0): lambda: logpdf(MvNormal(np.zeros(17), A * np.eye(17)), np.ones(17)),
    ("ON_TARGET", "often", 1): lambda: sum(logpdf(Normal(number * lazy(A), B), A) for number in np.arange(1.0, 60.0)),
    ("ON_TARGET", "turns", 2): lambda: counted(lambda power, x: power + LGAMMA(x)),
    ("ON_TARGET", "steps_changed", 3): lambda: scan(lambda c, x: (LGAMMA(c) * A + x, None), B, X)[0],
    ("ON_TARGET", "to_elementary", 4): lambda: vecdist.logsf(Arcsine(A, B), X),
    ("ON_TARGET", "simplify", 5): lambda: vecdist.logsf(Uniform(A, B), X),
    ("ON_TARGET", "sink_selects", 6): lambda: vecdist.logsf(Arcsine(A, B), X),
    ("ON_TARGET", "simplify", 8): lambda: vecdist.logsf(Geometric(A), X),
    ("ON_TARGET", "stored", 9): lambda: scan(lambda c, x: (c.sum() * np.exp(x), None), X, A * np.outer(X, X))[0],
    ("ON_TARGET", "ties", 10): lambda: (np.exp(A * lazy(X)) + X).max(),
}
NEEDED_BY_ALL = {("ON_TARGET", "expand_but_many", 7), ("ON_TARGET", "verify", 11)}


def test_every_pass_is_named_here():
    lists = {name: getattr(order, name) for name in ("ON_VALUES", "ON_PRIMITIVES", "ON_TARGET")}
    passes = {(name, each.__name__, at) for name, own in lists.items() for at, each in enumerate(own)}
    assert passes == {*NEEDED_BY, *NEEDED_BY_ALL}


@pytest.mark.parametrize("place", NEEDED_BY, ids=lambda place: f"{place[1]} {place[2]}")
def test_a_pass_is_needed(monkeypatch, place):
    name, _, at = place
    expression = NEEDED_BY[place]()
    wrt = [array for array in (A, B) if leaf(array) in below((expression.node,))]
    structure = Structure(bind((expression.sum().node, *map(leaf, wrt))).roots, gradient_of)
    whole, passes = derived(structure), getattr(order, name)
    monkeypatch.setattr(order, name, (*passes[:at], *passes[at + 1 :]))
    without = derived(structure)
    assert (without.all, without.primitives) != (whole.all, whole.primitives)
