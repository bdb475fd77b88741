"""Explanations are values: they are copied and pickled with the program that they tell of, which still runs."""

import copy
import pickle

import numpy as np
import pytest
from uncompiled import uncompiled

from vecdist import explain, lazy, logpdf
from vecdist.distributions import Gamma

X, WEIGHTS = np.arange(1.0, 9.0).reshape(4, 2), np.ones((2, 3))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("make", [lambda: logpdf(Gamma(2.0, 1.0), lazy(X)).sum(), lambda: np.exp(lazy(X) @ WEIGHTS)],
                         ids=["one kernel", "steps"])
def test_an_explanation_is_copied_and_pickled(make, copied):
    with uncompiled():
        explanation = explain(make())
        found = copied(explanation)
        assert str(found) == str(explanation) and found._repr_html_() == explanation._repr_html_()
        assert [each.source for each in found.kernels] == [each.source for each in explanation.kernels]
        for result, wanted in zip(found.prepare()()[0], explanation.prepare()()[0], strict=True):
            np.testing.assert_array_equal(result, wanted)
