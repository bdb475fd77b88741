"""Random whole models: what users write, drawn from a seed, the same on every machine and for every array library.

A model is a sum of terms and of priors.  A term is a likelihood of some family, plain or in a mixture, truncated,
censored or inflated, whose parameters are scalars, rows, columns, one for each element or component, gathered by group,
or linear predictors, some of them shared with other terms; it is brought to a scalar in one of many ways.
"""

from dataclasses import dataclass, field

import numpy as np

from vecdist import lazy, logcdf, logpdf, logsf, logsumexp, mixture, softmax
from vecdist.distributions import FAMILIES, Normal
from vecdist.wrappers import affine, censored, hurdle, truncated, zero_inflated

FAMILIES_ON = {
    "real": "Normal StudentT Laplace Logistic Cauchy Gumbel SkewNormal AsymmetricLaplace Moyal JohnsonSU ExGaussian "
    "GeneralizedNormal VonMises NormalInverseGaussian",
    "positive": "Gamma LogNormal Weibull Exponential HalfNormal HalfCauchy InverseGamma Chi Chi2 InverseGaussian "
    "Frechet LogLogistic Rayleigh Gompertz Lindley BetaPrime FisherSnedecor HalfStudentT Rice",
    "unit": "Beta Kumaraswamy LogitNormal ContinuousBernoulli RelaxedBernoulli",
    "count": "Poisson NegativeBinomial Geometric ZeroInflatedPoisson Binomial HurdlePoisson BetaBinomial "
    "DiscreteWeibull BetaNegativeBinomial YuleSimon Skellam ZeroInflatedNegativeBinomial",
}
SHORT = {  # whose kernels are compiled soon: the others come now and then
    "Normal", "Laplace", "Logistic", "Cauchy", "Gumbel", "AsymmetricLaplace", "Gamma", "LogNormal", "Weibull",
    "Exponential", "HalfNormal", "HalfCauchy", "Rayleigh", "Gompertz", "Lindley", "LogLogistic", "Kumaraswamy",
    "LogitNormal", "Poisson", "Geometric", "ZeroInflatedPoisson", "Frechet",
}  # fmt: skip
POINTS = {
    "real": lambda rng, shape: np.clip(rng.normal(0.0, 1.5, shape), -5.0, 5.0),
    "positive": lambda rng, shape: 0.05 + rng.gamma(2.0, 1.0, shape),
    "unit": lambda rng, shape: np.clip(rng.beta(2.0, 2.0, shape), 0.01, 0.99),
    "count": lambda rng, shape: np.minimum(rng.poisson(3.0, shape), 30).astype(float),
}
TRIALS = 40.0  # of families that have a number of them
SMALL = (0, 1, 1, 2, 3, 7, 31, 33, 64, 65, 90)
LARGE = (0, 1, 2, 31, 32, 33, 100, 255, 256, 257, 1000, 2047, 2048, 2049, 4097, 9001, 20000, 33000)
MOST = 60_000  # elements of a term
VIEWS = {
    "dense": (lambda a: a, lambda a: a),
    "odd": (lambda a: np.concatenate([a[:1], a]), lambda base: base[1:]),
    "strided": (lambda a: np.repeat(a, 2, axis=0), lambda base: base[::2]),
    "reversed": (lambda a: np.ascontiguousarray(a[::-1]), lambda base: base[::-1]),
    "transposed": (lambda a: np.ascontiguousarray(a.T), lambda base: base.T),
}


@dataclass(frozen=True)
class Given:
    """An array of a model: what it is a view of, and which view."""

    base: np.ndarray
    view: str

    @classmethod
    def of(cls, array, view):
        return cls(VIEWS[view][0](array), view)

    def on(self, library, dtype=None):
        """The array in the memory of a library, floating-point numbers as ``dtype``."""
        base = self.base.astype(dtype) if dtype is not None and self.base.dtype.kind == "f" else self.base
        return VIEWS[self.view][1](library.asarray(base))


