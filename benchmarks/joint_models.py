"""Whole models, as samplers call them: joint log densities of many chains, wide designs, crossed groups, many families.

Each is written once, in the words of a library, and timed with the gradient in all parameters beside NumPyro's
densities differentiated and jitted by JAX.  Values are judged by SciPy in float64, gradients by JAX's.  ``--step NAME``
measures only models whose name has that in it.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import timing
from contest import Contest, double, error, flat
from peers import on_host
from random_workloads import FAMILIES, OBSERVED, Words, judges, ours, theirs
from timing import Contender

SCALE = {"cpu": 16, "cuda": 1}  # how many times fewer rows


@dataclass(frozen=True)
class Model:
    """A joint log density of arrays: parameters, data, and what may be marked as constant data."""

    name: str
    formula: Callable[..., Any]
    parameters: Sequence[np.ndarray]
    data: Sequence[np.ndarray]
    marked: bool = False  # whether integers are timed as constant data, too
    moved: float = 0.0  # bytes that must be read


def chained(chains: int, *shape: int) -> tuple[int, ...]:
    """The shape of a parameter of one chain, or of many."""
    return (chains, *shape) if chains > 1 else shape


class Made:
    """Models from one generator of data, of a dtype, of so many times fewer rows."""

    def __init__(self, chosen: Namespace) -> None:
        self.rng = np.random.default_rng(21)
        self.dtype, self.less = chosen.dtype, SCALE[chosen.device]

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        return (scale * self.rng.standard_normal(shape, dtype=np.float32)).astype(self.dtype)

    def regression(self, family: str, chains: int, rows: int, columns: int) -> Model:
        """A linear predictor of each chain."""
        rows = max(64, rows // self.less)
        x = self.normal(rows, columns, scale=columns**-0.5)
        y = OBSERVED[FAMILIES[family][-1]](self.rng, rows).astype(self.dtype)

        def formula(w: Words, beta: Any, x: Any, y: Any) -> Any:
            predictor = x @ beta if chains == 1 else beta @ x.T
            return w.families[family](predictor, 1.0, y).sum() - 0.5 * (beta**2).sum()

        name = f"{family} regression of {rows} rows of {columns}, chains: {chains}"
        return Model(name, formula, [self.normal(*chained(chains, columns))], [x, y], moved=x.nbytes + y.nbytes)

    def answers(self, chains: int) -> Model:
        """Item response: persons and items, whose difficulties and discriminations are latent."""
        count, persons, items = 2**19 // self.less, 8000, 400
        person, item = (self.rng.integers(0, size, count, dtype=np.int32) for size in (persons, items))
        y = self.rng.integers(0, 2, count).astype(self.dtype)
        shapes = (persons, items, items)
        given = [self.normal(*chained(chains, size), scale=0.3) for size in shapes]

        def formula(w: Words, skill: Any, easy: Any, log_slope: Any, y: Any, person: Any, item: Any) -> Any:
            slope, level = w.m.exp(log_slope)[..., item], easy[..., item]
            prior = sum(-0.5 * (each**2).sum() for each in (skill, easy, log_slope))
            return w.families["Bernoulli"](slope * (skill[..., person] - level), 1.0, y).sum() + prior

        name = f"item response of {count} answers, chains: {chains}"
        return Model(name, formula, given, [y, person, item], marked=True)

    def crossed(self) -> Model:
        """Three groupings that cross."""
        rows, sizes = 2**22 // self.less, (20_000, 300, 20)
        groups = [self.rng.integers(0, size, rows, dtype=np.int32) for size in sizes]
        given = [self.normal(size, scale=0.5) for size in sizes] + [np.asarray(0.1, self.dtype)]
        y = self.normal(rows)

        def formula(w: Words, a: Any, b: Any, c: Any, log_s: Any, y: Any, first: Any, second: Any, third: Any) -> Any:
            mean = a[first] + b[second] + c[third]
            prior = sum(-0.5 * (each**2).sum() for each in (a, b, c))
            return w.families["Normal"](mean, w.m.exp(log_s), y).sum() + prior

        name = f"three crossed effects of {rows} rows"
        return Model(name, formula, given, [y, *groups], marked=True, moved=4 * y.nbytes)

    def joint(self, count: int) -> Model:
        """Likelihoods of many families, each of parameters of its own."""
        names = [[*FAMILIES][place % len(FAMILIES)] for place in range(count)]
        rows = 2**17 // self.less
        given = [np.asarray(value, self.dtype) for value in self.normal(2 * count, scale=0.3)]
        data = [OBSERVED[FAMILIES[name][-1]](self.rng, rows).astype(self.dtype) for name in names]

        def formula(w: Words, *arrays: Any) -> Any:
            e, s, x = arrays[:count], arrays[count : 2 * count], arrays[2 * count :]
            total = sum(w.families[name](*each).sum() for name, *each in zip(names, e, map(w.m.exp, s), x, strict=True))
            return total - 0.5 * sum(each**2 for each in arrays[: 2 * count])

        return Model(f"{count} likelihoods of {rows}", formula, given, data, moved=count * data[0].nbytes)

    def all(self) -> Iterator[Model]:
        """The models, one at a time."""
        for chains in (1, 2, 4, 8):
            yield self.regression("Bernoulli", chains, 2**21, 24)
        yield self.regression("Bernoulli", 1, 2**15, 1024)
        yield self.regression("Bernoulli", 1, 2**13, 4096)
        for chains in (1, 4, 16, 64, 256):
            yield self.regression("Poisson", chains, 20_000 * (self.less if chains < 16 else 1), 12)
        for chains in (1, 8, 64):
            yield self.answers(chains)
        yield self.crossed()
        yield self.joint(6)
        yield self.joint(24)


def compared(model: Model, chosen: Namespace) -> Contest:
    """The contest of a model, judged by JAX's gradients and by SciPy's value."""
    given = [*model.parameters, *model.data]
    return Contest(model.name, chosen, given, len(model.parameters), len(model.data[0]), moved=model.moved, unit="rows")


def by_vecdist(contest: Contest, model: Model, marked: bool) -> Contender:
    """The integers arguments, or marked as constant data."""
    import vecdist

    mine = ours()
    if not marked:
        return contest.vecdist(lambda *arrays: model.formula(mine, *arrays))
    library = timing.array_library(contest.device)
    constant = [vecdist.data(library.asarray(array)) for array in model.data if array.dtype.kind == "i"]
    changing = contest.given[: len(contest.given) - len(constant)]
    return contest.vecdist(lambda *arrays: model.formula(mine, *arrays, *constant), changing)


def compare(model: Model, chosen: Namespace, other: Words, judge: Words) -> None:
    """Time a model, and print how far it is from its judges."""
    contest, results = compared(model, chosen), dict[str, list[np.ndarray]]()
    contenders = {
        "vecdist": lambda: by_vecdist(contest, model, False),
        "vecdist, groups marked as data": lambda: by_vecdist(contest, model, True),
        "NumPyro": lambda: contest.jax(lambda *arrays: model.formula(other, *arrays)),
    }
    if not model.marked:
        contenders.pop("vecdist, groups marked as data")

    def kept(name: str, result: Any) -> str:
        results[name] = [on_host(each) for each in flat(result)]
        return ""

    entries = {name: timing.attempt(build, partial(kept, name))[0] for name, build in contenders.items()}
    truth = model.formula(judge, *double(contest.given))
    notes = {name: apart(results[name], results.get("NumPyro"), truth) if name in results else "" for name in entries}
    timing.race(entries, chosen.device)
    contest.report(entries, notes)


def main(chosen: Namespace) -> None:
    """Time every model, or those that are asked for."""
    words = theirs(), judges()
    for model in Made(chosen).all():
        if not chosen.step or chosen.step in model.name:
            compare(model, chosen, *words)


def apart(found: list[np.ndarray], peer: list[np.ndarray] | None, truth: Any) -> str:
    """How far a value is from SciPy's, and gradients from the peer's."""
    gradients = [error(f, p, False) for f, p in zip(found[1:], (peer or found)[1:], strict=True)]
    return f"{error(found[0], np.asarray(truth), False):.0e}, {max(gradients):.0e}"


if __name__ == "__main__":
    main(timing.options(__doc__, {"cpu": 1, "cuda": 1}))
