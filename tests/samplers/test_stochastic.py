"""Stochastic gradient Langevin and Hamiltonian dynamics, judged by the recursions that they are for Gaussians."""

import numpy as np
import pytest
from scipy import linalg, stats

from vecdist import LogDensity, logpdf, random
from vecdist.distributions import Gamma, Normal, Poisson
from vecdist.parameters import positive, real
from vecdist.samplers import polynomial, sghmc, sgld
from vecdist.samplers.friction import Friction
from vecdist.samplers.kernels import evaluated

ROWS, BATCH, CHAINS = 40, 8, 256
WEIGHT = np.array([[1.0, 0.4], [0.4, 0.5]])  # the precision of an observation
SEEN = np.random.default_rng(2).multivariate_normal([1.0, -2.0], np.linalg.inv(WEIGHT), ROWS)
PRECISION = np.eye(2) + ROWS * WEIGHT
MEAN = np.linalg.solve(PRECISION, WEIGHT @ SEEN.sum(axis=0))
METRIC = np.array([0.03, 0.05])
NOISE = WEIGHT @ np.cov(SEEN.T) @ WEIGHT * (ROWS**2 / BATCH * (1.0 - BATCH / ROWS))  # of a gradient, over batches
FIXED = {"chains": CHAINS, "draws": 300, "warmup": 40, "steps": 1, "batch": BATCH, "key": 3, "progress": False}


def model(mu, y):
    apart = y - mu
    return {"prior": -0.5 * (mu * mu).sum(), "likelihood": -0.5 * (apart * (apart @ WEIGHT)).sum(axis=1)}


@pytest.fixture(scope="module")
def density():
    return LogDensity(model, rows={"y": SEEN}, mu=real(2))


def recursion(rates, friction):
    """The matrix of a step v' = (1 - a) v + s g, x' = x + v' of positions and momenta, for a Gaussian."""
    kick, keep = np.diag(rates) @ PRECISION, (1.0 - friction) * np.eye(2)
    return np.block([[np.eye(2) - kick, keep], [-kick, keep]])


def stationary(rates, friction, added):
    """The covariance of positions where each step adds normal numbers of a covariance to momenta, exactly."""
    return linalg.solve_discrete_lyapunov(recursion(rates, friction), np.kron(np.ones((2, 2)), added))[:2, :2]


def of_epochs(rates, friction, noise):
    """What the noise of gradients adds to that covariance, exactly, where batches are without replacement in an epoch.

    Those of an epoch add up to 0: of r of them, the covariance of two is -1 / (r - 1) of the variance.  It is the mean
    over places in an epoch.
    """
    step, kick, found = recursion(rates, friction), np.diag(rates), 0.0
    batches, horizon = ROWS // BATCH, 400
    answers = [np.vstack([kick, kick])]
    for _ in range(horizon - 1):
        answers.append(step @ answers[-1])
    ages = np.arange(horizon)
    for place in range(batches):
        epoch = (place - ages) // batches
        tied = np.where(epoch[:, None] == epoch, -1.0 / (batches - 1), 0.0) + np.eye(horizon) * batches / (batches - 1)
        weighted = np.einsum("jk,kab->jab", tied, np.array(answers))
        found = found + np.einsum("jab,bc,jdc->ad", np.array(answers), noise, weighted) / batches
    return found[:2, :2]


def squared(rates, noise):
    """The covariance of gradients of a noise, times rates."""
    return np.diag(rates) @ noise @ np.diag(rates)


def check_moments(draws, wanted):
    """Means and second moments, by the spread between chains, which are independent."""
    apart = draws.positions - MEAN
    moments = np.concatenate([apart, apart**2, apart[..., :1] * apart[..., 1:]], axis=2).mean(axis=1)
    expected = np.array([0.0, 0.0, *np.diag(wanted), wanted[0, 1]])
    error = moments.std(axis=0, ddof=1) / np.sqrt(len(moments))
    assert (np.abs(moments.mean(axis=0) - expected) < 4.0 * error).all()
    return error


def test_langevin_dynamics_have_the_covariance_of_their_recursion(density):
    draws = sgld(density, step_size=0.7, metric=METRIC, **FIXED)
    rates = 0.35 * METRIC
    without = stationary(rates, 1.0, np.diag(2.0 * rates))
    wanted = without + of_epochs(rates, 1.0, NOISE)
    error = check_moments(draws, wanted)
    independent = stationary(rates, 1.0, np.diag(2.0 * rates) + squared(rates, NOISE))
    for other in (np.linalg.inv(PRECISION), without, independent):
        assert (np.abs(np.diag(other - wanted)) > 10.0 * error[2:4]).all()  # the errors tell these apart
    assert draws.positions.shape == (CHAINS, 300, 2) and not draws.divergences.any()
    assert draws.unpacked["mu"].shape == (CHAINS, 300, 2) and draws.rhat.max() < 1.02 and "256 chains" in repr(draws)


