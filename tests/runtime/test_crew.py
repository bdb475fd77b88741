"""Threads that share work in machine code: every part once, whoever runs it, whatever comes in between."""

import ctypes
import multiprocessing
import os
import sys
import threading
import time

import numpy as np
import pytest

from vecdist.runtime.cpu.crew import Crew, Job
from vecdist.runtime.cpu.packing import ENTRY

SHARES = 4


def noting(seen, size, meanwhile=lambda: None):
    """A function of words that notes them, as machine code is called."""

    def entry(place):
        words = (ctypes.c_int64 * size).from_address(place)
        seen.append((tuple(words), threading.get_ident()))
        meanwhile()

    return ENTRY(entry)


def run(crew, entry, given, nest, blocks):
    """Share so many blocks; ``entry`` stays alive meanwhile."""
    return crew.share(ctypes.cast(entry, ctypes.c_void_p).value, given, nest, Job(blocks, crew.threads, SHARES))


@pytest.fixture(scope="module")
def crew():
    return Crew(3)


@pytest.fixture
def restless():
    """Threads of Python give way to each other at every turn."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def parts_of(seen):
    return sorted(words[1:3] for words, _ in seen)


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 5, 11, 12, 13, 1000])
def test_every_block_is_in_one_part(crew, blocks):
    seen = []
    entry, given = noting(seen, 5), np.array([-1, -1, -1, 42, 7], np.int64)
    assert run(crew, entry, given, 9, blocks)
    found = parts_of(seen)
    assert [first for first, _ in found[1:]] == [last for _, last in found[:-1]], "one begins where another ends"
    assert sum(last - first for first, last in found) == blocks and len(found) == min(blocks, SHARES * crew.threads)
    assert {(words[0], *words[3:]) for words, _ in seen} <= {(9, 42, 7)} and list(given[:3]) == [-1, -1, -1]


def test_thousands_of_jobs_of_random_sizes(crew):
    rng = np.random.default_rng(5)
    seen = []
    for size in (3, 4, 70):
        entry = noting(seen, size)
        for _ in range(700):
            blocks, nest = int(rng.integers(0, 30)), int(rng.integers(1, 5))
            seen.clear()
            assert run(crew, entry, np.arange(size, dtype=np.int64), nest, blocks)
            assert sum(words[2] - words[1] for words, _ in seen) == blocks
            assert all(words[0] == nest and words[3:] == tuple(range(3, size)) for words, _ in seen)
            if rng.random() < 0.01:
                time.sleep(float(rng.choice([1e-5, 1e-3, 5e-3])))


def test_several_threads_take_part(crew):
    seen = []
    entry = noting(seen, 3, lambda: time.sleep(0.002))
    run(crew, entry, np.zeros(3, np.int64), 1, 12)
    assert len({thread for _, thread in seen}) == crew.threads


def test_who_finds_the_crew_busy_is_told(crew):
    busy, go_on, seen = threading.Event(), threading.Event(), []

    def meanwhile():
        busy.set()
        go_on.wait()

    entry, other = noting([], 3, meanwhile), noting(seen, 3)
    given = np.zeros(3, np.int64)
    leader = threading.Thread(target=run, args=(crew, entry, given, 1, 1))
    leader.start()
    busy.wait()
    assert not run(crew, other, given, 1, 1) and not seen
    go_on.set()
    leader.join()
    assert run(crew, other, given, 1, 1) and parts_of(seen) == [(0, 1)]


def test_threads_rest_after_a_while_and_come_back(crew):
    seen = []
    run(crew, noting([], 3), np.zeros(3, np.int64), 1, 1)
    limit = time.monotonic() + 30
    while len(crew._resting) < crew.threads - 1 and time.monotonic() < limit:
        time.sleep(0.001)
    assert len(crew._resting) == crew.threads - 1
    entry = noting(seen, 3, lambda: time.sleep(0.01))
    run(crew, entry, np.zeros(3, np.int64), 1, 12)
    assert len({thread for _, thread in seen}) > 1


def test_threads_that_ask_together_get_the_same_crew(restless):
    from vecdist.runtime.cpu import threads

    start, found = threading.Barrier(8), []

    def ask(blocks):
        start.wait()
        crews = {id(threads.crew(5)) for _ in range(20)}
        seen = []
        threads.share(lambda first, last: seen.append(last - first), blocks)
        found.append((crews, sum(seen) == blocks))

    asking = [threading.Thread(target=ask, args=(64 + n,)) for n in range(8)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert {crew for crews, _ in found for crew in crews} == {id(threads.crew(5))}
    assert [right for _, right in found] == [True] * 8


def _of_child(pipe):
    from vecdist.runtime.cpu.threads import crew as own

    seen = []
    run(own(3), noting(seen, 3), np.zeros(3, np.int64), 1, 8)
    pipe.send(parts_of(seen))


@pytest.mark.forks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded")
def test_a_child_has_threads_of_its_own():
    from vecdist.runtime.cpu.threads import crew as own

    run(own(3), noting([], 3), np.zeros(3, np.int64), 1, 8)
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_of_child, args=(there,))
    child.start()
    assert here.poll(60) and sum(last - first for first, last in here.recv()) == 8
    child.join()
