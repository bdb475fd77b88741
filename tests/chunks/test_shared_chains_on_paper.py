"""Chains shared by GPUs that are not there: what is copied between them is there when it is read, in every order."""

import numpy as np
import pytest
from gpus_on_paper import Array, gpus

import vecdist
from vecdist import devices
from vecdist.graph.node import topological
from vecdist.samplers import shared
from vecdist.samplers.density import Target
from vecdist.samplers.hamiltonian import Phase, State

NDIM = 3
NAMES = ("log_density", "energy", "acceptance", "divergent")


class Moving:
    """As ``Dynamics``, but a draw does what is easily said: it is asked of the stream, which does it some time."""

    def __init__(self, target, keys, dense, groups):
        library = target.library
        self.keys, self.library, self.world = keys, library, keys.world
        self.step, self.scale = library.ones(len(keys)), library.ones(NDIM)
        self.now, self.phase = State.empty(library, len(keys), NDIM), Phase.empty(library, len(keys), NDIM)
        assert sum(groups) == len(keys)

    @property
    def state(self):
        return self.now

    def _do(self, task):
        assert self.world.device == self.keys.number
        self.world.ask(task)

    def draw(self, steps):
        def drawn():
            record, step = self.now.record, self.step.host
            record.number.host[...] += 1.0
            moved = record.position.host + steps * (step * self.keys.host)[:, None] * self.scale.host
            record.position.host[...] = self.phase.position.host[...] = moved
            for place, name in enumerate(NAMES):
                getattr(record, name).host[...] = moved.sum(axis=1) + place
            self.phase.momentum.host[...], self.phase.gradient.host[...] = -moved, 2.0 * moved

        self._do(drawn)

    def proposal(self, steps):
        return self.phase

    def evaluate(self, positions):
        assert positions.number == self.keys.number

        def evaluated():
            self.now.record.position.host[...] = positions.host
            self.now.record.log_density.host[...] = positions.host.sum(axis=1)
            self.now.gradient.host[...] = positions.host * self.scale.host

        self._do(evaluated)


def with_more_of(cupy):
    """What dynamics ask for when they are made."""
    cupy.ones, cupy.zeros = (lambda shape, make=make: cupy.asarray(make(shape)) for make in (np.ones, np.zeros))
    return cupy


def trajectory(numbers, chains, pieces, seed):
    """All that the leading GPU has, after each of some draws."""
    with gpus(seed), pytest.MonkeyPatch.context() as patched:
        import cupy

        library, rng = with_more_of(cupy), np.random.default_rng(7)
        patched.setattr(shared, "Dynamics", Moving)
        group = devices(numbers, pieces=pieces)
        target = Target(None, lambda x: (x * 1.0).sum(), NDIM, "cuda", group)
        with group.group.leading():
            keys = library.asarray(rng.normal(size=chains))
            made = shared.SharedDynamics(target, keys, np.ones(NDIM))
            made.step[...] = library.asarray(rng.normal(size=chains))
            made.scale[...] = library.asarray(rng.normal(size=NDIM))
            made.evaluate(library.asarray(rng.normal(size=(chains, NDIM))))
            found = [made.state.gradient.get(), made.state.record.position.get()]
            for steps in (1, 4, 2):
                made.step[...] = made.step * 1.5
                made.draw(steps)
                record, phase = made.state.record, made.proposal(steps)
                found += [array.get() for array in (record.memory, made.previous.record.position)]
                found += [array.get() for array in (phase.position, phase.momentum, phase.gradient)]
            made.rescale(np.arange(1.0, 1.0 + NDIM))
            return [*found, made.state.gradient.get()]


@pytest.mark.parametrize("seed", range(6))
def test_any_gpus_in_any_order_of_streams_give_what_one_gives(seed):
    rng = np.random.default_rng(seed)
    chains, pieces = int(rng.integers(1, 14)), int(rng.integers(3, 9))
    wanted = trajectory([0], chains, pieces, 0)
    for numbers in ([0, 0], [0, 1, 2], [3, 1]):
        found = trajectory(numbers, chains, pieces, seed)
        for mine, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, other)
    assert not np.array_equal(wanted[0], wanted[-1]) and not (wanted[2] == -99).any()


def test_arrays_of_a_density_are_copied_to_each_gpu_once():
    with gpus() as world:
        import cupy

        with_more_of(cupy)
        y, z = cupy.asarray(np.arange(4.0)), vecdist.data(cupy.asarray(np.ones(4)))
        target = Target(None, lambda x: (x[0] * y * z).sum(), NDIM, "cuda", devices([0, 2]))
        by_device = {}
        for number in (0, 2, 2):
            with cupy.cuda.Device(number):
                there = by_device.setdefault(number, target.there())
                value = there.value(there.vector)
                leaves = [node.attrs[0] for node in topological((value.node,)) if node.op == "leaf"]
                there = [leaf.array for leaf in leaves if isinstance(leaf.array, Array)]
                assert len(there) == 3 and all(array.number == number for array in there)
                assert [leaf.constant for leaf in leaves if leaf.array.shape == (4,)].count(True) == 1
        assert world.copies == 2
