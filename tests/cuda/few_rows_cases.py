"""Few long rows for the simulator: chains over the same data, whose sums every thread keeps as it goes through that."""

import numpy as np

from vecdist import lazy, logpdf, logsumexp, scan, softmax
from vecdist.distributions import Bernoulli, Beta, Gamma, Normal, Poisson, StudentT

LONG = 192  # elements of a row from which on rows are long here: three turns of a block, and what is left


def data(n, dtype="f8"):
    return (np.arange(n) * 7 % 31 / 9.0 - 1.0).astype(dtype)


def parameters(*shape, dtype="f8"):
    return np.linspace(-0.8, 0.9, int(np.prod(shape))).reshape(shape).astype(dtype)


def line(chains, n, dtype="f8", each=False):
    """A straight line of each chain; the value of all, or of each."""
    a, b, s = (parameters(chains, 1, dtype=dtype) * scale for scale in (1.0, -0.5, 0.25))
    mean = lazy(a) + lazy(b) * data(n, dtype)[::-1].copy()
    terms = logpdf(Normal(mean, np.exp(lazy(s))), data(n, dtype))
    if each:
        return (terms.sum(axis=1) - 0.5 * (lazy(a) ** 2).sum(axis=1),), ()
    return (terms.sum() - 0.5 * (lazy(a) ** 2).sum(),), (a, b, s)


def latent(chains, n):
    """A parameter of each element, beside one of the chain."""
    own, s = parameters(chains, n), parameters(chains, 1)
    return (logpdf(Normal(lazy(own), np.exp(lazy(s))), data(n)).sum(),), (own, s)


def mixture(chains, n, components, dtype="f8"):
    e, s, w = (parameters(chains, 1, components, dtype=dtype) * scale for scale in (2.0, 0.3, 1.0))
    weights = lazy(w) - logsumexp(lazy(w), axis=-1, keepdims=True)
    terms = weights + logpdf(Normal(lazy(e), np.exp(lazy(s))), data(n, dtype)[:, None])
    return (logsumexp(terms, axis=-1).sum(),), (e, s, w)


def table(chains, rows, columns, dtype="f8"):
    """Columns with parameters of their own."""
    e, s = parameters(chains, 1, columns, dtype=dtype), 0.5 * parameters(chains, 1, columns, dtype=dtype)
    x = 0.1 + np.abs(data(rows * columns, dtype)).reshape(rows, columns)
    return (logpdf(Gamma(np.exp(lazy(s)), np.exp(lazy(e))), x).sum(),), (e, s)


def regression(chains, n, columns, dtype="f8", prior=True):
    """Products with a design, which all chains share; an intercept of each, and priors."""
    slopes, start = parameters(chains, columns, dtype=dtype), 0.2 * parameters(chains, 1, dtype=dtype)
    design, counts = data(n * columns, dtype).reshape(n, columns), (np.arange(n) % 4).astype(dtype)
    mean = lazy(start) + (lazy(design) * lazy(slopes)[:, None, :]).sum(axis=-1)
    terms = logpdf(Poisson(np.exp(0.1 * mean)), counts).sum()
    priors = logpdf(Normal(0.0, 2.0), lazy(slopes)).sum() if prior else 0.0
    return (terms + priors,), (slopes, start)


def rare_sides(chains, n, columns, dtype="f8"):
    """Products with a design, in families with sides that few elements need; a scale of each chain."""
    slopes, scale = 0.1 * parameters(chains, columns, dtype=dtype), 0.2 * parameters(chains, 1, dtype=dtype)
    mean = (lazy(data(n * columns, dtype).reshape(n, columns)) * lazy(slopes)[:, None, :]).sum(axis=-1)
    robust = logpdf(StudentT(4.0, 0.1 * mean, np.exp(lazy(scale))), data(n, dtype))
    x = (0.1 + 0.02 * (np.arange(n) % 31)).astype(dtype)
    shares = logpdf(Beta(np.exp(lazy(scale)), 1.0 + np.exp(0.1 * mean)), x)
    return (robust.sum() + shares.sum(),), (slopes, scale)


def mixed(chains, n, columns, components, dtype="f8"):
    """A mixture around products with a design."""
    slopes, shift = 0.1 * parameters(chains, columns, dtype=dtype), parameters(chains, 1, components, dtype=dtype)
    mean = (lazy(data(n * columns, dtype).reshape(n, columns)) * lazy(slopes)[:, None, :]).sum(axis=-1)
    terms = logpdf(Normal(0.1 * mean[..., None] + lazy(shift), 1.5), data(n, dtype)[:, None])
    return (logsumexp(terms, axis=-1).sum(),), (slopes, shift)


