"""Chains on a GPU: one launch runs each chain in a thread of its own, through its own trees, draws and adaptation.

The machine and the density are one function of generated code, and its machine code is kept in the folder of kernels:
arrays of the density are arguments.  A warp has its chains' state beside each other, an element of all 32 in a row of
memory; what a chain has a gradient for, its numbers and its integers are in the thread's registers, or in its own
memory.  Lengths, and the kind of metric, are known when the kernel is compiled.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from vecdist.codegen import frontend
from vecdist.codegen.device.render import render, strides
from vecdist.kernel.code import Function, specialised
from vecdist.kernel.expressions import Constant, Expr, Name
from vecdist.model.native.language import moved_by
from vecdist.runtime.device import Sequential, meanings_of
from vecdist.runtime.typed import Written
from vecdist.samplers.density import Target
from vecdist.samplers.trees import places
from vecdist.samplers.trees.chains import Chains
from vecdist.samplers.trees.compiled import meanings, text
from vecdist.samplers.trees.growing import advance
from vecdist.samplers.trees.places import DEEPEST, DONE, DRAWS, INTEGERS, METRIC, NUMBERS, PHASE, RANK, SIZE, TOLDS

LANES = 32  # chains of a block: they wait for those of their warp alone, and few are spread over many processors
FEW = 12  # coordinates whose rows are kept in registers
NDIM = SPACE = WORDS = DEEP = KIND = 0  # in the kernel, what is known of chains
density: Any = None  # in the kernel, its function
cuda: Any = None  # in the kernel, Numba's
room: Any = None  # in the kernel, memory of a thread
whole: Any = None  # in the kernel, such memory for integers
moved: Any = None  # in the kernel, a pointer to what lies behind another's


def _chain(most, count, vectors, numbers, integers, keys, ends, positions, told):
    """A chain by at most so many gradients; elements of ``vectors``, ``numbers`` and ``integers`` are of 32 chains."""
    chain = cuda.grid(1)
    if chain < count:
        tile, lane = chain // LANES, chain % LANES
        v, own = moved(vectors, tile * (WORDS * LANES) + lane), moved(numbers, tile * (NUMBERS * LANES) + lane)
        lasting, key = moved(integers, tile * (INTEGERS * LANES) + lane), keys[chain]
        w, point, slopes, left = room(SPACE), room(NDIM), room(NDIM), most
        a, n = room(NUMBERS), whole(INTEGERS)
        for place in range(SPACE):
            w[place] = v[place * LANES]
        for place in range(NUMBERS):
            a[place] = own[place * LANES]
        for place in range(INTEGERS):
            n[place] = lasting[place * LANES]
        n[SIZE], n[DEEPEST], n[METRIC], n[RANK] = NDIM, DEEP, KIND, 0
        drawn, noted = moved(positions, chain * n[DRAWS] * NDIM), moved(told, chain * n[DRAWS] * TOLDS)
        while left > 0 and n[PHASE] != DONE:
            for place in range(NDIM):
                point[place] = w[place]
            value = density(point, slopes)[0]
            advance(w, v, a, n, key, ends, value, slopes, drawn, noted, drawn)
            left -= 1
        for place in range(SPACE):
            v[place * LANES] = w[place]
        for place in range(NUMBERS):
            own[place * LANES] = a[place]
        for place in range(INTEGERS):
            lasting[place * LANES] = n[place]


@final
@dataclass(frozen=True)
class Code:
    """The kernel of the chains of a density, of so many rows for each, and what it was made for."""

    density: Sequential
    rows: int
    deepest: int
    metric: int

    @property
    def signature(self) -> tuple[Any, ...]:
        """The types of its arguments."""
        from vecdist.runtime.cuda import compiler

        numbers, whole = types.CPointer(types.float64), types.CPointer(types.int64)
        own = types.int64, types.int64, numbers, numbers, whole, types.CPointer(types.uint64), whole, numbers, numbers
        return (*own, *(kind for slot, _ in self._slots() for kind in compiler.slot_types(slot)))

    def _slots(self) -> list[tuple[Any, Any]]:
        """The slots that arguments fill, and the leaves that have these."""
        made = self.density
        found = [(slot, made.leaves[slot.index]) for slot in made.kernel.slots]
        return [(slot, leaf) for slot, leaf in found if leaf not in made.places]

    def arguments(self, library: Any) -> list[Any]:
        """What the density reads, as the last arguments of the kernel."""
        found: list[Any] = []
        for slot, leaf in self._slots():
            if slot.layout == "number":
                found.append(leaf.array[()])
                continue
            array = leaf.array if leaf.kind == "cupy" else library.asarray(np.ascontiguousarray(leaf.array))
            found.append(array)
            if slot.layout == "strided":
                found += [array.strides[axis] // array.itemsize for axis in slot.axes]
        return found

    def compiled(self, capability: tuple[int, int]) -> tuple[str, bytes]:
        """The name of the kernel and its machine code, from the folder of kernels where it is there."""
        from vecdist.runtime.cuda import backend

        source = render(self.density.kernel, self.density.returned, "cuda")
        told = *text(_chain), source.text, self.density.kernel.fixed, self.rows, self.deepest, self.metric
        return backend.written_cubin(f"chains_{source.name[8:20]}", told, self._written, self.signature, capability)

    def _written(self) -> Written:
        from vecdist.runtime.cuda import compiler, language

        source = render(self.density.kernel, self.density.returned, "cuda")
        intrinsic = compiler.intrinsic()
        words = {**language.WORDS, "moved": intrinsic(moved_by), "room": intrinsic(_room)}
        names = meanings(words, self._known())
        names |= {"whole": intrinsic(_whole), "STRIDE": LANES, "__name__": __name__}
        names["density"] = Written(source.functions[0], meanings_of(source, language.WORDS))
        return Written(self._function(), names)

    def _known(self) -> dict[Expr, Expr]:
        """What is known of the machine: few numbers are then a register each, and loops over them straight lines."""
        ndim = self.density.parameters[0].shape[0]
        known = {METRIC: self.metric, DEEPEST: self.deepest, RANK: 0} | ({SIZE: ndim} if ndim <= FEW else {})
        names = {METRIC: "METRIC", DEEPEST: "DEEPEST", RANK: "RANK", SIZE: "SIZE"}
        return {Name("n")[Name(names[place])]: Constant(value) for place, value in known.items()}

    def _function(self) -> Function:
        """The kernel, which passes its last arguments to the density."""
        made, function = self.density, frontend.function(_chain)
        given = [Name(name) for slot, _ in self._slots() for name in (f"x{slot.index}", *strides(slot))]
        own = [
            Name(name)
            for slot in made.kernel.slots
            for name in (["point"] if made.leaves[slot.index] in made.places else [f"x{slot.index}", *strides(slot)])
        ]
        ndim = made.parameters[0].shape[0]
        known = {"NDIM": ndim, "SPACE": places.NEAR * ndim, "WORDS": self.rows * ndim, "DEEP": self.deepest}
        known |= {"KIND": self.metric, "LANES": LANES, "NUMBERS": NUMBERS, "INTEGERS": INTEGERS}
        filled: dict[Expr, Expr] = {Name(name): Constant(value) for name, value in known.items()}
        filled[Name("density")(Name("point"), Name("slopes"))] = Name("density")(*own, Name("slopes"))

        return specialised(replace(function, parameters=(*function.parameters, *(name.id for name in given))), filled)


def _memory(item: Any) -> Any:
    def made(context, count):
        """Memory of a thread for so many elements, a known number."""
        if not isinstance(count, types.IntegerLiteral):
            return None  # Numba asks again, with the number

        def codegen(target, builder, signature, values):
            kind = ir.ArrayType(target.get_value_type(item), count.literal_value)
            return cgutils.gep_inbounds(builder, cgutils.alloca_once(builder, kind), 0, 0)

        return types.CPointer(item)(count), codegen

    return made


_room, _whole = _memory(types.float64), _memory(types.int64)


def code_of(target: Target, chains: Chains, most: int) -> Code | None:
    """The kernel of all chains; ``None`` where a thread does not compute the density alone, or reads more elements."""
    from vecdist.device import device_function

    integers = chains.integers[0]
    if integers[METRIC] == places.LOW_RANK:
        return None
    try:
        found = device_function(lambda x: target.value(x.node), [np.zeros(target.ndim)], gradient=True)
    except (TypeError, ValueError):
        return None
    if sum(leaf.array.size for leaf in found.made.leaves if not leaf.traced) > most:
        return None
    return Code(found.made, places.rows(integers.tolist()), int(integers[DEEPEST]), int(integers[METRIC]))


@final
class Persistent:
    """Turns of all chains, whose arrays lie on the GPU; ``collect`` brings what they have become back."""

    def __init__(self, code: Code, library: Any, chains: Chains) -> None:
        digits = library.cuda.Device().compute_capability
        name, cubin = code.compiled((int(digits[:-1]), int(digits[-1])))
        module = library.cuda.function.Module()
        module.load(cubin)
        self.function: Any = module.get_function(name)
        vectors, numbers, integers, *others = chains.arrays
        self.chains = chains
        self.state: list[Any] = [library.asarray(tiled(each)) for each in (vectors, numbers, integers)]
        self.others: list[Any] = [library.asarray(each) for each in others[:-1]]
        self.given: list[Any] = code.arguments(library)

    def __call__(self, most: int) -> None:
        count = len(self.chains.keys)
        self.function((len(self.state[0]),), (LANES,), (most, count, *self.state, *self.others, *self.given))
        self.chains.integers[...] = untiled(self.state[2].get(), count)

    def collect(self) -> None:
        """Bring back what chains have drawn and learnt."""
        chains, count = self.chains, len(self.chains.keys)
        for mine, there in zip((chains.vectors, chains.numbers), self.state, strict=False):
            mine[...] = untiled(there.get(), count)
        for mine, there in zip((chains.positions, chains.told), self.others[2:], strict=True):
            mine.reshape(count, -1)[...] = there.get()


def tiled(rows: np.ndarray) -> np.ndarray:
    """Rows of chains (C, M) as those of warps (W, M, 32), in which elements of 32 chains are neighbours."""
    count, width = rows.shape
    whole = np.zeros((-(-count // LANES) * LANES, width), rows.dtype)
    whole[:count] = rows
    return np.ascontiguousarray(whole.reshape(-1, LANES, width).swapaxes(1, 2))


def untiled(tiles: np.ndarray, count: int) -> np.ndarray:
    """Rows of so many chains, of those of warps."""
    return tiles.swapaxes(1, 2).reshape(-1, tiles.shape[1])[:count]
