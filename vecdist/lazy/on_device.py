"""Arrays in host memory beside those on a GPU: copied there, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf, array_kind, constant, leaf
from vecdist.graph.node import Node, below, rewrite
from vecdist.primitives.structure import rebuilt


def device_of(roots: Sequence[Node]) -> str:
    """Where expressions are computed: ``"cpu"`` or ``"cuda:0"``."""
    on_device = next((found for found in _leaves(roots) if found.kind == "cupy"), None)
    return "cpu" if on_device is None else f"cuda:{on_device.array.device.id}"


def to_device(array: Any) -> Any:
    """A copy of an array on the GPU; one that is read in pieces is sent there piece by piece."""
    if isinstance(array, Chunked):
        from vecdist.lazy.devices import device_group

        return array.on(device_group("cuda"))
    import cupy

    return cupy.asarray(array)


def beside(roots: Sequence[Node], known: Any) -> Any:
    """What is known as NumPy has it in the memory that expressions are computed in; anything else as it is."""
    if hasattr(known, "node") or array_kind(known) != "numpy" or device_of(roots) == "cpu":
        return known
    return to_device(np.asarray(known))


def in_host_memory(roots: Sequence[Node]) -> list[Leaf]:
    """The arrays in host memory that expressions hold, arguments aside."""
    return [found for found in _leaves(roots) if _in_host_memory(found)]


def on_device(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The expressions with all NumPy arrays but arguments copied to the GPU, each once for as long as it is there."""
    return rewrite(roots, _moved) if in_host_memory(roots) else tuple(roots)


def _moved(node: Node, args: tuple[Node, ...]) -> Node:
    if node.op != "leaf" or not _in_host_memory(node.attrs[0]):
        return rebuilt(node, args)
    found: Leaf = node.attrs[0]
    if "on the GPU" not in found.derived:
        copied = to_device(found.array)
        found.derived["on the GPU"] = constant(copied, found.name) if found.constant else leaf(copied, found.name)
    return found.derived["on the GPU"]


def _in_host_memory(found: Leaf) -> bool:
    """Whether an array that is no argument lies, or is read in pieces, in host memory."""
    if found.kind not in ("numpy", "list") or found.traced:
        return False
    return not isinstance(found.array, Chunked) or (found.array.devices is None and found.array.streams)


def _leaves(roots: Sequence[Node]) -> Iterator[Leaf]:
    return (node.attrs[0] for node in below(roots) if node.op == "leaf")