@dataclass(frozen=True)
class Model:
    """A joint log density: a function of the arrays by name, and these arrays, the parameters first."""

    seed: int
    text: str
    terms: tuple
    given: dict
    parameters: tuple
    dtype: np.dtype

    def __str__(self):
        arrays = {name: each.on(np) for name, each in self.given.items()}
        views = {name: "" if each.view == "dense" else f" {each.view}" for name, each in self.given.items()}
        shapes = ", ".join(f"{name} {array.dtype}{list(array.shape)}{views[name]}" for name, array in arrays.items())
        return f"seed {self.seed}: {self.text}; {shapes}"

    def density(self, arrays):
        total = 0.0
        for term in self.terms:
            total = total + term(arrays)
        return total

    def function(self, arrays):
        """The density as a function of its parameters alone, which holds the other arrays."""
        named = ", ".join(f"{name}={name}" for name in self.parameters)
        text = f"lambda {', '.join(self.parameters)}: density(arrays | dict({named}))"
        return eval(text, {"density": self.density, "arrays": arrays})

    @property
    def size(self):
        return max(each.base.size for each in self.given.values())


def model(seed, lengths=LARGE, dtype=None, terms=3):
    """The model of a seed."""
    return _Draft(np.random.default_rng([20261122, seed]), lengths, dtype).model(seed, terms)


