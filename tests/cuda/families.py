"""Every family at ordinary parameters, with points of its support, for comparing two backends."""

import numpy as np

from vecdist.distributions import FAMILIES

POINTS = 37


def arrays(name, dtype):
    """Points, and the parameters: the first one for each point, the others one number each."""
    from family_cases import parameters_of, points_of  # which draw with SciPy

    family = FAMILIES[name]
    drawn = parameters_of(family, family.parametrisations[0].names, dtype, size=1)
    first, *rest = (np.repeat(values, POINTS) for values in drawn)
    points = points_of(family, family.parametrisations[0].names, [first, *rest])
    return points, [first, *(values.reshape(()) for values in drawn[1:])]


def differentiable(name, x, parameters):
    """The arrays in which the density has a derivative: no counts."""
    family = FAMILIES[name]
    wanted = family.parametrisations[0].constraints.values()
    kept = [array for array, constraint in zip(parameters, wanted, strict=True) if not constraint.whole]
    return kept if family.discrete else [*kept, x]
