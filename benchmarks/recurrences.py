"""Recurrences: log densities of series with their gradients, beside ``jax.lax.scan``.

GARCH(1, 1) and AR(2) in their coefficients, a hidden Markov model of three states in its emission means and
transitions; of one series, of many, and for many chains of parameters.
"""

from __future__ import annotations

import functools
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import timing
from contest import Contest
from timing import Contender

STEPS = 1000
STATES = 3
SERIES = 1000
CHAINS = 64


@dataclass(frozen=True)
class Model:
    """A total log density in a library: ``formula(m, scan, *parameters, x)``, of parameters of one chain."""

    name: str
    formula: Callable[..., Any]
    parameters: tuple[np.ndarray, ...]
    count: int = 1  # series
    chains: int = 0


def garch(m: Any, scan: Callable[..., Any], omega: Any, alpha: Any, beta: Any, x: Any) -> Any:
    """Normal elements, whose variance follows the last square and the last variance."""
    squares = x * x

    def step(h: Any, square: Any) -> tuple[Any, Any]:
        return omega + alpha * square + beta * h, h

    _, h = scan(step, m.ones_like(squares[0]) * omega / (1 - alpha - beta), squares)
    return -0.5 * (m.log(h) + squares / h).sum()


def autoregression(m: Any, scan: Callable[..., Any], first: Any, second: Any, log_scale: Any, x: Any) -> Any:
    """Normal elements about the last two, which a recurrence carries."""

    def step(before: Any, here: Any) -> tuple[Any, Any]:
        return (here, before[0]), here - first * before[0] - second * before[1]

    _, rest = scan(step, (x[1], x[0]), x[2:])
    return -0.5 * ((rest * m.exp(-log_scale)) ** 2).sum() - log_scale * rest.size


def markov(m: Any, scan: Callable[..., Any], means: Any, transition: Any, x: Any) -> Any:
    """Normal elements about the mean of a state that is not seen; rows of ``transition`` are unnormalised."""
    moves = transition - logsumexp(m, transition, -1)[:, None]
    densities = -0.5 * (x[:, None] - means) ** 2

    def step(predicted: Any, density: Any) -> tuple[Any, Any]:
        joint = predicted + density
        total = logsumexp(m, joint, -1)
        return logsumexp(m, (joint - total)[:, None] + moves, 0), total

    return scan(step, 0.0 * means - np.log(STATES), densities)[1].sum()


def logsumexp(m: Any, x: Any, axis: int) -> Any:
    """The logarithm of a sum of exponentials, by the library's own function."""
    if m is np:
        import vecdist

        return vecdist.logsumexp(x, axis=axis)
    import jax

    return jax.nn.logsumexp(x, axis=axis)


def models() -> list[Model]:
    """What is measured."""
    rng, scalars = np.random.default_rng(8), (np.array(0.1), np.array(0.15), np.array(0.8))
    ar = np.array(0.5), np.array(-0.3), np.array(0.1)
    hidden = np.array([-1.0, 0.0, 2.0]), rng.normal(size=(STATES, STATES)) + 2.0 * np.eye(STATES)
    many = tuple(value * rng.uniform(0.9, 1.0, CHAINS) for value in scalars)
    chains = tuple(value + 0.1 * rng.normal(size=(CHAINS, *value.shape)) for value in hidden)
    return [
        Model("GARCH(1, 1), one series", garch, scalars),
        Model(f"GARCH(1, 1), {SERIES} series", garch, scalars, SERIES),
        Model(f"GARCH(1, 1), {CHAINS} chains", garch, many, chains=CHAINS),
        Model("AR(2), one series", autoregression, ar),
        Model(f"AR(2), {SERIES} series", autoregression, ar, SERIES),
        Model(f"HMM of {STATES} states, one series", markov, hidden),
        Model(f"HMM of {STATES} states, {CHAINS} chains", markov, chains, chains=CHAINS),
    ]


