"""Machine code of correlations: sums of a packed array at places that tables tell, in tiles that stay in registers.

``across`` makes a tile of so many vectors of elements for so many filters, and adds up over the places of a window;
``along`` makes one of so many places for so many rows, and adds up over elements.  Each number that is read is used for
a whole side of its tile.  float32 is added up in runs, whose sums are added to others: in float32 those of ``across``,
of which there are few, in float64 those of ``along``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import llvmlite.binding as llvm

from vecdist.runtime.lanes import BITS
from vecdist.runtime.once import Once

RUN = 64  # terms of a sum that are added up in float32
STRIPS = 4  # of the vectors of a tile, in what a block computes
WORDS = 3  # ahead of the arguments: what part of the work is asked for
ACROSS = (
    "x", "w", "y", "places", "starts", "rows", "groups", "blocks", "size", "terms", "filters", "width", "elements",
)  # fmt: skip
ALONG = ("x", "z", "y", "places", "runs", "groups", "size", "row_size", "sets", "tiles", "shares", "stretches")


ACROSS_CODE = """
define void @part(ptr %given) {{
begin:
  {arguments}
  %memory = alloca {kind}, i64 {held}, align 64
  %w.size = mul i64 %terms, {rows}
  %up = add i64 %filters, {rows_less}
  %many = udiv i64 %up, {rows}
  %w.group = mul i64 %w.size, %many
  %y.size = mul i64 %elements, %filters
  %none = icmp sge i64 %first, %last
  br i1 %none, label %out, label %item
item:
  %number = phi i64 [ %first, %begin ], [ %number.next, %ended ]
  %place = udiv i64 %number, %blocks
  %block = urem i64 %number, %blocks
  %group = urem i64 %place, %groups
  %x.from = mul i64 %place, %size
  %start = mul i64 %block, {block}
  %x.start = add i64 %x.from, %start
  %x.block = getelementptr {kind}, ptr %x, i64 %x.start
  %w.from = mul i64 %group, %w.group
  %w.own = getelementptr {kind}, ptr %w, i64 %w.from
  %y.from = mul i64 %place, %y.size
  %y.own = getelementptr {kind}, ptr %y, i64 %y.from
  %stop = add i64 %start, {block}
  %rows.here = getelementptr i64, ptr %rows, i64 %block
  %rows.first = load i64, ptr %rows.here
  br label %several
several:
  %which = phi i64 [ 0, %item ], [ %which.next, %copied ]
  %w.skip = mul i64 %which, %w.size
  %w.some = getelementptr {kind}, ptr %w.own, i64 %w.skip
  br label %strip
strip:
  %at = phi i64 [ 0, %several ], [ %at.next, %strip.end ]
  %x.here = getelementptr {kind}, ptr %x.block, i64 %at
  %tile = getelementptr {kind}, ptr %memory, i64 %at
  br label %run
run:
  %k.first = phi i64 [ 0, %strip ], [ %k.last, %run.end ]
  %begins = icmp eq i64 %k.first, 0
  %k.far = add i64 %k.first, {run}
  %k.near = icmp slt i64 %k.far, %terms
  %k.last = select i1 %k.near, i64 %k.far, i64 %terms
  br label %term
term:
  %k = phi i64 [ %k.first, %run ], [ %k.next, %term ]
  {begun}
  %place.at = getelementptr i64, ptr %places, i64 %k
  %offset = load i64, ptr %place.at
  %here = getelementptr {kind}, ptr %x.here, i64 %offset
  %w.row = mul i64 %k, {rows}
  %w.here = getelementptr {kind}, ptr %w.some, i64 %w.row
  {loads}
  {weights}
  {sums}
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %k.last
  br i1 %k.more, label %term, label %run.end
run.end:
  {kept}
  %runs.more = icmp slt i64 %k.last, %terms
  br i1 %runs.more, label %run, label %strip.end
strip.end:
  %at.next = add i64 %at, {step}
  %at.more = icmp slt i64 %at.next, {block}
  br i1 %at.more, label %strip, label %copy
copy:
  %filter.first = mul i64 %which, {rows}
  %filters.left = sub i64 %filters, %filter.first
  %all = icmp slt i64 %filters.left, {rows}
  %filters.here = select i1 %all, i64 %filters.left, i64 {rows}
  br label %filter
filter:
  %r = phi i64 [ 0, %copy ], [ %r.next, %filter.end ]
  %filter.number = add i64 %filter.first, %r
  %filter.from = mul i64 %filter.number, %elements
  %y.filter = getelementptr {kind}, ptr %y.own, i64 %filter.from
  %tile.from = mul i64 %r, {block}
  %tile.filter = getelementptr {kind}, ptr %memory, i64 %tile.from
  br label %row
row:
  %q = phi i64 [ %rows.first, %filter ], [ %q.next, %row.copy ]
  %begin.at = getelementptr i64, ptr %starts, i64 %q
  %row.begin = load i64, ptr %begin.at
  %row.out = icmp sge i64 %row.begin, %stop
  br i1 %row.out, label %filter.end, label %row.copy
row.copy:
  %row.end = add i64 %row.begin, %width
  %late = icmp sgt i64 %row.begin, %start
  %from = select i1 %late, i64 %row.begin, i64 %start
  %early = icmp slt i64 %row.end, %stop
  %to = select i1 %early, i64 %row.end, i64 %stop
  %count = sub i64 %to, %from
  %bytes = mul i64 %count, {size}
  %tile.place = sub i64 %from, %start
  %source = getelementptr {kind}, ptr %tile.filter, i64 %tile.place
  %row.place = mul i64 %q, %width
  %skipped = sub i64 %from, %row.begin
  %target.place = add i64 %row.place, %skipped
  %target = getelementptr {kind}, ptr %y.filter, i64 %target.place
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  %q.next = add i64 %q, 1
  br label %row
filter.end:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %filters.here
  br i1 %r.more, label %filter, label %copied
copied:
  %which.next = add i64 %which, 1
  %which.more = icmp slt i64 %which.next, %many
  br i1 %which.more, label %several, label %ended
ended:
  %number.next = add i64 %number, 1
  %number.more = icmp slt i64 %number.next, %last
  br i1 %number.more, label %item, label %out
out:
  ret void
}}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

