"""Densities of vectors and matrices in ball arithmetic, written from their definitions, and their derivatives."""

import itertools

import numpy as np
from flint import arb, arb_mat, ctx

STEP = 2.0**-100  # of central differences: exact to more than 50 digits


def balls(value):
    """An array of exact balls."""
    return np.vectorize(arb, otypes=[object])(np.asarray(value, np.float64))


def matrix(a):
    return arb_mat(a.tolist())


def symmetric(a):
    return matrix((a + a.T) / 2)


def squared(factor):
    """L L' of what stands in the lower triangle."""
    lower = matrix(np.where(np.tri(len(factor), dtype=bool), factor, arb(0)))
    return lower * lower.transpose()


def diagonal(d):
    return matrix(np.where(np.eye(len(d), dtype=bool), d, arb(0)))


def trace(a):
    return sum(a[i, i] for i in range(a.nrows()))


def log(x):
    return x.log()


def logs(x):
    return np.array([each.log() for each in x])


def lgamma(x):
    return x.lgamma()


def softmax(logits):
    parts = np.array([each.exp() for each in logits])
    return parts / parts.sum()


def multigamma(a, size):
    return arb.pi().log() * size * (size - 1) / 4 + sum(lgamma(a - arb(j) / 2) for j in range(size))


def normal(x, loc, covariance):
    d = matrix((x - loc)[:, None])
    distance = (d.transpose() * covariance.inv() * d)[0, 0]
    return -(distance + (2 * arb.pi()).log() * len(x) + log(covariance.det())) / 2


def student(x, df, loc, scale):
    d, k = matrix((x - loc)[:, None]), len(x)
    distance = (d.transpose() * scale.inv() * d)[0, 0]
    constant = lgamma((df + k) / 2) - lgamma(df / 2) - ((df * arb.pi()).log() * k + log(scale.det())) / 2
    return constant - (df + k) / 2 * (1 + distance / df).log()


def wishart(x, df, scale):
    p = x.nrows()
    constant = (df * p * arb(2).log() + df * log(scale.det())) / 2 + multigamma(df / 2, p)
    return ((df - p - 1) * log(x.det()) - trace(scale.inv() * x)) / 2 - constant


def inverse_wishart(x, df, scale):
    p = x.nrows()
    constant = (df * p * arb(2).log() - df * log(scale.det())) / 2 + multigamma(df / 2, p)
    return -((df + p + 1) * log(x.det()) + trace(scale * x.inv())) / 2 - constant


def factoring(factor):
    p = len(factor)
    return p * arb(2).log() + sum((p - i) * log(factor[i, i]) for i in range(p))


def lkj_normaliser(concentration, size):
    """As products of beta functions: Lewandowski, Kurowicka and Joe (2009), equation (17)."""
    total = arb(0)
    for k in range(1, size):
        b = concentration + arb(size - k - 1) / 2
        lbeta = 2 * lgamma(b) - lgamma(2 * b)
        total += (2 * concentration - 2 + size - k) * (size - k) * arb(2).log() + (size - k) * lbeta
    return total


def lkj(x, concentration):
    return (concentration - 1) * log(symmetric(x).det()) - lkj_normaliser(concentration, len(x))


def lkj_cholesky(x, concentration):
    k = len(x)
    powers = sum((k - i - 3 + 2 * concentration) * log(x[i, i]) for i in range(1, k))
    return powers - lkj_normaliser(concentration, k)


def multinomial(x, n, probs):
    return lgamma(n + 1) + sum(count * log(p) - lgamma(count + 1) for count, p in zip(x, probs, strict=True))


def dirichlet(x, alpha):
    return lgamma(alpha.sum()) + sum((a - 1) * log(u) - lgamma(a) for u, a in zip(x, alpha, strict=True))


def dirichlet_multinomial(x, n, alpha):
    pairs = zip(x, alpha, strict=True)
    each = sum(lgamma(count + a) - lgamma(a) - lgamma(count + 1) for count, a in pairs)
    return each + lgamma(n + 1) + lgamma(alpha.sum()) - lgamma(alpha.sum() + n)


def laplace(x, loc, covariance):
    d, k = matrix((x - loc)[:, None]), len(x)
    distance, order = (d.transpose() * covariance.inv() * d)[0, 0], 1 - arb(k) / 2
    constant = arb(2).log() - ((2 * arb.pi()).log() * k + log(covariance.det())) / 2
    return constant + order / 2 * log(distance / 2) + log((2 * distance).sqrt().bessel_k(order))


