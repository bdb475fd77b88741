"""Random workloads beside NumPyro: how many times as fast, over models that nobody has tuned anything for.

A workload is a joint log density of one to three terms, each the likelihood of a random family over random rows, whose
predictor is a scalar, a slope, a product with a design or picked by groups, a mixture or a table, of one or more
chains.  Timed are its value and the gradient in all parameters; values are judged by SciPy in float64.
"""

from __future__ import annotations

import statistics
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import timing
from contest import Contest, double, error, flat
from peers import on_host
from timing import Contender

MOST = {"cpu": 2**20, "cuda": 2**25}  # elements of a term, of all chains together

OBSERVED: dict[str, Callable[[np.random.Generator, Any], np.ndarray]] = {
    "real": lambda rng, n: rng.normal(0.0, 1.5, n),
    "positive": lambda rng, n: 0.05 + rng.gamma(2.0, 1.0, n),
    "share": lambda rng, n: np.clip(rng.beta(2.0, 2.0, n), 0.01, 0.99),
    "count": lambda rng, n: np.minimum(rng.poisson(3.0, n), 20).astype(float),
    "either": lambda rng, n: rng.integers(0, 2, n).astype(float),
}
FAMILIES = {  # of a predictor e and a positive number s, in our words, NumPyro's and SciPy's
    "Normal": ("Normal(e, s)", "Normal(e, s)", "norm(e, s)", "real"),
    "StudentT": ("StudentT(2 + s, e, s)", "StudentT(2 + s, e, s)", "t(2 + s, e, s)", "real"),
    "Laplace": ("Laplace(e, s)", "Laplace(e, s)", "laplace(e, s)", "real"),
    "Logistic": ("Logistic(e, s)", "Logistic(e, s)", "logistic(e, s)", "real"),
    "Cauchy": ("Cauchy(e, s)", "Cauchy(e, s)", "cauchy(e, s)", "real"),
    "Gumbel": ("Gumbel(e, s)", "Gumbel(e, s)", "gumbel_r(e, s)", "real"),
    "LogNormal": ("LogNormal(e, s)", "LogNormal(e, s)", "lognorm(s, 0, exp(e))", "positive"),
    "Gamma": ("Gamma(s, exp(e))", "Gamma(s, exp(-e))", "gamma(s, 0, exp(e))", "positive"),
    "InverseGamma": ("InverseGamma(s, exp(e))", "InverseGamma(s, exp(e))", "invgamma(s, 0, exp(e))", "positive"),
    "Weibull": ("Weibull(s, exp(e))", "Weibull(exp(e), s)", "weibull_min(s, 0, exp(e))", "positive"),
    "Exponential": ("Exponential(exp(e))", "Exponential(exp(-e))", "expon(0, exp(e))", "positive"),
    "Beta": (*["Beta(s / (1 + exp(-e)), s / (1 + exp(e)))"] * 2, "beta(s / (1 + exp(-e)), s / (1 + exp(e)))", "share"),
    "Poisson": ("Poisson(exp(e))", "Poisson(exp(e))", "poisson(exp(e))", "count"),
    "NegativeBinomial": (
        "NegativeBinomial(mean=exp(e), dispersion=s)", "NegativeBinomial2(exp(e), s)", "nbinom(s, s / (s + exp(e)))",
        "count",
    ),
    "Bernoulli": ("Bernoulli(logit=e)", "BernoulliLogits(e)", "bernoulli(1 / (1 + exp(-e)))", "either"),
    "Binomial": ("Binomial(n=20, logit=e)", "BinomialLogits(e, 20)", "binom(20, 1 / (1 + exp(-e)))", "count"),
}  # fmt: skip


@dataclass(frozen=True)
class Words:
    """A library's array functions, and its families as functions of a predictor, a positive number and x."""

    m: Any
    logsumexp: Callable[..., Any]
    families: Mapping[str, Callable[..., Any]]


def ours() -> Words:
    """NumPy's functions, of lazy arrays."""
    import vecdist

    known = {**vecdist.distributions.FAMILIES, "exp": np.exp}
    made = {name: eval(f"lambda e, s: {ours}", known) for name, (ours, *_) in FAMILIES.items()}
    densities = {name: lambda e, s, x, each=each: vecdist.logpdf(each(e, s), x) for name, each in made.items()}
    return Words(np, vecdist.logsumexp, densities)


def theirs() -> Words:
    """NumPyro's families, and JAX's NumPy."""
    import jax
    import jax.numpy as jnp
    import numpyro.distributions

    known = {**vars(numpyro.distributions), "exp": jnp.exp}
    made = {name: eval(f"lambda e, s: {theirs}", known) for name, (_, theirs, *_) in FAMILIES.items()}
    densities = {name: lambda e, s, x, each=each: each(e, s).log_prob(x) for name, each in made.items()}
    return Words(jnp, jax.nn.logsumexp, densities)


