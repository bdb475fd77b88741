"""A model and its parameters as functions of one flat vector of unconstrained numbers."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import NoValueYet, array_kind, on_host
from vecdist.graph.node import topological
from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.lazy.asking import in_front
from vecdist.lazy.on_device import on_device
from vecdist.parameters import Parameter

PARTS = ("prior", "likelihood")


@final
@dataclass(frozen=True)
class Terms:
    """What a model gives: the parts of its log density, each a scalar or an array whose elements are summed."""

    others: tuple[LazyArray, ...] = ()
    prior: tuple[LazyArray, ...] = ()
    likelihood: Mapping[str, LazyArray] | None = None
    volume: tuple[LazyArray, ...] = ()

    def parted(self) -> Mapping[str, LazyArray]:
        """The pointwise log likelihoods; empty where the model does not part them from the prior."""
        return self.likelihood or {}

    def log_prior(self) -> LazyArray:
        """The log density of the parameters, as unconstrained numbers."""
        return _summed((*self.prior, *self.volume))

    def log_likelihood(self) -> LazyArray:
        """The sum of all elements of the likelihood."""
        return _summed(tuple(self.parted().values()))

    def total(self) -> LazyArray:
        """The log density of the unconstrained numbers."""
        return _summed((*self.others, *self.prior, *self.parted().values(), *self.volume))


def _summed(terms: Sequence[LazyArray]) -> LazyArray:
    total = as_lazy(0.0)
    for place, term in enumerate(terms):
        each = term.sum() if term.shape else term
        total = each if not place else total + each
    return total


@final
class Joint:
    """A model, a function of named arrays, and the declarations of these arrays: where each lies in the flat vector.

    ``rows`` are arrays of data that the model takes beside its parameters.
    """

    def __init__(
        self, model: Callable[..., Any], parameters: Mapping[str, Parameter], rows: Mapping[str, LazyArray]
    ) -> None:
        self.model = model
        self.parameters: dict[str, Parameter] = dict(parameters)
        self.rows: dict[str, LazyArray] = dict(rows)
        for name, parameter in self.parameters.items():
            if not isinstance(parameter, Parameter):
                raise TypeError(f"{name} wants a declaration such as real() or positive(3), given {parameter!r}")
        twice = [name for name in self.rows if name in self.parameters]
        if twice:
            raise ValueError(f"the model has parameters and rows named {', '.join(twice)}")
        _check_signature(model, {**self.parameters, **self.rows})
        ends = np.cumsum([0, *(parameter.size for parameter in self.parameters.values())]).tolist()
        self.size: int = ends[-1]
        if not self.size:
            raise ValueError("a log density wants parameters of one element or more")
        spans = zip(ends[:-1], ends[1:], strict=True)
        self.spans: dict[str, tuple[Any, Any]] = dict(zip(self.parameters, spans, strict=True))

    def constrained(self, x: Any) -> tuple[dict[str, Any], list[Any]]:
        """The parameters of the flat vectors in the last axis of ``x``, and terms of the log Jacobian determinant."""
        arrays, volume = {}, []
        for name, parameter in self.parameters.items():
            first, last = self.spans[name]
            shape = (*x.shape[:-1], *parameter.unconstrained_shape)
            arrays[name], terms = parameter.forward(x[..., first:last].reshape(shape))
            if terms is not None:
                volume.append(terms)
        return arrays, volume

    def unconstrained(self, values: Mapping[str, Any]) -> np.ndarray:
        """The flat vectors, in host memory, of arrays that may have leading axes in common.

        Raises ``ValueError`` for names that do not fit, wrong shapes, and values outside of their constraints.
        """
        _check_names(values, self.parameters)
        flat, leading = [], set()
        for name, parameter in self.parameters.items():
            array = np.asarray(on_host(values[name]), np.float64)
            lead = array.shape[: array.ndim - len(parameter.shape)]
            if array.ndim < len(parameter.shape) or array.shape[len(lead) :] != parameter.shape:
                raise ValueError(f"{name} has shape {array.shape}, wanted {parameter.shape}, perhaps with leading axes")
            leading.add(lead)
            try:
                flat.append(parameter.inverse(array).reshape((*lead, parameter.size)))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        if len(leading) != 1:
            raise ValueError(f"the parameters differ in their leading axes: {', '.join(map(str, sorted(leading)))}")
        return np.concatenate(flat, axis=-1)

    def terms(self, x: LazyArray, rows: Mapping[str, LazyArray] | None = None) -> Terms:
        """The terms of the model for a flat vector; constant arrays are moved to where the vector lies.

        They are of all ``rows``, or of others.
        """
        arrays, volume = self.constrained(x)
        with naming(arrays, "the model"):
            found = _terms(self.model(**arrays, **(self.rows if rows is None else rows)), tuple(volume))
        return found if x.device == "cpu" else _on_device(found)

    def names(self) -> list[str]:
        """A name for each unconstrained number: ``mu``, ``theta[0]``, ..."""
        return [
            f"{name}[{','.join(map(str, place))}]" if place else name
            for name, parameter in self.parameters.items()
            for place in np.ndindex(parameter.unconstrained_shape)
        ]


@contextlib.contextmanager
def naming(parameters: Mapping[str, LazyArray], function: str) -> Iterator[None]:
    """Where the value of an expression of parameters is asked for inside, these are named, not the flat vector."""
    try:
        with in_front():
            yield
    except NoValueYet as error:
        inside = set(topological(error.roots))
        names = [name for name, array in parameters.items() if array.node in inside]
        error.told(error.roots, ", ".join(names or parameters), function)
        raise


def _check_signature(model: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
    if not callable(model):
        raise TypeError(f"a model is a function of lazy arrays, given {model!r}")
    try:
        inspect.signature(model).bind(**parameters)
    except TypeError as error:
        given = ", ".join(parameters) or "none"
        raise TypeError(f"the model does not take the declared parameters ({given}): {error}") from None
    except ValueError:  # a builtin without signature says so itself
        return


def _check_names(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    missing, unknown = [n for n in wanted if n not in given], [n for n in given if n not in wanted]
    if missing or unknown:
        said = [f"missing: {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(unknown)}"] * bool(unknown)
        raise ValueError(f"values for the parameters {', '.join(wanted)} are wanted; {'; '.join(said)}")


def _terms(returned: Any, volume: tuple[LazyArray, ...]) -> Terms:
    """The terms of what a model returned; ``TypeError`` or ``ValueError`` for what is no log density."""
    if not isinstance(returned, Mapping):
        return Terms(others=_scalars(returned, "the model returns"), volume=volume)
    unknown = [name for name in returned if name not in PARTS]
    if unknown or "likelihood" not in returned:
        raise ValueError(f'the dict that a model returns has "prior" and "likelihood"; given {", ".join(returned)}')
    likelihood = returned["likelihood"]
    named = likelihood if isinstance(likelihood, Mapping) else {"likelihood": likelihood}
    for name, term in named.items():
        _check_lazy(term, f"the likelihood {name!r} is")
    return Terms((), _scalars(returned.get("prior", ()), "the prior is"), named, volume)


def _scalars(given: Any, said: str) -> tuple[LazyArray, ...]:
    terms = tuple(given) if isinstance(given, tuple | list) else (given,)
    found = []
    for each in terms:
        term: Any = as_lazy(float(each)) if isinstance(each, int | float) and not isinstance(each, bool) else each
        _check_lazy(term, said)
        if term.shape:
            raise ValueError(
                f"{said} an array of shape {term.shape}; sum it with .sum(), or return it as the likelihood: "
                '{"prior": ..., "likelihood": ...}'
            )
        found.append(term)
    return tuple(found)


def _check_lazy(term: Any, said: str) -> None:
    if not isinstance(term, LazyArray):
        raise TypeError(
            f"{said} {type(term).__name__}; wanted a lazy array, a tuple of lazy scalars, or a dict of them with "
            '"prior" and "likelihood"'
        )


def _on_device(terms: Terms) -> Terms:
    def moved(arrays: Sequence[LazyArray]) -> tuple[LazyArray, ...]:
        return tuple(map(LazyArray, on_device([array.node for array in arrays])))

    parted = terms.parted()
    likelihood = dict(zip(parted, moved(tuple(parted.values())), strict=True))
    return Terms(moved(terms.others), moved(terms.prior), likelihood, moved(terms.volume))


def copied(array: Any) -> Any:
    """A new array in row-major order, where the array lies."""
    return array.copy() if array_kind(array) == "cupy" else np.array(array, order="C")
