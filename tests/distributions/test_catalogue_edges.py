"""The limits at the ends of supports and at degenerate parameters, of every family that has them."""

import numpy as np
import pytest
import test_edges
from edge_cases import EDGES, UNBOUNDED

from vecdist.distributions import FAMILIES

IDS = [f"{name}-{'-'.join(f'{k}={v:g}' for k, v in given.items())}-x={x:g}" for name, given, x, _, _ in EDGES]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("edge", EDGES, ids=IDS)
def test_limits(interpreter, edge, dtype):
    test_edges.assert_edge(*edge, dtype)


def test_every_family_has_edges():
    assert {name for name, *_ in [*EDGES, *test_edges.EDGES]} | UNBOUNDED == set(FAMILIES)
