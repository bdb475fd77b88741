"""Threads of the CPU that wait for work in machine code, and share it there: Python takes no part until all is done.

One that has finished spins for a while, since a sampler's next call follows at once: to be woken takes longer than many
kernels run.  Each has parts that are its own in every call, whose data then are in its cache, and when they are done it
takes what others have left.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from typing import Any, final

import numpy as np
from llvmlite import binding as llvm

from vecdist.runtime.once import Once

LINE = 8  # words of a cache line: what several threads write lies apart
SPINS, TURNS = 2000, 4000  # turns that a thread spins, some 0.1 ms, and from which it rests; between it lets others run
PAUSE, HINT = "llvm.x86.sse2.pause", "llvm.aarch64.hint"  # what tells a processor that it spins
PROCESSORS = {"x86_64": PAUSE, "amd64": PAUSE, "aarch64": HINT, "arm64": HINT}
WORDS = {"open": 0, "active": LINE, "done": 2 * LINE, "job": 3 * LINE, "ranges": 4 * LINE}  # where the state has what

# ``open`` is the number of a job while there is one, ``active`` how many threads look at it, ``done`` its parts that
# are done; the ``job`` is a function, its arguments, their bytes, the number of a nest, how many threads there are,
# memory for the arguments of each, and where parts begin; ``ranges`` has a line for each thread: its next part, and its
# end.  A thread that has counted itself as active and still finds the job open may read it: who leads closes it, and
# then waits until nobody is active.
CODE = """
define internal void @wait(i64 %turn) alwaysinline {{
  %early = icmp slt i64 %turn, {spins}
  br i1 %early, label %spin, label %rest
spin:
  {spin}
  ret void
rest:
  {let_others_run}
  ret void
}}

define internal void @take(ptr %state, i64 %me) {{
begin:
  %job = getelementptr i64, ptr %state, i64 {job}
  %given.at = getelementptr i64, ptr %job, i64 1
  %bytes.at = getelementptr i64, ptr %job, i64 2
  %nest.at = getelementptr i64, ptr %job, i64 3
  %threads.at = getelementptr i64, ptr %job, i64 4
  %memory.at = getelementptr i64, ptr %job, i64 5
  %cuts.at = getelementptr i64, ptr %job, i64 6
  %function = load ptr, ptr %job
  %given = load ptr, ptr %given.at
  %bytes = load i64, ptr %bytes.at
  %nest = load i64, ptr %nest.at
  %threads = load i64, ptr %threads.at
  %memory = load ptr, ptr %memory.at
  %cuts = load ptr, ptr %cuts.at
  %before = mul i64 %bytes, %me
  %own = getelementptr i8, ptr %memory, i64 %before
  call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr %given, i64 %bytes, i1 false)
  store i64 %nest, ptr %own
  %own.first = getelementptr i64, ptr %own, i64 1
  %own.last = getelementptr i64, ptr %own, i64 2
  %done = getelementptr i64, ptr %state, i64 {done}
  br label %each
each:
  %step = phi i64 [ 0, %begin ], [ %more, %empty ]
  %sum = add i64 %me, %step
  %other = urem i64 %sum, %threads
  %lines = mul i64 %other, {line}
  %place = add i64 %lines, {ranges}
  %next = getelementptr i64, ptr %state, i64 %place
  %end.at = getelementptr i64, ptr %next, i64 1
  %end = load i64, ptr %end.at
  br label %part
part:
  %number = atomicrmw add ptr %next, i64 1 seq_cst
  %left = icmp slt i64 %number, %end
  br i1 %left, label %run, label %empty
run:
  %cut = getelementptr i64, ptr %cuts, i64 %number
  %cut.next = getelementptr i64, ptr %cut, i64 1
  %first = load i64, ptr %cut
  %last = load i64, ptr %cut.next
  store i64 %first, ptr %own.first
  store i64 %last, ptr %own.last
  call void %function(ptr %own)
  %one = atomicrmw add ptr %done, i64 1 seq_cst
  br label %part
empty:
  %more = add i64 %step, 1
  %others = icmp slt i64 %more, %threads
  br i1 %others, label %each, label %out
out:
  ret void
}}

define void @work(ptr %state, i64 %me) {{
begin:
  %open = getelementptr i64, ptr %state, i64 {open}
  %active = getelementptr i64, ptr %state, i64 {active}
  br label %look
look:
  %seen = phi i64 [ 0, %begin ], [ %seen, %idle ], [ %job, %ended ]
  %turn = phi i64 [ 0, %begin ], [ %turns, %idle ], [ 0, %ended ]
  %job = load atomic i64, ptr %open seq_cst, align 8
  %none = icmp eq i64 %job, 0
  %old = icmp eq i64 %job, %seen
  %nothing = or i1 %none, %old
  br i1 %nothing, label %idle, label %join
idle:
  call void @wait(i64 %turn)
  %turns = add i64 %turn, 1
  %tired = icmp sgt i64 %turns, {turns}
  br i1 %tired, label %out, label %look
join:
  %before = atomicrmw add ptr %active, i64 1 seq_cst
  %still = load atomic i64, ptr %open seq_cst, align 8
  %same = icmp eq i64 %still, %job
  br i1 %same, label %share, label %ended
share:
  call void @take(ptr %state, i64 %me)
  br label %ended
ended:
  %after = atomicrmw sub ptr %active, i64 1 seq_cst
  br label %look
out:
  ret void
}}

