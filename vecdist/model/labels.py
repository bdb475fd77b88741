"""Names of axes, and labels along them, as ArviZ has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True)
class Labels:
    """The shapes of named arrays, names of their axes where these are given, and coordinates along named axes."""

    shapes: Mapping[str, tuple[int, ...]]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Sequence[Any]]

    @staticmethod
    def of(
        shapes: Mapping[str, tuple[int, ...]],
        dims: Mapping[str, Sequence[str]] | None,
        coords: Mapping[str, Sequence[Any]] | None,
        others: bool = False,
    ) -> Labels:
        """Labels as a user gives them; ``ValueError`` where they do not fit the shapes, or each other.

        With ``others`` there are names of arrays whose shapes are not known.
        """
        named = {name: (axes,) if isinstance(axes, str) else tuple(axes) for name, axes in (dims or {}).items()}
        lengths = {axis: len(labels) for axis, labels in (coords or {}).items()}
        for name, axes in named.items():
            if name not in shapes and others:
                continue
            if name not in shapes:
                raise ValueError(f"dims names {name!r}, which is none of: {', '.join(shapes)}")
            if len(axes) != len(shapes[name]):
                raise ValueError(f"dims of {name!r} are {axes}, but its shape is {shapes[name]}")
            for axis, length in zip(axes, shapes[name], strict=True):
                if lengths.setdefault(axis, length) != length:
                    raise ValueError(f"axis {axis!r} of {name!r} has length {length}, elsewhere {lengths[axis]}")
        unknown = [axis for axis in coords or {} if not any(axis in axes for axes in named.values())]
        if unknown:
            raise ValueError(f"coords names the axis {unknown[0]!r}, which no dims name")
        return Labels(dict(shapes), named, dict(coords or {}))
