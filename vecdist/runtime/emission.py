"""Generated source as LLVM IR: what Numba's front end makes of it, in a small part of the time.

A function of generated source becomes an intrinsic, and Numba compiles a call of that: it remains the compiler of both
targets, with its conventions of calls, its caches and its libraries.  What an operation is comes from its tables.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, final

from llvmlite import ir
from numba.core import cgutils, types

from vecdist.runtime import typed
from vecdist.runtime.typed import Type, Typed, Written, elements, meaning_of

VERSION = b"".join(Path(module).read_bytes() for module in (__file__, typed.__file__))  # what shapes machine code
Value = Any  # of LLVM; None for what is known when compiling


_numbers = itertools.count()
_written: weakref.WeakValueDictionary[int, Written] = weakref.WeakValueDictionary()


def emitter(intrinsic: Callable[..., Any]) -> Any:
    """The intrinsic of a target, by its decorator: ``emitted(number, arguments)`` of what was written.

    There is one for all, as Numba never forgets an intrinsic; what it remembers of a call is a number.
    """

    def emitted(context, number, arguments):  # noqa: ANN001, ANN202
        if not isinstance(number, types.IntegerLiteral):
            return None  # Numba asks again, with the number
        given = number.literal_value
        made = _written[given].typed(context, arguments.types)

        def codegen(target, builder, signature, values):  # noqa: ANN001, ANN202
            each = cgutils.unpack_tuple(builder, values[1], len(signature.args[1]))
            own = _written[given]
            if own.apart:
                builder.function.attributes.add("noinline")
            return _Statements(_Module(target, builder.module), own.made, builder).write(each)

        return made.result(number, arguments), codegen

    return intrinsic(emitted)


def called_by_numba(written: Written, emitted: Any) -> Any:
    """A function for Numba that is nothing but what was written, and keeps it."""
    number, names = next(_numbers), ", ".join(written.parameters)
    _written[number] = written
    told = {"emitted": emitted, "written": written, "__name__": written.names["__name__"]}
    exec(f"def {written.name}({names}):\n    return emitted({number}, ({names},))\n", told)
    return told[written.name]


def _kept_whole(module: ir.Module, unrolled: str) -> ir.MDValue:
    """What tells LLVM to leave a loop as it is; the assembler may still unroll it ``later``."""
    kind = {"never": "disable", "later": "runtime.disable"}[unrolled]
    told = module.add_metadata([ir.MetaDataString(module, f"llvm.loop.unroll.{kind}")])
    loop = ir.MDValue(module, [told], name=str(len(module.metadata)))
    loop.operands = (loop, told)  # a loop is known by a node that names itself
    return loop


@final
class _Module:
    """The functions of one LLVM module, each emitted when it is first called."""

    def __init__(self, target: Any, module: ir.Module) -> None:
        self.target, self.module = target, module
        self.as_written = not target.enable_nrt  # on CUDA: what is worth unrolling in part is unrolled in the source
        self.functions: dict[Typed, ir.Function] = {}

    def call(self, builder: ir.IRBuilder, made: Typed, arguments: Sequence[Value]) -> Value:
        convention = self.target.call_conv
        if made not in self.functions:
            self.functions[made] = self.emitted(made)
        function = self.functions[made]
        status, result = convention.call_function(builder, function, made.result, made.arguments, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    def emitted(self, made: Typed) -> ir.Function:
        convention = self.target.call_conv
        kind = convention.get_function_type(made.result, made.arguments)
        name = self.module.get_unique_name(f"vecdist_{made.written.name}")
        function = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        if made.written.merged:
            function.attributes.add("alwaysinline")
        convention.decorate_function(function, made.written.parameters, made.arguments)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        given = convention.decode_arguments(builder, made.arguments, function)
        result = _Statements(self, made, builder).write(given)
        convention.return_value(builder, self.target.get_return_value(builder, made.result, result))
        return function


@final
class _Statements(ast.NodeVisitor):
    """The instructions of a function's statements, at the place of a builder."""

    def __init__(self, module: _Module, made: Typed, builder: ir.IRBuilder) -> None:
        self.module, self.target, self.made, self.builder = module, module.target, made, builder
        self.places: dict[str, Value] = {}
        self.owned: list[tuple[Type, Value]] = []  # arrays that are made here, and let go of at the end
        self.depth = 0  # of loops and choices
        self.result: Value = None

    def write(self, arguments: Sequence[Value]) -> Value:
        """What the function returns, for arguments of its types."""
        for name, kind, value in zip(self.made.written.parameters, self.made.arguments, arguments, strict=True):
            self.store(name, value, kind)
        self.result = self.target.get_dummy_value()
        self.block(self.made.written.body)
        for kind, array in self.owned:
            self.target.nrt.decref(self.builder, kind, array)
        return self.result

    # values

    def expression(self, node: ast.AST) -> Value:
        return self.visit(node)

    def as_type(self, node: ast.AST, kind: Type) -> Value:
        return self.cast(self.expression(node), self.made.of[node], kind)

    def cast(self, value: Value, kind: Type, wanted: Type) -> Value:
        if kind == wanted:
            return value
        return self.target.cast(self.builder, value, kind, wanted)

    def test(self, node: ast.AST) -> Value:
        return self.as_type(node, types.boolean)

    def call(self, node: Any, arguments: Sequence[tuple[Value, Type]]) -> Value:
        """What the types say is called here."""
        function, signature = self.made.calls[node]
        emitter = self.target.get_function(function, signature)
        result = emitter(self.builder, self.fitted(arguments, signature.args))
        self.target.add_linking_libs(getattr(emitter, "libs", ()))
        return result

    def fitted(self, arguments: Sequence[tuple[Value, Type]], wanted: Sequence[Type]) -> list[Value]:
        """Arguments as a function takes them: those of a function of any number are one tuple."""
        star = wanted[-1] if wanted and isinstance(wanted[-1], types.StarArgTuple | types.StarArgUniTuple) else None
        own = len(wanted) - (star is not None)
        each = [*wanted[:own], *(star.types if star else ())]
        values = [self.cast(value, kind, to) for (value, kind), to in zip(arguments, each, strict=True)]
        if star is None:
            return values
        return [*values[:own], self.target.make_tuple(self.builder, star, values[own:])]

    def pairs(self, nodes: Sequence[ast.AST]) -> list[tuple[Value, Type]]:
        return [(self.expression(node), self.made.of[node]) for node in nodes]

    def load(self, name: str) -> Value:
        return self.builder.load(self.places[name])

    def store(self, name: str, value: Value, kind: Type) -> None:
        wanted = self.made.names[name]
        if name not in self.places:
            self.places[name] = cgutils.alloca_once(self.builder, self.target.get_value_type(wanted), name=name)
        self.builder.store(self.cast(value, kind, wanted), self.places[name])

    # statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for item in body:
            self.visit(item)

    def visit_Assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            given = self.pairs(node.value.elts)
            for each, (value, kind) in zip(target.elts, given, strict=True):
                self.put(each, value, kind)
            return
        value, kind = self.expression(node.value), self.made.of[node.value]
        if self.target.enable_nrt and isinstance(kind, types.Array) and isinstance(node.value, ast.Call):
            assert not self.depth, "an array is made once"
            self.owned.append((kind, value))
        self.put(target, value, kind)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        value = self.call(node, self.pairs((node.target, node.value)))
        self.put(node.target, value, self.made.calls[node][1].return_type)

    def put(self, target: ast.AST, value: Value, kind: Type) -> None:
        match target:
            case ast.Name(name):
                self.store(name, value, kind)
            case ast.Tuple(targets):
                assert isinstance(kind, types.BaseTuple)
                for place, (each, part) in enumerate(zip(targets, elements(kind), strict=True)):
                    self.put(each, self.builder.extract_value(value, place), part)
            case ast.Subscript(array, index):
                self.call(target, [*self.pairs((array, index)), (value, kind)])

    def visit_Expr(self, node: ast.Expr) -> None:
        self.expression(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        """Nothing."""

    def visit_Return(self, node: ast.Return) -> None:
        assert not self.depth, "a function ends where its statements do"
        if node.value is not None:
            self.result = self.as_type(node.value, self.made.result)

    def visit_If(self, node: ast.If) -> None:
        with self.builder.if_else(self.test(node.test)) as (yes, no):
            self.depth += 1
            with yes:
                self.block(node.body)
            with no:
                self.block(node.orelse)
            self.depth -= 1

    def visit_While(self, node: ast.While) -> None:
        with self.loop(lambda: self.test(node.test), "never"):
            self.block(node.body)

    @contextlib.contextmanager
    def loop(self, holds: Callable[[], Value], unrolled: str) -> Iterator[None]:
        """A loop while something holds, whose body is written inside, and how far it may be unrolled."""
        head, body, end = (self.builder.append_basic_block(name) for name in ("while", "do", "done"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(holds(), body, end)
        self.builder.position_at_end(body)
        self.depth += 1
        yield
        self.depth -= 1
        back = self.builder.branch(head)
        if self.module.as_written and unrolled != "whole":
            back.set_metadata("llvm.loop", _kept_whole(self.builder.module, unrolled))
        self.builder.position_at_end(end)

    def visit_For(self, node: ast.For) -> None:
        """A loop over a range, whose step is positive where it is not a negative constant."""
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        kind, bounds = self.made.of[node], node.iter.args
        values = [self.as_type(each, kind) for each in bounds]
        first = values[0] if len(values) > 1 else self.target.get_constant(kind, 0)
        last = values[min(1, len(values) - 1)]
        step = values[2] if len(values) > 2 else self.target.get_constant(kind, 1)
        down = len(bounds) > 2 and isinstance(self.made.of[bounds[2]], types.IntegerLiteral) and (
            self.made.of[bounds[2]].literal_value < 0
        )
        compare = self.builder.icmp_signed if kind.signed else self.builder.icmp_unsigned
        counter = cgutils.alloca_once_value(self.builder, first)
        unrolled = "whole" if self.is_known(node) else "later" if any(map(self.is_fixed, ast.walk(node))) else "never"
        with self.loop(lambda: compare(">" if down else "<", self.builder.load(counter), last), unrolled):
            at = self.builder.load(counter)
            self.store(node.target.id, at, kind)
            more: Any = self.builder.add  # llvmlite's stubs know no flags
            self.builder.store(more(at, step, flags=["nsw"]), counter)
            self.block(node.body)

    def is_known(self, node: ast.For) -> bool:
        """Whether a loop runs a known number of times, and becomes a straight line."""
        assert isinstance(node.iter, ast.Call)
        return all(isinstance(self.made.of.get(each), types.IntegerLiteral) for each in node.iter.args)

    def is_fixed(self, node: ast.AST) -> bool:
        """Whether it is a loop over an axis of known length, of which a row is one straight line."""
        match node:
            case ast.For(iter=ast.Call(args=[*_, ast.Name()])):
                return self.is_known(node)
        return False

    # expressions

    def visit_Constant(self, node: ast.Constant) -> Value:
        return self.target.get_constant_generic(self.builder, self.made.of[node], node.value)

    def visit_Name(self, node: ast.Name) -> Value:
        if node.id in self.made.names:
            return self.load(node.id)
        kind = self.made.of[node]
        if isinstance(kind, types.Dummy | types.Callable | types.Module):
            return self.target.get_dummy_value()
        return self.target.get_constant_generic(self.builder, kind, meaning_of(self.made.written.names[node.id]))

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        of, kind = self.made.of[node.value], self.made.of[node]
        emitter = self.target.get_getattr(of, node.attr)
        if emitter is None or isinstance(kind, types.Dummy | types.Callable | types.Module):
            return self.target.get_dummy_value()
        return emitter(self.target, self.builder, of, self.expression(node.value), node.attr)

    def visit_Tuple(self, node: ast.Tuple) -> Value:
        kind = self.made.of[node]
        values = [self.as_type(each, part) for each, part in zip(node.elts, kind.types, strict=True)]
        return self.target.make_tuple(self.builder, kind, values)

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        return self.call(node, self.pairs((node.left, node.right)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        kind = self.made.of[node]
        if isinstance(kind, types.IntegerLiteral):
            return self.target.get_constant_generic(self.builder, kind, kind.literal_value)
        return self.call(node, self.pairs((node.operand,)))

    def visit_Compare(self, node: ast.Compare) -> Value:
        given = self.pairs((node.left, *node.comparators))
        results = []
        for place, pair in enumerate(pairwise(given)):
            result = self.call((node, place), pair)
            results.append(self.cast(result, self.made.calls[node, place][1].return_type, types.boolean))
        whole = results[0]
        for result in results[1:]:
            whole = self.builder.and_(whole, result)
        return whole

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        """Values from left to right, until one decides."""
        first, *others = node.values
        result = cgutils.alloca_once_value(self.builder, self.test(first))
        ended = self.builder.append_basic_block("decided")
        for other in others:
            known = self.builder.load(result)
            going = self.builder.append_basic_block("undecided")
            yes, no = (going, ended) if isinstance(node.op, ast.And) else (ended, going)
            self.builder.cbranch(known, yes, no)
            self.builder.position_at_end(going)
            self.builder.store(self.test(other), result)
        self.builder.branch(ended)
        self.builder.position_at_end(ended)
        return self.builder.load(result)

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        kind = self.made.of[node]
        result = cgutils.alloca_once(self.builder, self.target.get_value_type(kind))
        with self.builder.if_else(self.test(node.test)) as (yes, no):
            with yes:
                self.builder.store(self.as_type(node.body, kind), result)
            with no:
                self.builder.store(self.as_type(node.orelse, kind), result)
        return self.builder.load(result)

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        array, index = self.made.of[node.value], self.made.of[node.slice]
        if isinstance(array, types.BaseTuple) and isinstance(index, types.IntegerLiteral):
            return self.builder.extract_value(self.expression(node.value), index.literal_value)
        return self.call(node, self.pairs((node.value, node.slice)))

    def visit_Call(self, node: ast.Call) -> Value:
        called = self.made.calls.get(node)
        if called is not None and isinstance(called[0], Typed):
            values = [self.as_type(each, kind) for each, kind in zip(node.args, called[0].arguments, strict=True)]
            return self.module.call(self.builder, called[0], values)
        function = self.made.of[node.func]
        if isinstance(function, types.NumberClass):
            return self.as_type(node.args[0], function.instance_type)
        return self.call(node, self.pairs(node.args))

    def generic_visit(self, node: ast.AST) -> Any:
        raise SyntaxError(f"generated source has no {type(node).__name__}")
