"""The No-U-Turn sampler written down as its papers say it, with lists of all that was seen and no cleverness.

Random numbers are those of the machine, in the order of its events, so that draws can be compared one by one.
"""

import math

import numpy as np

from vecdist.samplers.trees.draws import normal, uniform


class Listed:
    """One chain: ``density`` gives the value and the gradient at a point; A A^T is the metric."""

    def __init__(self, density, key, start, step, factor, deepest):
        self.density, self.key, self.step, self.deepest, self.event = density, np.uint64(key), step, deepest, 0
        self.factor = np.diag(factor) if np.ndim(factor) == 1 else np.asarray(factor)
        self.point = np.array(start, float)

    def uniform(self):
        self.event += 1
        return uniform(self.key, self.event - 1)

    def gradient(self, x):
        value, slopes = self.density(x)
        return value, self.factor.T @ slopes

    def leapfrog(self, leaf, way):
        x, r, h = leaf["x"], leaf["r"], leaf["h"]
        half = r + 0.5 * way * self.step * h
        x = x + way * self.step * self.factor @ half
        value, h = self.gradient(x)
        r = half + 0.5 * way * self.step * h
        return {"x": x, "r": r, "h": h, "value": value, "energy": 0.5 * r @ r - value}

    def turned(self, leaves):
        """Whether the ends of a path move towards each other: momenta are summed, by half those at the ends."""
        first, last = leaves[0]["r"], leaves[-1]["r"]
        between = sum(leaf["r"] for leaf in leaves) - 0.5 * (first + last)
        return between @ first <= 0.0 or between @ last <= 0.0

    def weight(self, root, leaf):
        """In long numbers, which do not underflow between the energies of two leaves that are not divergent."""
        return np.exp(np.longdouble(root["energy"] - leaf["energy"]))

    def draw(self):
        """The next draw: the chosen leaf, the mean acceptance, whether it diverged, the steps, and all leaves."""
        momentum = np.array([normal(self.key, place, self.event) for place in range(len(self.point))])
        self.event += 1
        value, h = self.gradient(self.point)
        root = {"x": self.point, "r": momentum, "h": h, "value": value, "energy": 0.5 * momentum @ momentum - value}
        tree, chosen, accepted, divergent = [root], root, [], False
        for depth in range(self.deepest):
            way = 1 if self.uniform() < 0.5 else -1
            part, own, whole = [], None, False
            edge = tree[-1] if way == 1 else tree[0]
            for number in range(2**depth):
                edge = self.leapfrog(edge, way)
                error = edge["energy"] - root["energy"]
                accepted.append(math.exp(min(0.0, -error)) if error == error else 0.0)
                if not error < 1000.0:
                    divergent = True
                    break
                part.append(edge)
                weights = [self.weight(root, leaf) for leaf in part]
                if self.uniform() < weights[-1] / sum(weights):
                    own = edge
                ends = [size for size in (2**k for k in range(1, depth + 1)) if (number + 1) % size == 0]
                if any(self.turned(part[-size:]) for size in ends):
                    break
            else:
                whole = True
            if not whole:
                break
            old = sum(self.weight(root, leaf) for leaf in tree)
            if self.uniform() < sum(weights) / old:
                chosen = own
            tree = tree + part if way == 1 else part[::-1] + tree
            if self.turned(tree):
                break
        self.point = chosen["x"]
        return chosen, np.mean(accepted), divergent, len(accepted)
