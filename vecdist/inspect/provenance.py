"""Where the statements of a kernel come from: the primitive that each is a step of, and what of it the user wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vecdist.codegen.cpu import plan as cpu_plan
from vecdist.codegen.cuda import plan as cuda_plan
from vecdist.graph.node import Node, topological
from vecdist.inspect.diagram import density_arguments, has_indices_checked, literal
from vecdist.kernel.code import For, If, Note, While, lines
from vecdist.kernel.ir import Kernel
from vecdist.passes.bind import Bound
from vecdist.passes.checks import split_checks
from vecdist.passes.order import ON_PRIMITIVES, ON_TARGET, Pass, passed
from vecdist.runtime.pipeline import Plan, scheduled

SLOPE = "derivative of "


class Step(NamedTuple):
    """What a statement is a step of: a primitive, and a log density as the user wrote it, empty where it is of none."""

    node: Node
    density: str

    @property
    def primitive(self) -> str:
        return self.node.op if self.node.args else ""


Steps = Mapping[str, Step]


def provenance(plan: Plan, roots: Sequence[Node], bound: Bound) -> dict[str, Step]:
    """What the values of a kernel are steps of, by their names.

    ``roots`` are the user's, of which ``bound`` is the structure.  What no pass can say of a value is left out.
    """
    if plan.lowered is None:
        return {}
    made: dict[str, Node] = {}
    scheduled(plan.lowered, plan.chosen, made)
    behind = _images(plan.primitives, (*ON_TARGET, *plan.passes))
    steps = _owners(made.values(), behind)
    wrote = _written(plan.graph, roots, bound)
    whole = {name: steps[node] for name, node in made.items() if node in steps}
    return {name: Step(node, wrote.get(node, "")) for name, node in whole.items()}


def _images(roots: Sequence[Node], passes: Sequence[Pass]) -> dict[Node, Node]:
    """What nodes become by some passes, with the nodes themselves; the first of those that become the same."""
    nodes = [node for node in topological(roots) if node.op not in {"const", "slot"}]
    found: dict[Node, Node] = {}
    for node, image in zip(nodes, passed(nodes, passes), strict=True):
        found.setdefault(image, node)
    return found


def _owners(made: Iterable[Node], behind: Mapping[Node, Node]) -> dict[Node, Node]:
    """The primitive of each node: the one whose value it is, or that which the first of its users is a step of."""
    found: dict[Node, Node] = {}
    for node in reversed(list(topological(tuple(made)))):
        if node in behind:
            found[node] = behind[node]
        for arg in node.args:
            if node in found:
                found.setdefault(arg, found[node])
    return found


def _written(graph: Sequence[Node], roots: Sequence[Node], bound: Bound) -> dict[Node, str]:
    """The log density of the user's that each node of a derived graph is part of, or is derived from."""
    densities: dict[Node, str] = {}
    for own, node in _checks(roots, bound.roots):
        if not has_indices_checked(own):
            given = set(node.args[2::2])
            for inner in topological((node.args[0],), lambda n, given=given: () if n in given else n.args):
                if inner not in given:
                    densities.setdefault(inner, _density(own))
    known = dict(zip(split_checks(tuple(densities))[0], densities.values(), strict=True))
    values = set(topological(split_checks(bound.roots)[0]))
    derived = [node for node in topological(graph) if node not in values]
    for node in derived:
        of = next((known[arg] for arg in node.args if arg in known), "")
        if of:
            known[node] = of if of.startswith(SLOPE) else SLOPE + of
    for node in reversed(derived):
        for arg in node.args:
            if node in known and arg not in values:
                known.setdefault(arg, known[node])
    images = _images(graph, ON_PRIMITIVES)
    return {image: known[node] for image, node in images.items() if node in known}


def _checks(roots: Sequence[Node], structure: Sequence[Node]) -> list[tuple[Node, Node]]:
    """The checked nodes that a user made, and those of the structure; none where two of them became one."""
    own, bound = ([node for node in topological(each) if node.op == "checked"] for each in (roots, structure))
    return list(zip(own, bound, strict=True)) if len(own) == len(bound) else []


def _density(node: Node) -> str:
    """A log density, or another verb of a distribution, as the call that made it."""
    verb = next((f"{label[2]} of " for label in node.attrs if label[1] == "x" and label[2]), "")
    given = [f"{name}={_called(value)}" for name, value in density_arguments(node) if name != "x"]
    return f"{verb}{node.attrs[0][0]}({', '.join(given)})"


def _called(node: Node) -> str:
    """A parameter by its name or number, where it has one."""
    while node.op in {"cast", "view"}:
        (node,) = node.args
    value = literal(node)
    name = node.attrs[0].name if node.op == "leaf" else None
    return name or ("·" if value is None else f"{value:.6g}")


def as_it_runs(kernel: Kernel, device: str, steps: Steps) -> str:
    """A kernel as it runs on a device, whose passes make statements of its outermost loops."""
    root, planned = kernel.root, cpu_plan.planned if device == "cpu" else cuda_plan.planned
    nests = {nest.loop: nest.items for nest in planned(kernel)}
    each = [part for level in root.levels for part in (root.statements(level), *map(nests.get, root.loops(level)))]
    return "\n".join(line for part in each if part for line in lines(headed(part, steps)))


def headed(items: Sequence[Any], steps: Steps) -> tuple[Any, ...]:
    """Statements, those of structured ones too, with a remark before each run of steps to the same end."""
    found: list[Any] = []
    before = ""
    for place, item in enumerate(items):
        text = _head(items[place : place + 2], steps)
        if text and text != before:
            found.append(Note(text))
        before = text or before
        found.append(_inside(item, steps))
    return tuple(found)


def _inside(item: Any, steps: Steps) -> Any:
    match item:
        case For() | While():
            return replace(item, body=headed(item.body, steps))
        case If():
            return replace(item, body=headed(item.body, steps), orelse=headed(item.orelse, steps))
    return item


def _head(run: Sequence[Any], steps: Steps) -> str:
    """What the first of two statements is a step of; what is one statement has its own name."""
    first, *after = (_step(item, steps) for item in run)
    if first is None:
        return ""
    several = after == [first] or getattr(run[0], "op", first.primitive) != first.primitive
    return ", ".join(filter(None, (first.primitive if several else "", first.density)))


def _step(item: Any, steps: Steps) -> Step | None:
    """What a statement is a step of; the copies of one in an unrolled loop have its name and a number."""
    name = getattr(item, "name", "")
    return steps.get(name) or steps.get(name.partition("_")[0])
