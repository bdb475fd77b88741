"""Random programs of NumPy's functions, judged by NumPy: the value as it is, the gradient by differences.

A program takes arrays of one to three axes through a few steps, each of an array that is there or of two, and adds all
up that no other step has taken.  Numbers stay small; where a direction leads over a kink, another is tried.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from array_operations import BROADCAST, DRAWN, ELEMENTWISE, PAIRS, const, constants_by

from vecdist import lazy, value_and_grad

LENGTHS = (1, 2, 3, 4, 5, 7, 16, 17, 33)
LONG = (129, 1000, 4097)
MOST, LARGE = 6000, 8.0  # elements of an array, and numbers in it
STEPS = (1e-5, 3e-6, 1e-6)


@dataclass(frozen=True)
class Step:
    """A function of the arrays at some places, whose numbers it makes small."""

    name: str
    places: tuple[int, ...]
    function: Callable
    scale: float

    def __call__(self, arrays):
        return self.function(*[arrays[place] for place in self.places]) * self.scale


@dataclass(frozen=True)
class Program:
    """A scalar function of ``arrays``."""

    arrays: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]

    def __call__(self, *arrays):
        every = list(arrays)
        for step in self.steps:
            every.append(step(every))
        taken = {place for step in self.steps for place in step.places if place >= len(arrays)}
        ends = [(place, each) for place, each in enumerate(every) if place not in taken]
        return reduce(lambda total, end: total + (end[1] * const(_weights(*end))).sum(), ends, 0.0)

    def __str__(self):
        steps = ", ".join(f"{step.name} of {step.places}" for step in self.steps)
        return f"{[array.shape for array in self.arrays]}: {steps}"


def _weights(place, array):
    return np.cos(np.arange(array.size) * (place + 1.3)).reshape(array.shape)


def _quietly(function, *arrays):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(function(*arrays))


def program(seed, dtype="f8", long=0.15):
    """The program of a seed; ``long`` is how often the first of its arrays is."""
    rng = np.random.default_rng(seed)
    shapes = [tuple(rng.choice(LENGTHS, rng.integers(1, 4))) for _ in range(int(rng.integers(1, 4)))]
    shapes[0] = (int(rng.choice(LONG)),) if rng.random() < long else shapes[0]
    arrays = [rng.normal(size=shape).astype(dtype).astype("f8") for shape in shapes]
    steps, every, most = [], list(arrays), int(rng.integers(2, 9))
    for _ in range(100):
        made = _step(rng, every)
        if made is not None:
            steps.append(made[0])
            every.append(made[1])
        if len(steps) == most:
            break
    return Program(tuple(array.astype(dtype) for array in arrays), tuple(steps))


def _step(rng, every):
    """A step and what it makes of these arrays, or ``None`` where what was drawn does not fit."""
    place = int(rng.integers(len(every))) if rng.random() < 0.4 else len(every) - 1
    name, function, others = _drawn(rng, every, place)
    places = (place, *others)
    if function is None:
        return None
    try:
        made = _quietly(function, *[every[each] for each in places])
    except (ValueError, np.exceptions.AxisError):  # which NumPy refuses, too
        return None
    if not 0 < made.size <= MOST or made.dtype.kind not in "fi" or not np.isfinite(made).all():
        return None
    largest = float(np.abs(made).max())
    step = Step(name, places, function, 1.0 if largest < LARGE else 3.917 / largest)
    return step, made * step.scale


def _drawn(rng, every, place):
    kind = rng.choice(["elementwise", "drawn", "broadcast", "pairs"], p=[0.25, 0.45, 0.15, 0.15])
    table = {"elementwise": ELEMENTWISE, "drawn": DRAWN, "broadcast": BROADCAST, "pairs": PAIRS}[str(kind)]
    name = str(rng.choice(list(table)))
    if kind == "drawn":
        return name, table[name](rng, every[place]), ()
    if kind == "elementwise":
        return name, table[name], ()
    fitting = [other for other, array in enumerate(every) if kind == "pairs" or _fit(array.shape, every[place].shape)]
    return name, table[name], (int(rng.choice(fitting)),)


def _fit(one, other):
    return all(m == n or 1 in (m, n) for m, n in zip(one[::-1], other[::-1], strict=False))


def check(made, seed, asarray=np.asarray, by_host=np.asarray):
    """Computed by this library, value and gradient are NumPy's."""
    wide = [array.astype("f8") for array in made.arrays]
    truth = float(_quietly(made, *wide))
    tolerance, of_slopes = (1e-9, 3e-4) if made.arrays[0].dtype == np.float64 else (2e-4, 5e-3)
    with constants_by(asarray):
        given = [lazy(asarray(array)) for array in made.arrays]
        value, slopes = value_and_grad(made(*given), given)
    slopes = [by_host(slope).astype("f8") for slope in slopes]
    np.testing.assert_allclose(float(by_host(value)), truth, rtol=tolerance, atol=10 * tolerance)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        ways = [rng.normal(size=array.shape) for array in wide]
        terms = [slope * way for slope, way in zip(slopes, ways, strict=True)]
        size = 1.0 + sum(float(np.abs(each).sum()) for each in terms)
        found = [_difference(made, wide, ways, step) for step in STEPS]
        if max(found) - min(found) < 1e-4 * size:
            assert abs(sum(float(each.sum()) for each in terms) - found[1]) <= of_slopes * size
            return


def _difference(made, arrays, ways, step):
    """The derivative along a way, by differences of NumPy's values."""
    ends = [[array + by * way for array, way in zip(arrays, ways, strict=True)] for by in (step, -step)]
    after, before = (float(_quietly(made, *end)) for end in ends)
    return (after - before) / (2.0 * step)
