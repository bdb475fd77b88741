"""Values that leave expressions by the way: what is lost is said, what is only looked at is not."""

import math
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
