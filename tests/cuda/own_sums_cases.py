"""Rows that add to sums of all rows themselves, beside what their elements add: for the simulator, at random."""

import numpy as np

from vecdist import lazy

OWN = {  # what rows add, by their effects
    "squares": lambda e, z: (e**2).sum(), "exponentials": lambda e, z: np.exp(e).sum(),
    "products": lambda e, z: (e * z).sum(), "two": lambda e, z: (e**2).sum() + np.cos(e * z).sum(),
}  # fmt: skip
ALONG = {  # and what their elements do
    "neighbours": lambda e, t: (t[:, 1:] * t[:, :-1] * e[:, None]).sum(),
    "turned": lambda e, t: np.sin(t[:, ::-1] + e[:, None]).sum(),
    "elements": lambda e, t: np.exp(-(t**2) * e[:, None] ** 2).sum(),
    "rows": lambda e, t: ((t * e[:, None]).sum(axis=1) ** 2).sum(),
    "diagonal": lambda e, t: np.diagonal(t).sum() + (t * e[:, None]).sum(),
}
WHOLE = {  # made of both
    "sum": lambda own, along: own + along, "function": lambda own, along: np.tanh(0.01 * along) - own,
    "product": lambda own, along: np.cos(0.1 * own) * along,
}


def case(seed):
    """What is computed, in which arrays it is derived, and a number of lanes."""
    rng = np.random.default_rng([20261129, seed])
    rows, columns = int(rng.choice([1, 3, 20, 70])), int(rng.choice([1, 9, 65, 130, 300]))
    dtype = ("f8", "f4")[seed % 2]
    effects, others = (rng.normal(0.0, 0.5, rows).astype(dtype) for _ in range(2))
    table = rng.normal(0.0, 0.5, (rows, columns)).astype(dtype)
    own, along, whole = (made[str(rng.choice([*made]))] for made in (OWN, ALONG, WHOLE))
    e, z, t = map(lazy, (effects, others, table))
    total = whole(own(e, z), along(e, t))
    return ((total,), [(), (effects,), (effects, table)][rng.integers(3)]), 1, 1 << int(rng.integers(6))


def cases(seeds=range(16)):
    return {f"rows with sums of their own {seed}": case(seed) for seed in seeds}
