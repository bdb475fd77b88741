"""Chains on a GPU: one launch runs each chain in a thread of its own, through its own trees, draws and adaptation."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import warnings
from typing import Any, final

import numpy as np

from vecdist.samplers.density import Target
from vecdist.samplers.trees.chains import Chains
from vecdist.samplers.trees.compiled import decorated, meanings
from vecdist.samplers.trees.growing import advance
from vecdist.samplers.trees.places import DONE, PHASE, X

BLOCK = 32  # threads: chains wait for those of their warp alone, and few chains are spread over many processors
NDIM = 0  # in the kernel, the length of vectors
density: Any = None  # in the kernel, its function
cuda: Any = None  # in the kernel, Numba's


def _chain(most, v, a, n, keys, ends, positions, told):
    """A chain by at most so many gradients; rows of ``v``, ``a`` and ``n`` are numbers, each of all chains."""
    chain = cuda.grid(1)
    if chain >= keys.size:
        return
    point, slopes = cuda.local.array(NDIM, np.float64), cuda.local.array(NDIM, np.float64)
    vectors, numbers, integers = v[:, chain], a[:, chain], n[:, chain]
    drawn, noted = positions[chain], told[chain]
    for _ in range(most):
        if integers[PHASE] == DONE:
            break
        for place in range(NDIM):
            point[place] = vectors[X * NDIM + place]
        value = density(point, slopes)
        advance(vectors, numbers, integers, keys[chain], ends, value, slopes, drawn, noted)


def kernel_of(target: Target, most: int) -> Any:
    """The kernel of all chains; ``None`` where a thread does not compute the density alone, or reads more elements."""
    from vecdist.device import device_function
    from vecdist.runtime.cuda import compiler

    try:
        found = device_function(lambda x: target.value(x.node), [np.zeros(target.ndim)], gradient=True)
    except (TypeError, ValueError):
        return None
    if sum(leaf.array.size for leaf in found.made.leaves if not leaf.traced) > most:
        return None
    names = meanings(compiler.cuda.jit(device=True))
    names |= {"NDIM": target.ndim, "density": found, "cuda": compiler.cuda}
    return decorated(_chain, names, compiler.cuda.jit)


@final
class Persistent:
    """Turns of all chains, whose arrays lie on the GPU; ``collect`` brings what they have become back."""

    def __init__(self, kernel: Any, library: Any, chains: Chains) -> None:
        *state, keys, ends, positions, told = chains.arrays
        others = keys, ends, positions, told
        self.chains = chains
        self.state: list[Any] = [library.ascontiguousarray(library.asarray(each.T)) for each in state]
        self.others: list[Any] = [library.asarray(each) for each in others]
        with warnings.catch_warnings():  # of few blocks: there are as many as chains fill
            warnings.simplefilter("ignore")
            self.launch: Any = kernel[-(-len(chains.keys) // BLOCK), BLOCK]

    def __call__(self, most: int) -> None:
        self.launch(most, *self.state, *self.others)
        self.chains.integers[...] = self.state[2].T.get()

    def collect(self) -> None:
        """Bring back what chains have drawn and learnt."""
        chains = self.chains
        chains.vectors[...], chains.numbers[...] = (each.T.get() for each in self.state[:2])
        for mine, there in zip((chains.positions, chains.told), self.others[2:], strict=True):
            mine.reshape(len(chains.keys), -1)[...] = there.get()
