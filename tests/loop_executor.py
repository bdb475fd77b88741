"""Loop nests run one step at a time in plain Python: what a kernel says, whoever renders it."""

import numpy as np

from vecdist.kernel import Accumulate, Assign, Cases, Flag, Load, Loop, Store, Total
from vecdist.primitives import PRIMITIVES
from vecdist.schedule import schedule


def run_loops(kernel, arrays, lengths):
    """The outputs of ``kernel`` and whether it raises its flag.

    Names live in the block that sets them, every index must be in range, and every element of an output must be stored.
    """
    return _Machine(kernel, arrays, lengths).run()


def scheduled(bound, graph=None):
    """The kernel of a bound graph."""
    return schedule(graph or bound.roots)


class _Machine:
    def __init__(self, kernel, arrays, lengths):
        self.kernel, self.lengths = kernel, lengths
        self.slots = {slot.index: self.readable(slot, arrays[slot.index]) for slot in kernel.slots}
        assert all(o.shape.count(1) < len(o.shape) for o in kernel.outputs if o.temporary), (
            "a temporary is filled by a loop: single numbers are stored when everything else is done"
        )
        self.outputs = [np.zeros(self.dims(output.shape), output.dtype) for output in kernel.outputs]
        self.stored = [np.zeros(output.shape, int) for output in self.outputs]
        self.sums = {}
        self.flag = False

    def dims(self, shape):
        return [self.lengths.get(dim, dim) for dim in shape if dim != 1]

    def readable(self, slot, array):
        if slot.layout != "strided":
            return np.asarray(array).reshape(self.dims(slot.shape))
        index = tuple(slice(None) if axis in slot.axes else 0 for axis in range(array.ndim))
        return array[index].reshape(self.dims(slot.shape))

    def run(self):
        with np.errstate(all="ignore"):
            self.block(self.kernel.root, dict(self.lengths))
        assert all((count == 1).all() for count in self.stored), "an element is stored never, or twice"
        shown = [array for array, o in zip(self.outputs, self.kernel.outputs, strict=True) if not o.temporary]
        return shown, self.flag

    def block(self, block, names):
        for level in block.levels:
            for item in block.statements(level):
                self.statement(item, names)
            for case in block.cases(level):
                self.block(case.short if names[case.condition] else case.long, names)
            for loop in block.loops(level):
                for item in loop.sums(block):
                    self.sums[item.name] = item.dtype.type(0).astype("f8" if item.dtype.kind == "f" else item.dtype)
                for index in range(self.lengths[loop.dim]):
                    self.block(loop.body, {**names, loop.index: index})

    def statement(self, item, names):
        match item:
            case Load(name, number, indices, dtype, guard):
                missing = guard is not None and not self.index(guard, names)
                names[name] = dtype.type(0) if missing else self.element(number, indices, names)
            case Assign(name, "index", (text,), dtype):
                names[name] = dtype.type(self.operand(text, names))
            case Assign(name, op, args, dtype):
                operands = [self.operand(arg, names) for arg in args]
                value = PRIMITIVES[op].meaning(*operands, *([dtype] if op == "cast" else []))
                names[name] = np.asarray(value, dtype)[()]
            case Accumulate(name, value):
                self.sums[name] = self.sums[name] + self.sums[name].dtype.type(self.operand(value, names))
            case Total(name, accumulator, dtype):
                names[name] = dtype.type(self.sums[accumulator])
            case Store(number, indices, value):
                place = tuple(self.index(index, names) for index in indices)
                self.outputs[number][place] = self.operand(value, names)
                self.stored[number][place] += 1
            case Flag(value):
                self.flag = self.flag or bool(self.operand(value, names))

    def element(self, number, indices, names):
        array = self.slots[number] if number >= 0 else self.outputs[-1 - number]
        place = tuple(self.index(index, names) for index in indices)
        assert len(place) == array.ndim and all(0 <= i < n for i, n in zip(place, array.shape, strict=True)), (
            f"element {place} of an array of shape {array.shape}"
        )
        assert number >= 0 or self.stored[-1 - number][place], "a temporary is read before it is filled"
        return array[place]

    def index(self, text, names):
        return eval(text, {"__builtins__": {}}, names)

    def operand(self, text, names):
        return eval(text, {"__builtins__": {}, "float": float, **TYPES}, names)


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
