"""The garbage collector while structures are planned: it waits, and afterwards is as it was."""

import gc
import os
import threading

import pytest

from vecdist.runtime.collector import uncollected


@uncollected
def enabled():
    return gc.isenabled()


@pytest.fixture(autouse=True)
def as_it_was():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("running", [True, False])
def test_it_waits_and_is_as_it_was(running):
    (gc.enable if running else gc.disable)()
    assert not enabled() and gc.isenabled() == running


def test_what_raises_does_not_stop_it_for_ever():
    @uncollected
    def raises():
        raise KeyError("here")

    with pytest.raises(KeyError):
        raises()
    assert gc.isenabled()


def test_calls_may_be_inside_each_other():
    @uncollected
    def outer():
        return enabled(), gc.isenabled()

    assert outer() == (False, False) and gc.isenabled()


def test_it_waits_for_the_last_of_several_threads():
    inside, leave = threading.Event(), threading.Event()

    @uncollected
    def waiting():
        inside.set()
        leave.wait(30)

    thread = threading.Thread(target=waiting)
    thread.start()
    inside.wait(30)
    assert not enabled() and not gc.isenabled(), "another thread is planning"
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.forks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
def test_it_runs_in_a_child_that_was_forked_meanwhile():
    @uncollected
    def forked():
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert forked() == 0
