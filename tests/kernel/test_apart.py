"""Along which axis a kernel may go piece by piece: judged by what the interpreter finds of a piece alone."""

import numpy as np
import pytest
import random_tensors
from reference import interpreted

import vecdist
from vecdist import distributions, lazy, logpdf
from vecdist.kernel.apart import Batch, axis_apart
from vecdist.lazy.array import LazyArray
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.batched import Chains
from vecdist.passes.bind import bind
from vecdist.passes.order import Structure, derived
from vecdist.passes.vmap import vmap
from vecdist.runtime.base import Backend
from vecdist.runtime.pipeline import scheduled, values

CHAINS = 6
RNG = np.random.default_rng(0)
OWN, COLUMN, DATA, LEVELS = (RNG.normal(size=shape) for shape in ((CHAINS, 4), (CHAINS, 1), (5, 4), (4,)))
KINDS = RNG.integers(0, 4, 5)


def nests(roots, derivation=values):
    bound = bind(roots)
    found = derived(Structure(bound.roots, derivation, "nan"), ())
    return scheduled(found, Backend.chosen(found, bound.lengths)), bound.lengths


def length_apart(roots, derivation=values):
    kernel, lengths = nests(roots, derivation)
    return lengths[dim] if (dim := axis_apart(kernel)) else 0


def softmax(x, axis):
    return x - vecdist.logsumexp(x, axis=axis, keepdims=True)


APART = {
    "elements": lambda x, _c: np.exp(x) + LEVELS,
    "sums of rows": lambda x, _c: (x**2).sum(-1),
    "products": lambda x, _c: (lazy(DATA) @ x[:, :, None])[..., 0],
    "of all data": lambda x, c: (x[:, None] * DATA + c[:, None]).sum((-1, -2)),
    "shares": lambda x, _c: softmax(x, -1),
    "running sums": lambda x, _c: np.cumsum(x, axis=-1),
    "levels of kinds": lambda x, _c: x[:, KINDS].sum(-1),
    "backwards": lambda x, _c: x[:, ::-1],
    "densities": lambda x, c: logpdf(distributions.Normal(c, 1.0), x).sum(-1),
    "what others share": lambda x, _c: x * softmax(lazy(DATA), 0).sum(0),
}
TOGETHER = {
    "sums of columns": lambda x, _c: x.sum(0),
    "one sum": lambda x, _c: x.sum(),
    "apart from the mean": lambda x, _c: x - x.mean(0),
    "shares of columns": lambda x, _c: softmax(x, 0),
    "running sums": lambda x, _c: np.cumsum(x, axis=0),
    "running products backwards": lambda x, _c: np.cumprod(x[::-1], axis=0),
    "backwards": lambda x, _c: x[::-1],
    "rows by index": lambda x, c: x[np.array([3, 1, 0, 2, 2, 5])] * c + x,
    "neighbours": lambda x, _c: x - np.roll(x, 1, axis=0),
    "pairs": lambda x, _c: x[:, None] - x[None],
    "products of pairs": lambda x, _c: x @ x.T,
    "sums of pairs": lambda x, _c: ((x[:, None] - x[None]) ** 2).sum((1, 2)),
    "columns": lambda x, _c: x.T * 2.0,
    "sums of columns, for each": lambda x, _c: x.sum(0) + x,
}


@pytest.mark.parametrize("name", APART)
def test_places_that_need_no_others(name):
    assert length_apart((APART[name](lazy(OWN), lazy(COLUMN)).node,)) == CHAINS


@pytest.mark.parametrize("name", TOGETHER)
def test_places_that_need_others(name):
    assert length_apart((TOGETHER[name](lazy(OWN), lazy(COLUMN)).node,)) in (0, 4)  # that of columns, or none


def test_results_of_which_one_has_no_such_axis():
    x = lazy(OWN)
    assert length_apart((x.sum(-1).node, (x * 2).node)) == CHAINS
    assert length_apart((x.sum(-1).node, x.sum().node)) == 0
    assert length_apart((x.sum(-1).node, (lazy(LEVELS) * 2).node)) == 0


def test_random_numbers_are_of_their_place():
    assert length_apart((vecdist.random.normal(7, (CHAINS, 4)).node,)) == 0


def of_chains(function, arrays):
    """A function of each chain of arrays, and these."""
    nodes, chains = [lazy(array).node for array in arrays], Chains((0,) * len(arrays))
    singles = chains.singles(nodes)
    value = function(*map(LazyArray, singles)).node
    (each,) = vmap((value,), dict(zip(singles, nodes, strict=True)))
    return (each, *nodes)


@pytest.mark.parametrize("seed", range(30))
def test_random_tensors_of_chains(seed):
    """What is found of each, with gradients, is what is found where there are fewer."""
    function = random_tensors.tensors(seed, longest=4)
    arrays = [np.stack([array + 0.1 * n for n in range(3)]) for array in function.arrays]
    whole, piece = (of_chains(function, given) for given in (arrays, [array[1:] for array in arrays]))
    assert length_apart(whole, gradient_of) == 3
    for wanted, found in zip(interpreted(whole, gradient_of), interpreted(piece, gradient_of), strict=True):
        np.testing.assert_array_equal(found, wanted[1:])


def test_batches():
    batch = Batch("n", 256)
    assert batch.of({"n": 1000, "m": 3}) == {"n": 256, "m": 3} and batch.of({"n": 7}) == {"n": 7}
    assert batch.starts({"n": 1024}) == [0, 256, 512, 768]
    assert batch.starts({"n": 1000}) == [0, 256, 512, 744] and batch.starts({"n": 7}) == [0]
