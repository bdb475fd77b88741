"""Generated source: functions, and their text, named by its content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from vecdist.codegen.routines import Routine, Tables, module
from vecdist.graph.memo import cached_property
from vecdist.kernel.code import Function
from vecdist.kernel.ir import Kernel


@final
@dataclass(frozen=True, eq=False)
class Source:
    """The functions of one kernel, and the routines that they call; equal texts have equal names, in every process."""

    functions: tuple[Function, ...]
    kernel: Kernel
    language: str
    tables: Tables = ()
    routines: tuple[Routine, ...] = ()
    decorator: str = ""

    @cached_property
    def text(self) -> str:
        """The source of a module of Python."""
        return module(self.functions, self.tables, self.language, self.decorator)

    @cached_property
    def name(self) -> str:
        import hashlib  # loads OpenSSL, which importing vecdist need not wait for

        return "vecdist_" + hashlib.sha256(self.text.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return self.text
