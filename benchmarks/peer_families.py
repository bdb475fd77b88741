"""Families as NumPyro and torch have them, written in the parameters of ours; run as a script, their values for a file.

``python peer_families.py arrays.npz answers.npz`` needs only NumPy beside the peers, so that they may be in an
environment of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

# The parameters are those of the family's first parametrisation.
NUMPYRO = {
    "AsymmetricLaplace": "AsymmetricLaplace(loc, scale, asymmetry)",
    "Bernoulli": "Bernoulli(probs=p)",
    "Beta": "Beta(alpha, beta)",
    "BetaBinomial": "BetaBinomial(alpha, beta, n)",
    "BetaNegativeBinomial": "BetaNegativeBinomial(beta, alpha, r)",
    "Binomial": "Binomial(n, probs=p)",
    "Cauchy": "Cauchy(loc, scale)",
    "Chi2": "Chi2(df)",
    "DiscreteUniform": "DiscreteUniform(low, high)",
    "Exponential": "Exponential(1 / scale)",
    "Gamma": "Gamma(shape, 1 / scale)",
    "Geometric": "Geometric(probs=p)",
    "Gompertz": "Gompertz(shape, rate)",
    "Gumbel": "Gumbel(loc, scale)",
    "HalfCauchy": "HalfCauchy(scale)",
    "HalfNormal": "HalfNormal(scale)",
    "HurdleGamma": "HurdleGamma(gate, shape, 1 / scale)",
    "HurdleLogNormal": "HurdleLogNormal(gate, loc, scale)",
    "HurdlePoisson": "HurdlePoisson(gate, rate)",
    "InverseGamma": "InverseGamma(shape, scale)",
    "Kumaraswamy": "Kumaraswamy(a, b)",
    "Laplace": "Laplace(loc, scale)",
    "Levy": "Levy(loc, scale)",
    "LogNormal": "LogNormal(loc, scale)",
    "LogUniform": "LogUniform(low, high)",
    "Logistic": "Logistic(loc, scale)",
    "NegativeBinomial": "NegativeBinomialProbs(r, 1 - p)",
    "Normal": "Normal(loc, scale)",
    "Pareto": "Pareto(scale, shape)",
    "Poisson": "Poisson(rate)",
    "RelaxedBernoulli": "RelaxedBernoulli(temperature, probs=p)",
    "StudentT": "StudentT(df, loc, scale)",
    "TruncatedCauchy": "TruncatedCauchy(loc, scale, low=low, high=high)",
    "TruncatedNormal": "TruncatedNormal(loc, scale, low=low, high=high)",
    "Uniform": "Uniform(low, high)",
    "VonMises": "VonMises(loc, concentration)",
    "Weibull": "Weibull(scale, shape)",
    "ZeroInflatedPoisson": "ZeroInflatedPoisson(gate, rate)",
}
TORCH = {
    "Bernoulli": "Bernoulli(probs=p)",
    "Beta": "Beta(alpha, beta)",
    "Binomial": "Binomial(n, probs=p)",
    "Cauchy": "Cauchy(loc, scale)",
    "Chi2": "Chi2(df)",
    "ContinuousBernoulli": "ContinuousBernoulli(probs=p)",
    "Exponential": "Exponential(1 / scale)",
    "FisherSnedecor": "FisherSnedecor(df1, df2)",
    "Gamma": "Gamma(shape, 1 / scale)",
    "GeneralizedPareto": "GeneralizedPareto(loc, scale, shape)",  # fails on float64
    "Geometric": "Geometric(probs=p)",
    "Gumbel": "Gumbel(loc, scale)",
    "HalfCauchy": "HalfCauchy(scale)",
    "HalfNormal": "HalfNormal(scale)",
    "InverseGamma": "InverseGamma(shape, scale)",
    "Kumaraswamy": "Kumaraswamy(a, b)",
    "Laplace": "Laplace(loc, scale)",
    "LogNormal": "LogNormal(loc, scale)",
    "NegativeBinomial": "NegativeBinomial(r, probs=1 - p)",
    "Normal": "Normal(loc, scale)",
    "Pareto": "Pareto(scale, shape)",
    "Poisson": "Poisson(rate)",
    "RelaxedBernoulli": "RelaxedBernoulli(temperature, probs=p)",
    "StudentT": "StudentT(df, loc, scale)",
    "Uniform": "Uniform(low, high)",
    "VonMises": "VonMises(loc, concentration)",
    "Weibull": "Weibull(scale, shape)",
}


def numpyro_density(name: str, names: Sequence[str]) -> Callable[..., Any]:
    """The log density of a family at the parameters and, last, x."""
    import numpyro.distributions

    return density(NUMPYRO[name], names, vars(numpyro.distributions))


def torch_density(name: str, names: Sequence[str]) -> Callable[..., Any]:
    """The log density of a family at the parameters and, last, x; checks of arguments would be kernels of their own."""
    import torch.distributions

    return density(f"{TORCH[name][:-1]}, validate_args=False)", names, vars(torch.distributions))


def density(made: str, names: Sequence[str], words: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of the parameters and x, from how a distribution is made of the parameters."""
    return eval(f"lambda {', '.join(names)}, x: {made}.log_prob(x)", dict(words))


def by_numpyro(name: str, names: Sequence[str], given: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The value and all partials, the last in x."""
    import jax

    jax.config.update("jax_enable_x64", True)
    density = numpyro_density(name, names)

    @jax.jit
    def derived(*arrays: Any) -> Any:
        value, pull = jax.vjp(density, *arrays)
        return value, *pull(jax.numpy.ones_like(value))

    return [np.asarray(array) for array in derived(*map(jax.numpy.asarray, given))]


def by_torch(name: str, names: Sequence[str], given: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The value and all partials, the last in x."""
    import torch

    arrays = [torch.tensor(array, requires_grad=True) for array in given]
    value = torch_density(name, names)(*arrays)
    found = torch.autograd.grad(value.sum(), arrays, allow_unused=True)
    none = torch.full_like(value, torch.nan)
    return [value.detach().numpy(), *((none if grad is None else grad).numpy() for grad in found)]


PEERS = {"NumPyro": (NUMPYRO, by_numpyro), "torch": (TORCH, by_torch)}


def answers(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By ``peer/case/place`` what each peer that has the family finds; arrays are named ``case/name``, x last."""
    cases: dict[str, dict[str, np.ndarray]] = {}
    for key, array in arrays.items():
        case, _, name = key.rpartition("/")
        cases.setdefault(case, {})[name] = array
    found = {}
    for case, given in cases.items():
        for peer, (table, compute) in PEERS.items():
            family = case.partition("/")[0]
            if family in table:
                try:
                    results = compute(family, list(given)[:-1], list(given.values()))
                except Exception as error:  # a peer that fails takes no one else down
                    print(f"{peer}, {case}: {error!r}"[:200], file=sys.stderr)
                    continue
                found |= {f"{peer}/{case}/{place}": result for place, result in enumerate(results)}
    return found


if __name__ == "__main__":
    np.savez(sys.argv[2], **answers(np.load(sys.argv[1])))
