"""Products of a tile of a matrix, which is in the cache, with a vector, and of a vector with a tile.

Each is a function of the module that calls it, written in vectors as wide as the machine has them, whatever the number
of columns: the last ones are masked.  A compiler that has to find vectors in such loops gathers neighbours of columns
where it sees short rows, or makes one number of each row's vector by itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast, final

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from vecdist.runtime import lanes
from vecdist.runtime.unrolling import told_of_loop

INT, SHORT, DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()
NARROW = 256  # terms of a sum, at most, that are added up in float32
SUMS = 8  # vectors of sums that are under way together, to hide how long each addition takes, and rows that are read
GROUPS = (4, 2, 1)  # vectors of columns that are summed together
CONTRACT = ("contract",)

Value = Any  # of LLVM, whose stubs know neither pointers nor vectors
WIDEST = ('"prefer-vector-width"="512"', '"min-legal-vector-width"="512"')


def data_of(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Where the elements of an array begin; by way of memory, as Numba has it, LLVM would have to find that out."""
    if isinstance(kind, types.CPointer):
        return value
    place = context.data_model_manager[kind].get_field_position("data")
    return builder.extract_value(value, place)


def _word(write: Callable[[_Tile], None]) -> Any:
    """A word of the CPU's language.

    The tile begins at element ``first`` of ``x``, and each row of it ``step`` behind the one before; the vector is that
    from ``place`` on, and what it becomes lies from ``target`` on.
    """

    @intrinsic
    def word(typing: Any, x: Any, first: Any, step: Any, vector: Any, place: Any, rows: Any, columns: Any, out: Any,
             target: Any) -> Any:  # fmt: skip
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def at(array: Any, value: Any, offset: Any) -> Any:
                return builder.gep(data_of(context, builder, array, value), [offset], inbounds=True)

            kind, wide = context.get_value_type(x.dtype), context.get_value_type(out.dtype)
            function = _function(builder.module, write, kind, wide)
            given = at(x, args[0], args[1]), args[2], at(vector, args[3], args[4]), args[5], args[6]
            builder.call(function, [*given, at(out, args[7], args[8])])
            return context.get_dummy_value()

        number = types.intp
        return types.none(x, number, number, vector, number, number, number, out, number), codegen

    return word


