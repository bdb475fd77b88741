"""Minibatch gradients in the optimisers of JAX and PyTorch: a few rows in each step, and the mode of all rows."""

import numpy as np
import pytest
from clients import CLIENT

import vecdist
import vecdist.interop
from vecdist import LogDensity, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import real

pytestmark = CLIENT

ROWS, BATCH, STEPS = 400, 20, 600
RNG = np.random.default_rng(1)
X = RNG.normal(size=(ROWS, 3))
Y = X @ [1.0, -2.0, 0.5] + RNG.normal(size=ROWS)
MODE = np.linalg.solve(X.T @ X + np.eye(3), X.T @ Y)


def regression(beta, x, y):
    return {"prior": logpdf(Normal(0.0, 1.0), beta).sum(), "likelihood": logpdf(Normal(x @ beta, 1.0), y)}


@pytest.fixture(scope="module")
def estimate():
    """The log density by some rows, as a compiled function of a vector and of which rows these are."""
    return vecdist.compile(LogDensity(regression, rows={"x": X, "y": Y}, beta=real(3)).trace)


def test_optax(estimate):
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    jax.config.update("jax_enable_x64", True)
    f = vecdist.interop.jax.function(estimate)
    optimiser = optax.adam(optax.exponential_decay(0.1, STEPS, 1e-3))
    batches = np.asarray(vecdist.random.minibatch(3, np.arange(STEPS), BATCH, ROWS))

    def step(carry, batch):
        x, state = carry
        slopes = jax.grad(lambda x: -f(x, batch))(x)
        updates, state = optimiser.update(slopes, state)
        return (optax.apply_updates(x, updates), state), None

    start = jax.numpy.zeros(3)
    (found, _), _ = jax.jit(lambda: jax.lax.scan(step, (start, optimiser.init(start)), batches))()
    np.testing.assert_allclose(found, MODE, atol=0.02)


def test_torch(estimate):
    torch = pytest.importorskip("torch")
    f = vecdist.interop.torch.function(estimate)
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([x], lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 1e-3 ** (1.0 / STEPS))
    generator = torch.Generator().manual_seed(4)
    loader = torch.utils.data.DataLoader(torch.arange(ROWS), BATCH, shuffle=True, generator=generator)
    for _ in range(STEPS * BATCH // ROWS):
        for batch in loader:
            optimiser.zero_grad()
            (-f(x, batch)).backward()
            optimiser.step()
            schedule.step()
    np.testing.assert_allclose(x.detach().numpy(), MODE, atol=0.02)
