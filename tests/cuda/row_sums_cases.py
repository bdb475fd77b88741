"""Sums of rows that lanes keep in registers, for the simulator: of answers of persons to questions, and of choices."""

from contextlib import contextmanager
from unittest import mock

import numpy as np

from vecdist import lazy, logpmf, logsumexp
from vecdist.distributions import Bernoulli
from vecdist.passes import column_reductions
from vecdist.runtime.cuda.backend import Cuda

CHAINS = 5  # which stand for many


def many(lengths, number):
    """Lengths where there are so many chains, and not a few."""
    return {dim: number if length == CHAINS else length for dim, length in lengths.items()}


@contextmanager
def settings(number=column_reductions.CHAINS):
    """Inside, kernels are made for so many chains where there are a few."""
    chosen, sized = Cuda.chosen, Cuda.sized
    many_chosen = staticmethod(lambda part, lengths: chosen(part, many(lengths, number)))
    many_sized = staticmethod(lambda kernel, lengths, few=(): sized(kernel, many(lengths, number), few))
    with mock.patch.multiple(Cuda, chosen=many_chosen, sized=many_sized):
        yield


def answers(persons, questions, dtype, chains=CHAINS):
    """Their log densities, and the gradient in abilities and in what questions have."""
    rng = np.random.default_rng(persons)
    ability, level, slope = (rng.normal(size=(chains, n)).astype(dtype) for n in (persons, questions, questions))
    given = (rng.random((persons, questions)) < 0.5).astype(dtype)
    logit = np.exp(lazy(slope))[:, None] * (lazy(ability)[:, :, None] - lazy(level)[:, None])
    density = logpmf(Bernoulli(logit=logit), given)
    return (density.sum() - (lazy(level) ** 2).sum(),), (ability, level, slope)


def choices(rows, columns, kinds, dtype, chains=CHAINS):
    """A regression of choices, of few kinds."""
    rng = np.random.default_rng(rows)
    x, table = rng.normal(size=(rows, columns)).astype(dtype), rng.normal(size=(chains, columns, kinds)).astype(dtype)
    scores = (lazy(x)[:, :, None] * lazy(table)[:, None]).sum(axis=2)
    return ((scores[..., 0] - logsumexp(scores, axis=-1)).sum(),), (table,)


def levels(persons, questions, dtype):
    """The gradient in what questions have alone: no row of a chain has a sum of its own, but its columns."""
    (density,), (_, level, _) = answers(persons, questions, dtype)
    return (density,), (level,)


def cases():
    """What to compute and where to differentiate, in how many blocks, with how many lanes; ``None`` as launched."""
    every = {}
    for dtype, lanes in (("f4", None), ("f4", 8), ("f8", 32), ("f8", 2)):
        every[f"sums of rows of answers, {dtype}, {lanes}"] = answers(70, 3, dtype), 2, lanes
        every[f"sums of rows of choices, {dtype}, {lanes}"] = choices(67, 2, 3, dtype), 2, lanes
        every[f"sums of rows of levels, {dtype}, {lanes}"] = levels(66, 4, dtype), 2, lanes
    return every | {"sums of rows in many words": (answers(70, 21, "f8"), 2, None)}
