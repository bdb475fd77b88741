"""What users write: a strict type checker finds no error here, and knows these types."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import vecdist
import vecdist.interop
from vecdist import LazyArray, LogDensity, Vectorize, compile, lazy, logpdf, value_and_grad  # noqa: A004
from vecdist.constraints import Constraint, positive, real
from vecdist.datasets import eight_schools
from vecdist.distributions import Categorical, Distribution, Gamma, MvNormal, Normal, StudentT, parametrisation
from vecdist.distributions.base import Parameters
from vecdist.graph.node import Node
from vecdist.parameters import Parameter
from vecdist.primitives import primitive
from vecdist.primitives.elementary import exp, log
from vecdist.samplers import Draws, chees, find_map, hmc, laplace

a, t, x = np.array([[0.5], [2.0]]), np.array(2.0), np.array([1.0, 2.0, 3.0])

# Families: each way of writing, any kind of numbers.
assert_type(Gamma(2.0, 1), Gamma)
assert_type(Gamma(mean=a, sd=[1.0, 2.0, 3.0]), Gamma)
assert_type(StudentT(3, scale=np.float32(2.0)), StudentT)
assert_type(StudentT(df=lazy(t), loc=0.0, precision=True), StudentT)
assert_type(Vectorize(Gamma, (a, t)), Gamma)
assert_type(Vectorize(Gamma, {"mean": a, "sd": t}), Gamma)
assert_type(Vectorize(MvNormal, [np.zeros(2), np.eye(2)]), MvNormal)
assert_type(Categorical([0.5, 0.5]).parameters, dict[str, Any])

# Verbs, operators and NumPy's functions.
density = logpdf(Vectorize(Gamma, (a, t)), x)
assert_type(density, LazyArray)
assert_type(density.shape, tuple[int, ...])
assert_type(np.asarray(density), NDArray[Any])
assert_type((float(lazy(2.0)), f"{lazy(2.0):.3f}"), tuple[float, str])
assert_type(-(2.0 * lazy(a) + density[0, None]) ** 2 / np.float64(3.0) > density, LazyArray)
assert_type((lazy(a) @ np.ones(1)).sum(axis=-1, keepdims=True).T.reshape(-1, 1), LazyArray)
assert_type((lazy(a).std(axis=0, ddof=1).clip(a, max=2.0) - lazy(a).flatten().argmax()).round(2), LazyArray)
target = density.sum() + logpdf(Normal(np.log(lazy(t)), 1.0), np.maximum(lazy(a), 0.0)).mean()
assert_type(target, LazyArray)
value, (of_a, of_t) = value_and_grad(target, wrt=(a, t))
print(value, of_a.shape, of_t.shape, target.item() + 1.0, np.where(lazy(a) > 1.0, 0.0, lazy(a)).shape)
_, of_t = value_and_grad(np.exp(lazy(t, "t")), wrt="t")
_, (of_a,) = vecdist.vjp(lazy(a) * 2.0, [a], np.ones((2, 1)))
assert_type(vecdist.cdf(vecdist.mixture([0.5, 0.5], Normal([0.0, 1.0], 1.0)), 0.5), LazyArray)
assert_type(vecdist.logsf(vecdist.truncated(Normal(0.0, 1.0), lower=a), 2), LazyArray)
assert_type(vecdist.hurdle(vecdist.distributions.Poisson(2.0), gate_logit=a), Distribution)
assert_type(vecdist.iid(MvNormal(np.zeros(2), np.eye(2))).logpdf(np.zeros((3, 2))), LazyArray)
assert_type(vecdist.sample(7, Gamma(a, t), (2, 3)), LazyArray)
assert_type(vecdist.random.normal(vecdist.random.fold_in(7, np.arange(4))[:, None], 3, np.float32), LazyArray)
assert_type(vecdist.linalg.cholesky([[2.0, 0.5], [0.5, 1.0]]), LazyArray)
assert_type(vecdist.logsumexp(np.log(lazy(a)), axis=(0, 1)), LazyArray)
assert_type(vecdist.explain(target, wrt=(a, t)).kernels[0].launches, int)
assert_type(vecdist.from_scipy("norm", loc=0.0, scale=2.0), Distribution)


# Compiled functions, models, samplers.
def posterior(mu: LazyArray, log_sigma: LazyArray, y: LazyArray) -> LazyArray:
    return logpdf(Normal(mu, np.exp(log_sigma)), y).sum() + logpdf(Normal(0.0, 10.0), mu)


fast = compile(posterior, in_axes={"mu": 0}, errors="nan")
values, (of_mu, _) = fast.value_and_grad(np.zeros(4), t, x, wrt=("mu", 1))
print(values.shape, of_mu.shape)
effects, errors = map(vecdist.data, eight_schools())


def schools(eta: LazyArray, mu: LazyArray, tau: LazyArray) -> dict[str, Any]:
    prior = logpdf(Normal(0.0, 1.0), eta).sum(), logpdf(Normal(0.0, 5.0), mu), logpdf(Gamma(2.0, 1.0), tau)
    return {"prior": prior, "likelihood": logpdf(Normal(mu + tau * eta, errors), effects)}


declared: dict[str, Parameter] = {"mu": vecdist.parameters.real(), "tau": vecdist.parameters.positive()}
model = LogDensity(schools, declared, eta=vecdist.parameters.real(8), dims={"eta": ["school"]}, errors="nan")
start = model.pack({"eta": np.zeros(8), "mu": 4.0, "tau": 3.0})
assert_type(start, NDArray[Any])
assert_type(model.shapes, dict[str, tuple[int, ...]])
assert_type(model.trace(start), LazyArray)
value, gradient = model.logdensity_and_gradient(start)
print(value, gradient, model.unpack(start)["tau"], model.ndim, model.names)


def samples() -> None:
    assert_type(hmc(model, chains=2, metric="dense", initial=start, progress=False), Draws)
    assert_type(chees(lambda v: logpdf(Normal(0.0, 1.0), v).sum(), initial=np.zeros(2)).ess, NDArray[Any])
    assert_type(find_map(lambda v: -np.square(v).sum(), [0.0]).converged, bool)
    assert_type(laplace(model).covariance, NDArray[Any])


def adapters() -> None:
    vecdist.interop.nutpie.model(model, native=False)
    vecdist.interop.arviz.data(model, np.zeros((4, 10, model.ndim)), observed={"likelihood": np.zeros(8)})
    vecdist.interop.jax.function(model)(start)
    vecdist.interop.torch.function(model)(start)
    vecdist.interop.pymc.model(model)
    vecdist.interop.mici.system(model)


# A family and a primitive of one's own.
def expand(y: Node) -> Node:
    return 2.0 * exp(y)


def partials(y: Node, out: Node) -> tuple[Node]:
    return (out,)


twice_exp = primitive("users_twice_exp", expand=expand, partials=partials, floating=True)


class HalfAsWide(Distribution):
    """A normal distribution with half the scale."""

    @parametrisation(loc=real, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": 0.5 * scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return real

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -0.5 * ((x - p.loc) / p.scale) ** 2 - log(p.scale) - 0.9189385332046727


assert_type(logpdf(HalfAsWide(0.0, scale=2.0), twice_exp(lazy(x))), LazyArray)