@intrinsic
def pack(typing: Any, x: Any, first: Any, step: Any, rows: Any, columns: Any, out: Any, target: Any, width: Any) -> Any:
    """A word of the CPU's language: copy rows of ``x``, from element ``first`` on, to such as are ``width`` apart."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, place = (
            builder.gep(data_of(context, builder, kind, value), [offset], inbounds=True)
            for kind, value, offset in ((x, args[0], args[1]), (out, args[5], args[6]))
        )
        size = builder.mul(args[4], INT(context.get_abi_sizeof(source.type.pointee)))
        with cgutils.for_range(builder, args[3]) as loop:
            here, there = (builder.gep(begin, [builder.mul(loop.index, apart)])
                           for begin, apart in ((source, args[2]), (place, args[7])))  # fmt: skip
            cgutils.raw_memcpy(builder, there, here, size, INT(1))
        return context.get_dummy_value()

    number = types.intp
    return types.none(x, number, number, number, number, out, number, number), codegen


def _function(module: ir.Module, write: Callable[[_Tile], None], kind: Any, wide: Any) -> ir.Function:
    """The function of a module for elements of a type, and sums of one, written when it is first called."""
    name = f"{module.name}.{write.__name__.strip('_')}.{kind.intrinsic_name}.{wide.intrinsic_name}"
    if name not in module.globals:
        pointer = kind.as_pointer()
        signature = ir.FunctionType(ir.VoidType(), [pointer, INT, pointer, INT, INT, wide.as_pointer()])
        made = ir.Function(module, signature, name)
        made.linkage = "internal"
        made.attributes.add("noinline")
        for each in WIDEST:
            set.add(made.attributes, each)
        tile = _Tile(made)
        write(tile)
        tile.builder.ret_void()
    return module.globals[name]


@final
class _Tile:
    """What a function is given, and what it is written in."""

    def __init__(self, function: ir.Function) -> None:
        self.builder: Any = ir.IRBuilder(function.append_basic_block("entry"))
        self.x, self.step, self.vector, self.rows, self.columns, self.out = cast(Any, function.args)
        self.kind, self.wide = (each.type.pointee for each in (self.x, self.out))
        self.lanes = lanes.lanes() // (2 if self.kind == DOUBLE else 1)
        self.whole = ir.VectorType(self.kind, self.lanes)

    # numbers

    def least(self, first: Value, second: Value) -> Value:
        return self.builder.select(self.builder.icmp_signed("<", first, second), first, second)

    def below(self, number: Value) -> Value:
        """The largest multiple of the number of lanes that is no larger."""
        return self.builder.and_(number, INT(-self.lanes))

    @contextlib.contextmanager
    def series(self, start: Value, stop: Value, step: Value) -> Iterator[Value]:
        """A loop, which is as long as it should be: LLVM would take long to unroll it."""
        before, blocks = self.builder.block, map(self.builder.append_basic_block, ("while", "do", "done"))
        head, body, end = blocks
        self.builder.branch(head)
        self.builder.position_at_end(head)
        number = self.builder.phi(INT)
        number.add_incoming(start, before)
        self.builder.cbranch(self.builder.icmp_signed("<", number, stop), body, end)
        self.builder.position_at_end(body)
        yield number
        number.add_incoming(self.builder.add(number, step, flags=("nsw",)), self.builder.block)
        back = self.builder.branch(head)
        back.set_metadata("llvm.loop", told_of_loop(self.builder.module, ("unroll.disable",)))
        self.builder.position_at_end(end)

    # vectors

    def mask(self, count: Value) -> Value:
        """The first lanes, so many of them."""
        kind = ir.VectorType(INT, self.lanes)
        return self.builder.icmp_signed("<", ir.Constant(kind, [*range(self.lanes)]), self.filled(count))

    def filled(self, number: Value) -> Value:
        """A vector of one number."""
        kind = ir.VectorType(number.type, self.lanes)
        first = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, SHORT(0))
        places = ir.Constant(ir.VectorType(SHORT, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), places)

    def load(self, pointer: Value, mask: Value | None = None) -> Value:
        kind = ir.VectorType(pointer.type.pointee, self.lanes)
        place, align = self.builder.bitcast(pointer, kind.as_pointer()), self._align(kind)
        if mask is None:
            return self.builder.load(place, align=align)
        load = self._masked("load", kind, kind, [kind.as_pointer(), SHORT, mask.type, kind])
        return self.builder.call(load, [place, SHORT(align), mask, ir.Constant(kind, None)])

    def store(self, value: Value, pointer: Value, mask: Value | None = None) -> None:
        kind = value.type
        place, align = self.builder.bitcast(pointer, kind.as_pointer()), self._align(kind)
        if mask is None:
            self.builder.store(value, place, align=align)
            return
        store = self._masked("store", kind, ir.VoidType(), [kind, kind.as_pointer(), SHORT, mask.type])
        self.builder.call(store, [value, place, SHORT(align), mask])

    def _align(self, kind: ir.VectorType) -> int:
        return 8 if kind.element == DOUBLE else 4

    def _masked(self, verb: str, kind: ir.VectorType, result: ir.Type, arguments: Sequence[ir.Type]) -> ir.Function:
        name = f"llvm.masked.{verb}.v{kind.count}{kind.element.intrinsic_name}.p0"
        known = self.builder.module.globals
        if name not in known:
            ir.Function(self.builder.module, ir.FunctionType(result, arguments), name)
        return known[name]

    def nothing(self) -> Value:
        """A place for a vector of sums."""
        place = cgutils.alloca_once(self.builder, self.whole)
        self.clear(place)
        return place

    def clear(self, *places: Value) -> None:
        for place in places:
            self.builder.store(ir.Constant(place.type.pointee, None), place)

    def add(self, place: Value, first: Value, second: Value) -> None:
        """Add a product to the sums of a place."""
        product = self.builder.fmul(first, second, flags=CONTRACT)
        self.builder.store(self.builder.fadd(self.builder.load(place), product, flags=CONTRACT), place)

    def widened(self, value: Value) -> Value:
        return value if self.kind == self.wide else self.builder.fpext(value, ir.VectorType(self.wide, self.lanes))

    def row(self, number: Value) -> Value:
        """Where a row begins."""
        return self.builder.gep(self.x, [self.builder.mul(self.step, number)])


def _gemv(tile: _Tile) -> None:
    """A number for each row, as many as there are lanes at once, the last of them with some before.

    Of fewer rows each is read for all lanes: memory behind the last number is written, too.
    """
    builder = tile.builder
    behind = builder.sub(tile.rows, INT(tile.lanes))
    few = builder.icmp_signed("<", behind, INT(0))
    step, furthest = builder.select(few, INT(0), tile.step), builder.select(few, tile.rows, behind)
    with tile.series(INT(0), tile.rows, builder.select(few, INT(1), INT(tile.lanes))) as number:
        first = tile.least(number, furthest)
        begin = tile.row(first)
        _dots(tile, first, [builder.gep(begin, [builder.mul(step, INT(lane))]) for lane in range(tile.lanes)])


def _dots(tile: _Tile, first: Value, rows: Sequence[Value]) -> None:
    """The products of some rows, one for each lane, with the vector: a few rows at once, whose lines caches hold."""
    builder, wide = tile.builder, ir.VectorType(DOUBLE, tile.lanes)
    total = cgutils.alloca_once(builder, wide)
    tile.clear(total)
    with tile.series(INT(0), tile.columns, INT(NARROW)) as begin:
        end = tile.least(builder.add(begin, INT(NARROW)), tile.columns)
        parts = [rows[place : place + SUMS] for place in range(0, len(rows), SUMS)]
        found = _turned(builder, [each for part in parts for each in _partial(tile, part, begin, end)])
        found = found if tile.kind == DOUBLE else builder.fpext(found, wide)
        builder.store(builder.fadd(builder.load(total), found), total)
    found = builder.load(total)
    found = found if tile.wide == DOUBLE else builder.fptrunc(found, ir.VectorType(tile.wide, tile.lanes))
    tile.store(found, builder.gep(tile.out, [first]))


def _partial(tile: _Tile, rows: Sequence[Value], begin: Value, end: Value) -> list[Value]:
    """A vector of each row, whose lanes add up to its product with a part of the vector."""
    builder, sums = tile.builder, [tile.nothing() for _ in rows]
    tile.clear(*sums)

    def added(column: Value, mask: Value | None = None) -> None:
        own = tile.load(builder.gep(tile.vector, [column]), mask)
        for row, place in zip(rows, sums, strict=True):
            tile.add(place, tile.load(builder.gep(row, [column]), mask), own)

    full = builder.add(begin, tile.below(builder.sub(end, begin)))
    with tile.series(begin, full, INT(tile.lanes)) as column:
        added(column)
    with builder.if_then(builder.icmp_signed("<", full, end)):
        added(full, tile.mask(builder.sub(end, full)))
    return [builder.load(place) for place in sums]


def _turned(builder: Any, vectors: Sequence[Value]) -> Value:
    """The sums of vectors, each in a lane: halves of neighbours are added, then halves of what that gives."""
    lanes, rows = len(vectors), 1
    while len(vectors) > 1:
        half = lanes // rows // 2
        low = [2 * half * row + lane for row in range(2 * rows) for lane in range(half)]
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        places = [ir.Constant(ir.VectorType(SHORT, lanes), [each + more for each in low]) for more in (0, half)]
        vectors = [builder.fadd(*(builder.shuffle_vector(*pair, each) for each in places)) for pair in pairs]
        rows *= 2
    return vectors[0]


def _gemv_transposed(tile: _Tile) -> None:
    """What is added to a number for each column: products with the rows' numbers, some vectors of columns together."""
    builder = tile.builder
    place = cgutils.alloca_once(builder, INT)
    builder.store(INT(0), place)
    for count in GROUPS:
        head, body, end = (builder.append_basic_block(f"{name}{count}") for name in ("while", "do", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        column = builder.load(place)
        left = builder.sub(tile.columns, column)
        builder.cbranch(builder.icmp_signed(">", left, INT(count // 2 * tile.lanes)), body, end)
        builder.position_at_end(body)
        _columns(tile, column, left, count)
        builder.store(builder.add(column, INT(count * tile.lanes)), place)
        builder.branch(head)
        builder.position_at_end(end)


def _columns(tile: _Tile, first: Value, left: Value, count: int) -> None:
    """The sums of some vectors of columns, of which the second half may end early."""
    builder, together = tile.builder, SUMS // count
    starts = [INT(number * tile.lanes) for number in range(count)]
    masks = [tile.mask(builder.sub(left, start)) if 2 * n >= count - 1 else None for n, start in enumerate(starts)]
    sums = [[tile.nothing() for _ in range(count)] for _ in range(together)]

    def added(row: Value, places: Sequence[Value]) -> None:
        weight = tile.filled(builder.load(builder.gep(tile.vector, [row])))
        begin = builder.gep(tile.row(row), [first])
        for place, start, mask in zip(places, starts, masks, strict=True):
            tile.add(place, tile.load(builder.gep(begin, [start]), mask), weight)

    full = builder.and_(tile.rows, INT(-together))
    with tile.series(INT(0), full, INT(together)) as row:
        for number, places in enumerate(sums):
            added(builder.add(row, INT(number)), places)
    with tile.series(full, tile.rows, INT(1)) as row:
        added(row, sums[0])
    for number, (start, mask) in enumerate(zip(starts, masks, strict=True)):
        found = [builder.load(places[number]) for places in sums]
        while len(found) > 1:
            found = [builder.fadd(*pair) for pair in zip(found[::2], found[1::2], strict=True)]
        target = builder.gep(tile.out, [builder.add(first, start)])
        tile.store(builder.fadd(tile.load(target, mask), tile.widened(found[0])), target, mask)


gemv, gemv_transposed = _word(_gemv), _word(_gemv_transposed)
