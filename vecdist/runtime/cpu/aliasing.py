"""Alias scopes: LLVM is told which arrays never overlap."""

from __future__ import annotations

from llvmlite import ir

MANY = 256  # outputs, beyond which it is not told which of them do not overlap each other: that would be their square

Scopes = tuple[ir.MDValue, ir.MDValue]


def _scopes(module: ir.Module, outputs: int) -> list[Scopes]:
    """The alias scopes of inputs and of each output, and of those that never overlap it.

    No output overlaps an input or another output.  Without these LLVM compares addresses at run time, and takes a loop
    of another rounding where two small arrays happen to lie close together.
    """
    add, text = module.add_metadata, lambda name: ir.MetaDataString(module, name)
    domain = add([text("vecdist")])
    names = ["inputs", *(f"output {number}" for number in range(outputs))]
    scopes = [add([text(f"vecdist {name}"), domain]) for name in names]
    others = [scopes[:n] + scopes[n + 1 :] if not n or outputs <= MANY else scopes[:1] for n in range(len(scopes))]
    return [(add([own]), add(each)) for own, each in zip(scopes, others, strict=True)]


def in_scope(builder: ir.IRBuilder, access: ir.Instruction, output: int, outputs: int) -> None:
    """Say which array is read or written, of so many outputs; -1 is an input."""
    known: dict[int, list[Scopes]] = vars(builder.module).setdefault("alias_scopes", {})  # which live as long as it
    if outputs not in known:
        known[outputs] = _scopes(builder.module, outputs)
    own, others = known[outputs][output + 1]
    access.set_metadata("alias.scope", own)
    access.set_metadata("noalias", others)
