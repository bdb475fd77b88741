"""Kernels that run chains of NUTS in threads of their own compile, without a GPU, for models that hold data."""

import types as modules

import numpy as np
import pytest
from test_device_functions import HOPPER, cuda, registers  # noqa: F401

from vecdist import logpdf
from vecdist.distributions import Normal
from vecdist.runtime import folder
from vecdist.runtime.cuda import compiler
from vecdist.samplers.density import Target
from vecdist.samplers.run import Wanted
from vecdist.samplers.trees import growing, learning, moving, persistent, places
from vecdist.samplers.trees.chains import Chains


class Model:
    ndim = 10

    def __init__(self, spread=np.arange(1.0, 9.0)):  # noqa: B008
        self.spread = spread

    def trace(self, x):
        likelihood = logpdf(Normal(x[8] + np.exp(x[9]) * x[:8], self.spread), 3.0)
        return likelihood.sum() + logpdf(Normal(0.0, 1.0), x).sum()


def chains_of(count, metric="diagonal", ndim=10, draws=7, warmup=40):
    wanted = Wanted(count, draws, warmup, 0, metric, None, 0.8, None, False)
    start = np.random.default_rng(1).normal(size=(count, ndim))
    return Chains(wanted, 6, np.arange(count, dtype=np.uint64) * 977 + 5, start)


def code_of(model, metric="diagonal", most=1000):
    return persistent.code_of(Target.of(model), chains_of(40, metric), most)


@pytest.mark.parametrize("metric", ["diagonal", "dense"])
def test_a_kernel_of_chains_compiles(cuda, metric):  # noqa: F811
    name, code = code_of(Model(), metric).compiled(HOPPER)
    assert name.encode() in code and registers(code) <= 255
    assert code_of(Model(), most=7) is None


def test_a_kernel_is_kept_on_disk(cuda, monkeypatch):  # noqa: F811
    """For other data of the same shapes, too, which are its arguments; not for another metric."""
    found = code_of(Model()).compiled(HOPPER)
    assert any(found[0] in file.name for file, _ in folder.files(folder.wanted()))
    assert code_of(Model(), "dense").compiled(HOPPER)[0] != found[0]
    monkeypatch.setattr(compiler, "compile_written", None)  # compiles nothing more
    other = code_of(Model(np.linspace(2.0, 3.0, 8)))
    assert other.compiled(HOPPER) == found
    (given,) = (each for each in other.arguments(np) if np.size(each) == 8)
    np.testing.assert_array_equal(given, np.linspace(2.0, 3.0, 8))


class Pointer:
    """A pointer, as the kernel has them, in an array of NumPy."""

    def __init__(self, array, first=0):
        self.array, self.first = array.reshape(-1), first

    def __getitem__(self, place):
        return self.array[self.first + place]

    def __setitem__(self, place, value):
        self.array[self.first + place] = value


def by_numpy(point, slopes):
    x = np.array([point[place] for place in range(3)])
    for place, slope in enumerate(-x * [1.0, 4.0, 0.25]):
        slopes[place] = slope
    return (-0.5 * (x * x * [1.0, 4.0, 0.25]).sum(),)


def run_by_kernel(monkeypatch, chains, most):
    """What the kernel makes of chains, run as Python, a thread after another, until none has a gradient to ask for."""
    vectors, numbers, integers, keys, ends, positions, told, _ = chains.arrays
    grid = iter(())
    words = {
        "cuda": modules.SimpleNamespace(grid=lambda _: next(grid)), "room": lambda size: Pointer(np.zeros(size)),
        "whole": lambda size: Pointer(np.zeros(size, np.int64)), "density": by_numpy, "NDIM": 3, "SPACE": 12,
        "moved": lambda pointer, count: Pointer(pointer.array, pointer.first + count),
        "WORDS": vectors.shape[1], "DEEP": 6, "KIND": int(chains.integers[0, places.METRIC]),
    }  # fmt: skip
    for name, meaning in words.items():
        monkeypatch.setattr(persistent, name, meaning)
    for module in (growing, moving, learning):
        monkeypatch.setattr(module, "STRIDE", persistent.LANES)
    count, tiles = len(keys), [persistent.tiled(each) for each in (vectors, numbers, integers)]
    flat = [*map(Pointer, tiles), keys, ends, Pointer(positions), Pointer(told)]
    while (persistent.untiled(tiles[2], count)[:, places.PHASE] != places.DONE).any():
        grid = iter(range(2 * persistent.LANES))
        for _ in range(2 * persistent.LANES):
            persistent._chain(most, count, *flat)
    return [persistent.untiled(each, count) for each in tiles], positions, told


@pytest.mark.parametrize("metric", ["diagonal", "dense"])
def test_chains_of_the_kernel_are_those_of_the_machine(monkeypatch, metric):
    """In tiles of 32, by some gradients at a time: bit by bit."""
    mine, theirs = (chains_of(34, metric, 3, draws=3, warmup=12) for _ in range(2))
    vectors, numbers, integers, keys, ends, positions, told, seen = theirs.arrays
    slopes = np.empty(3)
    for place, key in enumerate(keys):
        v, n = vectors[place], integers[place]
        while n[places.PHASE] != places.DONE:
            (value,) = by_numpy(v[:3], slopes)
            state = v, v, numbers[place], n, key, ends, value, slopes
            growing.advance(*state, positions[place], told[place], seen[place])
    found, drawn, noted = run_by_kernel(monkeypatch, mine, 5)
    for one, other in zip((*found, drawn, noted), (vectors, numbers, integers, positions, told), strict=True):
        np.testing.assert_array_equal(one, other)
