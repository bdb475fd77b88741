"""Random functions of chains on a GPU, each of which a block takes through all loops, as on the CPU."""

import numpy as np
import pytest
import random_chains

from vecdist import value_and_grad

pytestmark = pytest.mark.cuda


def assert_as_on_the_cpu(made):
    """A function of chains, which is ``made`` of arrays in a place, has its values and derivatives, in every run."""
    import cupy

    with random_chains.settings():
        (total, _), wrt = made(cupy.asarray)
        found = [value_and_grad(total, wrt=tuple(wrt)) for _ in range(2)]
    (other, _), given = made(np.asarray)
    value, slopes = value_and_grad(other, wrt=tuple(given))
    tolerance = 2e-4 if given[0].dtype == np.float32 else 1e-10
    for mine, own in found:
        for each, wanted in zip((mine, *own), (value, *slopes), strict=True):
            scale = max(1.0, float(np.abs(wanted).max()))
            np.testing.assert_allclose(cupy.asnumpy(each), wanted, rtol=tolerance, atol=tolerance * scale)
    for each, again in zip(found[0][1], found[1][1], strict=True):
        assert cupy.array_equal(each, again)


@pytest.mark.parametrize("seed", range(16))
def test_random_functions_of_chains(seed):
    assert_as_on_the_cpu(lambda place: random_chains.case(seed, (1, 7, 33, 70, 300), place)[0])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("seed", range(12))
def test_random_answers(seed, dtype):
    assert_as_on_the_cpu(lambda place: random_chains.answers(seed, (1, 3, 20, 70, 200), dtype, place))
