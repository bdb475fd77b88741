"""What an error says of a value that is asked for before there is one: the user's words, and what to write instead."""

import math
from math import lgamma

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.stats as st

import vecdist
from vecdist import LogDensity, lazy, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import real

PLACES = np.arange(4.0)
STACK, BLOCK = r"write np\.stack\(\[a, b\]\)", r"np\.block\(\[\[a, b\], \[c, d\]\]\)"
CHOOSE = r"np\.where\(condition, a, b\).*vecdist\.function"
BY_HAND = r"vecdist\.external takes a function with its derivatives"


def an_element(a, b):
    x = np.zeros((2, 2))
    x[0, 0] = a
    return x.sum() + b


def a_row(a, b):
    x = np.zeros((2, 2))
    x[1] = np.stack([a, b])
    return x.sum()


def a_while(a, b):
    while a > b:
        a = a - 1.0
    return a


def of_words(a, b):
    return np.array([
        a, b,
    ]).sum()  # fmt: skip


ASKED = [  # how it is asked, the words that are repeated, and what is to be written
    (lambda a, b: np.array([a, b]).sum(), "np.array([a, b])", STACK),
    (of_words, "np.array([ a, b, ])", STACK),
    (lambda a, b: np.asarray(a) + b, "np.asarray(a)", "leave a lazy array as it is"),
    (lambda a, b: np.stack([[a, b], [b, a]]).sum(), "np.stack([[a, b], [b, a]])", BLOCK),
    (lambda a, b: np.exp([a, b]).sum(), "np.exp([a, b])", STACK),
    (lambda a, b: np.max([a, b]), "np.max([a, b])", STACK),
    (lambda a, b: logpdf(Normal(0.0, 1.0), [a, b]).sum(), "logpdf(Normal(0.0, 1.0), [a, b])", STACK),
    (lambda a, b: np.full(3, a).sum() + b, "np.full(3, a)", r"write np\.ones\(shape\) \* a"),
    (lambda a, b: np.arange(a, b, 0.1).sum(), "np.arange(a, b, 0.1)", r"np\.linspace\(a, b, n\)"),
    (lambda a, b: np.vectorize(float)(a) + b, "np.vectorize(float)(a)", "whole arrays, or a vecdist.function"),
    (lambda a, b: math.exp(a) + b, "math.exp(a)", "write np.exp"),
    (lambda a, b: math.pow(a, 2) + b, "math.pow(a, 2)", "write np.power"),
    (lambda a, b: lgamma(a) + b, "lgamma(a)", "write scipy.special.gammaln"),
    (lambda a, b: max(a, b), "max(a, b)", r"write np\.maximum, or np\.max"),
    (lambda a, b: sorted([a, b])[0], "sorted([a, b])", "write np.sort"),
    (lambda a, b: round(a, 2) + b, "round(a, 2)", "write np.round"),
    (lambda a, b: float(a) + b, "float(a)", "write it by NumPy's functions of arrays"),
    (lambda a, b: (f"{a:.2f}", a + b)[1], "", "only looked at has a value outside"),
    (lambda a, b: a if a > b else b, "a > b", CHOOSE),
    (lambda a, b: np.where((a > 0) and (b > 0), a, b), "", "join conditions by & and |"),
    (a_while, "a > b", CHOOSE),
    (an_element, "x[0, 0]", r"elements of a NumPy array cannot be lazy: .*np\.stack.*np\.where.*vecdist\.add_at"),
    (a_row, "x[1]", r"elements of a NumPy array cannot be lazy: .*np\.stack.*np\.where.*vecdist\.add_at"),
    (lambda a, b: PLACES[(a > 0).astype(int)] + b, "PLACES[(a > 0).astype(int)]", r"vecdist\.lazy\(x\)\[i\]"),
    (lambda a, b: np.r_[a, b].sum(), "np.r_[a, b]", r"np\.concatenate"),
    (lambda a, b: [1.0, 2.0][(a > 0).astype(int)] + b, "[1.0, 2.0][(a > 0).astype(int)]", r"vecdist\.lazy\(x\)\[i\]"),
    (lambda a, b: sum(b for _ in range((a > 0).astype(int))), "range((a > 0).astype(int))", "plain numbers.*known"),
    (lambda a, b: st.norm.logpdf(a, 0, 1) + b, "st.norm.logpdf(a, 0, 1)", r"vecdist\.logpdf\(Normal"),
    (lambda a, b: scipy.linalg.expm(a * np.eye(2)).sum() + b, "scipy.linalg.expm(a * np.eye(2))", "vecdist.linalg"),
    (lambda a, b: scipy.linalg.cholesky(a * np.eye(2)).sum(), "scipy.linalg.cholesky(a * np.eye(2))", "np.linalg and"),
    (lambda a, b: scipy.signal.lfilter([1.0], [1.0], np.stack([a, b])).sum(), "", "vecdist.signal"),
    (lambda a, b: scipy.integrate.quad(lambda t: t * a, 0, 1)[0] + b, "", r"np\.trapezoid.*vecdist\.scan"),
    (lambda a, b: scipy.integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0]).y[0, -1], "", "vecdist.scan"),
    (lambda a, b: scipy.optimize.minimize_scalar(lambda t: (t - a) ** 2).x + b, "", BY_HAND),
]


@pytest.mark.parametrize(("model", "words", "instead"), ASKED)
def test_a_model_that_asks_for_a_value(model, words, instead):
    for ask in (lambda: LogDensity(model, a=real(), b=real()), lambda: vecdist.compile(model)(0.5, 0.2)):
        with pytest.raises(TypeError, match=rf"the value of an expression of .* has none yet: .*{instead}") as caught:
            ask()
        assert not words or f"by `{words}`, when" in str(caught.value)
        assert caught.type.__name__ == "NoValueYet" and len(str(caught.value)) < 420
        assert any(entry.path.name == "test_asking.py" and entry.name != "<listcomp>" for entry in caught.traceback[2:])


def test_where_no_source_is_to_be_read():
    space = {"np": np}
    exec("def model(a):\n    return np.array([a, a]).sum()", space)
    with pytest.raises(TypeError, match=rf"when it has none yet: .*{STACK}") as caught:
        LogDensity(space["model"], a=real())
    assert "by `" not in str(caught.value)


def test_long_words_are_not_repeated():
    with pytest.raises(TypeError, match=r"being compiled, when it has none yet: write np\.exp"):
        vecdist.compile(lambda a: math.exp(
            a + 1.0 - 2.0 + 3.0 - 4.0 + 5.0 - 6.0 + 7.0 - 8.0 + 9.0 - 10.0 + 11.0 - 12.0 + 13.0 - 14.0 + 15.0 - 16.0
        ))(0.5)  # fmt: skip


def test_errors_of_others_stay_as_they_are():
    def wrong(a):
        raise ValueError("of the user") from KeyError("also")

    for ask in (lambda: LogDensity(wrong, a=real()), lambda: vecdist.compile(wrong)(0.5)):
        with pytest.raises(ValueError, match="of the user"):
            ask()


def test_elements_are_not_assigned():
    x = lazy(PLACES)
    for key in (0, slice(2), ...):
        with pytest.raises(TypeError, match=r"a lazy array does not change: .*np\.where.*vecdist\.add_at.*np\.stack"):
            x[key] = 1.0
    at = np.arange(4) == 1
    assert np.asarray(np.where(at, 7.0, x)).tolist() == [0.0, 7.0, 2.0, 3.0]  # as it says


def test_a_number_has_no_length():
    with pytest.raises(TypeError, match="a lazy array of no axes is a number"):
        len(lazy(1.0))
