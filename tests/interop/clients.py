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
    """A log density whose C functions note how many vectors they are given in each call."""

    def __init__(self, density):
        self.rows, self.kept, self.ndim, self.dtype = [], [density], density.ndim, density.dtype
        self.c_logp_address = self._counting(density.c_logp_address, lambda _: 1)
        self.c_batch_address = self._counting(density.c_batch_address, lambda rows: rows)

    def _counting(self, address, rows_of):
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *[ctypes.c_void_p] * 4)
        function = kind(address)

        def count(first, *addresses):
            self.rows.append(rows_of(first))
            return function(first, *addresses)

        self.kept.append(kind(count))
        return ctypes.cast(self.kept[-1], ctypes.c_void_p).value
