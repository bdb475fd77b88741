"""Every pass earns its place in the order: without it some expression is another graph."""

import numpy as np
import pytest

import vecdist
from vecdist import lazy, logpdf
from vecdist.distributions import Arcsine, Cauchy, Gamma, Geometric, ScaledInverseChi2, Uniform
from vecdist.graph.leaves import leaf
from vecdist.graph.node import below
from vecdist.passes import order
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of
from vecdist.passes.order import Structure, derived
from vecdist.primitives import PRIMITIVES

X, A, B = np.linspace(0.25, 0.75, 5), np.array(0.5), np.array(0.6)
LGAMMA = PRIMITIVES["lgamma"]
NEEDED_BY = {
    ("ON_PRIMITIVES", "simplify", 0): lambda: logpdf(ScaledInverseChi2(A, B), X),
    ("ON_PRIMITIVES", "factor", 1): lambda: logpdf(Cauchy(A, B), X),
    ("ON_PRIMITIVES", "powers", 2): lambda: logpdf(Cauchy(A, B), X),
    ("ON_PRIMITIVES", "simplify", 3): lambda: logpdf(Gamma(A, B), X),
    ("ON_TARGET", "sink_selects", 0): lambda: np.where(X > B, LGAMMA(lazy(X) * A), LGAMMA(A * 2.0 + lazy(X))),
    ("ON_TARGET", "to_elementary", 1): lambda: vecdist.logsf(Arcsine(A, B), X),
    ("ON_TARGET", "simplify", 2): lambda: vecdist.logsf(Uniform(A, B), X),
    ("ON_TARGET", "sink_selects", 3): lambda: vecdist.logsf(Arcsine(A, B), X),
    ("ON_TARGET", "simplify", 5): lambda: vecdist.logsf(Geometric(A), X),
}
NEEDED_BY_ALL = {("ON_TARGET", "expand", 4), ("ON_TARGET", "verify", 6)}


def test_every_pass_is_named_here():
    lists = {name: getattr(order, name) for name in ("ON_PRIMITIVES", "ON_TARGET")}
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
