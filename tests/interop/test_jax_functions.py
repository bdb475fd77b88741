"""Compiled functions as functions of JAX: values and derivatives of any order beside the same formulas in JAX."""

import os
import subprocess
import sys

import numpy as np
import pytest
from clients import CLIENT
from hypothesis import given, settings
from hypothesis import strategies as st

import vecdist
import vecdist.interop
from vecdist import logpdf
from vecdist.distributions import Gamma, Normal

pytestmark = CLIENT


@pytest.fixture(autouse=True, scope="module")
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def formulas(np):
    """Of a vector ``a`` and a matrix ``x`` whose rows are as long, in the words of NumPy or of JAX."""

    def elementwise(a, x):
        return np.exp(-a * a) * np.sin(x) + a * x

    def moved(a, x):
        return (np.cos(a[None, ::-1] * x).sum(axis=0) / (1.0 + (x * x).mean())).reshape(-1, 1)

    def scalar(a, x):
        return np.log1p((x @ a) ** 2).sum()

    return [elementwise, moved, scalar]


def squares(f):
    return lambda *arrays: (f(*arrays) ** 2).sum()


DERIVED = {
    "value": lambda jax, f: f,
    "grad": lambda jax, f: jax.grad(squares(f), (0, 1)),
    "jacfwd": lambda jax, f: jax.jacfwd(f, (0, 1)),
    "jacrev": lambda jax, f: jax.jacrev(f, (0, 1)),
    "hessian": lambda jax, f: jax.hessian(squares(f), (0, 1)),
    "reverse over reverse": lambda jax, f: jax.jacrev(jax.jacrev(f), 1),
}


def pair(which, dtype, rows, length, seed):
    """A vector and a matrix, the formula compiled by vecdist, and that of JAX."""
    import jax.numpy as jnp

    random = np.random.default_rng(seed)
    arrays = [random.normal(size=size).astype(dtype) for size in (length, (rows, length))]
    return arrays, vecdist.interop.jax.function(vecdist.compile(formulas(np)[which])), formulas(jnp)[which]


