"""Vector loads and stores: a thread takes neighbours in one instruction, where their array is aligned for that."""

from __future__ import annotations

from dataclasses import replace

from vecdist.codegen.cuda.tiling import AHEAD, BASE, Tile
from vecdist.codegen.statements import Item, Items, load_offset, store_offset
from vecdist.kernel.code import Do, If, Set, let, replaced
from vecdist.kernel.expressions import ZERO, Expr, Name, Several, joined, operation, word
from vecdist.kernel.ir import Kernel
from vecdist.kernel.statements import Load, Statement, Store, Temp, array_name

VECTOR = 16  # bytes that a thread loads, or stores, in one instruction
WORD = 4  # bytes of the narrowest elements that are worth it


def with_neighbours(tile: Tile, kernel: Kernel) -> Tile:
    """A tile with neighbours together where arrays of a wide dtype are read, or written, side by side."""
    vectors: dict[Statement, str] = {}
    widest = WORD
    for item in tile.loop.body.walk():
        if isinstance(item, Load | Store) and _offset(item, kernel) == Name(tile.loop.index):
            dtype = item.dtype if isinstance(item, Load) else kernel.outputs[item.output].dtype
            if dtype.kind != "b" and dtype.itemsize >= WORD:
                vectors[item] = _array(item)
                widest = max(widest, dtype.itemsize)
    together = min(tile.copies, VECTOR // widest)
    return replace(tile, together=together, vectors=vectors) if vectors and together > 1 else tile


def _array(item: Load | Store) -> str:
    return array_name(item.source if isinstance(item, Load) else Temp(item.output))


def _offset(item: Load | Store, kernel: Kernel) -> Expr | None:
    """The place that is loaded, or stored to, in an array; none where a block keeps that, or nothing may be loaded."""
    if isinstance(item, Store):
        return store_offset(item, kernel)
    kept = isinstance(item.source, Temp) and kernel.outputs[item.source.output].kept
    return None if kept or item.guard is not None else load_offset(item, kernel)


def aligned(tile: Tile) -> Items:
    """Up to where tiles may be whole: nowhere, where an array is not aligned."""
    if not tile.vectors:
        return ()
    end = str(tile.end)
    tests: list[Expr] = [word("aligned")(Name(array)) for array in sorted(set(tile.vectors.values()))]
    return let(end, tile.loop.length), If(operation("not", joined("and", tests)), (let(end, ZERO),))


def vectorised(items: Items, tile: Tile, kernel: Kernel) -> Items:
    """Statements with vector loads and stores in the place of those of neighbours, one after another, in a tile."""
    places: dict[Expr | None, int] = {
        tile.element(base, number): number for base in (BASE, AHEAD) for number in range(tile.copies)
    }
    arrays, few = set(tile.vectors.values()), list[Load | Store]()

    def rule(item: Item) -> Items | None:
        if not (isinstance(item, Load | Store) and _array(item) in arrays):
            return None
        number = places.get(_offset(item, kernel))
        if number is None:
            return None
        few.append(item)
        if (number + 1) % tile.together:
            return ()
        found = _vector(few, kernel)
        few.clear()
        return (found,)

    return replaced(items, rule)


def _vector(few: list[Load | Store], kernel: Kernel) -> Set | Do:
    """The loads, or stores, of neighbours as one."""
    place = Name(_array(few[0])), _offset(few[0], kernel) or ZERO
    values = [item.value for item in few if isinstance(item, Store)]
    if values:
        return Do(word(f"store_{len(few)}")(*place, *values))
    names = [Name(item.name) for item in few if isinstance(item, Load)]
    return Set(Several(tuple(names)), word(f"load_{len(few)}")(*place))
