"""What samplers sample from: a log density of a vector, as a lazy expression that they fuse with their own steps."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf, argument, array_kind, constant, leaf
from vecdist.graph.node import Node, rewrite
from vecdist.lazy.array import Expression, LazyArray
from vecdist.lazy.devices import Devices
from vecdist.primitives.structure import rebuilt
from vecdist.runtime.chunks.devices import here


@runtime_checkable
class Density(Protocol):
    """A log density of vectors of length ``ndim``: ``trace(x)`` is that of a lazy vector, a lazy scalar."""

    ndim: int

    def trace(self, x: LazyArray) -> Expression: ...


Given: TypeAlias = Density | Callable[[LazyArray], Expression]
"""What samplers take: a density, or its function of a lazy vector."""


@final
@dataclass(frozen=True)
class Target:
    """A log density, what it was given as, the length of its vectors, and where it is computed.

    ``devices`` are those that share chains, where several may.
    """

    given: Any
    trace: Callable[[LazyArray], LazyArray]
    ndim: int
    device: str
    devices: Devices | None = None

    @staticmethod
    def of(
        density: Given, initial: Any = None, device: str | Devices | None = None, shares: bool = False
    ) -> Target:
        """The target that a user means by a ``Density``, or by a function of a lazy vector and a point to start from.

        Where ``device`` is not given, it is a GPU if ``initial`` or an array inside the density is a CuPy array; what
        else the density holds is copied there.
        Raises ``TypeError`` for what is neither, and ``ValueError`` where the length of vectors is not known, the
        density is no scalar, the device is no device, or several are given to a sampler that ``shares`` no chains.
        """
        if isinstance(device, Devices):
            if not shares:
                raise ValueError("devices share the chains of hmc and chees; any other sampler has one device")
            with device.group.leading():
                return replace(Target.of(density, initial, device.group.kind), devices=device)
        given: Any = density
        trace: Callable[[Any], Any] = getattr(given, "trace", given)
        if not callable(trace):
            raise TypeError(f"a density has a method trace, or is a function of a lazy vector; given {density!r}")
        known = getattr(density, "ndim", None)
        if initial is None and known is None:
            raise ValueError("the density has no ndim: give initial, a point to start from")
        shape: tuple[int, ...] = () if initial is None else np.shape(initial)
        if initial is not None and (not shape or known not in (None, shape[-1])):
            raise ValueError(f"initial has shape {shape}, but its last axis is a vector, of length {known or 'D'}")
        ndim = int(known or next(reversed(shape)))
        if device not in (None, "cpu", "cuda"):
            raise ValueError(f'device is "cpu", "cuda" or what vecdist.devices gives, given {device!r}')
        if device is None and initial is not None and array_kind(initial) == "cupy":
            device = "cuda"
        target = Target(density, trace, ndim, device or "cpu")
        if device is None and target.value(target.vector).device != "cpu":
            device = "cuda"
        return replace(target, device="cuda").there() if device == "cuda" else target

    @property
    def library(self) -> Any:
        """The array library of what it computes: NumPy or CuPy."""
        return importlib.import_module("cupy" if self.device == "cuda" else "numpy")

    def leading(self) -> contextlib.AbstractContextManager[Any]:
        """Inside, the first of several devices is the current one."""
        return contextlib.nullcontext() if self.devices is None else self.devices.group.leading()

    def there(self) -> Target:
        """The same target on the current device, to which its arrays are copied, each once."""
        copies: dict[int, tuple[Any, Any]] = {}

        def moved(node: Node, args: tuple[Node, ...]) -> Node:
            if node.op != "leaf" or not _moves(node.attrs[0]):
                return rebuilt(node, args)
            found: Leaf = node.attrs[0]
            if id(found.array) not in copies:
                given = found.array if found.kind == "cupy" else self.library.asarray(found.array)
                copies[id(found.array)] = found.array, here(given)
            _, copied = copies[id(found.array)]
            if copied is found.array:
                return node
            return constant(copied, found.name) if found.constant else leaf(copied, found.name)

        return replace(self, trace=lambda x: LazyArray(*rewrite((self.trace(x).node,), moved)))

    @property
    def vector(self) -> Node:
        """A vector to trace the density with."""
        return argument(self.library.zeros(self.ndim), "x")

    def value(self, x: Node) -> LazyArray:
        """The log density of a vector, which must be a lazy scalar."""
        value: Any = self.trace(LazyArray(x))
        if not isinstance(value, LazyArray) or value.shape != ():
            given = f"shape {value.shape}" if isinstance(value, LazyArray) else f"a {type(value).__name__}"
            raise ValueError(f"a log density is a lazy scalar; for a vector of {self.ndim} numbers it gave {given}")
        return value.astype(np.float64)


def _moves(found: Leaf) -> bool:
    """Whether a leaf holds an array that may lie elsewhere."""
    return found.kind != "number" and not found.traced and not isinstance(found.array, Chunked)
