"""Views of what was joined: random programs that join arrays and take them apart, beside NumPy's and complex steps."""

import numpy as np
import pytest
from interpreting import by_interpreter

from vecdist import lazy, scan, value_and_grad
from vecdist.graph.node import topological

MOVES = (
    lambda rng, a: a[rng.integers(-len(a), len(a))],
    lambda rng, a: a[rng.integers(0, len(a)) :],
    lambda rng, a: a[:: int(rng.choice([-2, -1, 2]))],
    lambda rng, a: a[..., rng.integers(0, a.shape[-1]), None],
    lambda rng, a: a[None, ..., :1],
    lambda rng, a: a[: rng.integers(1, len(a) + 1)],
    lambda rng, a: a.T,
    lambda rng, a: np.roll(a, int(rng.integers(-2, 3)), 0),
    lambda rng, a: np.flip(a),
    lambda rng, a: a.reshape(-1),
)
MAPS = (np.sin, lambda a: np.exp(-0.3 * a), lambda a: a * a, lambda a: 0.5 - a, lambda a: a / (2.0 + a * a))


def program(seed, arrays):
    """Steps that depend on shapes alone; what is left at last, as one number."""
    rng = np.random.default_rng(seed)
    pool = list(arrays)
    for _ in range(rng.integers(4, 12)):
        a = pool[rng.integers(len(pool))]
        match rng.integers(4):
            case 0 if a.ndim and a.shape[0]:
                pool.append(MOVES[rng.integers(len(MOVES))](rng, a))
            case 1 if a.ndim < 3:
                like = [each for each in pool if each.shape == a.shape]
                parts = [like[place] for place in rng.integers(len(like), size=rng.integers(1, 5))]
                pool.append(np.stack(parts, axis=int(rng.integers(a.ndim + 1))))
            case 2 if a.ndim:
                like = [each for each in pool if each.shape[1:] == a.shape[1:] and each.ndim == a.ndim]
                pool.append(np.concatenate([a, *(like[place] for place in rng.integers(len(like), size=2))]))
            case _:
                like = [each for each in pool if each.shape in (a.shape, ()) or each.shape[1:] == a.shape]
                a = a * like[rng.integers(len(like))] + 0.1
                pool.append(MAPS[rng.integers(len(MAPS))](a))
        if pool[-1].size == 0 or pool[-1].size > 300 or pool[-1].ndim > 4:
            pool.pop()
    return sum((each * (0.3 + place)).sum() for place, each in enumerate(pool))


@pytest.mark.parametrize("seed", range(150))
def test_random_joins(seed):
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=shape) for shape in ((), (), (3,), (2, 3), (20,))]
    with by_interpreter():
        value, slopes = value_and_grad(program(seed, [lazy(each) for each in arrays]), wrt=tuple(arrays))
    np.testing.assert_allclose(value, program(seed, arrays), rtol=1e-12, atol=1e-12)
    for place, slope in enumerate(slopes):
        along = rng.normal(size=arrays[place].shape)
        moved = [each + 1e-30j * along if place == at else each for at, each in enumerate(arrays)]
        wanted = program(seed, moved).imag / 1e-30
        np.testing.assert_allclose((slope * along).sum(), wanted, rtol=1e-10, atol=1e-10 * max(1.0, abs(wanted)))


@pytest.mark.parametrize("seed", [3, 41, 77, 140])
def test_kernels_of_random_joins(seed):
    arrays = [np.random.default_rng(seed).normal(size=shape) for shape in ((), (), (3,), (2, 3), (20,))]
    value, slopes = value_and_grad(program(seed, [lazy(each) for each in arrays]), wrt=tuple(arrays))
    with by_interpreter():
        wanted, others = value_and_grad(program(seed, [lazy(each) for each in arrays]), wrt=tuple(arrays))
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    for slope, other in zip(slopes, others, strict=True):
        np.testing.assert_allclose(slope, other, rtol=1e-9, atol=1e-9)


def test_what_was_stacked_is_itself():
    a, b = lazy(np.array(1.0)), lazy(np.array(2.0))
    x, y = lazy(np.arange(3.0)), lazy(np.arange(4.0))
    assert np.stack([a, b])[1].node is b.node
    assert np.concatenate([x, y])[3:].node is y.node
    assert np.stack([x, 2.0 * x], axis=1)[:, 0].node is x.node
    found = (3.0 * np.exp(np.stack([a, b])))[0]
    assert "where" not in {node.op for node in topological([found.node])}


def test_places_may_be_converted():
    """As numbers of a histogram's boxes are."""
    x = lazy(np.array([1.0, 2.0, 3.0]))
    found = np.where(np.stack([x[0], x[1]]) < 1.5, np.arange(2).astype("f4"), np.stack([x[1], x[2]]))
    assert [float(found[0]), float(found[1])] == [0.0, 3.0]
    counts = np.histogram(x, 2)[0]
    assert [float(counts[0]), float(counts[1])] == [1.0, 2.0]


def test_long_arrays_are_left_to_loops():
    """What is computed for all of it is not computed again for a slice."""
    x = lazy(np.arange(30.0))
    whole = np.exp(np.roll(x, 1))
    assert whole[1:].node.op == "view" and whole[1:].node.args[0] is whole.node


def states(turns):
    """A system of three equations by Runge's and Kutta's rule, whose state is stacked in each of many stages."""

    def slope(s):
        met = 0.4 * s[0] * s[1]
        return np.stack([-met, met - 0.2 * s[1], 0.2 * s[1]])

    def step(s, _):
        for _ in range(turns):
            first = slope(s)
            second = slope(s + 0.1 * first)
            third = slope(s + 0.1 * second)
            s = s + 0.2 / 6.0 * (first + 2.0 * second + 2.0 * third + slope(s + 0.2 * third))
        return s, s[1]

    return step


def test_stages_of_a_system_are_numbers():
    (root,) = [states(6)(lazy(np.array([0.9, 0.1, 0.0])), None)[0].node]
    views = [node for node in topological([root]) if node.op == "view" and node.args[0].ndim]
    assert {node.args[0].op for node in views} <= {"leaf", "position"}


def test_systems_in_steps():
    """Each stage doubled the ways to the state before: sixteen stages never came to an end."""
    start = np.array([0.9, 0.1, 0.0])
    step, state, wanted = states(4), start, []
    for _ in range(5):
        state, infected = step(state, None)
        wanted.append(infected)
    found = scan(step, lazy(start), None, length=5)[1]
    value, slope = value_and_grad(found.sum(), wrt=start)
    np.testing.assert_allclose(value, sum(wanted), rtol=1e-13)
    along = np.array([0.2, -0.5, 0.3])
    moved, total = start + 1e-30j * along, 0.0
    for _ in range(5):
        moved, infected = step(moved, None)
        total = total + infected
    np.testing.assert_allclose(slope @ along, total.imag / 1e-30, rtol=1e-12)