def grouped(chains, n, columns, count, dtype="f8"):
    """Products with a design beside an effect of each group."""
    slopes, effects = parameters(chains, columns, dtype=dtype), 0.3 * parameters(chains, count, dtype=dtype)
    design, group = data(n * columns, dtype).reshape(n, columns), np.arange(n) * 3 % count
    mean = (lazy(design) * lazy(slopes)[:, None, :]).sum(axis=-1) + lazy(effects)[:, group]
    return (logpdf(Poisson(np.exp(0.1 * mean)), (np.arange(n) % 4).astype(dtype)).sum(),), (slopes, effects)


def wide(n, columns, dtype="f8"):
    """A regression with many columns, of one chain."""
    slopes, design = parameters(columns, dtype=dtype), data(n * columns, dtype).reshape(n, columns)
    counts = (np.arange(n) % 4).astype(dtype)
    return (logpdf(Poisson(np.exp(0.01 * (lazy(design) * lazy(slopes)).sum(axis=-1))), counts).sum(),), (slopes,)


def read_again(n, columns, dtype="f8"):
    """Rows that several loops read: the softmax of each, and each standardised."""
    rows = lazy(parameters(n, columns, dtype=dtype))
    apart = rows - rows.mean(axis=-1)[:, None]
    return (softmax(rows, axis=-1), apart / np.sqrt((apart * apart).mean(axis=-1) + 1e-5)[:, None]), ()


def log_sums(n, columns, dtype="f8"):
    """The log-sum-exps of rows, weighed and added up, of which a gradient is as long as the rows."""
    x = parameters(n, columns, dtype=dtype)
    return ((logsumexp(lazy(x), axis=-1) * data(n, dtype)).sum(),), (x,)


def means(rows, *columns):
    """A table whose elements have a mean each, and a scale by the first axis."""
    means = parameters(*columns)
    scales = np.linspace(0.5, 1.5, columns[0])[:, None]
    return (logpdf(Normal(lazy(means), scales), data(rows * means.size).reshape(rows, *columns)).sum(),), (means,)


def short_sums(count, n, k):
    """Sums so short that they are written out where there are steps, in loops inside of loops."""
    a, b = parameters(count, n, n + 1, k), 0.5 * parameters(count, k)
    inner = (lazy(a) * lazy(b)[:, None, None, :]).sum(axis=-1)
    sums = (np.exp(inner).sum(axis=-1) * np.sin(inner).sum(axis=-1)).sum()
    _, steps = scan(lambda total, x: (np.tanh(total + x), total), 0.1, lazy(b)[:, 0])
    return (sums + steps.sum(),), (a, b)


def quadratic_forms(count, n, dtype="f8"):
    """Of matrices and their transposes, beside products of both."""
    a, b = parameters(count, n, n, dtype=dtype), 0.5 * parameters(count, n, dtype=dtype)
    left = (lazy(a) * lazy(b)[:, None, :]).sum(axis=-1)
    right = (lazy(a) * lazy(b)[:, :, None]).sum(axis=-2)
    both = (lazy(a) * np.swapaxes(lazy(a), 1, 2)).sum(axis=-1)
    return ((left * right * lazy(b) + both).sum(),), (a, b)


def groups(chains, n, count):
    """An effect of each group, and a value that other rows need."""
    effects, log_rate = parameters(chains, count), parameters(chains, 1)
    counts, group = np.arange(n) % 5, np.arange(n) * 3 % count
    rate = np.exp(lazy(effects)[..., group] + lazy(log_rate))
    return (logpdf(Poisson(rate), counts).sum() - 0.5 * (lazy(effects) ** 2).sum(),), (effects, log_rate)


OUTCOMES = {
    "Normal": (lambda e, s: Normal(e, np.exp(s)), lambda n: data(n)),
    "StudentT": (lambda e, s: StudentT(3.0 + np.exp(s), e, 1.5), lambda n: data(n)),
    "Poisson": (lambda e, s: Poisson(np.exp(e)), lambda n: np.arange(n) % 4.0),
    "Bernoulli": (lambda e, s: Bernoulli(logit=e), lambda n: np.arange(n) % 2.0),
    "Gamma": (lambda e, s: Gamma(np.exp(s), np.exp(e)), lambda n: 0.1 + np.abs(data(n))),
    "Beta": (lambda e, s: Beta(np.exp(s), 1.0 + np.exp(e)), lambda n: 0.1 + 0.02 * (np.arange(n) % 31)),
}