def same(jax, found, wanted, dtype=np.float64):
    rtol = 1e-9 if dtype == np.float64 else 2e-3
    for each, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert each.shape == other.shape and each.dtype == other.dtype == dtype
        np.testing.assert_allclose(each, other, rtol=rtol, atol=rtol * max(1.0, np.abs(other).max(initial=0.0)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", DERIVED)
@settings(max_examples=3, deadline=None, derandomize=True)
@given(which=st.integers(0, 2), rows=st.integers(1, 4), length=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_formula_of_jax(jax, name, dtype, which, rows, length, seed):
    arrays, f, g = pair(which, dtype, rows, length, seed)
    for wrapped in (lambda h: h, jax.jit):
        same(jax, wrapped(DERIVED[name](jax, f))(*arrays), DERIVED[name](jax, g)(*arrays), dtype)


@pytest.mark.parametrize("axes", [(0, None), (None, 1), (1, 0)])
@pytest.mark.parametrize("name", DERIVED)
def test_rows(jax, name, axes):
    (a, x), f, g = pair(1, np.float64, 3, 4, 7)
    many = [
        array if axis is None else np.stack([array, 2 * array, 1 - array], axis)
        for array, axis in zip((a, x), axes, strict=True)
    ]
    found = jax.jit(jax.vmap(DERIVED[name](jax, f), axes))(*many)
    same(jax, found, jax.vmap(DERIVED[name](jax, g), axes)(*many))


def test_rows_of_rows_and_derivatives_through_rows(jax):
    (a, x), f, g = pair(1, np.float64, 3, 4, 7)
    many = np.stack([x, x + 1.0]), np.stack([a, -a, 2 * a])

    def each(f):
        return jax.vmap(lambda x: jax.vmap(lambda a: f(a, x))(many[1]))

    same(jax, each(f)(many[0]), each(g)(many[0]))
    same(jax, jax.hessian(squares(each(f)))(many[0]), jax.hessian(squares(each(g)))(many[0]))


def test_within_a_scan(jax):
    (a, x), f, g = pair(2, np.float64, 3, 4, 7)

    def path(f):
        def step(a, _):
            return a - 1e-2 * jax.grad(f)(a, x), f(a, x)

        return lambda a: jax.lax.scan(step, a, length=4)

    same(jax, jax.jit(path(f))(a), path(g)(a))
    same(jax, jax.jit(jax.jacrev(path(f)))(a), jax.jacrev(path(g))(a))


def test_one_kernel_for_each_derivative_and_batch(jax):
    (a, x), f, _ = pair(1, np.float64, 3, 4, 7)
    for derived in (f, jax.vmap(f, (None, 0))):
        assert str(jax.make_jaxpr(derived)(a, np.stack([x, x]) if derived is not f else x)).count("vecdist_call") == 1
    _, pull = jax.vjp(f, a, x)
    assert str(jax.make_jaxpr(pull)(f(a, x))).count("vecdist_call") == 1


def test_densities_outside_of_their_support_and_functions_of_chains(jax):
    f = vecdist.interop.jax.function(vecdist.compile(lambda a, x: logpdf(Gamma(a, 2.0), x)))
    found = jax.jit(f)(np.array([1.5, 1.5, -1.0]), np.array([1.0, -1.0, 1.0]))
    assert np.isfinite(found[0]) and found[1] == -np.inf and np.isnan(found[2])
    compiled = vecdist.compile(lambda mu, x: logpdf(Normal(mu, 1.0), x).sum(), in_axes={"mu": 0})
    chains, mu, x = vecdist.interop.jax.function(compiled), np.arange(3.0), np.array([0.5, 1.0])
    np.testing.assert_array_equal(chains(mu, x), compiled(mu, x))
    np.testing.assert_allclose(jax.jacrev(chains)(mu, x), np.diag((x - mu[:, None]).sum(axis=1)))


def test_whole_numbers_have_no_derivatives(jax):
    f = vecdist.interop.jax.function(vecdist.compile(lambda x, n: x[n] * n))
    x, n = np.arange(4.0), np.array([3, 1])
    found = jax.jacfwd(lambda x: f(x, n))(x)
    np.testing.assert_array_equal(found, [[0, 0, 0, 3], [0, 1, 0, 0]])
    rounded = vecdist.interop.jax.function(vecdist.compile(lambda x: x > 1.0))
    np.testing.assert_array_equal(rounded(x), x > 1)
    np.testing.assert_array_equal(jax.jvp(lambda x: jax.numpy.where(rounded(x), x, 0.0), (x,), (x,))[1], [0, 0, 2, 3])


def test_results_of_equal_graphs_and_unused_arguments(jax):
    f = vecdist.interop.jax.function(vecdist.compile(lambda a, b, c: a + b))
    a, b, c = np.arange(3.0), np.arange(3.0) + 1, np.ones((2, 2))
    found = jax.grad(lambda a, b, c: sum((g**2).sum() for g in jax.vjp(f, a, b, c)[1](a)), (0, 1, 2))(a, b, c)
    for each, wanted in zip(found, (4 * a, 0 * b, 0 * c), strict=True):
        np.testing.assert_array_equal(each, wanted)


def test_what_does_not_fit_is_an_error_when_traced(jax):
    f = vecdist.interop.jax.function(vecdist.compile(lambda a, x: a * x))
    for call in (f, jax.jit(f), jax.vmap(f), jax.jacfwd(f)):
        with pytest.raises(ValueError, match="do not broadcast"):
            call(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(TypeError, match="argument 0 is bfloat16"):
        f(jax.numpy.zeros(3, jax.numpy.bfloat16), np.zeros(3))
    raising = vecdist.compile(lambda a: a, errors="raise")
    with pytest.raises(TypeError, match='errors="raise" has no place'):
        vecdist.interop.jax.function(raising)
    jax.config.update("jax_enable_x64", False)
    kept = vecdist.interop.jax.function(vecdist.compile(lambda x: x * vecdist.lazy(np.ones(3))))
    with pytest.raises(TypeError, match=r"is of float64; jax\.config\.update"):
        kept(np.zeros(3, np.float32))


SEVERAL = """
import jax, numpy as np, vecdist.interop
from jax.sharding import Mesh, NamedSharding, PartitionSpec
mesh, rows = Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows")
f = vecdist.interop.jax.function(vecdist.compile(lambda x: x * 2))
x = jax.device_put(np.arange(4, dtype=np.float32), NamedSharding(mesh, rows))
for call in (f, jax.jit(f), jax.jit(jax.grad(lambda x: f(x).sum()))):
    try:
        call(x)
    except NotImplementedError as error:
        print(error)
print(jax.jit(jax.shard_map(f, mesh=mesh, in_specs=rows, out_specs=rows))(x).tolist())
"""


def test_several_devices_are_refused():
    options = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, "-c", SEVERAL], env=options, capture_output=True, text=True, check=True)
    *refused, apart = run.stdout.splitlines()
    assert apart == "[0.0, 2.0, 4.0, 6.0]" and len(refused) == 3
    assert all("runs on one device; this program is spread over 2" in each for each in refused)


def test_launches_on_a_gpu(jax, monkeypatch):
    from vecdist.interop import xla_cuda

    asked = []
    words = np.zeros(8, np.int64)
    monkeypatch.setattr(xla_cuda, "prepared_call", lambda call, kinds: asked.append(kinds) or (words, 512))
    (a, x), f, _ = pair(1, np.float64, 3, 4, 7)
    text = jax.jit(jax.grad(squares(f), (0, 1))).trace(a, x).lower(lowering_platforms=("cuda",)).as_text()
    assert text.count(f"@{xla_cuda.TARGET}(") == 2 and "callback" not in text
    shapes = [[kind.shape for kind in kinds] for kinds in asked]
    assert shapes == [[(4,), (3, 4)], [(4,), (3, 4), (4, 1)]]
