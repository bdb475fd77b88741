"""Nested samplers (dynesty, UltraNest, nautilus): a log density as a likelihood and a prior of independent numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from vecdist.model.logdensity import LogDensity


class Reference(Protocol):
    """Independent distributions of the elements of a vector: SciPy's frozen ones, or whatever has their methods."""

    def ppf(self, q: Any, /) -> Any: ...
    def logpdf(self, x: Any, /) -> Any: ...


def functions(density: LogDensity, reference: Reference) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """``loglikelihood(x)`` and ``prior_transform(u)``, of vectors or of rows of them, for a nested sampler.

    The prior is ``reference``, and log likelihood is log density - log reference.  The posterior and the evidence are
    those of ``density``, whatever the reference, which should cover the posterior and have heavier tails; the evidence
    wants all normalising constants, and so no ``unnormalised=True``.

    ``ValueError`` for a log density that is unnormalised, and a reference that gives another number of elements.

    >>> import numpy as np, scipy.stats, vecdist, vecdist.interop
    >>> from vecdist.parameters import real
    >>> density = vecdist.LogDensity(lambda mu: -0.5 * (mu**2).sum(), mu=real(2))
    >>> reference = scipy.stats.t(4, loc=0.0, scale=2.0)
    >>> loglikelihood, prior_transform = vecdist.interop.nested.functions(density, reference)
    >>> prior_transform(np.array([0.5, 0.5]))
    array([0., 0.])
    >>> loglikelihood(np.zeros((3, 2))).shape
    (3,)
    """
    if density.unnormalised:
        raise ValueError("the evidence wants all constants, and this log density is unnormalised")
    shapes = {np.shape(function(np.full(density.ndim, 0.5))) for function in (reference.ppf, reference.logpdf)}
    if shapes != {(density.ndim,)}:
        raise ValueError(f"a reference for vectors of length {density.ndim} gives arrays of shape {shapes.pop()}")

    def loglikelihood(x: Any) -> Any:
        return density.logdensity(x) - reference.logpdf(x).sum(axis=-1)

    return loglikelihood, reference.ppf