def wide_design(seed):
    """A regression of 2 to 8 chains over a design of 38 and more columns, with what else there may be at random."""
    rng = np.random.default_rng(seed)
    chains, dtype = int(rng.integers(2, 9)), str(rng.choice(["f4", "f8"]))
    columns, n = int(rng.integers(38, 1 + 32 * (32 // chains))), int(rng.integers(60, 140))
    family, outcomes = OUTCOMES[str(rng.choice([*OUTCOMES]))]
    own = 0.1 * parameters(chains, columns, dtype=dtype), 0.2 * parameters(chains, 1, dtype=dtype)
    slopes, scale = map(lazy, own)
    predictor = (lazy(data(n * columns, dtype).reshape(n, columns)) * slopes[:, None, :]).sum(axis=-1)
    arrays = list(own)
    if rng.random() < 0.4:
        effects = 0.3 * parameters(chains, 4, dtype=dtype)
        arrays.append(effects)
        predictor = predictor + lazy(effects)[:, np.arange(n) * 3 % 4]
    if rng.random() < 0.3:
        predictor = predictor * np.tanh(lazy(data(n, dtype)) + scale)
    terms = logpdf(family(0.2 * predictor, scale), outcomes(n).astype(dtype))
    if rng.random() < 0.3:
        return (terms.sum(axis=1) - 0.5 * (slopes**2).sum(axis=1),), ()
    priors = logpdf(Normal(0.0, 2.0), slopes).sum() if rng.random() < 0.5 else 0.0
    return (terms.sum() + priors,), tuple(arrays)


def by_columns(seed):
    """Chains over a design that is multiplied by a matrix of each: of classes, or of a layer of a net."""
    rng = np.random.default_rng(seed)
    chains, n, k, h = (int(rng.integers(*bounds)) for bounds in ((33, 80), (61, 100), (1, 6), (2, 6)))
    dtype = str(rng.choice(["f4", "f8"]))
    arrays = [0.4 * parameters(chains, k, h, dtype=dtype), 0.2 * parameters(chains, h, dtype=dtype)]
    slopes, levels, x = lazy(arrays[0]), lazy(arrays[1]), lazy(data(n * k, dtype).reshape(n, k))
    found = (x[:, :, None] * slopes[:, None]).sum(axis=2) + levels[:, None]
    if rng.random() < 0.6:
        wanted = np.eye(h)[np.arange(n) * 7 % h].astype(dtype)
        terms = (found * wanted).sum(axis=-1) - logsumexp(found, axis=-1)
    else:
        arrays.append(0.7 * parameters(chains, h, dtype=dtype))
        made = (np.tanh(found) * lazy(arrays[-1])[:, None]).sum(axis=-1)
        terms = logpdf(Normal(made, 1.5), data(n, dtype))
    if rng.random() < 0.3:
        return (terms.sum(axis=1) - 0.5 * (levels**2).sum(axis=1),), ()
    prior = 0.5 * (slopes**2).sum() if rng.random() < 0.6 else 0.0
    return (terms.sum() - prior,), tuple(arrays)


def beside_rows(chains, n, columns, dtype="f8"):
    """Chains of a regression in strips, and what each row has once for all of them: a value of its own, and a sum."""
    (value,), arrays = regression(chains, n, columns, dtype)
    own, shared = 0.3 * parameters(n, dtype=dtype), 0.5 * parameters(1, dtype=dtype)
    terms = logpdf(Normal(lazy(own) * lazy(shared), 1.5), data(n, dtype)).sum()
    groups = 0.2 * parameters(4, dtype=dtype)
    terms = terms + np.tanh(lazy(groups)[np.arange(n) * 7 % 4] + lazy(own)).sum()
    return (value + terms,), (*arrays, own, shared, groups)


def annotators(chains, n, people, kinds, dtype="f8"):
    """Kinds of items, of each of which several people have said what they take it for."""
    shares, table = parameters(chains, kinds, dtype=dtype), parameters(chains, people, kinds, kinds, dtype=dtype)
    said = (np.arange(n * people) * 7 % 5 % kinds).reshape(n, people)
    tables = lazy(table) - logsumexp(lazy(table), axis=-1, keepdims=True)
    each = np.swapaxes(tables, 2, 3)[:, np.arange(people), said].sum(axis=2)
    share = lazy(shares) - logsumexp(lazy(shares), axis=-1, keepdims=True)
    return (logsumexp(share[:, None] + each, axis=-1).sum() - 0.5 * (lazy(table) ** 2).sum(),), (shares, table)


def together(*parts):
    """The sum of several, in one launch."""
    values, arrays = zip(*parts, strict=True)
    return (sum(value for (value,) in values),), sum(arrays, ())


def cases():
    """What to compute and where to differentiate, in how many blocks, with how many lanes in a team."""
    return {
        "chains of a line": (line(3, 236), 1, 1),
        "chains of a line in float32, by teams": (line(20, 196, "f4"), 1, 4),
        "chains of a line, the value of each in three blocks": (line(5, 400, each=True), 3, 1),
        "many chains of a line, in slots": (line(70, 192), 1, 32),
        "chains with a parameter of each element": (latent(3, 230), 1, 1),
        "chains of a regression": (regression(3, 196, 5), 1, 1),
        "chains of a regression in float32, by teams": (regression(20, 196, 12, "f4"), 2, 1),
        "chains of a regression, more columns": (regression(4, 196, 33, "f4"), 1, 1),
        "chains of a regression in strips": (regression(70, 197, 6), 1, 1),
        "chains of a regression in strips of 32, float32": (regression(66, 196, 25, "f4", prior=False), 1, 1),
        "chains of a regression in two strips": (regression(40, 196, 30, "f4", prior=False), 1, 1),
        "chains of a regression with groups in strips": (grouped(70, 400, 5, 30), 1, 1),
        "chains of a regression with few groups in strips": (grouped(66, 196, 4, 3, "f4"), 1, 1),
        "many chains of a regression in strips": (regression(130, 192, 3, "f4"), 1, 1),
        "few chains over a wide design": (regression(3, 75, 50), 1, 1),
        "few chains over a wide design in float32": (regression(8, 90, 100, "f4"), 2, 1),
        "two chains over a wider design": (regression(2, 70, 300, "f4", prior=False), 1, 1),
        "few chains over a wide design, with groups": (grouped(4, 80, 60, 5), 1, 1),
        "few chains over a wide design, with few groups": (grouped(2, 400, 41, 2, "f4"), 2, 1),
        "few chains over a wide design, with rare sides": (rare_sides(3, 70, 50), 1, 1),
        "few chains over a wide design, with rare sides in float32": (rare_sides(2, 130, 90, "f4"), 1, 1),
        "few chains of a mixture over a wide design": (mixed(3, 70, 50, 3), 1, 1),
        **{f"random chains over a wide design {seed}": (wide_design(seed), 1, 1) for seed in range(12)},
        "chains of a regression in strips beside sums of rows": (beside_rows(130, 100, 4), 3, 1),
        "chains of people who name kinds": (annotators(34, 65, 3, 3), 1, 1),
        **{f"random chains over a design by columns {seed}": (by_columns(seed), 1 + seed % 3, 1) for seed in range(12)},
        "matrices and their transposes": (quadratic_forms(40, 5), 1, 1),
        "sums that are written out inside of loops": (short_sums(6, 18, 2), 1, 1),
        "matrices and their transposes, float32": (quadratic_forms(9, 8, "f4"), 1, 1),
        "wide rows of a regression": (wide(90, 80), 2, 1),
        "wide rows of a regression in float32": (wide(150, 131, "f4"), 1, 1),
        "wide rows of nothing": (wide(90, 0), 2, 1),
        "wide rows of a regression, each a block's": (wide(90, 81), 3, 1),
        "wide rows of a regression in float32, each a block's": (wide(140, 130, "f4"), 1, 1),
        "wide rows that are read again": (read_again(20, 41), 2, 1),
        "wide rows that are read again, float32": (read_again(21, 130, "f4"), 1, 1),
        "wide rows that are read again, each a block's": (read_again(9, 90), 2, 1),
        "wide rows of exponentials": (log_sums(20, 97), 2, 1),
        "wide rows of exponentials in float32, each a block's": (log_sums(8, 131, "f4"), 1, 1),
        "chains of a mixture": (mixture(2, 192, 3), 1, 1),
        "chains of a mixture in float32, by teams": (mixture(9, 192, 2, "f4"), 1, 4),
        "chains of a table": (table(4, 350, 3), 1, 2),
        "chains of a table of more columns than chains": (table(2, 70, 7), 1, 4),
        "chains of a table of many columns, in float32": (table(3, 40, 33, "f4"), 1, 8),
        "means of a table in strips": (means(70, 40, 35), 2, 1),
        "chains of two nests, which have room apart": (together(mixture(2, 192, 8), regression(2, 196, 25)), 1, 1),
        "chains of a nest that has no room beside one that has": (together(line(3, 230), regression(3, 196, 45)), 1, 1),
        "chains of groups": (groups(4, 220, 30), 1, 2),
        "chains of few groups, added up by blocks": (groups(2, 220, 3), 1, 2),
    }