define void @lead(ptr %state, i64 %job, i64 %parts) {{
begin:
  %open = getelementptr i64, ptr %state, i64 {open}
  %active = getelementptr i64, ptr %state, i64 {active}
  %done = getelementptr i64, ptr %state, i64 {done}
  store atomic i64 %job, ptr %open seq_cst, align 8
  call void @take(ptr %state, i64 0)
  br label %finish
finish:
  %turn = phi i64 [ 0, %begin ], [ %turns, %others ]
  %found = load atomic i64, ptr %done seq_cst, align 8
  %all = icmp sge i64 %found, %parts
  br i1 %all, label %close, label %others
others:
  call void @wait(i64 %turn)
  %turns = add i64 %turn, 1
  br label %finish
close:
  store atomic i64 0, ptr %open seq_cst, align 8
  br label %leave
leave:
  %late = phi i64 [ 0, %close ], [ %later, %looking ]
  %many = load atomic i64, ptr %active seq_cst, align 8
  %nobody = icmp eq i64 %many, 0
  br i1 %nobody, label %out, label %looking
looking:
  call void @wait(i64 %late)
  %later = add i64 %late, 1
  br label %leave
out:
  ret void
}}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
{declared}
"""


@Once
def _compiled() -> tuple[Any, Any, Any]:
    """``work(state, me)`` and ``lead(state, job, parts)``, and what keeps their code in memory."""
    yields = hasattr(os, "sched_yield")
    hint = PROCESSORS.get(platform.machine().lower())
    given = ("i32 1", "i32") if hint == HINT else ("", "")
    told: dict[str, object] = {"spins": SPINS, "turns": TURNS, "line": LINE, **WORDS}
    told["spin"] = f"call void @{hint}({given[0]})" if hint else ""
    told["let_others_run"] = "%ignored = call i32 @sched_yield()" if yields else ""
    declared = [f"declare void @{hint}({given[1]})"] if hint else []
    told["declared"] = "\n".join([*declared, *(["declare i32 @sched_yield()"] if yields else [])])
    module = llvm.parse_assembly(CODE.format_map(told), llvm.create_context())
    module.verify()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    word, place = ctypes.c_int64, ctypes.c_void_p
    work = ctypes.CFUNCTYPE(None, place, word)(engine.get_function_address("work"))
    lead = ctypes.CFUNCTYPE(None, place, word, word)(engine.get_function_address("lead"))
    return work, lead, engine


@final
class Job:
    """Parts of so many blocks, each thread's own ones in a row: where they begin, and where those of a thread do."""

    def __init__(self, blocks: int, threads: int, shares: int) -> None:
        self.parts = min(blocks, shares * threads)
        self.cuts = np.array([blocks * part // max(self.parts, 1) for part in range(self.parts + 1)], np.int64)
        self.ranges = np.zeros((threads, LINE), np.int64)
        self.ranges[:, 0] = [self.parts * thread // threads for thread in range(threads)]
        self.ranges[:, 1] = [self.parts * (thread + 1) // threads for thread in range(threads)]


@final
class Crew:
    """Threads beside the one that calls; one job at a time."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._work, self._lead, self._code = _compiled()  # code lives as long as those who run it
        self._state = _aligned(WORDS["ranges"] + LINE * threads)
        self._place: int = self._state.ctypes.data
        self._jobs = 0
        self._one, self._wanted = threading.Lock(), False
        self._bells = [threading.Semaphore(0) for _ in range(threads)]
        self._resting: set[int] = set()
        for me in range(1, threads):
            threading.Thread(target=self._wait, args=(me,), name=f"vecdist-{me}", daemon=True).start()

    def share(self, entry: int, given: np.ndarray, nest: int, job: Job) -> bool:
        """Run all parts of a nest: ``entry`` with what is ``given``, whose first three words are the nest and its part.

        Nothing is done, and that is what is returned, while another thread has the crew.
        """
        if not self._one.acquire(blocking=False):
            return False
        try:
            memory, state = np.empty((self.threads, given.size), np.int64), self._state
            start = WORDS["job"]
            state[start : start + 7] = (
                entry, given.ctypes.data, given.nbytes, nest, self.threads, memory.ctypes.data, job.cuts.ctypes.data
            )
            state[WORDS["done"]] = 0
            state[WORDS["ranges"] :] = job.ranges.ravel()
            self._jobs += 1
            self._wanted = True  # whoever would rest from here on sees that
            self._wake()
            self._lead(self._place, self._jobs, job.parts)
        finally:
            self._wanted = False
            self._one.release()
        return True

    def _wake(self) -> None:
        """Call those threads that rest: they come when they can."""
        while self._resting:
            self._bells[self._resting.pop()].release()

    def _wait(self, me: int) -> None:
        """What a thread does: it looks for work, and rests after a while without any."""
        while True:
            self._work(self._place, me)
            self._resting.add(me)
            if not self._wanted:
                self._bells[me].acquire()
            self._resting.discard(me)


def _aligned(words: int) -> np.ndarray:
    """Words, all zero, that begin with a cache line."""
    room = np.zeros(words + LINE, np.int64)
    skipped = -room.ctypes.data // room.itemsize % LINE
    return room[skipped : skipped + words]
