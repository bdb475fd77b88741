"""Random functions of chains on a GPU, each of which a block takes through all loops, as on the CPU."""

import numpy as np
import pytest
import random_chains

from vecdist import value_and_grad

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("seed", range(16))
def test_random_functions_of_chains(seed):
    import cupy

    lengths = (1, 7, 33, 70, 300)
    with random_chains.settings():
        (total, _), wrt = random_chains.case(seed, lengths, cupy.asarray)[0]
        found = [value_and_grad(total, wrt=tuple(wrt)) for _ in range(2)]
    (other, _), given = random_chains.case(seed, lengths)[0]
    value, slopes = value_and_grad(other, wrt=tuple(given))
    tolerance = 2e-4 if given[0].dtype == np.float32 else 1e-10
    for mine, own in found:
        for each, wanted in zip((mine, *own), (value, *slopes), strict=True):
            scale = max(1.0, float(np.abs(wanted).max()))
            np.testing.assert_allclose(cupy.asnumpy(each), wanted, rtol=tolerance, atol=tolerance * scale)
    for each, again in zip(found[0][1], found[1][1], strict=True):
        assert cupy.array_equal(each, again)  # in every run
