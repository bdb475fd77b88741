"""Which boxes a drawing of an expression has: what the user wrote, without the machinery inside it.

A log density is one box, whatever its formula; numbers stand inside the box that uses them; conversions and new axes of
length 1 are edges.  Large expressions are folded until they can be taken in at a glance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim
from vecdist.inspect.drawing import Box
from vecdist.primitives.indexing import INDEXING
from vecdist.primitives.structure import Entry, is_reduction

Inputs = tuple[int | None, ...]
Merge = Callable[[Sequence[Box], Inputs], Box]

LIMIT = 80  # boxes that can be told apart on one screen
SHAPES_NAMED = 5  # in the tooltip of a folded box
PLURALS = {
    "leaf": "arrays", "elementwise": "operations", "view": "views", "reduction": "reductions", "density": "densities",
}
SYMBOLS = {
    "add": "+", "sub": "−", "mul": "×", "div": "÷", "lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠",
    "neg": "−",
}


def shape_text(array: Any) -> str:
    """The dtype and shape of whatever has them, as in ``float64[3, n0]``; the dtype alone for a scalar."""
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]" if array.shape else str(array.dtype)


def literal(node: Node) -> bool | int | float | None:
    """The number that a node stands for, where its value is part of the expression itself."""
    if node.op == "cast":
        return literal(node.args[0])
    if node.op == "const":
        return node.value
    if node.op == "leaf" and node.attrs[0].kind == "number" and node.attrs[0].name is None:
        return node.attrs[0].array.item()
    if node.op == "extent" and node.args:
        (source,) = node.args
        return int(np.prod([source.shape[axis] for axis in node.attrs[0]], dtype=np.int64))
    return None


def leaf_names(roots: Sequence[Node]) -> dict[Node, str]:
    """The name of each leaf in generated source: ``x`` and its place among the leaves."""
    leaves = (node for node in topological(roots) if node.op == "leaf")
    return {node: f"x{number}" for number, node in enumerate(leaves)}


def density_text(node: Node) -> str:
    """A checked node as the call that made it, as in ``Gamma(shape, scale=2.0)``."""
    parameters = [(name, value) for name, value in density_arguments(node) if name != "x"]
    return f"{node.attrs[0][0]}({', '.join(_ports(*zip(*parameters, strict=True)))})"


def density_arguments(node: Node) -> list[tuple[str, Node]]:
    """The parameters of a checked node, and what it is a density at, with their names."""
    return [(label[1], value) for label, value in zip(node.attrs, node.args[2::2], strict=True)]


def is_picked(node: Node) -> bool:
    """Whether a checked node is an array indexed by arrays."""
    return has_indices_checked(node) and _gather_in(node).op == "gather"


def has_indices_checked(node: Node) -> bool:
    """Whether indices are checked: those of an array, or those that steps of a recurrence have."""
    return node.op == "checked" and node.attrs[0][0].startswith(INDEXING)


def _arguments(node: Node) -> Sequence[Node]:
    """What a box for ``node`` takes: of a density its parameters, of an indexed array that and the indices as given."""
    if is_picked(node):
        return _gather_in(node).args[0], *node.args[2::2]
    return [value for _, value in density_arguments(node)] if node.op == "checked" else node.args


def _gather_in(node: Node) -> Node:
    """The gather of an array indexed by arrays, below the choices between its elements and NaN."""
    found = node.args[0]
    while found.op == "where":
        found = found.args[1]
    return found


def _below(node: Node) -> Node:
    """What is drawn for ``node``: what lies below conversions and new axes, and ``any`` and ``all`` as one."""
    below = _plain(node)
    is_truth = below.op == "gt" and literal(below.args[1]) == 0 and _of_booleans(_plain(below.args[0]))
    return _plain(below.args[0]) if is_truth else below


def _plain(node: Node) -> Node:
    """What lies below conversions, new axes and checks of what steps did."""
    while (
        node.op == "cast"
        or (node.op == "view" and _is_relabelling(node))
        or (has_indices_checked(node) and not is_picked(node))
    ):
        node = node.args[0]
    return node


def _of_booleans(node: Node) -> bool:
    """Whether ``node`` is an extreme of booleans, as numbers."""
    return node.op in {"max", "min"} and node.args[0].op == "cast" and node.args[0].args[0].dtype.kind == "b"


def diagram(root: Node, limit: int = LIMIT) -> tuple[list[Box], str]:
    """The boxes for ``root``, its own the last, and a note on what was folded or left out to keep to ``limit``."""
    boxes = fold_sums(_boxes(root))
    whole = len(boxes)
    if whole > limit:
        regions = boxes = fold_elementwise(boxes)
        for fold in (fold_alike, fold_akin):
            if len(boxes) > limit:
                boxes = fold(regions)
    if len(boxes) > limit:
        return truncated(boxes, limit), f"{whole} boxes, folded; those nearest to the result are drawn"
    return boxes, f"{whole} boxes, folded to {len(boxes)}" if len(boxes) < whole else ""


def _boxes(root: Node) -> list[Box]:
    names = leaf_names((root,))
    shown: dict[Node, Node] = {}

    def through(node: Node) -> Node:
        """The node that is drawn for ``node``."""
        below = _below(node)
        if is_reduction(below) or node is root:
            shown.setdefault(below, node)
        return below

    def inputs(node: Node) -> list[Node | None]:
        return [through(value) if literal(value) is None else None for value in _arguments(node)]

    last = through(root)
    if last.op == "leaf":
        last = root
        shown.clear()
    nodes = list(topological((last,), lambda node: [source for source in inputs(node) if source is not None]))
    place = {node: number for number, node in enumerate(nodes)}
    boxes = []
    for node in nodes:
        sources = tuple(None if source is None else place[source] for source in inputs(node))
        boxes.append(_box(node, shown.get(node, node), names, sources))
    return boxes


def _is_relabelling(node: Node) -> bool:
    """Whether a view only adds or drops axes of length 1."""
    source = node.args[0]
    axes = [axis for axis, _, _ in node.attrs[0] if axis is not None]
    return [d for d in source.shape if d != 1] == [d for d in node.shape if d != 1] and all(
        a < b for a, b in pairwise(axes)
    ) and all((start, step) == (0, 1) for _, start, step in node.attrs[0])


def _box(node: Node, shown: Node, names: Mapping[Node, str], inputs: Inputs) -> Box:
    detail = shape_text(shown)
    value = literal(node)
    if value is not None:
        return Box(f"{value:.6g}", detail, "leaf")
    if node.op == "leaf":
        label = _called(node, names)
        return Box(label, detail, "leaf", title=f"{label}: an array of {detail}")
    if is_picked(node) or node.op in {"gather", "scatter"}:
        return _indexing_box(node, detail, names, inputs)
    if node.op == "checked":
        return _density_box(node, detail, inputs)
    kind = "reduction" if is_reduction(node) else "view" if node.op in {"view", "reshape"} else "elementwise"
    title = f"{node.op}: {detail}"
    if node.op == "where":
        return Box("where", detail, kind, inputs, _ports(("if", "then", "else"), node.args), title)
    return Box(operation_text(node), detail, kind, inputs, title=title, commutes=node.op in {"add", "mul"})


def _density_box(node: Node, detail: str, inputs: Inputs) -> Box:
    """A log density, or another verb of a distribution: the numbers among its arguments stand beside their names."""
    ports = _ports(*zip(*density_arguments(node), strict=True))
    verb = "".join(f"{label[2] or 'logpdf'} " for label in node.attrs if label[1] == "x")
    return Box(f"{verb}{node.attrs[0][0]}", detail, "density", inputs, ports, f"{verb}{density_text(node)}: {detail}")


def _indexing_box(node: Node, detail: str, names: Mapping[Node, str], inputs: Inputs) -> Box:
    """An array indexed by arrays, as ``mu[group]``, or what is added up by index."""
    source, *indices = _arguments(node)
    moved = _gather_in(node) if is_picked(node) else node
    index = index_text([_called(pick, names) or "·" for pick in indices], moved)
    if node.op == "scatter":
        return Box(f"added up at {index}", detail, "reduction", inputs, title=f"added up by index: {detail}")
    return Box(_called(source, names) + index, detail, "view", inputs, title=f"picked by index: {detail}")


def _called(node: Node, names: Mapping[Node, str]) -> str:
    """The name of a leaf, or its number; nothing for what is computed."""
    below = _below(node)
    if literal(below) is not None:
        return f"{literal(below):.6g}"
    return below.attrs[0].name or names[below] if below.op == "leaf" else ""


def index_text(indices: Sequence[str], node: Node) -> str:
    """The index arrays of a gather or a scatter in brackets, behind the axes that they leave as they are."""
    return f"[{', '.join([':'] * node.attrs[0] + list(indices))}]"


def _ports(names: Sequence[str], values: Sequence[Node]) -> tuple[str, ...]:
    numbers = [literal(value) for value in values]
    return tuple(n if number is None else f"{n}={number:.6g}" for n, number in zip(names, numbers, strict=True))


def operation_text(node: Node) -> str:
    """An operation as it is read: ``− 0.5``, ``1 ÷``, ``max over axis 0``, ``[1:, 2]``."""
    if is_reduction(node):
        (source,) = node.args
        name = {"max": "any", "min": "all"}[node.op] if _of_booleans(node) else node.op
        axes = sorted(axis + source.ndim for axis in node.attrs[0])
        whole = all(source.shape[axis] == 1 for axis in range(source.ndim) if axis not in axes)
        return name if whole else f"{name} over axis {', '.join(map(str, axes))}"
    if node.op == "view":
        return view_text(node)
    texts = ["" if literal(arg) is None else f"{literal(arg):.6g}" for arg in node.args]
    if node.op == "cast":
        return f"to {node.dtype}"
    if node.op in SYMBOLS:
        first, second = texts if len(texts) == 2 else ("", "")
        return f"{first} {SYMBOLS[node.op]} {second}".strip()
    return f"{node.op}({', '.join(text or '·' for text in texts)})" if any(texts) else node.op


def view_text(node: Node) -> str:
    """A view as the index that makes it, or as what it does to the axes."""
    (source,) = node.args
    (entries,) = node.attrs
    axes = [axis for axis, _, _ in entries if axis is not None]
    if _is_relabelling(node):
        return "reshape"
    if all(_is_whole(node, *item) for item in zip(source.shape, entries, strict=True)):
        return "broadcast" if axes == sorted(axes) else "transpose"
    return f"[{', '.join(_index_text(node, *item) for item in zip(source.shape, entries, strict=True))}]"


def _is_whole(node: Node, length: Dim, entry: Entry) -> bool:
    """Whether a view takes all of a source axis, in order."""
    axis, start, step = entry
    return length == 1 if axis is None else (start, step, node.shape[axis]) == (0, 1, length)


def _index_text(node: Node, length: Dim, entry: Entry) -> str:
    axis, start, step = entry
    if axis is None:
        return str(start)
    if _is_whole(node, length, entry):
        return ":"
    if isinstance(start, str) or isinstance(length, str):
        return f"{start}:" + ("" if step == 1 else f":{step}")
    end = start + step * int(node.shape[axis])
    first = "" if start == (0 if step > 0 else length - 1) else start
    return f"{first}:{'' if end < 0 or end >= length else end}" + ("" if step == 1 else f":{step}")


def _users(boxes: Sequence[Box]) -> list[list[int]]:
    """The boxes that use each box, one time for each use."""
    users: list[list[int]] = [[] for _ in boxes]
    for place, box in enumerate(boxes):
        for source in box.sources:
            users[source].append(place)
    return users


def fold_sums(boxes: Sequence[Box]) -> list[Box]:
    """``a + b + c`` as one box."""
    home = list(range(len(boxes)))
    for place, users in reversed(list(enumerate(_users(boxes)))):
        box, user = boxes[place], boxes[users[0]] if len(users) == 1 else None
        if user and box.label == user.label == "+" and box.detail == user.detail:
            home[place] = home[users[0]]
    return _folded(boxes, home, _sum)


def fold_elementwise(boxes: Sequence[Box]) -> list[Box]:
    """Elementwise boxes used by one elementwise region alone, folded into it."""
    home = list(range(len(boxes)))
    for place, users in reversed(list(enumerate(_users(boxes)))):
        homes = {home[user] for user in users}
        if len(homes) == 1 and boxes[place].kind == boxes[min(homes)].kind == "elementwise":
            (home[place],) = homes
    return _folded(boxes, home, _region)


def fold_alike(boxes: Sequence[Box]) -> list[Box]:
    """Boxes that read the same and have the same users, folded into one that counts them."""
    return _fold_by(boxes, lambda box: ("" if box.kind == "leaf" else box.label, box.detail, box.ports))


def fold_akin(boxes: Sequence[Box]) -> list[Box]:
    """Boxes of one kind, densities of one family, that have the same users, folded whatever their shapes are."""
    return _fold_by(boxes, lambda box: (box.label if box.kind == "density" else "",))


def _fold_by(boxes: Sequence[Box], text: Callable[[Box], tuple]) -> list[Box]:
    users = _users(boxes)
    home = list(range(len(boxes)))
    first: dict[tuple, int] = {}
    for place in reversed(range(len(boxes))):
        key = (boxes[place].kind, text(boxes[place]), frozenset(home[user] for user in users[place]))
        home[place] = first.setdefault(key, place)
    folded = _folded(boxes, home, _alike)
    return [replace(box, inputs=tuple(dict.fromkeys(box.inputs))) if box.commutes else box for box in folded]


def _sum(members: Sequence[Box], inputs: Inputs) -> Box:
    return replace(members[-1], inputs=inputs)


def _region(members: Sequence[Box], inputs: Inputs) -> Box:
    counts = Counter(box.label for box in members)
    title = ", ".join(f"{label} ({count} times)" if count > 1 else label for label, count in counts.items())
    label = f"{len(members)} operations"
    return Box(label, members[-1].detail, "elementwise", tuple(dict.fromkeys(inputs)), title=title, commutes=True)


def _alike(members: Sequence[Box], inputs: Inputs) -> Box:
    kind, count = members[0].kind, len(members)
    labels, details = {box.label for box in members}, {box.detail for box in members}
    label = f"{min(labels)} ({count} times)" if len(labels) == 1 else f"{count} {PLURALS[kind]}"
    detail = min(details) if len(details) == 1 else "various shapes"
    titles = ", ".join(sorted(details)[:SHAPES_NAMED]) + (", ..." if len(details) > SHAPES_NAMED else "")
    return Box(label, detail, kind, tuple(dict.fromkeys(inputs)), title=f"{label}: {titles}", commutes=True)


def _folded(boxes: Sequence[Box], home: Sequence[int], merged: Merge) -> list[Box]:
    """One box, made by ``merged``, for all that share a home; it takes what they take from outside."""
    groups: dict[int, list[int]] = {}
    for place in range(len(boxes)):
        groups.setdefault(home[place], []).append(place)
    place = {old: new for new, old in enumerate(sorted(groups))}
    result = []
    for old, members in sorted(groups.items()):
        sources = [source if source is None else home[source] for member in members for source in boxes[member].inputs]
        if len(members) == 1:
            result.append(replace(boxes[old], inputs=tuple(s if s is None else place[s] for s in sources)))
        else:
            outer = tuple(place[source] for source in sources if source is not None and source != old)
            result.append(merged([boxes[member] for member in members], outer))
    return result


def truncated(boxes: Sequence[Box], limit: int) -> list[Box]:
    """The ``limit`` boxes nearest to the result, and one that stands for the others."""
    kept = sorted(islice(_by_distance(boxes), limit))
    place = {old: new for new, old in enumerate(kept, start=1)}
    result = [Box(f"{len(boxes) - len(kept)} more", kind="leaf", title="boxes that are not drawn")]
    for old in kept:
        inputs = tuple(s if s is None else place.get(s, 0) for s in boxes[old].inputs)
        result.append(replace(boxes[old], inputs=inputs))
    return result


def _by_distance(boxes: Sequence[Box]) -> Iterator[int]:
    """The places of boxes, those that the fewest steps part from the result first."""
    row, seen = [len(boxes) - 1], {len(boxes) - 1}
    while row:
        yield from row
        found = dict.fromkeys(source for place in row for source in boxes[place].sources)
        row = [source for source in found if source not in seen]
        seen.update(row)