ALONG_CODE = """
define void @part(ptr %given) {{
begin:
  {arguments}
  %wide = mul i64 %tiles, {columns}
  %row.set = mul i64 %row_size, {rows}
  %z.size = mul i64 %row.set, %sets
  %y.set = mul i64 %wide, {rows}
  %none = icmp sge i64 %first, %last
  br i1 %none, label %out, label %item
item:
  %number = phi i64 [ %first, %begin ], [ %number.next, %ended ]
  %pair = udiv i64 %number, %shares
  %share = urem i64 %number, %shares
  %group = udiv i64 %pair, %sets
  %set = urem i64 %pair, %sets
  %above = mul i64 %share, %tiles
  %tile.first = udiv i64 %above, %shares
  %share.next = add i64 %share, 1
  %above.next = mul i64 %share.next, %tiles
  %tile.last = udiv i64 %above.next, %shares
  %z.skip = mul i64 %set, %row.set
  %z.set = getelementptr {kind}, ptr %z, i64 %z.skip
  %y.skip = mul i64 %pair, %y.set
  %y.own = getelementptr double, ptr %y, i64 %y.skip
  br label %stretch
stretch:
  %n = phi i64 [ 0, %item ], [ %n.next, %stretch.end ]
  %run.at = getelementptr [4 x i64], ptr %runs, i64 %n
  %array.first = load i64, ptr %run.at
  %run.1 = getelementptr i64, ptr %run.at, i64 1
  %array.last = load i64, ptr %run.1
  %run.2 = getelementptr i64, ptr %run.at, i64 2
  %e.first = load i64, ptr %run.2
  %run.3 = getelementptr i64, ptr %run.at, i64 3
  %e.last = load i64, ptr %run.3
  br label %run
run:
  %tile = phi i64 [ %tile.first, %stretch ], [ %tile.next, %run.end ]
  %column = mul i64 %tile, {columns}
  %places.tile = getelementptr i64, ptr %places, i64 %column
  %y.tile = getelementptr double, ptr %y.own, i64 %column
  {places}
  br label %array
array:
  %b = phi i64 [ %array.first, %run ], [ %b.next, %array.end ]
  {begun}
  %above.b = mul i64 %b, %groups
  %here = add i64 %above.b, %group
  %x.skip = mul i64 %here, %size
  %x.array = getelementptr {kind}, ptr %x, i64 %x.skip
  %z.array.skip = mul i64 %here, %z.size
  %z.array = getelementptr {kind}, ptr %z.set, i64 %z.array.skip
  {own}
  br label %step
step:
  %e = phi i64 [ %e.first, %array ], [ %e.next, %step ]
  {again}
  {loads}
  {sums}
  %e.next = add i64 %e, {lanes}
  %e.more = icmp slt i64 %e.next, %e.last
  br i1 %e.more, label %step, label %array.end
array.end:
  %b.next = add i64 %b, 1
  %b.more = icmp slt i64 %b.next, %array.last
  br i1 %b.more, label %array, label %run.end
run.end:
  {kept}
  %tile.next = add i64 %tile, 1
  %tile.more = icmp slt i64 %tile.next, %tile.last
  br i1 %tile.more, label %run, label %stretch.end
stretch.end:
  %n.next = add i64 %n, 1
  %n.more = icmp slt i64 %n.next, %stretches
  br i1 %n.more, label %stretch, label %ended
ended:
  %number.next = add i64 %number, 1
  %number.more = icmp slt i64 %number.next, %last
  br i1 %number.more, label %item, label %out
out:
  ret void
}}

declare {kind} @llvm.vector.reduce.fadd.{suffix}({kind}, {vector})
"""


