"""Products of matrices as sums: the same values, and no product left."""

import numpy as np
import pytest
from reference import interpreted_bound, ops

from vecdist import lazy
from vecdist.graph.leaves import leaf
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of
from vecdist.passes.products_as_loops import products_as_loops


@pytest.mark.usefixtures("small_products_are_calls")
def test_products_and_their_derivatives_become_sums():
    rng = np.random.default_rng(2)
    a, b, c = rng.normal(size=(6, 5)), rng.normal(size=(5, 7)), rng.normal(size=(7, 6))
    bound = bind(((np.exp(lazy(a) @ lazy(b)) @ lazy(c)).sum().node, leaf(a), leaf(b)))
    graph = gradient_of(bound.roots)
    assert "product" in ops(graph)
    loops = products_as_loops(graph)
    assert "product" not in ops(loops)
    for found, wanted in zip(interpreted_bound(bound, loops), interpreted_bound(bound, graph), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
