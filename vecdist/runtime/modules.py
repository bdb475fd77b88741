"""The functions of one LLVM module: which are called, how, and what of their arguments they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeAlias, final

from llvmlite import ir
from numba.core import types

from vecdist.kernel.code import walk
from vecdist.runtime import exports
from vecdist.runtime.conventions import Conventions
from vecdist.runtime.integers import own_emitter
from vecdist.runtime.typed import Exports, Type, Typed

Value = Any  # of LLVM; None for what is known when compiling
Write: TypeAlias = "Callable[[Module, Typed, ir.IRBuilder, Value, Sequence[Value]], Value]"
"""Writes the statements of a function at the place of a builder: the address of what is shared, and its arguments."""


Finished: TypeAlias = "Callable[[Sequence[ir.Function], Collection[ir.Function]], None]"
"""Takes a function that exported ones alone call, with those that are called in it alone, and all that are known."""

COPIED = 540  # statements, of all calls of a function, up to which it is copied to these


def reached(roots: Iterable[Typed]) -> dict[Typed, Counter[Typed]]:
    """What functions call, and what these do, with how often each is called."""
    found, waiting = dict[Typed, Counter[Typed]](), list(roots)
    for made in waiting:  # which grows meanwhile
        if made not in found:
            found[made] = Counter(each for each in made.calls.values() if isinstance(each, Typed))
            waiting += found[made]
    return found


def statements(roots: Iterable[Typed]) -> int:
    """How many statements functions have, with what they call."""
    return sum(1 for made in reached(roots) for _ in walk(made.written.function.body))


@final
class Module:
    """The functions of one LLVM module, each emitted when it is first called; one of one call, in its place."""

    def __init__(
        self, target: Any, module: ir.Module, write: Write, roots: Iterable[Typed], exported: Exports | None = None,
        finished: Finished | None = None,
    ) -> None:  # fmt: skip
        self.write, self.finished = write, finished
        self.target, self.module = target, module
        self.exported = exported  # to C, which hears of no errors
        self.conventions = Conventions(target, module, apart=bool(exported))
        shared = exported.shared if exported else {}
        places = exports.places(shared.values())
        self.shared: dict[str, int] = dict(zip(shared, places, strict=False))
        self.bytes = 8 * places[-1]  # of what is shared
        self.roots = set(roots)
        self.calls: dict[Typed, Counter[Typed]] = reached(self.roots)
        self.uses = Counter(self.roots)
        self.callers: dict[Typed, set[Typed]] = {each: set() for each in self.calls}
        for made, inner in self.calls.items():
            self.uses.update(inner)
            for each in inner:
                self.callers[each].add(made)
        self.as_written = not target.enable_nrt  # on CUDA: what is worth unrolling in part is unrolled in the source
        self.functions: dict[Typed, ir.Function] = {}
        self.sizes: dict[Type, int] = {}
        self.emitters: dict[tuple[Any, Any], Any] = {}

    def emitter(self, function: Any, signature: Any) -> Any:
        """What emits a call of one of Numba's functions, which it takes long to find."""
        key = function, signature
        if key not in self.emitters:
            own = own_emitter(self.target, function, signature)
            self.emitters[key] = own or self.target.get_function(function, signature)
        return self.emitters[key]

    def function(self, made: Typed) -> ir.Function:
        return self.functions[made] if made in self.functions else self.emitted(made)

    def place(self, made: Typed, name: str) -> int | None:
        """Where an argument lies that functions share; ``None`` of one that is given with each call."""
        return self.shared.get(name) if self.exported and made.written.names is self.exported.names else None

    def given(self, made: Typed) -> tuple[list[str], list[Type]]:
        """The parameters that are given with each call, and their types."""
        pairs = zip(made.written.function.parameters, made.arguments, strict=True)
        own = [(name, kind) for name, kind in pairs if self.place(made, name) is None]
        return [name for name, _ in own], [kind for _, kind in own]

    def first(self, made: Typed) -> int:
        """How many arguments come before those: one, the address of what is shared, where this one reads of it."""
        return int(len(self.given(made)[0]) < len(made.arguments))

    def readable(self, words: Value) -> None:
        """Tell of the address of what functions share that all of it is there: loops read what they need ahead."""
        words.attributes.dereferenceable, words.attributes.align = self.bytes, 8

    def is_plain(self, made: Typed) -> bool:
        """Whether a function is called as C calls functions."""
        return made.is_quiet if self.exported else made.is_plain

    def export(self, symbol: str, made: Typed) -> None:
        """A function for C of what a function is given, in words that lie at an address."""
        kinds, plain = [exports.WORDS], self.is_plain(made)
        name = made.written.function.name
        whole, (words,), builder = self.conventions.begun(name, types.none, kinds, ("words",), plain=plain)
        _, own = self.given(made)
        shared = exports.at(builder, words, exports.places(own)[-1])
        self.call(builder, made, exports.unpacked(self.target, builder, own, words), shared)
        self.conventions.ended(builder, types.none, self.target.get_dummy_value(), plain)
        self.conventions.for_c(symbol, whole, kinds, plain)

    def call(self, builder: ir.IRBuilder, made: Typed, arguments: Sequence[Value], words: Value) -> Value:
        """A call, with the address of what functions share."""
        if self.uses[made] == 1 and not made.written.apart:
            return self.write(self, made, builder, words, arguments)
        first, (_, kinds) = self.first(made), self.given(made)
        kinds, arguments = [*[exports.WORDS] * first, *kinds], [*[words] * first, *arguments]
        return self.conventions.called(builder, self.function(made), made.result, kinds, arguments, self.is_plain(made))

    def emitted(self, made: Typed) -> ir.Function:
        own = made.written.function
        copied = self.uses[made] * sum(1 for _ in walk(own.body)) <= COPIED
        inline = "alwaysinline" if made.written.merged and copied else "noinline"
        first, plain, (parameters, kinds) = self.first(made), self.is_plain(made), self.given(made)
        parameters, kinds = [*["words"] * first, *parameters], [*[exports.WORDS] * first, *kinds]
        function, given, builder = self.conventions.begun(own.name, made.result, kinds, parameters, inline, plain)
        if first:
            self.readable(given[0])
        result = self.write(self, made, builder, given[0] if first else None, given[first:])
        self.conventions.ended(builder, made.result, result, plain)
        self.functions[made] = function
        if self.finished and self.callers[made] <= self.roots:
            known = self.functions.values()
            self.finished([self.functions[each] for each in self.inside(made) if each in self.functions], known)
        return function

    def inside(self, made: Typed) -> dict[Typed, None]:
        """A function, and those that are called in these alone."""
        found, waiting = {made: None}, [made]
        for each in waiting:  # which grows meanwhile
            inner = [other for other in self.calls[each] if other not in found and self.callers[other] <= found.keys()]
            found |= dict.fromkeys(inner)
            waiting += inner
        return found
