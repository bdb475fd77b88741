"""Powers of two and signs move out of products, where they meet, and are often one: 0.5 (2 x) y is x y.

Multiplying by them is exact, so nothing changes but what overflows on the way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vecdist.graph.node import Node, rewrite
from vecdist.primitives.structure import rebuilt

LARGEST = 1024.0  # factors beyond this one, and below its reciprocal, are there to keep numbers in range


def powers(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with the powers of two in each product as one factor, in front of it."""
    return rewrite(roots, _outwards)


def _outwards(node: Node, args: tuple[Node, ...]) -> Node:
    node = rebuilt(node, args)
    if node.dtype.kind != "f" or node.op not in {"mul", "neg"}:
        return node
    parts = [_parted(arg) for arg in args]
    scale = math.prod(part[0] for part in parts) * (-1.0 if node.op == "neg" else 1.0)
    rests = [rest for _, rest in parts if rest is not None]
    if [scale, *rests] == [1.0, *args] or not rests or not 1 / LARGEST <= abs(scale) <= LARGEST:
        return node
    product = rests[0] if len(rests) == 1 else rests[0] * rests[1]
    found = product if scale == 1.0 else -product if scale == -1.0 else product * scale
    return found if found.shape == node.shape else node


def _parted(node: Node) -> tuple[float, Node | None]:
    """A factor that is a power of two or its negative, and the rest of a product."""
    if node.op == "neg":
        scale, rest = _parted(node.args[0])
        return -scale, rest
    if node.op == "const" and _is_power(float(node.value)):
        return float(node.value), None
    if node.op == "mul" and node.args[1].op == "const" and _is_power(float(node.args[1].value)):
        return float(node.args[1].value), node.args[0]
    return 1.0, node


def _is_power(value: float) -> bool:
    return 1 / LARGEST <= abs(value) <= LARGEST and math.frexp(abs(value))[0] == 0.5