@final
@dataclass(frozen=True)
class Tile:
    """The element type, its lanes, and the sides of a tile: rows, and vectors or places."""

    kind: str
    lanes: int
    rows: int
    columns: int
    strips: int = STRIPS

    @property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.kind}>"

    @property
    def block(self) -> int:
        """The elements that a block of ``across`` has."""
        return self.lanes * self.columns * self.strips

    def cut(self, elements: int) -> Tile:
        """A tile of no more vectors than make up so many elements, in blocks that these nearly fill."""
        vectors = -(-elements // self.lanes)
        columns = -(-vectors // -(-vectors // self.columns))
        return replace(self, columns=columns, strips=min(STRIPS, -(-vectors // columns)))

    def each(self) -> Iterator[tuple[int, int]]:
        """The places of a tile."""
        return ((row, column) for row in range(self.rows) for column in range(self.columns))


def tile(kind: str, filters: int, columns: int = 0) -> Tile:
    """The tile for so many filters: as large as registers allow, with at most so many columns."""
    features = llvm.get_host_cpu_features()
    bits = next((bits for name, bits in BITS.items() if features.get(name)), 128)
    room, most = (12, 4) if bits == 256 else (24, 8)  # of 16 registers, or of 32
    if columns:
        most = 4
    rows = -(-filters // -(-filters // most))
    return Tile(kind, bits // (32 if kind == "float" else 64), rows, min(room // rows, columns or 12, 12))


def _arguments(names: tuple[str, ...], pointers: int) -> str:
    """Instructions that take the arguments of a function from its words."""
    lines = []
    for place, name in enumerate(("first", "last", *names), 1):
        kind = "ptr" if WORDS <= place < WORDS + pointers else "i64"
        lines += [f"%{name}.at = getelementptr i64, ptr %given, i64 {place}", f"%{name} = load {kind}, ptr %{name}.at"]
    return "\n  ".join(lines)


def _sides(tile: Tile) -> dict[str, object]:
    """What code is told of a tile."""
    return {
        "kind": tile.kind, "vector": tile.vector, "size": 4 if tile.kind == "float" else 8, "lanes": tile.lanes,
        "rows": tile.rows, "rows_less": tile.rows - 1, "columns": tile.columns, "block": tile.block,
        "held": tile.rows * tile.block, "step": tile.lanes * tile.columns, "run": RUN,
    }  # fmt: skip


def _across(tile: Tile) -> str:
    """The sums over windows of packed arrays, for blocks of elements."""
    kind, vector, each = tile.kind, tile.vector, list(tile.each())
    size = 4 if kind == "float" else 8
    begun = "\n  ".join(f"%a{r}.{v} = phi {vector} [ zeroinitializer, %run ], [ %s{r}.{v}, %term ]" for r, v in each)
    loads = "\n  ".join(
        f"%x{v}.at = getelementptr {kind}, ptr %here, i64 {v * tile.lanes}\n"
        f"  %x{v} = load {vector}, ptr %x{v}.at, align {size}" for v in range(tile.columns))  # fmt: skip
    weights = "\n  ".join(
        f"%w{r}.at = getelementptr {kind}, ptr %w.here, i64 {r}\n  %w{r}.one = load {kind}, ptr %w{r}.at\n"
        f"  %w{r}.first = insertelement {vector} poison, {kind} %w{r}.one, i64 0\n"
        f"  %w{r} = shufflevector {vector} %w{r}.first, {vector} poison, <{tile.lanes} x i32> zeroinitializer"
        for r in range(tile.rows))  # fmt: skip
    sums = "\n  ".join(
        f"%m{r}.{v} = fmul contract {vector} %x{v}, %w{r}\n  %s{r}.{v} = fadd contract {vector} %a{r}.{v}, %m{r}.{v}"
        for r, v in each)  # fmt: skip
    kept = "\n  ".join(
        f"%t{r}.{v}.at = getelementptr {kind}, ptr %tile, i64 {r * tile.block + v * tile.lanes}\n"
        f"  %t{r}.{v}.old = load {vector}, ptr %t{r}.{v}.at\n"
        f"  %t{r}.{v}.held = select i1 %begins, {vector} zeroinitializer, {vector} %t{r}.{v}.old\n"
        f"  %t{r}.{v} = fadd {vector} %t{r}.{v}.held, %s{r}.{v}\n  store {vector} %t{r}.{v}, ptr %t{r}.{v}.at"
        for r, v in each)  # fmt: skip
    told = {"begun": begun, "loads": loads, "weights": weights, "sums": sums, "kept": kept}
    return ACROSS_CODE.format_map(_sides(tile) | told | {"arguments": _arguments(ACROSS, 6)})


def _along(tile: Tile) -> str:
    """The sums over elements of packed arrays, for tiles of rows of one and places of the other.

    An item has the same rows, and some tiles of places in turn; ``runs`` are pairs of ranges, of arrays in the batch
    and of vectors in each, of which sums in a register are taken.
    """
    kind, vector, each = tile.kind, tile.vector, list(tile.each())
    size, suffix = (4 if kind == "float" else 8), f"v{tile.lanes}f{32 if kind == 'float' else 64}"
    begun, again, sums, kept = [], [], [], []
    for r, t in each:
        begun.append(f"%b{r}.{t} = phi {vector} [ zeroinitializer, %run ], [ %s{r}.{t}, %array.end ]")
        again.append(f"%a{r}.{t} = phi {vector} [ %b{r}.{t}, %array ], [ %s{r}.{t}, %step ]")
        sums += [f"%m{r}.{t} = fmul contract {vector} %x{t}, %z{r}",
                 f"%s{r}.{t} = fadd contract {vector} %a{r}.{t}, %m{r}.{t}"]  # fmt: skip
        found = f"%d{r}.{t}"
        kept.append(f"{found} = call reassoc {kind} @llvm.vector.reduce.fadd.{suffix}({kind} 0.0, {vector} %s{r}.{t})")
        if kind == "float":
            kept.append(f"{found}.wide = fpext float {found} to double")
            found += ".wide"
        kept += [f"%y{r}.{t}.row = mul i64 %wide, {r}", f"%y{r}.{t}.column = add i64 %y{r}.{t}.row, {t}",
                 f"%y{r}.{t}.at = getelementptr double, ptr %y.tile, i64 %y{r}.{t}.column",
                 f"%y{r}.{t}.old = load double, ptr %y{r}.{t}.at", f"%y{r}.{t} = fadd double %y{r}.{t}.old, {found}",
                 f"store double %y{r}.{t}, ptr %y{r}.{t}.at"]  # fmt: skip
    places = [line for t in range(tile.columns) for line in (
        f"%o{t}.at = getelementptr i64, ptr %places.tile, i64 {t}", f"%o{t} = load i64, ptr %o{t}.at")]  # fmt: skip
    own = [f"%x{t}.own = getelementptr {kind}, ptr %x.array, i64 %o{t}" for t in range(tile.columns)]
    for r in range(tile.rows):
        own += [f"%z{r}.skip = mul i64 %row_size, {r}",
                f"%z{r}.own = getelementptr {kind}, ptr %z.array, i64 %z{r}.skip"]  # fmt: skip
    loads = [line for name in [*(f"x{t}" for t in range(tile.columns)), *(f"z{r}" for r in range(tile.rows))]
             for line in (f"%{name}.at = getelementptr {kind}, ptr %{name}.own, i64 %e",
                          f"%{name} = load {vector}, ptr %{name}.at, align {size}")]  # fmt: skip
    told = {"begun": begun, "again": again, "sums": sums, "kept": kept, "places": places, "own": own, "loads": loads}
    return ALONG_CODE.format_map(_sides(tile) | {name: "\n  ".join(each) for name, each in told.items()} | {
        "suffix": suffix, "arguments": _arguments(ALONG, 5)})  # fmt: skip


CODES = {"across": _across, "along": _along}


@Once
def compiled(name: str, tile: Tile) -> Any:
    """The address of the function for a tile, and what keeps its code in memory."""
    module = llvm.parse_assembly(CODES[name](tile), llvm.create_context())
    module.verify()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    if "+avx512f" in features:
        features += ",-prefer-256-bit"
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=2
    )
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine.get_function_address("part"), engine
