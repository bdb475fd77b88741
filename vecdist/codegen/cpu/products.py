"""Products of a strip of rows with vectors: loops over columns that are one are called as one.

What each row multiplies and adds up along its columns is a product of the rows of a matrix with a vector; what it adds
to an element of each column, of a vector with these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vecdist.codegen.cpu.fission import Phase, Rows
from vecdist.codegen.cpu.mixed import Items, Product
from vecdist.codegen.statements import varying
from vecdist.kernel.expressions import ZERO, Expr, Name, names, substituted
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Made, Scatter, Total

LEAST = 9  # columns, of which fewer are written out


def products(kernel: Kernel, loop: Loop, phase: Phase, rows: Rows) -> Items:
    """The products that a phase of rows is; none where it is something else."""
    inner = phase.loop
    if inner is None or inner.sequential or dict(kernel.fixed).get(inner.dim, LEAST) < LEAST:
        return ()
    items = [item for _, item in inner.body.items]
    loads = {item.name: item for item in items if isinstance(item, Load)}
    muls = {item.name: item for item in items if isinstance(item, Assign)}
    ends = [item for item in items if isinstance(item, Accumulate | Scatter)]
    if len(loads) + len(muls) + len(ends) != len(items) or any(each.op != "mul" for each in muls.values()):
        return ()
    found = _Finder(kernel, loop, inner, rows, loads, muls)
    made = [found.of_rows(item, loop.body, phase) if isinstance(item, Accumulate) else found.of_columns(item)
            for item in ends]  # fmt: skip
    return tuple([each for each in made if each is not None]) if all(made) else ()


class _Finder:
    def __init__(
        self, kernel: Kernel, loop: Loop, inner: Loop, rows: Rows, loads: Mapping[str, Load], muls: Mapping[str, Assign]
    ) -> None:
        self.kernel, self.rows, self.inner, self.loads, self.muls = kernel, rows, inner, loads, muls
        self.row, self.column = Name(loop.index), Name(inner.index)
        self.first = {self.row.id: rows.loop.start, self.column.id: ZERO}
        made = {item.name for item in loop.body.walk() if isinstance(item, Made)}
        self.varying: set[str] = {self.row.id, self.column.id, *made}  # from row to row, or along one

    def of_rows(self, item: Accumulate, home: Block, phase: Phase) -> Product | None:
        """The product whose numbers a sum of each row is."""
        total = next((each for each in phase.items if isinstance(each, Total) and each.accumulator == item.name), None)
        plain = item.op == "sum" and item.home is home and item.factor is None and item.start is None
        pair = self.pair(item.value)
        if not plain or pair is None or total is None or total.name not in self.rows.buffers:
            return None
        matrix, other = pair
        vector = self.loads.get(other.id)
        if vector is None or not self.is_vector(vector) or not matrix.dtype == vector.dtype == total.dtype:
            return None
        numbers = replace(self.rows.at(total.name), index=ZERO)
        return self.product("gemv", matrix, self.begun(vector), numbers)

    def of_columns(self, item: Scatter) -> Product | None:
        """The product that rows add to elements of columns."""
        pair = self.pair(item.value)
        if pair is None or item.indices[-1:] != (self.column,) or not self.is_fixed(item.indices[:-1]):
            return None
        matrix, weight = pair
        output = self.kernel.outputs[item.output]
        if weight.id not in self.rows.buffers or not matrix.dtype == self.rows.buffers[weight.id] == output.dtype:
            return None
        weights = replace(self.rows.at(weight.id), index=ZERO)
        return self.product("gemv_transposed", matrix, weights, self.begun(item))

    def pair(self, value: Expr) -> tuple[Load, Name] | None:
        """The element of a matrix of the rows that a value is the product of, and what it is multiplied by."""
        product = self.muls.get(value.id) if isinstance(value, Name) else None
        if product is None:
            return None
        for one, other in (product.args, product.args[::-1]):
            matrix = self.loads.get(one.id) if isinstance(one, Name) else None
            if matrix is not None and isinstance(other, Name) and self.is_matrix(matrix):
                return matrix, other
        return None

    def is_matrix(self, item: Load) -> bool:
        plain = item.guard is None and item.dtype.kind == "f" and item.indices[-2:] == (self.row, self.column)
        return plain and self.is_dense(item) and self.is_fixed(item.indices[:-2])

    def is_vector(self, item: Load) -> bool:
        plain = item.guard is None and item.indices[-1:] == (self.column,) and self.is_dense(item)
        return plain and self.is_fixed(item.indices[:-1])

    def is_fixed(self, indices: Sequence[Expr]) -> bool:
        """Whether indices are the same in all rows, and along them."""
        return self.varying.isdisjoint(names(*indices))

    def is_dense(self, item: Load) -> bool:
        return self.kernel.slot_of(item.source).layout == "dense"

    def begun(self, item: Any) -> Any:
        """What is loaded or added to, where the rows and columns begin."""
        return item.mapped(lambda index: substituted(index, self.first))

    def product(self, word: str, matrix: Load, vector: Any, target: Any) -> Product:
        step = varying(self.kernel.slot_of(matrix.source).shape)[-1]
        rows = self.rows.loop.stop - self.rows.loop.start
        return Product(word, self.begun(matrix), step, vector, rows, self.inner.length, target)
