"""Values that leave expressions by the way: what is lost is said, what is only looked at is not."""

import copy
import io
import logging
import math
import pprint
import unittest
import warnings

import numpy as np
import pytest
import scipy.signal
import scipy.special
from interpreting import by_interpreter

import vecdist
from vecdist import LostDerivative, data, hessian, hvp, jvp, lazy, logpdf, value_and_grad, value_and_partials
from vecdist.distributions import Normal

pytestmark = pytest.mark.filterwarnings("error")
TWO, PAIR = np.array(2.0), np.array([0.0, 1.0])

# Of one number, or of two: what loses a derivative.
LOSSES = [
    (TWO, lambda x: x * math.log(x)), (TWO, lambda x: x * float(x)), (TWO, lambda x: x * int(x)),
    (TWO, lambda x: x * round(x)), (TWO, lambda x: x * round(x, 2)), (TWO, lambda x: x * math.log(2 * x)),
    (TWO, lambda x: x * math.floor(x)), (TWO, lambda x: x + np.asarray(np.exp(x))),
    (TWO, lambda x: x + complex(x).real), (TWO, lambda x: logpdf(Normal(float(x), 1.0), 0.5) + x),
    (PAIR, lambda x: (x + np.log1p(np.asarray(x))).sum()), (PAIR, lambda x: (x * np.array([x[0], x[1]])).sum()),
    (PAIR, lambda x: (x * np.array([2 * x[0], x[1]])).sum()), (PAIR, lambda x: (x * np.vectorize(math.exp)(x)).sum()),
    (PAIR, lambda x: (x * np.vectorize(math.exp)(3 * x)).sum()), (PAIR, lambda x: (x / float(x.sum())).sum()),
    (PAIR, lambda x: (x - np.asarray(x.max())).sum()), (PAIR, lambda x: (x * np.from_dlpack(x)).sum()),
    (PAIR, lambda x: (x[0] * scipy.signal.convolve(x, [1.0, 2.0])).sum()),
    (PAIR, lambda x: (x * data(np.asarray(x) ** 2)).sum()),
]
# Likewise: values that are looked at, and expressions that keep what was looked at.
LOOKS = [
    (TWO, lambda x: x * np.log(x)),
    (TWO, lambda x: (x * 3.0, float(x * 3.0))[0]),
    (TWO, lambda x: (np.exp(x), float(np.exp(x)), np.asarray(np.exp(x)))[0] * 2.5 + 1.0),
    (TWO, lambda x: (3 * x, f"{3 * x:.2f} {x:.1f} {x}", repr(x), (3 * x).item(), x.item(), x.compute())[0] * 2.0),
    (TWO, lambda x: (x, bool(x > 1.0), np.asarray(x > 1.0))[0] * 2.0),
    (PAIR, lambda x: (x, np.testing.assert_allclose(np.exp(x), np.exp(PAIR)), np.allclose(x, 1.0))[0].sum() * 2.0),
    (PAIR, lambda x: (logpdf(Normal(x, 1.0), PAIR), np.asarray(np.exp(logpdf(Normal(x, 1.0), PAIR))))[0].sum()),
    (PAIR, lambda x: (x, np.asarray(data(PAIR)), float(lazy(np.array(3.0))))[0].sum() * 2.0),
]
log = logging.getLogger(__name__)
log.setLevel("INFO")
log.addHandler(logging.StreamHandler(io.StringIO()))
# Readings of an array of two numbers, in expressions that go on.
READINGS = {
    "print": lambda x: print(x, repr(x), [*x], file=io.StringIO()), "f-string": lambda x: f"{x[0]:.3f} {x!r} {x}",
    "format": lambda x: "{:.2f} {}".format(x[0], x),  # noqa: UP032
    "percent": lambda x: ("%.3f %d %s" % (x[0], x[1], x), "%.3f" % x[0]),  # noqa: UP031
    "logging": lambda x: log.info("at %.3f", x[0]),
    "shape": lambda x: (x.shape, len(x), x.ndim, x.size, x.dtype, np.shape(x), np.ndim(x), np.size(x)),
    "comparison": lambda x: (x[0] < 1.0, bool(x[0] < 1.0), x[0] == 0.0, 1.0 in x, bool((x < 9.0).all())),
    "truth": lambda x: 1 if x[1] and not x[1] < 0.0 else 2, "least": lambda x: (min(x[0], x[1]), sorted(x)),
    "finite": lambda x: bool(np.isfinite(x).all()) and not np.isnan(x).any(),
    "numpy.testing": lambda x: (np.testing.assert_allclose(x, x.compute()), np.testing.assert_array_equal(x, x)),
    "close": lambda x: (np.allclose(x, 1.0), np.array_equal(x, x.compute())),
    "unittest": lambda x: unittest.TestCase().assertAlmostEqual(x[1] * 1.0, float(x[1].compute()) + 1e-9),  # noqa: PT009
    "pytest": lambda x: (x[0] == pytest.approx(1.0), x == pytest.approx(PAIR), pytest.approx(1.0) == x[1]),
    "pprint": lambda x: pprint.pformat({"x": x}), "copy": lambda x: (copy.copy(x), copy.deepcopy(x)),
    "compute": lambda x: (x.compute(), x[0].item()), "notebook": lambda x: x._repr_mimebundle_(),
}
BATCHES = [np.array([float(n), 1.0]) for n in range(3)]


def loss(x, y):
    return logpdf(Normal(x, 2.0), y).sum()


def read(x):
    """A number of which nobody knows what becomes."""
    return float(np.abs(x * 1.0).max())


