"""Generated code as LLVM IR: what Numba's front end makes of its text, in a small part of the time.

A function of generated code becomes an intrinsic, and Numba compiles a call of that: it remains the compiler of both
targets, with its conventions of calls, its caches and its libraries.  What an operation is comes from its tables.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, final

from llvmlite import ir
from numba.core import cgutils, types

from vecdist.kernel import scopes
from vecdist.kernel.code import Code, Do, For, If, Return, Set, While, walk
from vecdist.kernel.expressions import Attribute, Call, Choice, Constant, Element, Expr, Name, Operation, Several
from vecdist.kernel.scopes import values
from vecdist.runtime import typed
from vecdist.runtime.typed import Type, Typed, Written, elements, meaning_of

SHAPING = (__file__, typed.__file__, scopes.__file__)  # what shapes machine code
VERSION = b"".join(Path(module).read_bytes() for module in SHAPING)
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
            module = _Module(target, builder.module, [own.made, *own.exported.values()])
            result = _Statements(module, own.made, builder).write(each)
            for symbol, made in own.exported.items():
                module.export(symbol, made)
            return result

        return made.result(number, arguments), codegen

    return intrinsic(emitted)


def called_by_numba(written: Written, emitted: Any) -> Any:
    """A function for Numba that is nothing but what was written, and keeps it."""
    number, names = next(_numbers), "".join(f"{name}, " for name in written.parameters)
    _written[number] = written
    told = {"emitted": emitted, "written": written, "__name__": written.names["__name__"]}
    exec(f"def {written.name}({names}):\n    return emitted({number}, ({names}))\n", told)
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
    """The functions of one LLVM module, each emitted when it is first called; one of one call, in its place."""

    def __init__(self, target: Any, module: ir.Module, roots: Sequence[Typed]) -> None:
        self.target, self.module = target, module
        self.uses = Counter(roots)
        waiting = list(roots)
        for made in waiting:  # which grows meanwhile
            inner = [function for function, _ in made.calls.values() if isinstance(function, Typed)]
            waiting += [each for each in dict.fromkeys(inner) if each not in self.uses]
            self.uses.update(inner)
        self.as_written = not target.enable_nrt  # on CUDA: what is worth unrolling in part is unrolled in the source
        self.functions: dict[Typed, ir.Function] = {}

    def function(self, made: Typed) -> ir.Function:
        if made not in self.functions:
            self.functions[made] = self.emitted(made)
        return self.functions[made]

    def export(self, symbol: str, made: Typed) -> None:
        """A function of C that calls one with the arguments that lie at an address, in 64 bits each."""
        word = ir.IntType(64)
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [word.as_pointer()]), symbol)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        places = (builder.load(builder.gep(function.args[0], [word(place)])) for place in itertools.count())
        given = [self.unpacked(builder, kind, places) for kind in made.arguments]
        self.target.call_conv.call_function(builder, self.function(made), made.result, made.arguments, given)
        builder.ret_void()

    def unpacked(self, builder: ir.IRBuilder, kind: Type, words: Iterator[Value]) -> Value:
        """An argument of the words that it was packed in."""
        if isinstance(kind, types.Array):
            return self.array(builder, kind, words)
        whole = next(words)
        if not isinstance(kind, types.Float):
            return self.target.cast(builder, whole, types.int64, kind)
        return self.target.cast(builder, builder.bitcast(whole, ir.DoubleType()), types.float64, kind)

    def array(self, builder: ir.IRBuilder, kind: Type, words: Iterator[Value]) -> Value:
        from numba.np.arrayobj import make_array, populate_array  # which only compiling needs, and is long in loading

        made = make_array(kind)(self.target, builder)
        data = builder.inttoptr(next(words), made.data.type)
        shape, strides = ([next(words) for _ in range(kind.ndim)] for _ in range(2))
        size = self.target.get_constant(types.intp, self.target.get_abi_sizeof(self.target.get_data_type(kind.dtype)))
        populate_array(made, data, shape, strides, size, None)
        return made._getvalue()

    def call(self, builder: ir.IRBuilder, made: Typed, arguments: Sequence[Value]) -> Value:
        if self.uses[made] == 1 and not made.written.apart:
            return _Statements(self, made, builder).write(arguments)
        convention, function = self.target.call_conv, self.function(made)
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
        function.attributes.add("alwaysinline" if made.written.merged else "noinline")  # the same bits for every caller
        convention.decorate_function(function, made.written.parameters, made.arguments)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        given = convention.decode_arguments(builder, made.arguments, function)
        result = _Statements(self, made, builder).write(given)
        convention.return_value(builder, self.target.get_return_value(builder, made.result, result))
        return function


@final
class _Statements:
    """The instructions of a function's statements, at the place of a builder."""

    def __init__(self, module: _Module, made: Typed, builder: ir.IRBuilder) -> None:
        self.module, self.target, self.made, self.builder = module, module.target, made, builder
        self.settled = values(made.written.parameters, made.written.body)
        self.known: dict[str, Value] = {}  # of names that are nothing but a value
        self.places: dict[str, Value] = {}  # of the others
        self.memory: list[ir.AllocaInstr] = []
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
        first = self.builder.function.entry_basic_block
        first.instructions[:0] = self.memory
        if self.builder.block is first:
            self.builder.position_at_end(first)
        return self.result

    # values

    def as_type(self, node: Expr, kind: Type) -> Value:
        return self.cast(self.expression(node), self.of(node), kind)

    def of(self, node: Expr) -> Type:
        return self.made.of[id(node)]

    def cast(self, value: Value, kind: Type, wanted: Type) -> Value:
        if kind == wanted:
            return value
        return self.target.cast(self.builder, value, kind, wanted)

    def test(self, node: Expr) -> Value:
        return self.as_type(node, types.boolean)

    def call(self, node: object, arguments: Sequence[tuple[Value, Type]]) -> Value:
        """What the types say is called here."""
        function, signature = self.made.calls[id(node), len(arguments)]
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

    def pairs(self, nodes: Sequence[Expr]) -> list[tuple[Value, Type]]:
        return [(self.expression(node), self.of(node)) for node in nodes]

    def load(self, name: str) -> Value:
        return self.known[name] if name in self.settled else self.builder.load(self.places[name])

    def store(self, name: str, value: Value, kind: Type) -> None:
        wanted = self.made.names[name]
        if name in self.settled:
            self.known[name] = self.cast(value, kind, wanted)
            return
        if name not in self.places:
            self.places[name] = self.place(self.target.get_value_type(wanted), name)
        self.builder.store(self.cast(value, kind, wanted), self.places[name])

    def place(self, kind: Any, name: str = "") -> Value:
        """Memory of a name, which is made where the function begins."""
        self.memory.append(ir.AllocaInstr(self.builder.function.entry_basic_block, kind, None, name))
        return self.memory[-1]

    # statements

    def block(self, body: Sequence[Code]) -> None:
        for item in body:
            self.statement(item)

    def statement(self, item: Code) -> None:
        match item:
            case Set(Several(targets), Several(values)):
                for target, (value, kind) in zip(targets, self.pairs(values), strict=True):
                    self.put(target, value, kind)
            case Set(target, value):
                self.assign(target, value)
            case Do(call):
                self.expression(call)
            case If(test, body, orelse):
                self.branch(self.test(test), lambda: self.block(body), lambda: self.block(orelse))
            case While(test, body):
                with self.loop(lambda: self.test(test), "never"):
                    self.block(body)
            case For():
                self.turns(item)
            case Return(value):
                assert not self.depth, "a function ends where its statements do"
                if value is not None:
                    self.result = self.as_type(value, self.made.result)

    def assign(self, target: Expr, value: Expr) -> None:
        found, kind = self.expression(value), self.of(value)
        if self.target.enable_nrt and isinstance(kind, types.Array) and isinstance(value, Call):
            assert not self.depth, "an array is made once"
            self.owned.append((kind, found))
        self.put(target, found, kind)

    def put(self, target: Expr, value: Value, kind: Type) -> None:
        match target:
            case Name(name):
                self.store(name, value, kind)
            case Several(targets):
                assert isinstance(kind, types.BaseTuple)
                for place, (each, part) in enumerate(zip(targets, elements(kind), strict=True)):
                    self.put(each, self.builder.extract_value(value, place), part)
            case Element(array, index):
                self.call(target, [*self.pairs((array, index)), (value, kind)])

    def branch(self, test: Value, yes: Callable[[], None], no: Callable[[], None]) -> None:
        with self.builder.if_else(test) as (holds, fails):
            self.depth += 1
            with holds:
                yes()
            with fails:
                no()
            self.depth -= 1

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

    def turns(self, item: For) -> None:
        """A loop over a range, whose step is positive where it is not a negative constant."""
        kind = self.made.of[id(item)]
        first, last = self.as_type(item.start, kind), self.as_type(item.stop, kind)
        step = self.target.get_constant(kind, 1) if item.step is None else self.as_type(item.step, kind)
        down = isinstance(item.step, Constant) and item.step.value < 0
        compare = self.builder.icmp_signed if kind.signed else self.builder.icmp_unsigned
        counter = self.place(first.type)
        self.builder.store(first, counter)
        unrolled = "whole" if self.is_known(item) else "later" if any(map(self.is_fixed, walk((item,)))) else "never"
        with self.loop(lambda: compare(">" if down else "<", self.builder.load(counter), last), unrolled):
            at = self.builder.load(counter)
            self.store(item.index, at, kind)
            more: Any = self.builder.add  # llvmlite's stubs know no flags
            self.builder.store(more(at, step, flags=["nsw"]), counter)
            self.block(item.body)

    def is_known(self, item: For) -> bool:
        """Whether a loop runs a known number of times, and becomes a straight line."""
        bounds = (item.start, item.stop) if item.step is None else (item.start, item.stop, item.step)
        return all(isinstance(self.made.of.get(id(each)), types.IntegerLiteral) for each in bounds)

    def is_fixed(self, item: Code) -> bool:
        """Whether it is a loop over an axis of known length, of which a row is one straight line."""
        return isinstance(item, For) and isinstance(item.step or item.stop, Name) and self.is_known(item)

    # expressions

    def expression(self, node: Expr) -> Value:
        match node:
            case Name(name) if name in self.made.names:
                return self.load(name)
            case Name(name):
                return self.constant(self.of(node), meaning_of(self.made.written.names.get(name)))
            case Constant(value):
                return self.target.get_constant_generic(self.builder, self.of(node), value)
            case Operation("and" | "or", (first, second)):
                return self.decided(node.op, first, second)
            case Operation(_, args):
                return self.call(node, self.pairs(args))
            case Call():
                return self.called(node)
            case Choice(test, yes, no):
                return self.choice(self.of(node), test, yes, no)
            case Element(array, index):
                of, at = self.of(array), self.of(index)
                if isinstance(of, types.BaseTuple) and isinstance(at, types.IntegerLiteral):
                    return self.builder.extract_value(self.expression(array), at.literal_value)
                return self.call(node, self.pairs((array, index)))
            case Several(items):
                kind = self.of(node)
                values = [self.as_type(each, part) for each, part in zip(items, elements(kind), strict=True)]
                return self.target.make_tuple(self.builder, kind, values)
            case Attribute(of, name):
                return self.attribute(self.of(node), of, name)
        raise SyntaxError(f"generated code has no {type(node).__name__}")

    def constant(self, kind: Type, meaning: Any) -> Value:
        """What a name of the language means; of a function, a type or a module no value is needed."""
        if isinstance(kind, types.Dummy | types.Callable | types.Module):
            return self.target.get_dummy_value()
        return self.target.get_constant_generic(self.builder, kind, meaning)

    def attribute(self, kind: Type, of: Expr, name: str) -> Value:
        emitter = self.target.get_getattr(self.of(of), name)
        if emitter is None or isinstance(kind, types.Dummy | types.Callable | types.Module):
            return self.target.get_dummy_value()
        return emitter(self.target, self.builder, self.of(of), self.expression(of), name)

    def decided(self, op: str, first: Expr, second: Expr) -> Value:
        """The first value where that decides, else the second."""
        result = self.place(self.target.get_value_type(types.boolean))
        self.builder.store(self.test(first), result)
        known = self.builder.load(result)
        going, ended = (self.builder.append_basic_block(name) for name in ("undecided", "decided"))
        self.builder.cbranch(known, *((going, ended) if op == "and" else (ended, going)))
        self.builder.position_at_end(going)
        self.builder.store(self.test(second), result)
        self.builder.branch(ended)
        self.builder.position_at_end(ended)
        return self.builder.load(result)

    def choice(self, kind: Type, test: Expr, yes: Expr, no: Expr) -> Value:
        result = self.place(self.target.get_value_type(kind))

        def stored(node: Expr) -> Callable[[], None]:
            return lambda: self.builder.store(self.as_type(node, kind), result) and None

        self.branch(self.test(test), stored(yes), stored(no))
        return self.builder.load(result)

    def called(self, node: Call) -> Value:
        function = self.made.calls.get((id(node), len(node.args)), (None, None))[0]
        if isinstance(function, Typed):
            given = [self.as_type(each, kind) for each, kind in zip(node.args, function.arguments, strict=True)]
            return self.module.call(self.builder, function, given)
        kind = self.of(node.function)
        if isinstance(kind, types.NumberClass):
            return self.as_type(node.args[0], kind.instance_type)
        return self.call(node, self.pairs(node.args))
