"""A formula that was asked twice is not asked again for operands of the same kind; its graph is what it would be."""

from unittest import mock

import numpy as np
import pytest

import vecdist
from vecdist import lazy, logpdf
from vecdist.constraints import finite
from vecdist.distributions import FAMILIES, Distribution, Gamma, Normal, parametrisation
from vecdist.graph.memo import Memo
from vecdist.graph.node import const
from vecdist.lazy.array import LazyArray
from vecdist.passes.outline import outline
from vecdist.verbs import density as vectorize

ONE_DIMENSIONAL = {name: family for name, family in FAMILIES.items() if issubclass(family, Distribution)}
AT_POINTS = ("logpdf", "cdf", "logcdf", "sf", "logsf", "ppf")
MOMENTS = ("mean", "variance", "entropy", "mode", "median")
X, SAME = np.linspace(0.25, 0.75, 5), np.array(0.5)
OPERANDS = {
    "arrays": lambda place: np.full((3, 1), 0.5 + place),
    "numbers": lambda place: 2 + place,
    "float32": lambda place: np.full(5, 0.5, "f4"),
    "one array": lambda place: SAME,
    "expressions": lambda place: np.exp(lazy(SAME)) + float(place),
    "constants": lambda place: LazyArray(const(0.5)),
    "mixed": lambda place: np.full(5, 0.5) if place % 2 else 3.0,
}


def asked(family, operand, points=X):
    """The outlines of everything that a family can be asked for, at some operands."""
    found, nodes = {}, []  # which are kept meanwhile: much is common to several
    for way in family.parametrisations:
        distribution = family(**{name: operand(place) for place, name in enumerate(way.names)})
        for verb in (*AT_POINTS, *MOMENTS, "sample"):
            at = (points,) if verb in AT_POINTS else ()
            given = (7, distribution, (2,)) if verb == "sample" else (distribution, *at)
            try:
                nodes.append(getattr(vecdist, verb)(*given).node)
                found[str(way), verb] = outline(nodes[-1:]).key
            except (NotImplementedError, ValueError, TypeError) as error:
                found[str(way), verb] = str(error)
    return found


def by_formulas():
    """Every formula is asked anew inside."""
    return mock.patch.object(vectorize, "templated", lambda memo, key, operands, formula: formula(operands))


@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize("name", ONE_DIMENSIONAL)
def test_graphs_are_those_of_the_formulas(name, kind):
    family, operand = ONE_DIMENSIONAL[name], OPERANDS[kind]
    first, second, third = (asked(family, operand) for _ in range(3))
    with by_formulas():
        wanted = asked(family, operand)
    assert first == second == third == wanted and len(wanted) >= 12


@pytest.mark.parametrize("name", ONE_DIMENSIONAL)
def test_graphs_of_other_lengths_are_those_of_the_formulas(name, monkeypatch):
    """Of rows, of columns, and of lengths that are equal by chance."""
    monkeypatch.setattr(vectorize, "_templates", memo := Memo())
    family = ONE_DIMENSIONAL[name]
    for n, m in ((5, 3), (6, 4), (7, 9), (4, 4), (0, 2), (8, 1)):
        operand, points = lambda place, n=n: np.full((n, 1), 0.5 + place), np.linspace(0.25, 0.75, m)
        found = asked(family, operand, points)
        with by_formulas():
            assert found == asked(family, operand, points)
    assert not any(each.value.refused for each in memo._kept.values()), "they look at no lengths"


class OfMany(Distribution):
    """A family of a user, whose formula looks at lengths."""

    @parametrisation(loc=finite)
    @staticmethod
    def by_loc(loc):
        return {"loc": loc}

    @staticmethod
    def support(p):
        return finite

    @staticmethod
    def log_density(x, p):
        scaled = -0.5 * (x - p.loc) ** 2 * (2.0 if x.shape and x.shape[0] > 4 else 1.0)
        return scaled / x.shape[0] if x.shape != (3,) else scaled


def test_a_formula_that_looks_at_lengths_is_asked_for_each():
    for n in (2, 3, 4, 5, 6, 3, 3, 4, 4, 6, 6):
        x = np.linspace(1.0, 2.0, n)
        found = outline([logpdf(OfMany(0.5), x).node]).key
        with by_formulas():
            assert found == outline([logpdf(OfMany(0.5), x).node]).key


def test_a_formula_is_asked_twice(monkeypatch):
    monkeypatch.setattr(vectorize, "_templates", Memo())
    a, x = np.array(2.0), np.linspace(1.0, 2.0, 3)
    for _ in range(2):
        logpdf(Gamma(a, 1.0), x)
    with mock.patch.object(Gamma, "log_density", side_effect=AssertionError("it is asked again")):
        assert logpdf(Gamma(a + 1.0, 5.0), lazy(x) * 2.0).shape == (3,)
        assert logpdf(Gamma(a, 1.0), np.ones(2)).shape == (2,)
        for others in (np.ones((2, 1)), np.arange(3), 1):
            with pytest.raises(AssertionError, match="it is asked again"):
                logpdf(Gamma(a, np.array(1.0)), others)
        with pytest.raises(AssertionError, match="it is asked again"):
            logpdf(Gamma(lazy(x), lazy(x)), x)


def test_parameters_that_do_not_fit_are_named_each_time():
    for _ in range(2):
        with pytest.raises(ValueError, match="Normal: the shapes of"):
            logpdf(Normal(np.ones(2), 1.0), np.ones(3))
        with pytest.raises(TypeError, match="sample wants a distribution"):
            vecdist.sample(7, 3.0)
        with pytest.raises(NotImplementedError, match="the family states no formula"):
            vecdist.entropy(vecdist.distributions.Skellam(1.0, 2.0))
