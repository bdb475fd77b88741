"""Threads of a grid in Numba's simulator that take turns: each runs until it waits for others; any may be the next.

They are greenlets: to hand a turn to a thread of the system takes longer than what most of them do with it.
To be imported in the simulator's process alone.
"""

import random
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace

import greenlet
import numpy as np
from numba.cuda.simulator import kernel, kernelapi
from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray
from numba.cuda.simulator.kernelapi import FakeCUDAAtomic, FakeCUDAModule, FakeCUDAShared, numpy_support, types

WARP = 32
_anything = FakeWithinKernelCUDAArray.__getitem__


class Turns:
    """Who can go on, of all threads of a launch: in an order that is drawn, so that none is right by chance."""

    def __init__(self):
        self.ready, self.blocks, self.chance = [], [], random.Random(20261130)

    def run(self):
        while self.ready:
            place = self.chance.randrange(len(self.ready))
            self.ready[place], self.ready[-1] = self.ready[-1], self.ready[place]
            self.ready.pop().switch()
        if any(block.alive for block in self.blocks):
            raise RuntimeError("threads wait for others that never come")


class Thread(greenlet.greenlet):
    """One that runs when it is its turn, and waits by handing it back to the grid, which is its parent."""

    def __init__(self, block, block_point, point):
        super().__init__(block.body)
        self.block, self.blockIdx, self.threadIdx = block, kernel.Dim3(*block_point), kernel.Dim3(*point)
        across, down, _ = block._block_dim
        self.thread_id = point[0] + across * (point[1] + down * point[2])

    def wait(self):
        self.parent.switch()

    def syncthreads(self):
        self.block.waiting.append(self)
        self.block.meet()
        self.wait()

    def look_again(self):
        """Let others do what this one waits for."""
        self.block.turns.ready.append(self)
        self.wait()


class Block(kernel.BlockManager):
    """The threads of a block, and its memory, in which nothing is to begin with that could be taken for a number."""

    turns = Turns()  # of the launch whose blocks are being made

    def run(self, grid_point, *args):
        self.arguments, self.turns = args, Block.turns
        self.waiting, self.teams, self.arrays = [], {}, {}
        threads = [Thread(self, grid_point, point) for point in np.ndindex(*self._block_dim)]
        self.alive = len(threads)
        self.turns.blocks.append(self)
        self.turns.ready += threads
        if len(self.turns.blocks) == np.prod(self._grid_dim):
            Block.turns = Turns()
            self.turns.run()

    def body(self):
        self._f(*self.arguments)
        self.alive -= 1
        self.meet()

    def meet(self):
        """Let those go on that wait for each other, where all do."""
        if len(self.waiting) == self.alive:
            self.turns.ready += self.waiting
            self.waiting = []

    def shared(self, place, count, dtype):
        if place not in self.arrays:
            self.arrays[place] = np.full(count * dtype.itemsize, 0xFF, np.uint8)
        return self.arrays[place].view(dtype)


@dataclass
class Team:
    """The lanes of a warp that exchange values: what came of each, and who waits for the others."""

    values: dict = field(default_factory=dict)
    waiting: list = field(default_factory=list)


def shuffle(module, mask, value, hop):
    """What the simulator lacks: the value of the lane whose number differs by ``hop``; lanes in ``mask`` take part."""
    thread = greenlet.getcurrent()
    block, (warp, lane), mates = thread.block, divmod(thread.thread_id, WARP), int(mask) & 0xFFFFFFFF
    team = block.teams.setdefault((warp, mates), Team())
    team.values[lane] = value
    if len(team.values) == mates.bit_count():
        del block.teams[warp, mates]
        block.turns.ready += team.waiting
    else:
        team.waiting.append(thread)
        thread.wait()
    return team.values[lane ^ hop]


def shared_array(shared, shape, dtype):
    """An array of the block, which the line says that asks for it; or all that was asked for at launch."""
    dtype = np.dtype(numpy_support.as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)
    caller = sys._getframe(1)
    place = (caller.f_code.co_filename, caller.f_lineno) if shape else None
    count = int(np.prod(shape)) if shape else shared._dynshared_size // 8 * 8 // dtype.itemsize
    return greenlet.getcurrent().block.shared(place, count, dtype)


def add(atomic, array, index, value):
    """What is added to where it was: an integer 0, by who waits for what others add."""
    if type(value) is int and value == 0:
        greenlet.getcurrent().look_again()
    old = array[index]
    array[index] = old + value
    return old


def element(array, place):
    """An element of an array in a kernel; whatever else NumPy has there is for the simulator."""
    found = array._item._ary[place]
    return found if isinstance(found, np.generic) else _anything(array, place)


def set_element(array, place, value):
    array._item._ary[place] = value


def take_turns():
    """Have the simulator run blocks in this way, warps exchange values, and elements be found with few calls."""
    FakeWithinKernelCUDAArray.__getitem__ = element
    FakeWithinKernelCUDAArray.__setitem__ = set_element
    kernelapi.threading = SimpleNamespace(current_thread=greenlet.getcurrent)
    FakeCUDAShared.array, FakeCUDAAtomic.add = shared_array, add
    kernel.BlockManager = Block
    FakeCUDAModule.shfl_xor_sync = shuffle
    FakeCUDAModule.syncwarp = lambda module, mask: shuffle(module, mask, None, 0)  # they wait as for a value
