"""Models of many chains on a GPU: values and gradients of each chain as on the CPU, the same in every run."""

import models_of_chains
import numpy as np
import pytest

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.cuda
BY_INDEX = {"groups", "words"}  # which add up by index, in any order


@pytest.mark.parametrize("name", models_of_chains.MODELS)
def test_chains_are_as_on_the_cpu(name):
    density = models_of_chains.density(name)
    for chains in (1, 5, 256, 1000):
        x = models_of_chains.points(density, chains)
        given = cupy.asarray(x)
        (value, gradient), again = (density.logdensity_and_gradient(given) for _ in range(2))
        wanted = density.logdensity_and_gradient(x)
        np.testing.assert_allclose(value.get(), wanted[0], rtol=1e-10)
        scale = np.abs(wanted[1]).max()
        np.testing.assert_allclose(gradient.get(), wanted[1], rtol=1e-8, atol=1e-10 * scale)
        if name not in BY_INDEX:
            assert bool((again[0] == value).all())
            assert bool((again[1] == gradient).all())