def matrix_normal(x, loc, rows, columns):
    d, (n, p) = matrix(x - loc), x.shape
    distance = trace(columns.inv() * d.transpose() * rows.inv() * d)
    return -(distance + (2 * arb.pi()).log() * n * p + p * log(rows.det()) + n * log(columns.det())) / 2


def log_normal(x, loc, covariance):
    return normal(logs(x), loc, covariance) - sum(logs(x))


def logistic_normal(x, loc, covariance):
    return normal(logs(x)[:-1] - log(x[-1]), loc, covariance) - sum(logs(x))


def zero_sum_normal(x, scale):
    return -(x * x).sum() / (2 * scale * scale) - (len(x) - 1) * (log(scale) + (2 * arb.pi()).log() / 2)


def von_mises_fisher(x, loc, concentration):
    k, d = arb(len(x)), x - loc
    bessel = log(concentration.bessel_i(k / 2 - 1)) - (k / 2 - 1) * log(concentration)
    return concentration * (1 - (d * d).sum() / 2) - k / 2 * (2 * arb.pi()).log() - bessel


def negative_multinomial(x, r, q):
    each = sum(count * log(part) - lgamma(count + 1) for count, part in zip(x, q, strict=True))
    return each + lgamma(r + x.sum()) - lgamma(r) + r * log(1 - q.sum())


def log_choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def multivariate_hypergeometric(x, population, n):
    each = sum(log_choose(count, taken) for count, taken in zip(population, x, strict=True))
    return each - log_choose(population.sum(), n)


def poisson_binomial(x, probs):
    """Over all sets of so many trials."""
    sets = itertools.combinations(range(len(probs)), int(float(x)))
    return log(sum((np.prod([p if k in which else 1 - p for k, p in enumerate(probs)]) for which in sets), arb(0)))


def generalized_dirichlet(x, alpha, beta):
    total = arb(0)
    for i, (a, b) in enumerate(zip(alpha, beta, strict=True)):
        before, behind = sum(x[i:]), sum(x[i + 1 :])
        total += (a - 1) * log(x[i]) + (b - 1) * log(behind) + (1 - a - b) * log(before)
        total += lgamma(a + b) - lgamma(a) - lgamma(b)
    return total


def plackett_luce(x, scores):
    ordered = [scores[int(float(item))] for item in x]
    return sum(log(score / sum(ordered[place:])) for place, score in enumerate(ordered))


def ordinal(cdf):
    def density(x, eta, cutpoints):
        k = int(float(x))
        above = cdf(cutpoints[k] - eta) if k < len(cutpoints) else arb(1)
        return log(above - (cdf(cutpoints[k - 1] - eta) if k else arb(0)))

    return density


def logistic_cdf(z):
    return 1 / (1 + (-z).exp())


def normal_cdf(z):
    return (-z / arb(2).sqrt()).erfc() / 2


