"""An expression of a known outline is only looked up: by what its launch depends on, and holding none of its arrays."""

import gc
import itertools
import threading
import weakref
from unittest import mock

import numpy as np
import pytest

import vecdist
from vecdist import data, hessian, lazy, logpdf, sample, value_and_grad
from vecdist.distributions import Gamma, Normal
from vecdist.graph.leaves import argument
from vecdist.passes.outline import outline
from vecdist.runtime import pipeline

WIDE = np.arange(1.0, 49.0).reshape(4, 3, 4)
LAYOUTS = {
    "dense": WIDE[:, :, 0].copy(), "float32": WIDE[:, :, 0].astype("f4"), "integers": WIDE[:, :, 0].astype(int),
    "strided": WIDE[:, :, 0], "reversed": WIDE[::-1, ::-1, 0], "columns first": np.asfortranarray(WIDE[:, :, 0]),
    "repeated": np.broadcast_to(WIDE[0, :, 0], (4, 3)), "a row": WIDE[0, :, 1].copy(), "a column": WIDE[:, :1, 0],
    "one element": np.array([[2.5]]), "no axis": np.array(2.5), "no element": np.ones((0, 3)), "a number": 2.5,
    "a whole number": 2, "of NumPy": np.float32(2.5), "not aligned": np.frombuffer(bytes(97), "i1")[1:].view("f8"),
}  # fmt: skip


def known(call):
    """What ``call`` gives, which must be an expression of an outline that is known."""
    with mock.patch.object(pipeline, "structure", side_effect=AssertionError("it is not known")):
        return call()


def calls_of(a, x, scale):
    """What asks for a value in one way or another."""
    return {
        "value": lambda: np.asarray((lazy(x) * a + 3.0 * scale).sum()),
        "gradient": lambda: value_and_grad(logpdf(Normal(a, scale), x).sum(), wrt=a)[1],
        "Hessian": lambda: hessian(logpdf(Normal(a, scale), x).sum(), wrt=a),
        "draws": lambda: sample(int(scale), Normal(a, 1.0), 4).sum().compute(),
    }


@pytest.mark.usefixtures("uncompiled")
def test_a_known_outline_is_looked_up_whatever_its_arrays_hold():
    for attempt, scale in enumerate((1.0, 3.0, 7.0)):
        a, x = np.array(2.0 * scale), np.linspace(scale, 2.0, 5)
        calls = calls_of(a, x, scale)
        found = {name: float(known(call) if attempt else call()) for name, call in calls.items()}
        wanted = {"value": (x * a + 3 * scale).sum(), "gradient": (x - a).sum() / scale**2, "Hessian": -5 / scale**2}
        assert found == pytest.approx(wanted | {"draws": found["draws"]}, rel=1e-12)


@pytest.mark.usefixtures("uncompiled")
def test_every_pair_of_layouts_in_turn():
    """Each a second time, after all the others: a launch of other layouts would read other elements, or none."""
    pairs = list(itertools.product(LAYOUTS.items(), repeat=2))
    for _ in range(2):
        for (first, a), (second, b) in pairs:
            try:
                wanted = np.asarray(a) * 2 - b
            except ValueError:  # shapes that do not broadcast
                continue
            np.testing.assert_array_equal(np.asarray(lazy(a) * 2 - b), wanted, f"{first}, {second}")


def test_outlines_differ_in_all_that_a_launch_depends_on():
    x, y = np.arange(4.0), np.arange(4.0)
    different = [
        lazy(x) * y, lazy(x) * x, lazy(x) + y, lazy(x) * y[:1], lazy(x) * y.astype("f4"), lazy(x) * 2.0,
        lazy(x) * y[::-1], lazy(x)[1:] * y[1:], lazy(x)[:3] * y[:3], lazy(x) * data(y), data(x) * lazy(y),
        lazy(x) * data(y.copy()), (lazy(x) * y).sum(), (lazy(x) * y).sum(keepdims=True), np.exp(lazy(x) * y),
        lazy(x) ** np.int64(3), lazy(x) ** np.int64(4), lazy(x) ** 2.5, vecdist.LazyArray(argument(x, "x")) * y,
        logpdf(Normal(x, 1.0), y), logpdf(Gamma(x, 1.0), y),
    ]  # fmt: skip
    keys = [outline([each.node]).key for each in different]
    keys += [outline([each.node, each.node]).key for each in different]
    assert len(set(keys)) == len(keys)
    again = [lazy(y * 3) * (x + 1), lazy(y) * y, lazy(y + 2) + x, lazy(y.copy()) * x[:1]]
    assert [outline([each.node]).key for each in again] == keys[:4]
    assert outline([(lazy(x) * 2.0).node]).key == outline([(lazy(x) * 7.25).node]).key, "numbers are arguments"


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("marked", [lazy, data])
def test_no_array_is_kept_alive(marked):
    def used():
        a, x, index = np.array(2.0), np.linspace(0.5, 3.0, 6), np.array([0, 1, 1, 0, 1, 0])
        target = logpdf(Gamma(lazy(np.array([1.5, 2.5]))[marked(index)] * a, 1.0), marked(x)).sum()
        expressions = [value_and_grad(target, wrt=a), target.compute()]
        assert np.isfinite(expressions[1])
        leaves = [lazy(a).node.attrs[0], marked(x).node.attrs[0]]
        return [weakref.ref(each) for each in (a, x, index, *leaves)]

    gone = [*used(), *used()]
    gc.collect()
    assert [each() for each in gone] == [None] * len(gone)


@pytest.mark.usefixtures("uncompiled")
def test_launches_of_data_are_forgotten_with_all_others():
    x, a = data(np.linspace(0.5, 3.0, 6)), np.array(2.0)
    value = float(logpdf(Gamma(a, 1.0), x).sum())
    assert known(lambda: float(logpdf(Gamma(a, 1.0), x).sum())) == value
    vecdist.clear_cache()
    with pytest.raises(AssertionError, match="it is not known"):
        known(lambda: float(logpdf(Gamma(a, 1.0), x).sum()))
    assert float(logpdf(Gamma(a, 1.0), x).sum()) == value
    other = data(np.linspace(0.5, 4.0, 6))
    assert float(logpdf(Gamma(a, 1.0), other).sum()) != value, "of which other constants are computed"


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("marked", [lazy, data])
def test_parameters_are_checked_in_every_call(marked):
    x = marked(np.array([0.5, 1.0]))
    for attempt, (scale, valid) in enumerate([(1.0, True), (-1.0, False), (2.0, True), (np.nan, False), (3.0, True)]):
        call = calls_of(np.array(0.0), x, np.array(scale))["gradient"]
        if valid:
            assert np.isfinite(known(call) if attempt else call())
            continue
        with pytest.raises(vecdist.InvalidParameter, match="Normal: scale"):
            call()


@pytest.mark.usefixtures("uncompiled")
def test_threads_share_a_launch():
    found, begin = {}, threading.Barrier(6)

    def work(number):
        begin.wait(timeout=30)
        arrays = [np.full(7, float(number + turn)) for turn in range(20)]
        found[number] = [float((lazy(each) * 2.0 + each).sum()) for each in arrays]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert found == {number: [21.0 * (number + turn) for turn in range(20)] for number in range(6)}


def test_what_is_being_traced_has_no_value_however_often_it_is_asked_for():
    for _ in range(2):
        with pytest.raises(TypeError, match="while its function is being compiled"):
            vecdist.compile(lambda x: x * float(x.sum()))(np.arange(3.0))
