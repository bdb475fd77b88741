"""Turns written out as a function compute, to the bit, what the interpreter does call by call; of one element, too."""

import numpy as np
import pytest
import random_loops
from reference import interpreted, numbered

from vecdist.graph.node import topological
from vecdist.passes.expand import expand
from vecdist.runtime import interpreter
from vecdist.runtime.interpreter import Program

ROUND = [-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0, np.inf, np.nan]


def numbers(rng, dtype, count=12):
    if dtype.kind == "f":
        chosen = np.where(rng.random(count) < 0.4, rng.choice(ROUND, count), rng.normal(scale=3.0, size=count))
        return chosen.astype(dtype)
    return rng.integers(0, 2 if dtype.kind == "b" else 5, count).astype(dtype)


def bits(value):
    """All of a value but the signs of what is not a number."""
    value = np.array(value)
    if value.dtype.kind == "f":
        value[np.isnan(value)] = np.nan
    return value.dtype, value.tobytes()


def turns(seed, dtype):
    """What each loop of a random program does in a turn, its derivatives and loops inside it included."""
    roots, _ = numbered(random_loops.program(seed, dtype).roots())
    return {part for node in topological(expand(roots)) if node.op == "loop"
            for part in (node.attrs[0].news, (node.attrs[0].test,))}  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_turn_is_the_same_of_arrays_and_of_numbers(seed):
    rng = np.random.default_rng(seed)
    for part in turns(seed, ("f8", "f4")[seed % 2]):
        program = Program(expand(part))
        leaves = {node.attrs[0]: node.dtype for node in topological(program.roots) if node.op == "local"}
        arrays = [numbers(rng, leaves.get(place, np.dtype("f8"))) for place in range(max(leaves, default=-1) + 1)]
        of_arrays, of_numbers = program._written
        with np.errstate(all="ignore"):
            wanted = program.values(arrays, int)
            for found, value in zip(of_arrays(arrays, int), wanted, strict=True):
                assert bits(found) == bits(value)
            for element in range(12):
                found = of_numbers([each[element] for each in arrays], int)
                apart = program.values([each[element : element + 1] for each in arrays], int)
                for number, value in zip(found, apart, strict=True):
                    assert bits(number) == bits(value)


@pytest.mark.parametrize("elements", [1, 3, 6])
@pytest.mark.parametrize("seed", range(20, 32))
def test_loops_end_with_the_same_carries(seed, elements, monkeypatch):
    """From the first turn on, and never: elements that end, are not active, have a NaN, or go on for too long."""
    roots = random_loops.program(seed, ("f8", "f4")[seed % 2], elements).roots()
    both = []
    for often in (-1, 10**9):
        monkeypatch.setattr(interpreter, "OFTEN", often)
        interpreter._expanded.cache_clear()
        both.append(interpreted(roots))
    for found, wanted in zip(*both, strict=True):
        assert bits(found) == bits(wanted)
