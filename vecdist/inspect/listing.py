"""Graphs as text: a line for each node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vecdist.graph.node import Node, topological
from vecdist.inspect.diagram import index_text, literal, shape_text, view_text
from vecdist.primitives.structure import is_reduction


def listing(roots: Sequence[Node], leaves: Mapping[Node, str], results: Sequence[str]) -> str:
    """One line per node, arguments first: what it is, its dtype and shape, and which of ``results`` it is, if one.

    Numbers stand where they are used.
    """
    nodes = [node for node in topological(roots) if literal(node) is None or node in roots]
    inner = (node for node in nodes if node not in leaves)
    names = {**leaves, **{node: f"%{number}" for number, node in enumerate(inner)}}
    rows = []
    for node in nodes:
        of_node = [result for root, result in zip(roots, results, strict=False) if root is node]
        rows.append((f"{names[node]} = {_definition(node, names)}", shape_text(node), ", ".join(of_node)))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{text:{widths[0]}}    {shape:{widths[1]}}    {note}".rstrip() for text, shape, note in rows)


def _definition(node: Node, names: Mapping[Node, str]) -> str:
    """A node in terms of the names of its arguments."""
    value = literal(node)
    args = [names[arg] if literal(arg) is None else f"{literal(arg):.6g}" for arg in node.args]
    inside = ", ".join(args)
    match node.op:
        case "leaf":
            return f"array {node.attrs[0].name or ''}".rstrip()
        case "slot":
            return f"{node.attrs[1]} input"
        case "checked":
            return f"checked({args[0]}; {node.attrs[0][0]}: {', '.join(_checks(node, args))})"
        case op if is_reduction(node):
            axes = [axis + node.ndim for axis in node.attrs[0]]
            return f"{op}({inside})" if len(axes) == node.ndim else f"{op}({inside}, axis={', '.join(map(str, axes))})"
        case "gather":
            return args[0] + index_text(args[1:], node)
        case "scatter":
            return f"{args[0]} added up at {index_text(args[1:], node)}"
        case "view":
            text = view_text(node)
            return f"{inside}{text}" if text.startswith("[") else f"{text}({inside})"
        case "recurrence":
            step, number, last = node.attrs
            way = " backwards" if step.backwards else ""
            return f"carry {number} {'behind the last step' if last else 'before each step'}{way} of ({inside})"
        case "extent" if not node.args:
            return f"number of elements along {', '.join(node.attrs[0])}"
        case "cast":
            return f"{node.dtype}({inside})"
    if value is not None:
        return f"{value:.6g}"
    return f"{node.op}({', '.join([*args, *map(str, node.attrs)])})"


def _checks(node: Node, args: Sequence[str]) -> Iterator[str]:
    """The arguments of a checked node, with the conditions that make them valid."""
    for (_, name, _), valid, text, given in zip(node.attrs, node.args[1::2], args[1::2], args[2::2], strict=True):
        yield f"{name} {given}" + ("" if valid.is_const(True) else f" if {text}")