def test_a_center_takes_the_noise_away(density):
    options = FIXED | {"center": MEAN + 0.05}
    draws = sgld(density, step_size=0.7, metric=METRIC, **options)
    check_moments(draws, stationary(0.35 * METRIC, 1.0, np.diag(0.7 * METRIC)))
    whole = density.logdensity(draws.positions)
    np.testing.assert_allclose(draws.log_densities.mean(), whole.mean(), atol=0.02)
    estimated = sghmc(density, step_size=0.8, friction=0.3, metric=METRIC, **options | {"draws": 1})
    assert (estimated.noise < 1e-20).all()


def test_hamiltonian_dynamics_leave_the_noise_of_gradients_out(density):
    asked = FIXED | {"step_size": 0.3, "friction": 0.3, "metric": METRIC}
    rates = 0.09 * METRIC
    draws = sghmc(density, **asked)
    np.testing.assert_allclose(draws.noise, np.diag(NOISE), rtol=0.05)  # of 40 times 256 pairs
    added = 2.0 * rates * (0.3 - 0.5 * rates * draws.noise)
    assert (added > 0.0).all()
    wanted = stationary(rates, 0.3, np.diag(added) + squared(rates, NOISE))
    check_moments(draws, wanted)
    naive = sghmc(density, noise=0.0, **asked)
    wider = stationary(rates, 0.3, np.diag(2.0 * rates * 0.3) + squared(rates, NOISE))
    check_moments(naive, wider)
    assert (naive.noise == 0.0).all()
    apart, wider_by = (np.abs(np.diag(each - np.linalg.inv(PRECISION))) for each in (wanted, wider))
    assert (apart < wider_by).all()  # what remains is of steps, and of correlations within gradients


def test_log_densities_are_estimates_at_the_draws(density):
    draws = sgld(density, step_size=0.7, metric=METRIC, **FIXED | {"draws": 5})
    keys = evaluated(random.fold_in(random.fold_in(random.fold_in(3, np.arange(CHAINS)), 1), 0))
    for place in range(5):
        batch = evaluated(random.minibatch(keys, 40 + place, BATCH, ROWS))
        wanted = density.logdensity(draws.positions[:, place], batch=batch)
        np.testing.assert_allclose(draws.log_densities[:, place], wanted, rtol=1e-12)


def test_step_sizes_that_fall(density):
    draws = sgld(density, step_size=polynomial(1.5, 2.0, 0.6), metric=METRIC, **FIXED | {"steps": 2, "draws": 50})
    np.testing.assert_allclose(draws.step_sizes, 1.5 * (2.0 + np.arange(81, 180, 2)) ** -0.6)
    averages = np.average(draws.positions, axis=1, weights=draws.step_sizes) - MEAN
    assert (np.abs(averages.mean(axis=0)) < 4.0 * averages.std(axis=0) / np.sqrt(CHAINS)).all()
    constant = sgld(density, step_size=0.2, metric=METRIC, **FIXED | {"draws": 5})
    assert constant.step_sizes.tolist() == [0.2] * 5


