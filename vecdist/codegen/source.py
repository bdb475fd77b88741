"""Generated source: text named by its content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from vecdist.codegen.routines import Routine
from vecdist.graph.memo import cached_property
from vecdist.kernel.ir import Kernel


@final
@dataclass(frozen=True)
class Source:
    """The text of one kernel, and the functions that it calls; equal texts have equal names, in every process."""

    text: str
    kernel: Kernel
    routines: tuple[Routine, ...] = ()

    @cached_property
    def name(self) -> str:
        import hashlib  # loads OpenSSL, which importing vecdist need not wait for

        return "vecdist_" + hashlib.sha256(self.text.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return self.text
