"""What is made once for each key: by one thread, while others that want something else do not wait."""

import copy
import pickle
import threading

import numpy as np
import pytest

from vecdist.graph.memo import Memo, cached_property


def started(*targets):
    threads = [threading.Thread(target=target, daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    return threads


def joined(threads):
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()


def test_it_is_made_once_however_many_threads_want_it():
    memo, made, found, begin = Memo(), [], [], threading.Barrier(8)

    def make(key):
        made.append(key)
        return object()

    def work():
        begin.wait(timeout=30)
        found.append([memo(key, lambda key=key: make(key)) for key in range(200)])

    joined(started(*[work] * 8))
    assert sorted(made) == list(range(200)) and memo.made == 200
    assert all(row == found[0] for row in found)


def test_who_wants_something_else_does_not_wait():
    memo, begun, go_on = Memo(), threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go_on.wait(timeout=30)
        return "slow"

    assert memo("known", lambda: 1) == 1
    found = []
    threads = started(lambda: memo("slow", slow))
    assert begun.wait(timeout=30)
    waiting = started(lambda: found.append(memo("slow", lambda: pytest.fail("made twice"))))
    assert memo("known", lambda: 2) == 1 and memo("new", lambda: 3) == 3 and "slow" not in memo
    assert not found
    go_on.set()
    joined([*threads, *waiting])
    assert found == ["slow"]


def test_what_fails_is_raised_once_and_made_by_the_next():
    memo, made = Memo(), []

    def failing():
        made.append(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memo("key", failing)
    assert made == [1] and len(memo) == 0 and memo("key", lambda: 2) == 2 and memo.made == 1


def test_a_maker_may_want_the_same_again():
    """As a handler of a signal does that comes in between."""
    memo = Memo()
    assert memo("key", lambda: memo("key", lambda: 1)) in {1}


def test_the_last_used_are_kept():
    memo = Memo(3)
    for key in (1, 2, 3, 1, 4, 1, 5):
        memo(key, lambda: None)
    assert sorted(memo) == [1, 4, 5]
    memo.clear()
    assert not len(memo) and memo.made == 5


def test_the_limit_may_change():
    limit = [10]
    memo = Memo(lambda: limit[0])
    for key in range(10):
        memo(key, lambda: None)
    limit[0] = 2
    memo(10, lambda: None)
    assert sorted(memo) == [9, 10]
    limit[0] = 0
    assert memo(11, lambda: "made") == "made" and len(memo) == 0


def test_copies_and_pickles_are_empty():
    memo = Memo(2)
    memo(1, threading.Lock)
    for other in (copy.deepcopy(memo), pickle.loads(pickle.dumps(memo))):
        assert len(other) == 0 and [other(key, lambda: 5) for key in range(3)] == [5] * 3 and len(other) == 2


def test_attributes_are_computed_once():
    class Thing:
        count = 0

        @cached_property
        def number(self):
            """A number."""
            self.count += 1
            return self.count

    thing = Thing()
    assert [thing.number, thing.number, Thing().number] == [1, 1, 1] and Thing.number.__doc__ == "A number."


def test_what_is_forgotten_is_what_was_asked_for_longest_ago():
    """Whatever is asked for meanwhile; forgetting everything begins anew."""
    memo, kept, rng = Memo(most=20), {}, np.random.default_rng(7)
    for step, key in enumerate(rng.integers(0, 40, 5000).tolist()):
        memo(key, object)
        kept[key] = step
        if len(kept) > 20:
            del kept[min(kept, key=kept.__getitem__)]
        assert set(memo) == set(kept)
        if step % 1000 == 999:
            memo.clear()
            kept.clear()
