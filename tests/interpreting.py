"""Run what a user does by the reference interpreter instead of a compiled kernel."""

import contextlib
from unittest import mock

from reference import interpreted

from vecdist.runtime import pipeline


@contextlib.contextmanager
def by_interpreter():
    """Inside, every value is computed by NumPy from the graph as it was built, and nothing is compiled."""
    with mock.patch.object(pipeline, "launch", launch):
        yield


def launch(roots, derivation, shapes, errors="raise", found=None):
    """What ``vecdist.runtime.pipeline.launch`` does; checks of parameters are left out."""
    found = interpreted(roots, derivation)
    return [array.reshape(shape)[()] for array, shape in zip(found, shapes, strict=True)], False


@contextlib.contextmanager
def nothing_computed():
    """Inside, computing anything is an error."""
    with mock.patch.object(pipeline, "launch", side_effect=AssertionError("something was computed")):
        yield


def counted_launches():
    """A stand-in for ``vecdist.runtime.pipeline.launch`` that does the same and counts."""
    return mock.patch.object(pipeline, "launch", wraps=pipeline.launch)
