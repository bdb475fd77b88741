"""Random models of layers, as users write networks, factors and choices: drawn from a seed, for every array library.

Rows of data go through layers, each of which makes other columns of them by matrices of parameters, groups, distances
or what the columns themselves say; what comes out is where rows are observed, or which of the columns they chose.
"""

import numpy as np
from plain_arrays import of
from random_models import Given, Model
from scipy import special, stats

import vecdist
from vecdist import logpdf
from vecdist.distributions import Bernoulli, Laplace, Normal, Poisson

ROWS = (1, 2, 3, 17, 60, 64, 65, 130, 256, 300, 700, 1300, 5000)
WIDTHS = (1, 2, 3, 5, 8, 9, 10, 12, 16, 17, 20, 33, 64)
MOST = 60_000  # elements of a layer


def word(name, x):
    """A function along columns, of NumPy's arrays at once."""
    return getattr(special if isinstance(x, np.ndarray) else vecdist, name)(x, axis=1)


class _Draft:
    """What has been drawn of a model so far: arrays, and the columns of the layer."""

    def __init__(self, seed, rows, widths):
        self.rng = np.random.default_rng([20261129, 2, seed])
        self.given, self.parameters, self.said = {}, [], []
        self.dtype = ("f8", "f4")[self.rng.integers(2)]
        self.rows, self.widths, self.width = int(self.one_of(*rows)), widths, 1

    def one_of(self, *options):
        return options[self.rng.integers(len(options))]

    def new_width(self):
        return int(self.one_of(*(width for width in self.widths if width * self.rows <= MOST)))

    def named(self, kind, values):
        name = f"{kind}{len(self.given)}"
        self.given[name] = Given.of(values.astype(self.dtype) if values.dtype.kind == "f" else values, "dense")
        if kind == "p":
            self.parameters.append(name)
        return name

    def parameter(self, *shape, scale=0.5):
        return self.named("p", scale * self.rng.normal(size=shape))

    def weights(self, width):
        return self.parameter(self.width, width, scale=self.width**-0.5)

    def layers(self):
        self.width = self.new_width()
        x = self.named("d", self.rng.normal(size=(self.rows, self.width)))
        found = lambda a: of(a, x)  # noqa: E731
        for number in range(1 + int(self.rng.integers(4))):
            ways = ["dense"] if number == 0 else [*LAYERS]
            way = self.one_of(*ways)
            self.said.append(way)
            found = LAYERS[way](self, found)
        return found

    def likelihood(self):
        """What rows say, at the end of their layers."""
        layers, way = self.layers(), self.one_of(*ENDS)
        self.said.append(f"{way};")
        return ENDS[way](self, layers)

    def prior(self, name):
        return lambda a: -0.5 * (of(a, name) ** 2).sum()


def _dense(draft, before):
    width = draft.new_width()
    w, b = draft.weights(width), draft.parameter(width) if draft.rng.random() < 0.5 else None
    draft.width, bend = width, draft.one_of(*BENDS.values())
    return lambda a: bend(before(a) @ of(a, w) + (of(a, b) if b else 0.0))


def _transposed_weights(draft, before):
    """Weights whose rows are those of outputs."""
    width = draft.new_width()
    w = draft.parameter(width, draft.width, scale=draft.width**-0.5)
    draft.width = width
    return lambda a: np.tanh(before(a) @ of(a, w).T)


def _factors(draft, before):
    many = int(draft.one_of(1, 2, 4))
    scores, loads = draft.parameter(draft.rows, many), draft.parameter(draft.width, many)
    return lambda a: before(a) + of(a, scores) @ of(a, loads).T


def _groups(draft, before):
    many = int(draft.one_of(1, 3, 50))
    group, table = draft.named("g", draft.rng.integers(0, many, draft.rows)), draft.parameter(many, draft.width)
    return lambda a: before(a) + of(a, table)[a[group]]


def _distances(draft, before):
    many = int(draft.one_of(*(each for each in (1, 2, 7, 12) if each * draft.width * draft.rows <= 2 * MOST), 1))
    centres = draft.parameter(many, draft.width)
    draft.width = many
    return lambda a: np.sqrt(((before(a)[:, None] - of(a, centres)) ** 2).sum(-1) + 0.1)


def _gated(draft, before):
    w = draft.weights(draft.width)

    def gated(a):
        x = before(a)
        return x / (1.0 + np.exp(-(x @ of(a, w))))

    return gated


def _mixed(draft, before):
    """All rows together, a matrix between: what few rows do, as attention does."""
    if draft.rows > 70:
        return _gated(draft, before)

    def mixed(a):
        x = before(a)
        return word("softmax", x @ x.T / draft.width) @ x

    return mixed


