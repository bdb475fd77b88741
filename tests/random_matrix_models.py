"""Random models with matrices, as users write them by ``np.linalg``: drawn from a seed, for every array library.

A model is a sum of terms: densities of vectors whose covariances are made of parameters in some way, written by a
factor, a solution, an inverse or a determinant, or by a family; and functions of matrices of any kind.
"""

import numpy as np
from plain_arrays import of
from random_models import Given, Model

from vecdist import logpdf
from vecdist.distributions import MvNormal

ROWS = (1, 2, 3, 4, 5, 6, 8, 9, 12, 17, 31, 32, 33, 40, 65)
LEADS = ((), (), (), (3,), (20,), (2, 2))


class _Draft:
    """What has been drawn of a model so far."""

    def __init__(self, seed):
        self.rng = np.random.default_rng([20261129, seed])
        self.given, self.parameters, self.said = {}, [], []
        self.dtype = ("f8", "f8", "f4")[self.rng.integers(3)]
        self.rows = int(ROWS[self.rng.integers(len(ROWS))])
        self.lead = LEADS[self.rng.integers(len(LEADS))] if self.rows < 33 else ()

    def one_of(self, *options):
        return options[self.rng.integers(len(options))]

    def array(self, kind, scale, *shape):
        return self.named(kind, scale * self.rng.normal(size=shape))

    def named(self, kind, values):
        name = f"{kind}{len(self.given)}"
        self.given[name] = Given.of(values.astype(self.dtype), "dense")
        if kind == "p":
            self.parameters.append(name)
        return name

    def definite(self):
        """Positive definite matrices."""
        way, unit = self.one_of("product", "kernel", "few", "scaled"), self.named("d", np.eye(self.rows))
        self.said.append(way)
        if way == "product":
            w = self.array("p", 0.5, *self.lead, self.rows, self.rows)
            return lambda a: of(a, w) @ of(a, w).mT + of(a, unit)
        if way == "few":
            w, d = self.array("p", 0.5, *self.lead, self.rows, 2), self.array("p", 0.3, *self.lead, self.rows)
            return lambda a: of(a, w) @ of(a, w).mT + np.exp(of(a, d))[..., None] * of(a, unit)
        if way == "scaled":
            s, x = self.array("p", 0.3, *self.lead, self.rows), self.array("d", 0.4, self.rows, self.rows)
            scales = lambda a: np.exp(of(a, s)[..., :, None] + of(a, s)[..., None, :])  # noqa: E731
            return lambda a: scales(a) * (of(a, x) @ of(a, x).mT + of(a, unit))
        length, noise, x = self.array("p", 0.3, *self.lead), self.array("p", 0.3), self.array("d", 1.5, self.rows)

        def kernel(a):
            apart = (of(a, x)[:, None] - of(a, x)) ** 2
            far = np.exp(-0.5 * apart * np.exp(of(a, length))[..., None, None])
            return far + of(a, unit) * (0.1 + np.exp(of(a, noise)))

        return kernel

    def general(self):
        """Matrices that are far from singular, and need their rows exchanged."""
        w, turn = self.array("p", 0.3, *self.lead, self.rows, self.rows), self.rng.permutation(self.rows)
        unit, root = self.named("d", 2.0 * np.eye(self.rows)[turn]), float(np.sqrt(self.rows))
        return lambda a: of(a, w) / root + of(a, unit)

    def density(self):
        """A normal log density of each vector, by one of the ways to write it."""
        covariance, y = self.definite(), self.array(self.one_of("p", "d"), 1.0, *self.one_of(self.lead, ()), self.rows)
        way = self.one_of(*DENSITIES)
        self.said.append(way)
        return lambda a: DENSITIES[way](covariance(a), of(a, y)).sum()

    def function(self):
        """A function of matrices of any kind."""
        matrix, way = self.general(), self.one_of(*FUNCTIONS)
        kind = "d" if way in {"determinant", "trace"} else self.one_of("p", "d")
        b = self.array(kind, 1.0, *self.lead, self.rows, self.one_of(1, 2, 5))
        self.said.append(way)
        return lambda a: FUNCTIONS[way](matrix(a), of(a, b)).sum()


def _column(x):
    return x[..., None]


def _by_factor(a, y):
    factor = np.linalg.cholesky(a)
    z = np.linalg.solve(factor, _column(y))[..., 0]
    return -0.5 * (z**2).sum(-1) - np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)


def _by_factor_twice(a, y):
    factor = np.linalg.cholesky(a)
    near = np.linalg.solve(factor.mT, np.linalg.solve(factor, _column(y)))[..., 0]
    return -0.5 * (y * near).sum(-1) - np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)


def _by_family(a, y):
    if isinstance(a, np.ndarray):
        return _by_factor(a, y) - 0.5 * y.shape[-1] * np.log(2.0 * np.pi)
    return logpdf(MvNormal(0.0 * y, a), y)


DENSITIES = {
    "factor": _by_factor, "factor twice": _by_factor_twice, "family": _by_family,
    "solution": lambda a, y: -0.5 * (y * np.linalg.solve(a, _column(y))[..., 0]).sum(-1)
    - 0.5 * np.linalg.slogdet(a)[1],
    "inverse": lambda a, y: -0.5 * (np.linalg.inv(a) * y[..., None] * y[..., None, :]).sum((-2, -1))
    - 0.5 * np.log(np.linalg.det(a)),
    "factor and solution": lambda a, y: -0.5 * (y * np.linalg.solve(a, _column(y))[..., 0]).sum(-1)
    - np.log(np.diagonal(np.linalg.cholesky(a), axis1=-2, axis2=-1)).sum(-1),
}  # fmt: skip
FUNCTIONS = {
    "solved": lambda a, b: np.sin(np.linalg.solve(a, b)), "inverted": lambda a, b: np.cos(np.linalg.inv(a) @ b),
    "determinant": lambda a, b: 0.1 * np.linalg.slogdet(a)[1] * np.linalg.slogdet(a)[0],
    "solved twice": lambda a, b: np.tanh(np.linalg.solve(a.mT, np.linalg.solve(a, b))),
    "trace": lambda a, b: np.trace(np.linalg.inv(a), axis1=-2, axis2=-1) * 0.3,
}  # fmt: skip


def model(seed, terms=2):
    """The model of a seed."""
    draft = _Draft(seed)
    drawn = [draft.one_of(draft.density, draft.density, draft.function)() for _ in range(1 + draft.rng.integers(terms))]
    given = {name: draft.given[name] for name in sorted(draft.given, key=lambda name: name not in draft.parameters)}
    return Model(seed, " + ".join(draft.said), tuple(drawn), given, tuple(draft.parameters), np.dtype(draft.dtype))
