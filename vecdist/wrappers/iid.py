"""Independent draws from one distribution, as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from vecdist.distributions.base import Compound, Distribution
from vecdist.graph.shapes import Lengths
from vecdist.lazy.array import Axes, LazyArray, Operand
from vecdist.verbs.density import logpdf
from vecdist.verbs.draws import sample


@final
@dataclass(frozen=True)
class Iid(Compound):
    """What ``iid`` gives: a distribution for ``logpdf`` and ``sample``."""

    distribution: Distribution | Compound
    axes: Axes

    def logpdf(self, x: Operand) -> LazyArray:
        """The sum of the log densities of the elements of ``x`` over the axes of one event."""
        return logpdf(self.distribution, x).sum(self.axes)

    def sample(self, key: Operand, shape: Lengths) -> LazyArray:
        """Independent draws; the axes of one event are among those of ``shape``, or are those of the parameters."""
        return sample(key, self.distribution, shape)


def iid(distribution: Distribution | Compound, axes: Axes = -1) -> Iid:
    """The distribution of arrays of independent elements: for ``logpdf``, log densities are added up over ``axes``.

    ``axes`` are those of one event, ``None`` for all.  Raises ``TypeError`` where ``distribution`` is none.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> rows = vecdist.iid(Normal(0.0, 1.0))
    >>> np.asarray(vecdist.logpdf(rows, np.zeros((2, 3)))).round(4)
    array([-2.7568, -2.7568])
    """
    if not isinstance(distribution, Distribution | Compound):
        raise TypeError(f"iid wants a distribution, given {type(distribution).__name__}")
    return Iid(distribution, axes)
