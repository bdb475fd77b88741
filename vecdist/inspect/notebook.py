"""How lazy arrays and explanations are shown: a line of text, and drawings and tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from vecdist.graph.node import Node, topological
from vecdist.inspect.diagram import diagram, literal, shape_text
from vecdist.inspect.drawing import draw
from vecdist.lazy.array import LazyArray

LEFT = ' style="text-align:left"'
LAUNCHES = 1  # whatever is asked for becomes one kernel, and a kernel is one launch


def summary(node: Node, computed: bool = False) -> str:
    """A lazy array in a line, without computing it."""
    array = LazyArray(node)
    nodes = sum(found is node or literal(found) is None for found in topological((node,)))
    size = f"{nodes} node{'s' if nodes > 1 else ''}"
    state = "computed" if computed else "not computed"
    return f"LazyArray(shape={array.shape}, dtype={array.dtype}, device={array.device}, {size}, {state})"


def mimebundle(node: Node, computed: bool = False) -> dict[str, str]:
    """A lazy array for a notebook: its graph drawn, and what is known of it without computing it."""
    array = LazyArray(node)
    facts = [
        ("shape", str(array.shape)),
        ("dtype", str(array.dtype)),
        ("device", array.device),
        ("size", f"{array.size:,} ({quantity(array.size * array.dtype.itemsize)})"),
        ("kernels", str(LAUNCHES)),
        ("state", "computed" if computed else "not computed"),
    ]
    return {"text/plain": summary(node, computed), "text/html": f"{drawing(node)}\n{strip(facts)}"}


def drawing(node: Node) -> str:
    boxes, note = diagram(node)
    label = f"Graph of a lazy array of {shape_text(node)}: {len(boxes)} boxes, the result at the bottom"
    return f'<div style="overflow-x:auto;margin:4px 0">{draw(boxes, label, note)}</div>'


def table(facts: Sequence[tuple[str, str]]) -> str:
    """A fact in each row."""
    cells = (f'<th scope="row"{LEFT}>{escape(name)}</th><td{LEFT}>{escape(value)}</td>' for name, value in facts)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def strip(facts: Sequence[tuple[str, str]]) -> str:
    """A fact in each column."""
    names = "".join(f'<th scope="col"{LEFT}>{escape(name)}</th>' for name, _ in facts)
    values = "".join(f"<td{LEFT}>{escape(value)}</td>" for _, value in facts)
    return f"<table><tr>{names}</tr><tr>{values}</tr></table>"


def details(title: str, text: str, state: str = "") -> str:
    return f"<details{state}><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def quantity(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"
