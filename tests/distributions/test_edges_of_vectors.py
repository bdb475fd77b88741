"""Families of vectors outside and at the edges of their support, and of parameters that are none."""

import re
from math import exp, inf, log, nan

import numpy as np
import pytest

import vecdist
from vecdist import logpdf, value_and_grad
from vecdist.distributions import GeneralizedDirichlet, PlackettLuce


def values(distribution, x):
    return np.asarray(logpdf(distribution, np.asarray(x)))


SHARES = GeneralizedDirichlet(np.array([1.0, 2.0]), np.array([2.0, 1.0]))


@pytest.mark.parametrize(("some", "x", "wanted"), [
    (SHARES, [[0.5, 0.5, 0.5], [-0.5, 1.0, 0.5], [nan, 0.5, 0.5]], [-inf, -inf, nan]),
    (SHARES, [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [2 * log(2.0), -inf]),
    (PlackettLuce(np.array([1.0, 3.0])), [[0, 0], [0.5, 1], [1, 2], [-1, 0], [nan, 0]], [-inf] * 4 + [nan]),
    (PlackettLuce(logits=np.array([0.0, 700.0, -700.0])), [[1, 0, 2], [2, 0, 1]], [-2 * exp(-700.0), -2100.0]),
    (PlackettLuce(np.array([2.0])), [[0], [1]], [0.0, -inf]),
], ids=["simplex", "its edge", "rankings", "unlike items", "one item"])
def test_edges(interpreter, some, x, wanted):
    np.testing.assert_allclose(values(some, x), wanted, rtol=1e-14)


@pytest.mark.parametrize(("some", "x", "names"), [
    (SHARES, [0.5, 0.5, 0.5], ("alpha", "beta")), (PlackettLuce(np.array([1.0, 3.0])), [0, 0], ("scores",)),
], ids=repr)
def test_nothing_flows_from_outside(interpreter, some, x, names):
    parameters = tuple(some.parameters[name] for name in names)
    value, slopes = value_and_grad(logpdf(some, np.array(x)), wrt=parameters)
    assert value == -inf and not any(np.asarray(slope).any() for slope in slopes)


@pytest.mark.parametrize(("some", "x", "message"), [
    (GeneralizedDirichlet(np.array([1.0, 0.0]), np.ones(2)), [0.5, 0.25, 0.25], "GeneralizedDirichlet: alpha[1] = 0.0"),
    (PlackettLuce(np.array([1.0, -1.0])), [0, 1], "PlackettLuce: scores[1] = -1.0 is invalid"),
], ids=repr)
def test_invalid_parameters(interpreter, some, x, message):
    with pytest.raises(vecdist.InvalidParameter, match=re.escape(message)):
        values(some, x)


def test_lengths_that_differ_by_one():
    with pytest.raises(ValueError, match="do not fit: one more is wanted of an event"):
        values(SHARES, [0.5, 0.5])
