"""What tests of clients share: counts of calls, and the versions that a client has."""

import ctypes
from contextlib import contextmanager

import numpy as np
import pytest

from vecdist import LogDensity

# Libraries of others warn of each other; what vecdist warns of is seen by its own tests.
CLIENT = [pytest.mark.clients, pytest.mark.filterwarnings("ignore")]


@contextmanager
def counted(monkeypatch):
    """The shapes of the points at which log densities are evaluated by Python, one for each launch."""
    shapes = []

    def counting(method):
        def count(self, x, *rest):
            shapes.append(np.shape(x))
            return method(self, x, *rest)

        return count

    with monkeypatch.context() as patch:
        for name in ("logdensity", "logdensity_and_gradient"):
            patch.setattr(LogDensity, name, counting(getattr(LogDensity, name)))
        yield shapes


class Counting:
    """A log density whose C function for many vectors notes how many it is given in each call."""

    def __init__(self, density):
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *[ctypes.c_void_p] * 4)
        function = kind(density.c_batch_address)

        def count(rows, *addresses):
            self.rows.append(rows)
            return function(rows, *addresses)

        self.rows, self.density, self.kept = [], density, kind(count)
        self.ndim, self.dtype = density.ndim, density.dtype
        self.c_batch_address = ctypes.cast(self.kept, ctypes.c_void_p).value
