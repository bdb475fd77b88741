"""Models that people write for one chain, for many: a value and a gradient of each chain, beside NumPyro mapped by JAX.

They are small, as most are: some hundred or thousand data, and a few parameters to a few hundred for each chain.  They
are written once, in the words of a library; ``in_axes`` and ``vmap`` add the axis of chains.  Values are judged by
SciPy in float64, gradients by JAX's.  ``--step NAME`` measures only models whose name has that in it.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import timing
from contest import Contest, double, flat
from joint_models import apart
from peers import on_host
from random_workloads import Words, judges, ours, theirs

CHAINS = {"cpu": (1, 64), "cuda": (16, 256, 4096)}


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
        return self.rng.normal(size=shape).astype(self.dtype)

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

    def all(self) -> Iterator[Model]:
        """The models, one at a time."""
        for made in (
            self.survival, self.inflated, self.mixture, self.groups, self.net, self.factors, self.distances
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

    def kept(name: str, result: Any) -> str:
        results[name] = [on_host(each) for each in flat(result)]
        return ""

    contenders = {"vecdist": mine, "NumPyro": mapped}
    entries = {name: timing.attempt(build, partial(kept, name))[0] for name, build in contenders.items()}
    rows = zip(*double(given), strict=True)
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
