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
    """What ``vecdist.runtime.pipeline.launch`` does, by the reference interpreter."""
    bound = bind(roots)
    arrays = derived(bound.roots, derivation).evaluate([leaf.array for leaf in bound.leaves], bound.lengths)
    failed = errors == "raise" and any(failed.any() for failed in arrays[len(shapes) :])
    return [array.reshape(shape)[()] for array, shape in zip(arrays, shapes, strict=False)], failed


@cache
def derived(roots, derivation):
    """A structure after the passes, with its flags: the same program for every test that gives it other numbers."""
    plain, failures = split_checks(roots)
    return Program(simplify(expand(simplify(merged((*derivation(plain), *failures))))))
