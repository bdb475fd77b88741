"""Mici: a log density as a Hamiltonian system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from vecdist.interop import client
from vecdist.model.logdensity import LogDensity

mici: Any = client("mici")


def system(density: LogDensity, **options: Any) -> Any:
    """A Euclidean-metric system of Mici, whose potential is the negative log density; ``metric=`` and others pass on.

    A gradient is one kernel call, which gives the value too.  Mici's worker processes can take it where ``density`` can
    be pickled.

    >>> import numpy as np, vecdist, vecdist.interop
    >>> from vecdist.parameters import real
    >>> density = vecdist.LogDensity(lambda mu: -0.5 * mu**2, mu=real())
    >>> system = vecdist.interop.mici.system(density)
    >>> system.grad_neg_log_dens(vecdist.interop.mici.mici.states.ChainState(pos=np.array([3.0])))
    array([3.])
    """
    potential = _Potential(density)
    return mici.systems.EuclideanMetricSystem(potential.value, grad_neg_log_dens=potential.gradient, **options)


@final
@dataclass(frozen=True)
class _Potential:
    density: LogDensity

    def value(self, x: Any) -> float:
        return -self.density.logdensity(x)

    def gradient(self, x: Any) -> tuple[Any, float]:
        """The gradient, then the value: Mici's order."""
        value, gradient = self.density.neg(x)
        return gradient, value
