"""What a family of vectors or matrices is: parametrisations with domains, a support and a formula over event axes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from vecdist.distributions.base import Compound, Parameters, Parametrised
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.graph.shapes import BroadcastError, broadcast
from vecdist.lazy.array import LazyArray
from vecdist.lazy.views import index_view
from vecdist.multivariate.domains import Check, Domain
from vecdist.primitives.arithmetic import isnan
from vecdist.primitives.structure import full
from vecdist.random import lengths, stream
from vecdist.verbs.density import as_floats, is_whole

MULTIVARIATE: dict[str, type[Multivariate]] = {}


class Multivariate(Parametrised, Compound):
    """Base of the families of vectors and matrices: parameters and events have their own last axes.

    ``event`` has a letter for each axis of an event, as the domains of the parameters have for theirs: axes of one
    letter have one length, and that of "i" is one less than that of "k".  All axes before these are batch axes, which
    broadcast, and which the log density has.  A subclass declares parametrisations, ``outside`` and ``log_density``,
    and that is a family.
    """

    event: ClassVar[str] = "k"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith(f"{__package__}."):  # a user's own may have any name, theirs too
            MULTIVARIATE[cls.__name__] = cls

    @staticmethod
    @abstractmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        """Where ``x`` lies outside the support, for each event; a NaN does not."""

    @staticmethod
    @abstractmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """The logarithm of the density (or mass) inside the support, for each event."""

    def logpdf(self, x: Any) -> LazyArray:
        """The log density at ``x``: -inf outside the support, NaN where a parameter is invalid or ``x`` is NaN."""
        domains: Mapping[str, Domain] = self.parametrised.constraints
        nodes = as_floats(self.parameters | {"x": x})
        size = _event_lengths(type(self).__name__, nodes, {**domains, "x": Domain(self.event)})["k"]
        point, checks = nodes.pop("x"), self._checks(nodes, size)
        p = Parameters(**self.parametrised.convert(**nodes), whole=is_whole(x))
        density, outside = self.log_density(point, p), self.outside(point, p)
        value = density if outside is None else where(outside, -np.inf, density)
        if not self.event and not p.whole:  # of a number, the place in a table may be all that is read
            value = where(isnan(point), np.nan, value)
        return LazyArray(self._checked(value, checks, {**nodes, "x": point}))

    def opened(self, nodes: Mapping[str, Node]) -> tuple[Parameters, Callable[[Node], Node]]:
        """The quantities of the formulas, of parameters as nodes, and what gives a value of them its checks."""
        size = _event_lengths(type(self).__name__, nodes, self.parametrised.constraints)["k"]
        checks = self._checks(nodes, size)
        return Parameters(**self.parametrised.convert(**nodes)), lambda value: self._checked(value, checks, nodes)

    def mean(self) -> LazyArray:
        """The mean of each element of an event.  Raises ``NotImplementedError`` where the family states none."""
        return self._moment(self.mean_of)

    def variance(self) -> LazyArray:
        """The variance of each element of an event.  Raises ``NotImplementedError`` where the family states none."""
        return self._moment(self.variance_of)

    def _moment(self, formula: Callable[[Parameters], Node]) -> LazyArray:
        nodes = as_floats(self.parameters)
        size = _event_lengths(type(self).__name__, nodes, self.parametrised.constraints)["k"]
        value = formula(Parameters(**self.parametrised.convert(**nodes), size=size))
        return LazyArray(self._checked(value, self._checks(nodes, size), nodes, len(self.event)))

    @classmethod
    def mean_of(cls, p: Parameters) -> Node:
        """The mean of each element of an event."""
        raise NotImplementedError(f"{cls.__name__} states no mean: state it by mean_of(p)")

    @classmethod
    def variance_of(cls, p: Parameters) -> Node:
        """The variance of each element of an event."""
        raise NotImplementedError(f"{cls.__name__} states no variance: state it by variance_of(p)")

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """One event for each element of the random numbers, whose last axes have the length ``p.size``."""
        raise NotImplementedError("the family states no draws: give it a static method draw(random, p)")

    def sample(self, key: Any, shape: Any) -> LazyArray:
        """Independent events: ``shape``, then the batch axes, then those of an event.

        Where no parameter has the length of an event, the last axes of ``shape`` are those of an event.
        """
        domains: Mapping[str, Domain] = self.parametrised.constraints
        nodes, outer = as_floats(self.parameters), lengths(shape)
        known = _event_lengths(type(self).__name__, nodes, domains)
        if not any(axis in "ik" for domain in domains.values() for axis in domain.axes) and self.event:
            outer, known["k"] = self._size_from(outer)
        size = known["k"]
        batch = broadcast(node.shape[: node.ndim - len(domains[name].axes)] for name, node in nodes.items())
        p = Parameters(**self.parametrised.convert(**nodes), size=size)
        random = stream(key, (*outer, *batch), np.result_type(*(node.dtype for node in nodes.values())))
        event = tuple(known[axis] for axis in self.event)
        value = full(self.draw(random, p), (*broadcast((random.key.shape, random.shape)), *event))
        return LazyArray(self._checked(value, self._checks(nodes, size), nodes, len(event)))

    def _size_from(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        """What is before the axes of an event, and the length of these."""
        outer, event = shape[: -len(self.event)], shape[-len(self.event) :]
        if len(event) < len(self.event) or len(set(event)) > 1 or 0 in event:
            raise ValueError(
                f"{type(self).__name__}: no parameter has the length of an event, and the shape must end with it: "
                f"{len(self.event)} axes of one length; given {shape}"
            )
        return outer, event[0]

    def _checks(self, nodes: Mapping[str, Node], size: int) -> list[Check]:
        domains: Mapping[str, Domain] = self.parametrised.constraints
        return [check for name, domain in domains.items() for check in domain.of(name, nodes[name], size)]

    def _checked(self, value: Node, checks: Sequence[Check], parameters: Mapping[str, Node], axes: int = 0) -> Node:
        """The value, which has so many event axes, with its checks: NaN where one fails."""
        family, valid = type(self).__name__, const(True, np.bool_)
        for check in checks:
            valid = check.of_event if valid.is_const(True) else valid & check.of_event
        shown = {check.name for check in checks}
        labels = [(family, check.name, check.wanted) for check in checks]
        arguments = [each for check in checks for each in (check.holds, check.found)]
        for name, node in parameters.items():
            if name not in shown:
                labels.append((family, name, ""))
                arguments += [const(True, np.bool_), node]
        value = where(index_view(valid, (..., *(None,) * axes)), value, np.nan)
        return Node("checked", (value, *arguments), tuple(labels), value.shape, value.dtype)


def _event_lengths(family: str, nodes: Mapping[str, Node], domains: Mapping[str, Domain]) -> dict[str, int]:
    """The length of each axis.  Raises ``ValueError`` where event axes do not fit, or batch axes do not broadcast."""
    shapes = ", ".join(f"{name} {node.shape}" for name, node in nodes.items())
    lengths: dict[str, int] = {}
    for name, node in nodes.items():
        axes = domains[name].axes
        if node.ndim < len(axes):
            wanted = f"{len(axes)} last {'axis' if len(axes) == 1 else 'axes'}"
            raise ValueError(f"{family}: {name} of shape {node.shape} wants {wanted} that an event has; given {shapes}")
        for letter, length in zip(axes, node.shape[node.ndim - len(axes) :], strict=True):
            if lengths.setdefault(letter, int(length)) != length or not length:
                raise ValueError(f"{family}: the lengths of events in {shapes} do not fit")
    of_event = lengths.setdefault("k", lengths.get("i", 0) + 1)
    if lengths.get("i", of_event - 1) != of_event - 1:
        raise ValueError(f"{family}: the lengths of events in {shapes} do not fit: one more is wanted of an event")
    try:
        broadcast(node.shape[: node.ndim - len(domains[name].axes)] for name, node in nodes.items())
    except BroadcastError:
        raise ValueError(f"{family}: the batch axes of {shapes} do not broadcast") from None
    return lengths
