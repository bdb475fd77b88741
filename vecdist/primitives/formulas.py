"""Formulas: graphs of scalars that stand in many places of a larger one, each time of other arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from vecdist.graph.node import Node


@final
@dataclass(frozen=True)
class Formula:
    """What ``root``, a scalar over leaves ``local``, says of the arguments that these are the places of."""

    root: Node

    def __str__(self) -> str:
        return "formula"

    def of(self, args: Sequence[Node]) -> Node:
        """The value of scalars."""
        return Node("formula", tuple(args), (self,), (), self.root.dtype)
