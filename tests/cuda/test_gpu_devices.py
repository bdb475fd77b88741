"""Rows shared by GPUs, here one GPU several times: the same bits for any number, beside the CPU's in memory."""

import gc
import threading

import numpy as np
import pytest

import vecdist
from vecdist import LogDensity, devices, lazy, logpdf, value_and_grad
from vecdist.distributions import Bernoulli, Gamma, Normal, Poisson
from vecdist.parameters import positive, real

pytestmark = pytest.mark.cuda

WAYS = ([0], [0, 0], [0, 0, 0], [0] * 8)
N = 100_003


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def bits(found):
    return b"".join(each.get().tobytes() for each in found)


def gradient(expression, wrt):
    value, slopes = value_and_grad(expression, wrt=wrt)
    return [value, *slopes]


def gamma(x, a, t, **_):
    return logpdf(Gamma(a, t), x).sum(), (a, t)


def regression(x, m, b, a, **_):
    return logpdf(Normal(lazy(m) @ lazy(b), a), x).sum() + logpdf(Normal(0.0, 1.0), b).sum(), (b, a)


def two_rounds(x, a, **_):  # a mean, and what is left of it
    return ((lazy(x) - lazy(a) * lazy(x).mean()) ** 2).sum(), (a,)


def extremes(x, m, a, **_):
    return (lazy(m) * lazy(a)).max() + (lazy(x) * lazy(a)).min() + vecdist.logsumexp(lazy(x) * a), (a,)


def moments(m, b, **_):
    return (lazy(m).T @ (lazy(m) * lazy(b)))[0].sum(), (b,)


MODELS = (gamma, regression, two_rounds, extremes, moments)


def given(dtype):
    rng = np.random.default_rng(1)
    rows = {"x": rng.gamma(2.0, 1.0, N), "m": rng.normal(size=(N, 3))}
    whole = {"a": np.array(1.7), "t": np.array(0.8), "b": np.array([0.3, -0.5, 0.2])}
    return tuple({name: array.astype(dtype) for name, array in each.items()} for each in (rows, whole))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_any_number_of_devices_has_the_same_bits(cupy, model, dtype):
    rows, whole = given(dtype)
    wanted = gradient(*model(**rows, **whole))
    there, found = {name: cupy.asarray(array) for name, array in whole.items()}, []
    for names in WAYS:
        sharded = {name: devices(names).shard(array) for name, array in rows.items()}
        found += [gradient(*model(**sharded, **there)) for _ in range(3)]
    assert len(set(map(bits, found))) == 1
    for mine, other in zip(found[0], wanted, strict=True):
        assert mine.dtype == other.dtype and mine.shape == np.shape(other)
        np.testing.assert_allclose(mine.get(), other, rtol={"f4": 2e-4, "f8": 1e-11}[dtype], atol=1e-9)


def density(x, y):
    def model(mu, sigma, rate):
        prior = logpdf(Normal(0.0, 2.0), mu), logpdf(Gamma(2.0, 1.0), rate)
        return {"prior": prior, "likelihood": {"x": logpdf(Normal(mu, sigma), x), "y": logpdf(Poisson(rate), y)}}

    return LogDensity(model, mu=real(), sigma=positive(), rate=positive())


def data():
    rng = np.random.default_rng(2)
    return rng.normal(1.0, 2.0, N), rng.poisson(3.0, N).astype(float)


def test_log_densities_are_replayed_with_other_vectors(cupy):
    memory = density(*data())
    ways = [density(*map(devices(names).shard, data())) for names in WAYS]
    assert ways[0].logdensity(cupy.zeros(3)).device.id == 0
    rng = np.random.default_rng(0)
    for shape in ((3,), (5, 3)):
        for _ in range(4):
            x = rng.normal(size=shape)
            found = [each.logdensity_and_gradient(cupy.asarray(x)) for each in ways]
            assert len(set(map(bits, found))) == 1
            wanted = memory.logdensity_and_gradient(x)
            for mine, other in zip(found[0], wanted, strict=True):
                np.testing.assert_allclose(mine.get(), other, rtol=1e-11)
    pointwise = ways[2].pointwise_loglikelihood(cupy.asarray(x))["x"]
    np.testing.assert_allclose(pointwise.get(), memory.pointwise_loglikelihood(x)["x"], rtol=1e-12)


