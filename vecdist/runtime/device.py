"""Functions for one thread as Numba has them: typed, compiled and called like those that its users write.

Around the generated function, which takes pointers and numbers, lies one of a few lines that Numba itself compiles: it
says where arrays lie, and asks for nothing where an array has another shape than those that the function is for.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numba
import numpy as np
from numba import types
from numba.np.numpy_support import carray

from vecdist.codegen.device.render import memory, render
from vecdist.codegen.routines import Routine, Tables
from vecdist.codegen.source import Source
from vecdist.graph.leaves import Leaf, array_kind
from vecdist.kernel.ir import Kernel
from vecdist.runtime import compiler
from vecdist.runtime.intrinsics import grouped, numbered
from vecdist.runtime.typed import Written, forget


@final
@dataclass(frozen=True)
class Parameter:
    """What a function takes: a number, which has no axes, or a C-contiguous array of one shape."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]

    def type(self, readonly: bool) -> Any:
        """The type that Numba has for it."""
        scalar = numba.from_dtype(self.dtype)
        return types.Array(scalar, len(self.shape), "C", readonly=readonly) if self.shape else scalar

    def type_in_c(self, pointer: bool) -> Any:
        """The type that C has for it, or for a place where it is written to."""
        scalar = numba.from_dtype(self.dtype)
        return types.CPointer(scalar) if self.shape or pointer else scalar

    def from_c(self) -> str:
        """The text of it as Numba has it, where it comes from C."""
        return f"_carray({self.name}, {self.shape})" if self.shape else self.name


@final
@dataclass(frozen=True)
class Sequential:
    """A kernel for one thread, and what it is called with.

    ``leaves`` fill its slots; those that are parameters have places in ``places``.  ``derived`` are the parameters that
    its outputs after the first are derivatives in.
    """

    name: str
    kernel: Kernel
    parameters: tuple[Parameter, ...]
    derived: tuple[Parameter, ...]
    leaves: tuple[Leaf, ...]
    places: Mapping[Leaf, int]

    @property
    def results(self) -> list[int]:
        """The outputs that are asked for: the value, then the derivatives."""
        return [number for number, output in enumerate(self.kernel.outputs) if not output.temporary]

    @property
    def returned(self) -> list[int]:
        """The outputs that are returned: those without axes."""
        value, *slopes = self.results
        return [value, *(n for n, each in zip(slopes, self.derived, strict=True) if not each.shape)]

    @property
    def memory(self) -> int:
        """The bytes that a thread keeps."""
        return sum(count * dtype.itemsize for _, count, dtype in memory(self.kernel, self.returned))

    @property
    def filled(self) -> list[Parameter]:
        """The arrays that derivatives are written to, as parameters behind the others."""
        return [Parameter(f"slopes_{each.name}", each.dtype, each.shape) for each in self.derived if each.shape]

    @property
    def signature(self) -> Any:
        """The types of what it takes and gives, as Numba writes them."""
        value, *slopes = [numba.from_dtype(self.kernel.outputs[number].dtype) for number in self.returned]
        given = [each.type(readonly=True) for each in self.parameters]
        result = types.Tuple((value, types.Tuple(slopes))) if slopes else value
        return result(*given, *[each.type(readonly=False) for each in self.filled])


@final
@dataclass(frozen=True)
class Language:
    """What functions of a target are written in, and compiled by.

    ``placed`` is an array in the target's memory, ``held`` gives for one the text of where it lies, which may name it
    by its second argument, and what that means; ``unit`` says what strides are counted in: bytes, or elements.
    """

    words: Mapping[str, Any]
    around: Mapping[str, Any]
    decorator: Callable[[Any], Any]
    placed: Callable[[Any], Any]
    held: Callable[[Any, str], tuple[str, Any]]
    unit: Callable[[Any], int]


