"""Long straight lines of a prelude are functions of pieces, which leave each other values."""

from __future__ import annotations

import numpy as np
import pytest

import vecdist
from vecdist.codegen.cpu import render as rendering
from vecdist.distributions import Normal


def walk(count: int) -> tuple[list[np.ndarray], vecdist.LazyArray]:
    """A random walk written out, whose steps are scalars."""
    given = [np.asarray(each) for each in np.random.default_rng(1).normal(size=count)]
    xs = [vecdist.lazy(each) for each in given]
    total = vecdist.logpdf(Normal(0.0, 1.0), xs[0])
    for number in range(1, count):
        total = total + vecdist.logpdf(Normal(0.5 * xs[number - 1], 1.0 + number / count), xs[number])
    return given, total


@pytest.mark.parametrize("beside", [False, True])
def test_values_pass_from_piece_to_piece(monkeypatch: pytest.MonkeyPatch, beside: bool) -> None:
    monkeypatch.setattr(rendering, "PIECE", 40)
    count = 7 if beside else 6
    given, total = walk(count)
    rows = np.linspace(0.0, 1.0, 50)
    if beside:  # a loop reads what several pieces leave
        total = (vecdist.lazy(rows) * total * vecdist.lazy(given[0])).sum()
    source = str(vecdist.explain(total, wrt=tuple(given)).kernels[0].source)
    assert "def prelude3(" in source
    value, gradient = vecdist.value_and_grad(total, wrt=tuple(given))
    x, sd = np.array(given), np.array([1.0, *(1.0 + number / count for number in range(1, count))])
    z = (x - np.array([0.0, *(0.5 * x[:-1])])) / sd
    plain = np.sum(-0.5 * z * z - np.log(sd) - 0.5 * np.log(2 * np.pi))
    slopes = -z / sd + np.array([*(0.5 * z[1:] / sd[1:]), 0.0])
    factor = rows.sum() * x[0] if beside else 1.0
    slopes = factor * slopes + np.array([rows.sum() * plain if beside else 0.0, *[0.0] * (count - 1)])
    np.testing.assert_allclose(value, factor * plain, rtol=1e-13)
    np.testing.assert_allclose(np.array(gradient), slopes, rtol=1e-12)
