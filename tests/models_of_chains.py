"""Models as people write them, for one chain: regressions, mixtures, groups, nets, factors, hidden states."""

import numpy as np

import vecdist
from vecdist import logpdf, logpmf, logsumexp, mixture, scan
from vecdist.distributions import Bernoulli, Categorical, Dirichlet, Gamma, HalfNormal, Normal, Poisson, Weibull
from vecdist.parameters import ordered, positive, real, simplex


def regression(n=150, k=3):
    """A survival time with a predictor, some of them censored."""
    rng = np.random.default_rng(1)
    x, t, seen = rng.normal(size=(n, k)), rng.weibull(1.5, n), rng.random(n) < 0.7

    def model(shape, level, slopes):
        found = Weibull(shape, np.exp(-(level + x @ slopes) / shape))
        likelihood = np.where(seen, logpdf(found, t), vecdist.logsf(found, t)).sum()
        return logpdf(Gamma(2.0, 1.0), shape), logpdf(Normal(0.0, 1.0), slopes).sum(), likelihood

    return model, {"shape": positive(), "level": real(), "slopes": real(k)}


def two_normals(n=160):
    """A mixture of two, in order."""
    y = np.random.default_rng(2).normal(size=n)

    def model(mean, scale, share):
        weights = np.stack([share, 1.0 - share])
        return logpdf(HalfNormal(2.0), scale).sum(), logpdf(mixture(weights, Normal(mean, scale)), y).sum()

    return model, {"mean": ordered(2), "scale": positive(2), "share": vecdist.parameters.interval(0.0, 1.0)}


def groups(n=200, count=12):
    """Levels and slopes of groups, which have a scale in common."""
    rng = np.random.default_rng(3)
    group, x, y = rng.integers(0, count, n), rng.normal(size=n), rng.normal(size=n)

    def model(each, scale, noise):
        predictor = scale[0] * each[group, 0] + scale[1] * each[group, 1] * x
        return logpdf(Normal(0.0, 1.0), each).sum(), logpdf(Normal(predictor, noise), y).sum()

    return model, {"each": real((count, 2)), "scale": positive(2), "noise": positive()}


def net(n=90, inputs=4, hidden=7):
    """A net of two layers."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(n, inputs)), rng.integers(0, 2, n)

    def model(first, bias, second, last):
        values = np.tanh(np.tanh(x @ first + bias) @ second)
        prior = sum(logpdf(Normal(0.0, 1.0), each).sum() for each in (first, bias, second, last))
        return prior, logpmf(Bernoulli(logit=values @ last), y).sum()

    shapes = {"first": (inputs, hidden), "bias": hidden, "second": (hidden, hidden), "last": hidden}
    return model, {name: real(shape) for name, shape in shapes.items()}


def factors(n=60, columns=6, count=2):
    """Factors of each row, and what columns make of them."""
    y = np.random.default_rng(5).normal(size=(n, columns))

    def model(loads, scores, noise):
        prior = logpdf(Normal(0.0, 1.0), loads).sum() + logpdf(Normal(0.0, 1.0), scores).sum()
        return prior, logpdf(Normal(scores @ loads.T, noise), y).sum()

    return model, {"loads": real((columns, count)), "scores": real((n, count)), "noise": positive(columns)}


def words(documents=40, topics=3, vocabulary=9, n=220):
    """Words by the kinds of their documents, picked of rows that are picked."""
    rng = np.random.default_rng(6)
    kind, document, word = (rng.integers(0, m, k) for m, k in ((topics, documents), (documents, n), (vocabulary, n)))

    def model(share, table):
        prior = logpdf(Dirichlet(np.ones(vocabulary)), table).sum()
        picked = logpmf(Categorical(table[kind[document]]), word).sum()
        return prior, logpmf(Categorical(share), kind).sum(), picked

    return model, {"share": simplex(topics), "table": simplex(vocabulary, shape=(topics,))}


def hidden_states(steps=40, states=24):
    """A hidden Markov model of counts, with a state for each step."""
    y = np.random.default_rng(7).poisson(3.0, steps)

    def model(first, moves, rates):
        seen = logpmf(Poisson(rates), y[:, None])
        table = vecdist.log_softmax(moves, axis=-1)
        forward = lambda a, b: (logsumexp(a[:, None] + table, axis=0) + b, None)  # noqa: E731
        last, _ = scan(forward, vecdist.log_softmax(first) + seen[0], seen[1:])
        return logpdf(Normal(0.0, 1.0), moves).sum(), logpdf(Gamma(2.0, 1.0), rates).sum(), logsumexp(last)

    return model, {"first": real(states), "moves": real((states, states)), "rates": positive(states)}


def distances(n=20):
    """Places in a plane, whose distances make links."""
    links = np.triu(np.random.default_rng(8).integers(0, 2, (n, n)), 1)
    above = np.triu(np.ones((n, n)), 1)

    def model(places, level):
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1) + 1e-3)
        likelihood = (logpmf(Bernoulli(logit=level - apart), links) * above).sum()
        return logpdf(Normal(0.0, 1.0), places).sum(), likelihood

    return model, {"places": real((n, 2)), "level": real()}


def populations(sites=25, visits=3, most=70):
    """Counts of those that were seen of an unknown number at each site."""
    y = np.random.default_rng(9).poisson(2.0, (sites, visits))
    count = np.arange(most)

    def model(rate, seen):
        each = vecdist.distributions.Binomial(n=count[:, None, None], logit=seen)
        many = logpmf(each, y).sum(-1) + logpmf(Poisson(rate), count)[:, None]
        return logpdf(Gamma(2.0, 0.5), rate), logpdf(Normal(0.0, 1.0), seen), logsumexp(many, axis=0).sum()

    return model, {"rate": positive(), "seen": real()}


def answers(persons=60, questions=12):
    """Answers of persons to questions, each of which has a level and a slope."""
    y = np.random.default_rng(11).integers(0, 2, (persons, questions))

    def model(ability, level, slope):
        prior = sum(logpdf(Normal(0.0, 1.0), each).sum() for each in (ability, level))
        logit = slope * (ability[:, None] - level)
        return prior, logpdf(Gamma(2.0, 2.0), slope).sum(), logpmf(Bernoulli(logit=logit), y).sum()

    return model, {"ability": real(persons), "level": real(questions), "slope": positive(questions)}


MODELS = {
    made.__name__: made
    for made in (regression, two_normals, groups, net, factors, words, hidden_states, distances, populations, answers)
}
SMALL = {
    "regression": {"n": 12}, "two_normals": {"n": 11}, "groups": {"n": 13, "count": 3},
    "net": {"n": 4, "inputs": 2, "hidden": 3}, "factors": {"n": 5},
    "words": {"n": 9, "documents": 4, "vocabulary": 4}, "hidden_states": {"steps": 4, "states": 3},
    "distances": {"n": 5}, "populations": {"sites": 3, "most": 9}, "answers": {"persons": 4, "questions": 3},
}  # fmt: skip


def density(name, **sizes):
    """The log density of a model."""
    model, parameters = MODELS[name](**sizes)
    return vecdist.LogDensity(model, parameters)


def points(found, chains):
    return np.random.default_rng(10).normal(size=(chains, found.ndim)) * 0.4
