"""Distributions go through pickle, with the parametrisation that they were written in."""

import pickle

import numpy as np
import pytest
from family_cases import EVERY_WAY, WAY_IDS, parameters_of


@pytest.mark.parametrize(("family", "names"), EVERY_WAY, ids=WAY_IDS)
def test_a_distribution_comes_back_as_it_was(family, names):
    given = family(**dict(zip(names, parameters_of(family, names, size=3), strict=True)))
    found = pickle.loads(pickle.dumps(given))
    assert type(found) is family and found.parametrised is given.parametrised
    assert found.parameters.keys() == given.parameters.keys()
    for name, value in given.parameters.items():
        np.testing.assert_array_equal(found.parameters[name], value)