def test_chains_with_products_are_replayed_with_other_slopes(cupy):
    rng = np.random.default_rng(8)
    rows, seen = rng.normal(size=(60_000, 24)), (rng.random(60_000) < 0.4).astype(float)

    def logistic(slopes, rows, seen):
        return logpdf(Bernoulli(logit=rows @ slopes), seen).sum()

    fast = vecdist.compile(logistic, in_axes=(0, None, None))
    ways = [[*map(devices(names).shard, (rows, seen))] for names in ([0], [0, 0], [0, 0, 0])]
    for _ in range(3):
        slopes = 0.1 * rng.normal(size=(8, 24))
        wanted = fast.value_and_grad(slopes, rows, seen, wrt=0)
        found = [fast.value_and_grad(cupy.asarray(slopes), *way, wrt=0) for way in ways]
        assert len({bits((value, slope)) for value, slope in found}) == 1
        for mine, other in zip(found[0], wanted, strict=True):
            np.testing.assert_allclose(mine.get(), other, rtol=1e-11, atol=1e-9)


def test_samplers_go_through_all_devices(cupy):
    asked = {"chains": 4, "draws": 5, "warmup": 10, "progress": False, "key": 5}
    ways = [density(*map(devices(names).shard, data())) for names in ([0], [0, 0, 0])]
    found = [vecdist.samplers.hmc(way, **asked).positions for way in ways]
    assert found[0].tobytes() == found[1].tobytes()


def test_statistics_of_data_are_known_after_one_round(cupy):
    x, mu = data()[0], cupy.asarray(0.5)
    held = vecdist.data(devices([0, 0]).shard(x))
    for _ in range(2):
        value, slope = value_and_grad(logpdf(Normal(lazy(mu), 2.0), held).sum(), mu)
        np.testing.assert_allclose(slope.get(), (x - 0.5).sum() / 4.0, rtol=1e-10)
        wanted = (-((x - 0.5) ** 2) / 8.0 - np.log(2 * np.sqrt(2 * np.pi))).sum()
        np.testing.assert_allclose(value.get(), wanted, rtol=1e-11)


def test_streams_and_threads_wait_for_each_other(cupy):
    x, held = data()[0], devices([0, 0]).shard(data()[0])
    f = vecdist.compile(lambda mu, x: logpdf(Normal(mu, 1.0), x).sum())
    wanted = {mu: (-0.5 * (x - mu) ** 2 - 0.5 * np.log(2 * np.pi)).sum() for mu in range(8)}
    failures = []

    def work(mu):
        with cupy.cuda.Stream(non_blocking=True):
            for _ in range(20):
                parameter = cupy.full((), float(mu))
                found = f(parameter, held)
                if not np.isclose(found.get(), wanted[mu], rtol=1e-11):
                    failures.append(mu)

    threads = [threading.Thread(target=work, args=(mu,)) for mu in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_is_whole_is_computed_on_the_first(cupy):
    x, m = devices([0, 0]).shard(data()[0]), cupy.eye(40) + 0.1
    total = (lazy(x).mean() * np.linalg.slogdet(m)[1] + lazy(x).std()).compute()
    wanted = data()[0].mean() * np.linalg.slogdet(m.get())[1] + data()[0].std()
    np.testing.assert_allclose(total.get(), wanted, rtol=1e-10)


def test_rows_of_one_gpu_beside_and_products_of_matrices(cupy):
    rng = np.random.default_rng(4)
    m, w = rng.normal(size=(4096, 64)), rng.normal(size=(64, 96))
    wanted = (np.tanh(m @ w) * np.arange(4096.0)[:, None]).sum()
    for names in WAYS[:3]:
        held, beside = devices(names).shard(m), cupy.arange(4096.0)
        found = (np.tanh(lazy(held) @ cupy.asarray(w)) * lazy(beside)[:, None]).sum().compute()
        np.testing.assert_allclose(found.get(), wanted, rtol=1e-9)


def test_memory_of_rows_comes_back(cupy):
    pool = cupy.get_default_memory_pool()
    mu = cupy.asarray(0.5)
    gc.collect()
    before = pool.used_bytes()
    for _ in range(3):
        held = devices([0, 0]).shard(np.ones(2**22))
        _ = value_and_grad(logpdf(Normal(lazy(mu), 1.0), held).sum(), mu)
        del held, _
        vecdist.clear_cache()
        gc.collect()
    assert pool.used_bytes() - before < 2**20