COVARIANCES = {  # by the ways to write a normal distribution
    ("loc", "covariance"): symmetric,
    ("loc", "scale_tril"): squared,
    ("loc", "scale_diag"): lambda d: diagonal(d * d),
    ("loc", "precision"): lambda a: symmetric(a).inv(),
    ("loc", "cov_factor", "cov_diag"): lambda w, d: matrix(w) * matrix(w).transpose() + diagonal(d),
}
NORMALS = (  # and how many of these they have
    ("MvNormal", normal, 5), ("MvLogNormal", log_normal, 5), ("LogisticNormal", logistic_normal, 3),
    ("MvLaplace", laplace, 3),
)
TRUTHS = {
    ("Categorical", "probs"): lambda x, probs: log(probs[int(float(x))]),
    ("Categorical", "logits"): lambda x, logits: log(softmax(logits)[int(float(x))]),
    ("Dirichlet", "alpha"): dirichlet,
    ("Multinomial", "n", "probs"): multinomial,
    ("Multinomial", "n", "logits"): lambda x, n, logits: multinomial(x, n, softmax(logits)),
    ("DirichletMultinomial", "n", "alpha"): dirichlet_multinomial,
    ("GeneralizedDirichlet", "alpha", "beta"): generalized_dirichlet,
    ("NegativeMultinomial", "r", "q"): negative_multinomial,
    ("NegativeMultinomial", "r", "mean"):
        lambda x, r, mean: negative_multinomial(x, r, np.array([each / (r + mean.sum()) for each in mean])),
    ("MultivariateHypergeometric", "population", "n"): multivariate_hypergeometric,
    ("PoissonBinomial", "probs"): poisson_binomial,
    ("PoissonBinomial", "logits"):
        lambda x, logits: poisson_binomial(x, np.array([logistic_cdf(each) for each in logits])),
    **{
        (name, *way): lambda x, loc, *given, of=density, covariance=covariance: of(x, loc, covariance(*given))
        for name, density, ways in NORMALS for way, covariance in [*COVARIANCES.items()][:ways]
    },
    ("MatrixNormal", "loc", "row_covariance", "column_covariance"):
        lambda x, loc, u, v: matrix_normal(x, loc, symmetric(u), symmetric(v)),
    ("MatrixNormal", "loc", "row_tril", "column_tril"):
        lambda x, loc, u, v: matrix_normal(x, loc, squared(u), squared(v)),
    ("ZeroSumNormal", "scale"): zero_sum_normal,
    ("VonMisesFisher", "loc", "concentration"): von_mises_fisher,
    ("PlackettLuce", "scores"): plackett_luce,
    ("PlackettLuce", "logits"): lambda x, logits: plackett_luce(x, softmax(logits)),
    ("OrderedLogistic", "eta", "cutpoints"): ordinal(logistic_cdf),
    ("OrderedProbit", "eta", "cutpoints"): ordinal(normal_cdf),
    ("MvStudentT", "df", "loc", "scale_matrix"): lambda x, df, loc, a: student(x, df, loc, symmetric(a)),
    ("MvStudentT", "df", "loc", "scale_tril"): lambda x, df, loc, a: student(x, df, loc, squared(a)),
    ("MvStudentT", "df", "loc", "scale_diag"): lambda x, df, loc, a: student(x, df, loc, diagonal(a * a)),
    ("LKJ", "concentration"): lkj,
    ("LKJCholesky", "concentration"): lkj_cholesky,
    ("Wishart", "df", "scale_matrix"): lambda x, df, a: wishart(symmetric(x), df, symmetric(a)),
    ("Wishart", "df", "scale_tril"): lambda x, df, a: wishart(symmetric(x), df, squared(a)),
    ("WishartCholesky", "df", "scale_matrix"): lambda x, df, a: wishart(squared(x), df, symmetric(a)) + factoring(x),
    ("WishartCholesky", "df", "scale_tril"): lambda x, df, a: wishart(squared(x), df, squared(a)) + factoring(x),
    ("InverseWishart", "df", "scale_matrix"): lambda x, df, a: inverse_wishart(symmetric(x), df, symmetric(a)),
    ("InverseWishart", "df", "scale_tril"): lambda x, df, a: inverse_wishart(symmetric(x), df, squared(a)),
    ("InverseWishartCholesky", "df", "scale_matrix"):
        lambda x, df, a: inverse_wishart(squared(x), df, symmetric(a)) + factoring(x),
    ("InverseWishartCholesky", "df", "scale_tril"):
        lambda x, df, a: inverse_wishart(squared(x), df, squared(a)) + factoring(x),
}


def truth(way, arguments, bits=400):
    """The log density of one event, and its derivative in every element of every argument, as floats.

    ``bits`` are as many as cancel, and those of a float.
    """
    density = TRUTHS[way]
    before, ctx.prec = ctx.prec, bits
    try:
        given = [balls(argument) for argument in arguments]
        scalars = [argument.ndim == 0 for argument in given]
        at = [argument[()] if scalar else argument for argument, scalar in zip(given, scalars, strict=True)]
        value = float(density(*at).mid())
        slopes = [np.zeros(argument.shape) for argument in given]
        discrete = way[0] in DISCRETE
        for number, argument in enumerate(given):
            fixed = (discrete and number == 0) or way[number] == "n"
            for place in () if fixed else itertools.product(*map(range, argument.shape)):
                ends = [density(*moved(at, number, place, step)) for step in (STEP, -STEP)]
                slopes[number][place] = float(((ends[0] - ends[1]) / (2 * arb(STEP))).mid())
        return value, slopes
    finally:
        ctx.prec = before


def moved(arguments, number, place, step):
    """The arguments, one element of one of them a step aside."""
    argument = np.array(arguments[number], dtype=object)
    argument[place] += arb(step)
    changed = argument[()] if argument.ndim == 0 else argument
    return [changed if at == number else each for at, each in enumerate(arguments)]


DISCRETE = {
    "Categorical", "Multinomial", "DirichletMultinomial", "OrderedLogistic", "OrderedProbit", "PlackettLuce",
    "NegativeMultinomial", "MultivariateHypergeometric", "PoissonBinomial",
}
