"""Which loops of a nest are the rows of one on a GPU, and which along a row come first, where lanes share them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from vecdist.codegen.collapsing import chain, has_pieces, is_plain, loops_in, parts, rearranged
from vecdist.codegen.cuda.grid import are_columns
from vecdist.kernel.expressions import names
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Load

SHORT = 16  # elements of a row that a thread takes alone, where it need not
AMPLE = 2**17  # rows that keep a GPU busy then


def collapsed(kernel: Kernel) -> Kernel:
    """A kernel whose rows are those of all outer loops; itself where no loops stand in each other alone.

    The rows of chains that blocks take are so before it is known how many lanes share them.
    """
    return kernel if kernel.by_block else with_rows(kernel)


def with_rows(kernel: Kernel) -> Kernel:
    """A kernel whose rows are those of all outer loops, once it is known whose they are."""
    return rearranged(kernel, _outer, _inner_chains)


def ample(kernel: Kernel, lengths: Mapping[str, int]) -> tuple[str, ...]:
    """The lengths of short rows, as they will be, or of columns, that are enough for all threads, each with one.

    Lanes that share a row all repeat what it has beside its elements, and those of a column find no neighbours.
    """
    known, found = dict(kernel.fixed), set()
    for part in (part for _, loop in kernel.shared_nests() for part in parts(loop)):
        rows = (_outer(part) if is_plain(part) else []) or [part]
        longest = max((known.get(inner.dim, SHORT + 1) for inner in loops_in(rows[-1])), default=SHORT + 1)
        alone = longest <= SHORT or are_columns(loops_in(rows[-1]), rows[-1])
        if alone and math.prod(loop.turns(lengths) for loop in rows) >= AMPLE:
            found.add("*".join(loop.dim for loop in rows))
    return tuple(sorted(found))


def _outer(loop: Loop) -> list[Loop]:
    """The outer loops whose turns become rows; none where these are two levels as they stand."""
    loops = chain(loop)
    pieces = has_pieces(loops[-1])  # whose neighbours in memory are other rows
    if loops[-1].body.every_loop() and (pieces or not _is_of_columns(loops[-1])):
        return loops if len(loops) > 2 or (len(loops) == 2 and (pieces or _lies_inside(loops[-1]))) else []
    return loops[:-1] if len(loops) > 2 else []


def _lies_inside(loop: Loop) -> bool:
    """Whether what varies along the loops inside a loop lies along these, all of it."""
    inner = {each.index for each in loops_in(loop)}
    loads = [item for item in loop.body.walk() if isinstance(item, Load) and inner & {*names(*item.indices)}]
    return all(inner & {*names(item.indices[-1])} for item in loads)


def _is_of_columns(loop: Loop) -> bool:
    """Whether neighbours in memory are those along a loop, and not along those inside it."""
    loads = [item for item in loop.body.walk() if isinstance(item, Load) and item.indices]
    along = [set(names(item.indices[-1])) for item in loads]
    inner = {each.index for each in loops_in(loop)}
    return any(loop.index in each for each in along) and not any(inner & each for each in along)


def _inner_chains(loop: Loop) -> list[list[Loop]]:
    """The chains of several loops along a row, of which the innermost, whose elements lie together, comes first."""
    outer = _outer(loop)
    rows = outer[-1].body if outer else loop.body
    chains = [chain(each) for each in rows.every_loop()]
    return [loops for loops in chains if len(loops) > 1 and loops[-1].step == 1 and _lies_along(loops[-1])]


def _lies_along(loop: Loop) -> bool:
    """Whether neighbours in memory are those along a loop."""
    loads = [item for _, item in loop.body.items if isinstance(item, Load) and item.indices]
    return any(loop.index in names(item.indices[-1]) for item in loads)
