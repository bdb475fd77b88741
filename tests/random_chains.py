"""Random functions of a few chains, each of which a block takes through all loops."""

from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np

from vecdist import lazy, logsumexp
from vecdist.codegen.cuda import block_per_chain, jammed_rows, parted_chains

SEEDS = range(14)


def _mean(h, axis):
    return h.mean(axis=axis, keepdims=True)


STEPS = {  # what is made of rows of each chain, by what those have been and a few parameters of theirs
    "bend": lambda h, own: np.tanh(h) + 0.1 * own,
    "shares": lambda h, own: np.exp(h - logsumexp(h, axis=-1, keepdims=True)) * own,
    "apart from others": lambda h, own: h * own - _mean(h, -2),
    "apart from its mean": lambda h, own: (h - _mean(h, -1)) * own,
    "of one length": lambda h, own: h * own / np.sqrt(1.0 + (h**2).sum(axis=-2, keepdims=True)),
    "running sum": lambda h, own: np.sin(0.1 * np.cumsum(h * own, axis=-2)),
    "largest": lambda h, own: h - np.cos(own) * h.max(axis=-1, keepdims=True),
    "turned around": lambda h, own: np.cos(h[:, ::-1] * own),
}


def case(seed, lengths=(1, 7, 33, 70), place=np.asarray):
    """What is computed, in which arrays it is derived, and how many blocks there are; arrays have a ``place``."""
    rng = np.random.default_rng([20261129, seed])
    dtype = ("f8", "f4")[seed % 2]

    def drawn(*shape):
        return place(rng.normal(0.0, 0.6, shape).astype(dtype))

    chains, rows, width = (int(rng.choice(found)) for found in ([3, 4, 5], lengths, [1, 2, 5, 9]))
    x, y = drawn(rows, 2), drawn(rows, 1)
    wrt = [drawn(chains, 2, width)]
    values = lazy(x) @ lazy(wrt[0])
    for name in rng.choice([*STEPS, "mixed", "mixed"], rng.integers(2, 5)):
        if name == "mixed":
            wrt.append(drawn(chains, width, width))
            values = np.sin(values @ lazy(wrt[-1]))
        else:
            wrt.append(drawn(chains, 1, width))
            values = STEPS[str(name)](values, lazy(wrt[-1]))
    of_each = (values * y).sum(axis=(-1, -2))
    return ((of_each.sum(), of_each), tuple(wrt)), int(rng.choice([1, 2, 3]))


LINKS = {
    "tanh": np.tanh, "bell": lambda z: np.exp(-(z**2)), "softplus": lambda z: np.log(1.0 + np.exp(z)), "cosine": np.cos,
}  # fmt: skip


def answers(seed, lengths, dtype="f8", place=np.asarray):
    """A sum over rows and columns of each chain, which has parameters of both; these are derived in.

    Those of rows, or of columns, may be running sums, of which derivatives wait for those of all.
    """
    rng = np.random.default_rng([20261130, seed])
    chains, rows, columns = (int(each) for each in rng.choice(lengths, 3))

    def drawn(*shape):
        return place(rng.normal(size=shape).astype(dtype))

    own = [drawn(chains, rows, 1), drawn(chains, 1, columns), drawn(chains, 1, columns)]
    y = drawn(rows, columns)
    link, running = LINKS[str(rng.choice([*LINKS]))], rng.random(2) < 0.4
    first, second, third = map(lazy, own)
    first = np.cos(first) + np.cumsum(np.sin(first), axis=-2) if running[0] else first
    second = np.cos(second) + np.cumsum(np.sin(second), axis=-1) if running[1] else second
    values = link(np.exp(0.3 * third) * (first - second)) * y
    return (values.sum(), values.sum(axis=(-1, -2)) - 0.5 * (first**2).sum(axis=(-1, -2))), tuple(own)


def of_all():
    """Sums over all chains that another loop needs, which is behind a reduction of its own."""
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=300), rng.normal(size=(4, 5)), rng.normal(size=(4, 5))
    return ((np.fmod(lazy(x).min(), 1.0 + abs(lazy(y))) * lazy(weights)).sum(),), (x, y)


def cases():
    found = {f"block per chain {seed}": (*case(seed), 1) for seed in SEEDS}
    found |= {"block per chain of all": (of_all(), 2, 1)}
    kinds = {seed: ("f4", "f8")[seed % 2] for seed in range(6)}
    return found | {
        f"block per chain of answers {seed}": (answers(seed, (2, 3, 7, 40), dtype), 2, 1)
        for seed, dtype in kinds.items()
    }


@contextmanager
def settings():
    """All chains are worth a block, where these may have one; rows are enough, and long, to be written out."""
    least = {
        block_per_chain: {"CHAINS": 1, "GAIN": 0}, parted_chains: {"GAIN": 0}, jammed_rows: {"LEAST": 1, "LONG": 1},
    }  # fmt: skip
    with ExitStack() as stack:
        for module, numbers in least.items():
            stack.enter_context(mock.patch.multiple(module, **numbers))
        yield
