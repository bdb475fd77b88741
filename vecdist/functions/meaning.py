"""What interpreting a function holds: what its names stand for, the path that it is on, what its syntax means."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from vecdist.functions.numbers import Numbers
from vecdist.functions.source import Problem, Unclear, Written
from vecdist.graph.node import Node

Path = Node | bool
"""Where a statement counts: where this holds."""
Names = dict[str, Any]


@final
@dataclass(eq=False)
class Trace:
    """One call that is being interpreted, with all that it calls in turn.

    ``inside`` counts the loops around a statement that have become nodes, ``copies`` the turns around it that have
    become copies; ``limit`` bounds the turns of an element.
    """

    numbers: Numbers
    limit: int | None
    stack: list[Written] = field(default_factory=list)
    inside: int = 0
    copies: int = 1


@final
@dataclass(eq=False)
class Frame:
    """A function that is being interpreted.

    ``outer`` is the path of the call, ``path`` that inside the function, False where nobody gets; ``results`` are what
    it has returned and ``exits`` what has left the turn of the loop around it, each with its path.
    """

    trace: Trace
    written: Written
    names: Names
    outer: Path = True
    path: Path = True
    results: list[tuple[Path, Any]] = field(default_factory=list)
    exits: list[tuple[type[ast.stmt], Path, Names]] = field(default_factory=list)

    @property
    def numbers(self) -> Numbers:
        return self.trace.numbers

    @property
    def active(self) -> Path:
        """Where a statement counts, all calls considered."""
        return self.numbers.both(self.outer, self.path)

    def value_of(self, name: str) -> Any:
        """What a name stands for."""
        if name in self.names:
            found = self.names[name]
            if isinstance(found, Unclear):
                raise Problem(f"{name}: {found.reason}")
            return found
        if name in self.written.own:
            raise Problem(f"{name} has no value on this path")
        try:
            return self.written.look(name)
        except NameError:
            raise Problem(f"{name} has no value") from None

    def bind(self, target: ast.expr, value: Any) -> None:
        """Give names values."""
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            return
        if not isinstance(target, ast.Tuple | ast.List):
            raise Problem("only names can be given values, not elements, attributes or *rest")
        values = self.numbers.items(value)
        if len(values) != len(target.elts):
            raise Problem(f"{len(values)} values for {len(target.elts)} names")
        for each, of_it in zip(target.elts, values, strict=True):
            self.bind(each, of_it)

    def choose(self, condition: Path, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """Run one of two blocks where that is known, else both, each on its path, and merge what names stand for."""
        if not isinstance(condition, Node):
            (yes if condition else no)()
            return
        path, names = self.path, self.names
        ends: list[tuple[Path, Names]] = []
        for side, block in ((condition, yes), (self.numbers.negated(condition), no)):
            self.path, self.names = self.numbers.both(path, side), dict(names)
            block()
            ends.append((self.path, self.names))
        (first, of_yes), (second, of_no) = ends
        self.path = joined(first, second)
        if first is False or second is False:
            self.names = of_yes if second is False else of_no
        else:
            self.names = merged(self.numbers, condition, of_yes, of_no)

    def join(self, ends: Sequence[tuple[Path, Names]]) -> None:
        """Go on where several paths end, which exclude each other."""
        self.path, self.names = ends[-1] if ends else (False, self.names)
        for path, names in reversed(ends[:-1]):
            self.names = merged(self.numbers, path, names, self.names)
            self.path = joined(path, self.path)

    def result(self) -> Any:
        """What the function gives, whichever path it took."""
        results = self.results if self.path is False else [*self.results, (self.path, None)]
        value = results[-1][1]
        for path, each in reversed(results[:-1]):
            value = self.numbers.merged(path, each, value)
        if isinstance(value, Unclear):
            raise Problem(f"{self.written.name} has no one kind of result: {value.reason}")
        return value


def merged(numbers: Numbers, condition: Path, yes: Names, no: Names) -> Names:
    """What names stand for behind two paths."""
    missing = Unclear("it has a value on some paths only")
    every = dict.fromkeys((*yes, *no))
    return {name: numbers.merged(condition, yes.get(name, missing), no.get(name, missing)) for name in every}


def joined(first: Path, second: Path) -> Path:
    """Where one of two paths goes, which exclude each other; both sides of a fork are the path before it."""
    if not isinstance(first, Node) or not isinstance(second, Node):
        known, other = (second, first) if isinstance(first, Node) else (first, second)
        return True if known else other
    before, side = first.args if first.op == "and" else (None, first)
    beside, other = second.args if second.op == "and" else (None, second)
    if before is beside and (_negates(side, other) or _negates(other, side)):
        return True if before is None else before
    return first | second


def _negates(one: Node, other: Node) -> bool:
    return one.op == "not" and one.args[0] is other


MEANINGS: dict[type[ast.AST], Callable[[Frame, Any], Any]] = {}
Meaning = Callable[[Frame, Any], Any]


def means(*syntax: type[ast.AST]) -> Callable[[Meaning], Meaning]:
    """Enter what a kind of syntax means: what is not entered is refused."""

    def enter(meaning: Meaning) -> Meaning:
        MEANINGS.update(dict.fromkeys(syntax, meaning))
        return meaning

    return enter


def evaluate(frame: Frame, node: ast.AST) -> Any:
    """The value of an expression, or the effect of a statement; ``TypeError`` with its place where it has none."""
    try:
        return MEANINGS[type(node)](frame, node)
    except (Problem, ArithmeticError, ValueError) as problem:  # or what is wrong with numbers that are known by now
        raise frame.written.refusal(node, problem) from None


def run(frame: Frame, body: Sequence[ast.stmt]) -> None:
    """Statements in order, as far as somebody gets."""
    for statement in body:
        if frame.path is False:
            return
        evaluate(frame, statement)


def inlined(trace: Trace, written: Written, values: Names, outer: Path) -> Any:
    """What a function gives for the values of its parameters, called on a path."""
    if any(each.tree is written.tree for each in trace.stack):
        raise Problem(f"{written.name} calls itself; write a loop")
    frame = Frame(trace, written, dict(values), outer)
    trace.stack.append(written)
    try:
        run(frame, written.body)
        return frame.result()
    finally:
        trace.stack.pop()
