"""Loop nests run one step at a time in plain Python: what a kernel says, whoever renders it."""

import math
from functools import cache

import numpy as np

from vecdist.kernel.expressions import ZERO
from vecdist.kernel.ir import Cases, Loop
from vecdist.kernel.lower import schedule
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Store, Temp, Total
from vecdist.primitives import PRIMITIVES


def run_loops(kernel, arrays, lengths):
    """The outputs of ``kernel`` and whether it raises its flag.

    Names live in the block that sets them, every index must be in range, and every element of an output must be stored
    once, unless the output is summed: then nothing is stored, and it is read when the last loop has added to it.
    """
    return _Machine(kernel, arrays, lengths).run()


def scheduled(bound, graph=None):
    """The kernel of a bound graph."""
    return schedule(graph or bound.roots)


class _Machine:
    def __init__(self, kernel, arrays, lengths):
        self.kernel, self.lengths = kernel, lengths
        self.slots = {slot.index: self.readable(slot, arrays[slot.index]) for slot in kernel.slots}
        filled = any(loop.sequential for loop in loops(kernel))  # in a loop over one row
        assert filled or all(o.shape.count(1) < len(o.shape) for o in kernel.outputs if o.temporary), (
            "a temporary is filled by a loop: single numbers are stored when everything else is done"
        )
        self.outputs = [np.zeros(self.dims(output.shape), output.dtype) for output in kernel.outputs]
        self.stored = [np.zeros(output.shape, int) for output in self.outputs]
        self.scattered = {n: self.sum_of(n) for n, output in enumerate(kernel.outputs) if output.summed}
        self.sums = {}
        self.flag = False

    def dims(self, shape):
        return [self.length(dim) for dim in shape if dim != 1]

    def length(self, dim):
        """The number that a dimension stands for, or is; the product of several, where one loop has their turns."""
        return math.prod(int(self.lengths.get(each, each)) for each in str(dim).split("*"))

    def sum_of(self, number):
        """Zeros to scatter to, in the type in which sums accumulate."""
        return np.zeros(self.outputs[number].shape, wide(self.outputs[number].dtype))

    def readable(self, slot, array):
        if slot.layout != "strided":
            return np.asarray(array).reshape(self.dims(slot.shape))
        index = tuple(slice(None) if axis in slot.axes else 0 for axis in range(array.ndim))
        return array[index].reshape(self.dims(slot.shape))

    def run(self):
        with np.errstate(all="ignore"):
            self.block(self.kernel.root, dict(self.lengths))
        assert not self.scattered, "a summed output to which no loop adds"
        often = self.carries() | self.held()
        once = [count for number, count in enumerate(self.stored) if number not in often]
        assert all((count == 1).all() for count in once), "an element is stored never, or twice"
        shown = [array for array, o in zip(self.outputs, self.kernel.outputs, strict=True) if not o.temporary]
        return shown, self.flag

    def carries(self):
        """The outputs that hold carries of recurrences, in turns in one half and in the other, or starts of carries."""
        stores = [item for _, item in statements(self.kernel, Store) if item.indices]
        temporary = {number for number, output in enumerate(self.kernel.outputs) if output.temporary}
        halves = (item.output for item in stores if item.indices[0] == ZERO or str(item.indices[0]).endswith(" % 2"))
        return temporary & set(halves)

    def held(self):
        """The outputs that hold what a turn of a loop in order has found, for itself."""
        turns = (loop.body for loop in loops(self.kernel) if loop.sequential)
        return {item.output for turn in turns for item in turn.walk() if isinstance(item, Store)}

    def block(self, block, names):
        for level in block.levels:
            for item in block.statements(level):
                self.statement(item, names)
            for case in block.cases(level):
                self.block(case.short if names[case.condition.id] else case.long, names)
            for loop in block.loops(level):
                for item in loop.sums(block):
                    given = item.start is not None
                    start = self.operand(item.start, names) if given else neutral(item.op, wide(item.dtype))
                    self.sums[item.name] = wide(item.dtype).type(start)
                for index in range(self.length(loop.dim)):
                    self.block(loop.body, {**names, loop.index: index})
            if block is self.kernel.root:
                self.finish(self.kernel.finished(level))

    def finish(self, numbers):
        """Round the sums of what was scattered to these outputs, which may be read from now on."""
        for number in numbers:
            self.outputs[number][...] = self.scattered.pop(number)
            self.stored[number][...] += 1

    def statement(self, item, names):
        match item:
            case Load(name, source, indices, dtype, guard):
                missing = guard is not None and not self.index(guard, names)
                names[name] = dtype.type(0) if missing else self.element(source, indices, names)
            case Assign(name, "index", (value,), dtype):
                names[name] = dtype.type(self.operand(value, names))
            case Assign(name, op, args, dtype):
                operands = [self.operand(arg, names) for arg in args]
                value = PRIMITIVES[op].meaning(*operands, *([dtype] if op == "cast" else []))
                names[name] = np.asarray(value, dtype)[()]
            case Accumulate(name, value, op="linear", factor=factor):
                before = self.sums[name]
                after = self.operand(factor, names), self.operand(value, names)
                self.sums[name] = before.dtype.type(after[0]) * before + after[1]
            case Accumulate(name, value, op=op):
                assert name in self.sums, "a reduction that no loop of its block begins"
                before = self.sums[name]
                self.sums[name] = REDUCTIONS[op](before, before.dtype.type(self.operand(value, names)))
            case Total(name, accumulator, dtype):
                names[name] = dtype.type(self.sums[accumulator])
            case Store(number, indices, value):
                place = tuple(self.index(index, names) for index in indices)
                self.outputs[number][self.inside(place, number)] = self.operand(value, names)
                self.stored[number][place] += 1
            case Scatter(number, indices, value):
                place = tuple(self.index(index, names) for index in indices)
                self.scattered[number][self.inside(place, number)] += self.operand(value, names)
            case Flag(value):
                self.flag = self.flag or bool(self.operand(value, names))

    def element(self, source, indices, names):
        temporary = isinstance(source, Temp)
        array = self.outputs[source.output] if temporary else self.slots[source]
        place = tuple(self.index(index, names) for index in indices)
        assert len(place) == array.ndim and all(0 <= i < n for i, n in zip(place, array.shape, strict=True)), (
            f"element {place} of an array of shape {array.shape}"
        )
        assert not temporary or self.stored[source.output][place], "a temporary is read before it is filled"
        return array[place]

    def inside(self, place, number):
        shape = self.outputs[number].shape
        assert len(place) == len(shape) and all(0 <= i < n for i, n in zip(place, shape, strict=True)), (
            f"element {place} of an output of shape {shape}"
        )
        return place

    def index(self, expression, names):
        return eval(written(expression), {"__builtins__": {}}, names)

    def operand(self, expression, names):
        return eval(written(expression), {"__builtins__": {}, "float": float, **TYPES}, names)


