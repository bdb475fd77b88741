"""Cases for the simulator: values that slices take to many places, and steps of what must be written out in them."""

import numpy as np

from vecdist import lazy, scan


def smoothed(n, steps):
    """Means of neighbours of means of neighbours: some of them are in memory."""
    given = np.sin(np.arange(float(n)))
    u = lazy(given)
    for _ in range(steps):
        u = np.sin(0.5 * (u[1:] + u[:-1]) + 0.1)
    return ((u * u).sum(), u), (given,)


def turned(n, steps):
    """A ring, whose joined ends move on with each step."""
    given = np.cos(np.arange(float(n)))
    u = lazy(given)
    for _ in range(steps):
        u = np.cos(u + 0.1 * (np.roll(u, 1) - np.roll(u, -1)))
    return ((u * u).sum(),), (given,)


def stages(steps):
    """A system of three equations, of two stages in each step, whose state is stacked."""
    start, rate = np.array([0.9, 0.1, 0.0]), np.array(0.4)

    def slope(s):
        met = lazy(rate) * s[0] * s[1]
        return np.stack([-met, met - 0.2 * s[1], 0.2 * s[1]])

    def step(s, _):
        s = s + slope(s + 0.1 * slope(s))
        return s, s[1] + s[2] ** 2

    return (scan(step, lazy(start), None, length=steps)[1].sum(),), (start, rate)


def indexed(steps):
    """A step that picks, sorts and adds up along the carry."""
    start, picks = np.array([0.3, -0.2, 0.5, 0.1]), np.arange(steps) * 3 % 4

    def step(s, pick):
        found = np.cos(s[pick]) + np.sort(s)
        return 0.5 * np.cumsum(found) * np.array([1.0, -0.5, 0.3, 0.2]) + np.median(s), s[::-1][pick]

    return (scan(step, lazy(start), picks)[1].sum(),), (start,)


def solved(steps):
    """A step that solves a small system, and takes its determinant."""
    start, own = np.array([0.3, -0.2]), np.array([[2.0, 0.4], [-0.3, 1.5]])

    def step(s, x):
        a = lazy(own) + np.stack([s, s * s])
        return np.linalg.solve(a, s + x) + 0.1 * np.linalg.slogdet(a)[1], s * s

    return (scan(step, lazy(start), np.sin(np.arange(float(steps))))[1].sum(),), (start, own)


def rings(rows, steps, cells=5):
    """Rings side by side, whose stages are in memory of a turn, for the loops along the ring that read them."""
    start = np.sin(np.arange(float(rows * cells))).reshape(rows, cells)

    def slope(u):
        return np.roll(u, 1, -1) - 2.0 * u + np.roll(u, -1, -1) + 0.1 * np.sin(u)

    def step(u, _):
        u = u + 0.1 * slope(u + 0.05 * slope(u + 0.02 * slope(u)))
        return u, (u * u).sum(axis=-1)

    return (scan(step, lazy(start), None, length=steps)[1].sum(),), (start,)


def filtered(steps):
    """A Kalman filter, whose products of matrices are read by other products."""
    rng = np.random.default_rng(3)
    move, noise, seen = 0.4 * rng.normal(size=(3, 3)), np.array(0.5), rng.normal(size=steps)

    def step(state, y):
        m, p = state
        m, p = lazy(move) @ m, lazy(move) @ p @ lazy(move).T + lazy(noise) * np.eye(3)
        gain = p[:, 0] / (p[0, 0] + 1.0)
        return (m + gain * (y - m[0]), p - gain[:, None] * p[0]), m[0] * y + p[0, 0]

    return (scan(step, (np.zeros(3), np.eye(3)), lazy(seen))[1].sum(),), (move, noise)


def cases():
    """What to compute and where to differentiate, in how many blocks, with how many lanes in a team."""
    return {
        "slices of slices, in memory": (smoothed(70, 6), 1, 1),
        "a ring that turns, in memory": (turned(40, 4), 1, 1),
        "stages of a system in steps": (stages(5), 1, 1),
        "steps that pick, sort and add up": (indexed(5), 1, 1),
        "steps that solve small systems": (solved(4), 1, 1),
        "rings in steps, side by side": (rings(70, 2), 1, 1),
        "long rings in steps": (rings(3, 3, 40), 1, 1),
        "one long ring in steps": (rings(1, 3, 70), 1, 1),
        "a filter in steps": (filtered(4), 1, 1),
    }
