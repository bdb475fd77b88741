"""Threads of a block in Numba's simulator that take turns: each runs until it waits for others.

They are greenlets: to hand a turn to a thread of the system takes longer than what most of them do with it.
To be imported in the simulator's process alone.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace

import greenlet
import numpy as np
from numba.cuda.simulator import kernel, kernelapi
from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray
from numba.cuda.simulator.kernelapi import FakeCUDAModule

WARP = 32
_anything = FakeWithinKernelCUDAArray.__getitem__


class Thread(greenlet.greenlet):
    """One that runs when it is its turn; where none can, the block goes on, which is its parent."""

    def __init__(self, block, block_point, point):
        super().__init__(block.body)
        self.block, self.blockIdx, self.threadIdx = block, kernel.Dim3(*block_point), kernel.Dim3(*point)
        across, down, _ = block._block_dim
        self.thread_id = point[0] + across * (point[1] + down * point[2])

    def wait(self):
        ready = self.block.ready
        (ready.pop() if ready else self.parent).switch()

    def syncthreads(self):
        self.block.waiting.append(self)
        self.wait()


class Block(kernel.BlockManager):
    """The threads of a block, of which the last to wait is the first to go on: no order is right by chance alone."""

    def run(self, grid_point, *args):
        self.body = lambda: self._f(*args)
        self.waiting, self.teams = [], {}
        threads = [Thread(self, grid_point, point) for point in np.ndindex(*self._block_dim)]
        self.ready = threads.copy()
        while self.ready:
            self.ready.pop().switch()
            if not self.ready and len(self.waiting) == sum(not thread.dead for thread in threads):
                self.ready, self.waiting = self.waiting, []
        if not all(thread.dead for thread in threads):
            raise RuntimeError("threads wait for others that never come")


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
        block.ready += team.waiting
    else:
        team.waiting.append(thread)
        thread.wait()
    return team.values[lane ^ hop]


def callers(frame):
    """The two innermost frames, by file and line, which say what shared memory is whose; no source is read for that."""
    return [(each.f_code.co_filename, each.f_lineno) for each in (frame.f_back, frame)]


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
    kernelapi.traceback = SimpleNamespace(extract_stack=callers)
    kernel.BlockManager = Block
    FakeCUDAModule.shfl_xor_sync = shuffle
    FakeCUDAModule.syncwarp = lambda module, mask: shuffle(module, mask, None, 0)  # they wait as for a value
