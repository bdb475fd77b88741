"""What ``inspect`` and ``help`` say of families, as notebooks show it, while a program runs."""

import inspect
import itertools
import pydoc

import pytest

import vecdist
from vecdist.distributions import FAMILIES, Distribution, Gamma, Normal, StudentT
from vecdist.multivariate import MULTIVARIATE

EVERY = {**FAMILIES, **MULTIVARIATE}


@pytest.mark.parametrize(
    ("family", "wanted"),
    [
        (Gamma, "(shape=..., scale=..., *, rate=..., log_rate=..., mean=..., sd=...)"),
        (StudentT, "(df, loc=0.0, scale=1.0, *, precision=...)"),
        (vecdist.distributions.Dirichlet, "(alpha)"),
        (type(vecdist.truncated(Normal(0.0, 1.0), 0.5)), "(loc, scale, lower)"),
    ],
    ids=["several ways", "defaults", "one way", "of a wrapper"],
)
def test_a_signature(family, wanted):
    assert str(inspect.signature(family)) == wanted
    assert f"{family.__name__}{wanted}" in pydoc.plain(pydoc.render_doc(family))


@pytest.mark.parametrize("family", EVERY.values(), ids=EVERY)
def test_it_takes_what_the_family_takes(family):
    """Every way of writing, by name, the first by position; no name that is of no way."""
    shown = inspect.signature(family)
    names = {name for way in family.parametrisations for name in way.names}
    assert set(shown.parameters) == names
    for way in family.parametrisations:
        for count in range(len(way.names) + 1):
            for given in itertools.combinations(way.names, count):
                values = dict.fromkeys(given, 0.5)
                if accepted(family, values):
                    shown.bind(**values)
    first = [0.5] * len(family.parametrisations[0].names)
    assert family(*first).parameters == dict(shown.bind(*first).arguments)


def accepted(family, values):
    try:
        family(**values)
    except TypeError:
        return False
    return True


def test_a_constructor_of_a_user_is_shown_as_it_is():
    class OfLogScale(Normal):
        def __init__(self, log_scale, loc=0.0):
            super().__init__(loc, 2.0**log_scale)

    assert str(inspect.signature(OfLogScale)) == "(log_scale, loc=0.0)"


def test_the_base_has_no_parameters_to_show():
    assert list(inspect.signature(Distribution).parameters) == ["positional", "keywords"]


def test_families_of_vectors_of_users_are_theirs():
    before = dict(MULTIVARIATE)
    type("MvNormal", (MULTIVARIATE["MvNormal"],), {"__module__": "__main__"})
    assert before == MULTIVARIATE
