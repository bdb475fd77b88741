"""Parameters over six decades, and points in the middle, in both tails and at the edges of each family.

All are drawn anew for each seed, and differ from family to family: what was mended at the points of one seed is judged
by those of another.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import balls  # noqa: F401 (which makes tests/distributions importable)
import numpy as np
from family_cases import scipys

Arrays = dict[str, np.ndarray]
Family = type[Any]

# Parameters within bounds that others set: by what is drawn and 0 < u < 1.
BOUND: dict[str, dict[str, Callable[[Arrays, np.ndarray], np.ndarray]]] = {
    "GeneralizedExtremeValue": {"shape": lambda p, u: np.copysign(1e-6 ** (1 - u), u - 0.5)},
    "GeneralizedPareto": {"shape": lambda p, u: np.copysign(1e-6 ** (1 - u), u - 0.5)},
    "Hypergeometric": {"draws": lambda p, u: np.ceil((p["successes"] + p["failures"]) * u)},
    "NormalInverseGaussian": {"beta": lambda p, u: p["alpha"] * (2 * u - 1)},
    "Pert": {"peak": lambda p, u: p["low"] + (p["high"] - p["low"]) * u},
    "Soliton": {"m": lambda p, u: np.ceil(p["k"] * u)},
    "Triangular": {"peak": lambda p, u: p["low"] + (p["high"] - p["low"]) * u},
    "Zipf": {"power": lambda p, u: 1 + 10 ** (4 * u - 3)},
}
SLOW_QUANTILES = {  # or none, or in gigabytes
    "NormalInverseGaussian", "SkewNormal", "Skellam", "Rice", "NoncentralChi2", "BetaBinomial", "YuleSimon", "Zipf",
}


def stream(seed: int, family: Family, what: str) -> np.random.Generator:
    """Random numbers of their own for what is drawn of a family."""
    return np.random.default_rng([seed, zlib.crc32(f"{family.__name__} {what}".encode())])


def parameters(family: Family, dtype: type, count: int, seed: int) -> Arrays:
    """Valid parameters, each over six decades."""
    rng = stream(seed, family, "parameters")
    drawn = {name: values(rng, kind, count) for name, kind in family.parametrisations[0].constraints.items()}
    if "high" in drawn:
        length = np.ceil(decades(rng, count)) if family.discrete else decades(rng, count)
        drawn["high"] = drawn["low"] + length
    drawn |= {name: bound(drawn, rng.uniform(0, 1, count)) for name, bound in BOUND.get(family.__name__, {}).items()}
    rounded = {name: array.astype(dtype) for name, array in drawn.items()}
    if "high" in rounded:
        rounded["high"] = np.maximum(rounded["high"], np.nextafter(rounded["low"], dtype(np.inf)))
    if "peak" in rounded:
        rounded["peak"] = np.clip(rounded["peak"], rounded["low"], rounded["high"])
    if family.__name__ == "NormalInverseGaussian":
        most = np.nextafter(rounded["alpha"], dtype(0))
        rounded["beta"] = np.clip(rounded["beta"], -most, most)
    return rounded


def decades(rng: np.random.Generator, count: int, low: float = -3.0, high: float = 3.0) -> np.ndarray:
    return 10.0 ** rng.uniform(low, high, count)


def values(rng: np.random.Generator, kind: Any, count: int) -> np.ndarray:
    """Numbers that a constraint allows."""
    if kind.whole:
        return np.ceil(decades(rng, count, 0, 5) * (1 if kind.lower != -np.inf else rng.choice([-1, 1], count)))
    if kind.upper == 1.0:
        near = decades(rng, count, -6, np.log10(0.5))
        return np.where(rng.uniform(size=count) < 0.5, near, 1 - near)
    if kind.lower == 0.0:
        return decades(rng, count)
    return decades(rng, count) * rng.choice([-1, 1], count)


def points(family: Family, drawn: Arrays, seed: int) -> np.ndarray:
    """For each row of parameters a point: a third each in the bulk, in the tails and at any size; some at the ends."""
    if family.__name__ == "Dirac":
        return drawn["value"]
    rng = stream(seed, family, "points")
    arrays = [*drawn.values()]
    dtype, count = arrays[0].dtype.type, len(arrays[0])
    oracle = scipys(family, family.parametrisations[0].names, arrays)
    ends = (np.broadcast_to(end, count) for end in oracle.support())
    lower, upper = (np.nan_to_num(end, posinf=np.inf, neginf=-np.inf) for end in ends)
    if "low" in drawn:  # SciPy's are rounded
        lower, upper = drawn["low"], drawn["high"]
    x = anywhere(rng, drawn, lower, count)
    with np.errstate(all="ignore"):
        quantiles = probable(rng, family, oracle, count)
        kind = np.arange(count) % 3
        x = np.where((kind < 2) & np.isfinite(quantiles), quantiles, x)
        most = np.finfo(dtype).max / 4
        x = np.clip(np.rint(x) if family.discrete else x, -most, most).astype(dtype)
        first, last = inside(drawn, dtype, lower, upper, family.discrete or "gate" in drawn)
        least = 1e-29 if "gate" in drawn and not family.discrete else -np.inf
        x = at_edges(np.clip(x, np.maximum(first, least), last), first, last, 31)
        return at_edges(x, lower, upper, 15).astype(dtype)


def probabilities(family: Family, dtype: type, count: int, seed: int) -> np.ndarray:
    """Two thirds of the middle, the others next to 0 and to 1 in turns."""
    rng = stream(seed, family, "probabilities")
    middle, tail = rng.uniform(0, 1, count), decades(rng, count, -15, -1)
    place, most = np.arange(count) % 6, np.nextafter(dtype(1), dtype(0))
    return np.minimum(np.where(place == 1, tail, np.where(place == 4, 1 - tail, middle)).astype(dtype), most)


def probable(rng: np.random.Generator, family: Family, oracle: Any, count: int) -> np.ndarray:
    """Quantiles of the middle and of both tails, or draws where SciPy has none or takes long."""
    if not hasattr(oracle, "ppf") or family.__name__ in SLOW_QUANTILES:
        try:
            return np.asarray(oracle.rvs(random_state=rng, size=count), float)
        except ValueError:  # parameters beyond what the generator takes
            return np.full(count, np.nan)
    middle, tail, place = rng.uniform(0, 1, count), decades(rng, count, -15, -1), np.arange(count) % 6
    try:
        middle, low, high = oracle.ppf(middle), oracle.ppf(tail), oracle.isf(tail)
    except RuntimeError:  # a search for roots that does not end
        return np.full(count, np.nan)
    return np.where(place == 1, low, np.where(place == 4, high, middle))


def anywhere(rng: np.random.Generator, drawn: Arrays, lower: np.ndarray, count: int) -> np.ndarray:
    """Points over six decades from the location, in units of the scale."""
    away = decades(rng, count) * drawn.get("scale", 1.0)
    if np.isfinite(lower).all():
        return lower + (np.ceil(decades(rng, count, -1, 4)) if "n" in drawn else away)
    return drawn.get("loc", 0.0) + away * rng.choice([-1, 1], count)


def inside(drawn: Arrays, dtype: type, lower: np.ndarray, upper: np.ndarray, masses: bool) -> tuple[np.ndarray, ...]:
    """The first and the last number of the support that floats can tell from what is outside."""
    if masses:
        return lower, upper
    room = 64 * np.finfo(dtype).eps * sum(abs(drawn[name]) for name in ("loc", "scale", "radius") if name in drawn)
    room = np.zeros(lower.shape) if "low" in drawn else np.minimum(room, (upper - lower) / 4)
    ends = [(lower.astype(dtype), lower + room, upper), (upper.astype(dtype), upper - room, lower)]
    near = ((end, moved, np.nextafter(moved.astype(dtype), other)) for end, moved, other in ends)
    first, last = (
        np.where(np.isinf(end), end, np.where(end == 0, np.sqrt(np.finfo(dtype).tiny) + moved - end, next_to))
        for end, moved, next_to in near
    )
    return first, last


def at_edges(x: np.ndarray, first: np.ndarray, last: np.ndarray, at: int) -> np.ndarray:
    """Of every 64 points, one at each finite end."""
    place = np.arange(len(x)) % 64
    x = np.where((place == at) & np.isfinite(first), first, x)
    return np.where((place == at + 32) & np.isfinite(last), last, x)
