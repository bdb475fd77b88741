"""The fixture ``interpreter``: everything that vecdist computes, it computes without compiling."""

from functools import cache

import pytest
from remembering import remembering

from vecdist.passes.bind import bind
from vecdist.passes.checks import split_checks
from vecdist.passes.expand import expand
from vecdist.passes.loops import merged
from vecdist.passes.simplify import simplify
from vecdist.runtime import pipeline
from vecdist.runtime.interpreter import Program


@pytest.fixture
def interpreter(monkeypatch):
    """Every expression goes through the passes and is then interpreted by NumPy, as the definition of its value."""
    monkeypatch.setattr(pipeline, "launch", launch)
    with remembering():
        yield


def launch(roots, derivation, shapes, errors="raise", found=None):
    """What ``vecdist.runtime.pipeline.launch`` does, by the reference interpreter; no values where a flag is up."""
    bound = bind(roots)
    given = [leaf.array for leaf in bound.leaves], bound.lengths
    values, flags = derived(bound.roots, derivation)
    if errors == "raise" and any(failed.any() for failed in flags.evaluate(*given)):
        return [None for _ in shapes], True
    return [array.reshape(shape)[()] for array, shape in zip(values.evaluate(*given), shapes, strict=True)], False


@cache
def derived(roots, derivation):
    """A structure after the passes, and its flags: the same programs for every test that gives it other numbers."""
    plain, failures = split_checks(roots)
    values = derivation(plain)
    made = simplify(expand(simplify(merged((*values, *failures)))))
    return Program(made[: len(values)]), Program(made[len(values) :])
