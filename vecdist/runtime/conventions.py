"""Functions of an LLVM module, and calls: by Numba's conventions, or where nothing is raised, by those of C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

from llvmlite import ir
from numba.core import cgutils, types

from vecdist.runtime import exports

Value = Any  # of LLVM
Type = Any  # of Numba


@final
class Conventions:
    """How functions of one module are called."""

    def __init__(self, target: Any, module: ir.Module, apart: bool = False) -> None:
        self.target, self.module, self.apart = target, module, apart
        self.prefix = f"{module.name}." if apart else "vecdist_"  # of one engine, where no two have one name
        own: Any = getattr(target, "fndesc", None)  # of what is compiled, which has it in numba-cuda
        self.convention: Any = own.call_conv if hasattr(own, "call_conv") else target.call_conv

    def begun(
        self, name: str, result: Type, kinds: Sequence[Type], parameters: Sequence[str], inline: str = "noinline",
        plain: bool = False,
    ) -> tuple[ir.Function, Sequence[Value], ir.IRBuilder]:  # fmt: skip
        """A function, its arguments, and where its instructions go."""
        convention = self.convention
        kind = self._plain(result, kinds) if plain else convention.get_function_type(result, kinds)
        function = ir.Function(self.module, kind, self.module.get_unique_name(f"{self.prefix}{name}"))
        function.linkage = "internal"
        function.attributes.add(inline)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        if plain:
            return function, list(self._taken(builder, kinds, function.args)), builder
        convention.decorate_function(function, parameters, kinds)
        return function, convention.decode_arguments(builder, kinds, function), builder

    def _plain(self, result: Type, kinds: Sequence[Type]) -> ir.FunctionType:
        others = [each for kind in kinds for each in self._passed(kind)]
        return ir.FunctionType(self.target.get_value_type(result), others)

    def _passed(self, kind: Type) -> Sequence[Any]:
        """The types that an argument is passed as: between units, of an array in one piece its address and length."""
        if self._is_short(kind):
            return self.target.get_data_type(kind.dtype).as_pointer(), self.target.get_value_type(types.intp)
        return (self.target.get_value_type(kind),)

    def _is_short(self, kind: Type) -> bool:
        return self.apart and isinstance(kind, types.Array) and kind.ndim == 1 and kind.layout == "C"

    def _taken(self, builder: ir.IRBuilder, kinds: Sequence[Type], passed: Sequence[Value]) -> Iterator[Value]:
        """The arguments of what was passed."""
        given = iter(passed)
        for kind in kinds:
            if self._is_short(kind):
                address, count, stride = next(given), next(given), exports.item_size(self.target, kind.dtype)
                yield exports.array(self.target, builder, kind, address, [count], [stride])
            else:
                yield next(given)

    def _given(self, builder: ir.IRBuilder, kinds: Sequence[Type], arguments: Sequence[Value]) -> Iterator[Value]:
        """What arguments are passed as."""
        for kind, value in zip(kinds, arguments, strict=True):
            if self._is_short(kind):
                place = self.target.data_model_manager[kind].get_field_position
                yield builder.extract_value(value, place("data"))
                yield builder.extract_value(value, [place("shape"), 0])
            else:
                yield value

    def ended(self, builder: ir.IRBuilder, kind: Type, result: Value, plain: bool = False) -> None:
        """The end of a function, which gives this result."""
        if plain:
            builder.ret(result)
        else:
            self.convention.return_value(builder, self.target.get_return_value(builder, kind, result))

    def called(
        self, builder: ir.IRBuilder, function: ir.Function, result: Type, kinds: Sequence[Type],
        given: Sequence[Value], plain: bool = False,
    ) -> Value:  # fmt: skip
        """What a call gives in such a function, which ends with its error if it has one."""
        if plain:
            return builder.call(function, list(self._given(builder, kinds, given)))
        convention = self.convention
        status, found = convention.call_function(builder, function, result, kinds, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return found

    def for_c(self, symbol: str, function: ir.Function, kinds: Sequence[Type], plain: bool = False) -> None:
        """A function of this symbol for C that calls one without result, or is it."""
        if plain:
            function.name, function.linkage = symbol, "external"
            return
        words = [self.target.get_value_type(kind) for kind in kinds]
        outer = ir.Function(self.module, ir.FunctionType(ir.VoidType(), words), symbol)
        builder = ir.IRBuilder(outer.append_basic_block("entry"))
        self.convention.call_function(builder, function, types.none, kinds, outer.args)
        builder.ret_void()
