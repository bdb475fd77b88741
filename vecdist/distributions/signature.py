"""The signature of a family, as ``inspect``, ``help`` and notebooks show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, final


@final
class _Left:
    """The default of a parameter that is left out where others are given."""

    def __repr__(self) -> str:
        return "..."


LEFT = _Left()


def joined(ways: Sequence[Mapping[str, Any]]) -> Signature:
    """The ways of writing a family as one signature; each has its parameters with their defaults, ``Parameter.empty``.

    Those of the first can be given by position.  A parameter that every way needs has no default, unless one before it
    has.

    >>> joined([{"shape": Parameter.empty, "scale": Parameter.empty}, {"shape": Parameter.empty, "rate": 1.0}])
    <Signature (shape, scale=..., *, rate=1.0)>
    """
    first, found = ways[0], {}
    for name in dict.fromkeys(name for way in ways for name in way):
        given = [way.get(name, LEFT) for way in ways]
        needed = all(default is Parameter.empty for default in given)
        after = any(parameter.default is not Parameter.empty for parameter in found.values())
        known = next((default for default in given if default not in (LEFT, Parameter.empty)), LEFT)
        kind = Parameter.POSITIONAL_OR_KEYWORD if name in first else Parameter.KEYWORD_ONLY
        found[name] = Parameter(name, kind, default=Parameter.empty if needed and not after else known)
    return Signature(list(found.values()))
