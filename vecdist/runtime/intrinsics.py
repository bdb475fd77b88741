"""Generated code as Numba calls it.

A function of generated code becomes an intrinsic, and Numba compiles a call of that: it remains the compiler of both
targets, with its conventions of calls, its caches and its libraries.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from numba.core import cgutils, types

from vecdist.runtime.emission import emit
from vecdist.runtime.typed import Written

GROUP = 16  # arguments

_numbers = itertools.count()
_written: weakref.WeakValueDictionary[int, Written] = weakref.WeakValueDictionary()


def emitter(intrinsic: Callable[..., Any]) -> Any:
    """The intrinsic of a target, by its decorator: ``emitted(number, arguments)`` of what was written.

    There is one for all, as Numba never forgets an intrinsic; what it remembers of a call is a number.  Arguments come
    in groups, each a tuple, for Numba writes the type of a tuple down with each of its elements.
    """

    def emitted(context, number, arguments):  # noqa: ANN001, ANN202
        if not isinstance(number, types.IntegerLiteral):
            return None  # Numba asks again, with the number
        own = number.literal_value
        made = _written[own].typed(context, [kind for group in arguments.types for kind in group.types])

        def codegen(target, builder, signature, values):  # noqa: ANN001, ANN202
            kinds = signature.args[1]
            groups = zip(cgutils.unpack_tuple(builder, values[1], len(kinds)), kinds, strict=True)
            given = [value for group, kind in groups for value in cgutils.unpack_tuple(builder, group, len(kind))]
            return emit(target, builder, _written[own], given)

        return made.result(number, arguments), codegen

    return intrinsic(emitted)


def numbered(written: Written) -> int:
    """What the intrinsic is told of a function: its number, for as long as someone keeps the function."""
    number = next(_numbers)
    _written[number] = written
    return number


def grouped(arguments: Sequence[str]) -> str:
    """The text of arguments as the intrinsic takes them."""
    groups = (", ".join(arguments[first : first + GROUP]) for first in range(0, len(arguments), GROUP))
    return f"({''.join(f'({group},), ' for group in groups)})"


def called_by_numba(written: Written, emitted: Any) -> Any:
    """A function for Numba that is nothing but what was written, and keeps it."""
    number, name = numbered(written), written.function.name
    names, groups = ", ".join(written.function.parameters), grouped(written.function.parameters)
    told = {"emitted": emitted, "written": written, "__name__": written.names["__name__"]}
    exec(f"def {name}({names}):\n    return emitted({number}, {groups})\n", told)
    return told[name]
