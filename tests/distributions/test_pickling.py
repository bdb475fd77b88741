"""Distributions go through pickle, with the parametrisation that they were written in."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from family_cases import EVERY_WAY, WAY_IDS, parameters_of

from vecdist import (
    affine,
    censored,
    discretised,
    folded,
    hurdle,
    iid,
    interval_censored,
    logpdf,
    mixture,
    transformed,
    truncated,
    zero_inflated,
)
from vecdist.distributions import Gamma, MvNormal, Normal, Poisson


@pytest.mark.parametrize(("family", "names"), EVERY_WAY, ids=WAY_IDS)
def test_a_distribution_comes_back_as_it_was(family, names):
    given = family(**dict(zip(names, parameters_of(family, names, size=3), strict=True)))
    found = pickle.loads(pickle.dumps(given))
    assert type(found) is family and found.parametrised is given.parametrised
    assert found.parameters.keys() == given.parameters.keys()
    for name, value in given.parameters.items():
        np.testing.assert_array_equal(found.parameters[name], value)


WRAPPED = {
    "truncated": truncated(Normal(np.array([0.0, 1.0]), 2.0), lower=-1.0),
    "censored of truncated": censored(truncated(Gamma(mean=3.0, sd=2.0), lower=0.5), upper=np.array([3.0, 4.0])),
    "interval": interval_censored(Normal(0.0, 1.0), -1.0, 2.0),
    "inflated": zero_inflated(Poisson(2.0), gate_logit=0.5),
    "hurdle": hurdle(Poisson(2.0), gate=0.25),
    "moved": affine(Normal(0.0, 1.0), 2.0, 3.0),
    "transformed": transformed(Normal(0.0, 1.0), "exp"),
    "folded": folded(Normal(0.5, 1.0)),
    "rounded": discretised(Gamma(2.0, 1.0), 0.5),
    "repeated": iid(truncated(Normal(0.0, 1.0), upper=2.0)),
    "mixture": mixture(np.array([0.5, 0.5]), affine(Normal(np.zeros(2), 1.0), 2.0)),
    "matrices": MvNormal(loc=np.zeros(2), scale_tril=np.eye(2)),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_made_of_others_comes_back_as_it_was(name, interpreter):
    given, x = WRAPPED[name], np.array([1.0, 2.0])
    found = pickle.loads(pickle.dumps(given))
    assert type(found) is type(given) and repr(found) == repr(given)
    np.testing.assert_array_equal(np.asarray(logpdf(found, x)), np.asarray(logpdf(given, x)))


def test_what_is_made_of_others_comes_back_in_another_process():
    program = "import pickle, sys; made = pickle.load(sys.stdin.buffer); print(repr(made), end='')"
    given = pickle.dumps([*WRAPPED.values()])
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, check=True)
    assert done.stdout.decode() == repr([*WRAPPED.values()])
