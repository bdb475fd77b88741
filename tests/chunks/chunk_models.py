"""Random models over rows, and ways to cut these: what a chunk computes is checked by the interpreter of graphs."""

import contextlib
import itertools
from types import SimpleNamespace
from unittest import mock

import dask.array as da
import numpy as np
import pyarrow
from pyarrow import parquet

import vecdist
from vecdist import lazy, logcdf, logpdf, logsumexp
from vecdist.distributions import Gamma, HalfNormal, Laplace, Normal
from vecdist.runtime import pipeline
from vecdist.runtime.chunks.work import Work
from vecdist.runtime.interpreter import interpret

ROWS, COLUMNS, GROUPS = 23, 3, 4


@contextlib.contextmanager
def chunks_by_interpreter():
    """Inside, what a step computes is what its graph means, and nothing is compiled."""

    def prepared(work, count, arrays):
        lengths = work.at(count)
        return lambda given: (interpret(work.step.roots, [*map(_array, given)], lengths), False)

    plan = SimpleNamespace(program=SimpleNamespace(source=None), kernel=None, primitives=(), lowered=None)
    with (
        mock.patch.object(Work, "prepared", prepared), mock.patch.object(Work, "plan", return_value=plan),
        mock.patch.object(pipeline, "_launches", type(pipeline._launches)(100)),
        mock.patch("vecdist.runtime.chunks.work._runs", type(pipeline._launches)(100)),
    ):
        yield


def _array(value):
    return np.empty(0) if value is None else np.asarray(value)


def arrays(rng):
    """Arrays with rows, and parameters without."""
    rows = {
        "x": rng.gamma(2.0, 1.0, ROWS), "y": rng.normal(size=ROWS), "m": rng.normal(size=(ROWS, COLUMNS)),
        "groups": rng.integers(-GROUPS, GROUPS, ROWS),
    }  # fmt: skip
    whole = {"a": np.array(1.7), "b": np.array([0.3, -0.5, 0.2]), "effects": rng.normal(size=GROUPS)}
    return rows, whole


TERMS = {
    "density": lambda x, a, **_: logpdf(Gamma(lazy(a), 1.5), x).sum(),
    "regression": lambda y, m, a, b, **_: logpdf(Normal(lazy(m) @ lazy(b), a), y).sum(),
    "groups": lambda y, groups, effects, a, **_: logpdf(Laplace(lazy(effects)[groups], a), y).sum(),
    "prior": lambda effects, a, **_: logpdf(Normal(0.0, lazy(a)), effects).sum(),
    "mean": lambda x, y, a, **_: ((lazy(y) - a * lazy(x).mean()) ** 2).sum(),
    "standardised": lambda x, a, **_: np.log1p(((lazy(x) - lazy(x).mean()) / lazy(x).std() * lazy(a)) ** 2).sum(),
    "logsumexp": lambda y, a, **_: logsumexp(lazy(y) * lazy(a)),
    "softmax": lambda x, y, a, **_: (vecdist.softmax(lazy(y) * lazy(a)) * x).sum(),
    "extremes": lambda x, m, a, **_: (lazy(a) * x).max() * (lazy(m) * lazy(a)).min(axis=0).sum(),
    "product": lambda x, a, **_: np.tanh(lazy(x) * lazy(a)).prod(),
    "columns": lambda m, b, **_: (np.sin(lazy(m) * lazy(b)).sum(axis=0) ** 2).sum(),
    "within rows": lambda m, a, b, **_: (logsumexp(lazy(m) * lazy(b), axis=1) * lazy(a)).sum(),
    "moments": lambda m, b, **_: (lazy(m).T @ (lazy(m) * lazy(b)))[0].sum(),
    "censored": lambda x, a, **_: logcdf(HalfNormal(lazy(a)), x).mean(),
    "picked columns": lambda m, b, **_: (lazy(m)[:, [0, 2]] * lazy(b)[[2, 0]]).sum(),
    "a running sum of each row": lambda m, b, **_: np.cumsum(lazy(m) * lazy(b), axis=1).sum(),
    "draws": lambda y, a, **_: (lazy(y) * vecdist.random.normal(3, ROWS) * lazy(a)).sum(),
    "rows in memory": lambda y, a, **_: (lazy(y) * np.arange(ROWS) * lazy(a)).sum(),
}


def model(rng):
    """A sum of a few terms."""
    chosen = rng.choice(sorted(TERMS), size=rng.integers(1, 4), replace=False)
    return lambda given: sum(TERMS[name](**given) for name in chosen), chosen


def counts(rng):
    """Lengths of chunks, one of them perhaps 1 or 0."""
    cuts = np.sort(rng.integers(0, ROWS + 1, rng.integers(1, 5)))
    return tuple(int(n) for n in np.diff([0, *cuts, ROWS]))


def cut_by_dask(rows, lengths):
    """The same rows as Dask arrays."""
    return {name: da.from_array(array, chunks=(lengths, *[-1] * (array.ndim - 1))) for name, array in rows.items()}


def read_in_pieces(rows, rng):
    """The same rows as arrays that are read in pieces."""
    return {name: vecdist.chunked(array, rows=int(rng.integers(1, ROWS + 3))) for name, array in rows.items()}


def read_from_parquet(rows, rng, folder):
    """The same rows as columns of Parquet files of random sizes, in random row groups."""
    columns = {f"{name}{at}": column for name, array in rows.items()
               for at, column in enumerate(array.reshape(ROWS, -1).T)}  # fmt: skip
    ends = np.cumsum(counts(rng))
    for number, (first, stop) in enumerate(itertools.pairwise((0, *ends))):
        part = pyarrow.table({name: column[first:stop] for name, column in columns.items()})
        parquet.write_table(part, folder / f"{number}.parquet", row_group_size=int(rng.integers(1, ROWS + 3)))
    asked = {name: [each for each in columns if each[:-1] == name] for name in rows}
    pieces = [None, int(rng.integers(1, ROWS + 3))]
    return {
        name: vecdist.chunked(folder, columns=asked[name] if rows[name].ndim > 1 else f"{name}0", rows=pieces[at % 2])
        for at, name in enumerate(rows)
    }


def never_changing(rows):
    """The same rows, marked as data."""
    return {name: vecdist.data(array) for name, array in rows.items()}
