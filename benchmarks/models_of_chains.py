"""Models that people write for one chain, for many: a value and a gradient of each chain, beside NumPyro mapped by JAX.

They are small, as most are: some hundred or thousand data, and a few parameters to a few hundred for each chain.  They
are written once, in the words of a library; ``in_axes`` and ``vmap`` add the axis of chains.  Values are judged by
SciPy in float64, gradients by JAX's, both of 256 chains at most.  ``--step NAME`` measures only models whose name has
that in it.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.special
import timing
from contest import Contest, double, flat
from joint_models import apart
from peers import on_host
from random_workloads import Words, judges, ours, theirs

CHAINS = {"cpu": (1, 64), "cuda": (16, 256, 4096, 65536)}
JUDGED = 256  # of these, one among others


@dataclass(frozen=True)
class Model:
    """A log density of the parameters of one chain, which have these shapes, and of data."""

    name: str
    formula: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    data: Sequence[np.ndarray]


class Made:
    """The models, of a dtype."""

    def __init__(self, dtype: Any) -> None:
        self.rng, self.dtype = np.random.default_rng(5), dtype

    def normal(self, *shape: int) -> np.ndarray:
        return self.typed(self.rng.normal(size=shape))

    def typed(self, values: np.ndarray) -> np.ndarray:
        return values.astype(self.dtype)

    def survival(self) -> Model:
        """Times until something happens, by three predictors."""
        t = (0.05 + self.rng.weibull(1.5, 800)).astype(self.dtype)

        def formula(w: Words, slopes: Any, log_shape: Any, x: Any, t: Any) -> Any:
            return w.families["Weibull"](x @ slopes, w.m.exp(log_shape), t).sum() - 0.5 * (slopes**2).sum()

        return Model("Weibull regression", formula, [(3,), ()], [self.normal(800, 3), t])

    def inflated(self) -> Model:
        """Counts, some of which are zero for another reason."""
        y = (self.rng.poisson(2.0, 1000) * self.rng.integers(0, 2, 1000)).astype(self.dtype)

        def formula(w: Words, slopes: Any, gates: Any, x: Any, y: Any) -> Any:
            gate, counts = x @ gates, w.families["Poisson"](x @ slopes, 1.0, y)
            never, other = -w.m.logaddexp(0.0, -gate), -w.m.logaddexp(0.0, gate) + counts
            both = w.m.where(y == 0.0, w.m.logaddexp(never, other), other)
            return both.sum() - 0.5 * ((slopes**2).sum() + (gates**2).sum())

        return Model("zero-inflated Poisson regression", formula, [(3,), (3,)], [self.normal(1000, 3), y])

    def mixture(self) -> Model:
        """Two normals."""

        def formula(w: Words, means: Any, log_scales: Any, logit: Any, y: Any) -> Any:
            scales = w.m.exp(log_scales)
            each = [w.families["Normal"](means[k], scales[k], y) for k in (0, 1)]
            first, second = -w.m.logaddexp(0.0, -logit), -w.m.logaddexp(0.0, logit)
            return w.m.logaddexp(first + each[0], second + each[1]).sum() - 0.5 * (means**2).sum()

        return Model("mixture of two normals", formula, [(2,), (2,), ()], [self.normal(1000)])

    def groups(self) -> Model:
        """Levels and slopes of 85 groups."""
        group = self.rng.integers(0, 85, 919).astype(np.int32)

        def formula(w: Words, each: Any, log_scale: Any, log_noise: Any, x: Any, y: Any, group: Any) -> Any:
            own = each * w.m.exp(log_scale)
            predictor = own[:, 0][group] + own[:, 1][group] * x
            return w.families["Normal"](predictor, w.m.exp(log_noise), y).sum() - 0.5 * (each**2).sum()

        return Model("levels and slopes of groups", formula, [(85, 2), (2,), ()], [*self.normal(2, 919), group])

    def net(self) -> Model:
        """Two layers of ten."""
        y = self.rng.integers(0, 2, 500).astype(self.dtype)

        def formula(w: Words, first: Any, bias: Any, second: Any, last: Any, x: Any, y: Any) -> Any:
            values = w.m.tanh(w.m.tanh(x @ first + bias) @ second)
            prior = sum(-0.5 * (each**2).sum() for each in (first, bias, second, last))
            return w.families["Bernoulli"](values @ last, 1.0, y).sum() + prior

        return Model("net of two layers", formula, [(6, 10), (10,), (10, 10), (10,)], [self.normal(500, 6), y])

    def factors(self) -> Model:
        """Three factors of 200 rows."""

        def formula(w: Words, loads: Any, scores: Any, log_noise: Any, y: Any) -> Any:
            prior = -0.5 * ((loads**2).sum() + (scores**2).sum())
            return w.families["Normal"](scores @ loads.T, w.m.exp(log_noise), y).sum() + prior

        return Model("factors", formula, [(10, 3), (200, 3), (10,)], [self.normal(200, 10)])

    def distances(self) -> Model:
        """Links of sixty points in a plane."""
        links = np.triu(self.rng.integers(0, 2, (60, 60)), 1).astype(self.dtype)
        above = np.triu(np.ones((60, 60), self.dtype), 1)

        def formula(w: Words, places: Any, level: Any, links: Any, above: Any) -> Any:
            apart = w.m.sqrt(((places[:, None] - places[None]) ** 2).sum(-1) + 1e-3)
            return (w.families["Bernoulli"](level - apart, 1.0, links) * above).sum() - 0.5 * (places**2).sum()

        return Model("distances of points", formula, [(60, 2), ()], [links, above])

    def abundance(self) -> Model:
        """Animals of a hundred places, of which five visits counted some (an N-mixture)."""
        there = self.rng.poisson(6.0, 100)
        counts = self.rng.binomial(there[:, None], 0.4, (100, 5))
        sizes = np.arange(40.0)
        ways = scipy.special.gammaln(sizes + 1) - scipy.special.gammaln(np.maximum(sizes - counts[..., None], 0.0) + 1)
        ways = np.where(sizes >= counts[..., None], ways - scipy.special.gammaln(counts + 1)[..., None], -np.inf)
        given = [ways.sum(1), counts.sum(1, keepdims=True), sizes]

        def formula(w: Words, slopes: Any, logit: Any, x: Any, ways: Any, seen: Any, sizes: Any) -> Any:
            found, missed = -w.m.logaddexp(0.0, -logit), -w.m.logaddexp(0.0, logit)
            each = w.families["Poisson"]((x @ slopes)[:, None], 1.0, sizes)
            each = each + ways + seen * found + (5.0 * sizes - seen) * missed
            return w.logsumexp(each, axis=-1).sum() - 0.5 * (slopes**2).sum() - 0.5 * logit**2

        return Model("counts of hidden numbers", formula, [(3,), ()], [self.normal(100, 3), *map(self.typed, given)])

    def annotators(self) -> Model:
        """Kinds of two hundred items, of which ten people say what they take them for (Dawid and Skene)."""
        said, people = self.rng.integers(0, 4, (200, 10)).astype(np.int32), np.arange(10, dtype=np.int32)

        def formula(w: Words, shares: Any, table: Any, said: Any, people: Any) -> Any:
            share = shares - w.logsumexp(shares, axis=-1)
            tables = table - w.logsumexp(table, axis=-1, keepdims=True)
            each = tables[people, :, said].sum(1)  # of items and kinds
            return w.logsumexp(share + each, axis=-1).sum() - 0.5 * (table**2).sum() - 0.5 * (shares**2).sum()

        return Model("kinds that people name", formula, [(4,), (10, 4, 4)], [said, people])

    def classes(self) -> Model:
        """One of four classes by five predictors."""
        wanted = np.eye(4)[self.rng.integers(0, 4, 300)]

        def formula(w: Words, slopes: Any, levels: Any, x: Any, wanted: Any) -> Any:
            found = x @ slopes + levels
            return (found * wanted).sum() - w.logsumexp(found, axis=-1).sum() - 0.5 * (slopes**2).sum()

        return Model("softmax regression", formula, [(5, 4), (4,)], [self.normal(300, 5), self.typed(wanted)])

    def items(self) -> Model:
        """Answers of 200 people to 20 questions, with two parameters each."""

        def formula(w: Words, abilities: Any, levels: Any, log_slopes: Any, y: Any) -> Any:
            logits = w.m.exp(log_slopes) * (abilities[:, None] - levels)
            prior = sum(-0.5 * (each**2).sum() for each in (abilities, levels, log_slopes))
            return w.families["Bernoulli"](logits, 1.0, y).sum() + prior

        answers = self.typed(self.rng.integers(0, 2, (200, 20)))
        return Model("two-parameter items", formula, [(200,), (20,), (20,)], [answers])

    def correlated(self) -> Model:
        """Counts of five kinds, whose logarithms are correlated."""
        below = np.tril(np.ones((5, 5)))

        def formula(w: Words, factor: Any, levels: Any, z: Any, y: Any, below: Any) -> Any:
            logs = levels + z @ (factor * below).T
            prior = sum(-0.5 * (each**2).sum() for each in (factor, levels, z))
            return w.families["Poisson"](logs, 1.0, y).sum() + prior

        counts = self.typed(self.rng.poisson(2.0, (60, 5)))
        return Model("correlated counts", formula, [(5, 5), (5,), (60, 5)], [counts, self.typed(below)])

    def sticks(self) -> Model:
        """A mixture of ten normals, whose shares are broken off a stick."""

        def formula(w: Words, logits: Any, means: Any, log_scales: Any, y: Any) -> Any:
            broken, left = -w.m.logaddexp(0.0, -logits), -w.m.logaddexp(0.0, logits)
            last = w.m.zeros(1, self.dtype)
            shares = w.m.concatenate([broken, last]) + w.m.concatenate([last, w.m.cumsum(left)])
            each = shares + w.families["Normal"](means, w.m.exp(log_scales), y[:, None])
            return w.logsumexp(each, axis=-1).sum() - 0.5 * (means**2).sum() - 0.5 * (logits**2).sum()

        return Model("mixture by a broken stick", formula, [(9,), (10,), (10,)], [self.normal(500)])

    def process(self) -> Model:
        """A Gaussian process at thirty places."""
        apart = (np.linspace(0.0, 4.0, 30)[:, None] - np.linspace(0.0, 4.0, 30)) ** 2

        def formula(w: Words, log_length: Any, log_scale: Any, log_noise: Any, apart: Any, same: Any, y: Any) -> Any:
            covariance = w.m.exp(2.0 * log_scale - 0.5 * apart * w.m.exp(-2.0 * log_length))
            covariance = covariance + same * (w.m.exp(2.0 * log_noise) + 1e-3)
            factor = w.m.linalg.cholesky(covariance)
            prior = -0.5 * (log_length**2 + log_scale**2 + log_noise**2)
            return prior - 0.5 * (y * w.m.linalg.solve(covariance, y)).sum() - w.m.log(w.m.diagonal(factor)).sum()

        given = [self.typed(apart), self.typed(np.eye(30)), self.normal(30)]
        return Model("Gaussian process", formula, [(), (), ()], given)

    def all(self) -> Iterator[Model]:
        """The models, one at a time."""
        for made in (
            self.survival, self.inflated, self.mixture, self.groups, self.net, self.factors, self.distances,
            self.abundance, self.annotators, self.classes, self.items, self.correlated, self.sticks, self.process,
        ):  # fmt: skip
            yield made()


def compare(model: Model, chains: int, chosen: Namespace, other: Words, judge: Words) -> None:
    """Time a model, and print how far it is from its judges."""
    rng = np.random.default_rng(6)
    given = [(0.3 * rng.normal(size=(chains, *shape))).astype(chosen.dtype) for shape in model.shapes]
    count, axes = len(given), (*[0] * len(given), *[None] * len(model.data))
    contest = Contest(model.name, chosen, [*given, *model.data], count, chains, unit="chains")

    def mapped() -> timing.Contender:
        import jax

        derived = jax.value_and_grad(partial(model.formula, other), tuple(range(count)))
        return contest.jitted(jax.vmap(derived, axes))

    def mine() -> timing.Contender:
        return contest.vecdist(partial(model.formula, ours()), in_axes=axes)

    results: dict[str, list[np.ndarray]] = {}
    judged = np.unique(np.linspace(0, chains - 1, JUDGED).astype(int))

    def kept(name: str, result: Any) -> str:
        results[name] = [on_host(each[judged]) for each in flat(result)]
        return ""

    contenders = {"vecdist": mine, "NumPyro": mapped}
    entries = {name: timing.attempt(build, partial(kept, name))[0] for name, build in contenders.items()}
    rows = zip(*double([each[judged] for each in given]), strict=True)
    truth = np.array([model.formula(judge, *row, *double(model.data)) for row in rows])
    notes = {name: apart(results[name], results.get("NumPyro"), truth) if name in results else "" for name in entries}
    timing.race(entries, chosen.device)
    contest.report(entries, notes)


def main(chosen: Namespace) -> None:
    """Time every model for some numbers of chains, or those that are asked for."""
    words = theirs(), judges()
    for model in Made(chosen.dtype).all():
        for chains in CHAINS[chosen.device]:
            if not chosen.step or chosen.step in model.name:
                compare(model, chains, chosen, *words)


if __name__ == "__main__":
    main(timing.options(__doc__, {"cpu": 1, "cuda": 1}))
