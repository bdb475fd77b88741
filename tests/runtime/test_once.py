"""What threads ask for together is made once, whatever the moments at which they give way to each other."""

import sys
import threading
import time

import pytest

from vecdist.runtime.once import Once


@pytest.mark.parametrize("pause", [0.0, 1e-5, 1e-3])
def test_threads_that_ask_together(pause):
    made, found, start = [], [], threading.Barrier(8)

    @Once
    def thing(*key):
        """What is made."""
        time.sleep(pause)
        made.append(key)
        return object()

    def ask():
        start.wait()
        found.append([thing(n, "x") for n in (0, 1, 0, 2)])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        asking = [threading.Thread(target=ask) for _ in range(8)]
        for each in asking:
            each.start()
        for each in asking:
            each.join()
    finally:
        sys.setswitchinterval(before)
    assert sorted(made) == [(0, "x"), (1, "x"), (2, "x")] and thing.__doc__ == "What is made."
    assert len({tuple(map(id, each)) for each in found}) == 1 and found[0][0] is found[0][2]


def test_what_failed_is_tried_again_and_what_is_forgotten_made_anew():
    tries = []

    @Once
    def thing():
        tries.append(None)
        if len(tries) == 1:
            raise OSError("not yet")
        return len(tries)

    with pytest.raises(OSError, match="not yet"):
        thing()
    assert (thing(), thing()) == (2, 2)
    thing.forget()
    assert thing() == 3


def test_one_that_asks_for_itself_with_another_key_does_not_wait_for_itself():
    @Once
    def thing(n):
        return 0 if n == 0 else 1 + thing(n - 1)

    assert thing(5) == 5