def _joined(draft, before):
    if 2 * draft.width * draft.rows > MOST:
        return before
    draft.width += 1
    return lambda a: np.concatenate([before(a), before(a).mean(axis=1, keepdims=True)], axis=1)


def _centred(draft, before):
    axis = int(draft.rng.integers(2))
    return lambda a: before(a) - before(a).mean(axis=axis, keepdims=True)


def _scaled(draft, before):
    s = draft.parameter(draft.width)
    return lambda a: before(a) * np.exp(0.3 * of(a, s)) / np.sqrt(1.0 + (before(a) ** 2).sum(1, keepdims=True))


def _running(draft, before):
    axis, scale = int(draft.rng.integers(2)), (draft.rows, draft.width)
    return lambda a: np.tanh(np.cumsum(before(a), axis=axis) / np.sqrt(scale[axis]))


BENDS = {
    "itself": lambda x: x, "tanh": np.tanh, "softplus": lambda x: np.logaddexp(0.0, x),
    "leaky": lambda x: np.where(x > 0.0, x, 0.1 * x), "wave": np.sin,
}  # fmt: skip
LAYERS = {
    "dense": _dense, "dense of rows": _transposed_weights, "factors": _factors, "groups": _groups,
    "distances": _distances, "gated": _gated, "mixed": _mixed, "joined": _joined, "centred": _centred,
    "scaled": _scaled, "running": _running, "shares": lambda draft, before: lambda a: word("softmax", before(a)) * 3.0,
}  # fmt: skip


def _scores(draft, before):
    """One number for each row, of a family."""
    w, way = draft.parameter(draft.width, scale=draft.width**-0.5), draft.one_of(*OBSERVED)
    y = draft.named("d", OBSERVED[way][0](draft.rng, draft.rows))
    return lambda a: OBSERVED[way][1](before(a) @ of(a, w), a[y]).sum()


def _elements(draft, before):
    way = draft.one_of(*OBSERVED)
    y = draft.named("d", OBSERVED[way][0](draft.rng, (draft.rows, draft.width)))
    return lambda a: OBSERVED[way][1](before(a), a[y]).sum()


def _chosen(draft, before):
    """The log probability of the column that each row chose."""
    chosen = draft.named("g", draft.rng.integers(0, draft.width, draft.rows))
    rows = np.arange(draft.rows)
    return lambda a: word("log_softmax", before(a))[rows, _host(a[chosen])].sum()


def _any_of(draft, before):
    """A mixture of the columns."""
    y = draft.named("d", draft.rng.normal(size=(draft.rows, 1)))
    return lambda a: word("logsumexp", OBSERVED["Normal"][1](before(a), a[y])).sum()


def _host(array):
    return array.get() if hasattr(array, "get") else array


def _observed(family, wanted):
    """Log densities by a family, and of NumPy's arrays by SciPy."""
    return lambda x, y: wanted(x, y) if isinstance(x, np.ndarray) else logpdf(family(x), y)


OBSERVED = {
    "Normal": (
        lambda rng, shape: rng.normal(size=shape),
        _observed(lambda x: Normal(x, 1.0), lambda x, y: stats.norm.logpdf(y, x)),
    ),
    "Laplace": (
        lambda rng, shape: rng.normal(size=shape),
        _observed(lambda x: Laplace(x, 2.0), lambda x, y: stats.laplace.logpdf(y, x, 2.0)),
    ),
    "Bernoulli": (
        lambda rng, shape: rng.integers(0, 2, shape) * 1.0,
        _observed(lambda x: Bernoulli(logit=x), lambda x, y: y * x - np.logaddexp(0.0, x)),
    ),
    "Poisson": (
        lambda rng, shape: rng.poisson(1.0, shape) * 1.0,
        _observed(lambda x: Poisson(np.exp(0.3 * x)), lambda x, y: stats.poisson.logpmf(y, np.exp(0.3 * x))),
    ),
}
ENDS = {"scores": _scores, "elements": _elements, "chosen": _chosen, "any of": _any_of}


def model(seed, terms=1, rows=ROWS, widths=WIDTHS):
    """The model of a seed, of so many rows and columns."""
    draft = _Draft(seed, rows, widths)
    drawn = [draft.likelihood() for _ in range(1 + int(draft.rng.integers(terms)))]
    drawn += [draft.prior(name) for name in draft.parameters if draft.rng.random() < 0.5]
    given = {name: draft.given[name] for name in sorted(draft.given, key=lambda name: name not in draft.parameters)}
    return Model(seed, " ".join(draft.said), tuple(drawn), given, tuple(draft.parameters), np.dtype(draft.dtype))
