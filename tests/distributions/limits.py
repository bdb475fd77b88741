"""Points at the ends of supports and of parameters and at kinks, at round parameters, and the limits of anything there.

A limit is what the values at nearer and nearer points tend to.  The distance is squared from each to the next: a power
of it is at its limit at once, and a logarithm of it doubles or halves.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from family_cases import CONSTRAINED, points_of, scipys

from vecdist.graph.node import const

ROUND = (1.0, 2.0, 0.5, 3.0)
SHARES = (0.5, 0.25, 0.75, 0.5)
COUNTS = (1.0, 2.0, 4.0, 3.0)
PLACES = (0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.5, 2.0)
FROM_ZERO = (1e-37, 1e-74, 1e-148, 1e-296)
FROM_OTHERS = (2.0**-6, 2.0**-12, 2.0**-24, 2.0**-48)  # relative to the number
CLOSE = 5e-3
INFINITE = {"df", "mean", "low", "high"}  # what may be infinite, and not as a number that is added or multiplied
ATOMS = {"Dirac", "HurdleGamma", "HurdleLogNormal"}  # their mass at a point is no limit of the density next to it


@dataclass
class Site:
    """The arguments x and parameters at a point, and those of approaches to it, at most one from each side.

    What is not ``within`` the support has its value as a limit, and partials of 0.
    """

    at: tuple[float, ...]
    sides: list[list[tuple[float, ...]]] = field(default_factory=list)
    within: bool = True


def round_parameters(family):
    """Rows of round numbers as parameters of the first parametrisation by name: equal ones, then others."""
    chosen = {}
    for place, (name, constraint) in enumerate(family.parametrisations[0].constraints.items()):
        bounded = constraint.lower == 0 and constraint.upper == 1
        values = COUNTS if constraint.whole else SHARES if bounded else ROUND
        anywhere = constraint.lower == -np.inf and not constraint.whole
        chosen[name] = np.array(PLACES if anywhere else [*values, *np.roll(values, place)])
    if "low" in chosen:
        chosen["high"] = chosen["low"] + [*ROUND, *ROUND]
        if family.discrete:
            chosen = {name: np.ceil(values) for name, values in chosen.items()}
    for name, constrained in CONSTRAINED.get((family.__name__, (*chosen,)), {}).items():
        chosen[name] = constrained(chosen, np.tile(SHARES, 2))
    return chosen


def towards(end, sign):
    """Numbers that approach an end, from above for a positive sign."""
    if np.isinf(end):
        return [np.sign(end) / distance for distance in FROM_ZERO]
    if end == 0:
        return [sign * distance for distance in FROM_ZERO]
    return [end + sign * abs(end) * distance for distance in FROM_OTHERS]


def sites_of(family):
    """Those of x, and those of parameters."""
    names, parameters = family.parametrisations[0].names, round_parameters(family)
    with np.errstate(all="ignore"):  # a formula to draw by may have no value at a round parameter
        drawn = np.nan_to_num(points_of(family, names, [*parameters.values()]), nan=0.25)
    drawn = drawn if family.discrete else np.where(drawn == 0.0, 0.25, drawn)  # not both x and a parameter at an end
    ends = ends_of(family, parameters)
    found = []
    for place, row in enumerate(zip(*parameters.values(), strict=True)):
        given = dict(zip(names, map(float, row), strict=True))
        found += _sites_of_x(family, ends[place], given)
        if place < len(ROUND):
            points = [0.0, 1.0, float(drawn[place])] if family.discrete else [float(drawn[place])]
            found += [site for x in points for site in _sites_of_parameters(family, x, given)]
    return found


def ends_of(family, parameters):
    """Both ends between which the distribution function rises, for each row."""
    if family.__name__ == "VonMises":
        found = parameters["loc"] - np.pi, parameters["loc"] + np.pi
    else:
        found = scipys(family, family.parametrisations[0].names, [*parameters.values()]).support()
    return np.stack(np.broadcast_arrays(*found, *parameters.values())[:2], axis=-1).tolist()


def _sites_of_x(family, ends, given):
    """Both ends, from inside; kinks, from both sides."""
    way, row = family.parametrisations[0], given.values()
    no_limit = family.discrete or family.__name__ == "VonMises"  # whose ends are no floating-point numbers
    own = family.support(SimpleNamespace(**way.convert(**{name: const(value) for name, value in given.items()})))
    found = []
    for end, sign in zip(ends, (1.0, -1.0), strict=True):
        if np.isfinite(end):
            sides = [] if no_limit else [[(x, *row) for x in towards(end, sign)]]
            found.append(Site((end, *row), sides, not (own.open_lower if sign > 0 else own.open_upper)))
    for kink in {given[name] for name in ("loc", "peak") if name in given} - {*ends}:
        if ends[0] < kink < ends[1]:
            found.append(Site((kink, *row), [[(x, *row) for x in towards(kink, sign)] for sign in (1.0, -1.0)]))
    return found


def _sites_of_parameters(family, x, given):
    """Each that is a real number, where it is, from both sides, and at the ends that it has and may take."""
    for name, constraint in family.parametrisations[0].constraints.items():
        if constraint.whole:
            continue
        own = constraint.among(SimpleNamespace(**given))
        ends = [(own.lower, own.open_lower, (1.0,)), (own.upper, own.open_upper, (-1.0,))]
        for end, is_open, signs in [*ends, (given[name], False, (1.0, -1.0))]:
            if not is_open and (np.isfinite(end) or name in INFINITE):
                row = [*(given | {name: float(end)}).values()]
                near = [[(x, *(given | {name: p}).values()) for p in towards(end, sign)] for sign in signs]
                yield Site((x, *row), near)


def special_points(family, dtype):
    """Rows of x and parameters where x is next to an end, 0, or as small or as large as a number can be."""
    parameters = round_parameters(family)
    info = np.finfo(dtype)
    sizes = [0.0, info.smallest_subnormal, info.tiny, info.max, np.inf]
    rows = []
    columns = [values.astype(dtype) for values in parameters.values()]
    for row, ends in zip(zip(*columns, strict=True), ends_of(family, parameters), strict=True):
        near = [dtype(end) for end in ends]
        next_to = [np.nextafter(end, dtype(way)) for end in near for way in (-np.inf, np.inf) if np.isfinite(end)]
        rows += [(x, *row) for x in (*sizes, *(-size for size in sizes), *next_to)]
    return np.array(rows, dtype)


def limit(values):
    """What numbers tend to along the last axis; NaN where that cannot be told."""
    before, last = values[..., -2], values[..., -1]
    with np.errstate(invalid="ignore", over="ignore"):
        steady = abs(last - before) <= 1e-3 * np.maximum(abs(last), 1e-4)
        grows = (abs(last) > 1.4 * abs(before)) & (np.sign(last) == np.sign(before))
        falls = abs(last) < abs(before) / 1.4
    grown = np.where(grows, np.copysign(np.inf, last), np.where(falls, 0.0, np.nan))
    return np.where(steady | np.isinf(last), last, grown)
