"""Generated code as LLVM IR: what Numba's front end makes of its text, in a small part of the time.

What an operation is comes from Numba's tables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, final

from llvmlite import ir
from numba.core import types

from vecdist.kernel import scopes
from vecdist.kernel.code import Code, Do, For, If, Return, Set, While, walk
from vecdist.kernel.expressions import Attribute, Call, Choice, Constant, Element, Expr, Name, Operation, Several, spine
from vecdist.runtime import conventions, exports, integers, lanes, modules, outlining, typed, unrolling
from vecdist.runtime.lanes import blocks_of, mixes_widths, told
from vecdist.runtime.modules import Finished, Module
from vecdist.runtime.outlining import Part, framed, parts_of
from vecdist.runtime.typed import IN_TURN, Exports, Type, Typed, Written, bounds
from vecdist.runtime.unrolling import kept_whole

SHAPING = conventions, exports, integers, lanes, modules, outlining, scopes, typed, unrolling
VERSION = b"".join(Path(file).read_bytes() for file in (__file__, *(str(each.__file__) for each in SHAPING)))
MADE = {"empty", "zeros"}  # by the words of the CPU: arrays whose memory the function lets go of that says them
Value = Any  # of LLVM; None for what is known when compiling


def emit(target: Any, builder: ir.IRBuilder, own: Written, arguments: Sequence[Value]) -> Value:
    """What a function gives, which is written at the place of a builder."""
    if own.apart:
        builder.function.attributes.add("noinline")
    return _written(Module(target, builder.module, _written, (own.made,)), own.made, builder, None, arguments)


def export(
    target: Any, module: ir.Module, exported: Exports, found: Mapping[str, Typed], finished: Finished | None = None
) -> None:
    """Put what C calls in a module, and say when long functions of it are finished."""
    functions = Module(target, module, _written, found.values(), exported, finished)
    for symbol, made in found.items():
        functions.export(symbol, made)


def _written(module: Module, made: Typed, builder: ir.IRBuilder, words: Value, arguments: Sequence[Value]) -> Value:
    return _Statements(module, made, builder, words).write(arguments)


@final
class _Statements:
    """The instructions of a function's statements, at the place of a builder."""

    def __init__(
        self, module: Module, made: Typed, builder: ir.IRBuilder, words: Value, settled: frozenset[str] | None = None
    ) -> None:
        self.module, self.target, self.made, self.builder, self.words = module, module.target, made, builder, words
        own = made.written.function
        self.settled = scopes.values(own.parameters, own.body) if settled is None else settled
        self.lengths = lanes.known_lengths(own.body)
        self.known: dict[str, Value] = {}  # of names that are nothing but a value
        self.places: dict[str, Value] = {}  # of the others
        self.memory: list[ir.AllocaInstr] = []
        self.owned: list[tuple[Type, Value]] = []  # arrays that are made here, and let go of at the end
        self.depth = 0  # of loops and choices
        self.result: Value = None

    def write(self, arguments: Sequence[Value]) -> Value:
        """What the function returns, for arguments of its types."""
        function = self.made.written.function
        given = iter(arguments)
        for name, kind in zip(function.parameters, self.made.arguments, strict=True):
            if not self.is_read_there(name):
                self.store(name, next(given) if self.shares(name) is None else self.found(name), kind)
        self.result = self.target.get_dummy_value()
        parts = [] if self.module.as_written else parts_of(self.made)
        self.divided(parts) if parts else self.block(function.body)
        for kind, array in self.owned:
            exports.released(self.target, self.builder, kind, array)
        self.ended()
        return self.result

    def ended(self) -> None:  # for the memory of a function is made where it begins
        first = self.builder.function.entry_basic_block
        first.instructions[:0] = self.memory
        if self.builder.block is first:
            self.builder.position_at_end(first)

    # parts of long functions

    def divided(self, parts: Sequence[Part]) -> None:
        """Calls of parts, which are functions; what they leave to each other lies in a frame of words."""
        word, conventions, parameters = ir.IntType(64), self.module.conventions, self.made.written.function.parameters
        places, size = framed(parts, self.size)
        frame = self.builder.bitcast(self.place(ir.ArrayType(word, size)), word.as_pointer())
        for name in places.keys() & set(parameters):  # which are given other values
            word_of = self.builder.gep(frame, [word(places[name])])
            self.builder.store(self.name(Name(name)), self.builder.bitcast(word_of, self.places[name].type))
        begin = [frame] if self.words is None else [frame, self.words]
        for part in parts:
            read = [name for name in parameters if name in part.names and name not in places]
            read = [name for name in read if not self.is_read_there(name)]
            taken = [name for name in read if self.shares(name) is None]
            kinds: list[Any] = [*[exports.WORDS] * len(begin), *(self.made.names[name] for name in taken)]
            named = ["frame", "words"][: len(begin)]
            plain = self.module.is_plain(self.made)
            function, given, builder = conventions.begun("part", types.none, kinds, (*named, *taken), plain=plain)
            own, passed = given[0], iter(given[len(begin) :])
            self.module.readable(given[1]) if len(begin) > 1 else None
            inner = _Statements(self.module, self.made, builder, given[len(begin) - 1], self.settled)
            for name in read:
                inner.store(name, next(passed) if name in taken else inner.found(name), self.made.names[name])
            inner.part(part, {name: builder.gep(own, [word(n)]) for name, n in places.items() if name in part.names})
            conventions.ended(builder, types.none, self.target.get_dummy_value(), plain)
            values = [self.name(Name(name)) for name in taken]
            conventions.called(self.builder, function, types.none, kinds, [*begin, *values], plain)

    def shares(self, name: str) -> int | None:
        return self.module.place(self.made, name)

    def is_read_there(self, name: str) -> bool:
        """Whether an argument is a number that functions share, which is read there each time that it is asked for."""
        number = isinstance(self.made.names[name], types.Number)
        return number and self.shares(name) is not None and name in self.settled

    def found(self, name: str) -> Value:
        """An argument that functions share, from where it lies."""
        return exports.argument(self.target, self.builder, self.made.names[name], self.words, self.module.shared[name])

    def size(self, name: str) -> int:
        """The bytes of a value."""
        sizes, kind = self.module.sizes, self.made.names[name]
        if kind not in sizes:  # LLVM reads a module of its own for each answer
            sizes[kind] = self.target.get_abi_sizeof(self.kind(name))
        return sizes[kind]

    def kind(self, name: str) -> Any:
        return self.target.get_value_type(self.made.names[name])

    def part(self, part: Part, words: Mapping[str, Value]) -> None:
        """The statements of a part, which finds values in words of a frame, and leaves them there."""
        places = {name: self.builder.bitcast(word, self.kind(name).as_pointer()) for name, word in words.items()}
        self.places |= {name: place for name, place in places.items() if name not in self.settled}
        single = self.settled & places.keys()
        self.known |= {name: self.builder.load(places[name]) for name in single - part.given}
        self.block(part.items)
        for name in single & part.given:
            self.builder.store(self.known[name], places[name])
        self.ended()

    # values

    def expression(self, item: Expr) -> Value:
        return TABLE[type(item)](self, item)

    def as_type(self, item: Expr, kind: Type) -> Value:
        return self.cast(self.expression(item), self.made.of(item), kind)

    def cast(self, value: Value, kind: Type, wanted: Type) -> Value:
        if kind == wanted:
            return value
        return self.target.cast(self.builder, value, kind, wanted)

    def test(self, item: Expr) -> Value:
        return self.as_type(item, types.boolean)

    def apply(self, called: tuple[Any, Any], arguments: Sequence[tuple[Value, Type]]) -> Value:
        """A call of what the types say."""
        function, signature = called
        emitter = self.module.emitter(function, signature)
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

    def pairs(self, items: Sequence[Expr]) -> list[tuple[Value, Type]]:
        return [(self.expression(item), self.made.of(item)) for item in items]

    def store(self, name: str, value: Value, kind: Type) -> None:
        value = self.cast(value, kind, self.made.names[name])
        if name in self.settled:
            self.known[name] = value
            return
        if name not in self.places:
            self.places[name] = self.place(self.kind(name), name)
        self.builder.store(value, self.places[name])

    def place(self, kind: Any, name: str = "") -> Value:
        """Memory, which is made where the function begins."""
        self.memory.append(ir.AllocaInstr(self.builder.function.entry_basic_block, kind, None, name))
        return self.memory[-1]

    # statements

    def block(self, items: Sequence[Code]) -> None:
        for item in items:
            match item:
                case Set(Several(targets), Several(values)):
                    for target, (value, kind) in zip(targets, self.pairs(values), strict=True):
                        self.put(target, value, kind)
                case Set(target, value):
                    self.set(target, value)
                case Do(call):
                    self.expression(call)
                case If(test, body, orelse):
                    self.choose(test, lambda: self.block(body), lambda: self.block(orelse))
                case While(test, body):
                    with self.loop(lambda: self.test(test), "never"):
                        self.block(body)
                case For():
                    self.series(item)
                case Return(value):
                    assert not self.depth, "a function ends where its statements do"
                    if value is not None:
                        self.result = self.as_type(value, self.made.result)

    def set(self, target: Expr, item: Expr) -> None:
        value, kind = self.expression(item), self.made.of(item)
        if isinstance(item, Call) and isinstance(item.function, Name) and item.function.id in MADE:
            assert not self.depth, "an array is made once"
            self.owned.append((kind, value))
        self.put(target, value, kind)

    def put(self, target: Expr, value: Value, kind: Type) -> None:
        match target:
            case Name(name):
                self.store(name, value, kind)
            case Several(targets):
                for place, (each, part) in enumerate(zip(targets, kind.types, strict=True)):
                    self.put(each, self.builder.extract_value(value, place), part)
            case Element(array, index):
                self.apply(self.made.stored(target), [*self.pairs((array, index)), (value, kind)])

    def choose(self, test: Expr, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """What ``yes`` writes where a test holds, else what ``no`` does."""
        with self.builder.if_else(self.test(test)) as (then, otherwise):
            self.depth += 1
            with then:
                yes()
            with otherwise:
                no()
            self.depth -= 1

    @contextlib.contextmanager
    def loop(
        self, test: Callable[[], Value], unrolled: str, masked: bool = False, few: bool = False, fills: bool = True
    ) -> Iterator[None]:
        """A loop while something holds, its body written inside: whether its end is masked, and if it fills vectors."""
        head, body, end = (self.builder.append_basic_block(name) for name in ("while", "do", "done"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(test(), body, end)
        self.builder.position_at_end(body)
        self.depth += 1
        yield
        self.depth -= 1
        back = self.builder.branch(head)
        if self.module.as_written and unrolled != "freely":
            back.set_metadata("llvm.loop", kept_whole(self.builder.module, unrolled))
        elif not self.module.as_written:
            wide = (masked or fills) and mixes_widths(blocks_of(body, end))
            found = told(self.builder.module, wide, masked, few)
            back.set_metadata("llvm.loop", found) if found else None
        self.builder.position_at_end(end)

    def series(self, item: For) -> None:
        """A loop over a range, whose step is positive where it is not a negative constant, or two of them."""
        kind, by = self.made.of(item), self.made.of(bounds(item)[2])
        first, last, step = [self.as_type(each, kind) for each in bounds(item)]
        down = isinstance(by, types.IntegerLiteral) and by.literal_value < 0
        compare = self.builder.icmp_signed if kind.signed else self.builder.icmp_unsigned
        counter = self.place(first.type)
        self.builder.store(first, counter)
        holds = lambda end: compare(">" if down else "<", self.builder.load(counter), end)  # noqa: E731
        masked, few = lanes.is_masked(item), self.made.written.merged and not self.is_known(item)  # few partial sums
        alone = few or self.is_known(item) or not lanes.takes_turns(item)
        most = lanes.most_turns(item, self.lengths)
        if most is not None:
            self.lengths[item.index] = most  # of a strip, whose first turn that is
        fills = most is None or most >= lanes.lanes()
        for end in [last] if alone else [lanes.whole_end(self.builder, first, last), last]:
            ends, row = masked and end is last, masked and lanes.is_row(item)
            with self.loop(lambda end=end: holds(end), self.unrolled(item), ends, few or row, fills):
                self.store(item.index, self.builder.load(counter), kind)
                more = cast("Any", self.builder.add)(self.builder.load(counter), step, flags=["nsw"])  # as no stub says
                self.builder.store(more, counter)
                self.block(item.body)

    def unrolled(self, item: For) -> str:
        """How far a loop may be unrolled."""
        if self.is_known(item):
            start, stop, step = [self.made.of(each).literal_value for each in bounds(item)]
            return "all" if unrolling.is_short(item, len(range(start, stop, step))) else "freely"
        if unrolling.is_small(item):
            return "few"
        return "later" if any(map(self.is_fixed, walk([item]))) else "never"

    def is_known(self, item: For) -> bool:
        """Whether a loop runs a known number of times."""
        return all(isinstance(self.made.of(each), types.IntegerLiteral) for each in bounds(item))

    def is_fixed(self, item: Code) -> bool:
        """Whether it is a loop over an axis of known length, of which a row is one straight line."""
        return isinstance(item, For) and isinstance(item.step or item.stop, Name) and self.is_known(item)

    # expressions

    def constant(self, item: Constant) -> Value:
        return self.target.get_constant_generic(self.builder, self.made.of(item), item.value)

    def name(self, item: Name) -> Value:
        if item.id in self.settled:
            return self.known[item.id] if item.id in self.known else self.found(item.id)
        if item.id in self.made.names:
            return self.builder.load(self.places[item.id])
        kind = self.made.of(item)
        if isinstance(kind, types.Dummy | types.Callable | types.Module):
            return self.target.get_dummy_value()
        return self.target.get_constant_generic(self.builder, kind, self.made.written.meaning(item.id))

    def attribute(self, item: Attribute) -> Value:
        of, kind = self.made.of(item.of), self.made.of(item)
        emitter = self.target.get_getattr(of, item.name)
        if emitter is None or isinstance(kind, types.Dummy | types.Callable | types.Module):
            return self.target.get_dummy_value()
        return emitter(self.target, self.builder, of, self.expression(item.of), item.name)

    def tuple_of(self, item: Several) -> Value:
        kind = self.made.of(item)
        values = [self.as_type(each, part) for each, part in zip(item.items, kind.types, strict=True)]
        return self.target.make_tuple(self.builder, kind, values)

    def operation(self, item: Operation) -> Value:
        around = spine(item)
        value = self.expression(around[0].args[0])
        for each in around:
            value = self.operated(each, value)
        return value

    def operated(self, item: Operation, value: Value) -> Value:
        """An operation whose first operand is known."""
        kind, own = self.made.of(item), self.made.of(item.args[0])
        if item.op in IN_TURN:
            return self.in_turn(item.op, self.cast(value, own, types.boolean), item.args[1])
        if isinstance(kind, types.IntegerLiteral):
            return self.target.get_constant_generic(self.builder, kind, kind.literal_value)
        return self.apply(self.made.called(item), [(value, own), *self.pairs(item.args[1:])])

    def in_turn(self, op: str, known: Value, second: Expr) -> Value:
        """The first value, or the second where the first does not decide."""
        result = self.place(self.target.get_value_type(types.boolean))
        self.builder.store(known, result)
        with self.builder.if_then(known if op == "and" else self.builder.not_(known)):
            self.builder.store(self.test(second), result)
        return self.builder.load(result)

    def choice(self, item: Choice) -> Value:
        kind = self.made.of(item)
        result = self.place(self.target.get_value_type(kind))

        def store(each: Expr) -> Callable[[], Any]:
            return lambda: self.builder.store(self.as_type(each, kind), result)

        self.choose(item.test, store(item.yes), store(item.no))
        return self.builder.load(result)

    def element(self, item: Element) -> Value:
        array, index = self.made.of(item.array), self.made.of(item.index)
        if isinstance(array, types.BaseTuple) and isinstance(index, types.IntegerLiteral):
            return self.builder.extract_value(self.expression(item.array), index.literal_value)
        return self.apply(self.made.called(item), self.pairs((item.array, item.index)))

    def call(self, item: Call) -> Value:
        function = self.made.called(item)
        if function is None:
            return self.as_type(item.args[0], self.made.of(item))
        if isinstance(function, Typed):
            parameters = zip(function.written.function.parameters, function.arguments, item.args, strict=True)
            own = [pair for name, *pair in parameters if self.module.place(function, name) is None]
            values = [self.as_type(each, kind) for kind, each in own]
            return self.module.call(self.builder, function, values, self.words)
        return self.apply(function, self.pairs(item.args))


TABLE: dict[type[Expr], Callable[[_Statements, Any], Value]] = {
    Constant: _Statements.constant, Name: _Statements.name, Attribute: _Statements.attribute,
    Several: _Statements.tuple_of, Operation: _Statements.operation, Choice: _Statements.choice,
    Element: _Statements.element, Call: _Statements.call,
}  # fmt: skip