def compiled(made: Sequential, target: str) -> Any:
    """What Numba calls on a target."""
    source = render(made.kernel, made.returned, target)
    language = LANGUAGES[target]()
    written = Written(source.functions[0], meanings_of(source, language.words))
    names: dict[str, Any] = {**language.around, "written": written}
    names["_nothing"] = made.kernel.outputs[made.returned[0]].dtype.type(np.nan)
    given: list[str] = []
    for slot in made.kernel.slots:
        leaf = made.leaves[slot.index]
        if leaf in made.places:
            name = made.parameters[made.places[leaf]].name
            given.append(name if slot.layout == "number" else f"_pointer({name})")
        elif slot.layout == "number":
            given.append(f"_a{slot.index}")
            names[given[-1]] = leaf.array[()]
        else:
            array, name = language.placed(leaf.array), f"_a{slot.index}"
            text, names[name] = language.held(array, name)
            strides = [array.strides[axis] // language.unit(array) for axis in slot.axes if slot.layout == "strided"]
            given += [text, *map(str, strides)]
    exec("\n".join(_around(made, numbered(written), given)), names)
    with compiler.alone():
        found = language.decorator(made.signature)(names[made.name])
    forget({**written.names, written.function.name: written})
    return found


def meanings_of(source: Source, words: Mapping[str, Any]) -> dict[str, Any]:
    """What the names of a source mean, in the words of a target."""
    return _meanings(words, source.tables, source.routines)


def _meanings(words: Mapping[str, Any], tables: Tables, routines: Sequence[Routine]) -> dict[str, Any]:
    """What the names of generated code mean; functions that it calls are a part of it."""
    found = {**words, **dict(tables)}
    for each in routines:
        names = _meanings(words, each.tables, each.needs)
        found[each.name] = Written(each.function, names, merged=not each.seldom, apart=each.seldom)
    return found


def _around(made: Sequential, number: int, given: Sequence[str]) -> Iterator[str]:
    """The lines around a generated function, which is called with what is given."""
    parameters = [*made.parameters, *made.filled]
    slopes = range(1, len(made.returned))
    yield f"def {made.name}({', '.join(each.name for each in parameters)}):"
    other = [f"{each.name}.shape[{axis}] != {n}" for each in parameters for axis, n in enumerate(each.shape)]
    if other:
        yield f"    if {' or '.join(other)}:"
        yield f"        return _nothing{', (' + '_nothing, ' * len(slopes) + ')' if slopes else ''}"
    each = [*given, *(f"_pointer({array.name})" for array in made.filled)]
    yield f"    _found = _emitted({number}, {grouped(each)})"
    yield f"    return _found[0]{', (' + ''.join(f'_found[{place}], ' for place in slopes) + ')' if slopes else ''}"


def for_c(made: Sequential, function: Any) -> Any:
    """What C calls: a function of the arguments and a pointer for each derivative, which gives the value."""
    slopes = [Parameter(f"slopes_{each.name}", each.dtype, each.shape) for each in made.derived]
    numbers = [each.name for each in slopes if not each.shape]
    called = f"_function({', '.join(each.from_c() for each in (*made.parameters, *made.filled))})"
    lines = [f"def entry({', '.join(each.name for each in (*made.parameters, *slopes))}):"]
    lines.append(f"    _value{', _slopes' if numbers else ''} = {called}")
    lines += [f"    {name}[0] = _slopes[{place}]" for place, name in enumerate(numbers)]
    names: dict[str, Any] = {"_function": function, "_carray": carray}
    exec("\n".join([*lines, "    return _value"]), names)
    given = [*[each.type_in_c(False) for each in made.parameters], *[each.type_in_c(True) for each in slopes]]
    return compiler.c_function(numba.from_dtype(made.kernel.outputs[made.returned[0]].dtype)(*given), names["entry"])


def pointer_to(context, array):  # noqa: ANN001, ANN201
    """Where the elements of an array begin."""

    def codegen(target, builder, signature, values):  # noqa: ANN001, ANN202
        place = target.data_model_manager[array].get_field_position("data")
        return builder.extract_value(values[0], place)

    return types.CPointer(array.dtype)(array), codegen


@final
@dataclass(eq=False)
class Held:
    """An array in memory that functions read wherever they are called: where it lies is a part of their code."""

    array: np.ndarray


_held: weakref.WeakValueDictionary[int, Held] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def _address(context, number):  # noqa: ANN001, ANN202
    """Where an array lies that is held, by what has the code, too."""
    if not isinstance(number, types.IntegerLiteral):
        return None  # Numba asks again, with the number
    found = _held[number.literal_value]

    def codegen(target, builder, signature, values):  # noqa: ANN001, ANN202
        library = target.active_code_library
        library.held = *getattr(library, "held", ()), found
        address = target.add_dynamic_addr(builder, found.array.ctypes.data, "data")  # code that Numba keeps in no file
        return builder.bitcast(address, target.get_value_type(signature.return_type))

    return types.CPointer(numba.from_dtype(found.array.dtype))(number), codegen


def _held_on_cpu(array: np.ndarray, name: str) -> tuple[str, Held]:
    number, held = next(_numbers), Held(array)
    _held[number] = held
    return f"_address({number})", held


@functools.cache
def _cpu() -> Language:
    from numba.core.extending import intrinsic

    from vecdist.runtime.cpu import language

    around = {"_emitted": language.emitted, "_pointer": intrinsic(pointer_to), "_address": intrinsic(_address)}
    decorator = functools.partial(numba.njit, **language.MODE)
    return Language(language.WORDS, around, decorator, lambda array: array, _held_on_cpu, lambda array: 1)


def _named(array: Any, name: str) -> tuple[str, Any]:
    return f"_pointer({name})", array


@functools.cache
def _cuda() -> Language:
    """On CUDA Numba itself knows arrays of a GPU that functions name: it holds them, and keeps no such code."""
    from vecdist.runtime.cuda import compiler as cuda_compiler
    from vecdist.runtime.cuda import language

    cuda, intrinsic = cuda_compiler.cuda, cuda_compiler.intrinsic()

    def placed(array: Any) -> Any:
        return array if array_kind(array) == "cupy" else cuda.to_device(np.ascontiguousarray(array))

    around = {"_emitted": cuda_compiler.emitted(), "_pointer": intrinsic(pointer_to)}
    decorator = functools.partial(cuda.jit, device=True)
    return Language(language.WORDS, around, decorator, placed, _named, lambda array: array.dtype.itemsize)


LANGUAGES: dict[str, Callable[[], Language]] = {"cpu": _cpu, "cuda": _cuda}