def slopes(function: Callable[..., np.ndarray], parameters: tuple[np.ndarray, ...], *data: np.ndarray) -> list[Any]:
    """A value and its gradient in parameters, each with a leading axis of chains, by complex steps."""
    given = [np.asarray(each, np.complex128) for each in parameters]
    found: list[Any] = [function(*given, *data).real]
    for place, each in enumerate(given):
        slope = np.empty(each.shape)
        for index in np.ndindex(each.shape[1:]):
            moved = each.copy()
            moved[(slice(None), *index)] += 1e-30j
            slope[(slice(None), *index)] = function(*given[:place], moved, *given[place + 1 :], *data).imag / 1e-30
        found.append(slope)
    return found


def garch_loop(omega: Any, alpha: Any, beta: Any, x: np.ndarray) -> Any:
    """The formula of ``garch`` as a loop; parameters have a leading axis, ``x`` has shape (T, series)."""
    omega, alpha, beta = (each[:, None] for each in (omega, alpha, beta))
    h, total = omega / (1 - alpha - beta) + 0.0 * x[0], 0.0
    for row in x:
        total = total - 0.5 * (np.log(h) + row * row / h)
        h = omega + alpha * row * row + beta * h
    return total.sum(-1)


def autoregression_sum(first: Any, second: Any, log_scale: Any, x: np.ndarray) -> Any:
    """The formula of ``autoregression``, at once."""
    first, second, log_scale = (each[:, None, None] for each in (first, second, log_scale))
    rest = x[2:] - first * x[1:-1] - second * x[:-2]
    return (-0.5 * (rest * np.exp(-log_scale)) ** 2 - log_scale).sum((1, 2))


def markov_loop(means: Any, transition: Any, x: np.ndarray) -> Any:
    """The formula of ``markov`` with probabilities, scaled in each step."""
    moves = np.exp(transition) / np.exp(transition).sum(-1, keepdims=True)
    state, total = np.full(means.shape, 1.0 / STATES + 0j), 0.0
    for value in x[:, 0]:
        state = state * np.exp(-0.5 * (value - means) ** 2)
        total, state = total + np.log(state.sum(-1)), state / state.sum(-1, keepdims=True)
        state = np.einsum("ci,cij->cj", state, moves)
    return total


LOOPS = {garch: garch_loop, autoregression: autoregression_sum, markov: markov_loop}


def contest(chosen: Namespace, model: Model) -> Contest:
    """A series, or several side by side; wanted is what the loops give."""
    x = np.random.default_rng(9).normal(size=(chosen.size, model.count))
    given = [np.asarray(each, chosen.dtype) for each in model.parameters]
    chains = [each.astype(np.float64)[() if model.chains else None] for each in given]
    found = slopes(LOOPS[model.formula], tuple(chains), x.astype(chosen.dtype).astype(np.float64))
    wanted = found if model.chains else [each[0] for each in found]
    series = np.asarray(x if model.count > 1 else x[:, 0], chosen.dtype)
    size = chosen.size * model.count * max(1, model.chains)
    return Contest(model.name, chosen, [*given, series], len(given), size, wanted, unit="steps")


def by_vecdist(c: Contest, model: Model) -> Contender:
    """The formula with ``vecdist.scan``."""
    import vecdist

    options: dict[str, Any] = {"in_axes": (*[0] * c.count, None)} if model.chains else {}
    return c.vecdist(functools.partial(model.formula, np, vecdist.scan), **options)


def by_jax(c: Contest, model: Model) -> Contender:
    """The formula with ``jax.lax.scan``, jitted; chains by ``jax.vmap``."""
    import jax
    import jax.numpy as jnp

    derived = jax.value_and_grad(functools.partial(model.formula, jnp, jax.lax.scan), argnums=c.first)
    return c.jitted(jax.vmap(derived, in_axes=(*[0] * c.count, None)) if model.chains else derived)


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": STEPS, "cuda": STEPS})
    for model in models():
        c = contest(chosen, model)
        c.run({"vecdist": lambda c=c, m=model: by_vecdist(c, m), "JAX": lambda c=c, m=model: by_jax(c, m)})
