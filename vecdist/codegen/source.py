"""Generated code: functions, of which the text is what people read, and what names them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.codegen.routines import Routine, Table
from vecdist.graph.memo import cached_property
from vecdist.kernel.code import INDENT, Function, lines
from vecdist.kernel.ir import Kernel


@final
@dataclass(frozen=True)
class Source:
    """The functions of one kernel, in the words of a ``language``, and what they need.

    Equal texts have equal names, in every process.
    """

    functions: tuple[Function, ...]
    kernel: Kernel
    language: str
    tables: tuple[Table, ...] = ()
    routines: tuple[Routine, ...] = ()
    decorator: str = ""

    @cached_property
    def text(self) -> str:
        return module_text(self.functions, self.language, self.tables, self.decorator)

    @cached_property
    def name(self) -> str:
        import hashlib  # loads OpenSSL, which importing vecdist need not wait for

        return "vecdist_" + hashlib.sha256(self.text.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return self.text


def module_text(functions: Sequence[Function], language: str, tables: Sequence[Table], decorator: str = "") -> str:
    """Functions as a module of Python."""
    head = [f"from {language} import *", "import math", *(f"{name} = {values!r}" for name, values in tables)]
    return "\n".join([*head, *(line for each in functions for line in function_lines(each, decorator))]) + "\n"


def function_lines(function: Function, decorator: str = "") -> Iterator[str]:
    """A function as lines of Python, empty ones before it."""
    yield from ("", "")
    if decorator:
        yield decorator
    yield f"def {function.name}({', '.join(function.parameters)}):"
    yield from lines(function.body, 1)
    if not function.body:
        yield f"{INDENT}pass"
