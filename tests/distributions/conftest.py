"""The fixture ``interpreter``: everything that vecdist computes, it computes without compiling."""

import pytest

from vecdist import pipeline
from vecdist.backends.interpreter import interpret
from vecdist.passes.bind import bind
from vecdist.passes.checks import split_checks
from vecdist.passes.expand import expand
from vecdist.passes.simplify import simplify


@pytest.fixture
def interpreter(monkeypatch):
    """Every expression goes through the passes and is then interpreted by NumPy, as the definition of its value."""
    monkeypatch.setattr(pipeline, "launch", launch)


def launch(roots, derivation, shapes, errors="raise"):
    """What ``vecdist.pipeline.launch`` does, by the reference interpreter."""
    bound = bind(roots)
    plain, failures = split_checks(bound.roots)
    graph = simplify(expand(simplify((*derivation(plain), *failures))))
    arrays = interpret(graph, [leaf.array for leaf in bound.leaves], bound.lengths)
    failed = errors == "raise" and any(failed.any() for failed in arrays[len(shapes) :])
    return [array.reshape(shape)[()] for array, shape in zip(arrays, shapes, strict=False)], failed
