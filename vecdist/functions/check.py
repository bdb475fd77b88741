"""What of a function can be refused when it is defined, by its text and by what its names stand for."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

from vecdist.functions.callables import known_call
from vecdist.functions.meaning import MEANINGS
from vecdist.functions.source import Problem, Written, constant, described, read

PARTS = (
    ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop, ast.arguments, ast.arg, ast.keyword, ast.Slice,
    ast.Starred, ast.comprehension,
)
REASONS: dict[type[ast.AST], str] = {
    ast.Assert: "an error cannot be raised from a kernel; give math.nan where something is wrong",
    ast.AsyncFunctionDef: "a kernel waits for nobody",
    ast.Await: "a kernel waits for nobody",
    ast.ClassDef: "objects are not numbers; write functions of numbers",
    ast.Delete: "a name keeps its value; leave it as it is",
    ast.Dict: "a dict is no number; give its values as arguments",
    ast.DictComp: "a dict is no number; give its values as arguments",
    ast.Global: "names outside of a function cannot be changed by it; return the value",
    ast.Import: "import outside of the function",
    ast.ImportFrom: "import outside of the function",
    ast.JoinedStr: "a string is no number",
    ast.Match: "write if and elif",
    ast.NamedExpr: "give the name its value in a statement before",
    ast.Nonlocal: "names outside of a function cannot be changed by it; return the value",
    ast.Raise: "an error cannot be raised from a kernel; return math.nan where something is wrong",
    ast.Set: "a set is no number; write a tuple",
    ast.SetComp: "a set is no number; write a loop over numbers",
    ast.Try: "no errors are raised in a kernel, and none can be caught; test before",
    ast.TryStar: "no errors are raised in a kernel, and none can be caught; test before",
    ast.With: "a kernel has nothing that must be closed",
    ast.Yield: "one result for all; return it",
    ast.YieldFrom: "one result for all; return it",
}


def check(written: Written) -> None:
    """Raise ``TypeError``, with its place, for what cannot be made into a graph, here or in what is called."""
    _Check(written, (), written.own, {written.tree}).of(written.tree)


class _Check:
    """A function as it is read, and those that call it.

    ``own`` are its names, and those of functions around it; ``seen`` is what has been read.
    """

    def __init__(
        self, written: Written, callers: tuple[Written, ...], own: frozenset[str], seen: set[ast.AST]
    ) -> None:
        self.seen = seen
        self.written = written
        self.callers = callers
        self.own = own

    def of(self, tree: ast.FunctionDef | ast.Lambda) -> None:
        if tree.args.vararg or tree.args.kwarg:
            raise self.written.refusal(tree, "it takes its arguments one by one, without * and **")
        for each in tree.body if isinstance(tree, ast.FunctionDef) else [tree.body]:
            self.node(each)

    def node(self, node: ast.AST) -> None:
        try:
            self._node(node)
        except Problem as problem:
            raise self.written.refusal(node, problem) from None

    def _node(self, node: ast.AST) -> None:
        if type(node) not in MEANINGS and not isinstance(node, PARTS):
            raise Problem(f"{_syntax(node)}: {REASONS.get(type(node), 'it has no meaning in a kernel')}")
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            self._inner(node)
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        self._named(node)
        for each in ast.iter_child_nodes(node):
            if not (isinstance(each, ast.expr) and isinstance(node, ast.AnnAssign) and each is node.annotation):
                self.node(each)

    def _inner(self, node: ast.FunctionDef | ast.Lambda) -> None:
        inner = Written(node, self.written.file, self.written.look, {})
        for each in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.node(each)
        if isinstance(node, ast.FunctionDef):
            again = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == node.name]
            if again and node.name not in inner.own:
                raise Problem(f"{node.name} calls itself; write a loop")
            if node.decorator_list:
                raise Problem("a function inside another one has no decorators")
        _Check(inner, (*self.callers, self.written), self.own | inner.own, self.seen).of(node)

    def _named(self, node: ast.AST) -> None:
        """What names and attributes stand for, and constants."""
        if isinstance(node, ast.Assign | ast.AugAssign | ast.For | ast.comprehension):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._target(target)
        elif isinstance(node, ast.Constant) and not isinstance(node.value, bool | int | float | None):
            raise Problem(f"a {type(node.value).__name__} is no number")
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            value = self._value(node)
            value = getattr(value, "py_func", value)
            if isinstance(value, FunctionType) and known_call(value) is None:
                self._follow(value)
        elif isinstance(node, ast.Call):
            self._call(node)

    def _is_own(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.own

    def _target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._target(each)
        elif not isinstance(target, ast.Name):
            raise Problem("only names can be given values, not elements, attributes or *rest")

    def _value(self, node: ast.expr) -> Any:
        """What an expression of names and attributes stands for; ``...`` where nobody knows by now."""
        if isinstance(node, ast.Attribute):
            of = self._value(node.value)
            of_number = not isinstance(node.value, ast.Name | ast.Attribute) or self._is_own(node.value)
            if of_number or (of is not ... and not isinstance(of, ModuleType)):
                what = "numbers" if of_number else described(of)
                raise Problem(f"an attribute, .{node.attr}: only modules have some here, not {what}")
            return ... if of is ... else constant(getattr(of, node.attr, None))
        if not isinstance(node, ast.Name) or node.id in self.own:
            return ...
        callers = (*self.callers, self.written)
        try:
            value = self.written.look(node.id)
        except NameError:
            value = ...  # it may have one when the function is called
        again = value is ... and node.id in {each.name for each in callers}
        qualified = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
        if again or qualified in {each.qualified for each in callers}:  # or what a cell of a notebook made before
            by = "" if node.id == self.written.name else f", by {self.written.name}"
            raise Problem(f"{node.id} calls itself{by}; write a loop")
        return value

    def _call(self, node: ast.Call) -> None:
        if any(each.arg is None for each in node.keywords):
            raise Problem("arguments by name are given one by one, without **")
        callee = self._value(node.func)
        callee = getattr(callee, "py_func", callee)
        if callee is ... or hasattr(callee, "traced") or isinstance(callee, FunctionType):
            return
        if not callable(callee) or known_call(callee) is None:
            raise Problem(f"{ast.unparse(node.func)} cannot be called here: it is no function of numbers that is known")

    def _follow(self, function: FunctionType) -> None:
        """Check a function that is called, which may be none of its callers."""
        inner = read(function)
        around = (*self.callers, self.written)
        if any(each.tree is inner.tree for each in around):
            raise Problem(f"{inner.name} calls itself; write a loop")
        if inner.tree not in self.seen:
            self.seen.add(inner.tree)
            _Check(inner, around, inner.own, self.seen).of(inner.tree)


def _syntax(node: ast.AST) -> str:
    """Syntax in a word or two."""
    words = {ast.FunctionDef: "def", ast.NamedExpr: ":=", ast.JoinedStr: "a format", ast.TryStar: "try"}
    return words.get(type(node), type(node).__name__.lower())
