"""Kernels whose arguments lie in one array of words: the same bits, whoever runs them."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from structures import EXACT, ROWS, numbers

import vecdist
from vecdist import lazy, logpdf, value_and_grad
from vecdist.codegen.frontend import parsed
from vecdist.codegen.parameters import trimmed
from vecdist.distributions import Normal
from vecdist.graph.memo import Memo
from vecdist.kernel.code import Do, Function, If, Return, let
from vecdist.kernel.expressions import Name
from vecdist.passes.bind import bind
from vecdist.runtime import cache, pipeline


def by_kind(x, flag, count, big, single):
    """Values of a prelude of every kind, and numbers beside arrays, whose loop reads strided ones."""
    chosen = np.where(lazy(flag), lazy(x)[::3] * count, lazy(single) * 0.5)
    return chosen.sum() + (lazy(big) // 2**40).sum(), lazy(big) - count


GIVEN = (
    np.linspace(-1.0, 2.0, 30_000), np.array(True), np.array(3), np.array([2**64 - 1, 5], np.uint64),
    np.array(0.25, np.float32),
)  # fmt: skip
CASES = {
    "sum": lambda: [EXACT["sum"](numbers(9000))],
    "sum used again": lambda: [EXACT["sum used again"](numbers(9000, "f4"))],
    "column sums used again": lambda: [ROWS["column sums used again"](numbers(20_000).reshape(4, -1))],
    "values of every kind": lambda: by_kind(*GIVEN),
}


@pytest.fixture
def by_one(name):
    """What one thread computes."""
    return [np.asarray(each) for each in CASES[name]()]


@pytest.fixture
def anew(monkeypatch):
    """Every kernel is new."""
    monkeypatch.setattr(pipeline, "_plans", Memo(cache.most))
    monkeypatch.setattr(pipeline, "_launches", Memo(cache.most))


@pytest.mark.parametrize("name", CASES)
def test_parts_give_the_same_bits(name, by_one, anew, threads):
    for _ in range(2):
        for found, wanted in zip(map(np.asarray, CASES[name]()), by_one, strict=True):
            assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


def test_a_model_of_many_arrays():
    count = 48
    mean = np.linspace(-1.0, 1.0, count)
    arrays = [np.array(value) for value in mean]
    x = np.linspace(0.0, 3.0, 500)
    total = logpdf(Normal(arrays[0], 2.0), x).sum()
    for before, after in zip(arrays, arrays[1:], strict=False):
        total = total + logpdf(Normal(lazy(before), 2.0), after)
    value, slopes = value_and_grad(total, wrt=tuple(arrays))
    steps = np.diff(mean) / 4.0
    wanted = np.zeros(count)
    wanted[:-1] += steps
    wanted[1:] -= steps
    wanted[0] += (x - mean[0]).sum() / 4.0
    each = -0.5 * (((x - mean[0]) ** 2).sum() + (np.diff(mean) ** 2).sum()) / 4.0
    constants = (len(x) + count - 1) * (np.log(2.0) + 0.5 * np.log(2.0 * np.pi))
    np.testing.assert_allclose(value, each - constants, rtol=1e-12)
    np.testing.assert_allclose(slopes, wanted, rtol=1e-11, atol=1e-13)


def test_functions_take_what_they_read():
    inner = Function("inner", ("a", "b", "c"), (If(Name("c"), (let("d", parsed("c + 1")),)), Return(Name("c"))))
    outer = Function("outer", ("x", "y"), (Do(parsed("inner(x, y, inner(1, 2, y))")),))
    found, whole = trimmed((inner, outer), {"outer"})
    assert found.parameters == ("c",) and whole.parameters == ("x", "y")
    assert str(whole.body[0].call) == "inner(inner(y))"


def test_numbers_that_change_are_packed_again():
    """Also 0.0 into -0.0, which are equal, and back, and numbers of other types."""
    fast = vecdist.compile(lambda x, a: (x / a).sum())
    x = np.ones(3)
    for a in (2.0, 0.0, -0.0, 0.0, 4.0, 2.0, 2.0):
        with np.errstate(divide="ignore"):
            for kind in (np.float64, np.float32):
                assert fast(x, kind(a)) == 3.0 / np.float64(a)
    for a in (2, 3.0, np.float64(4.0), np.float32(0.1), np.int8(5), True, np.array(6.0), np.array(7, "f4")):
        assert fast(x, a) == pytest.approx(3.0 / float(a), rel=1e-6)


def test_integers_that_change_are_packed_again():
    fast, x = vecdist.compile(lambda x, n: (x * n).sum()), np.arange(4)
    for n in (2, -3, 2**40, np.int64(2**40), np.int32(7), np.uint8(255), 2):
        assert fast(x, n) == 6 * int(n)


def test_threads_do_not_see_each_others_numbers():
    fast, x = vecdist.compile(lambda x, a: (x * a).sum()), np.ones(4)
    fast(x, 1.0)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda a: float(fast(x, float(a))), range(400)))
    assert found == [4.0 * a for a in range(400)]


def test_programs_of_one_text_and_other_types_are_others():
    """Sources say no types, and arrays in one piece are given by their addresses alone."""
    for dtype in ("f8", "f4", "i8", "f4", "f8"):
        x = (10.0 * numbers(50)).astype(dtype)
        assert float((lazy(x) + 1).sum()) == pytest.approx((x.astype("f8") + 1).sum(), rel=1e-6)


def test_a_program_takes_no_other_arrays():
    """Views of arrays by another class, and dtypes that are equal, are the same; all else is an error, never read."""
    x = numbers(30)
    program = pipeline.compiled(bind((np.exp(lazy(x)).sum().node,)), "cpu")
    wanted, found, run = np.zeros(1), np.zeros(1), program.serial
    run(x, wanted, 30)
    assert wanted[0] == pytest.approx(np.exp(x).sum())
    again = np.frombuffer(x.tobytes(), pickle.loads(pickle.dumps(np.dtype("f8", metadata={"of": "others"}))))
    for same in (x, x.view(np.memmap), again):
        for call in (run, run.at([30])):
            found[0] = np.nan
            call(same, found, 30)
            assert wanted.tobytes() == found.tobytes()
    unaligned = np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view("f8")
    for other in (x.astype("f4"), x.astype(">f8"), x.astype("i8"), np.repeat(x, 2)[::2], x[::-1], unaligned):
        for call in (run, run.at([30])):
            with pytest.raises(TypeError):
                call(other, found, 30)
    for call in (run, run.at([30])):
        for number in (29.5, [1.0], None):
            with pytest.raises(TypeError):
                call(number, found, 30)
    with pytest.raises(TypeError):
        run(x, found, 29.5)
