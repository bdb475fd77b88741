"""Log densities estimated from some of the rows of the data: right on average over batches, and so are gradients."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, final

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import array_kind, is_dask, leaf, readable
from vecdist.graph.node import topological
from vecdist.lazy.array import LazyArray, data
from vecdist.lazy.on_device import to_device
from vecdist.model.evaluation import Evaluation
from vecdist.model.flat import Joint, Terms

Batch: TypeAlias = Any
"""Whole numbers, the indices of rows, or a mapping from names to rows that are there."""


def declared(rows: Mapping[str, Any] | None) -> dict[str, LazyArray]:
    """The arrays of all rows, as data; ``ValueError`` where they are not of one length, of 1 or more."""
    found = {name: _data(array) for name, array in (rows or {}).items()}
    computed = next((name for name, array in found.items() if array.node.op != "leaf"), None)
    if computed is not None:
        raise TypeError(f"rows are arrays that are there; {computed} is an expression")
    lengths = {array.shape[:1] for array in found.values()}
    if len(lengths) > 1 or lengths & {(), (0,)}:
        each = ", ".join(f"{name} has shape {array.shape}" for name, array in found.items())
        raise ValueError(f"rows have a first axis in common, of 1 row or more: {each}")
    return found


def _data(array: Any) -> LazyArray:
    """An array as data that never change, but what is a lazy array in memory as it is."""
    if not isinstance(array, LazyArray):
        return data(array)
    in_chunks = array.node.op == "leaf" and isinstance(array.node.attrs[0].array, Chunked)
    return data(array) if in_chunks else array


@final
class Minibatch:
    """The estimate of the log density of ``total`` rows by a batch of B: log prior + total / B log likelihood of these.

    The expectation over batches in which every row is equally likely is the log density (Robbins and Monro 1951).

    >>> import numpy as np, vecdist
    >>> from vecdist.parameters import real
    >>> model = lambda mu, y: {"likelihood": -0.5 * (y - mu) ** 2}
    >>> density = vecdist.LogDensity(model, mu=real(), rows={"y": np.arange(6.0)})
    >>> slopes = [density.logdensity_and_gradient(np.zeros(1), batch=rows)[1] for rows in ([0, 2], [1, 5], [3, 4])]
    >>> [float(slope[0]) for slope in slopes], float(np.mean(slopes))                 # the latter is that of all rows
    ([6.0, 18.0, 21.0], 15.0)
    """

    def __init__(self, joint: Joint, unnormalised: bool) -> None:
        self.joint: Joint = joint
        self.total: int = next(iter(joint.rows.values())).shape[0]
        self.unnormalised: bool = unnormalised
        arrays = {name: rows.node.attrs[0].array for name, rows in joint.rows.items()}
        self._arrays = {name: LazyArray(leaf(array, getattr(array, "name", None))) for name, array in arrays.items()}
        self._ranks = [rows.ndim for rows in joint.rows.values()]
        self._evaluations: dict[tuple[bool, bool, bool], Evaluation] = {}

    def trace(self, x: LazyArray, batch: LazyArray | Mapping[str, LazyArray]) -> LazyArray:
        """The estimate for a lazy vector by lazy indices of rows, or rows: a lazy scalar."""
        prior, likelihood = self.parts(x, batch)
        return prior + likelihood

    def parts(self, x: LazyArray, batch: LazyArray | Mapping[str, LazyArray]) -> tuple[LazyArray, LazyArray]:
        """The log prior, and the estimate of the log likelihood."""
        rows = batch if isinstance(batch, Mapping) else {name: array[batch] for name, array in self._arrays.items()}
        terms = self.joint.terms(x, rows)
        check_terms(terms, rows)
        return terms.log_prior(), terms.log_likelihood() * (self.total / len(next(iter(rows.values()))))

    def likelihood(self, x: LazyArray) -> LazyArray:
        """The log likelihood of all rows."""
        return self.joint.terms(x).log_likelihood()

    def __call__(self, x: Any, batch: Batch, gradient: bool, out: Any = None) -> Sequence[Any]:
        """The estimates for vectors of shape (..., D), and with ``gradient`` their gradients, from one launch.

        In host memory rows are copied before it, each in one piece: the kernel would read a few columns of many rows.
        """
        on_device = array_kind(x) == "cupy"
        given = isinstance(batch, Mapping)
        arrays, ranks = (self._rows(batch), self._ranks) if given else ([self._indices(batch)], [1])
        lead = x.shape[:-1]
        leads = {array.shape[: array.ndim - rank] for array, rank in zip(arrays, ranks, strict=True)}
        if len(leads) != 1 or not leads <= {(), lead}:
            raise ValueError(
                f"vectors of shape {x.shape} have one batch, or one each, with their leading axes; given arrays of "
                f"shape {', '.join(str(array.shape) for array in arrays)}"
            )
        if on_device:
            arrays = [array if array_kind(array) == "cupy" else to_device(array) for array in arrays]
        elif not given and all(array.device == "cpu" for array in self._arrays.values()):
            places = arrays[0].astype(np.intp, copy=False)
            arrays, given = self.read(places), True
        own = bool(lead) and leads == {lead}
        return self._evaluation(given, own, gradient)(x, out, arrays)

    @property
    def chunked(self) -> bool:
        """Whether some of the rows are out of memory."""
        return any(isinstance(rows.node.attrs[0].array, Chunked) for rows in self._arrays.values())

    def read(self, places: np.ndarray) -> list[Any]:
        """The rows at places, of each name, each row in one piece."""
        arrays = [rows.node.attrs[0].array for rows in self._arrays.values()]
        return _read(arrays, places) if self.chunked else [array.take(places, axis=0) for array in arrays]

    def _evaluation(self, given: bool, own: bool, gradient: bool) -> Evaluation:
        def roots(x: LazyArray, *batch: LazyArray) -> Sequence[LazyArray]:
            return (self.trace(x, dict(zip(self.joint.rows, batch, strict=True)) if given else batch[0]),)

        key = given, own, gradient
        return self._evaluations.setdefault(key, Evaluation(roots, gradient, self.unnormalised, own))

    def _indices(self, batch: Batch) -> Any:
        """Indices of rows, as an array; ``IndexError`` for what are none."""
        found = batch.compute() if isinstance(batch, LazyArray) else batch
        found = found if array_kind(found) == "cupy" else readable(found)
        if found.dtype.kind not in "iu" or not found.ndim or not found.shape[-1]:
            raise IndexError(
                "a batch is an array of the whole numbers of its rows, one or more of them; given an array of shape "
                f"{found.shape} and dtype {found.dtype}"
            )
        if array_kind(found) != "cupy" and (found.min() < -self.total or found.max() >= self.total):
            wrong = found[(found < -self.total) | (found >= self.total)][0]
            raise IndexError(f"a batch has row {wrong}, and there are {self.total} of them")
        return found

    def _rows(self, batch: Mapping[str, Any]) -> list[Any]:
        """Rows that are given, as arrays in the order of all rows; ``ValueError`` for others."""
        if set(batch) != set(self.joint.rows):
            raise ValueError(f"a batch has rows of {', '.join(self.joint.rows)}; given {', '.join(batch) or 'none'}")
        found = {name: each if array_kind(each) == "cupy" else readable(each) for name, each in batch.items()}
        sizes = set()
        for name, all_ in self.joint.rows.items():
            array, own = found[name], all_.shape[1:]
            if array.ndim < all_.ndim or array.shape[array.ndim - len(own) :] != own:
                raise ValueError(f"rows of {name} have shape (..., B, {', '.join(map(str, own))}); given {array.shape}")
            sizes.add(array.shape[array.ndim - all_.ndim])
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError(f"a batch has as many rows of each name, one or more; given {sorted(sizes)}")
        return [found[name] for name in self.joint.rows]


def _read(arrays: Sequence[Any], places: np.ndarray) -> list[Any]:
    """Rows of arrays, some in chunks, where each row is read once, in their order; those of Dask's together."""
    once, back = np.unique(places % arrays[0].shape[0], return_inverse=True)
    found = [array.at(once) if isinstance(array, Chunked) else array.take(once, axis=0) for array in arrays]
    if any(map(is_dask, found)):
        found = importlib.import_module("dask").compute(*found)
    back = back.reshape(places.shape)
    there = [each if array_kind(each) == "cupy" else readable(each) for each in found]
    return [each.take(back, axis=0).astype(array.dtype, copy=False) for each, array in zip(there, arrays, strict=True)]


def check_terms(terms: Terms, rows: Mapping[str, LazyArray]) -> None:
    """Raise ``ValueError`` unless the likelihood, and it alone, is of the rows, each by itself, where there are any."""
    size = next((len(array) for array in rows.values()), 0)
    if not size:
        return
    if terms.likelihood is None:
        raise ValueError('a model of rows returns {"prior": ..., "likelihood": ...}: the likelihood of rows is scaled')
    for name, term in terms.likelihood.items():
        if term.shape[:1] != (size,):
            raise ValueError(
                f"the likelihood {name!r} has shape {term.shape}, of {size} rows: what depends on rows is an array "
                "with an axis of them in front, not summed, and all else is part of the prior"
            )
    inside = set(topological([term.node for term in terms.prior]))
    found = [name for name, array in rows.items() if array.node in inside]
    if found:
        raise ValueError(f"the prior depends on the rows {', '.join(found)}; what does is part of the likelihood")