@cache
def written(expression):
    """An expression as Python's code, which every turn of a loop runs again."""
    return compile(str(expression), "<expression>", "eval")


def wide(dtype):
    """The dtype in which a reduction of ``dtype`` accumulates."""
    return np.dtype({"f": "f8", "u": "u8"}.get(dtype.kind, "i8"))


def neutral(op, dtype):
    """What a reduction begins with."""
    lowest, highest = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return dtype.type({"sum": 0, "linear": 0, "prod": 1, "max": lowest, "min": highest}[op])


REDUCTIONS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "last": lambda _, x: x}
TYPES = {f"{kind}{size}": np.dtype(f"{kind}{size}").type for kind in "iu" for size in (1, 2, 4, 8)}
TYPES |= {"f4": np.float32, "f8": np.float64}


def statements(kernel, kind=Assign):
    """Every statement of a kind, with the number of loops around it."""
    found = []

    def walk(block, depth):
        for _, item in block.items:
            if isinstance(item, Loop):
                walk(item.body, depth + 1)
            elif isinstance(item, Cases):
                walk(item.short, depth)
                walk(item.long, depth)
            elif isinstance(item, kind):
                found.append((depth, item))

    walk(kernel.root, 0)
    return found


def depths(kernel, op):
    """The loops around each statement of a primitive."""
    return sorted(depth for depth, item in statements(kernel) if item.op == op)


def loops(kernel):
    """Every loop of a kernel."""
    return [item for item in kernel.root.walk() if isinstance(item, Loop)]
