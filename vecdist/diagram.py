"""Which boxes a drawing of an expression has: what the user wrote, without the machinery inside it.

A log density is one box, whatever its formula; numbers stand inside the box that uses them; conversions and new axes of
length 1 are edges.  Large expressions are folded until they can be taken in at a glance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from vecdist.drawing import Box
from vecdist.expr import Node, topological

LIMIT = 80  # boxes that can be told apart on one screen
SYMBOLS = {
    "add": "+", "sub": "−", "mul": "×", "div": "÷", "lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠",
    "and": "and", "or": "or",
}
WORDS = {"neg": "−", "add": "+"}


def shape_text(node: Node) -> str:
    """Dtype and shape, as in ``float64[3, n0]``; the dtype alone for a scalar."""
    return f"{node.dtype}[{', '.join(map(str, node.shape))}]" if node.shape else str(node.dtype)


def literal(node: Node) -> bool | int | float | None:
    """The number that a node stands for, where its value is part of the expression itself."""
    if node.op == "cast":
        return literal(node.args[0])
    if node.op == "const":
        return node.value
    if node.op == "leaf" and node.attrs[0].kind == "number":
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
    parameters = [(name, literal(value)) for name, value in density_arguments(node) if name != "x"]
    inside = ", ".join(name if value is None else f"{name}={value:.6g}" for name, value in parameters)
    return f"{node.attrs[0][0]}({inside})"


def density_arguments(node: Node) -> list[tuple[str, Node]]:
    """The parameters of a checked node, and what it is a density at, with their names."""
    named = [(label[1], value) for label, value in zip(node.attrs, node.args[2::2], strict=True)]
    if all(name != "x" for name, _ in named):
        named += [("x", value) for value in _below(node.args[0], {value for _, value in named})]
    return named


def _below(root: Node, stop: set[Node]) -> list[Node]:
    """The arrays that ``root`` is computed from, other than ``stop``."""
    found: dict[Node, None] = {}
    for node in _ordered(root, lambda n: () if n in stop or n.op in {"leaf", "sum", "checked", "extent"} else n.args):
        if node not in stop and node.op in {"leaf", "sum", "checked"} and literal(node) is None:
            found[node] = None
    return list(found)


def _ordered(root: Node, inputs: Callable[[Node], Sequence[Node]]) -> Iterator[Node]:
    """The nodes that ``root`` reaches through ``inputs``, each after its own."""
    seen: set[Node] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((source, False) for source in reversed(inputs(node)))


def diagram(root: Node, limit: int = LIMIT) -> tuple[list[Box], str]:
    """The boxes for ``root``, its own the last, at most ``limit`` and one more; and a note on what was folded or left out."""
    boxes = _boxes(root)
    whole = len(boxes)
    for fold in (fold_elementwise, fold_alike):
        if len(boxes) > limit:
            boxes = fold(boxes)
    if len(boxes) > limit:
        left_out = len(boxes) - limit
        return truncated(boxes, limit), f"{whole} boxes, alike ones folded; {left_out} farthest from the result left out"
    return boxes, f"{whole} boxes, alike ones folded" if len(boxes) < whole else ""


def _boxes(root: Node) -> list[Box]:
    names = leaf_names((root,))
    shown: dict[Node, Node] = {}

    def through(node: Node) -> Node:
        """The node that is drawn for ``node``: what lies below conversions and new axes."""
        below = node
        while below.op == "cast" or (below.op == "view" and _is_relabelling(below)):
            below = below.args[0]
        if below.op == "sum" or node is root:
            shown.setdefault(below, node)
        return below

    def inputs(node: Node) -> list[Node]:
        values = [v for _, v in density_arguments(node)] if node.op == "checked" else node.args
        return [through(value) for value in values if literal(value) is None]

    last = through(root)
    if last.op == "leaf":
        last = root if root.op != "cast" else last
        shown.clear()
    nodes = list(_ordered(last, inputs))
    place = {node: number for number, node in enumerate(nodes)}
    return [
        _box(node, shown.get(node, node), names.get(node, ""), tuple(place[source] for source in inputs(node)))
        for node in nodes
    ]


def _is_relabelling(node: Node) -> bool:
    """Whether a view only adds or drops axes of length 1."""
    source = node.args[0]
    axes = [axis for axis, _, _ in node.attrs[0] if axis is not None]
    return [d for d in source.shape if d != 1] == [d for d in node.shape if d != 1] and all(
        a < b for a, b in pairwise(axes)
    ) and all((start, step) == (0, 1) for _, start, step in node.attrs[0])


def _box(node: Node, shown: Node, name: str, inputs: tuple[int, ...]) -> Box:
    detail = shape_text(shown)
    if node.op == "leaf":
        (leaf,) = node.attrs
        value = literal(node)
        label = f"{value:.6g}" if value is not None else leaf.name or name
        return Box(label, detail, "leaf", title=f"{label}: an array of {detail}" if value is None else label)
    if node.op == "checked":
        arguments = [(name, value) for name, value in density_arguments(node) if literal(value) is None]
        text = f"logpdf {density_text(node)}"
        fixed = [f"{name}={literal(v):.6g}" for name, v in density_arguments(node) if literal(v) is not None]
        label = f"logpdf {node.attrs[0][0]}" + (f"({', '.join(fixed)})" if fixed else "")
        return Box(label, detail, "density", inputs, tuple(name for name, _ in arguments), f"{text}: {detail}")
    kind = {"sum": "reduction", "view": "view", "reshape": "view"}.get(node.op, "elementwise")
    label = operation_text(node)
    ports = ("if", "then", "else") if node.op == "where" and len(inputs) == 3 else ()
    return Box(label, detail, kind, inputs, ports, f"{node.op}: {detail}")


def operation_text(node: Node) -> str:
    """An operation as it is read: ``− 0.5``, ``1 ÷``, ``sum over axis 0``, ``[1:, 2]``."""
    if node.op == "sum":
        (source,) = node.args
        axes = sorted(axis + source.ndim for axis in node.attrs[0])
        whole = all(source.shape[axis] == 1 for axis in range(source.ndim) if axis not in axes)
        return "sum" if whole else f"sum over axis {', '.join(map(str, axes))}"
    if node.op == "view":
        return view_text(node)
    numbers = [literal(arg) for arg in node.args]
    texts = ["" if number is None else f"{number:.6g}" for number in numbers]
    if node.op in SYMBOLS:
        return " ".join(text for text in (texts[0], SYMBOLS[node.op], texts[1]) if text)
    if any(texts):
        return f"{node.op}({', '.join(text or '·' for text in texts)})"
    return WORDS.get(node.op, node.op)


def view_text(node: Node) -> str:
    """A view as the index that makes it, or as what it does to the axes."""
    (source,) = node.args
    (entries,) = node.attrs
    axes = [axis for axis, _, _ in entries if axis is not None]
    if all(axis is not None and (start, step) == (0, 1) for axis, start, step in entries):
        if axes != sorted(axes):
            return "transpose"
        if [d for d in source.shape if d != 1] != [d for d in node.shape if d != 1] and all(
            source.shape[n] in {1, node.shape[axis]} for n, axis in enumerate(axes)
        ) and len([d for d in node.shape if d != 1]) > len([d for d in source.shape if d != 1]):
            return "broadcast"
    return f"[{', '.join(_index_text(node, *item) for item in zip(source.shape, entries, strict=True))}]"


def _index_text(node: Node, length: int, entry: tuple) -> str:
    axis, start, step = entry
    if axis is None:
        return str(start)
    count = node.shape[axis]
    if (start, step, count) == (0, 1, length):
        return ":"
    stop = start + step * count
    text = f"{start or ''}:{'' if stop >= length or stop < 0 else stop}"
    return text if step == 1 else f"{text}:{step}"


def _users(boxes: Sequence[Box]) -> list[list[int]]:
    users: list[list[int]] = [[] for _ in boxes]
    for place, box in enumerate(boxes):
        for source in box.inputs:
            users[source].append(place)
    return users


def fold_elementwise(boxes: Sequence[Box]) -> list[Box]:
    """Elementwise boxes that only another elementwise box uses, folded into it."""
    users = _users(boxes)
    home = list(range(len(boxes)))
    for place in reversed(range(len(boxes))):
        if boxes[place].kind == "elementwise" and len(set(users[place])) == 1:
            (user,) = set(users[place])
            if boxes[user].kind == "elementwise":
                home[place] = home[user]
    return _merged(boxes, home, lambda members: f"{len(members)} operations")


def fold_alike(boxes: Sequence[Box]) -> list[Box]:
    """Boxes of one kind and text with the same users, folded into one that counts them."""
    users = _users(boxes)
    home = list(range(len(boxes)))
    first: dict[tuple, int] = {}
    for place in reversed(range(len(boxes))):
        box = boxes[place]
        label = "" if box.kind == "leaf" else box.label
        key = (box.kind, label, box.detail, box.ports, frozenset(home[user] for user in users[place]))
        home[place] = first.setdefault(key, place)
    return _merged(boxes, home, _alike_text)


def _alike_text(members: Sequence[Box]) -> str:
    return f"{len(members)} arrays" if members[0].kind == "leaf" else f"{members[0].label} × {len(members)}"


def _merged(boxes: Sequence[Box], home: Sequence[int], text: Callable[[Sequence[Box]], str]) -> list[Box]:
    """One box for all that share a home, which has the inputs of all of them."""
    groups: dict[int, list[int]] = {}
    for place in range(len(boxes)):
        groups.setdefault(home[place], []).append(place)
    kept = sorted(groups)
    place = {old: new for new, old in enumerate(kept)}
    result = []
    for old in kept:
        members = groups[old]
        if len(members) == 1:
            box = replace(boxes[old], inputs=tuple(place[home[source]] for source in boxes[old].inputs))
        else:
            inside = [boxes[member] for member in members]
            outer = dict.fromkeys(place[home[s]] for box in inside for s in box.inputs if home[s] != old)
            titles = Counter(box.title for box in inside)
            title = "; ".join(f"{title} × {count}" if count > 1 else title for title, count in titles.items())
            box = Box(text(inside), boxes[old].detail, boxes[old].kind, tuple(outer), (), title)
        result.append(box)
    return result


def truncated(boxes: Sequence[Box], limit: int) -> list[Box]:
    """The ``limit`` boxes nearest to the result, and one that stands for the others."""
    kept = {len(boxes) - 1: None}
    for place in kept.copy() and _by_distance(boxes):
        if len(kept) < limit:
            kept[place] = None
    place = {old: new for new, old in enumerate(sorted(kept), start=1)}
    rest = Box(f"{len(boxes) - len(kept)} more", "", "leaf", title="boxes that are not drawn")
    result = [rest]
    for old in sorted(kept):
        inputs = tuple(dict.fromkeys(place.get(source, 0) for source in boxes[old].inputs))
        whole = all(source in place for source in boxes[old].inputs)
        result.append(replace(boxes[old], inputs=inputs, ports=boxes[old].ports if whole else ()))
    return result


def _by_distance(boxes: Sequence[Box]) -> Iterator[int]:
    """The places of boxes, those that the fewest steps part from the result first."""
    row, seen = [len(boxes) - 1], {len(boxes) - 1}
    while row:
        yield from row
        row = [source for source in dict.fromkeys(s for place in row for s in boxes[place].inputs) if source not in seen]
        seen.update(row)
