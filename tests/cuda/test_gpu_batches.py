"""Batches of chains on a GPU: what they find is what is found of all chains at once, the same in every run."""

from unittest import mock

import models_of_chains
import numpy as np
import pytest

import vecdist.interop
from vecdist.codegen.cuda import batches
from vecdist.runtime import pipeline
from vecdist.runtime.batched import Batched
from vecdist.runtime.cache import of_structures

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.cuda
BY_INDEX = {"groups", "words"}  # which add up by index, in any order


@pytest.fixture
def small(monkeypatch):
    """Batches of 256 chains, or fewer; those that were prepared."""
    found = []

    def prepared(self, lengths, *rest, **options):
        found.append(self.batch.starts(lengths))
        return plain(self, lengths, *rest, **options)

    plain = Batched.prepared
    monkeypatch.setattr(Batched, "prepared", prepared)
    for name, number in {"CACHE": 1, "WORTH": 1, "LEAST": 256, "ENOUGH": 256}.items():
        monkeypatch.setattr(batches, name, number)
    with mock.patch.multiple(pipeline, **{name: of_structures() for name in ("_launches", "_plans")}):
        yield found


@pytest.mark.parametrize("name", models_of_chains.MODELS)
def test_models_are_as_on_the_cpu(small, name):
    density = models_of_chains.density(name)
    x = models_of_chains.points(density, 700)
    given = cupy.asarray(x)
    (value, gradient), again = (density.logdensity_and_gradient(given) for _ in range(2))
    wanted = density.logdensity_and_gradient(x)
    np.testing.assert_allclose(value.get(), wanted[0], rtol=1e-10)
    np.testing.assert_allclose(gradient.get(), wanted[1], rtol=1e-8, atol=1e-10 * np.abs(wanted[1]).max())
    if name not in BY_INDEX:
        assert bool((again[0] == value).all())
        assert bool((again[1] == gradient).all())


def net(first, second, x, wanted):
    found = np.tanh(np.tanh(x @ first) @ second)
    return (found * wanted).sum() - vecdist.logsumexp(found, axis=-1).sum() - 0.5 * (first**2).sum()


@pytest.fixture
def arrays():
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape) for shape in ((777, 2, 3), (777, 3, 3), (40, 2), (40, 3))]


def test_batches_are_taken(small, arrays):
    f = vecdist.compile(net, in_axes=(0, 0, None, None))
    given = [cupy.asarray(array) for array in arrays]
    found, again = (f.value_and_grad(*given, wrt=(0, 1)) for _ in range(2))
    value, slopes = f.value_and_grad(*arrays, wrt=(0, 1))
    assert small == [[0, 256, 512, 521]]
    for mine, same, wanted in zip((found[0], *found[1]), (again[0], *again[1]), (value, *slopes), strict=True):
        np.testing.assert_allclose(mine.get(), wanted, rtol=1e-10, atol=1e-12)
        assert bool((mine == same).all())


def test_graphs_hold_them(small, arrays):
    """What a stream captures of a call is launched again by each replay, on what then lies in its arrays."""
    f = vecdist.compile(net, in_axes=(0, 0, None, None))
    given = [cupy.asarray(array) for array in arrays]
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        f.value_and_grad(*given, wrt=(0, 1))
        stream.begin_capture()
        value, slopes = f.value_and_grad(*given, wrt=(0, 1))
        graph = stream.end_capture()
        given[0] *= 0.5
        graph.launch(stream)
    stream.synchronize()
    wanted, derived = f.value_and_grad(0.5 * arrays[0], *arrays[1:], wrt=(0, 1))
    assert small
    for mine, right in zip((value, *slopes), (wanted, *derived), strict=True):
        np.testing.assert_allclose(mine.get(), right, rtol=1e-10, atol=1e-12)


@pytest.mark.clients
@pytest.mark.filterwarnings("ignore")
def test_jax_launches_one_after_another(small, arrays):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    f = vecdist.interop.jax.function(vecdist.compile(net))
    mapped = jax.jit(jax.vmap(jax.grad(f, argnums=(0, 1)), (0, 0, None, None)))
    found = mapped(*(jax.device_put(array, jax.devices("gpu")[0]) for array in arrays))
    _, wanted = vecdist.compile(net, in_axes=(0, 0, None, None)).value_and_grad(*arrays, wrt=(0, 1))
    assert small
    for mine, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(mine), right, rtol=1e-10, atol=1e-12)
