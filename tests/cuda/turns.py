"""Threads of a block in Numba's simulator that take turns: each runs until it waits for others.

The simulator starts all of them at once and asks each time and again whether it waits, which takes more than they do.
To be imported in the simulator's process alone.
"""

import _thread
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from numba.cuda.simulator import kernel, kernelapi
from numba.cuda.simulator.kernelapi import FakeCUDAModule

WARP = 32


class Thread(kernel.BlockThread):
    """One that runs when it is its turn."""

    def __init__(self, *given):
        super().__init__(*given)
        self.turn = _thread.allocate_lock()
        self.turn.acquire()

    def run(self):
        self.turn.acquire()
        super().run()
        self._manager.ended(self)

    def wait(self):
        self._manager.next_turn()
        self.turn.acquire()

    def syncthreads(self):
        self._manager.waiting.append(self)
        self.wait()


class Block(kernel.BlockManager):
    """The threads of a block, of which the last to wait is the first to go on: no order is right by chance alone."""

    def run(self, grid_point, *args):
        self.over, self.failed = _thread.allocate_lock(), None
        self.over.acquire()
        self.waiting, self.teams = [], {}
        points = np.ndindex(*self._block_dim)
        self.ready = [Thread(lambda: self._f(*args), self, grid_point, point, self._debug) for point in points]
        self.living = len(self.ready)
        for thread in self.ready:
            thread.start()
        self.next_turn()
        self.over.acquire()
        if self.failed:
            raise self.failed

    def next_turn(self):
        """Let a thread go on; where none can, those that wait for the whole block."""
        if not self.ready and len(self.waiting) == self.living:
            self.ready, self.waiting = self.waiting, []
        if self.ready:
            self.ready.pop().turn.release()
        else:
            self.end(RuntimeError("threads wait for others that never come") if self.living else None)

    def ended(self, thread):
        self.living -= 1
        if thread.exception:
            error, trace = thread.exception
            self.end(error.with_traceback(trace))
        else:
            self.next_turn()

    def end(self, failed):
        self.failed = failed
        self.over.release()


@dataclass
class Team:
    """The lanes of a warp that exchange values: what came of each, and who waits for the others."""

    values: dict = field(default_factory=dict)
    waiting: list = field(default_factory=list)


def shuffle(module, mask, value, hop):
    """What the simulator lacks: the value of the lane whose number differs by ``hop``; lanes in ``mask`` take part."""
    thread = threading.current_thread()
    block, (warp, lane), mates = thread._manager, divmod(thread.thread_id, WARP), int(mask) & 0xFFFFFFFF
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


def take_turns():
    """Have the simulator run blocks in this way, and warps exchange values."""
    kernelapi.traceback = SimpleNamespace(extract_stack=callers)
    kernel.BlockManager = Block
    FakeCUDAModule.shfl_xor_sync = shuffle
    FakeCUDAModule.syncwarp = lambda module, mask: None  # it orders instructions, no values