# A round of a loop, in which an array is lazy all the time: what is read belongs to that round.
ROUNDS = [
    lambda x, y: (total := loss(x, BATCHES[0]), float(total), total)[-1],
    lambda x, y: (total := loss(x, y), float(total), read(x), total)[-1],
    lambda x, y: (total := loss(x, y), math.log(1.0 + float(total) ** 2), total)[-1],
    lambda x, y: (float(loss(x, y)), loss(x, y))[-1],
]  # fmt: skip


@pytest.mark.parametrize(("array", "function"), LOSSES)
def test_a_derivative_that_is_lost_is_said(array, function):
    array = array.copy()
    with by_interpreter():
        expression = function(lazy(array))
        with pytest.warns(LostDerivative, match=r"test_exits.py:\d+, before this expression was finished") as caught:
            value_and_grad(expression, wrt=array)
        assert caught[0].filename == __file__
        value_and_grad(expression, wrt=array)  # said once


@pytest.mark.parametrize(("array", "function"), LOOKS)
def test_what_is_looked_at_is_not_warned_of(array, function):
    array = array.copy()
    with by_interpreter():
        value_and_grad(function(lazy(array)), wrt=array)


@pytest.mark.parametrize("name", READINGS)
def test_readings_that_only_show_or_compare_are_not_warned_of(name):
    array = PAIR + 0.5
    with by_interpreter():
        x = lazy(array)
        READINGS[name](x)
        READINGS[name](np.exp(x) * 0.75)
        value_and_grad((x * 2.0).sum(), wrt=array)


@pytest.mark.parametrize("between", [lambda x, y: None, lambda x, y: read(x), lambda x, y: float(loss(x, y))])
@pytest.mark.parametrize("of_round", ROUNDS)
def test_what_is_read_in_a_loop_belongs_to_its_round(of_round, between):
    array = PAIR + 0.5
    with by_interpreter():
        x = lazy(array)
        for y in BATCHES:
            _, gradient = value_and_grad(of_round(x, y), wrt=array)
            between(x, y)
            array -= 0.1 * gradient


def test_what_is_read_of_a_finished_expression_belongs_to_its_round():
    """Though the next one has another number in it."""
    array = PAIR + 0.5
    with by_interpreter():
        x = lazy(array)
        for n in range(3):
            total = loss(x, BATCHES[n]) * float(n + 1)
            assert float(total) < 0.0
            value_and_grad(total, wrt=array)


def test_what_a_loop_loses_is_said_in_its_first_round():
    array, said = PAIR + 0.5, []
    with by_interpreter():
        x = lazy(array)
        for _ in BATCHES:
            with warnings.catch_warnings(record=True, action="always") as caught:
                value_and_grad((x * read(x)).sum(), wrt=array)
            said.append(len(caught))
        with pytest.warns(LostDerivative):
            value_and_grad((np.sin(x) * read(x)).sum(), wrt=array)
    assert said == [1, 0, 0]


def test_every_derivative_says_it():
    for derivative in (
        lambda e, x: value_and_partials(e, x), lambda e, x: jvp(e, x, x), lambda e, x: vecdist.vjp(e, x, x),
        lambda e, x: hvp(e, x, x), lambda e, x: hessian(e, x),
    ):
        x = np.array(2.0)
        with by_interpreter(), pytest.warns(LostDerivative):
            derivative(lazy(x) * math.log(lazy(x)), x)


def test_plain_arrays_and_other_arrays_are_not_watched():
    x, y = np.array(2.0), np.array(3.0)
    with by_interpreter():
        read = float(logpdf(Normal(x, 1.0), 0.5))  # x was not marked
        value_and_grad(logpdf(Normal(x, 1.0), read), wrt=x)
        value_and_grad(lazy(y) * float(lazy(x)), wrt=y)  # x is a constant here, and nobody asks for its derivative


def test_a_value_that_was_read_of_a_finished_expression_is_not_warned_of():
    x = np.array(2.0)
    with by_interpreter():
        total = np.exp(lazy(x)) * 2.0
        assert float(3.0 * lazy(x)) == 6.0
        value_and_grad(total, wrt=x)


def test_a_mended_cell_is_quiet():
    """The first reads what it should not; the second, which is right, is not blamed for it."""
    x = np.array(2.0)
    with by_interpreter():
        with pytest.warns(LostDerivative):
            value_and_grad(lazy(x) * math.log(lazy(x)), wrt=x)
        assert value_and_grad(lazy(x) * np.log(lazy(x)), wrt=x)[1] == np.log(2.0) + 1.0


def test_what_left_is_remembered_without_its_arrays():
    import gc
    import weakref

    class Own(np.ndarray):
        """An array that can be referred to weakly."""

    x, big = np.array(2.0), np.ones(100).view(Own)
    kept = weakref.ref(big)
    with by_interpreter():
        float((lazy(x) * lazy(big)).sum())
    del big
    gc.collect()
    assert kept() is None


def test_scipy_functions_that_vecdist_has_name_it():
    for name in ("logsumexp", "softmax", "log_softmax"):
        with by_interpreter(), pytest.raises(TypeError, match=rf"special.{name} has no lazy form; use vecdist.{name}"):
            getattr(scipy.special, name)(lazy(PAIR) + 1.0)
    with by_interpreter():
        assert scipy.special.logsumexp((lazy(PAIR) + 1.0).compute()) == np.logaddexp(1.0, 2.0)


def test_inside_compiled_functions_it_is_an_error():
    with pytest.raises(TypeError, match="while its function is being compiled"), warnings.catch_warnings():
        vecdist.compile(lambda x: x * math.log(x))(TWO)