def judges() -> Words:
    """SciPy's families, of NumPy's arrays."""
    import scipy.special
    import scipy.stats

    known = {**vars(scipy.stats), "exp": np.exp}
    made = {name: eval(f"lambda e, s: {judge}", known) for name, (_, _, judge, _) in FAMILIES.items()}

    def density(each: Callable[..., Any]) -> Callable[..., Any]:
        def called(e: Any, s: Any, x: Any) -> Any:
            found = each(e, s)
            return (found.logpmf if hasattr(found.dist, "pmf") else found.logpdf)(x)

        return called

    return Words(np, scipy.special.logsumexp, {name: density(each) for name, each in made.items()})


@dataclass
class Workload:
    """Arrays, the parameters first, and the terms that are added up: functions of words and of the arrays by name."""

    rng: np.random.Generator
    chains: int
    dtype: str
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    data: dict[str, np.ndarray] = field(default_factory=dict)
    terms: list[Callable[..., Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    size: int = 0

    def parameter(self, *shape: int) -> str:
        """The name of a new parameter, of which each chain has its own; a number has an axis for the rows then."""
        name = f"p{len(self.parameters)}"
        whole = (self.chains, *(shape or (1,))) if self.chains > 1 else shape
        self.parameters[name] = (0.3 * self.rng.normal(size=whole)).astype(self.dtype)
        return name

    def datum(self, values: np.ndarray) -> str:
        """The name of a new array of data."""
        name = f"d{len(self.data)}"
        self.data[name] = values.astype(self.dtype if values.dtype.kind == "f" else np.int32)
        return name

    def __call__(self, words: Words, arrays: Sequence[Any]) -> Any:
        """The joint log density."""
        given = dict(zip([*self.parameters, *self.data], arrays, strict=True))
        total = sum(term(words, given) for term in self.terms)
        return total + sum(-0.5 * (given[name] ** 2).sum() for name in self.parameters)

    def likelihood(self, most: int) -> None:
        """Add a term of a random family, predictor and number of rows."""
        rng = self.rng
        kind = str(rng.choice([*PREDICTORS, *WHOLE]))
        family = str(rng.choice([*FAMILIES]))
        rows = int(10 ** rng.uniform(1.5, np.log10(most / self.chains)))
        if kind in WHOLE:
            shown, predictor = WHOLE[kind](self, family, rows)
        else:
            shown, predictor = PREDICTORS[kind](self, rows, most)
            rows = next(iter(shown.values()), rows)
            scale, x = self.parameter(), self.datum(OBSERVED[FAMILIES[family][-1]](rng, rows))
            predicted = predictor
            predictor = lambda w, a: w.families[family](predicted(w, a), w.m.exp(a[scale]), a[x]).sum()  # noqa: E731
        self.terms.append(predictor)
        self.size += rows * self.chains
        self.said.append(f"{family} {kind} {list(shown.values())}")

    def of_each(self, count: int, parameters: int) -> list[str]:
        """The names of new parameters that there are so many of, as rows."""
        return [self.parameter(1, count) if self.chains > 1 else self.parameter(count) for _ in range(parameters)]


def mixture(work: Workload, family: str, rows: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """A mixture of a family's components."""
    count = int(work.rng.integers(2, 7))
    weight, e, s = work.of_each(count, 3)
    x = work.datum(OBSERVED[FAMILIES[family][-1]](work.rng, rows)[:, None])

    def term(w: Words, a: Mapping[str, Any]) -> Any:
        log_weight = a[weight] - w.logsumexp(a[weight], axis=-1, keepdims=True)
        return w.logsumexp(log_weight + w.families[family](a[e], w.m.exp(a[s]), a[x]), axis=-1).sum()

    return {"rows": rows, "components": count}, term


def table(work: Workload, family: str, rows: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """Rows of several columns, each of which has parameters of its own."""
    count = int(10 ** work.rng.uniform(0.3, 2.3))
    rows = max(2, rows // count)
    e, s = work.of_each(count, 2)
    x = work.datum(OBSERVED[FAMILIES[family][-1]](work.rng, (rows, count)))
    shown = {"rows": rows, "columns": count}
    return shown, lambda w, a: w.families[family](a[e], w.m.exp(a[s]), a[x]).sum()


def scalar(work: Workload, rows: int, most: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """One number for all rows."""
    e = work.parameter()
    return {"rows": rows}, lambda w, a: a[e]


def slope(work: Workload, rows: int, most: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """A straight line."""
    intercept, rise, z = work.parameter(), work.parameter(), work.datum(work.rng.normal(size=rows))
    return {"rows": rows}, lambda w, a: a[intercept] + a[rise] * a[z]


def design(work: Workload, rows: int, most: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """A product with a matrix."""
    columns = int(work.rng.choice([2, 4, 7, 10, 16, 32, 64, 200, 1000]))
    rows = max(16, min(rows, 4 * most // columns))
    beta, x = work.parameter(columns), work.datum(work.rng.normal(size=(rows, columns)) / np.sqrt(columns))
    if work.chains > 1:
        return {"rows": rows, "columns": columns}, lambda w, a: a[beta] @ a[x].T
    return {"rows": rows, "columns": columns}, lambda w, a: a[x] @ a[beta]


def groups(work: Workload, rows: int, most: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """An effect of each group."""
    count = int(10 ** work.rng.uniform(0.5, 4))
    effects, group = work.parameter(count), work.datum(work.rng.integers(0, count, rows))
    return {"rows": rows, "groups": count}, lambda w, a: a[effects][..., a[group]]


def crossed(work: Workload, rows: int, most: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """Effects of two groupings, and a slope of each group of the first."""
    (seen, first), (_, second) = groups(work, rows, most), groups(work, rows, most)
    shown, third = groups(work, rows, most)
    z = work.datum(work.rng.normal(size=rows))
    return seen | {"others": shown["groups"]}, lambda w, a: first(w, a) + second(w, a) + third(w, a) * a[z]


def latent(work: Workload, rows: int, most: int) -> tuple[dict[str, int], Callable[..., Any]]:
    """A parameter for each row."""
    own = work.parameter(rows)
    return {"rows": rows}, lambda w, a: a[own]


PREDICTORS = {each.__name__: each for each in (scalar, slope, design, groups, crossed, latent)}
WHOLE = {each.__name__: each for each in (mixture, table)}


def drawn(seed: int, chosen: Namespace) -> Workload:
    """The workload of a seed."""
    rng = np.random.default_rng(seed)
    work = Workload(rng, int(rng.choice([1, 1, 1, 2, 4, 8, 64])), chosen.dtype)
    for _ in range(rng.integers(1, 4)):
        work.likelihood(MOST[chosen.device])
    return work


def contested(work: Workload, chosen: Namespace) -> tuple[list[Contender], list[str]]:
    """Both libraries' value and gradient, each called once; how far the values are from SciPy's, and the rest apart."""
    given = [*work.parameters.values(), *work.data.values()]
    contest = Contest("", chosen, given, len(work.parameters), work.size)
    mine, other = ours(), theirs()
    entries = [contest.vecdist(lambda *arrays: work(mine, arrays)), contest.jax(lambda *arrays: work(other, arrays))]
    found, wanted = ([on_host(array) for array in flat(entry.warm())] for entry in entries)
    truth = work(judges(), double(given))
    apart = max(error(f, w, False) for f, w in zip(found[1:], wanted[1:], strict=True))
    return entries, [f"{each:.0e}" for each in (error(found[0], truth, False), error(wanted[0], truth, False), apart)]


def main(chosen: Namespace) -> None:
    """Draw, check and time workloads, and print them from the worst to the best."""
    rows = []
    for seed in range(chosen.size):
        work = drawn(seed, chosen)
        entries, errors = contested(work, chosen)
        timing.race(dict(enumerate(entries)), chosen.device)
        ratio = entries[1].median / entries[0].median
        told = f"{seed}: {work.chains} x " + "; ".join(work.said)
        times = map(timing.duration, [*(entry.median for entry in entries), *(entry.first for entry in entries)])
        rows.append((ratio, (told, timing.ratio(ratio), *times, *errors)))
        print(*rows[-1][1], flush=True)
    title = f"{chosen.size} random workloads of {chosen.dtype}, value and gradient"
    columns = ("chains x terms", "ratio", "vecdist", "NumPyro", "first call", "NumPyro's")
    standings(title, chosen.device, "NumPyro", (*columns, "error", "NumPyro's", "gradients apart"), rows)


def standings(
    title: str, device: str, peer: str, columns: Sequence[str], rows: Sequence[tuple[float, Sequence[str]]]
) -> None:
    """A table of rows from the worst ratio to the best, under how these are spread."""
    ratios = [ratio for ratio, _ in rows]
    tenths = statistics.quantiles(ratios, n=10)
    spread = ", ".join(map(timing.ratio, (min(ratios), tenths[0], statistics.median(ratios), tenths[-1], max(ratios))))
    behind = sum(ratio < 1.0 for ratio in ratios)
    said = f"times as fast as {peer}: least, tenth, median, ninetieth, most: {spread}; behind in {behind}"
    timing.heading(title, device, said)
    timing.table(columns, [row for _, row in sorted(rows, key=lambda row: row[0])])


if __name__ == "__main__":
    main(timing.options(__doc__, {"cpu": 200, "cuda": 200}))
