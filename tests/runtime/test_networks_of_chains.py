"""Networks of several chains: products of rows with matrices of each chain, in loops in loops; judged by NumPy."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit
from uncompiled import uncompiled

import vecdist
from vecdist.distributions import Bernoulli, Normal

ACTIVATIONS = {  # with their slopes, none of which is above 1
    "tanh": (np.tanh, lambda y, z: 1 - y**2),
    "softplus": (lambda z: np.logaddexp(0, z), lambda y, z: expit(z)),
    "wave": (np.sin, lambda y, z: np.cos(z)),
}


@dataclass
class Layer:
    """So many inputs and outputs; a bias or none; parameters of each chain, or of all."""

    inputs: int
    outputs: int
    activation: str = "tanh"
    bias: bool = False
    own: bool = True

    def arrays(self, rng, chains, dtype):
        lead = (chains,) if self.own else ()
        weights = rng.normal(size=(*lead, self.inputs, self.outputs)) / np.sqrt(self.inputs)
        return [weights.astype(dtype), *([rng.normal(size=(*lead, self.outputs)).astype(dtype)] if self.bias else [])]


@pytest.mark.parametrize("seed", range(20))
def test_random_networks(seed):
    check(*made(np.random.default_rng(seed), 700, 40))


@pytest.mark.parametrize("seed", range(10))
def test_random_networks_without_a_compiler(seed):
    """Which looks whether each element that is read or written is one of its array."""
    with uncompiled():
        check(*made(np.random.default_rng(1000 + seed), 90, 14))


def test_strips_of_rows_in_a_loop_over_chains_without_a_compiler():
    """A block has one chain here, and a strip more rows than blocks have chains."""
    layers = [Layer(6, 12, bias=True), Layer(12, 11)]
    with uncompiled():
        check(*network(np.random.default_rng(5), np.float32, 2, 70, layers, Bernoulli))


def made(rng, most_rows, most_units):
    dtype, family = rng.choice([np.float32, np.float64]), rng.choice([Bernoulli, Normal])
    chains, rows = int(rng.choice([1, 2, 5, 17, 64])), int(rng.integers(1, most_rows))
    sizes = [int(rng.integers(rng.choice([1, 9]), most_units)) for _ in range(rng.integers(2, 5))]
    layers = []
    for inputs, outputs in zip(sizes[:-1], sizes[1:], strict=True):
        layers.append(Layer(inputs, outputs, str(rng.choice([*ACTIVATIONS])), rng.random() < 0.5, rng.random() < 0.8))
    return network(rng, dtype, chains, rows, layers, family)


def network(rng, dtype, chains, rows, layers, family):
    """Arrays of layers, the weights of their last outputs, and data."""
    last = rng.normal(size=(chains, layers[-1].outputs)).astype(dtype)
    x = rng.normal(size=(rows, layers[0].inputs)).astype(dtype)
    y = (rng.integers(0, 2, rows) if family is Bernoulli else rng.normal(size=rows)).astype(dtype)
    return layers, [*(layer.arrays(rng, chains, dtype) for layer in layers), [last]], x, y, family


def check(layers, given, x, y, family):
    def density(x, y, *arrays):
        values = iter(arrays)
        for layer in layers:
            x = x @ next(values)
            x = ACTIVATIONS[layer.activation][0](x + next(values) if layer.bias else x)
        score, prior = x @ next(values), sum(-0.5 * (each**2).sum() for each in arrays)
        return vecdist.logpdf(Bernoulli(logit=score) if family is Bernoulli else Normal(score, 1.0), y).sum() + prior

    own = [*(layer.own for layer in layers), True]
    axes = [0 if mine else None for mine, arrays in zip(own, given, strict=True) for _ in arrays]
    flat = [each for arrays in given for each in arrays]
    wrt = tuple(2 + number for number, axis in enumerate(axes) if axis == 0)
    values, found = vecdist.compile(density, in_axes=(None, None, *axes)).value_and_grad(x, y, *flat, wrt=wrt)
    eps = np.finfo(x.dtype).eps
    for chain in range(len(values)):
        mine = [[np.float64(each[chain] if o else each) for each in a] for o, a in zip(own, given, strict=True)]
        value, size, gradients = by_hand(layers, mine, np.float64(x), np.float64(y), family)
        assert abs(values[chain] - value) <= 5 * eps * (1 + size)
        for one, number in zip(found, wrt, strict=True):
            gradient, size = gradients[number - 2]
            assert np.all(np.abs(one[chain] - gradient) <= 10 * eps * (1 + size))


def by_hand(layers, given, x, y, family):
    """The value of one chain, what its terms add up to in size, and gradients with their sizes."""
    known = []
    for layer, (weights, *bias) in zip(layers, given, strict=False):
        z, (function, derivative) = x @ weights + sum(bias), ACTIVATIONS[layer.activation]
        known.append((x, derivative(function(z), z)))
        x = function(z)
    ((last,),) = given[-1:]
    score, sizes = x @ last, 1 + np.abs(x) @ np.abs(last)
    if family is Bernoulli:
        terms, slopes = y * score - np.logaddexp(0, score), y - expit(score)
    else:
        terms, slopes = -0.5 * (y - score) ** 2 - 0.5 * np.log(2 * np.pi), y - score
    gradients = [(x.T @ slopes - last, np.abs(x).T @ (np.abs(slopes) + sizes) + np.abs(last))]
    total = (np.abs(terms) + (1 + np.abs(slopes)) * sizes).sum()
    slopes, bounds = np.outer(slopes, last), np.outer(np.abs(slopes) + sizes, np.abs(last))
    for (weights, *bias), (x, derivative) in zip(given[-2::-1], known[::-1], strict=True):
        slopes = slopes * derivative
        gradients[:0] = [(slopes.sum(0) - each, bounds.sum(0) + np.abs(each)) for each in bias]
        gradients[:0] = [(x.T @ slopes - weights, np.abs(x).T @ bounds + np.abs(weights))]
        slopes, bounds = slopes @ weights.T, bounds @ np.abs(weights).T
    prior = sum(0.5 * (each**2).sum() for arrays in given for each in arrays)
    return terms.sum() - prior, total + prior, gradients