def test_a_key_gives_the_same_draws_and_chains_do_not_depend_on_others(density):
    asked = FIXED | {"step_size": 0.3, "metric": METRIC, "draws": 20}
    first, again, few = (sgld(density, **asked | {"chains": chains}) for chains in (CHAINS, CHAINS, 3))
    other = sgld(density, **asked | {"key": 4})
    for name in ("positions", "log_densities", "divergences"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    np.testing.assert_array_equal(few.positions, first.positions[:3])
    assert (other.positions != first.positions).all() and len(np.unique(first.positions[:, -1, 0])) == CHAINS


def test_a_conjugate_model_of_many_rows():
    rows, rng = 100_000, np.random.default_rng(7)
    counts = rng.poisson(3.0, rows).astype(float)
    posterior = stats.gamma(2.0 + counts.sum(), scale=1.0 / (0.5 + rows))

    def counted(rate, y):
        return {"prior": logpdf(Gamma(2.0, 2.0), rate), "likelihood": logpdf(Poisson(rate), y)}

    density = LogDensity(counted, rows={"y": counts}, rate=positive())
    variance = 1.0 / counts.sum()  # of the logarithm
    options = {"chains": 32, "draws": 600, "warmup": 50, "steps": 5, "key": 1, "progress": False}
    draws = sgld(density, step_size=0.2 * variance, batch=100, center=[np.log(3.0)], **options)
    rates = draws.unpacked["rate"]
    each = rates.mean(axis=1)
    assert abs(each.mean() - posterior.mean()) < 4.0 * each.std(ddof=1) / np.sqrt(32)
    assert rates.std() == pytest.approx(posterior.std(), rel=0.06)  # a twentieth of it is the step's own


def test_gradients_of_all_that_there_is():
    def bell(x):
        return logpdf(Normal(3.0, 0.5), x).sum()

    options = FIXED | {"batch": None, "initial": np.zeros(2), "step_size": 0.1}
    draws = sgld(bell, **options)
    np.testing.assert_array_equal(draws.positions, sgld(bell, center=np.ones(2), **options).positions)
    slow = 1.0 - 0.05 / 0.25
    each = ((draws.positions - 3.0) ** 2).mean(axis=(1, 2))
    assert abs(each.mean() - 0.1 / (1.0 - slow**2)) < 4.0 * each.std() / np.sqrt(CHAINS)


def test_a_chain_goes_back_from_where_there_is_no_density():
    def cliff(x):
        return np.where(x < 1.5, -0.5 * x * x, np.nan).sum()

    options = FIXED | {"batch": None, "chains": 32, "initial": np.array([0.0])}
    draws = sgld(cliff, step_size=0.5, **options)
    bad = draws.positions[..., 0] >= 1.5
    assert bad.any() and (draws.divergences == bad).all() and (draws.log_densities[bad] == -np.inf).all()
    back = bad[:, 1:-1]  # behind it a chain is where it came from
    np.testing.assert_allclose(draws.positions[:, 2:][back], draws.positions[:, :-2][back], rtol=1e-12)


def test_an_interruption_returns_what_was_drawn(monkeypatch, density):
    draw, asked = Friction.draw, FIXED | {"step_size": 0.3, "metric": METRIC, "draws": 20}
    whole = sgld(density, **asked)
    calls = []

    def interrupted(self):
        calls.append(self)
        if len(calls) > 52:
            raise KeyboardInterrupt
        return draw(self)

    monkeypatch.setattr(Friction, "draw", interrupted)
    part = sgld(density, **asked)
    assert part.interrupted and not whole.interrupted and "interrupted" in repr(part)
    assert part.positions.shape == (CHAINS, 12, 2) and part.divergences.shape == (CHAINS, 12)
    np.testing.assert_array_equal(part.positions, whole.positions[:, :12])


def test_progress_is_shown_on_stderr(capsys, density):
    sgld(density, step_size=0.3, metric=METRIC, **FIXED | {"progress": True, "draws": 20})
    out, err = capsys.readouterr()
    assert out == "" and "60/60 of 256 chains, step size 0.3, 0 divergences" in err.rpartition("\r")[2]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"step_size": 0.0}, "step sizes are positive, given 0.0"),
    ({"step_size": lambda t: 1.0 - t}, "step sizes are positive"),
    ({"chains": 0}, "given 0 chains"),
    ({"steps": 0}, "of 0 steps"),
    ({"batch": 0}, "given 0 of 40"),
    ({"batch": ROWS + 1}, "given 41 of 40"),
    ({"friction": 0.0}, "friction is above 0"),
    ({"metric": np.ones(3)}, "metric has shape"),
    ({"center": np.ones(3)}, "center has shape"),
    ({"center": 1.0}, "center has shape"),
    ({"noise": np.ones(3)}, "noise has shape"),
    ({"initial": np.zeros((5, 2))}, "initial has shape"),
])
def test_what_cannot_be_meant(density, arguments, message):
    with pytest.raises(ValueError, match=message):
        sghmc(density, **FIXED | {"step_size": 0.1} | arguments)


def test_batches_of_what_has_no_rows():
    with pytest.raises(TypeError, match="of a LogDensity with rows=; give batch=None"):
        sgld(lambda x: -(x * x).sum(), initial=np.zeros(2), step_size=0.1, progress=False)
    with pytest.raises(ValueError, match="made without rows="):
        sgld(LogDensity(lambda mu: -(mu**2), mu=real()), step_size=0.1, progress=False)
