"""What every backend is: something that makes programs of kernels, and programs that run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from vecdist.codegen.source import Source
from vecdist.kernel import Kernel


class Program(ABC):
    """A compiled kernel."""

    source: Source

    @abstractmethod
    def run(self, arrays: Sequence[Any], lengths: Mapping[str, int]) -> tuple[list[Any], bool]:
        """The outputs, each flat, in the order of the kernel's outputs, and whether the flag was raised.

        ``arrays`` fill the slots.  Temporary outputs are left out.
        """

    @abstractmethod
    def resources(self) -> dict[str, Any]:
        """What the compiler says of the kernel: registers, or vector instructions."""


class Backend(ABC):
    """A target: compiles kernels, and knows its arrays."""

    name: str

    @abstractmethod
    def compile(self, kernel: Kernel) -> Program:
        """A program for ``kernel``, from the cache where it is there."""
