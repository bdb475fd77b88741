"""Functions without the parameters that they do not read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace

from vecdist.kernel.code import Function, mapped, names_in
from vecdist.kernel.expressions import Call, Expr, Name, rewritten


def trimmed(functions: Sequence[Function], entries: Collection[str]) -> tuple[Function, ...]:
    """The functions of a module, of which ``entries`` are called from outside, and keep what they are called with."""
    read = [names_in(each.body) for each in functions]
    kept = {
        each.name: [place for place, name in enumerate(each.parameters) if name in own]
        for each, own in zip(functions, read, strict=True) if each.name not in entries
    }  # fmt: skip
    return tuple([_trimmed(each, kept, own) for each, own in zip(functions, read, strict=True)])


def _trimmed(function: Function, kept: Mapping[str, Sequence[int]], read: Set[str]) -> Function:
    def called(part: Expr) -> Expr | None:
        match part:
            case Call(Name(name), args) if name in kept:
                return Call(Name(name), tuple([rewritten(args[place], called) for place in kept[name]]))
        return None

    places = kept.get(function.name, range(len(function.parameters)))
    body = function.body
    if not read.isdisjoint(kept):  # most functions call none of the others
        body = tuple([mapped(item, lambda whole: rewritten(whole, called)) for item in body])
    return replace(function, parameters=tuple([function.parameters[place] for place in places]), body=body)