@dataclass
class _Draft:
    """What has been drawn of a model so far."""

    rng: np.random.Generator
    lengths: tuple
    dtype: np.dtype = None
    given: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)

    def model(self, seed, most):
        self.dtype = self.dtype or ("f8", "f8", "f4")[self.rng.integers(3)]
        drawn = [self.term() for _ in range(1 + self.rng.integers(most))]
        drawn += [self.prior(name) for name in list(self.parameters) if self.chance(0.5)]
        order = [*self.parameters, *(name for name in self.given if name not in self.parameters)]
        given = {name: self.given[name] for name in order}
        text = " + ".join(text for _, text in drawn)
        return Model(seed, text, tuple(term for term, _ in drawn), given, tuple(self.parameters), np.dtype(self.dtype))

    def chance(self, probability):
        return self.rng.random() < probability

    def one_of(self, *options):
        return options[self.rng.integers(len(options))]

    def array(self, array, kind):
        """The name of a new array, laid out in some way."""
        array = array.astype(self.dtype) if array.dtype.kind == "f" else array
        views = ["dense"] * 4 + (["odd", "strided", "reversed"] if array.ndim else [])
        views += ["transposed"] if array.ndim > 1 else []
        name = f"{kind}{len(self.given)}"
        self.given[name] = Given.of(array, self.one_of(*views) if kind != "p" else "dense")
        return name

    def parameter(self, shape):
        """The name of a parameter: a new one, or one of another place."""
        same = [name for name, others in self.parameters.items() if others == shape]
        if same and self.chance(0.35):
            return self.one_of(*same)
        name = self.array(self.rng.normal(0.0, 0.4, shape), "p")
        self.parameters[name] = shape
        return name

    def part(self, frame):
        """One of the ways in which a parameter varies over the elements of a frame."""
        ways = ["scalar", "scalar", "one"]
        if frame:
            ways += ["each", "last", "group", "slope"]
        if len(frame) == 1:
            ways += ["linear", "linear", "column"]
        if len(frame) == 2:
            ways += ["first", "rows of groups", "linear of rows"]
        way = self.one_of(*ways)
        return getattr(self, f"_{way.replace(' ', '_')}")(frame), way

    def _scalar(self, frame):
        name = self.parameter(())
        return lambda a: lazy(a[name])

    def _one(self, frame):
        name = self.parameter((1,) * len(frame))
        return lambda a: lazy(a[name])

    def _each(self, frame):
        name = self.parameter(frame)
        return lambda a: lazy(a[name])

    def _last(self, frame):
        return self._each(frame[-1:])

    def _first(self, frame):
        return self._each((frame[0], 1))

    def groups(self, frame):
        many = int(self.one_of(1, 2, 5, 40))
        index = self.rng.integers(-many if self.chance(0.2) else 0, many, frame)
        return many, self.array(index.astype(self.one_of("i8", "i4")), "g")

    def _group(self, frame):
        many, group = self.groups(frame)
        name = self.parameter((many,))
        return lambda a: lazy(a[name])[a[group]]

    def _slope(self, frame):
        source, z = self._group(frame), self.array(self.rng.normal(0.0, 1.0, frame), "z")
        return lambda a: source(a) * a[z]

    def _rows_of_groups(self, frame):
        many, group = self.groups(frame[:1])
        name = self.parameter((many, frame[1]))
        return lambda a: lazy(a[name])[a[group]]

    def table(self, frame):
        columns = int(self.one_of(1, 2, 3, 8, 33))
        columns = columns if columns * frame[0] <= 4 * MOST else 2
        return columns, self.array(self.rng.normal(0.0, columns**-0.5, (frame[0], columns)), "X")

    def _linear(self, frame):
        columns, table = self.table(frame)
        slopes, level = self.parameter((columns,)), self.parameter(()) if self.chance(0.4) else None
        return lambda a: lazy(a[table]) @ lazy(a[slopes]) + (lazy(a[level]) if level else 0.0)

    def _linear_of_rows(self, frame):
        linear = self._linear(frame)
        return lambda a: linear(a)[:, None]

    def _column(self, frame):
        columns, table = self.table(frame)
        name, column = self.parameter(()), int(self.rng.integers(columns))
        return lambda a: lazy(a[table])[:, column] * lazy(a[name])

    def predictor(self, frame):
        """A real number for each element of a frame."""
        first, text = self.part(frame)
        if not self.chance(0.25):
            return first, text
        second, other = self.part(frame)
        if self.chance(0.5):
            return lambda a: first(a) + second(a), f"{text} + {other}"
        return lambda a: first(a) * np.tanh(second(a)), f"{text} * tanh {other}"

    def linked(self, constraint, frame, components=False):
        """A parameter that keeps to its constraint, with one for each component where it is said so."""
        if constraint.whole:
            many = self.array(np.full(frame, TRIALS), "n") if self.chance(0.3) else None
            return (lambda a: a[many] if many else TRIALS), "trials"
        raw, text = self.predictor(frame)
        if components:
            shared, each = raw, self._last(frame)
            raw, text = lambda a: shared(a) + each(a), f"{text} + last"
        if constraint.lower == 0 and constraint.upper == 1:
            return lambda a: 1.0 / (1.0 + np.exp(-raw(a))), f"expit {text}"
        if constraint.lower == 0:
            if self.chance(0.3):
                return lambda a: np.log1p(np.exp(raw(a))) + 0.1, f"softplus {text}"
            return lambda a: np.exp(raw(a)), f"exp {text}"
        if callable(constraint.lower):  # NormalInverseGaussian's beta, between -alpha and alpha
            return lambda a: 0.01 * np.tanh(raw(a)), f"small {text}"
        return raw, text

    def distribution(self, support, frame, short):
        """A family with its parameters; of a mixture, with ``short`` ones that differ among components."""
        names = [name for name in FAMILIES_ON[support].split() if not short or name in SHORT]
        usual = [name for name in names if name in SHORT]
        family = FAMILIES[self.one_of(*(usual if self.chance(0.8) else names))]
        ways = [way for way in family.parametrisations[:4] if support != "unit" or "sd" not in way.names]
        way = self.one_of(*ways)
        first = next(iter(way.constraints))
        links = {name: self.linked(each, frame, short and name == first) for name, each in way.constraints.items()}
        text = ", ".join(f"{name}={text}" for name, (_, text) in links.items())
        return lambda a: family(**{name: link(a) for name, (link, _) in links.items()}), f"{family.__name__}({text})"

    def wrapped(self, support, plain, text, frame):
        """A distribution made of another, and a change of the points."""
        kind = self.one_of("affine", *{
            "real": ("truncated", "censored"), "positive": ("censored", "truncated", "hurdle"), "unit": ("affine",),
            "count": ("zero inflated", "truncated", "hurdle"),
        }[support])  # fmt: skip
        if kind == "affine" and support == "real":
            raw, other = self.predictor(frame)
            return lambda a: affine(plain(a), loc=raw(a), scale=1.5), f"affine({text}, {other})", None
        if kind == "truncated":
            low, high = {"real": (-6.0, 6.0), "positive": (0.01, None), "count": (None, 60.0)}[support]
            return lambda a: truncated(plain(a), low, high), f"truncated({text})", None
        if kind == "censored":
            low, high = (-1.5 if support == "real" else None), 2.0
            return lambda a: censored(plain(a), low, high), f"censored({text})", lambda x: np.clip(x, low, high)
        if kind in {"zero inflated", "hurdle"}:
            raw, other = self.predictor(frame)
            made = zero_inflated if kind == "zero inflated" else hurdle
            zeros = lambda x: np.where(self.rng.random(x.shape) < 0.3, 0.0, x)  # noqa: E731
            return lambda a: made(plain(a), gate_logit=raw(a)), f"{kind}({text}, {other})", zeros
        return plain, text, None

    def frame(self):
        rows = int(self.one_of(*self.lengths))
        if self.chance(0.06):
            return ()
        if self.chance(0.25):
            columns = int(self.one_of(1, 2, 3, 5, 17, 40, *self.lengths[-4:]))
            return (rows, columns) if rows * columns <= MOST else (max(1, MOST // columns), columns)
        return (rows,)

    def likelihood(self):
        """The log likelihood of each element, and its frame."""
        support, frame = self.one_of(*FAMILIES_ON), self.frame()
        size = int(np.prod(frame))
        many = int(self.one_of(2, 2, 3, 5, 8, 17)) if len(frame) < 2 and size and self.chance(0.3) else 0
        if many * size > 2 * MOST:
            many = 2
        whole = (*frame, many) if many else frame
        plain, text = self.distribution(support, whole, short=bool(many))
        moved = None
        if self.chance(0.25) and not many:
            plain, text, moved = self.wrapped(support, plain, text, whole)
        points = POINTS[support](self.rng, frame)
        points = points if moved is None else moved(points)
        if support == "count" and self.chance(0.4):
            points = points.astype("i8")
        y = self.array(points, "y")
        if many:
            weights, other = self.weights(frame, many)
            return lambda a: logpdf(mixture(weights(a), plain(a)), a[y]), f"mixture of {many} {text} by {other}", frame
        tails = moved is None and text.split("(")[0] in SHORT and self.chance(0.1)
        verb = self.one_of(logsf, logcdf) if tails else logpdf
        return lambda a: verb(plain(a), a[y]), f"{verb.__name__} {text}", frame

    def weights(self, frame, many):
        if frame and self.chance(0.3):
            raw = self._rows_of_groups((*frame, many))
            return lambda a: softmax(raw(a)), "weights of groups"
        if self.chance(0.2):
            fixed = self.array(np.full(many, 1.0 / many), "w")
            return lambda a: lazy(a[fixed]), "fixed weights"
        name = self.parameter((many,))
        return lambda a: softmax(lazy(a[name])), "weights"

    def term(self):
        each, text, frame = self.likelihood()
        ways = ["sum"] * 5
        if frame and np.prod(frame) > 0:
            ways += ["mean", "weighted", "logsumexp", "function of the mean", "deviations", "every other"]
        if len(frame) == 2 and np.prod(frame) > 0:
            ways += ["functions of rows", "functions of columns", "logsumexp of rows"] * 2
        way = self.one_of(*ways)
        reduce = REDUCTIONS[way]
        if way != "weighted":
            return lambda a: reduce(each(a)), f"{way} of {text}"
        w = self.array(self.rng.random(frame), "w")
        return lambda a: (each(a) * a[w]).sum(), f"weighted sum of {text}"

    def prior(self, name):
        if self.chance(0.3):
            scale = self.parameter(())
            spread = lambda a: np.exp(lazy(a[scale]))  # noqa: E731
            return lambda a: logpdf(Normal(0.0, spread(a)), lazy(a[name])).sum(), f"prior of {name}, scaled"
        return lambda a: logpdf(Normal(0.0, 1.0), lazy(a[name])).sum(), f"prior of {name}"


REDUCTIONS = {
    "sum": lambda each: each.sum(),
    "mean": lambda each: each.mean() * 3.0,
    "weighted": None,
    "logsumexp": lambda each: logsumexp(each),
    "function of the mean": lambda each: np.tanh(0.1 * each.mean()) + 0.01 * np.square(each.mean()),
    "deviations": lambda each: np.square(each - each.mean()).mean() * 0.1 + each.sum(),
    "every other": lambda each: each[::2].sum() + each[-1:].sum(),
    "functions of rows": lambda each: np.log1p(np.square(each.sum(axis=1))).sum(),
    "functions of columns": lambda each: np.sqrt(1.0 + np.square(each.sum(axis=0))).sum(),
    "logsumexp of rows": lambda each: logsumexp(each, axis=1).sum(),
}


def with_chains(drawn, chains):
    """The parameters of a model for several chains."""
    rng = np.random.default_rng([drawn.seed, chains])
    return {
        name: (each.base + rng.normal(0.0, 0.1, (chains, *each.base.shape))).astype(each.base.dtype)
        for name, each in drawn.given.items() if name in drawn.parameters
    }
