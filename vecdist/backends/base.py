"""What every backend is: something that makes programs of kernels, and programs that run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vecdist.codegen.source import Source
from vecdist.kernel import Kernel


Runner = Callable[[Sequence[Any]], tuple[list[Any], Any]]


class Program(ABC):
    """A compiled kernel."""

    source: Source

    @abstractmethod
    def prepared(self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]]) -> Runner:
        """A function that runs the kernel at these lengths on the arrays (and numbers) of its slots.

        It returns the outputs, with ``shapes``, and whether the flag was raised; temporary outputs are left out.
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
