"""The examples of families and verbs, run without compiling: there are too many of them to compile each."""

import doctest
import sys

import pytest
from family_cases import EVERY_FAMILY

import vecdist
import vecdist.verbs.tails_and_moments

MODULE = vecdist.verbs.tails_and_moments
VERBS = [f for name, f in vars(MODULE).items() if name in vecdist.__all__ and f.__module__ == MODULE.__name__]
SHOWN = [*EVERY_FAMILY, *VERBS]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.__name__)
def test_the_example_gives_what_it_says(interpreter, shown):
    names = vars(sys.modules[shown.__module__])
    (example,) = doctest.DocTestFinder(recurse=False).find(shown, shown.__name__, globs=dict(names))
    assert example.examples
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
