"""How far a launch reaches: what a kernel is launched with at known lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True)
class Extent:
    """A launch: a loaded function, how many blocks there are and the memory that each shares, and last ``numbers``.

    In a ``cooperative`` one all blocks run at once, and wait for each other.
    """

    function: Any
    blocks: int
    memory: int
    cooperative: bool
    numbers: Mapping[str, int]
